"""A passage that a search returned, before it becomes a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passage_of
from lamina.recall.view import View
from lamina.store.base import Edge, Match
from lamina.store.encodings import Key, Near


@dataclass(slots=True)
class Candidate:
    """A passage that may answer: its position in the store, its text match, and the terms added to its relevance so
    far."""

    key: Key
    near: Near
    match: Match | None = None
    terms: dict[str, float] = field(default_factory=dict)
    links: tuple[Edge, ...] = ()

    @property
    def relevance(self) -> float:
        """The sum of the terms, at least 0."""
        return max(0.0, sum(self.terms.values()))


def passages_read(candidates: Sequence[Candidate], view: View) -> dict[Key, tuple[Atom, Passage]]:
    """Return the atoms and passages of the candidates that still exist."""
    atoms = view.atoms(candidate.key[0] for candidate in candidates)
    pairs = {
        candidate.key: (atom, passage_of(atom, candidate.key[1]))
        for candidate in candidates
        if (atom := atoms.get(candidate.key[0])) is not None
    }
    return {key: (atom, passage) for key, (atom, passage) in pairs.items() if passage is not None}
