"""Revises an atom: validates the fields that a caller wants to change as if they were new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.atom.atom import Atom
from lamina.capture.caller_input import parse_draft, parse_text, redact_fields
from lamina.capture.metadata_contracts import complete_metadata
from lamina.capture.statement_scores import score_valence

_TIME_FIELDS = frozenset({"valid_from", "valid_until"})


def parse_revision(content: str | None, fields: Mapping[str, Any], *, redact_personal: bool) -> dict[str, Any]:
    """Return the fields to set, with secrets redacted."""
    clean, _ = redact_fields({**fields, "content": content}, personal=redact_personal)
    return clean


def apply_revision(atom: Atom, revision: Mapping[str, Any]) -> Atom:
    """Return the atom with the revision applied."""
    content = revision["content"]
    fields = {name: value for name, value in revision.items() if name != "content"}
    if "metadata" in fields:
        fields["metadata"] = _merge_metadata(atom, fields)
    times = {name: getattr(atom, name) for name in _TIME_FIELDS} if fields.keys() & _TIME_FIELDS else {}
    words = "as it is" if content is None or atom.is_segment else content
    draft = parse_draft(**{**times, **fields, "content": words})
    changed = {name: getattr(draft, name) for name in fields}
    if content is not None:
        changed["content"] = parse_text(content).strip("\n") if atom.is_segment else draft.content
        if not atom.is_segment and atom.valence == score_valence(atom.content):  # it was not given by a caller
            changed.setdefault("valence", score_valence(draft.content))
    return atom.with_(**changed)


def _merge_metadata(atom: Atom, fields: Mapping[str, Any]) -> Any:
    """Return the metadata with the given keys set, and without those given as empty text; the others stay."""
    given = fields["metadata"]
    if not isinstance(given, Mapping):
        return given
    removed = {key for key, value in given.items() if value == ""}
    metadata = {key: value for key, value in {**atom.metadata, **given}.items() if key not in removed}
    kind = fields.get("kind", atom.kind)
    stated = {"kind": kind, "value": atom.value, "tags": atom.tags or None, "metadata": metadata}
    return complete_metadata(stated, None, atom.origin)["metadata"]
