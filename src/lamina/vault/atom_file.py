"""Convert an atom to a markdown file and back. What a person wrote in it (comments, unknown keys, order) is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lamina.atom.atom import Atom, AtomId, Signals, is_atom_id, kind_defaults
from lamina.atom.status import Status
from lamina.errors import InvalidInput
from lamina.vault.frontmatter import (
    MARKERS_KEY,
    MARKERS_VERBATIM,
    MAX_FILE,
    MAX_FRONTMATTER,
    FrontmatterDocument,
    has_merge_markers,
)
from lamina.vault.frontmatter_fields import (
    EVIDENCE_COUNT_KEY,
    FIELD_DEFAULTS,
    FIELD_ORDER,
    FIELDS,
    SIGNAL_DEFAULTS,
    SIGNAL_FIELDS,
    FieldCodec,
    StemLookup,
    parse_bool,
    read_bool,
    read_text,
)
from lamina.vault.yaml_codec import FrontmatterValue, PlainScalar, Unreadable, YamlValue, emit_entry

FILE_FIELDS: tuple[str, ...] = (*FIELDS, "content")
"""Every field of an atom that its file contains; the scope follows from the folder."""

_ALWAYS_WRITTEN = ("id", "kind", "observed_at", "recorded_at")
_FIELDS_OF_KIND = ("layer", "durability", "memory_type")
_LEGACY_KEYS = {"tier": "layer", "is_superseded": "status", "atom_id": "id"}
_PROVENANCE_KEYS = {
    "ingested_at": "recorded_at",
    **{name: name for name in ("observed_at", "recorded_at", "source_id", "session_id", "segment_id", "source_ref")},
    **{name: name for name in ("origin", "principal", "run_id")},
}
_IS_SUPERSEDED = FieldCodec(
    lambda value: Status.SUPERSEDED if read_bool(value) else Status.ACTIVE, FIELDS["status"].write
)
_MAX_CONTENT_KEY = 4_000
_LAST_KEYS = (MARKERS_KEY, "content")
_KEYS = (*FIELD_ORDER, MARKERS_KEY)
_MAX_SHOWN_EVIDENCE = 40
"""How many pieces of evidence a file shows: the first and the last ones. The store has all."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The content of a file: `fields` has every field of FILE_FIELDS, with its default if the file does not set it."""

    id: AtomId | None
    foreign_id: str | None
    fields: Mapping[str, Any]
    content_key: str | None
    signals: Signals
    document: FrontmatterDocument

    @property
    def lines(self) -> Mapping[str, int]:
        """Return the line of the file that sets each field."""
        key_lines = self.document.lines
        field_lines = {"content": key_lines["content"] if self._content_is_a_key else self.document.body_line}
        for key in ("provenance", *_LEGACY_KEYS):
            if key in key_lines:
                field_lines |= dict.fromkeys(_fields_of_key(self.document.values, key), key_lines[key])
        return field_lines | {key: line for key, line in key_lines.items() if key != "content"}

    @property
    def _content_is_a_key(self) -> bool:
        return self.content_key is not None and not self.document.body.strip()


def parse_file(data: bytes) -> ParsedFile:
    """Return what the bytes of a file say; Unreadable, with the line and the reason, if they cannot be parsed."""
    document = FrontmatterDocument.parse(data)
    values = document.values
    stated: dict[str, Any] = {}
    counters: dict[str, Any] = {}
    for key, value in values.items():
        if key in FIELDS:
            _read_value(stated, document, key, key, FIELDS[key], value)
        elif key in SIGNAL_FIELDS:
            _read_value(counters, document, key, key, SIGNAL_FIELDS[key], value)
    _read_legacy_keys(stated, document)
    atom_id, foreign_id = _identify(stated.get("id"), _read_legacy_id(document))
    content_key = _read_content_key(document)
    content = document.body.strip("\r\n")
    if content_key is not None and not content.strip():
        content = content_key
    fields = {**FIELD_DEFAULTS, "metadata": {}, **stated, "id": atom_id, "content": content}
    _fill_from_kind(fields, stated)
    signals = Signals(**{**SIGNAL_DEFAULTS, **counters}) if counters else Signals()
    return ParsedFile(atom_id, foreign_id, fields, content_key, signals, document)


