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
from lamina.store.base import AtomFilter, Store

_SURE = 0.9


def limit_to_trust(changed: Mapping[AtomId, Atom], origin: Origin, scope: Scope, store: Store) -> dict[AtomId, Atom]:
    """Return those of the changes that the origin may make.

    An atom that would supersede one it may not change is written as challenged, with a relation to what it contradicts.
    """
    if origin is Origin.HUMAN:
        return dict(changed)
    trusted_ids = _find_more_trusted_segments(changed, origin, scope, store)
    stored = (
        {atom.id: atom for atom in store.read(AtomFilter(scopes=(scope,), ids=tuple(changed)))} if trusted_ids else {}
    )
    allowed_evidence = [_drop_evidence(atom, stored.get(atom.id), trusted_ids) for atom in changed.values()]
    forbidden = {atom.id: atom for atom in allowed_evidence if _is_forbidden(atom, origin, store)}
    return {atom.id: _drop_forbidden_links(atom, forbidden) for atom in allowed_evidence if atom.id not in forbidden}


def _is_forbidden(atom: Atom, origin: Origin, store: Store) -> bool:
    return store.find_refusal_reason(atom, origin) is not None if atom.revision else TRUST[atom.origin] > TRUST[origin]


def _find_more_trusted_segments(changed: Mapping[AtomId, Atom], origin: Origin, scope: Scope, store: Store) -> set[str]:
    """Return the ids of the segments among the evidence that are more trusted than the origin."""
    ids = {AtomId(evidence.segment) for atom in changed.values() for evidence in atom.evidence} - changed.keys()
    segments = store.read(AtomFilter(scopes=(scope,), ids=tuple(sorted(ids)))) if ids else []
    return {segment.id for segment in segments if TRUST[segment.origin] > TRUST[origin]}


def _drop_evidence(atom: Atom, stored: Atom | None, segment_ids: Collection[str]) -> Atom:
    """Return the atom without evidence in these segments, except what it had before."""
    stored_evidence = stored.evidence if stored else ()
    evidence = tuple(item for item in atom.evidence if item.segment not in segment_ids or item in stored_evidence)
    return atom if evidence == atom.evidence else atom.with_(evidence=evidence)


def _drop_forbidden_links(atom: Atom, forbidden: Mapping[AtomId, Atom]) -> Atom:
    """Return the atom without links to forbidden atoms, challenged if it would have superseded one of them."""
    if not forbidden.keys() & {
        *atom.supersedes,
        *atom.superseded_by,
        *(relation.target for relation in atom.relations),
    }:
        return atom
    rivals = [supersede for supersede in atom.supersedes if supersede in forbidden and forbidden[supersede].revision]
    relations = tuple(
        relation
        for relation in atom.relations
        if relation.target not in forbidden or forbidden[relation.target].revision
    )
    relations += tuple(Relation(RelationName.CONTRADICTS, rival, _SURE) for rival in rivals)
    is_challenged = bool(rivals) and atom.status in RECALL_WEIGHT
    return atom.with_(
        relations=relations,
        status=Status.CHALLENGED if is_challenged else atom.status,
        supersedes=tuple(supersede for supersede in atom.supersedes if supersede not in forbidden),
        superseded_by=tuple(
            atom_id for atom_id in atom.superseded_by if atom_id not in forbidden or forbidden[atom_id].revision
        ),
    )
