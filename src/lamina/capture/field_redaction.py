"""Redaction of explicit statements: the same rules as for captured text, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.capture.recalled_context import require_own_words
from lamina.capture.redact import redact

_TEXTS = ("content", "subject", "attribute", "value")
_LISTS = ("tags", "entities")


def redact_fields(arguments: Mapping[str, Any], *, personal: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields without secrets and recalled context, and the names of the secrets.

    Values that are not text stay as they are. InvalidInput if the content is nothing but recalled context.
    """
    secret_names: list[str] = []

    def redact_value(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        redacted = redact(value, personal=personal)
        secret_names.extend(secret.name for secret in redacted.secrets)
        return redacted.text

    fields = dict(arguments)
    if isinstance(fields.get("content"), str):
        fields["content"] = require_own_words(fields["content"])
    fields |= {name: redact_value(fields[name]) for name in _TEXTS if name in fields}
    for name in _LISTS:
        if isinstance(fields.get(name), list | tuple):
            fields[name] = [redact_value(item) for item in fields[name]]
    if isinstance(fields.get("metadata"), Mapping):
        fields["metadata"] = {key: redact_value(value) for key, value in fields["metadata"].items()}
    return fields, tuple(dict.fromkeys(secret_names))