def render_file(atom: Atom, base: bytes | None, stem_lookup: StemLookup, *, signals: Signals | None = None) -> bytes:
    """Return the file of an atom: a new one, or the base with only the differences edited; the same bytes if there are
    none."""
    if base is None:
        return _check_size(_render_new(atom, stem_lookup, signals or Signals()), atom.id)
    file = parse_file(base)
    edits = _field_edits(atom, file, stem_lookup)
    if signals is not None:
        edits |= _signal_edits(signals, file.signals, stem_lookup)
    body = None
    if atom.content != file.fields["content"]:
        body = atom.content
        edits |= _content_edits(atom.content, file)
    ordered = {key: edits[key] for key in (*FIELD_ORDER, *_LAST_KEYS, *_LEGACY_KEYS) if key in edits}
    return _check_size(file.document.edit(ordered, body, FIELD_ORDER), atom.id)


def _render_new(atom: Atom, stem_lookup: StemLookup, signals: Signals) -> bytes:
    defaults = {**FIELD_DEFAULTS, **kind_defaults(atom.kind, atom.confidence, atom.origin)}
    entries: dict[str, YamlValue | None] = {}
    for name, field in FIELDS.items():
        value = _value_in_file(atom, name)
        if value != "" and (value != defaults[name] or (name in _ALWAYS_WRITTEN and value)):
            entries[name] = field.write(value, stem_lookup)
    entries |= _evidence_count_edits(atom, {})
    entries |= _signal_edits(signals, Signals(), stem_lookup)
    if has_merge_markers(atom.content):
        entries[MARKERS_KEY] = MARKERS_VERBATIM
    rows = [row for key in _KEYS if (value := entries.get(key)) is not None for row in emit_entry(key, value)]
    return "\n".join(["---", *rows, "---", "", atom.content, ""]).encode()


def _read_value(
    values: dict[str, Any],
    document: FrontmatterDocument,
    key: str,
    name: str,
    field: FieldCodec,
    value: FrontmatterValue,
) -> None:
    """Read one value; an empty one sets the default, and still takes precedence over a legacy key of the same field."""
    if value == "" or value == []:
        if name not in _FIELDS_OF_KIND:
            values[name] = FIELD_DEFAULTS[name] if name in FIELD_DEFAULTS else SIGNAL_DEFAULTS[name]
        return
    try:
        values[name] = field.read(value)
    except ValueError as error:
        raise Unreadable(f"{key}: {error}", document.lines[key]) from None


def _read_legacy_keys(fields: dict[str, Any], document: FrontmatterDocument) -> None:
    values = document.values
    if "tier" in values and "layer" not in values:
        _read_value(fields, document, "tier", "layer", FIELDS["layer"], values["tier"])
    if "is_superseded" in values and "status" not in values:
        _read_value(fields, document, "is_superseded", "status", _IS_SUPERSEDED, values["is_superseded"])
    provenance = values.get("provenance")
    if isinstance(provenance, dict):
        for key, name in _PROVENANCE_KEYS.items():
            if key in provenance and name not in values:
                _read_value(fields, document, "provenance", name, FIELDS[name], provenance[key])


def _read_legacy_id(document: FrontmatterDocument) -> str | None:
    values: dict[str, Any] = {}
    if "atom_id" in document.values:
        _read_value(values, document, "atom_id", "id", FIELDS["id"], document.values["atom_id"])
    return values.get("id")


def _identify(*candidates: str | None) -> tuple[AtomId | None, str | None]:
    texts = [text.strip() for text in candidates if text and text.strip()]
    atom_id = next((AtomId(text) for text in texts if is_atom_id(text)), None)
    return atom_id, next((text for text in texts if not is_atom_id(text)), None)


def _read_content_key(document: FrontmatterDocument) -> str | None:
    if "content" not in document.values:
        return None
    try:
        return read_text(document.values["content"]).strip("\r\n")
    except ValueError as error:
        raise Unreadable(f"content: {error}", document.lines["content"]) from None


def _fill_from_kind(fields: dict[str, Any], stated: Mapping[str, Any]) -> None:
    for name, value in kind_defaults(fields["kind"], fields["confidence"], fields["origin"]).items():
        if name not in stated:
            fields[name] = value


