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
from lamina.capture.box import assign_boxes
from lamina.capture.change.change_detector import ChangeDetector
from lamina.capture.change.nomination import Nominator, nominate_changes
from lamina.capture.change.replay import drop_replays, find_replays
from lamina.capture.classification import StatementVerdict
from lamina.capture.extraction import CapturedTurn, DisabledExtractor, Extractor
from lamina.capture.forget_requests import may_contain_request
from lamina.capture.llm.counts import ModelCounts
from lamina.capture.receipt import Receipt
from lamina.capture.session_lease import SessionLease
from lamina.capture.statement_atoms import CONTEXT_TURNS, StatementBatch, build_statements
from lamina.capture.statement_commit import (
    SegmentBatch,
    Writer,
    classify_statements,
    commit_verdicts,
    new_ids,
    retry_without_changes,
)
from lamina.capture.surprise import URGENT_SURPRISE, SurpriseScorer
from lamina.capture.urgency_patterns import sounds_important
from lamina.errors import LaminaError
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.states.state_reader import StateReader
from lamina.store.base import AtomFilter, Store
from lamina.store.buffer import BufferedPassage, SessionBacklog
from lamina.text.speaker_roles import is_assistant

JOB = "read for statements"
"""The name of the job whose lease the background reader takes."""
LEASE_SECONDS = 900.0
"""How long the job is leased: longer than a slow chat model takes for one batch."""
ONBOARDING_PASSAGES = 20
"""How many passages of a new scope are read turn by turn: the first ones tell most about a user."""
RECENT_RECALLS = 10
BATCH_PASSAGES = 10
"""How many passages are read in one batch; other writers may commit between two batches."""


