"""Statements that could be one, found without a model: the same words, one topic, one workflow.

Each group becomes one proposal that waits for a person. A statement sits in one open proposal at most, and what a
person rejected is not proposed again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Durability, Layer, traits
from lamina.atom.proposal import PROCEDURES, TYPE, Proposal, proposal_of
from lamina.atom.scope import Scope
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import TRUST, Origin
from lamina.capture.current import is_undone
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.review.reviewer import Reviewer
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form, one_line, value_form

MOST = 50
"""A topic with more statements is too broad to be one."""
_TAGS = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that could be one, the surest and oldest first, what they have in common, and the proposal."""

    basis: str
    members: tuple[Atom, ...]
    proposal: Atom


@dataclass(frozen=True, slots=True)
class Proposed:
    """The groups that were found; the receipt tells what of them was put before a person."""

    groups: tuple[Group, ...]
    receipt: Receipt


def compact(by: Reviewer, *, create_proposals: bool) -> Proposed:
    """Statements in the same words, and those of one topic, each group as one cited synthesis."""
    groups: list[Group] = []
    left = [atom for atom in _active(by, Layer.SEMANTIC) if _is_plain(atom)]
    for find in (_by_words, _by_topic):
        found = proposable(find(left), {Proposal.SEMANTIC_COMPACTION}, by.store, by.scopes)
        used = {member.id for _, members in found for member in members}
        left = [atom for atom in left if atom.id not in used]
        groups += [Group(basis, members, _synthesis(basis, members, by)) for basis, members in found]
    return _put_forward(groups, by, "compact", create_proposals=create_proposals)


def dedup(by: Reviewer, *, create_proposals: bool) -> Proposed:
    """Procedures of one workflow, with the surest proposed as the canonical one."""
    active = [atom for atom in _active(by, Layer.PROCEDURAL) if atom.metadata.get("workflow", "").strip()]
    workflows = _grouped(active, lambda atom: [value_form(atom.metadata["workflow"])])
    found = proposable(workflows, PROCEDURES, by.store, by.scopes)
    groups = [Group(f"workflow {basis}", members, _canonical(members, by)) for basis, members in found]
    return _put_forward(groups, by, "dedup", create_proposals=create_proposals)


def _active(by: Reviewer, layer: Layer) -> list[Atom]:
    """What stands and may be replaced: a pin binds every pass, and what happened is never summed up away."""
    now = by.now()
    wanted = Filter(scopes=by.scopes, statuses=frozenset({Status.ACTIVE}), notes=False, valid_at=now)
    found = (atom for atom in by.fresh(wanted) if layer in (atom.layer, traits(atom.kind).layer))
    whole = (atom for atom in found if not atom.is_episode and atom.is_searched and not atom.pinned)
    return sorted((atom for atom in whole if atom.valid_until is None), key=_rank)


def _is_plain(atom: Atom) -> bool:
    """Whether somebody said it: what was made of other statements is not made into another."""
    return atom.origin is not Origin.DREAM and "compacted_from" not in atom.metadata


def _rank(atom: Atom) -> tuple[float, float, str]:
    return -atom.confidence, (atom.recorded_at or atom.observed_at).timestamp(), atom.id


def _by_words(atoms: Iterable[Atom]) -> list[tuple[str, tuple[Atom, ...]]]:
    return [("the same words", members) for _, members in _grouped(atoms, lambda atom: [normal_form(atom.content)])]


def _by_topic(atoms: Iterable[Atom]) -> list[tuple[str, tuple[Atom, ...]]]:
    """A value that can change on its own stays a statement of its own, so that its successor finds it."""
    loose = [atom for atom in atoms if not ((claim := claim_of(atom)) and claim.single_valued)]
    return [(f"topic {topic}", members) for topic, members in _grouped(loose, topics_of) if len(members) <= MOST]


def topics_of(atom: Atom) -> list[str]:
    """An atom's topic tags, in normal form."""
    told = (*_TAGS.split(atom.metadata.get("topic_tags", "")), *atom.tags)
    return list(dict.fromkeys(form for each in told if (form := normal_form(each))))


def _grouped(atoms: Iterable[Atom], keys: Callable[[Atom], Sequence[str]]) -> list[tuple[str, tuple[Atom, ...]]]:
    groups: dict[tuple[str, str], list[Atom]] = defaultdict(list)
    for atom in atoms:
        for key in keys(atom):
            groups[key, atom.scope].append(atom)
    return [(key, tuple(groups[key, scope])) for key, scope in sorted(groups) if key]


