"""What new text changes: statements that it replaces, repetitions of ended ones, and requests to forget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.proposal import Proposal, proposal_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.capture.change.echo import OVER, heard, repeated
from lamina.capture.change.forgetting import QUESTION_REASON, REASON, carry_out_requests, withhold_repetitions
from lamina.capture.change.known import Known
from lamina.capture.change.nomination import Nomination
from lamina.capture.change.replay import Replays, rest_again, said_first
from lamina.capture.change.supersession import Supersession
from lamina.capture.classify import Verdict
from lamina.capture.current import ended_at
from lamina.capture.found import Said
from lamina.capture.receipt import Result
from lamina.states.state_reader import StateReader
from lamina.store.base import Store

_TAKEN_BACK = frozenset({Status.TOMBSTONED, Status.INVALIDATED})


class Change:
    """Detects what newly captured turns change in earlier statements."""

    def __init__(
        self,
        turns: Sequence[Said],
        words: Iterable[Atom],
        replays: Replays,
        store: Store,
        scope: Scope,
        ids: Iterator[AtomId],
        now: datetime,
        states: StateReader | None = None,
        nominated: Sequence[Nomination] = (),
    ) -> None:
        self._working_set = Known(store, scope, now)
        words = tuple(words)
        self._working_set.hear(words)
        self._turns, self._store, self._ids, self._now, self._state_reader = turns, store, ids, now, states
        self._segments, self._nominations = words, nominated
        self._replays = {
            turn_key: replays[turn_key] for turn in turns if (turn_key := (turn.segment, turn.n)) in replays
        }

    def made_of(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return the verdicts on the statements of the turns, completed by everything that changes because of them.

        The steps in order: link replays, end replaced statements, apply nominated changes, attach repetitions, apply
        requests to forget.
        """
        working_set, new_turns = self._working_set, said_first(self._turns, self._replays)
        for verdict in verdicts:
            working_set.take((*verdict.others, *(() if verdict.result is Result.REFUSED else (verdict.atom,))))
        rest_again(self._replays, working_set)
        supersession = Supersession(working_set, self._ids, self._now, self._state_reader, self._segments)
        for verdict in verdicts:
            if verdict.result in (Result.NEW, Result.ENRICHES):
                supersession.compare(verdict.atom)
        supersession.take(self._nominations, self._segments)
        for other in (atom for verdict in verdicts for atom in verdict.others if atom.status in OVER):
            latest = working_set.get(other.id) or other
            if (with_evidence := repeated(latest, working_set)) != latest:
                working_set.put(with_evidence)
        heard(self._turns, working_set)
        carry_out_requests(new_turns, working_set, self._store, self._ids, self._state_reader)
        withhold_repetitions(self._turns, working_set, self._store)
        return self._merged(verdicts)

    def _merged(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return each verdict with the latest versions of its atoms, and a verdict for every other changed atom."""
        updated, reported_ids = _updated(verdicts, self._working_set.changed)
        return updated + [
            self._told_of(atom) for atom in self._working_set.changed.values() if atom.id not in reported_ids
        ]

    def _told_of(self, atom: Atom) -> Verdict:
        """Return the verdict on a changed atom that is not part of any verdict yet."""
        before = self._working_set.before(atom.id)
        if before is None:
            return Verdict(_result(atom, Result.NEW), atom, (), _reason(atom, "found in the captured text"))
        if before.status in _TAKEN_BACK and before.status is atom.status:
            at = ended_at(atom, self._store)
            when = f" on {at:%Y-%m-%d}" if at else ""
            return Verdict(Result.REFUSED, atom, (atom,), f"{atom.id} said this and was retracted{when}")
        if before.status is atom.status and _links(before) == _links(atom):
            return Verdict(Result.DUPLICATE, atom, (atom,), "repeated")
        return Verdict(_result(atom, Result.REVISED), atom, (), _reason(atom, "found in the captured text"))


def _links(atom: Atom) -> tuple[object, ...]:
    return atom.supersedes, atom.superseded_by, atom.relations, atom.valid_until


def _updated(verdicts: Sequence[Verdict], changed: Mapping[AtomId, Atom]) -> tuple[list[Verdict], set[AtomId]]:
    """Return the verdicts with the latest versions of their atoms, and the ids of all those atoms."""
    updated: list[Verdict] = []
    reported_ids: set[AtomId] = set()
    for verdict in verdicts:
        latest = changed.get(verdict.atom.id)
        others = tuple(changed.get(other.id, other) for other in verdict.others)
        reported_ids |= {verdict.atom.id, *(other.id for other in others)}
        if latest is None:
            updated.append(replace(verdict, others=others))
        elif verdict.is_written:
            updated.append(Verdict(_result(latest, verdict.result), latest, others, _reason(latest, verdict.reason)))
        else:
            updated.append(replace(verdict, others=(*(other for other in others if other.id != latest.id), latest)))
    return updated, reported_ids


def _result(atom: Atom, otherwise: Result) -> Result:
    """Return the result that the status of an atom stands for, or the default."""
    if atom.status is Status.TOMBSTONED:
        return Result.TAKEN_BACK
    if proposal_of(atom) is Proposal.FORGET:
        return Result.HELD
    if atom.status in OVER:
        return Result.SUPERSEDED
    if atom.status is Status.CHALLENGED:
        return Result.CHALLENGED
    return Result.SUPERSEDES if atom.supersedes else otherwise


def _reason(atom: Atom, otherwise: str) -> str:
    """Return the reason that the status of an atom stands for, or the default."""
    if atom.status is Status.TOMBSTONED:
        return REASON
    if proposal_of(atom) is Proposal.FORGET:
        return QUESTION_REASON
    if atom.superseded_by:
        prefix = "corrected by" if atom.status is Status.INVALIDATED else "superseded by"
        return f"{prefix} {atom.superseded_by[-1]}"
    return f"supersedes {atom.supersedes[-1]}" if atom.supersedes else otherwise
