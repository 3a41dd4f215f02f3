"""Parse a markdown file with YAML frontmatter without implicit types, and edit it without changing any other byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lamina.vault.emit_yaml import Emitted, Plain, emit_entry
from lamina.vault.plain_yaml import KEY_LINE, read_block, read_inline
from lamina.vault.rows import Rows
from lamina.vault.strict_yaml import MAX_DEPTH, MAX_KEYS, Mapped, Unreadable, Value, read_mapping

__all__ = ["MAX_DEPTH", "MAX_FILE", "MAX_FRONTMATTER", "MAX_KEYS", "Document", "Plain", "Unreadable", "Value"]

MAX_FILE = 1 << 20
MAX_FRONTMATTER = 64 << 10

MARKERS_KEY = "merge_markers"
MARKERS_KEPT = "verbatim"
"""`merge_markers: verbatim` means that merge markers in the body are part of the remembered text."""

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"\n---[ \t]*(?:\r?\n|\Z)")
_FIRST_LINE = 2
_CONTINUES = frozenset({"", " ", "-", "#"})
_TABS_AND_MARKS = "\t\ufeff"
_SPECIAL = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MARKER_IN_FRONT = re.compile(r"\n(?:<{7}|={7}|>{7}|\|{7})(?= |\n)")
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_OPENS_MERGE = re.compile(r"(?m)^<{7} ")
_MERGED = "there are merge markers here; choose one side and remove the markers"


class _Frame(NamedTuple):
    """The positions of the parts of a text: frontmatter from `front_start` to `front_end`, body from `body_start`."""

    head: int
    tail: int
    rest: int
    newline: str
    indent: int


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    r"""One file: `values` as text, lists and maps of text, `body` with newlines as `\\n`, `data` byte for byte."""

    data: bytes
    values: Mapping[str, Value]
    body: str
    _spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    _frame: _Frame | None = None

    @classmethod
    def parse(cls, data: bytes) -> Document:
        """Return the document in the bytes of a file; Unreadable, with the line and the reason, if it cannot be
        parsed."""
        text = _decode(data)
        start = 1 if text[:1] == _BOM else 0
        opening = _OPENING.match(text, start)
        if opening is None:
            return cls._bare(data, text, start)
        head = opening.end()
        closing = _find_closing(text, head)
        front, body = text[head : closing.start() + 1], text[closing.end() :]
        if len(data) > MAX_FRONTMATTER and len(front.encode()) > MAX_FRONTMATTER:
            raise Unreadable(f"frontmatter is larger than {MAX_FRONTMATTER >> 10} KiB", 1)
        newline = "\r\n" if text[head - 2 : head] == "\r\n" else "\n"
        values, spans, indent = _read(front)
        if "<<<<<<< " in body and values.get(MARKERS_KEY) != MARKERS_KEPT:
            _refuse_markers(body, text.count("\n", 0, closing.end()) + 1)
        if newline == "\r\n":
            body = body.replace("\r\n", "\n")
        return cls(data, values, body, spans, _Frame(head, closing.start() + 1, closing.end(), newline, indent))

    @classmethod
    def _bare(cls, data: bytes, text: str, start: int) -> Document:
        if text.startswith("---\r", start):
            raise Unreadable("lines end with a lone carriage return; save the file with LF or CRLF line ends", 1)
        body = text[start:]
        _refuse_markers(body, 1)
        return cls(data, {}, body.replace("\r\n", "\n") if _newline_of(body) == "\r\n" else body)

    @property
    def lines(self) -> Mapping[str, int]:
        """Return the line of the file of each key."""
        return {key: start + _FIRST_LINE for key, (start, _) in self._spans.items()}

    @property
    def body_line(self) -> int:
        """Return the line of the file on which the body begins."""
        return self.data.decode().count("\n", 0, self._frame.rest) + 1 if self._frame else 1

    def edited(self, values: Mapping[str, Emitted | None], body: str | None = None, order: Sequence[str] = ()) -> bytes:
        """Return the bytes with these entries set (None removes) and every other byte unchanged; new keys are placed by
        `order`."""
        if not values and body is None:
            return self.data
        text = self.data.decode()
        frame = self._frame
        if frame is None:
            start = 1 if text[:1] == _BOM else 0
            newline = _newline_of(text)
            text = f"{text[:start]}---{newline}---{newline}{text[start:]}"
            head = start + 3 + len(newline)
            frame = _Frame(head, head, head + 3 + len(newline), newline, 0)
        front = self._edited_front(text[frame.head : frame.tail], values, order, frame)
        closing, rest = text[frame.tail : frame.rest], text[frame.rest :]
        if body is not None:
            closing = closing if closing.endswith("\n") else closing + frame.newline
            rest = _replaced_body(rest, body, frame.newline)
        return (text[: frame.head] + front + closing + rest).encode()

    def _edited_front(
        self, front: str, values: Mapping[str, Emitted | None], order: Sequence[str], frame: _Frame
    ) -> str:
        rows = Rows(front, self._spans)
        for key, value in values.items():
            if value is None:
                rows.remove(key)
            else:
                emitted = emit_entry(key, value, frame.indent, rows.comment(key))
                rows.put(key, [row + frame.newline for row in emitted], order)
        return rows.text()


def _decode(data: bytes) -> str:
    if len(data) > MAX_FILE:
        raise Unreadable(f"file is larger than {MAX_FILE >> 20} MiB", 1)
    if b"\0" in data:
        raise Unreadable("file contains a NUL byte", data.count(b"\n", 0, data.index(b"\0")) + 1)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8: {error.reason}", data.count(b"\n", 0, error.start) + 1) from None


def _find_closing(text: str, head: int) -> re.Match[str]:
    at = head - 1
    while (at := text.find("\n---", at)) >= 0:
        if match := _CLOSING.match(text, at):
            return match
        at += 1
    raise Unreadable("frontmatter is opened by --- and never closed", 1)


def _read(front: str) -> Mapped:
    if "\r" in front:
        front = front.replace("\r\n", "\n")
    rows = front.split("\n")[:-1]
    if any(marker in front for marker in _MARKERS) and (match := _MARKER_IN_FRONT.search("\n" + front)):
        raise Unreadable(_MERGED, _line_at(front, match.start()))
    if "".join(rows).isprintable() or not (special := _SPECIAL.search(front)):
        return _quickly_read(rows) or read_mapping(front, _FIRST_LINE)
    while special:
        if special[0] not in _TABS_AND_MARKS:
            reason = f"the character U+{ord(special[0]):04X} must be written as an escape in double quotes"
            raise Unreadable(reason, _line_at(front, special.start()))
        special = _SPECIAL.search(front, special.end())
    return read_mapping(front, _FIRST_LINE)


def _quickly_read(rows: list[str]) -> Mapped | None:
    """Return the entries, each parsed separately; None if only a full parse can decide."""
    mapping = Mapped({}, {}, 0)
    values, spans, _ = mapping
    nested = 0
    row, count = 0, len(rows)
    while row < count:
        match = KEY_LINE.fullmatch(rows[row])
        if match is None:
            if rows[row][:1] in ("", "#"):
                row += 1
                continue
            return None
        key, inline = match.groups("")
        next_row = end = row + 1
        while next_row < count and rows[next_row][:1] in _CONTINUES:
            next_row += 1
        value = read_inline(inline) if next_row == end else None
        if value is None:
            value, end = _read_entry(rows, row, next_row, inline)
        if value is None or key in values:
            return None
        values[key], spans[key] = value, (row, end)
        nested += len(value) if isinstance(value, dict) else 0
        row = next_row
    return mapping if len(values) + nested <= MAX_KEYS else None


def _read_entry(rows: list[str], at: int, stop: int, inline: str) -> tuple[Value | None, int]:
    end = stop
    while end > at + 1 and rows[end - 1][:1] in ("", "#"):
        end -= 1
    value: Value | None = None
    if end == at + 1:
        value = read_inline(inline)
    elif not inline or inline[0] == "#":
        value = read_block(rows[at + 1 : end])
    return (value, end) if value is not None else _parse_entry(rows, at, stop)


def _parse_entry(rows: list[str], at: int, stop: int) -> tuple[Value | None, int]:
    try:
        values, spans, _ = read_mapping("\n".join(rows[at:stop]) + "\n", at + _FIRST_LINE)
    except Unreadable:
        return None, stop
    if len(values) != 1:
        return None, stop
    ((key, value),) = values.items()
    return value, min(at + spans[key][1], stop)


def _refuse_markers(body: str, first_line: int) -> None:
    at = _find_markers(body)
    if at is not None:
        raise Unreadable(_MERGED, first_line + body.count("\n", 0, at))


def has_markers(text: str) -> bool:
    """Return whether a text contains the markers of a failed merge."""
    return _find_markers(text) is not None


def _find_markers(text: str) -> int | None:
    opening = _OPENS_MERGE.search(text) if "<<<<<<< " in text else None
    return opening.start() if opening and text.find("\n>>>>>>> ", opening.end()) >= 0 else None


def _replaced_body(old: str, new: str, newline: str) -> str:
    gap = old[: len(old) - len(old.lstrip("\r\n"))]
    new = new.strip("\r\n")
    if newline == "\r\n":
        new = new.replace("\n", "\r\n")
    return gap + new + newline if new else ""


def _newline_of(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _line_at(front: str, offset: int) -> int:
    return front.count("\n", 0, offset) + _FIRST_LINE
