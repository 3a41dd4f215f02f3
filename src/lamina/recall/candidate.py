"""A passage on its way to becoming a hit."""

from __future__ import annotations

from dataclasses import dataclass, field

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
