"""The notes of a block as a markdown list that people can read and edit; the oldest of a long list are folded.

A note is a list item `- **role**: text`; further lines are indented. A person may also omit the role or the dash, put
headings between notes, or nest a list: all of it is parsed as notes, and only folding rewrites existing text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.capture.caller_input import parse_text
from lamina.errors import InvalidInput
from lamina.text.normal_form import one_line
from lamina.text.sentences import find_sentences

MAX_ENTRIES, ENTRIES_AFTER_FOLD = 15, 10
"""The most notes of a list, and how many of the newest stay whole when it has more."""
FOLDED_ROLE = "earlier"
"""The role of the note into which the oldest are folded."""
DEFAULT_ROLE = "note"
MAX_ROLE_LENGTH, MAX_TEXT_LENGTH = 60, 2000
SUMMARY_LENGTH, MAX_SUMMARIES = 160, 24
"""The most characters that folding keeps of a note's first sentence, and the most notes it keeps one of."""

_ITEM = re.compile(r"[-*+][ \t]+(?=\S)")
_BREAK = re.compile(r"#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$")
_ROLE = re.compile(r"\*\*([^*\n]{1,80}?)(?:\*\*:|:\*\*)[ \t]*|(\w{1,30}):[ \t]+(?=\S)")
_COUNT = re.compile(r"(\d{1,9}) notes?\b")


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One note of a block: the role of its author and its text."""

    role: str
    text: str

    def __str__(self) -> str:
        return f"{self.role}: {one_line(self.text)}"


@dataclass(frozen=True, slots=True)
class _Span:
    """A note and its position in the file's text."""

    entry: BlockEntry
    start: int
    end: int


def parse_entry(role: str, text: str) -> BlockEntry:
    """Return a note of a role and a text; InvalidInput if one is empty or too long."""
    label = one_line(parse_text(role).replace("*", " ")).strip(" :")
    words = "\n".join(line.rstrip() for line in parse_text(text).strip().split("\n"))
    if not label or len(label) > MAX_ROLE_LENGTH:
        raise InvalidInput(f"the role needs 1 to {MAX_ROLE_LENGTH} characters; it is shown before the text")
    if not words:
        raise InvalidInput("the note is empty; give it a text")
    if len(words) > MAX_TEXT_LENGTH:
        raise InvalidInput(f"a block holds notes of up to {MAX_TEXT_LENGTH} characters; capture long text instead")
    return BlockEntry(label, words)


def render_entry(entry: BlockEntry) -> str:
    """Return a note as markdown."""
    first, *rest = entry.text.split("\n")
    return "\n".join([f"- **{entry.role}**: {first}", *(f"  {line}" if line else "" for line in rest)])


def parse_entries(content: str) -> tuple[BlockEntry, ...]:
    """Return the notes of a file, in order."""
    return tuple(span.entry for span in _find_entries(content))


def append_entry(content: str, entry: BlockEntry) -> str:
    """Return the file with one more note at its end; existing text changes only if the list is too long."""
    return fold_entries(f"{content.rstrip()}\n{render_entry(entry)}" if content.strip() else render_entry(entry))


def fold_entries(content: str) -> str:
    """Return the file with its oldest notes folded into one if there are too many; idempotent."""
    spans = _find_entries(content)
    if len(spans) <= MAX_ENTRIES:
        return content
    oldest = spans[:-ENTRIES_AFTER_FOLD]
    note = render_entry(BlockEntry(FOLDED_ROLE, _summarise([span.entry for span in oldest])))
    return content[: oldest[0].start] + note + content[oldest[-1].end :]


def _summarise(entries: Sequence[BlockEntry]) -> str:
    count, lines = 0, list[str]()
    for entry in entries:
        folded_before = _COUNT.match(entry.text) if entry.role == FOLDED_ROLE else None
        if folded_before is None:
            count, lines = count + 1, [*lines, f"- {entry.role}: {_first_sentence(entry.text)}"]
        else:
            count += int(folded_before.group(1))
            lines += [_cut(line, SUMMARY_LENGTH + MAX_ROLE_LENGTH + 4) for line in entry.text.split("\n")[1:] if line]
    return "\n".join([f"{count} notes, in short; the whole is in this file's history", *lines[-MAX_SUMMARIES:]])


def _first_sentence(text: str) -> str:
    start, end = next(iter(find_sentences(text)), (0, len(text)))
    return _cut(one_line(text[start:end]), SUMMARY_LENGTH)


def _cut(line: str, length: int) -> str:
    if len(line) <= length:
        return line
    space = line.rfind(" ", length // 2, length)
    return line[: space if space > 0 else length - 1].rstrip() + "…"


def _find_entries(content: str) -> list[_Span]:
    spans: list[_Span] = []
    lines: list[str] = []
    start = position = end = 0
    after_gap = True

    def finish() -> None:
        if lines:
            spans.extend(_parse_span(lines, start, end))
            lines.clear()

    for line in content.split("\n"):
        indented = line[:1] in (" ", "\t")
        if not line.strip():
            after_gap = True
            if lines:
                lines.append("")
        elif _BREAK.match(line.rstrip()):
            finish()
        elif lines and (indented or (not after_gap and not _ITEM.match(line))):
            lines.append(line)
            end, after_gap = position + len(line), False
        else:
            finish()
            start, end, after_gap = position, position + len(line), False
            lines.append(line)
        position += len(line) + 1
    finish()
    return spans


def _parse_span(lines: Sequence[str], start: int, end: int) -> Iterable[_Span]:
    first = _ITEM.sub("", lines[0].lstrip(), count=1)
    role = _ROLE.match(first)
    label = one_line(role.group(1) or role.group(2) or "") if role else ""
    words = [first[role.end() :] if role and label else first, *(_remove_indent(line) for line in lines[1:])]
    text = "\n".join(line.rstrip() for line in words).strip()
    return [_Span(BlockEntry(label or DEFAULT_ROLE, text), start, end)] if text else []


def _remove_indent(line: str) -> str:
    return line[1:] if line.startswith("\t") else line[2:] if line.startswith("  ") else line.removeprefix(" ")
