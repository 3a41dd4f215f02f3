"""The form that edits an atom: which of its fields a person changed."""

from __future__ import annotations

from lamina.atom.atom import Atom
from lamina.text.times import format_time
from lamina.web.visit import Visit

TEXTS = ("content", "subject", "attribute", "value", "kind")
LISTS = ("tags", "entities")
TIMES = ("valid_from", "valid_until")


def shown(atom: Atom) -> dict[str, str]:
    """Return the fields as the form shows them."""
    values = {name: getattr(atom, name) or "" for name in TEXTS}
    values |= {name: ", ".join(getattr(atom, name)) for name in LISTS}
    return values | {name: format_time(at) if (at := getattr(atom, name)) else "" for name in TIMES}


def changed(atom: Atom, visit: Visit) -> tuple[str | None, dict[str, object]]:
    """Return the changed text, if any, and the other changed fields; a text field that was emptied becomes None."""
    before = shown(atom)
    sent = {name: visit.sent(name) for name in before if name in visit.form}
    changes = {name: value for name, value in sent.items() if value.strip() != before[name].strip()}
    return changes.pop("content", None), {name: _meant(name, value) for name, value in changes.items()}


def _meant(name: str, value: str) -> object:
    if name in LISTS:
        return [item.strip() for item in value.split(",") if item.strip()]
    return value if name in ("subject", "kind") else value.strip() or None