@dataclass(frozen=True, slots=True)
class StatementReader:
    """How statements are extracted: the extractor, the patterns that make a turn urgent, and the models that help."""

    extractor: Extractor
    patterns: tuple[re.Pattern[str], ...] = ()
    embedder: Callable[[], Embedder | None] = lambda: None
    multi_valued: frozenset[str] = frozenset()
    nominator: Nominator | None = None
    state_reader: StateReader | None = None

    @property
    def detects_changes(self) -> bool:
        """Whether new statements are compared with earlier ones; not if extraction is switched off."""
        return not isinstance(self.extractor, DisabledExtractor)

    def read(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> StatementBatch:
        """Return the statements of turns, without those of turns that only repeat captured ones."""
        replays = find_replays(turns, segments.values(), store, scope, now) if self.detects_changes else {}
        batch = self.extract(drop_replays(turns, replays), before, segments, scope, store, ids, now)
        return replace(batch, replays=replays)

    def extract(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
    ) -> StatementBatch:
        """Return the statements of turns, each assigned to a box and scored for surprise, and the nominated changes."""
        if not turns:
            return StatementBatch([], self.extractor.name)
        extracted = build_statements(turns, before, self.extractor, segments, ids, recently_recalled(store, scope))
        scorer = SurpriseScorer(store, self.embedder() if extracted.atoms else None, now)
        batch = replace(extracted, atoms=[scorer.apply(atom) for atom in assign_boxes(extracted.atoms, store, ids)])
        return self._add_nominations(batch, turns, segments, scope, store, now)

    def _add_nominations(
        self,
        batch: StatementBatch,
        turns: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        scope: Scope,
        store: Store,
        now: datetime,
    ) -> StatementBatch:
        """Add the changes that a language model nominates; after a failed extraction the model is not called again."""
        if self.nominator is None or batch.failure:
            return batch
        try:
            result = nominate_changes(self.nominator, turns, segments, scope, store, now)
        except ModelError as error:
            failure_counts = ModelCounts(calls=error.calls, failures=(f"changes were not compared: {error}",))
            return replace(batch, counts=(batch.counts or ModelCounts()) + failure_counts)
        sure_count = sum(change.is_sure for change in result.changes)
        change_counts = ModelCounts(
            result.calls, pairs=result.pairs, likely=len(result.changes) - sure_count, sure=sure_count
        )
        return replace(batch, nominations=result.changes, counts=(batch.counts or ModelCounts()) + change_counts)

    def decide(
        self,
        batch: StatementBatch,
        turns: Sequence[CapturedTurn],
        segments: Collection[Atom],
        scope: Scope,
        store: Store,
        ids: Iterator[AtomId],
        now: datetime,
        *,
        compare: bool,
    ) -> list[StatementVerdict]:
        """Return the verdicts on a batch of statements and on the earlier statements that it ends."""
        verdicts = classify_statements(batch.atoms, store, now, self.multi_valued)
        if not (self.detects_changes and compare):
            return verdicts
        detector = ChangeDetector(
            turns, segments, batch.replays, store, scope, ids, now, self.state_reader, batch.nominations
        )
        return detector.complete_verdicts(verdicts)


class ReadSchedule(StrEnum):
    """When queued passages are read."""

    SMART = "smart"
    SURPRISE = "surprise"
    EVERY_N = "every_n"
    TIME_BASED = "time_based"


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """When the queued passages of a session are read: after `min_turns` turns or after `max_wait`.

    `smart` also reads urgent passages immediately, and `surprise` surprising ones as well.
    """

    schedule: ReadSchedule = ReadSchedule.SMART
    min_turns: int = 5
    max_wait: timedelta = timedelta(minutes=15)

    def is_due(self, queue: SessionBacklog, passages_read: int, now: datetime) -> bool:
        """Return whether a session's passages are to be read now; `passages_read` counts those of the scope so far."""
        is_full, is_old = queue.passage_count >= self.min_turns, now - queue.oldest_at >= self.max_wait
        match self.schedule:
            case ReadSchedule.EVERY_N:
                return is_full
            case ReadSchedule.TIME_BASED:
                return is_old
            case ReadSchedule.SMART | ReadSchedule.SURPRISE:
                return is_full or is_old or queue.is_urgent or passages_read < ONBOARDING_PASSAGES


def make_queue_entries(
    turns: Sequence[CapturedTurn],
    scope: Scope,
    session_id: str,
    now: datetime,
    patterns: Sequence[re.Pattern[str]] = (),
) -> list[BufferedPassage]:
    """Return queue entries for the turns of people; those of assistants are only context.

    A turn that sounds important or may ask to forget something is urgent.
    """

    def is_urgent(text: str) -> bool:
        return sounds_important(text, patterns) or may_contain_request(text)

    return [
        BufferedPassage(scope, session_id, AtomId(turn.segment), turn.n, now, is_urgent(turn.text))
        for turn in turns
        if not is_assistant(turn.speaker)
    ]


def split_new_turns(
    segments: Sequence[Atom], open_segment: Atom | None
) -> tuple[list[CapturedTurn], list[CapturedTurn]]:
    """Return the turns that the open segment had already, and those that were added."""
    earlier = [_make_turn(open_segment, passage) for passage in passages_of(open_segment)] if open_segment else []
    earlier_keys = {(turn.segment, turn.n) for turn in earlier}
    all_turns = [_make_turn(segment, passage) for segment in segments for passage in passages_of(segment)]
    return earlier, [turn for turn in all_turns if (turn.segment, turn.n) not in earlier_keys]


def _make_turn(segment: Atom, passage: Passage) -> CapturedTurn:
    return CapturedTurn(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def recently_recalled(store: Store, scope: Scope) -> list[str]:
    """Return the contents of the statements that the last recalls returned; repeating them states nothing new."""
    ids = store.recalls.recent(scope, RECENT_RECALLS)
    return [atom.content for atom in store.read(AtomFilter(scopes=(scope,), ids=tuple(ids))) if not atom.is_segment]


def read_due_sessions(
    store: Store,
    reader: StatementReader,
    policy: ReadPolicy,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Receipt]:
    """Read every session whose passages are due and return the receipts.

    The job is leased, so that two processes do not both call the extractor.
    """
    due = [queue for queue in store.buffer.backlogs() if _is_due(queue, policy, reader, store, now())]
    holder = f"{os.getpid()}-{secrets.token_hex(4)}"
    if not due or not store.jobs.acquire(JOB, holder, LEASE_SECONDS):
        return []
    receipts: list[Receipt] = []
    done, total, error = 0, sum(queue.passage_count for queue in due), ""
    try:
        for queue in due:
            if should_stop() or not store.jobs.renew(JOB, holder, LEASE_SECONDS, done, total):
                break
            lease = SessionLease(store.buffer, queue.scope, queue.session_id, now)
            if lease.acquire():
                try:
                    receipts += read_session(store, reader, queue.scope, queue.session_id, actor, ids, now, lease)
                finally:
                    lease.release()
            done += queue.passage_count
        return receipts
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(JOB, holder, error)


def _is_due(queue: SessionBacklog, policy: ReadPolicy, reader: StatementReader, store: Store, now: datetime) -> bool:
    if policy.is_due(queue, store.buffer.count_taken(queue.scope), now):
        return True
    if policy.schedule is not ReadSchedule.SURPRISE:
        return False
    scorer = SurpriseScorer(store, reader.embedder(), now)
    queued = store.buffer.session_passages(queue.scope, queue.session_id)
    _, turns = _with_context(queued, _read_segments(queued, store))
    return any((scorer.score(turn.text, queue.scope) or 0.0) > URGENT_SURPRISE for turn in turns)


def read_session(
    store: Store,
    reader: StatementReader,
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
    queued = store.buffer.session_passages(scope, session_id)
    receipts: list[Receipt] = []
    for start in range(0, len(queued), BATCH_PASSAGES):
        if lease is not None and not lease.acquire():
            break
        receipt = _read_batch(queued[start : start + BATCH_PASSAGES], reader, actor, store, ids, now())
        receipts += [receipt] if receipt is not None else []
    return receipts


def _read_batch(
    passages: Sequence[BufferedPassage], reader: StatementReader, actor: str, store: Store, ids: IdSource, now: datetime
) -> Receipt | None:
    """Read a batch of passages and return the receipt; None if another reader has taken them meanwhile.

    They leave the queue in the transaction that commits their statements: both happen or neither.
    """
    scope, session_id = passages[0].scope, passages[0].session_id
    segments = _read_segments(passages, store)
    before, turns = _with_context(passages, segments)
    id_iterator = new_ids(ids, now)
    batch = reader.read(turns, before, segments, scope, store, id_iterator, now)

    def classify_and_write(compare: bool) -> Receipt | None:
        with store.exclusive_transaction():
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
                verdicts = reader.decide(
                    part_batch, part_turns, part_segments, scope, store, id_iterator, now, compare=compare
                )
                writer = Writer(actor, origin, principal, scope)
                part_receipt = commit_verdicts(
                    SegmentBatch(), verdicts, writer, store, "extract", f"read {session_id}", None
                )
                receipt = replace(part_receipt, outcomes=(*receipt.outcomes, *part_receipt.outcomes))
        return replace(receipt, stages=(("statements", batch.summary),), counts=batch.counts)

    return retry_without_changes(store, classify_and_write)


def _read_segments(passages: Sequence[BufferedPassage], store: Store) -> dict[str, Atom]:
    """Return the active and pending segments that hold the passages, by id."""
    atoms = store.read(AtomFilter(scopes=(passages[0].scope,), ids=tuple({passage.segment for passage in passages})))
    return {segment.id: segment for segment in atoms if segment.status in (Status.ACTIVE, Status.CONSTRAINED)}


def _with_context(
    passages: Sequence[BufferedPassage], segments: Mapping[str, Atom]
) -> tuple[list[CapturedTurn], list[CapturedTurn]]:
    """Return the turns before the first queued one, and the queued turns with what assistants said in between."""
    oldest_first = sorted(segments.values(), key=lambda segment: segment.id)
    all_turns = [_make_turn(segment, passage) for segment in oldest_first for passage in passages_of(segment)]
    queued = {(passage.segment, passage.n) for passage in passages}
    positions = [n for n, turn in enumerate(all_turns) if (turn.segment, turn.n) in queued]
    if not positions:
        return [], []
    first, last = positions[0], positions[-1]
    turns = [
        turn for turn in all_turns[first : last + 1] if (turn.segment, turn.n) in queued or is_assistant(turn.speaker)
    ]
    return all_turns[max(0, first - CONTEXT_TURNS) : first], turns