def _field_edits(atom: Atom, file: ParsedFile, stem_lookup: StemLookup) -> dict[str, YamlValue | None]:
    values = file.document.values
    defaults = {**FIELD_DEFAULTS, **kind_defaults(atom.kind, atom.confidence, atom.origin)}
    edits: dict[str, YamlValue | None] = {}
    for name, field in FIELDS.items():
        value = _value_in_file(atom, name)
        if value == "":
            value = defaults[name]
        is_implied = name in _FIELDS_OF_KIND and not _is_stated(values, name)
        if value == (defaults[name] if is_implied else file.fields[name]):
            continue
        edits |= _alias_edits(name, value, values)
        if value != defaults[name]:
            edits[name] = field.write(value, stem_lookup)
        elif name in _fields_of_key(values, "provenance"):
            edits[name] = "" if value is None else field.write(value, stem_lookup)
        else:
            edits[name] = None
    return edits | _evidence_count_edits(atom, values)


def _value_in_file(atom: Atom, name: str) -> Any:
    """Return the value of a field as its file shows it: of much evidence only the first and last pieces."""
    value = getattr(atom, name)
    if name != "evidence" or len(value) <= _MAX_SHOWN_EVIDENCE:
        return value
    return (*value[: _MAX_SHOWN_EVIDENCE // 2], *value[-_MAX_SHOWN_EVIDENCE // 2 :])


def _evidence_count_edits(atom: Atom, values: Mapping[str, FrontmatterValue]) -> dict[str, YamlValue | None]:
    """Return the edit of the number of pieces of evidence, which only a file that leaves some out has."""
    count = str(len(atom.evidence)) if len(atom.evidence) > _MAX_SHOWN_EVIDENCE else None
    is_right = count == (str(values[EVIDENCE_COUNT_KEY]) if EVIDENCE_COUNT_KEY in values else None)
    return {} if is_right else {EVIDENCE_COUNT_KEY: PlainScalar(count) if count else None}


def _is_stated(values: Mapping[str, FrontmatterValue], name: str) -> bool:
    return bool(values.get(name)) or (name == "layer" and name not in values and bool(values.get("tier")))


def _fields_of_key(values: Mapping[str, FrontmatterValue], key: str) -> set[str]:
    """Return the fields that a legacy key sets."""
    if key in _LEGACY_KEYS:
        return {_LEGACY_KEYS[key]}
    provenance = values.get(key)
    keys = provenance.keys() if isinstance(provenance, dict) else ()
    return {_PROVENANCE_KEYS[name] for name in keys if name in _PROVENANCE_KEYS}


def _alias_edits(name: str, value: Any, values: Mapping[str, FrontmatterValue]) -> dict[str, YamlValue | None]:
    if name == "status" and "is_superseded" in values:
        agrees = parse_bool(values["is_superseded"]) is (value is Status.SUPERSEDED)
        return {} if agrees else {"is_superseded": None}
    return {alias: None for alias, field in _LEGACY_KEYS.items() if field == name != "status" and alias in values}


def _signal_edits(signals: Signals, current: Signals, stem_lookup: StemLookup) -> dict[str, YamlValue | None]:
    edits: dict[str, YamlValue | None] = {}
    for name, field in SIGNAL_FIELDS.items():
        value = getattr(signals, name)
        if value != getattr(current, name):
            edits[name] = None if value == SIGNAL_DEFAULTS[name] else field.write(value, stem_lookup)
    return edits


def _content_edits(content: str, file: ParsedFile) -> dict[str, YamlValue | None]:
    """Return the edits that a changed body needs: of a `content` key that repeats it or would take effect, and of the
    merge markers."""
    edits: dict[str, YamlValue | None] = {}
    if has_merge_markers(content):
        edits[MARKERS_KEY] = MARKERS_VERBATIM
    if file.content_key is not None and (file.content_key == file.fields["content"] or not content.strip()):
        is_short = content and len(content) <= _MAX_CONTENT_KEY
        edits["content"] = content if is_short else None
    return edits


def _check_size(data: bytes, atom_id: str) -> bytes:
    if len(data) > MAX_FILE:
        raise InvalidInput(f"{atom_id} does not fit in a file of {MAX_FILE >> 20} MiB; shorten its content")
    if len(data) > MAX_FRONTMATTER:
        front = data[: data.find(b"\n---", 3) + 1]
        if len(front) > MAX_FRONTMATTER:
            raise InvalidInput(
                f"the fields of {atom_id} do not fit in {MAX_FRONTMATTER >> 10} KiB of frontmatter; shorten them"
            )
    return data
