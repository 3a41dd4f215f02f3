"""Role-labelled notes as a markdown list that a person can read and edit, and how a long list is folded.

A note is a list item `- **role**: text`; further lines are indented. A person may also leave the role or the dash out,
put headings between notes, or nest a list: whatever they write is read as notes, and only folding rewrites any of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.capture.draft import parse_text
from lamina.errors import InvalidInput
from lamina.text.normal import one_line
from lamina.text.sentences import sentences

MOST, KEPT = 15, 10
"""Notes a list may have, and how many of the youngest stay whole when it has more."""
FOLDED = "earlier"
"""The role of the note into which the oldest are folded."""
NO_ROLE = "note"
LONGEST_ROLE, LONGEST_TEXT = 60, 2000
SHORT, FOLDED_LINES = 160, 24
"""How much of a note's first sentence is kept when it is folded, and of how many notes."""

_ITEM = re.compile(r"[-*+][ \t]+(?=\S)")
_BREAK = re.compile(r"#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$")
_ROLE = re.compile(r"\*\*([^*\n]{1,80}?)(?:\*\*:|:\*\*)[ \t]*|(\w{1,30}):[ \t]+(?=\S)")
_COUNT = re.compile(r"(\d{1,9}) notes?\b")


@dataclass(frozen=True, slots=True)
class Entry:
    """One note of a list: who said it and what."""

    role: str
    text: str

    def __str__(self) -> str:
        return f"{self.role}: {one_line(self.text)}"


@dataclass(frozen=True, slots=True)
class _Place:
    """A note and where it stands."""

    entry: Entry
    start: int
    end: int


def parse_entry(role: str, text: str) -> Entry:
    """A note from a caller's words, or InvalidInput that says what is wrong with them."""
    label = one_line(parse_text(role).replace("*", " ")).strip(" :")
    words = "\n".join(line.rstrip() for line in parse_text(text).strip().split("\n"))
    if not label or len(label) > LONGEST_ROLE:
        raise InvalidInput(f"say in 1 to {LONGEST_ROLE} characters who notes it; the role stands before the text")
    if not words:
        raise InvalidInput("the note is empty; say something")
    if len(words) > LONGEST_TEXT:
        raise InvalidInput(f"a block holds notes of up to {LONGEST_TEXT} characters; capture long text instead")
    return Entry(label, words)


def render(entry: Entry) -> str:
    """A note as it stands in the file."""
    first, *rest = entry.text.split("\n")
    return "\n".join([f"- **{entry.role}**: {first}", *(f"  {line}" if line else "" for line in rest)])


def read(content: str) -> tuple[Entry, ...]:
    """The notes of a file, in order."""
    return tuple(place.entry for place in _places(content))


def added(content: str, entry: Entry) -> str:
    """The file with one more note at its end; what stands there stays as it is unless the list is too long."""
    return folded(f"{content.rstrip()}\n{render(entry)}" if content.strip() else render(entry))


def folded(content: str) -> str:
    """The file with its oldest notes folded into one if there are too many; folding again changes nothing."""
    places = _places(content)
    if len(places) <= MOST:
        return content
    oldest = places[:-KEPT]
    note = render(Entry(FOLDED, _in_short([place.entry for place in oldest])))
    return content[: oldest[0].start] + note + content[oldest[-1].end :]


def _in_short(entries: Sequence[Entry]) -> str:
    count, lines = 0, list[str]()
    for entry in entries:
        before = _COUNT.match(entry.text) if entry.role == FOLDED else None
        if before is None:
            count, lines = count + 1, [*lines, f"- {entry.role}: {_first_sentence(entry.text)}"]
        else:
            count += int(before.group(1))
            lines += [_cut(line, SHORT + LONGEST_ROLE + 4) for line in entry.text.split("\n")[1:] if line]
    return "\n".join([f"{count} notes, in short; the whole is in this file's history", *lines[-FOLDED_LINES:]])


def _first_sentence(text: str) -> str:
    start, end = next(iter(sentences(text)), (0, len(text)))
    return _cut(one_line(text[start:end]), SHORT)


def _cut(line: str, length: int) -> str:
    if len(line) <= length:
        return line
    space = line.rfind(" ", length // 2, length)
    return line[: space if space > 0 else length - 1].rstrip() + "…"


def _places(content: str) -> list[_Place]:
    found: list[_Place] = []
    lines: list[str] = []
    start = at = end = 0
    gap = True

    def finish() -> None:
        if lines:
            found.extend(_place(lines, start, end))
            lines.clear()

    for line in content.split("\n"):
        indented = line[:1] in (" ", "\t")
        if not line.strip():
            gap = True
            if lines:
                lines.append("")
        elif _BREAK.match(line.rstrip()):
            finish()
        elif lines and (indented or (not gap and not _ITEM.match(line))):
            lines.append(line)
            end, gap = at + len(line), False
        else:
            finish()
            start, end, gap = at, at + len(line), False
            lines.append(line)
        at += len(line) + 1
    finish()
    return found


def _place(lines: Sequence[str], start: int, end: int) -> Iterable[_Place]:
    first = _ITEM.sub("", lines[0].lstrip(), count=1)
    role = _ROLE.match(first)
    label = one_line(role.group(1) or role.group(2) or "") if role else ""
    words = [first[role.end() :] if role and label else first, *(_outdented(line) for line in lines[1:])]
    text = "\n".join(line.rstrip() for line in words).strip()
    return [_Place(Entry(label or NO_ROLE, text), start, end)] if text else []


def _outdented(line: str) -> str:
    return line[1:] if line.startswith("\t") else line[2:] if line.startswith("  ") else line.removeprefix(" ")
