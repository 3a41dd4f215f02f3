"""Explicit statements go the way of captured words: secrets, and what recall had told, are taken out before anything
is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.capture.fence import own_words
from lamina.capture.redact import redact

_TEXTS = ("content", "subject", "attribute", "value")
_LISTS = ("tags", "entities")


def without_secrets(given: Mapping[str, Any], *, personal: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of a statement without secrets, and the names of those taken out. What is no text is left as it is."""
    taken: list[str] = []

    def clean(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = redact(value, personal=personal)
        taken.extend(secret.name for secret in found.found)
        return found.text

    fields = dict(given)
    if isinstance(fields.get("content"), str):
        fields["content"] = own_words(fields["content"])
    fields |= {name: clean(fields[name]) for name in _TEXTS if name in fields}
    for name in _LISTS:
        if isinstance(fields.get(name), list | tuple):
            fields[name] = [clean(field) for field in fields[name]]
    if isinstance(fields.get("metadata"), Mapping):
        fields["metadata"] = {key: clean(value) for key, value in fields["metadata"].items()}
    return fields, tuple(dict.fromkeys(taken))