def proposable(
    groups: Iterable[tuple[str, tuple[Atom, ...]]], types: Iterable[Proposal], store: Store, scopes: tuple[Scope, ...]
) -> list[tuple[str, tuple[Atom, ...]]]:
    """Groups of two or more whose members wait in no other proposal, and that nobody has rejected."""
    taken, rejected = _decided(frozenset(types), store, scopes)
    found = []
    for basis, every in groups:
        members = tuple(each for each in every if each.id not in taken)
        ids = {member.id for member in members}
        if len(members) >= 2 and not any(ids <= each for each in rejected):
            taken |= ids
            found.append((basis, members))
    return found


def _decided(
    types: frozenset[Proposal], store: Store, scopes: tuple[Scope, ...]
) -> tuple[set[AtomId], list[frozenset[AtomId]]]:
    """Whose sources wait in an open proposal, and the sources of each that was taken back."""
    statuses = frozenset({Status.CONSTRAINED, Status.TOMBSTONED})
    made = [
        each for each in store.read(Filter(scopes=scopes, statuses=statuses, notes=False)) if proposal_of(each) in types
    ]
    sources = tuple({source for each in made for source in each.derived_from})
    over = {each.id for each in store.read(Filter(scopes=scopes, ids=sources)) if each.status in ENDED}
    waiting = (each for each in made if each.status is Status.CONSTRAINED and not over & {*each.derived_from})
    gone = (each for each in made if each.status is Status.TOMBSTONED and not is_undone(each, store))
    taken = {source for each in waiting for source in each.derived_from}
    return taken, [frozenset(each.derived_from) for each in gone]


def _synthesis(basis: str, members: Sequence[Atom], by: Reviewer) -> Atom:
    first, topics = members[0], [topic for member in members for topic in topics_of(member)]
    same = len({(member.subject, member.attribute, member.value) for member in members}) == 1
    lines = "\n".join(f"- {one_line(member.content)} [{member.id}]" for member in members)
    own = {"subject": first.subject, "attribute": first.attribute, "value": first.value} if same else {}
    made = _made(
        "synthesis",
        members,
        by,
        layer=Layer.SEMANTIC,
        **own,
        content=first.content if basis == "the same words" else f"{basis.removeprefix('topic ')}:\n{lines}",
        confidence=round(sum(member.confidence for member in members) / len(members), 3),
        metadata={
            TYPE: Proposal.SEMANTIC_COMPACTION.value,
            "origin": "compaction",
            "basis": basis,
            "topic_tags": ", ".join(dict.fromkeys(topics)),
            "compacted_from": " ".join(member.id for member in members),
        },
    )
    return made if same or not first.subject else made.with_(subject=_shared(members))


def _shared(members: Sequence[Atom]) -> str:
    subjects = {member.subject for member in members}
    return subjects.pop() if len(subjects) == 1 else ""


def _canonical(members: Sequence[Atom], by: Reviewer) -> Atom:
    best = members[0]
    return _made(
        best.kind,
        members,
        by,
        content=best.content,
        subject=best.subject,
        confidence=best.confidence,
        layer=Layer.PROCEDURAL,
        durability=Durability.CORE,
        metadata={**best.metadata, TYPE: Proposal.PROCEDURAL_DEDUP.value, "canonical": "true", "canonical_id": best.id},
    )


def _made(kind: str, members: Sequence[Atom], by: Reviewer, **fields: object) -> Atom:
    """A proposal made of others: it rests on what they rest on, and is worth what the least trusted of them is."""
    now = by.now()
    own = kind_defaults(kind) | fields
    return Atom(
        id=by.ids.new(now),
        scope=members[0].scope,
        kind=kind,
        observed_at=now,
        status=Status.CONSTRAINED,
        origin=min((member.origin for member in members), key=lambda each: TRUST[each]),
        principal=by.principal,
        derived_from=tuple(member.id for member in members),
        importance=max(member.importance for member in members),
        tags=_union(member.tags for member in members),
        entities=_union(member.entities for member in members),
        agents=_union(member.agents for member in members),
        evidence=tuple(dict.fromkeys(part for member in members for part in member.evidence)),
        **own,
    )


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for one in lists for each in one))


def _put_forward(groups: Sequence[Group], by: Reviewer, verb: str, *, create_proposals: bool) -> Proposed:
    if not (groups and create_proposals):
        return Proposed(tuple(groups), Receipt(None, ()))
    outcomes = [
        Outcome(Result.HELD, group.proposal, f"{len(group.members)} statements: {group.basis}") for group in groups
    ]
    receipt = by.carry_out(verb, f"proposed {len(groups)} of {verb}", outcomes)
    written = {outcome.atom.id: outcome.atom for outcome in receipt.outcomes}
    return Proposed(tuple(replace(group, proposal=written[group.proposal.id]) for group in groups), receipt)
