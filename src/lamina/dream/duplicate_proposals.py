"""Finds statements with identical text and proposes to keep one of them; a person decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lamina.atom.atom import Atom, AtomId
from lamina.atom.claim import claim_of
from lamina.atom.proposals_and_pairs import PROPOSAL_TYPE_KEY, ProposalType, proposal_type_of
from lamina.atom.provenance import Origin, lineage_trust
from lamina.atom.status import Status
from lamina.dream.step import StepContext
from lamina.review.proposals import proposable, surest_first, union_labels
from lamina.text.normal_form import normal_form, value_form

BASIS = "the same words"


def propose_duplicates(context: StepContext, statements: Sequence[Atom]) -> list[Atom]:
    """Return a proposal for each group of statements with the same text, claim and trust: one replaces all."""
    candidates = _groups(context, statements)
    undone = _undone_groups(context) if candidates else []
    groups = [
        (BASIS, members)
        for members in candidates
        if not any({member.id for member in members} <= ids for ids in undone)
    ]
    allowed = proposable(groups, (ProposalType.SEMANTIC_COMPACTION,), context.store, (context.scope,))
    return [_build_proposal(members, context) for _, members in allowed]


def _undone_groups(context: StepContext) -> list[frozenset[AtomId]]:
    """Return the sources of each proposal that was undone."""
    tombstoned = context.read(statuses=frozenset({Status.TOMBSTONED}), include_run_notes=False)
    return [
        frozenset(atom.derived_from)
        for atom in tombstoned
        if proposal_type_of(atom) is ProposalType.SEMANTIC_COMPACTION
    ]


def _groups(context: StepContext, statements: Iterable[Atom]) -> list[tuple[Atom, ...]]:
    """Return the groups that could be one statement, the surest and oldest first."""
    by_key: dict[tuple[object, ...], list[Atom]] = defaultdict(list)
    for atom in statements:
        if not (atom.pinned or atom.is_episode or atom.valid_until):
            by_key[_identity_key(atom)].append(atom)
    repeated = (members for members in by_key.values() if len(members) > 1)
    groups = (group for members in repeated for group in _by_trust(context, members) if len(group) > 1)
    return sorted((tuple(sorted(group, key=surest_first)) for group in groups), key=lambda group: group[0].id)


def _identity_key(atom: Atom) -> tuple[object, ...]:
    """Return what duplicates share. Punctuation counts: C++ is not C."""
    claim = claim_of(atom)
    labels = normal_form(atom.subject), str(claim) if claim else "", value_form(atom.value or "")
    return value_form(atom.content), atom.kind, atom.valid_from, *labels


def _by_trust(context: StepContext, members: Iterable[Atom]) -> list[list[Atom]]:
    by_trust: dict[float, list[Atom]] = defaultdict(list)
    for atom in members:
        by_trust[lineage_trust(atom, context.read_readable)].append(atom)
    return list(by_trust.values())


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
        tags=union_labels(member.tags for member in members),
        entities=union_labels(member.entities for member in members),
        agents=union_labels(member.agents for member in members),
        metadata={
            PROPOSAL_TYPE_KEY: ProposalType.SEMANTIC_COMPACTION.value,
            "origin": "consolidation",
            "basis": BASIS,
            "compacted_from": " ".join(member.id for member in members),
        },
    )
