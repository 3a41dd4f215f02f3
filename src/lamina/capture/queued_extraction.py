"""Extracting statements from stored text, immediately or later from a durable queue.

Each passage is read once, also if the process dies in between.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.passage import is_assistant
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.capture.extractors import CapturedTurn
from lamina.capture.memory_requests import may_contain_request
from lamina.capture.receipt import Receipt
from lamina.capture.segment import turns_of
from lamina.capture.statement_commit import SegmentBatch, Writer, commit_verdicts, write_with_retries
from lamina.capture.statement_extractor import CONTEXT_TURNS, StatementExtractor
from lamina.capture.statement_scores import URGENT_SURPRISE, SurpriseScorer
from lamina.capture.store_reads import StoreReads, WriteContext, new_ids
from lamina.capture.urgency_patterns import sounds_important
from lamina.errors import LaminaError, StoreError
from lamina.logs import summarise_error
from lamina.store.admin import FileProblem
from lamina.store.base import AtomFilter, Store, TransactionMode
from lamina.store.queue import BufferedPassage, Queue, SessionBacklog, new_lease_token
from lamina.vault import layout

logger = logging.getLogger("lamina")

EXTRACTION_PROBLEM = "extraction"
"""The kind of problem of words whose statements could not be made."""
JOB = "read for statements"
"""The name of the job whose lease the background reader takes."""
LEASE_SECONDS, INSTANT_LEASE_SECONDS = 900.0, 60.0
"""How long the job is leased with a slow chat model, and if extraction calls no service."""
SESSION_LEASE_SECONDS, INSTANT_SESSION_LEASE_SECONDS = 180.0, 15.0
"""How long a session is leased unless the lease is renewed; a batch of passages takes less.

After a crash, the next reader waits for as long.
"""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25
ONBOARDING_PASSAGES = 20
"""How many passages of a new scope are read turn by turn: the first ones tell most about a user."""
BATCH_PASSAGES = 10
"""How many passages are read in one batch; other writers may commit between two batches."""


class SessionLease:
    """A lease on the waiting passages of one session."""

    def __init__(self, queue: Queue, scope: Scope, session_id: str, *, is_instant: bool = False) -> None:
        session = hashlib.sha256(f"{scope} {session_id}".encode()).hexdigest()
        self._queue, self._name, self._holder = queue, f"session {session[:24]}", new_lease_token()
        self.seconds = INSTANT_SESSION_LEASE_SECONDS if is_instant else SESSION_LEASE_SECONDS

    def acquire(self) -> bool:
        """Take or renew the lease; False if another reader has it."""
        return self._queue.lease(self._name, self._holder, self.seconds)

    def release(self) -> None:
        """Give the lease back, if this reader has it."""
        self._queue.release(self._name, self._holder)


@contextmanager
def hold_lease(lease: SessionLease) -> Iterator[SessionLease]:
    """Wait for the lease, at most as long as a lease lasts, run the block, and release it."""
    pause, waited = _FIRST_PAUSE, 0.0
    while not lease.acquire() and waited <= lease.seconds:
        time.sleep(pause)
        pause, waited = min(2 * pause, _LONGEST_PAUSE), waited + pause
    try:
        yield lease
    finally:
        lease.release()


class ExtractionSchedule(StrEnum):
    """When queued passages are read."""

    SMART = "smart"
    SURPRISE = "surprise"
    EVERY_N = "every_n"
    TIME_BASED = "time_based"


@dataclass(frozen=True, slots=True)
class ExtractionPolicy:
    """When the queued passages of a session are read: after `min_turns` turns or after `max_wait`.

    `smart` also reads urgent passages immediately, and `surprise` surprising ones as well.
    """

    schedule: ExtractionSchedule = ExtractionSchedule.SMART
    min_turns: int = 5
    max_wait: timedelta = timedelta(minutes=15)

    def is_due(self, queue: SessionBacklog, passages_extracted: int, now: datetime) -> bool:
        """Return whether a session's passages are to be read now; `passages_extracted`: those of the scope so far."""
        is_full, is_old = queue.passage_count >= self.min_turns, now - queue.oldest_at >= self.max_wait
        match self.schedule:
            case ExtractionSchedule.EVERY_N:
                return is_full
            case ExtractionSchedule.TIME_BASED:
                return is_old
            case ExtractionSchedule.SMART | ExtractionSchedule.SURPRISE:
                return is_full or is_old or queue.is_urgent or passages_extracted < ONBOARDING_PASSAGES


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


