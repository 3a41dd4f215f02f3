"""Find what new text changes: statements that it replaces, repetitions of ended ones, and requests to forget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lamina.atom.atom import Atom, AtomId
from lamina.atom.decisions import ProposalType, proposal_type_of
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
from lamina.capture.classification import StatementVerdict
from lamina.capture.existing_statements import ended_at
from lamina.capture.extractor import CapturedTurn
from lamina.capture.receipt import Result
from lamina.capture.store_reads import WorkingSet, WriteContext
from lamina.states.state_reader import StateReader

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
