"""Finds statements with identical text and proposes to keep one of them; a person decides."""

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
    """Return a proposal for each group of statements with the same text, claim and trust: one replaces all."""
    candidates = _groups(scene, stated)
    undone = _undone(scene) if candidates else []
    groups = (
        (BASIS, members)
        for members in candidates
        if not any({member.id for member in members} <= ids for ids in undone)
    )
    types = (Proposal.SEMANTIC_COMPACTION,)
    return [_one(members, scene) for _, members in proposable(groups, types, scene.store, (scene.scope,))]


def _undone(scene: Scene) -> list[frozenset[AtomId]]:
    """Return the sources of each proposal that was undone."""
    tombstoned = Filter(scopes=(scene.scope,), statuses=frozenset({Status.TOMBSTONED}), notes=False)
    proposals = (
        proposal for proposal in scene.store.read(tombstoned) if proposal_of(proposal) is Proposal.SEMANTIC_COMPACTION
    )
    return [frozenset(proposal.derived_from) for proposal in proposals]


def _groups(scene: Scene, stated: Iterable[Atom]) -> list[tuple[Atom, ...]]:
    """Return the groups that could be one statement, the surest and oldest first."""
    by_key: dict[tuple[object, ...], list[Atom]] = defaultdict(list)
    for atom in stated:
        if not (atom.pinned or atom.is_episode or atom.valid_until):
            by_key[_slot(atom)].append(atom)
    repeated = (members for members in by_key.values() if len(members) > 1)
    groups = (group for members in repeated for group in _by_trust(scene, members) if len(group) > 1)
    return sorted((tuple(sorted(group, key=_rank)) for group in groups), key=lambda group: group[0].id)


def _slot(atom: Atom) -> tuple[object, ...]:
    """Return what duplicates share. Punctuation counts: C++ is not C."""
    claim = claim_of(atom)
    labels = normal_form(atom.subject), str(claim) if claim else "", value_form(atom.value or "")
    return value_form(atom.content), atom.kind, atom.valid_from, *labels


def _by_trust(scene: Scene, members: Iterable[Atom]) -> list[list[Atom]]:
    def load_sources(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        query = Filter(scopes=visible_from(scene.scope), ids=tuple(ids))
        return {source.id: source for source in scene.store.read(query)}

    by_trust: dict[float, list[Atom]] = defaultdict(list)
    for atom in members:
        by_trust[trust(atom, load_sources)].append(atom)
    return list(by_trust.values())


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
    return tuple(dict.fromkeys(label for labels in lists for label in labels))
