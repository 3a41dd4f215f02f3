"""Proposals: statements that are submitted for review, and groups of statements that may become one.

Groups are found without a model, by text, topic or workflow. Each becomes one proposal. A statement is in at most one
open proposal, and a proposal that a person rejected is not made again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lamina.atom.atom import Atom, AtomId, IdSource, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.kinds import Durability, Layer, kind_traits
from lamina.atom.proposals_and_pairs import PROCEDURE_PROPOSALS, PROPOSAL_TYPE_KEY, ProposalType, proposal_type_of
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.status import ENDED, Status
from lamina.capture.caller_input import Draft
from lamina.capture.existing_statements import is_undone
from lamina.capture.metadata_contracts import complete_metadata
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import (
    SegmentBatch,
    Writer,
    classify_statements,
    commit_verdicts,
    retry_exclusively,
)
from lamina.capture.store_reads import StoreReads, new_ids
from lamina.review.review_context import Reviewer
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import normal_form, one_line, value_form


def propose(
    drafts: Sequence[Draft], writer: Writer, store: Store, ids: IdSource, now: datetime, reason: str, key: str | None
) -> Receipt:
    """Write statements as pending, for any origin; statements that exist already are not proposed."""

    def attempt() -> Receipt:
        fresh = new_ids(ids, now)
        drafted = (draft.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for draft in drafts)
        atoms = [atom.with_(status=Status.CONSTRAINED) for atom in drafted]
        return commit_verdicts(
            SegmentBatch(), classify_statements(atoms, StoreReads(store), now), writer, store, "propose", reason, key
        )

    return retry_exclusively(store, attempt)


def complete_proposal(fields: Mapping[str, Any], reason: str | None, origin: Origin) -> dict[str, Any]:
    """Return a proposal's fields with its metadata completed; InvalidInput if a key is missing, such as the reason."""
    completed = complete_metadata(fields, reason, origin)
    if "profile_key" in (completed.get("metadata") or {}):
        completed["metadata"] = {PROPOSAL_TYPE_KEY: ProposalType.PROFILE_UPDATE.value, **completed["metadata"]}
    return completed


