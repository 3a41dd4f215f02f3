"""Replaces atom ids in sentences by the text of the atoms, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lamina.atom.atom import Atom, is_atom_id
from lamina.errors import NotFound
from lamina.memory import Memory
from lamina.store.base import AtomVersion, JournalEntry

_ID_PATTERN = re.compile(r"\b([0-9a-z]{26})\b")


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a sentence; with the atom it names, if it names one."""

    text: str
    atom: Atom | None = None


def readable_reason(change: AtomVersion | JournalEntry) -> str:
    """Return the reason of a change; that of a link contains the name of the relation, with underscores."""
    return change.reason.replace("_", " ") if change.verb == "relate" else change.reason


def split_mentions(text: str, atoms: Mapping[str, Atom]) -> tuple[TextPart, ...]:
    """Split a sentence into parts, with the atoms it names."""
    parts = _ID_PATTERN.split(text)
    return tuple(TextPart(part, atoms.get(part)) for part in parts if part)


def load_mentioned_atoms(texts: Iterable[str], memory: Memory) -> dict[str, Atom]:
    """Return the atoms that sentences name, as far as the caller may read them."""
    ids = {word for text in texts for word in _ID_PATTERN.findall(text) if is_atom_id(word)}
    return {atom_id: atom for atom_id in sorted(ids) if (atom := _load_atom(atom_id, memory)) is not None}


def _load_atom(id_: str, memory: Memory) -> Atom | None:
    try:
        return memory.get(id_)
    except NotFound:  # erased, or in a scope this caller does not see
        return None
