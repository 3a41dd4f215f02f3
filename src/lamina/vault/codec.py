"""Convert an atom to a markdown file and back. What a person wrote in it (comments, unknown keys, order) is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lamina.atom.atom import Atom, Signals, kind_defaults
from lamina.atom.identity import AtomId, is_atom_id
from lamina.atom.status import Status
from lamina.errors import InvalidInput
from lamina.vault.emit_yaml import Emitted, emit_entry
from lamina.vault.fields import (
    DEFAULTS,
    FIELDS,
    ORDER,
    SIGNAL_DEFAULTS,
    SIGNALS,
    Field,
    read_text,
    read_truth,
    truth_of,
)
from lamina.vault.frontmatter import (
    MARKERS_KEPT,
    MARKERS_KEY,
    MAX_FILE,
    MAX_FRONTMATTER,
    Document,
    Unreadable,
    Value,
    has_markers,
)
from lamina.vault.links import Link

__all__ = ["SHEET_FIELDS", "Link", "Sheet", "Unreadable", "read_sheet", "render"]

SHEET_FIELDS: tuple[str, ...] = (*FIELDS, "content")
"""Every field of an atom that its file contains; the scope follows from the folder."""

_ALWAYS = ("id", "kind", "observed_at", "recorded_at")
_FROM_KIND = ("layer", "durability", "memory_type")
_ALIASES = {"tier": "layer", "is_superseded": "status", "atom_id": "id"}
_IN_PROVENANCE = {
    "ingested_at": "recorded_at",
    **{name: name for name in ("observed_at", "recorded_at", "source_id", "session_id", "segment_id", "source_ref")},
    **{name: name for name in ("origin", "principal", "run_id")},
}
_IS_SUPERSEDED = Field(lambda value: Status.SUPERSEDED if read_truth(value) else Status.ACTIVE, FIELDS["status"].write)
_LONGEST_CONTENT_KEY = 4_000
_NOTES = (MARKERS_KEY, "content")
_KEYS = (*ORDER, MARKERS_KEY)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of a file: `fields` has every field of FILE_FIELDS, with its default if the file does not set it."""

    id: AtomId | None
    foreign_id: str | None
    fields: Mapping[str, Any]
    content_key: str | None
    signals: Signals
    document: Document

    @property
    def lines(self) -> Mapping[str, int]:
        """Return the line of the file that sets each field."""
        key_lines = self.document.lines
        field_lines = {"content": key_lines["content"] if self._content_is_a_key else self.document.body_line}
        for key in ("provenance", *_ALIASES):
            if key in key_lines:
                field_lines |= dict.fromkeys(_said_by(self.document.values, key), key_lines[key])
        return field_lines | {key: line for key, line in key_lines.items() if key != "content"}

    @property
    def _content_is_a_key(self) -> bool:
        return self.content_key is not None and not self.document.body.strip()


def read_sheet(data: bytes) -> Sheet:
    """Return what the bytes of a file say; Unreadable, with the line and the reason, if they cannot be parsed."""
    document = Document.parse(data)
    values = document.values
    stated: dict[str, Any] = {}
    counters: dict[str, Any] = {}
    for key, value in values.items():
        if key in FIELDS:
            _take(stated, document, key, key, FIELDS[key], value)
        elif key in SIGNALS:
            _take(counters, document, key, key, SIGNALS[key], value)
    _take_older_shapes(stated, document)
    atom_id, foreign_id = _identify(stated.get("id"), _older_id(document))
    content_key = _read_content_key(document)
    content = document.body.strip("\r\n")
    if content_key is not None and not content.strip():
        content = content_key
    fields = {**DEFAULTS, "metadata": {}, **stated, "id": atom_id, "content": content}
    _fill_from_kind(fields, stated)
    signals = Signals(**{**SIGNAL_DEFAULTS, **counters}) if counters else Signals()
    return Sheet(atom_id, foreign_id, fields, content_key, signals, document)


def render(atom: Atom, base: bytes | None, link: Link, *, signals: Signals | None = None) -> bytes:
    """Return the file of an atom: a new one, or the base with only the differences edited; the same bytes if there are
    none."""
    if base is None:
        return _checked(_fresh(atom, link, signals or Signals()), atom.id)
    file = read_sheet(base)
    edits = _field_edits(atom, file, link)
    if signals is not None:
        edits |= _signal_edits(signals, file.signals, link)
    body = None
    if atom.content != file.fields["content"]:
        body = atom.content
        edits |= _content_edits(atom.content, file)
    ordered = {key: edits[key] for key in (*ORDER, *_NOTES, *_ALIASES) if key in edits}
    return _checked(file.document.edited(ordered, body, ORDER), atom.id)


def _fresh(atom: Atom, link: Link, signals: Signals) -> bytes:
    defaults = {**DEFAULTS, **kind_defaults(atom.kind, atom.confidence, atom.origin)}
    entries: dict[str, Emitted | None] = {}
    for name, field in FIELDS.items():
        value = getattr(atom, name)
        if value != "" and (value != defaults[name] or (name in _ALWAYS and value)):
            entries[name] = field.write(value, link)
    entries |= _signal_edits(signals, Signals(), link)
    if has_markers(atom.content):
        entries[MARKERS_KEY] = MARKERS_KEPT
    rows = [row for key in _KEYS if (value := entries.get(key)) is not None for row in emit_entry(key, value)]
    return "\n".join(["---", *rows, "---", "", atom.content, ""]).encode()