def extract_due_sessions(
    store: Store,
    extractor: StatementExtractor,
    policy: ExtractionPolicy,
    actor: str,
    ids: IdSource,
    now: Callable[[], datetime],
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Receipt]:
    """Read every session whose passages are due and return the receipts.

    The job is leased, so that two processes do not both call the extractor.
    """
    due = [queue for queue in store.queue.list_backlogs() if _is_due(queue, policy, extractor, store, now())]
    holder, lease_seconds = new_lease_token(), INSTANT_LEASE_SECONDS if extractor.is_instant else LEASE_SECONDS
    if not due or not store.queue.lease(JOB, holder, lease_seconds):
        return []
    receipts: list[Receipt] = []
    done, total, error = 0, sum(queue.passage_count for queue in due), ""
    try:
        for queue in due:
            if should_stop() or not store.queue.lease(JOB, holder, lease_seconds, (done, total)):
                break
            lease = SessionLease(store.queue, queue.scope, queue.session_id, is_instant=extractor.is_instant)
            if lease.acquire():
                try:
                    receipts += extract_session(store, extractor, queue.scope, queue.session_id, actor, ids, now, lease)
                finally:
                    lease.release()
            done += queue.passage_count
        return receipts
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.queue.release(JOB, holder, error)


def _is_due(
    queue: SessionBacklog, policy: ExtractionPolicy, extractor: StatementExtractor, store: Store, now: datetime
) -> bool:
    if policy.is_due(queue, queue.taken_in_scope, now):
        return True
    if policy.schedule is not ExtractionSchedule.SURPRISE:
        return False
    scorer = SurpriseScorer(store, extractor.embedder(), now)
    queued = store.queue.read_passages(queue.scope, queue.session_id)
    _, turns = _with_context(queued, _read_segments(queued, store))
    return any((scorer.score(turn.text, queue.scope) or 0.0) > URGENT_SURPRISE for turn in turns)


