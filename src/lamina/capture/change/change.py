"""What new words change: statements they replace, repetitions of what ended, and requests to forget."""

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
    """What newly captured turns do to what was said before."""

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
        self._known = Known(store, scope, now)
        words = tuple(words)
        self._known.hear(words)
        self._turns, self._store, self._ids, self._now, self._states = turns, store, ids, now, states
        self._words, self._nominated = words, nominated
        self._replays = {place: replays[place] for turn in turns if (place := (turn.segment, turn.n)) in replays}

    def made_of(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return the verdicts on what the turns state, with all that ends because of them."""
        known, fresh = self._known, said_first(self._turns, self._replays)
        for verdict in verdicts:
            known.take((*verdict.others, *(() if verdict.result is Result.REFUSED else (verdict.atom,))))
        rest_again(self._replays, known)
        supersession = Supersession(known, self._ids, self._now, self._states, self._words)
        for verdict in verdicts:
            if verdict.result in (Result.NEW, Result.ENRICHES):
                supersession.compare(verdict.atom)
        supersession.take(self._nominated, self._words)
        for other in (each for verdict in verdicts for each in verdict.others if each.status in OVER):
            last = known.get(other.id) or other
            if (told := repeated(last, known)) != last:
                known.put(told)
        heard(self._turns, known)
        carry_out_requests(fresh, known, self._store, self._ids, self._states)
        withhold_repetitions(self._turns, known, self._store)
        return self._merged(verdicts)

    def _merged(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Each verdict with its atoms as they were decided last; what else changed stands for itself."""
        found, told = _updated(verdicts, self._known.changed)
        return found + [self._told_of(atom) for atom in self._known.changed.values() if atom.id not in told]

    def _told_of(self, atom: Atom) -> Verdict:
        """The verdict on an atom that no statement of the turns was compared with."""
        before = self._known.before(atom.id)
        if before is None:
            return Verdict(_result(atom, Result.NEW), atom, (), _reason(atom, "said so"))
        if before.status in _TAKEN_BACK and before.status is atom.status:
            at = ended_at(atom, self._store)
            when = f" on {at:%Y-%m-%d}" if at else ""
            return Verdict(Result.REFUSED, atom, (atom,), f"{atom.id} said so and was taken back{when}")
        if before.status is atom.status and _links(before) == _links(atom):
            return Verdict(Result.DUPLICATE, atom, (atom,), "said again")
        return Verdict(_result(atom, Result.REVISED), atom, (), _reason(atom, "said so"))


def _links(atom: Atom) -> tuple[object, ...]:
    return atom.supersedes, atom.superseded_by, atom.relations, atom.valid_until


def _updated(verdicts: Sequence[Verdict], changed: Mapping[AtomId, Atom]) -> tuple[list[Verdict], set[AtomId]]:
    """The verdicts with their atoms as they were decided last, and the atoms they tell of."""
    found: list[Verdict] = []
    told: set[AtomId] = set()
    for verdict in verdicts:
        own = changed.get(verdict.atom.id)
        others = tuple(changed.get(other.id, other) for other in verdict.others)
        told |= {verdict.atom.id, *(other.id for other in others)}
        if own is None:
            found.append(replace(verdict, others=others))
        elif verdict.is_written:
            found.append(Verdict(_result(own, verdict.result), own, others, _reason(own, verdict.reason)))
        else:
            found.append(replace(verdict, others=(*(other for other in others if other.id != own.id), own)))
    return found, told


def _result(atom: Atom, otherwise: Result) -> Result:
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
    if atom.status is Status.TOMBSTONED:
        return REASON
    if proposal_of(atom) is Proposal.FORGET:
        return QUESTION_REASON
    if atom.superseded_by:
        word = "was wrong" if atom.status is Status.INVALIDATED else "is over"
        return f"{word}: {atom.superseded_by[-1]} says otherwise"
    return f"in place of {atom.supersedes[-1]}" if atom.supersedes else otherwise
