"""Find what new text changes: statements that it replaces, repetitions of ended ones, and requests to forget.

A declared statement, given by `remember` or as a file, rests on no captured words. Without an attribute it fills no
claim, so its words decide which earlier statements of its subject and kind it replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, Relation, RelationName, effective_from
from lamina.atom.claim import Claim, claim_of
from lamina.atom.proposals_and_pairs import ProposalType, are_both_valid, proposal_type_of
from lamina.atom.status import Status
from lamina.capture.change.change_nomination import Nomination
from lamina.capture.change.forget_execution import QUESTION_REASON, REASON, apply_forget_requests
from lamina.capture.change.repetitions import (
    ENDED_STATUSES,
    Replays,
    add_repetitions,
    attach_hearsay,
    cite_replays,
    drop_replays,
    withhold_repetitions,
)
from lamina.capture.change.supersession import Supersession
from lamina.capture.classification import DOUBTFUL, StatementVerdict, classify_against_rivals
from lamina.capture.existing_statements import ended_at
from lamina.capture.extractors import CapturedTurn
from lamina.capture.receipt import Result
from lamina.capture.store_reads import StoreReads, WorkingSet, WriteContext
from lamina.states.replacement_verdict import ReplacementCertainty, judge_replacements
from lamina.states.sentence_models import StateReader
from lamina.store.base import AtomFilter
from lamina.store.commit_rules import required_trust
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form, one_line

LoadStates = Callable[[], StateReader | None]
"""Loads the state model; None if there is none. It is called only if there is something to compare."""

TOPIC_KINDS = frozenset({"preference", "habit"})
"""Kinds of which a subject mostly has one statement at a time, so that `remember` compares them; of a file, any kind is
compared."""
MAX_RIVALS = 20
"""How many of the newest statements of the same subject and kind are read."""
MAX_COMPARED = 6
"""How many of them are compared: those that share most words, then the newest."""
MIN_SHARED_WORDS = 0.5
"""The share of the words of the shorter statement that two statements must have in common to be a pair for review, if
no model can compare them."""


def is_comparable(atom: Atom) -> bool:
    """Return whether a statement is compared by its words: a valid one with a subject, and no claim or evidence."""
    is_open = atom.status is Status.ACTIVE and not atom.is_episode and not atom.is_segment
    return is_open and not atom.evidence and bool(normal_form(atom.subject)) and claim_of(atom) is None


def filter_rivals(atom: Atom) -> AtomFilter:
    """Return the filter of the active statements of the same subject and kind."""
    return AtomFilter(
        scopes=(atom.scope,),
        subject=atom.subject,
        kinds=frozenset({atom.kind}),
        statuses=frozenset({Status.ACTIVE}),
        limit=MAX_RIVALS,
    )


def compare_declared(
    verdict: StatementVerdict, reads: StoreReads, now: datetime, load_states: LoadStates
) -> StatementVerdict:
    """Return the verdict on a declared statement, with the rivals that it surely replaces ended.

    Those that it may replace, or that are more trusted, are related to it as a pair for review.
    """
    new = verdict.atom
    if verdict.result is not Result.NEW or not is_comparable(new):
        return verdict
    rivals = [old for old in reads.read(filter_rivals(new)) if old.id != new.id and _may_be_replaced(old, new)]
    rivals.sort(key=lambda old: -_count_shared_words(old, new))
    rivals = rivals[:MAX_COMPARED]
    if not rivals:
        return verdict
    certainties = _judge(new, rivals, load_states())
    trust = required_trust(new, reads.store.atoms)
    sure = [
        old
        for old, certainty in zip(rivals, certainties, strict=True)
        if certainty is ReplacementCertainty.SURE
        and effective_from(old) != effective_from(new)
        and required_trust(old, reads.store.atoms) <= trust
    ]
    unclear = [
        old
        for old, certainty in zip(rivals, certainties, strict=True)
        if certainty is not ReplacementCertainty.NONE and old not in sure
    ]
    if sure:
        topic = Claim(normal_form(new.subject), new.kind)
        verdict = classify_against_rivals(new, sure, topic, now)
    links = tuple(Relation(RelationName.CONTRADICTS, old.id, DOUBTFUL, now) for old in unclear)
    reason = verdict.reason if sure or not links else f"it may replace {unclear[0].id}; `lamina review pairs` has both"
    atom = verdict.atom.with_(relations=(*verdict.atom.relations, *links))
    return StatementVerdict(verdict.result, atom, verdict.other_changes, reason)


def _count_shared_words(old: Atom, new: Atom) -> int:
    return len(set(content_tokens(old.content)) & set(content_tokens(new.content)))


def _may_be_replaced(old: Atom, new: Atom) -> bool:
    is_valid = old.valid_until is None or old.valid_until > effective_from(new)
    return is_valid and claim_of(old) is None and old.is_searched and not are_both_valid(old, new)


def _judge(new: Atom, rivals: Sequence[Atom], states: StateReader | None) -> list[ReplacementCertainty]:
    """Return how surely a statement replaces each rival; of two statements the one that began later replaces."""
    if states is None or states.pairs is None:
        return [_judge_by_words(new, old) for old in rivals]
    sentence, start = one_line(new.content), effective_from(new)
    earlier = [old for old in rivals if effective_from(old) <= start]
    verdicts = judge_replacements(sentence, [one_line(old.content) for old in earlier], states)
    certainties = {old.id: certainty for old, certainty in zip(earlier, verdicts, strict=True)}
    for old in rivals:
        if old.id not in certainties:
            (certainties[old.id],) = judge_replacements(one_line(old.content), [sentence], states)
    return [certainties[old.id] for old in rivals]


def _judge_by_words(new: Atom, old: Atom) -> ReplacementCertainty:
    """Return whether two statements are worded so alike that a person should compare them."""
    subject_words = set(content_tokens(new.subject))
    words, old_words = (set(content_tokens(atom.content)) - subject_words for atom in (new, old))
    shared = len(words & old_words) / max(1, min(len(words), len(old_words)))
    is_same = words == old_words
    return ReplacementCertainty.LIKELY if shared >= MIN_SHARED_WORDS and not is_same else ReplacementCertainty.NONE


_RETRACTED_STATUSES = frozenset({Status.TOMBSTONED, Status.INVALIDATED})


def complete_verdicts(
    verdicts: Sequence[StatementVerdict],
    turns: Sequence[CapturedTurn],
    segments: Sequence[Atom],
    context: WriteContext,
    replays: Replays | None = None,
    state_reader: StateReader | None = None,
    nominations: Sequence[Nomination] = (),
) -> list[StatementVerdict]:
    """Return the verdicts on the statements of new turns, completed by everything that changes because of them.

    The steps in order: link replays, end replaced statements, apply nominated changes, attach repetitions, apply
    requests to forget.
    """
    working_set = WorkingSet(context.reads, context.scope, context.now)
    working_set.add_new_segments(segments)
    for verdict in verdicts:
        working_set.add((*verdict.other_changes, *(() if verdict.result is Result.REFUSED else (verdict.atom,))))
    turn_keys = [(turn.segment, turn.n) for turn in turns]
    replays = {turn_key: replays[turn_key] for turn_key in turn_keys if turn_key in replays} if replays else {}
    cite_replays(replays, working_set)
    supersession = Supersession(working_set, context.ids, context.now, state_reader, segments)
    for verdict in verdicts:
        if verdict.result in (Result.NEW, Result.ENRICHES):
            supersession.compare(verdict.atom)
    supersession.apply_nominations(nominations, segments)
    for other in (atom for verdict in verdicts for atom in verdict.other_changes if atom.status in ENDED_STATUSES):
        latest = working_set.get(other.id) or other
        if (with_evidence := add_repetitions(latest, working_set)) != latest:
            working_set.record_change(with_evidence)
    attach_hearsay(turns, working_set)
    apply_forget_requests(drop_replays(turns, replays), working_set, context.ids, state_reader)
    withhold_repetitions(turns, working_set)
    return _merge_changes(verdicts, working_set)


def _merge_changes(verdicts: Sequence[StatementVerdict], working_set: WorkingSet) -> list[StatementVerdict]:
    """Return each verdict with the latest versions of its atoms, and a verdict for every other changed atom."""
    updated, reported_ids = _with_latest_atoms(verdicts, working_set.changed)
    return updated + [
        _verdict_on_change(atom, working_set) for atom in working_set.changed.values() if atom.id not in reported_ids
    ]


def _verdict_on_change(atom: Atom, working_set: WorkingSet) -> StatementVerdict:
    """Return the verdict on a changed atom that is not part of any verdict yet."""
    before = working_set.stored_version(atom.id)
    if before is None:
        return StatementVerdict(_result(atom, Result.NEW), atom, (), _reason(atom, "found in the captured text"))
    if before.status in _RETRACTED_STATUSES and before.status is atom.status:
        at = ended_at(atom, working_set.store)
        when = f" on {at:%Y-%m-%d}" if at else ""
        return StatementVerdict(Result.REFUSED, atom, (atom,), f"{atom.id} said this and was retracted{when}")
    if before.status is atom.status and _links(before) == _links(atom):
        return StatementVerdict(Result.DUPLICATE, atom, (atom,), "repeated")
    return StatementVerdict(_result(atom, Result.REVISED), atom, (), _reason(atom, "found in the captured text"))


def _links(atom: Atom) -> tuple[object, ...]:
    return atom.supersedes, atom.superseded_by, atom.relations, atom.valid_until


def _with_latest_atoms(
    verdicts: Sequence[StatementVerdict], changed: Mapping[AtomId, Atom]
) -> tuple[list[StatementVerdict], set[AtomId]]:
    """Return the verdicts with the latest versions of their atoms, and the ids of all those atoms."""
    updated: list[StatementVerdict] = []
    reported_ids: set[AtomId] = set()
    for verdict in verdicts:
        latest = changed.get(verdict.atom.id)
        others = tuple(changed.get(other.id, other) for other in verdict.other_changes)
        reported_ids |= {verdict.atom.id, *(other.id for other in others)}
        if latest is None:
            updated.append(replace(verdict, other_changes=others))
        elif verdict.is_written:
            updated.append(
                StatementVerdict(_result(latest, verdict.result), latest, others, _reason(latest, verdict.reason))
            )
        else:
            updated.append(
                replace(verdict, other_changes=(*(other for other in others if other.id != latest.id), latest))
            )
    return updated, reported_ids


def _result(atom: Atom, default: Result) -> Result:
    """Return the result that the status of an atom stands for, or the default."""
    if atom.status is Status.TOMBSTONED:
        return Result.TAKEN_BACK
    if proposal_type_of(atom) is ProposalType.FORGET:
        return Result.HELD
    if atom.status in ENDED_STATUSES:
        return Result.SUPERSEDED
    if atom.status is Status.CHALLENGED:
        return Result.CHALLENGED
    return Result.SUPERSEDES if atom.supersedes else default


def _reason(atom: Atom, default: str) -> str:
    """Return the reason that the status of an atom stands for, or the default."""
    if atom.status is Status.TOMBSTONED:
        return REASON
    if proposal_type_of(atom) is ProposalType.FORGET:
        return QUESTION_REASON
    if atom.superseded_by:
        prefix = "corrected by" if atom.status is Status.INVALIDATED else "superseded by"
        return f"{prefix} {atom.superseded_by[-1]}"
    return f"supersedes {atom.supersedes[-1]}" if atom.supersedes else default
