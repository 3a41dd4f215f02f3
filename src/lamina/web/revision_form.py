"""The form that edits an atom: which of its fields a person changed."""

from __future__ import annotations

from typing import Any

from lamina.atom.atom import Atom
from lamina.text.timestamps import format_time
from lamina.web.page_request import PageRequest

TEXT_FIELDS = ("content", "subject", "attribute", "value", "kind")
LIST_FIELDS = ("tags", "entities")
TIME_FIELDS = ("valid_from", "valid_until")


def form_values(atom: Atom) -> dict[str, str]:
    """Return the fields as the form shows them."""
    values = {name: getattr(atom, name) or "" for name in TEXT_FIELDS}
    values |= {name: ", ".join(getattr(atom, name)) for name in LIST_FIELDS}
    return values | {name: format_time(at) if (at := getattr(atom, name)) else "" for name in TIME_FIELDS}


def changed_fields(atom: Atom, request: PageRequest) -> tuple[str | None, dict[str, Any]]:
    """Return the changed text, if any, and the other changed fields; a text field that was emptied becomes None."""
    before = form_values(atom)
    sent = {name: request.form_value(name) for name in before if name in request.form}
    changes = {name: value for name, value in sent.items() if value.strip() != before[name].strip()}
    return changes.pop("content", None), {name: _parse_field(name, value) for name, value in changes.items()}


def _parse_field(name: str, value: str) -> object:
    if name in LIST_FIELDS:
        return [item.strip() for item in value.split(",") if item.strip()]
    return value if name in ("subject", "kind") else value.strip() or None
