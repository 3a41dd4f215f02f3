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

MAX_LINE_BYTES = 32 << 20
_FINGERPRINT_BYTES = 512
"""Bytes before a position that show whether the file is still the same."""


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One turn, the offset at which it ends, and a digest that stays the same in copies of the transcript."""

    digest: bytes
    end: int
    role: str
    content: str
    at: str | None

    @property
    def size(self) -> int:
        """Upper bound of the bytes it needs in a request."""
        return 2 * len(self.content.encode()) + 200

    def split_for_capture(self, max_chars: int) -> list[dict[str, str]]:
        """Return the turn as `capture` takes it, split if it is long."""
        parts = [self.content[at : at + max_chars] for at in range(0, len(self.content), max_chars)]
        time_field = {"at": self.at} if self.at else {}
        return [{"role": self.role, "content": part} | time_field for part in parts]


@dataclass(frozen=True, slots=True)
class TranscriptPosition:
    """The position up to which a transcript was read, and a fingerprint of the bytes before."""

    offset: int = 0
    fingerprint: str = ""


class Transcript:
    """A transcript file that may grow, be cut or be rewritten between two reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def resume_offset(self, position: TranscriptPosition) -> int:
        """Return the offset to continue at: the position, or 0 if the file before it has changed."""
        with self._open() as file:
            return (
                position.offset
                if position.offset and _fingerprint(file, position.offset) == position.fingerprint
                else 0
            )

    def position_at(self, offset: int) -> TranscriptPosition:
        """Return the position at an offset, with its fingerprint."""
        with self._open() as file:
            return TranscriptPosition(offset, _fingerprint(file, offset))

    def read_turns(self, start: int) -> Iterator[TranscriptTurn | int]:
        """Yield the turns after an offset, then the offset up to which lines are complete."""
        end = start
        with self._open() as file:
            file.seek(start)
            while (line := file.readline(MAX_LINE_BYTES)) and (line.endswith(b"\n") or _skip_line(file)):
                end = file.tell()
                yield from _parse_line(line, end)
        yield end

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return self._path.stat().st_size

    def _open(self) -> BinaryIO:
        # Opening a pipe or a device could block.
        if not stat.S_ISREG(self._path.stat().st_mode):
            raise OSError(f"{self._path.name} is not a regular file")
        return self._path.open("rb")


def _skip_line(file: BinaryIO) -> bool:
    """Skip the rest of a line that is too long; False if the line is not complete yet."""
    while line := file.readline(MAX_LINE_BYTES):
        if line.endswith(b"\n"):
            return True
    return False


def _fingerprint(file: BinaryIO, offset: int) -> str:
    file.seek(max(0, offset - _FINGERPRINT_BYTES))
    before = file.read(min(offset, _FINGERPRINT_BYTES))
    return hashlib.blake2b(before, digest_size=8).hexdigest() if len(before) == min(offset, _FINGERPRINT_BYTES) else ""


def _parse_line(line: bytes, end: int) -> Iterator[TranscriptTurn]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return  # an incomplete line, or not JSON
    if not isinstance(entry, dict) or any(entry.get(mark) for mark in _HOST_FLAGS):
        return
    role, content = _extract_message(entry)
    text = _strip_host_blocks("\n\n".join(_text_blocks(content)))
    if not text.strip() or _INTERRUPTED.fullmatch(text.strip()):
        return
    at = _valid_timestamp(entry.get("timestamp"))
    name = entry.get("uuid") or f"{role} {at} {text}"
    yield TranscriptTurn(
        hashlib.blake2b(str(name).encode(errors="replace"), digest_size=8).digest(), end, role, text, at
    )


def _extract_message(entry: dict[str, Any]) -> tuple[str, Any]:
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


def _text_blocks(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block
        if isinstance(text, str):
            yield _replace_invalid_chars(text)


def _replace_invalid_chars(text: str) -> str:
    """Replace characters that cannot be stored in a file."""
    return _INVALID_CHARS.sub("\N{REPLACEMENT CHARACTER}", text)


def _strip_host_blocks(text: str) -> str:
    """Remove the blocks that the host inserted into a text."""
    kept_parts, at = list[str](), 0
    for start, end in _find_host_blocks(text):
        kept_parts.append(text[at:start])
        at = end + text.startswith("\n", end)
    return "".join([*kept_parts, text[at:]]).strip("\n") if kept_parts else text


def _find_host_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of every host block; an unclosed tag counts only at the start of a line."""
    at, unclosed = 0, set[str]()
    for tag in _OPENING_TAG.finditer(text):
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


def _valid_timestamp(value: Any) -> str | None:
    """Return a timestamp if it is valid; otherwise None."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return value


_ROLES = ("user", "assistant")
_HOST_FLAGS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_HOST_TAGS = """
    system-reminder command-name command-message command-args command-contents local-command-stdout
    local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr user-prompt-submit-hook
    session-start-hook task-notification ide_opened_file ide_selection ide_diagnostics user-memory-input
"""
_HOST_TAG_PATTERN = "|".join(map(re.escape, _HOST_TAGS.split()))
_OPENING_TAG = re.compile(rf"<({_HOST_TAG_PATTERN})>")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
_INVALID_CHARS = re.compile("[\0\ud800-\udfff]")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
