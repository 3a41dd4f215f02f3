"""Finds statements with identical text and proposes to keep one of them; a person decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.lineage import lineage_trust
from lamina.atom.proposal import PROPOSAL_TYPE_KEY, ProposalType, proposal_type_of
from lamina.atom.scope import readable_scopes
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.dream.step_context import StepContext
from lamina.review.proposal_groups import proposable
from lamina.store.base import AtomFilter
from lamina.text.normal_form import normal_form, value_form

BASIS = "the same words"


def propose_duplicates(context: StepContext, statements: Sequence[Atom]) -> list[Atom]:
    """Return a proposal for each group of statements with the same text, claim and trust: one replaces all."""
    candidates = _groups(context, statements)
    undone = _undone_groups(context) if candidates else []
    groups = (
        (BASIS, members)
        for members in candidates
        if not any({member.id for member in members} <= ids for ids in undone)
    )
    types = (ProposalType.SEMANTIC_COMPACTION,)
    return [
        _build_proposal(members, context) for _, members in proposable(groups, types, context.store, (context.scope,))
    ]


def _undone_groups(context: StepContext) -> list[frozenset[AtomId]]:
    """Return the sources of each proposal that was undone."""
    tombstoned = AtomFilter(scopes=(context.scope,), statuses=frozenset({Status.TOMBSTONED}), include_run_notes=False)
    proposals = (
        proposal
        for proposal in context.store.read(tombstoned)
        if proposal_type_of(proposal) is ProposalType.SEMANTIC_COMPACTION
    )
    return [frozenset(proposal.derived_from) for proposal in proposals]


def _groups(context: StepContext, statements: Iterable[Atom]) -> list[tuple[Atom, ...]]:
    """Return the groups that could be one statement, the surest and oldest first."""
    by_key: dict[tuple[object, ...], list[Atom]] = defaultdict(list)
    for atom in statements:
        if not (atom.pinned or atom.is_episode or atom.valid_until):
            by_key[_identity_key(atom)].append(atom)
    repeated = (members for members in by_key.values() if len(members) > 1)
    groups = (group for members in repeated for group in _by_trust(context, members) if len(group) > 1)
    return sorted((tuple(sorted(group, key=_surest_first)) for group in groups), key=lambda group: group[0].id)


def _identity_key(atom: Atom) -> tuple[object, ...]:
    """Return what duplicates share. Punctuation counts: C++ is not C."""
    claim = claim_of(atom)
    labels = normal_form(atom.subject), str(claim) if claim else "", value_form(atom.value or "")
    return value_form(atom.content), atom.kind, atom.valid_from, *labels


def _by_trust(context: StepContext, members: Iterable[Atom]) -> list[list[Atom]]:
    def load_sources(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        query = AtomFilter(scopes=readable_scopes(context.scope), ids=tuple(ids))
        return {source.id: source for source in context.store.read(query)}

    by_trust: dict[float, list[Atom]] = defaultdict(list)
    for atom in members:
        by_trust[lineage_trust(atom, load_sources)].append(atom)
    return list(by_trust.values())


def _surest_first(atom: Atom) -> tuple[float, float, str]:
    return -atom.confidence, (atom.recorded_at or atom.observed_at).timestamp(), atom.id


def _build_proposal(members: Sequence[Atom], context: StepContext) -> Atom:
    first = members[0]
    return Atom(
        id=next(context.ids),
        scope=context.scope,
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
            PROPOSAL_TYPE_KEY: ProposalType.SEMANTIC_COMPACTION.value,
            "origin": "consolidation",
            "basis": BASIS,
            "compacted_from": " ".join(member.id for member in members),
        },
    )


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for labels in lists for label in labels))
