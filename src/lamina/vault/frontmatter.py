"""Parse a markdown file with YAML frontmatter without implicit types, and edit it without changing any other byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lamina.vault.yaml_codec import (
    KEY_LINE,
    MAX_KEYS,
    FrontmatterRows,
    FrontmatterValue,
    ParsedMapping,
    Unreadable,
    YamlValue,
    emit_entry,
    read_block,
    read_inline,
    read_mapping,
)

MAX_FILE = 1 << 20
MAX_FRONTMATTER = 64 << 10

MARKERS_KEY = "merge_markers"
MARKERS_VERBATIM = "verbatim"
"""`merge_markers: verbatim` means that merge markers in the body are part of the remembered text."""

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"\n---[ \t]*(?:\r?\n|\Z)")
_FIRST_LINE = 2
_CONTINUATION_STARTS = frozenset({"", " ", "-", "#"})
_ALLOWED_SPECIAL = "\t\ufeff"
_SPECIAL = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_FRONTMATTER_MARKER = re.compile(r"\n(?:<{7}|={7}|>{7}|\|{7})(?= |\n)")
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_OPENS_MERGE = re.compile(r"(?m)^<{7} ")
_MERGE_REASON = "there are merge markers here; choose one side and remove the markers"


class _TextLayout(NamedTuple):
    """The positions of the parts of a text: frontmatter from `front_start` to `front_end`, body from `body_start`."""

    front_start: int
    front_end: int
    body_start: int
    newline: str
    indent: int


@dataclass(frozen=True, slots=True, repr=False)
class FrontmatterDocument:
    r"""One file: `values` as text, lists and maps of text, `body` with newlines as `\\n`, `data` byte for byte."""

    data: bytes
    values: Mapping[str, FrontmatterValue]
    body: str
    _spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    _frame: _TextLayout | None = None

    @classmethod
    def parse(cls, data: bytes) -> FrontmatterDocument:
        """Return the document in the bytes of a file; Unreadable, with the line and the reason, if it cannot be
        parsed."""
        text = _decode(data)
        start = 1 if text[:1] == _BOM else 0
        opening = _OPENING.match(text, start)
        if opening is None:
            return cls._parse_without_frontmatter(data, text, start)
        head = opening.end()
        closing = _find_closing(text, head)
        front, body = text[head : closing.start() + 1], text[closing.end() :]
        if len(data) > MAX_FRONTMATTER and len(front.encode()) > MAX_FRONTMATTER:
            raise Unreadable(f"frontmatter is larger than {MAX_FRONTMATTER >> 10} KiB", 1)
        newline = "\r\n" if text[head - 2 : head] == "\r\n" else "\n"
        values, spans, indent = _read_front(front)
        if "<<<<<<< " in body and values.get(MARKERS_KEY) != MARKERS_VERBATIM:
            _refuse_markers(body, text.count("\n", 0, closing.end()) + 1)
        if newline == "\r\n":
            body = body.replace("\r\n", "\n")
        return cls(data, values, body, spans, _TextLayout(head, closing.start() + 1, closing.end(), newline, indent))

    @classmethod
    def _parse_without_frontmatter(cls, data: bytes, text: str, start: int) -> FrontmatterDocument:
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
        return self.data.decode().count("\n", 0, self._frame.body_start) + 1 if self._frame else 1

    def edit(self, values: Mapping[str, YamlValue | None], body: str | None = None, order: Sequence[str] = ()) -> bytes:
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
            frame = _TextLayout(head, head, head + 3 + len(newline), newline, 0)
        front = self._edit_front(text[frame.front_start : frame.front_end], values, order, frame)
        closing, rest = text[frame.front_end : frame.body_start], text[frame.body_start :]
        if body is not None:
            closing = closing if closing.endswith("\n") else closing + frame.newline
            rest = _replace_body(rest, body, frame.newline)
        return (text[: frame.front_start] + front + closing + rest).encode()

    def _edit_front(
        self, front: str, values: Mapping[str, YamlValue | None], order: Sequence[str], frame: _TextLayout
    ) -> str:
        rows = FrontmatterRows(front, self._spans)
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


def _read_front(front: str) -> ParsedMapping:
    if "\r" in front:
        front = front.replace("\r\n", "\n")
    rows = front.split("\n")[:-1]
    if any(marker in front for marker in _MARKERS) and (match := _FRONTMATTER_MARKER.search("\n" + front)):
        raise Unreadable(_MERGE_REASON, _line_at(front, match.start()))
    if "".join(rows).isprintable() or not (special := _SPECIAL.search(front)):
        return _read_fast(rows) or read_mapping(front, _FIRST_LINE)
    while special:
        if special[0] not in _ALLOWED_SPECIAL:
            reason = f"the character U+{ord(special[0]):04X} must be written as an escape in double quotes"
            raise Unreadable(reason, _line_at(front, special.start()))
        special = _SPECIAL.search(front, special.end())
    return read_mapping(front, _FIRST_LINE)


def _read_fast(rows: list[str]) -> ParsedMapping | None:
    """Return the entries, each parsed separately; None if only a full parse can decide."""
    mapping = ParsedMapping({}, {}, 0)
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
        while next_row < count and rows[next_row][:1] in _CONTINUATION_STARTS:
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


def _read_entry(rows: list[str], at: int, stop: int, inline: str) -> tuple[FrontmatterValue | None, int]:
    end = stop
    while end > at + 1 and rows[end - 1][:1] in ("", "#"):
        end -= 1
    value: FrontmatterValue | None = None
    if end == at + 1:
        value = read_inline(inline)
    elif not inline or inline[0] == "#":
        value = read_block(rows[at + 1 : end])
    return (value, end) if value is not None else _parse_entry(rows, at, stop)


def _parse_entry(rows: list[str], at: int, stop: int) -> tuple[FrontmatterValue | None, int]:
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
        raise Unreadable(_MERGE_REASON, first_line + body.count("\n", 0, at))


def has_merge_markers(text: str) -> bool:
    """Return whether a text contains the markers of a failed merge."""
    return _find_markers(text) is not None


def _find_markers(text: str) -> int | None:
    opening = _OPENS_MERGE.search(text) if "<<<<<<< " in text else None
    return opening.start() if opening and text.find("\n>>>>>>> ", opening.end()) >= 0 else None


def _replace_body(old: str, new: str, newline: str) -> str:
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
