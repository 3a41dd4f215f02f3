"""How far a writer's word reaches: what they may not change stays as it is, and their own word becomes a doubt."""

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
    """What of these changes somebody of this origin may make.

    An atom that would take the place of one out of reach is written as challenged, and says what it contradicts.
    """
    if by is Origin.HUMAN:
        return dict(changed)
    high = _words_out_of_reach(changed, by, scope, store)
    known = {each.id: each for each in store.read(Filter(scopes=(scope,), ids=tuple(changed)))} if high else {}
    lower = [_without_words(atom, known.get(atom.id), high) for atom in changed.values()]
    beyond = {each.id: each for each in lower if _is_beyond(each, by, store)}
    return {each.id: _beside(each, beyond) for each in lower if each.id not in beyond}


def _is_beyond(atom: Atom, by: Origin, store: Store) -> bool:
    return store.objection(atom, by) is not None if atom.revision else TRUST[atom.origin] > TRUST[by]


def _words_out_of_reach(changed: Mapping[AtomId, Atom], by: Origin, scope: Scope, store: Store) -> set[str]:
    """Of the words these rest on, those of somebody more trusted."""
    ids = {AtomId(each.segment) for atom in changed.values() for each in atom.evidence} - changed.keys()
    found = store.read(Filter(scopes=(scope,), ids=tuple(sorted(ids)))) if ids else []
    return {each.id for each in found if TRUST[each.origin] > TRUST[by]}


def _without_words(atom: Atom, known: Atom | None, high: Collection[str]) -> Atom:
    """The atom without words out of reach, but for those it rests on already."""
    before = known.evidence if known else ()
    rests = tuple(each for each in atom.evidence if each.segment not in high or each in before)
    return atom if rests == atom.evidence else atom.with_(evidence=rests)


def _beside(atom: Atom, beyond: Mapping[AtomId, Atom]) -> Atom:
    """The atom without its links to what is out of reach, told as doubted where it would have taken its place."""
    if not beyond.keys() & {*atom.supersedes, *atom.superseded_by, *(relation.target for relation in atom.relations)}:
        return atom
    rivals = [supersede for supersede in atom.supersedes if supersede in beyond and beyond[supersede].revision]
    links = tuple(
        relation for relation in atom.relations if relation.target not in beyond or beyond[relation.target].revision
    )
    links += tuple(Relation(RelationName.CONTRADICTS, rival, _SURE) for rival in rivals)
    doubted = bool(rivals) and atom.status in RECALL_WEIGHT
    return atom.with_(
        relations=links,
        status=Status.CHALLENGED if doubted else atom.status,
        supersedes=tuple(supersede for supersede in atom.supersedes if supersede not in beyond),
        superseded_by=tuple(each for each in atom.superseded_by if each not in beyond or beyond[each].revision),
    )