MAX_TOPIC_STATEMENTS = 50
"""A topic with more statements is too broad for one synthesis."""
_TAG_SEPARATOR = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that could be one, the surest and oldest first, what they have in common, and the proposal."""

    basis: str
    members: tuple[Atom, ...]
    proposal: Atom


@dataclass(frozen=True, slots=True)
class Proposed:
    """The groups of statements; the receipt lists the proposals that were created."""

    groups: tuple[Group, ...]
    receipt: Receipt


def compact(reviewer: Reviewer, *, create_proposals: bool) -> Proposed:
    """Group statements with the same text, and those of one topic, each as one cited synthesis."""
    groups: list[Group] = []
    remaining = [atom for atom in _active_statements(reviewer, Layer.SEMANTIC) if _is_plain(atom)]
    for group_by in (_by_words, _by_topic):
        candidates = proposable(
            group_by(remaining), {ProposalType.SEMANTIC_COMPACTION}, reviewer.store, reviewer.scopes
        )
        used = {member.id for _, members in candidates for member in members}
        remaining = [atom for atom in remaining if atom.id not in used]
        groups += [Group(basis, members, _build_synthesis(basis, members, reviewer)) for basis, members in candidates]
    return _submit_groups(groups, reviewer, "compact", create_proposals=create_proposals)


def dedup(reviewer: Reviewer, *, create_proposals: bool) -> Proposed:
    """Group procedures of one workflow and propose the surest as the canonical one."""
    active = [atom for atom in _active_statements(reviewer, Layer.PROCEDURAL) if atom.metadata_text("workflow").strip()]
    workflows = _group_by(active, lambda atom: [value_form(atom.metadata_text("workflow"))])
    candidates = proposable(workflows, PROCEDURE_PROPOSALS, reviewer.store, reviewer.scopes)
    groups = [Group(f"workflow {basis}", members, _build_canonical(members, reviewer)) for basis, members in candidates]
    return _submit_groups(groups, reviewer, "dedup", create_proposals=create_proposals)


def _active_statements(reviewer: Reviewer, layer: Layer) -> list[Atom]:
    """Return active statements that may be replaced: not pinned, not episodes, without an end date."""
    now = reviewer.now()
    active = frozenset({Status.ACTIVE})
    query = AtomFilter(scopes=reviewer.scopes, statuses=active, include_run_notes=False, valid_at=now)
    in_layer = (atom for atom in reviewer.read_synced(query) if layer in (atom.layer, kind_traits(atom.kind).layer))
    replaceable = (atom for atom in in_layer if not atom.is_episode and atom.is_searched and not atom.pinned)
    return sorted((atom for atom in replaceable if atom.valid_until is None), key=surest_first)


def _is_plain(atom: Atom) -> bool:
    """Return whether it was stated: syntheses are not combined again."""
    return atom.origin is not Origin.DREAM and "compacted_from" not in atom.metadata


def surest_first(atom: Atom) -> tuple[float, float, str]:
    """Return a sort key: the highest confidence first, then the oldest."""
    return -atom.confidence, (atom.recorded_at or atom.observed_at).timestamp(), atom.id


def _by_words(atoms: Iterable[Atom]) -> list[tuple[str, tuple[Atom, ...]]]:
    return [("the same words", members) for _, members in _group_by(atoms, lambda atom: [normal_form(atom.content)])]


def _by_topic(atoms: Iterable[Atom]) -> list[tuple[str, tuple[Atom, ...]]]:
    """Group by topic. Single-valued claims are left out: each stays separate so that its successor finds it."""
    loose = [atom for atom in atoms if not ((claim := claim_of(atom)) and claim.is_single_valued)]
    return [
        (f"topic {topic}", members)
        for topic, members in _group_by(loose, topics_of)
        if len(members) <= MAX_TOPIC_STATEMENTS
    ]


def topics_of(atom: Atom) -> list[str]:
    """Return an atom's topic tags, in normal form."""
    tags = (*_TAG_SEPARATOR.split(atom.metadata_text("topic_tags")), *atom.tags)
    return list(dict.fromkeys(form for tag in tags if (form := normal_form(tag))))


def _group_by(atoms: Iterable[Atom], keys: Callable[[Atom], Sequence[str]]) -> list[tuple[str, tuple[Atom, ...]]]:
    groups: dict[tuple[str, str], list[Atom]] = defaultdict(list)
    for atom in atoms:
        for key in keys(atom):
            groups[key, atom.scope].append(atom)
    return [(key, tuple(groups[key, scope])) for key, scope in sorted(groups) if key]


def proposable(
    groups: Iterable[tuple[str, tuple[Atom, ...]]],
    types: Iterable[ProposalType],
    store: Store,
    scopes: tuple[Scope, ...],
) -> list[tuple[str, tuple[Atom, ...]]]:
    """Return groups of two or more whose members are in no other open proposal and that no person rejected."""
    taken, rejected = _decided_sources(frozenset(types), store, scopes)
    accepted = []
    for basis, candidates in groups:
        members = tuple(candidate for candidate in candidates if candidate.id not in taken)
        ids = {member.id for member in members}
        if len(members) >= 2 and not any(ids <= rejected_ids for rejected_ids in rejected):
            taken |= ids
            accepted.append((basis, members))
    return accepted


def _decided_sources(
    types: frozenset[ProposalType], store: Store, scopes: tuple[Scope, ...]
) -> tuple[set[AtomId], list[frozenset[AtomId]]]:
    """Return the sources of open proposals, and those of each rejected one."""
    statuses = frozenset({Status.CONSTRAINED, Status.TOMBSTONED})
    proposals = [
        proposal
        for proposal in store.atoms.read(AtomFilter(scopes=scopes, statuses=statuses, include_run_notes=False))
        if proposal_type_of(proposal) in types
    ]
    sources = tuple({source for proposal in proposals for source in proposal.derived_from})
    ended = {atom.id for atom in store.atoms.read(AtomFilter(scopes=scopes, ids=sources)) if atom.status in ENDED}
    taken, rejected = set[AtomId](), list[frozenset[AtomId]]()
    for proposal in proposals:
        if proposal.status is Status.CONSTRAINED and ended.isdisjoint(proposal.derived_from):
            taken |= {*proposal.derived_from}
        elif proposal.status is Status.TOMBSTONED and not is_undone(proposal, store):
            rejected.append(frozenset(proposal.derived_from))
    return taken, rejected


