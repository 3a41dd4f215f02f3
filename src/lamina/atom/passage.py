"""Passages: what is indexed, so that a hit names the exact turn or paragraph.

A fact is one passage. A verbatim segment is markdown that a person can read: a turn is a line `**Speaker** time` and
the words as they were said, a paragraph is just the words, and each ends with an Obsidian block id (`^p7`). Words that
look like our own marks are escaped with a backslash, so the text comes back exactly as it went in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from lamina.atom.atom import Atom
from lamina.atom.page import is_page, own_words
from lamina.text.roles import is_assistant, is_role
from lamina.text.times import format_time, parse_time

_HEADER = re.compile(r"\*\*([^\n*]+)\*\*(?: (\d{4}-\d{2}-\d{2}T[0-9:.]+Z))?")
_LOOKS_LIKE_HEADER = re.compile(r"(?m)^(\\*)(?=\*\*[^\n*]+\*\*(?: \d{4}-\d{2}-\d{2}T[0-9:.]+Z)?$)")
_LOOKS_LIKE_MARK = re.compile(r"(?m)(^|[ \t])(\\*)(?=\^p\d+[ \t]*$)")
_MARK = re.compile(r"(?m)\^p(\d+)[ \t]*$")
"""Begins with what it looks for, which is found twenty times as fast as what may stand before it."""
_LAST_MARK = re.compile(r"(?:^|[ \t\n])\^p\d+[ \t]*\n*\Z")
_STRUCTURED_LINE = re.compile(r"\s*(?:[-*+>|#]|\d+[.)]\s|```|~~~|\s{3}\S)|.*\|\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """One turn, one paragraph, or a whole fact; start and end are its place in the atom's content."""

    n: int
    text: str
    start: int
    end: int
    speaker: str | None = None
    at: datetime | None = None


def searched(atom: Atom, passage: Passage) -> str:
    """The words a text search looks into: with the name of who said them, or with what a fact is about."""
    name = None if is_role(passage.speaker) else passage.speaker
    about = name if atom.is_segment else atom.subject
    return f"{about}: {passage.text}" if about else passage.text


def meant(atom: Atom, passage: Passage) -> str:
    """The words a model is given: a name in front would outweigh what was said, what a fact is about would not."""
    return passage.text if atom.is_segment or not atom.subject else f"{atom.subject}: {passage.text}"


def digest_of(atom: Atom, passage: Passage) -> bytes:
    """What the words a model is given are known by; a machine's long answers are kept apart, being read in part."""
    read = "in part" if is_assistant(passage.speaker) else "whole"
    return hashlib.blake2b(f"{read}\0{meant(atom, passage)}".encode(), digest_size=16).digest()


def passages_of(atom: Atom) -> tuple[Passage, ...]:
    """The passages of an atom, in reading order."""
    if not atom.is_segment:
        text = own_words(atom.content) if is_page(atom.content) else atom.content
        return (Passage(1, text or atom.content, 0, len(atom.content), at=atom.observed_at),)
    return parse_segment(atom.content)


def passage_of(atom: Atom, n: int) -> Passage | None:
    """One passage of an atom, without looking at the others' words."""
    if not atom.is_segment:
        return passages_of(atom)[0] if n == 1 else None
    start, found = 0, None
    for number, begins, ends in _marks(atom.content):
        if number == n:
            found = _passage(n, atom.content, start, begins) or found
        start = ends
    # Words behind the last mark have a number that hangs on the others.
    return found[0] if found else next((passage for passage in parse_segment(atom.content) if passage.n == n), None)


@lru_cache(maxsize=32)
def parse_segment(content: str) -> tuple[Passage, ...]:
    """The passages of a segment's text. Words a person wrote after the last mark are a passage too."""
    found: list[Passage] = []
    start = 0
    for number, begins, ends in _marks(content):
        found += _passage(number, content, start, begins)
        start = ends
    found += _passage(max((passage.n for passage in found), default=0) + 1, content, start, len(content))
    return tuple(found)


def _marks(content: str) -> Iterator[tuple[int, int, int]]:
    """The number of each block id and its place, with the blank or the empty line before it."""
    for found in _MARK.finditer(content):
        begins = found.start()
        before = content[max(0, begins - 2) : begins]
        if before == "\n\n":
            yield int(found.group(1)), begins - 2, found.end()
        elif before.endswith((" ", "\t")):
            yield int(found.group(1)), begins - 1, found.end()
        elif before.endswith("\n") or not before:
            yield int(found.group(1)), begins, found.end()


def only_grew(before: str, added: Iterable[str]) -> bool:
    """Whether texts that were added to a segment one after the other left every passage as it stood."""
    numbers, is_closed = {number for number, _, _ in _marks(before)}, _ends_with_mark(before)
    for each in added:
        more = {number for number, _, _ in _marks(each)}
        if not is_closed or not each.startswith("\n") or numbers & more:
            return False
        numbers, is_closed = numbers | more, _ends_with_mark(each)
    return True


def _ends_with_mark(content: str) -> bool:
    return _LAST_MARK.search(content) is not None


def closed(content: str, beyond: int = 0) -> str:
    """A segment's text with a block id after words a person wrote behind the last one: what follows is not theirs."""
    told = parse_segment(content)
    if not told or told[-1].end < len(content):
        return content
    return f"{content}\n\n^p{max(told[-1].n, beyond + 1)}"


def render_passage(n: int, text: str, speaker: str | None = None, at: datetime | None = None) -> str:
    """A turn or paragraph as it stands in a segment, its block id last."""
    body = _LOOKS_LIKE_MARK.sub(r"\1\\\2", _LOOKS_LIKE_HEADER.sub(r"\1\\", text))
    last_line = body.rsplit("\n", 1)[-1]
    ending = f"\n\n^p{n}" if _STRUCTURED_LINE.match(last_line) or not last_line else f" ^p{n}"
    return _header(speaker, at) + body + ending


def _header(speaker: str | None, at: datetime | None) -> str:
    if speaker is None:
        return ""
    name = " ".join(speaker.replace("*", " ").split()) or "?"
    return f"**{name}** {format_time(at)}\n" if at else f"**{name}**\n"


def _passage(n: int, content: str, start: int, end: int) -> list[Passage]:
    while start < end and content[start] in "\r\n":
        start += 1
    block = content[start:end]
    if not block.strip():
        return []
    first, newline, rest = block.partition("\n")
    header = _HEADER.fullmatch(first) if newline else None
    if header is None:
        return [Passage(n, _unescape(block), start, end)]
    return [Passage(n, _unescape(rest), start, end, header.group(1), _moment(header.group(2)))]


def _moment(text: str | None) -> datetime | None:
    """The time of a turn; a person may have written one that does not exist."""
    try:
        return parse_time(text) if text else None
    except ValueError:
        return None


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    text = re.sub(r"(?m)^\\(\\*\*\*[^\n*]+\*\*(?: \d{4}-\d{2}-\d{2}T[0-9:.]+Z)?)$", r"\1", text)
    return re.sub(r"(?m)(^|[ \t])\\(\\*\^p\d+[ \t]*)$", r"\1\2", text)
