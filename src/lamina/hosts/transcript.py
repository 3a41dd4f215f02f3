"""Reads the turns of a Claude Code session from its transcript file of JSON lines.

Only what the user and the assistant said is read; tool calls, their results, thoughts, reminders, summaries and
commands are skipped. What the user wrote while the agent was working is stored as an attachment.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

LONGEST_LINE = 32 << 20
_PRINT = 512
"""Bytes before a position that show whether the file is still the same."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, the offset at which it ends, and a digest that stays the same in copies of the transcript."""

    name: bytes
    end: int
    role: str
    content: str
    at: str | None

    @property
    def size(self) -> int:
        """Upper bound of the bytes it needs in a request."""
        return 2 * len(self.content.encode()) + 200

    def told(self, longest: int) -> list[dict[str, str]]:
        """Return the turn as `capture` takes it, split if it is long."""
        parts = [self.content[at : at + longest] for at in range(0, len(self.content), longest)]
        time_field = {"at": self.at} if self.at else {}
        return [{"role": self.role, "content": part} | time_field for part in parts]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript was read, and a fingerprint of the bytes before."""

    offset: int = 0
    before: str = ""


class Transcript:
    """A transcript file that may grow, be cut or be rewritten between two reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def start(self, known: Position) -> int:
        """Return the offset to continue at: the position, or 0 if the file before it has changed."""
        with self._open() as file:
            return known.offset if known.offset and _print(file, known.offset) == known.before else 0

    def position(self, offset: int) -> Position:
        """Return the position at an offset, with its fingerprint."""
        with self._open() as file:
            return Position(offset, _print(file, offset))

    def turns(self, start: int) -> Iterator[Turn | int]:
        """Yield the turns after an offset, then the offset up to which lines are complete."""
        end = start
        with self._open() as file:
            file.seek(start)
            while (line := file.readline(LONGEST_LINE)) and (line.endswith(b"\n") or _skip(file)):
                end = file.tell()
                yield from _turns(line, end)
        yield end

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return self._path.stat().st_size

    def _open(self) -> BinaryIO:
        # Opening a pipe or a device could block.
        if not stat.S_ISREG(self._path.stat().st_mode):
            raise OSError(f"{self._path.name} is not a regular file")
        return self._path.open("rb")


def _skip(file: BinaryIO) -> bool:
    """Skip the rest of a line that is too long; False if the line is not complete yet."""
    while line := file.readline(LONGEST_LINE):
        if line.endswith(b"\n"):
            return True
    return False


def _print(file: BinaryIO, offset: int) -> str:
    file.seek(max(0, offset - _PRINT))
    before = file.read(min(offset, _PRINT))
    return hashlib.blake2b(before, digest_size=8).hexdigest() if len(before) == min(offset, _PRINT) else ""


def _turns(line: bytes, end: int) -> Iterator[Turn]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return  # an incomplete line, or not JSON
    if not isinstance(entry, dict) or any(entry.get(mark) for mark in _MACHINERY):
        return
    role, content = _spoken(entry)
    text = _without_machinery("\n\n".join(_texts(content)))
    if not text.strip() or _INTERRUPTED.fullmatch(text.strip()):
        return
    at = _moment(entry.get("timestamp"))
    name = entry.get("uuid") or f"{role} {at} {text}"
    yield Turn(hashlib.blake2b(str(name).encode(errors="replace"), digest_size=8).digest(), end, role, text, at)


def _spoken(entry: dict[str, Any]) -> tuple[str, Any]:
    """Return the role and the content of an entry; an empty role if it is not a message."""
    message, attachment = entry.get("message"), entry.get("attachment")
    if entry.get("type") in _ROLES:
        return str(entry["type"]), message.get("content") if isinstance(message, dict) else None
    if (
        entry.get("type") == "attachment"
        and isinstance(attachment, dict)
        and attachment.get("type") == "queued_command"
    ):
        origin = attachment.get("origin")
        sender = origin.get("kind") if isinstance(origin, dict) else origin
        if sender in (None, "human") and attachment.get("commandMode") in (None, "prompt"):
            return "user", attachment.get("prompt")
    return "", None


def _texts(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block
        if isinstance(text, str):
            yield _holdable(text)


def _holdable(text: str) -> str:
    """Replace characters that cannot be stored in a file."""
    return _UNHOLDABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _without_machinery(text: str) -> str:
    """Remove the blocks that the host inserted into a text."""
    kept_parts, at = list[str](), 0
    for start, end in _blocks(text):
        kept_parts.append(text[at:start])
        at = end + text.startswith("\n", end)
    return "".join([*kept_parts, text[at:]]).strip("\n") if kept_parts else text


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of every host block; an unclosed tag counts only at the start of a line."""
    at, unclosed = 0, set[str]()
    for tag in _OPENED.finditer(text):
        start, name = tag.start(), tag[1]
        if start < at:
            continue
        end = -1 if name in unclosed else text.find(f"</{name}>", tag.end())
        if end >= 0:
            at = end + len(f"</{name}>")
        elif start == 0 or text[start - 1] == "\n":
            at = len(text)
        else:
            unclosed.add(name)  # do not search for its end again
            continue
        yield start, at


def _moment(given: Any) -> str | None:
    """Return a timestamp if it is valid; otherwise None."""
    if not isinstance(given, str) or not _MOMENT.fullmatch(given):
        return None
    try:
        datetime.fromisoformat(given).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return given


_ROLES = ("user", "assistant")
_MACHINERY = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_WRAPPERS = """
    system-reminder command-name command-message command-args command-contents local-command-stdout
    local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr user-prompt-submit-hook
    session-start-hook task-notification ide_opened_file ide_selection ide_diagnostics user-memory-input
"""
_NAMES = "|".join(map(re.escape, _WRAPPERS.split()))
_OPENED = re.compile(rf"<({_NAMES})>")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
_UNHOLDABLE = re.compile("[\0\ud800-\udfff]")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
