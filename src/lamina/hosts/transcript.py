"""A session of Claude Code as its file tells it: JSON lines, of which only what was said in words is anybody's.

Tool calls, their results, thoughts, reminders, summaries and the words of commands belong to the machinery. What a
person said while the machine was at work stands there as an attachment.
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
"""Bytes before a position that tell whether it is still the same file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing somebody said, the bytes it ends at, and a name that is the same wherever it is copied to."""

    name: bytes
    end: int
    role: str
    content: str
    at: str | None

    @property
    def size(self) -> int:
        """Bytes it takes on the wire, at most."""
        return 2 * len(self.content.encode()) + 200

    def told(self, longest: int) -> list[dict[str, str]]:
        """As a capture takes it, in parts where it is long."""
        parts = [self.content[at : at + longest] for at in range(0, len(self.content), longest)]
        moment = {"at": self.at} if self.at else {}
        return [{"role": self.role, "content": part} | moment for part in parts]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript was read, and what stood before."""

    offset: int = 0
    before: str = ""


class Transcript:
    """A transcript that may grow, be cut or be written anew between two looks."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def start(self, known: Position) -> int:
        """Where to read on: behind what was read, or at the beginning where that is no longer what it was."""
        with self._open() as file:
            return known.offset if known.offset and _print(file, known.offset) == known.before else 0

    def position(self, offset: int) -> Position:
        """A place in it, to be found again."""
        with self._open() as file:
            return Position(offset, _print(file, offset))

    def turns(self, start: int) -> Iterator[Turn | int]:
        """What was said from a place on, and after it the place up to which lines are whole."""
        end = start
        with self._open() as file:
            file.seek(start)
            while (line := file.readline(LONGEST_LINE)) and (line.endswith(b"\n") or _skip(file)):
                end = file.tell()
                yield from _turns(line, end)
        yield end

    def size(self) -> int:
        return self._path.stat().st_size

    def _open(self) -> BinaryIO:
        # A pipe or a device would be waited for.
        if not stat.S_ISREG(self._path.stat().st_mode):
            raise OSError(f"{self._path.name} is no file")
        return self._path.open("rb")


def _skip(file: BinaryIO) -> bool:
    """Go to the end of a line that is too long for words; False where it has no end yet."""
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
        return  # half a line, or none of theirs
    if not isinstance(entry, dict) or any(entry.get(mark) for mark in _MACHINERY):
        return
    role, content = _spoken(entry)
    said = _without_machinery("\n\n".join(_texts(content)))
    if not said.strip() or _INTERRUPTED.fullmatch(said.strip()):
        return
    at = _moment(entry.get("timestamp"))
    name = entry.get("uuid") or f"{role} {at} {said}"
    yield Turn(hashlib.blake2b(str(name).encode(errors="replace"), digest_size=8).digest(), end, role, said, at)


def _spoken(entry: dict[str, Any]) -> tuple[str, Any]:
    """Who speaks in an entry, and what it holds of theirs; nothing, where nobody does."""
    message, added = entry.get("message"), entry.get("attachment")
    if entry.get("type") in _ROLES:
        return str(entry["type"]), message.get("content") if isinstance(message, dict) else None
    if entry.get("type") == "attachment" and isinstance(added, dict) and added.get("type") == "queued_command":
        origin = added.get("origin")
        sender = origin.get("kind") if isinstance(origin, dict) else origin
        if sender in (None, "human") and added.get("commandMode") in (None, "prompt"):
            return "user", added.get("prompt")
    return "", None


def _texts(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block
        if isinstance(text, str):
            yield _holdable(text)


def _holdable(text: str) -> str:
    """Without characters no file could hold."""
    return _UNHOLDABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _without_machinery(text: str) -> str:
    """The words without blocks the host wrote between them."""
    kept, at = list[str](), 0
    for start, end in _blocks(text):
        kept.append(text[at:start])
        at = end + text.startswith("\n", end)
    return "".join([*kept, text[at:]]).strip("\n") if kept else text


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Every block of the host's. One without an end goes to the end if it begins a line; else it is somebody's word."""
    at, endless = 0, set[str]()
    for tag in _OPENED.finditer(text):
        start, name = tag.start(), tag[1]
        if start < at:
            continue
        found = -1 if name in endless else text.find(f"</{name}>", tag.end())
        if found >= 0:
            at = found + len(f"</{name}>")
        elif start == 0 or text[start - 1] == "\n":
            at = len(text)
        else:
            endless.add(name)  # it is not looked for once more
            continue
        yield start, at


def _moment(given: Any) -> str | None:
    """When it was said, where that is a moment anybody can tell."""
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
