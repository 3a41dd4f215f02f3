"""Statements that are there twice, word for word: which one stays is for a person to say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.lineage import trust
from lamina.atom.proposal import TYPE, Proposal, proposal_of
from lamina.atom.scope import visible_from
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.dream.scene import Scene
from lamina.review.groups import proposable
from lamina.store.base import Filter
from lamina.text.normal import normal_form, value_form

BASIS = "the same words"


def duplicates(scene: Scene, stated: Sequence[Atom]) -> list[Atom]:
    """A proposal for each group of statements with the same words, claim and trust: one in the place of all."""
    found = _groups(scene, stated)
    undone = _undone(scene) if found else []
    groups = ((BASIS, each) for each in found if not any({one.id for one in each} <= ids for ids in undone))
    types = (Proposal.SEMANTIC_COMPACTION,)
    return [_one(members, scene) for _, members in proposable(groups, types, scene.store, (scene.scope,))]


def _undone(scene: Scene) -> list[frozenset[AtomId]]:
    """What was in proposals that somebody undid."""
    gone = Filter(scopes=(scene.scope,), statuses=frozenset({Status.TOMBSTONED}), notes=False)
    own = (each for each in scene.store.read(gone) if proposal_of(each) is Proposal.SEMANTIC_COMPACTION)
    return [frozenset(each.derived_from) for each in own]


def _groups(scene: Scene, stated: Iterable[Atom]) -> list[tuple[Atom, ...]]:
    """Those that could be one, the surest and oldest first."""
    found: dict[tuple[object, ...], list[Atom]] = defaultdict(list)
    for atom in stated:
        if not (atom.pinned or atom.is_episode or atom.valid_until):
            found[_slot(atom)].append(atom)
    several = (members for members in found.values() if len(members) > 1)
    parted = (part for members in several for part in _by_trust(scene, members) if len(part) > 1)
    return sorted((tuple(sorted(part, key=_rank)) for part in parted), key=lambda part: part[0].id)


def _slot(atom: Atom) -> tuple[object, ...]:
    """Every sign of the words counts: C++ is not C."""
    claim = claim_of(atom)
    labels = normal_form(atom.subject), str(claim) if claim else "", value_form(atom.value or "")
    return value_form(atom.content), atom.kind, atom.valid_from, *labels


def _by_trust(scene: Scene, members: Iterable[Atom]) -> list[list[Atom]]:
    def look(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        wanted = Filter(scopes=visible_from(scene.scope), ids=tuple(ids))
        return {each.id: each for each in scene.store.read(wanted)}

    found: dict[float, list[Atom]] = defaultdict(list)
    for atom in members:
        found[trust(atom, look)].append(atom)
    return list(found.values())


def _rank(atom: Atom) -> tuple[float, float, str]:
    return -atom.confidence, (atom.recorded_at or atom.observed_at).timestamp(), atom.id


def _one(members: Sequence[Atom], scene: Scene) -> Atom:
    first = members[0]
    return Atom(
        id=next(scene.ids),
        scope=scene.scope,
        kind=first.kind,
        content=first.content,
        subject=first.subject,
        attribute=first.attribute,
        value=first.value,
        observed_at=max(member.observed_at for member in members),
        valid_from=first.valid_from,
        origin=Origin.DREAM,
        status=Status.CONSTRAINED,
        layer=first.layer,
        durability=first.durability,
        memory_type=first.memory_type,
        confidence=first.confidence,
        importance=max(member.importance for member in members),
        derived_from=tuple(member.id for member in members),
        tags=_union(member.tags for member in members),
        entities=_union(member.entities for member in members),
        agents=_union(member.agents for member in members),
        metadata={
            TYPE: Proposal.SEMANTIC_COMPACTION.value,
            "origin": "consolidation",
            "basis": BASIS,
            "compacted_from": " ".join(member.id for member in members),
        },
    )


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for one in lists for each in one))
