"""Split an atom into passages, the unit that is indexed, so that a hit names the exact turn or paragraph.

A statement is one passage. A segment is markdown for people: a turn is a line `**Speaker** time` and the text as it was
said, a paragraph is only the text, and each ends with an Obsidian block id (`^p7`). Text that looks like a header or
block id is escaped with a backslash, so that it is parsed back exactly."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from lamina.atom.atom import Atom, extract_user_text, has_generated_section
from lamina.text.normal_form import normal_form
from lamina.text.timestamps import format_time, parse_time_or_none

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot"})
TOOL_NAMES = frozenset({"tool", "function", "plugin", "browser", "observation", "ipython", "web search"})
ROLE_NAMES = ASSISTANT_NAMES | TOOL_NAMES | {"user", "human", "system", "developer"}


def is_role(speaker: str | None) -> bool:
    """Return whether a speaker is a role such as user or assistant."""
    return speaker is not None and normal_form(speaker) in ROLE_NAMES


def is_tool(speaker: str | None) -> bool:
    """Return whether a speaker is a tool whose output is part of the conversation."""
    name = normal_form(speaker) if speaker else ""
    return name in TOOL_NAMES or name.split(" ")[0] in ("tool", "function")


def is_system(speaker: str | None) -> bool:
    """Return whether a speaker is the system prompt or developer, not a participant."""
    return speaker is not None and normal_form(speaker) in ("system", "developer")


def is_assistant(speaker: str | None) -> bool:
    """Return whether a speaker is the assistant."""
    return speaker is not None and normal_form(speaker) in ASSISTANT_NAMES


_HEADER = re.compile(r"\*\*([^\n*]+)\*\*(?: (\d{4}-\d{2}-\d{2}T[0-9:.]+Z))?")
_LOOKS_LIKE_HEADER = re.compile(r"(?m)^(\\*)(?=\*\*[^\n*]+\*\*(?: \d{4}-\d{2}-\d{2}T[0-9:.]+Z)?$)")
_LOOKS_LIKE_BLOCK_ID = re.compile(r"(?m)(^|[ \t])(\\*)(?=\^p\d+[ \t]*$)")
_BLOCK_ID = re.compile(r"(?m)\^p(\d+)[ \t]*$")
"""Begins with the block id itself, which is searched twenty times as fast as what may precede it."""
_LAST_BLOCK_ID = re.compile(r"(?:^|[ \t\n])\^p\d+[ \t]*\n*\Z")
_STRUCTURED_LINE = re.compile(r"\s*(?:[-*+>|#]|\d+[.)]\s|```|~~~|\s{3}\S)|.*\|\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """One turn, one paragraph or a whole statement; `start` and `end` are its position in the atom's content."""

    n: int
    text: str
    start: int
    end: int
    speaker: str | None = None
    at: datetime | None = None


def passage_search_text(atom: Atom, passage: Passage) -> str:
    """Return the text of a passage for text search: with the speaker's name, or the subject of a statement."""
    name = None if is_role(passage.speaker) else passage.speaker
    about = name if atom.is_segment else atom.subject
    return f"{about}: {passage.text}" if about else passage.text


def passage_model_text(atom: Atom, passage: Passage) -> str:
    """Return the text of a passage for a model: a speaker's name would outweigh the text, a subject does not."""
    return passage.text if atom.is_segment or not atom.subject else f"{atom.subject}: {passage.text}"


def passage_digest(atom: Atom, passage: Passage) -> bytes:
    """Return the digest of the text given to a model; an assistant's long turns, which are read in part, are kept
    separate."""
    read = "in part" if is_assistant(passage.speaker) else "whole"
    return hashlib.blake2b(f"{read}\0{passage_model_text(atom, passage)}".encode(), digest_size=16).digest()


def passages_of(atom: Atom) -> tuple[Passage, ...]:
    """Return the passages of an atom, in reading order."""
    if not atom.is_segment:
        text = extract_user_text(atom.content) if has_generated_section(atom.content) else atom.content
        return (Passage(1, text or atom.content, 0, len(atom.content), at=atom.observed_at),)
    return parse_segment(atom.content)


