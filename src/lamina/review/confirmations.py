"""Counts the independent sources that confirm a statement: repeating it in one conversation is one source.

The writer names the session, so only sessions of people count as separate sources: a program that repeats a statement
under a hundred session names confirms nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import TRUST, Origin, lineage_trust, readable_scopes
from lamina.atom.status import RECALL_WEIGHT
from lamina.store.base import AtomFilter, Store


def count_confirmations(atom: Atom, store: Store) -> int:
    """Return how many sessions of people the evidence comes from, without the first of them."""

    def load_atoms(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        atoms = store.atoms.read(AtomFilter(scopes=readable_scopes(atom.scope), ids=tuple(ids)))
        return {source.id: source for source in atoms}

    segments_by_id = (
        load_atoms(dict.fromkeys(AtomId(evidence.segment) for evidence in atom.evidence)) if atom.evidence else {}
    )
    segments = [
        segments_by_id[AtomId(evidence.segment)] for evidence in atom.evidence if evidence.segment in segments_by_id
    ]
    trusted_sources = {
        _source_key(segment)
        for segment in {segment.id: segment for segment in segments}.values()
        if segment.status in RECALL_WEIGHT and lineage_trust(segment, load_atoms) >= TRUST[Origin.HUMAN]
    }
    return len(trusted_sources - {_source_key(segment) for segment in segments[:1]})


def _source_key(segment: Atom) -> tuple[str | None, str | None]:
    return segment.session_id, segment.source_id
