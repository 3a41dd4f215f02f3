"""A passage on its way to becoming a hit."""

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
    """What is known of a passage that may answer: where it stands, what the text channel says of it, and the terms that
    add to its relevance so far."""

    key: Key
    near: Near
    match: Match | None = None
    terms: dict[str, float] = field(default_factory=dict)
    links: tuple[Edge, ...] = ()

    @property
    def relevance(self) -> float:
        return max(0.0, sum(self.terms.values()))


def passages_read(candidates: Sequence[Candidate], view: View) -> dict[Key, tuple[Atom, Passage]]:
    """The candidates' atoms and passages, so far as they are still there."""
    atoms = view.atoms(candidate.key[0] for candidate in candidates)
    found = {
        candidate.key: (atom, passage_of(atom, candidate.key[1]))
        for candidate in candidates
        if (atom := atoms.get(candidate.key[0])) is not None
    }
    return {key: (atom, passage) for key, (atom, passage) in found.items() if passage is not None}