def _build_synthesis(basis: str, members: Sequence[Atom], reviewer: Reviewer) -> Atom:
    first, topics = members[0], [topic for member in members for topic in topics_of(member)]
    has_same_claim = len({(member.subject, member.attribute, member.value) for member in members}) == 1
    lines = "\n".join(f"- {one_line(member.content)} [{member.id}]" for member in members)
    claim_fields = (
        {"subject": first.subject, "attribute": first.attribute, "value": first.value} if has_same_claim else {}
    )
    synthesis = _build_proposal(
        "synthesis",
        members,
        reviewer,
        layer=Layer.SEMANTIC,
        **claim_fields,
        content=first.content if basis == "the same words" else f"{basis.removeprefix('topic ')}:\n{lines}",
        confidence=round(sum(member.confidence for member in members) / len(members), 3),
        metadata={
            PROPOSAL_TYPE_KEY: ProposalType.SEMANTIC_COMPACTION.value,
            "origin": "compaction",
            "basis": basis,
            "topic_tags": tuple(dict.fromkeys(topics)),
            "compacted_from": tuple(member.id for member in members),
        },
    )
    return synthesis if has_same_claim or not first.subject else synthesis.with_(subject=_shared_subject(members))


def _shared_subject(members: Sequence[Atom]) -> str:
    subjects = {member.subject for member in members}
    return subjects.pop() if len(subjects) == 1 else ""


def _build_canonical(members: Sequence[Atom], reviewer: Reviewer) -> Atom:
    best = members[0]
    return _build_proposal(
        best.kind,
        members,
        reviewer,
        content=best.content,
        subject=best.subject,
        confidence=best.confidence,
        layer=Layer.PROCEDURAL,
        durability=Durability.CORE,
        metadata={
            **best.metadata,
            PROPOSAL_TYPE_KEY: ProposalType.PROCEDURAL_DEDUP.value,
            "canonical": True,
            "canonical_id": best.id,
        },
    )


def _build_proposal(kind: str, members: Sequence[Atom], reviewer: Reviewer, **fields: object) -> Atom:
    """Build a proposal from statements: it has their evidence and the origin of the least trusted."""
    now = reviewer.now()
    values = kind_defaults(kind) | fields
    return Atom(
        id=reviewer.ids.new(now),
        scope=members[0].scope,
        kind=kind,
        observed_at=now,
        status=Status.CONSTRAINED,
        origin=min((member.origin for member in members), key=lambda origin: TRUST[origin]),
        principal=reviewer.principal,
        derived_from=tuple(member.id for member in members),
        importance=max(member.importance for member in members),
        tags=union_labels(member.tags for member in members),
        entities=union_labels(member.entities for member in members),
        agents=union_labels(member.agents for member in members),
        evidence=tuple(dict.fromkeys(part for member in members for part in member.evidence)),
        **values,
    )


def union_labels(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of several lists, each once."""
    return tuple(dict.fromkeys(label for labels in lists for label in labels))


def _submit_groups(groups: Sequence[Group], reviewer: Reviewer, verb: str, *, create_proposals: bool) -> Proposed:
    if not (groups and create_proposals):
        return Proposed(tuple(groups), Receipt(None, ()))
    outcomes = [
        Outcome(Result.HELD, group.proposal, f"{len(group.members)} statements: {group.basis}") for group in groups
    ]
    receipt = reviewer.commit_outcomes(verb, f"{verb}: {len(groups)} proposals", outcomes)
    written = {outcome.atom.id: outcome.atom for outcome in receipt.outcomes}
    return Proposed(tuple(replace(group, proposal=written[group.proposal.id]) for group in groups), receipt)
