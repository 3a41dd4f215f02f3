"""What a form wants changed of an atom: the fields it shows and that no longer say what the atom says."""

from __future__ import annotations

from lamina.atom.atom import Atom
from lamina.text.times import format_time
from lamina.web.visit import Visit

TEXTS = ("content", "subject", "attribute", "value", "kind")
LISTS = ("tags", "entities")
TIMES = ("valid_from", "valid_until")


def shown(atom: Atom) -> dict[str, str]:
    """The fields as a form shows them."""
    told = {name: getattr(atom, name) or "" for name in TEXTS}
    told |= {name: ", ".join(getattr(atom, name)) for name in LISTS}
    return told | {name: format_time(at) if (at := getattr(atom, name)) else "" for name in TIMES}


def changed(atom: Atom, visit: Visit) -> tuple[str | None, dict[str, object]]:
    """The words and the fields that a person wrote something else into; a text that was emptied is no longer set."""
    before = shown(atom)
    given = {name: visit.sent(name) for name in before if name in visit.form}
    told = {name: value for name, value in given.items() if value.strip() != before[name].strip()}
    return told.pop("content", None), {name: _meant(name, value) for name, value in told.items()}


def _meant(name: str, value: str) -> object:
    if name in LISTS:
        return [each.strip() for each in value.split(",") if each.strip()]
    return value if name in ("subject", "kind") else value.strip() or None