def extract_session(
    store: Store,
    extractor: StatementExtractor,
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
    queued = store.queue.read_passages(scope, session_id)
    _clear_failed_extraction(queued, store)
    receipts: list[Receipt] = []
    for start in range(0, len(queued), BATCH_PASSAGES):
        if lease is not None and not lease.acquire():
            break
        batch = queued[start : start + BATCH_PASSAGES]
        try:
            receipts += _extract_batch(batch, extractor, actor, store, ids, now())
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one passage must not keep the others from being read
            logger.error("%d passages of %s are read one by one: %s", len(batch), session_id, summarise_error(error))
            receipts += [
                receipt
                for passage in batch
                for receipt in _extract_or_give_up(passage, extractor, actor, store, ids, now())
            ]
    return receipts


def _extract_or_give_up(
    passage: BufferedPassage, extractor: StatementExtractor, actor: str, store: Store, ids: IdSource, now: datetime
) -> list[Receipt]:
    """Read one passage; if that fails, take it from the queue, so that it fails once, and report it."""
    try:
        return _extract_batch([passage], extractor, actor, store, ids, now)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - its words are stored; only what they state is not known
        store.queue.take_passages([passage])
        for segment in _read_segments([passage], store).values():
            report_failed_extraction(store, segment, summarise_error(error), "its words are stored and are found")
        return []


def _clear_failed_extraction(passages: Sequence[BufferedPassage], store: Store) -> None:
    """Remove what was reported about these passages, as they are read again."""
    segments = {passage.segment for passage in passages}
    for problem in store.admin.problems.list():
        if problem.kind == EXTRACTION_PROBLEM and problem.atom_id in segments:
            store.admin.problems.clear(problem.path, [EXTRACTION_PROBLEM])


def report_failed_extraction(store: Store, segment: Atom, cause: str, advice: str) -> None:
    """Report to `doctor` that the statements of a segment could not be made."""
    message = f"no statements could be made of some of its words ({cause}); {advice}"
    store.admin.problems.report(
        FileProblem(layout.path_for(segment), EXTRACTION_PROBLEM, message, atom_id=AtomId(segment.id))
    )


def _extract_batch(
    passages: Sequence[BufferedPassage],
    extractor: StatementExtractor,
    actor: str,
    store: Store,
    ids: IdSource,
    now: datetime,
) -> list[Receipt]:
    """Read a batch of passages and return the receipt; none if another reader has taken them meanwhile.

    They leave the queue in the transaction that commits their statements: both happen or neither.
    """
    scope, session_id = passages[0].scope, passages[0].session_id
    segments = _read_segments(passages, store)
    before, turns = _with_context(passages, segments)
    new_atom_ids = new_ids(ids, now)
    batch = extractor.extract_new(turns, before, segments, WriteContext(StoreReads(store), scope, new_atom_ids, now))

    def write(detect_changes: bool) -> list[Receipt]:
        with store.transaction(TransactionMode.WRITE) as transaction:
            if not transaction.queue.take_passages(passages):
                return []
            receipt = Receipt(None, ())
            for origin, principal in dict.fromkeys(map(_responsibility, segments.values())):
                part_atoms = [atom for atom in batch.atoms if _responsibility(atom) == (origin, principal)]
                part_segments = [atom for atom in segments.values() if _responsibility(atom) == (origin, principal)]
                part_turns = [turn for turn in turns if turn.segment in {segment.id for segment in part_segments}]
                context = WriteContext(StoreReads(transaction), scope, new_atom_ids, now)
                verdicts = extractor.decide_verdicts(
                    replace(batch, atoms=part_atoms), part_turns, part_segments, context, detect_changes=detect_changes
                )
                writer = Writer(actor, origin, principal, scope)
                part_receipt = commit_verdicts(
                    SegmentBatch(), verdicts, writer, transaction, "extract", f"read {session_id}", None
                )
                receipt = replace(part_receipt, outcomes=(*receipt.outcomes, *part_receipt.outcomes))
        return [replace(receipt, stages=(("statements", batch.summary),), counts=batch.counts)]

    return write_with_retries(store, write)


def _responsibility(atom: Atom) -> tuple[Origin, str | None]:
    """Return who is responsible for an atom."""
    return atom.origin, atom.principal


def _read_segments(passages: Sequence[BufferedPassage], store: Store) -> dict[str, Atom]:
    """Return the active and pending segments that hold the passages, by id."""
    atoms = store.atoms.read(
        AtomFilter(scopes=(passages[0].scope,), ids=tuple({passage.segment for passage in passages}))
    )
    return {segment.id: segment for segment in atoms if segment.status in (Status.ACTIVE, Status.CONSTRAINED)}


def _with_context(
    passages: Sequence[BufferedPassage], segments: Mapping[str, Atom]
) -> tuple[list[CapturedTurn], list[CapturedTurn]]:
    """Return the turns before the first queued one, and the queued turns with what assistants said in between."""
    oldest_first = sorted(segments.values(), key=lambda segment: segment.id)
    all_turns = [turn for segment in oldest_first for turn in turns_of(segment)]
    queued = {(passage.segment, passage.n) for passage in passages}
    positions = [n for n, turn in enumerate(all_turns) if (turn.segment, turn.n) in queued]
    if not positions:
        return [], []
    first, last = positions[0], positions[-1]
    turns = [
        turn for turn in all_turns[first : last + 1] if (turn.segment, turn.n) in queued or is_assistant(turn.speaker)
    ]
    return all_turns[max(0, first - CONTEXT_TURNS) : first], turns
