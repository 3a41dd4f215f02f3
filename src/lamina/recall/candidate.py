"""A passage that a search returned, before it becomes a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passage_of
from lamina.recall.recall_view import RecallView
from lamina.store.base import Edge, TextMatch
from lamina.store.encodings import NearPassage, PassageKey


@dataclass(slots=True)
class Candidate:
    """A passage that may answer: its position in the store, its text match, and the terms added to its relevance so
    far."""

    key: PassageKey
    near: NearPassage
    match: TextMatch | None = None
    terms: dict[str, float] = field(default_factory=dict)
    links: tuple[Edge, ...] = ()

    @property
    def relevance(self) -> float:
        """The sum of the terms, at least 0."""
        return max(0.0, sum(self.terms.values()))


def read_passages(candidates: Sequence[Candidate], view: RecallView) -> dict[PassageKey, tuple[Atom, Passage]]:
    """Return the atoms and passages of the candidates that still exist."""
    atoms = view.atoms(candidate.key[0] for candidate in candidates)
    pairs = {
        candidate.key: (atom, passage_of(atom, candidate.key[1]))
        for candidate in candidates
        if (atom := atoms.get(candidate.key[0])) is not None
    }
    return {key: (atom, passage) for key, (atom, passage) in pairs.items() if passage is not None}
