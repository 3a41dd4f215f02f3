"""Links between atoms, and the `Graph` port."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lamina.atom.atom import AtomId, RelationName
from lamina.atom.provenance import Scope
from lamina.atom.status import Status


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of the graph: to another atom, or to something atoms share (`subject:…`, `entity:…`, `session:…`)."""

    source: AtomId
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """One piece of evidence: the atom rests on characters `start` to `end` of passage `n` of a segment."""

    atom_id: AtomId
    segment: AtomId
    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EvidenceLinks:
    """The statements that rest on some passages, in text order, and the relations by which active atoms contradict
    statements."""

    spans: list[EvidenceSpan]
    contradictions: list[Edge]


LISTS = "lists"
"""The link of an atom that only lists others, such as a box, to each of them."""


class Graph(Protocol):
    """The links that atoms have: relations, evidence, successors, and what they share."""

    def edges(
        self,
        ids: Iterable[str] | None,
        scopes: Sequence[Scope],
        statuses: Collection[Status] | None = None,
        name: RelationName | None = None,
    ) -> list[Edge]:
        """Return the links from or to these atoms or shared things, or of all; with `statuses`, only from atoms of
        these; with a name, only relations of this name."""

    def neighbourhood(
        self,
        ids: Iterable[str],
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        hops: int,
        max_links: int,
        without: Collection[str],
    ) -> list[Edge]:
        """Return the links that a walk of so many hops from these atoms follows, from atoms with these statuses.

        Links of a node that has more than `max_links` are not followed, and none with a name in `without`.
        """

    def find_successors(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        """Return for each atom its nearest successors whose status is not an end status.

        An atom whose own status is not an end status is its own result.
        """

    def find_evidence(
        self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope], statements: Collection[AtomId] = ()
    ) -> EvidenceLinks:
        """Return which atoms of these scopes rest on the passages, with any status, and which relations contradict
        those atoms or the given statements."""
