"""Extracting statements from stored text, immediately or later from a durable queue.

Each passage is read once, also if the process dies in between.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.passage import Passage, passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.capture.box import boxed
from lamina.capture.change.change import Change
from lamina.capture.change.nomination import Nominator, nominations
from lamina.capture.change.replay import replays_of, said_first
from lamina.capture.classify import Verdict
from lamina.capture.forget_requests import may_hold_request
from lamina.capture.found import Extractor, Nobody, Said
from lamina.capture.llm.counts import ModelCounts
from lamina.capture.receipt import Receipt
from lamina.capture.session_lease import SessionLease
from lamina.capture.signals import sounds_important
from lamina.capture.statement import CONTEXT, Made, statements
from lamina.capture.surprise import PROMOTES, Familiarity
from lamina.capture.write import Words, Writer, fresh_ids, kept_anyway, verdicts_on, write
from lamina.errors import LaminaError
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.states.state_reader import StateReader
from lamina.store.base import Filter, Store
from lamina.store.buffer import Queue, Waiting
from lamina.text.roles import is_assistant

JOB = "read for statements"
"""The name of the job whose lease the background reader takes."""
LEASE_SECONDS = 900.0
"""How long the job is leased: longer than a slow chat model takes for one batch."""
ONBOARDING = 20
"""How many passages of a new scope are read turn by turn: the first ones tell most about a user."""
RECENT_RECALLS = 10
AT_MOST = 10
"""How many passages are read in one batch; other writers may commit between two batches."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How statements are extracted: the extractor, the patterns that make a turn urgent, and the models that help."""

    extractor: Extractor
    patterns: tuple[re.Pattern[str], ...] = ()
    embedder: Callable[[], Embedder | None] = lambda: None
    several: frozenset[str] = frozenset()
    nominator: Nominator | None = None
    states: StateReader | None = None

    @property
    def links(self) -> bool:
        """Whether new statements are compared with earlier ones; not if extraction is switched off."""
        return not isinstance(self.extractor, Nobody)

    def read(
        self,
        turns: Sequence[Said],
        before: Sequence[Said],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> Made:
        """Return the statements of turns, without those of turns that only repeat captured ones."""
        replays = replays_of(turns, segments.values(), store, scope, now) if self.links else {}
        batch = self.made(said_first(turns, replays), before, segments, scope, store, ids, now)
        return replace(batch, replays=replays)

    def made(
        self,
        turns: Sequence[Said],
        before: Sequence[Said],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> Made:
        """Return the statements of turns, each assigned to a box and scored for surprise, and the nominated changes."""
        if not turns:
            return Made([], self.extractor.name)
        extracted = statements(turns, before, self.extractor, segments, ids, shown_lately(store, scope))
        scorer = Familiarity(store, self.embedder() if extracted.atoms else None, now)
        batch = replace(extracted, atoms=[scorer.weighed(atom) for atom in boxed(extracted.atoms, store, ids)])
        return self._with_changes(batch, turns, segments, scope, store, now)

    def _with_changes(
        self, made: Made, turns: Sequence[Said], segments: Mapping[str, Atom], scope: Scope, store: Store, now: datetime
    ) -> Made:
        """Add the changes that a language model nominates; after a failed extraction the model is not called again."""
        if self.nominator is None or made.trouble:
            return made
        try:
            result = nominations(self.nominator, turns, segments, scope, store, now)
        except ModelError as error:
            failure_counts = ModelCounts(calls=error.calls, failures=(f"changes were not compared: {error}",))
            return replace(made, counts=(made.counts or ModelCounts()) + failure_counts)
        sure_count = sum(change.is_sure for change in result.changes)
        change_counts = ModelCounts(
            result.calls, pairs=result.pairs, likely=len(result.changes) - sure_count, sure=sure_count
        )
        return replace(made, nominated=result.changes, counts=(made.counts or ModelCounts()) + change_counts)

    def verdicts(
        self,
        made: Made,
        turns: Sequence[Said],
        words: Collection[Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
        *,
        compare: bool,
    ) -> list[Verdict]:
        """Return the verdicts on a batch of statements and on the earlier statements that it ends."""
        verdicts = verdicts_on(made.atoms, store, now, self.several)
        if not (self.links and compare):
            return verdicts
        detector = Change(turns, words, made.replays, store, scope, ids, now, self.states, made.nominated)
        return detector.made_of(verdicts)


class Rhythm(StrEnum):
    """When queued passages are read."""

    SMART = "smart"
    SURPRISE = "surprise"
    EVERY_N = "every_n"
    TIME_BASED = "time_based"


@dataclass(frozen=True, slots=True)
class Pace:
    """When the queued passages of a session are read: after `min_turns` turns or after `max_wait`.

    `smart` also reads urgent passages immediately, and `surprise` surprising ones as well.
    """

    rhythm: Rhythm = Rhythm.SMART
    turns: int = 5
    patience: timedelta = timedelta(minutes=15)

    def is_due(self, queue: Queue, taken: int, now: datetime) -> bool:
        """Return whether a session's passages are to be read now; `passages_read` counts those of the scope so far."""
        is_full, is_old = queue.length >= self.turns, now - queue.oldest >= self.patience
        match self.rhythm:
            case Rhythm.EVERY_N:
                return is_full
            case Rhythm.TIME_BASED:
                return is_old
            case Rhythm.SMART | Rhythm.SURPRISE:
                return is_full or is_old or queue.urgent or taken < ONBOARDING


def waiting(
    turns: Sequence[Said], scope: Scope, session_id: str, now: datetime, patterns: Sequence[re.Pattern[str]] = ()
) -> list[Waiting]:
    """Return queue entries for the turns of people; those of assistants are only context.

    A turn that sounds important or may ask to forget something is urgent.
    """

    def is_urgent(text: str) -> bool:
        return sounds_important(text, patterns) or may_hold_request(text)

    return [
        Waiting(scope, session_id, AtomId(turn.segment), turn.n, now, is_urgent(turn.text))
        for turn in turns
        if not is_assistant(turn.speaker)
    ]


def passages_said(segments: Sequence[Atom], before: Atom | None) -> tuple[list[Said], list[Said]]:
    """Return the turns that the open segment had already, and those that were added."""
    earlier = [_said(before, passage) for passage in passages_of(before)] if before else []
    earlier_keys = {(turn.segment, turn.n) for turn in earlier}
    all_turns = [_said(segment, passage) for segment in segments for passage in passages_of(segment)]
    return earlier, [turn for turn in all_turns if (turn.segment, turn.n) not in earlier_keys]


def _said(segment: Atom, passage: Passage) -> Said:
    return Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def shown_lately(store: Store, scope: Scope) -> list[str]:
    """Return the contents of the statements that the last recalls returned; repeating them states nothing new."""
    ids = store.recalls.recent(scope, RECENT_RECALLS)
    return [atom.content for atom in store.read(Filter(scopes=(scope,), ids=tuple(ids))) if not atom.is_segment]


def read_due(
    store: Store,
    reader: Reader,
    pace: Pace,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    stop: Callable[[], bool] = lambda: False,
) -> list[Receipt]:
    """Read every session whose passages are due and return the receipts.

    The job is leased, so that two processes do not both call the extractor.
    """
    due = [queue for queue in store.buffer.queues() if _is_due(queue, pace, reader, store, now())]
    holder = f"{os.getpid()}-{secrets.token_hex(4)}"
    if not due or not store.jobs.take(JOB, holder, LEASE_SECONDS):
        return []
    receipts: list[Receipt] = []
    done, total, error = 0, sum(queue.length for queue in due), ""
    try:
        for queue in due:
            if stop() or not store.jobs.renew(JOB, holder, LEASE_SECONDS, done, total):
                break
            lease = SessionLease(store.buffer, queue.scope, queue.session_id, now)
            if lease.take():
                try:
                    receipts += read_session(store, reader, queue.scope, queue.session_id, actor, ids, now, lease)
                finally:
                    lease.release()
            done += queue.length
        return receipts
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(JOB, holder, error)


def _is_due(queue: Queue, pace: Pace, reader: Reader, store: Store, now: datetime) -> bool:
    if pace.is_due(queue, store.buffer.taken(queue.scope), now):
        return True
    if pace.rhythm is not Rhythm.SURPRISE:
        return False
    scorer = Familiarity(store, reader.embedder(), now)
    queued = store.buffer.of(queue.scope, queue.session_id)
    _, turns = _with_context(queued, _segments(queued, store))
    return any((scorer.surprise(turn.text, queue.scope) or 0.0) > PROMOTES for turn in turns)


def read_session(
    store: Store,
    reader: Reader,
    scope: Scope,
    session_id: str,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    lease: SessionLease | None = None,
) -> list[Receipt]:
    """Read the queued passages of one session in batches while the lease is held, and return the receipts.

    Passages that another reader has taken meanwhile are left out.
    """
    queued = store.buffer.of(scope, session_id)
    receipts: list[Receipt] = []
    for start in range(0, len(queued), AT_MOST):
        if lease is not None and not lease.take():
            break
        receipt = _read(queued[start : start + AT_MOST], reader, actor, store, ids, now())
        receipts += [receipt] if receipt is not None else []
    return receipts


def _read(
    passages: Sequence[Waiting], reader: Reader, actor: str, store: Store, ids: IdSource, now: datetime
) -> Receipt | None:
    """Read a batch of passages and return the receipt; None if another reader has taken them meanwhile.

    They leave the queue in the transaction that commits their statements: both happen or neither.
    """
    scope, session_id = passages[0].scope, passages[0].session_id
    segments = _segments(passages, store)
    before, turns = _with_context(passages, segments)
    id_iterator = fresh_ids(ids, now)
    batch = reader.read(turns, before, segments, scope, store, id_iterator, now)

    def classify_and_write(compare: bool) -> Receipt | None:
        with store.alone():
            if not store.buffer.take(passages):
                return None
            receipt = Receipt(None, ())
            for origin, principal in dict.fromkeys(
                (segment.origin, segment.principal) for segment in segments.values()
            ):
                part_batch = replace(
                    batch, atoms=[atom for atom in batch.atoms if (atom.origin, atom.principal) == (origin, principal)]
                )
                part_segments = [
                    segment
                    for segment in segments.values()
                    if (segment.origin, segment.principal) == (origin, principal)
                ]
                part_turns = [turn for turn in turns if turn.segment in {segment.id for segment in part_segments}]
                verdicts = reader.verdicts(
                    part_batch, part_turns, part_segments, scope, store, id_iterator, now, compare=compare
                )
                writer = Writer(actor, origin, principal, scope)
                part_receipt = write(Words(), verdicts, writer, store, "extract", f"read {session_id}", None)
                receipt = replace(part_receipt, outcomes=(*receipt.outcomes, *part_receipt.outcomes))
        return replace(receipt, stages=(("statements", batch.told),), counts=batch.counts)

    return kept_anyway(store, classify_and_write)


def _segments(passages: Sequence[Waiting], store: Store) -> dict[str, Atom]:
    """Return the active and pending segments that hold the passages, by id."""
    atoms = store.read(Filter(scopes=(passages[0].scope,), ids=tuple({passage.segment for passage in passages})))
    return {segment.id: segment for segment in atoms if segment.status in (Status.ACTIVE, Status.CONSTRAINED)}


def _with_context(passages: Sequence[Waiting], segments: Mapping[str, Atom]) -> tuple[list[Said], list[Said]]:
    """Return the turns before the first queued one, and the queued turns with what assistants said in between."""
    oldest_first = sorted(segments.values(), key=lambda segment: segment.id)
    all_turns = [_said(segment, passage) for segment in oldest_first for passage in passages_of(segment)]
    queued = {(passage.segment, passage.n) for passage in passages}
    positions = [n for n, turn in enumerate(all_turns) if (turn.segment, turn.n) in queued]
    if not positions:
        return [], []
    first, last = positions[0], positions[-1]
    turns = [
        turn for turn in all_turns[first : last + 1] if (turn.segment, turn.n) in queued or is_assistant(turn.speaker)
    ]
    return all_turns[max(0, first - CONTEXT) : first], turns