def passage_of(atom: Atom, n: int) -> Passage | None:
    """Return one passage of an atom without parsing the others; None if there is no such passage."""
    if not atom.is_segment:
        return passages_of(atom)[0] if n == 1 else None
    start, matches = 0, None
    for number, block_start, block_end in _find_block_ids(atom.content):
        if number == n:
            matches = _parse_passage(n, atom.content, start, block_start) or matches
        start = block_end
    # Text after the last block id gets a number that depends on the others.
    return matches[0] if matches else next((passage for passage in parse_segment(atom.content) if passage.n == n), None)


@lru_cache(maxsize=32)
def parse_segment(content: str) -> tuple[Passage, ...]:
    """Return the passages of a segment's text. Text that a person wrote after the last block id is a passage too."""
    passages: list[Passage] = []
    start = 0
    for number, block_start, block_end in _find_block_ids(content):
        passages += _parse_passage(number, content, start, block_start)
        start = block_end
    passages += _parse_passage(max((passage.n for passage in passages), default=0) + 1, content, start, len(content))
    return tuple(passages)


def _find_block_ids(content: str) -> Iterator[tuple[int, int, int]]:
    """Yield the number and the position of each block id, with the blank or empty line before it."""
    for match in _BLOCK_ID.finditer(content):
        start = match.start()
        before = content[max(0, start - 2) : start]
        if before == "\n\n":
            yield int(match.group(1)), start - 2, match.end()
        elif before.endswith((" ", "\t")):
            yield int(match.group(1)), start - 1, match.end()
        elif before.endswith("\n") or not before:
            yield int(match.group(1)), start, match.end()


def is_pure_append(before: str, added: Iterable[str]) -> bool:
    """Return whether texts appended to a segment, one after the other, left every passage unchanged."""
    numbers, is_closed = {number for number, _, _ in _find_block_ids(before)}, _ends_with_block_id(before)
    for text in added:
        new_numbers = {number for number, _, _ in _find_block_ids(text)}
        if not is_closed or not text.startswith("\n") or numbers & new_numbers:
            return False
        numbers, is_closed = numbers | new_numbers, _ends_with_block_id(text)
    return True


def _ends_with_block_id(content: str) -> bool:
    return _LAST_BLOCK_ID.search(content) is not None


def close_segment(content: str, last_number: int = 0) -> str:
    """Return a segment's text with a block id after text that a person added at its end: what follows is not theirs."""
    passages = parse_segment(content)
    if not passages or passages[-1].end < len(content):
        return content
    return f"{content}\n\n^p{max(passages[-1].n, last_number + 1)}"


def render_passage(n: int, text: str, speaker: str | None = None, at: datetime | None = None) -> str:
    """Return a turn or paragraph as it is stored in a segment, its block id last."""
    body = _LOOKS_LIKE_BLOCK_ID.sub(r"\1\\\2", _LOOKS_LIKE_HEADER.sub(r"\1\\", text))
    last_line = body.rsplit("\n", 1)[-1]
    ending = f"\n\n^p{n}" if _STRUCTURED_LINE.match(last_line) or not last_line else f" ^p{n}"
    return _render_header(speaker, at) + body + ending


def _render_header(speaker: str | None, at: datetime | None) -> str:
    if speaker is None:
        return ""
    name = " ".join(speaker.replace("*", " ").split()) or "?"
    return f"**{name}** {format_time(at)}\n" if at else f"**{name}**\n"


def _parse_passage(n: int, content: str, start: int, end: int) -> list[Passage]:
    while start < end and content[start] in "\r\n":
        start += 1
    block = content[start:end]
    if not block.strip():
        return []
    first, newline, rest = block.partition("\n")
    header = _HEADER.fullmatch(first) if newline else None
    if header is None:
        return [Passage(n, _unescape(block), start, end)]
    return [Passage(n, _unescape(rest), start, end, header.group(1), parse_time_or_none(header.group(2)))]


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    text = re.sub(r"(?m)^\\(\\*\*\*[^\n*]+\*\*(?: \d{4}-\d{2}-\d{2}T[0-9:.]+Z)?)$", r"\1", text)
    return re.sub(r"(?m)(^|[ \t])\\(\\*\^p\d+[ \t]*)$", r"\1\2", text)
