"""Sentences that name atoms by their ids, as a person reads them: with the words of the atom in place of its id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.identity import is_atom_id
from lamina.errors import NotFound
from lamina.memory import Memory

_WORD = re.compile(r"\b([0-9a-z]{26})\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a sentence; with an atom where they name one."""

    text: str
    atom: Atom | None = None


def pieces(text: str, known: Mapping[str, Atom]) -> tuple[Piece, ...]:
    """The sentence, with the atoms it names."""
    parts = _WORD.split(text)
    return tuple(Piece(part, known.get(part)) for part in parts if part)


def named_in(texts: Iterable[str], memory: Memory) -> dict[str, Atom]:
    """The atoms that sentences name, as far as they may be seen."""
    ids = {each for text in texts for each in _WORD.findall(text) if is_atom_id(each)}
    return {atom_id: atom for atom_id in sorted(ids) if (atom := _found(atom_id, memory)) is not None}


def _found(id_: str, memory: Memory) -> Atom | None:
    try:
        return memory.get(id_)
    except NotFound:  # erased, or in a scope this caller does not see
        return None
