"""Revises an atom: validates the fields that a caller wants to change as if they were new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.atom.atom import Atom
from lamina.capture.clean import without_secrets
from lamina.capture.draft import parse_draft, parse_text
from lamina.errors import InvalidInput

REVISABLE = frozenset(
    {
        "subject",
        "attribute",
        "value",
        "tags",
        "entities",
        "kind",
        "confidence",
        "importance",
        "valid_from",
        "valid_until",
        "expires_at",
        "durability",
        "memory_type",
        "metadata",
    }
)
_TIMES = frozenset({"valid_from", "valid_until"})


def parse_revision(content: str | None, given: Mapping[str, Any], *, personal: bool) -> dict[str, Any]:
    """Return the fields to set, with secrets redacted; InvalidInput names fields that cannot be revised."""
    unknown = given.keys() - REVISABLE
    if unknown:
        raise InvalidInput(f"cannot revise {', '.join(sorted(unknown))}; choose from {', '.join(sorted(REVISABLE))}")
    clean, _ = without_secrets({**given, "content": content}, personal=personal)
    return clean


def revised(atom: Atom, wanted: Mapping[str, Any]) -> Atom:
    """Return the atom with the revision applied."""
    content = wanted["content"]
    fields = {name: value for name, value in wanted.items() if name != "content"}
    times = {name: getattr(atom, name) for name in _TIMES} if fields.keys() & _TIMES else {}
    words = "as it is" if content is None or atom.is_segment else content
    draft = parse_draft(**{**times, **fields, "content": words})
    changed = {name: getattr(draft, name) for name in fields}
    if content is not None:
        changed["content"] = parse_text(content).strip("\n") if atom.is_segment else draft.content
    return atom.with_(**changed)