def _take(said: dict[str, Any], document: Document, key: str, name: str, field: Field, value: Value) -> None:
    """Read one value; an empty one sets the default, and still takes precedence over a legacy key of the same field."""
    if value == "" or value == []:
        if name not in _FROM_KIND:
            said[name] = DEFAULTS[name] if name in DEFAULTS else SIGNAL_DEFAULTS[name]
        return
    try:
        said[name] = field.read(value)
    except ValueError as error:
        raise Unreadable(f"{key}: {error}", document.lines[key]) from None


def _take_older_shapes(said: dict[str, Any], document: Document) -> None:
    values = document.values
    if "tier" in values and "layer" not in values:
        _take(said, document, "tier", "layer", FIELDS["layer"], values["tier"])
    if "is_superseded" in values and "status" not in values:
        _take(said, document, "is_superseded", "status", _IS_SUPERSEDED, values["is_superseded"])
    provenance = values.get("provenance")
    if isinstance(provenance, dict):
        for key, name in _IN_PROVENANCE.items():
            if key in provenance and name not in values:
                _take(said, document, "provenance", name, FIELDS[name], provenance[key])


def _older_id(document: Document) -> str | None:
    values: dict[str, Any] = {}
    if "atom_id" in document.values:
        _take(values, document, "atom_id", "id", FIELDS["id"], document.values["atom_id"])
    return values.get("id")


def _identify(*candidates: str | None) -> tuple[AtomId | None, str | None]:
    texts = [text.strip() for text in candidates if text and text.strip()]
    atom_id = next((AtomId(text) for text in texts if is_atom_id(text)), None)
    return atom_id, next((text for text in texts if not is_atom_id(text)), None)


def _read_content_key(document: Document) -> str | None:
    if "content" not in document.values:
        return None
    try:
        return read_text(document.values["content"]).strip("\r\n")
    except ValueError as error:
        raise Unreadable(f"content: {error}", document.lines["content"]) from None


def _fill_from_kind(fields: dict[str, Any], said: Mapping[str, Any]) -> None:
    for name, value in kind_defaults(fields["kind"], fields["confidence"], fields["origin"]).items():
        if name not in said:
            fields[name] = value


def _field_edits(atom: Atom, sheet: Sheet, link: Link) -> dict[str, Emitted | None]:
    values = sheet.document.values
    defaults = {**DEFAULTS, **kind_defaults(atom.kind, atom.confidence, atom.origin)}
    edits: dict[str, Emitted | None] = {}
    for name, field in FIELDS.items():
        value = getattr(atom, name)
        if value == "":
            value = defaults[name]
        is_implied = name in _FROM_KIND and not _is_said(values, name)
        if value == (defaults[name] if is_implied else sheet.fields[name]):
            continue
        edits |= _alias_edits(name, value, values)
        if value != defaults[name]:
            edits[name] = field.write(value, link)
        elif name in _said_by(values, "provenance"):
            edits[name] = "" if value is None else field.write(value, link)
        else:
            edits[name] = None
    return edits


def _is_said(values: Mapping[str, Value], name: str) -> bool:
    return bool(values.get(name)) or (name == "layer" and name not in values and bool(values.get("tier")))


def _said_by(values: Mapping[str, Value], key: str) -> set[str]:
    """Return the fields that a legacy key sets."""
    if key in _ALIASES:
        return {_ALIASES[key]}
    provenance = values.get(key)
    keys = provenance.keys() if isinstance(provenance, dict) else ()
    return {_IN_PROVENANCE[name] for name in keys if name in _IN_PROVENANCE}


def _alias_edits(name: str, value: Any, values: Mapping[str, Value]) -> dict[str, Emitted | None]:
    if name == "status" and "is_superseded" in values:
        agrees = truth_of(values["is_superseded"]) is (value is Status.SUPERSEDED)
        return {} if agrees else {"is_superseded": None}
    return {alias: None for alias, field in _ALIASES.items() if field == name != "status" and alias in values}


def _signal_edits(signals: Signals, shown: Signals, link: Link) -> dict[str, Emitted | None]:
    edits: dict[str, Emitted | None] = {}
    for name, field in SIGNALS.items():
        value = getattr(signals, name)
        if value != getattr(shown, name):
            edits[name] = None if value == SIGNAL_DEFAULTS[name] else field.write(value, link)
    return edits


def _content_edits(content: str, sheet: Sheet) -> dict[str, Emitted | None]:
    """Return the edits that a changed body needs: of a `content` key that repeats it or would take effect, and of the
    merge markers."""
    edits: dict[str, Emitted | None] = {}
    if has_markers(content):
        edits[MARKERS_KEY] = MARKERS_KEPT
    if sheet.content_key is not None and (sheet.content_key == sheet.fields["content"] or not content.strip()):
        is_short = content and len(content) <= _LONGEST_CONTENT_KEY
        edits["content"] = content if is_short else None
    return edits


def _checked(data: bytes, atom_id: str) -> bytes:
    if len(data) > MAX_FILE:
        raise InvalidInput(f"{atom_id} does not fit in a file of {MAX_FILE >> 20} MiB; shorten its content")
    if len(data) > MAX_FRONTMATTER:
        front = data[: data.find(b"\n---", 3) + 1]
        if len(front) > MAX_FRONTMATTER:
            raise InvalidInput(
                f"the fields of {atom_id} do not fit in {MAX_FRONTMATTER >> 10} KiB of frontmatter; shorten them"
            )
    return data
