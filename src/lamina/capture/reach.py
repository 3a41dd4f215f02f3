"""Limits by trust: which changes an origin may make.

A statement that may not supersede another is written as challenged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import TRUST, Origin
from lamina.store.base import Filter, Store

_SURE = 0.9


def within_reach(changed: Mapping[AtomId, Atom], by: Origin, scope: Scope, store: Store) -> dict[AtomId, Atom]:
    """Return those of the changes that the origin may make.

    An atom that would supersede one it may not change is written as challenged, with a relation to what it contradicts.
    """
    if by is Origin.HUMAN:
        return dict(changed)
    trusted_ids = _words_out_of_reach(changed, by, scope, store)
    stored = {atom.id: atom for atom in store.read(Filter(scopes=(scope,), ids=tuple(changed)))} if trusted_ids else {}
    allowed_evidence = [_without_words(atom, stored.get(atom.id), trusted_ids) for atom in changed.values()]
    forbidden = {atom.id: atom for atom in allowed_evidence if _is_beyond(atom, by, store)}
    return {atom.id: _beside(atom, forbidden) for atom in allowed_evidence if atom.id not in forbidden}


def _is_beyond(atom: Atom, by: Origin, store: Store) -> bool:
    return store.objection(atom, by) is not None if atom.revision else TRUST[atom.origin] > TRUST[by]


def _words_out_of_reach(changed: Mapping[AtomId, Atom], by: Origin, scope: Scope, store: Store) -> set[str]:
    """Return the ids of the segments among the evidence that are more trusted than the origin."""
    ids = {AtomId(evidence.segment) for atom in changed.values() for evidence in atom.evidence} - changed.keys()
    segments = store.read(Filter(scopes=(scope,), ids=tuple(sorted(ids)))) if ids else []
    return {segment.id for segment in segments if TRUST[segment.origin] > TRUST[by]}


def _without_words(atom: Atom, known: Atom | None, high: Collection[str]) -> Atom:
    """Return the atom without evidence in these segments, except what it had before."""
    stored_evidence = known.evidence if known else ()
    evidence = tuple(item for item in atom.evidence if item.segment not in high or item in stored_evidence)
    return atom if evidence == atom.evidence else atom.with_(evidence=evidence)


def _beside(atom: Atom, beyond: Mapping[AtomId, Atom]) -> Atom:
    """Return the atom without links to forbidden atoms, challenged if it would have superseded one of them."""
    if not beyond.keys() & {*atom.supersedes, *atom.superseded_by, *(relation.target for relation in atom.relations)}:
        return atom
    rivals = [supersede for supersede in atom.supersedes if supersede in beyond and beyond[supersede].revision]
    relations = tuple(
        relation for relation in atom.relations if relation.target not in beyond or beyond[relation.target].revision
    )
    relations += tuple(Relation(RelationName.CONTRADICTS, rival, _SURE) for rival in rivals)
    is_challenged = bool(rivals) and atom.status in RECALL_WEIGHT
    return atom.with_(
        relations=relations,
        status=Status.CHALLENGED if is_challenged else atom.status,
        supersedes=tuple(supersede for supersede in atom.supersedes if supersede not in beyond),
        superseded_by=tuple(
            atom_id for atom_id in atom.superseded_by if atom_id not in beyond or beyond[atom_id].revision
        ),
    )
