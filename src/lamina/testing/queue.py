"""Contracts of the queue: the capture buffer, jobs, and the progress of dreams."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.store.base import TransactionMode
from lamina.store.queue import BufferedPassage, LeaseRenewal, ProbeQuery, SessionBacklog, new_lease_token
from lamina.store.signals_and_ageing import SignalIncrement
from lamina.testing.store_harness import ANN, DAY, LOCAL, NOON, OTHER, Contract, StoreHarness, run_in_threads

MINUTE = timedelta(minutes=1)


def buffered_passage(
    n: int, session: str = "s1", scope: Scope = LOCAL, *, after: int = 0, urgent: bool = False
) -> BufferedPassage:
    """Return the n-th passage of a session's only segment."""
    return BufferedPassage(scope, session, AtomId(f"segment-{scope}-{session}"), n, NOON + after * MINUTE, urgent)


class BufferContract(Contract):
    """Buffered passages survive a crash, roll back with their transaction, and are taken by one process."""

    def test_passages_wait_in_order_until_they_are_taken(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.queue.add_passages([buffered_passage(2), buffered_passage(1), buffered_passage(3, after=1)])
            harness.queue.add_passages([buffered_passage(2, after=9, urgent=True)])
        with self.open_harness(tmp_path) as harness:
            queue = harness.queue
            assert queue.read_passages(LOCAL, "s1") == [
                buffered_passage(1),
                buffered_passage(2),
                buffered_passage(3, after=1),
            ]
            assert queue.read_passages(LOCAL, "s2") == queue.read_passages(OTHER, "s1") == []
            assert queue.take_passages([buffered_passage(1), buffered_passage(3, after=1)])
            assert queue.read_passages(LOCAL, "s1") == [buffered_passage(2)]

    def test_backlogs_report_how_much_each_session_has_buffered_and_since_when(self, harness: StoreHarness) -> None:
        harness.queue.add_passages(
            [
                buffered_passage(1, "s2", after=1),
                buffered_passage(2, "s2", after=2, urgent=True),
                buffered_passage(1, "s1", OTHER),
            ]
        )
        assert harness.queue.list_backlogs() == [
            SessionBacklog(OTHER, "s1", 1, NOON, False),
            SessionBacklog(LOCAL, "s2", 2, NOON + MINUTE, True),
        ]
        assert harness.queue.take_passages(harness.queue.read_passages(LOCAL, "s2"))
        assert [queue.scope for queue in harness.queue.list_backlogs()] == [OTHER]
        harness.queue.add_passages([buffered_passage(1, "s3", after=3)])
        assert [(queue.scope, queue.taken_in_scope) for queue in harness.queue.list_backlogs()] == [
            (OTHER, 0),
            (LOCAL, 2),
        ]

    def test_a_buffered_passage_is_taken_by_one_process_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.queue.add_passages([buffered_passage(n) for n in range(1, 9)])
            took: list[str] = []

            def take(harness: StoreHarness, name: str) -> None:
                for n in range(1, 9):
                    if harness.queue.take_passages([buffered_passage(n)]):
                        took.append(f"{name}{n}")

            run_in_threads(partial(take, one, "a"), partial(take, other, "b"))
            assert sorted(entry[1:] for entry in took) == [str(n) for n in range(1, 9)]
            one.queue.add_passages([buffered_passage(9)])
            assert [queue.taken_in_scope for queue in one.queue.list_backlogs()] == [8]

    def test_all_are_taken_or_none(self, harness: StoreHarness) -> None:
        harness.queue.add_passages([buffered_passage(1), buffered_passage(2)])
        assert not harness.queue.take_passages([buffered_passage(1), buffered_passage(7)])
        assert harness.queue.read_passages(LOCAL, "s1") == [buffered_passage(1), buffered_passage(2)]

    def test_buffer_changes_roll_back_with_their_transaction(self, harness: StoreHarness) -> None:
        harness.queue.add_passages([buffered_passage(1)])
        with suppress(KeyboardInterrupt), harness.store.transaction(TransactionMode.WRITE):
            harness.add("tea")
            harness.queue.take_passages([buffered_passage(1)])
            harness.queue.add_passages([buffered_passage(2)])
            raise KeyboardInterrupt
        assert harness.journal.position() == 0
        assert harness.queue.read_passages(LOCAL, "s1") == [buffered_passage(1)]
        with harness.store.transaction(TransactionMode.TRIAL):
            harness.queue.take_passages([buffered_passage(1)])
        assert harness.queue.read_passages(LOCAL, "s1") == [buffered_passage(1)]


SECOND = timedelta(seconds=1)


class JobContract(Contract):
    """Tests of who holds the lease of a job, and for how long."""

    def test_a_job_is_leased_to_one_holder_at_a_time(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            assert one.queue.list_jobs() == []
            assert one.queue.lease("sweep", "ann", 30)
            assert not other.queue.lease("sweep", "bob", 30)
            assert other.queue.lease("mop", "bob", 30)
            assert one.queue.lease("sweep", "ann", 30)
            assert [(job.name, job.holder) for job in other.queue.list_jobs()] == [("mop", "bob"), ("sweep", "ann")]

    def test_a_released_lease_is_free_and_reports_how_the_job_ended(self, harness: StoreHarness) -> None:
        queue = harness.queue
        queue.lease("sweep", "ann", 30)
        harness.clock.at = NOON + SECOND
        assert queue.lease("sweep", "ann", 30, (3, 7))
        assert queue.lease("sweep", "ann", 30)
        (job,) = queue.list_jobs()
        assert (job.holder, job.until, job.done, job.total) == ("ann", NOON + 31 * SECOND, 3, 7)
        assert (job.started_at, job.finished_at, job.error) == (NOON, None, "")
        queue.release("sweep", "ann", "the broom broke")
        (job,) = queue.list_jobs()
        assert (job.holder, job.until, job.done, job.error) == ("", None, 3, "the broom broke")
        assert job.finished_at == NOON + SECOND
        assert queue.lease("sweep", "bob", 30)
        (job,) = queue.list_jobs()
        assert (job.holder, job.done, job.total, job.error) == ("bob", 0, 0, "")
        assert (job.started_at, job.finished_at) == (NOON + SECOND, None)

    def test_an_expired_lease_can_be_taken_and_its_old_holder_cannot_change_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.queue.lease("sweep", "ann", 30)
            other.clock.at = NOON + 30 * SECOND - timedelta(milliseconds=1)
            assert not other.queue.lease("sweep", "bob", 30)
            other.clock.at = NOON + 30 * SECOND
            assert other.queue.lease("sweep", "bob", 30)
            assert not one.queue.lease("sweep", "ann", 30, (1, 1))
            one.queue.release("sweep", "ann", "too late")
            assert not one.queue.lease("sweep", "ann", 30)
            (job,) = other.queue.list_jobs()
            assert (job.holder, job.until, job.done, job.error) == ("bob", NOON + 60 * SECOND, 0, "")

    def test_an_expired_lease_that_was_not_taken_can_be_renewed(self, harness: StoreHarness) -> None:
        harness.queue.lease("sweep", "ann", 30)
        harness.clock.at = NOON + 90 * SECOND
        assert harness.queue.lease("sweep", "ann", 30, (1, 2))
        assert not harness.queue.lease("sweep", "bob", 30)

    def test_a_lease_that_is_given_back_without_a_result_leaves_no_job(self, harness: StoreHarness) -> None:
        harness.queue.release("sweep", "ann")
        harness.queue.lease("sweep", "ann", 30)
        harness.queue.release("sweep", "bob")
        assert [job.holder for job in harness.queue.list_jobs()] == ["ann"]
        harness.queue.release("sweep", "ann")
        assert harness.queue.list_jobs() == []

    def test_a_lease_survives_closing_the_store_and_is_not_in_the_journal(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.queue.lease("sweep", "ann", 30)
            assert harness.journal.position() == 0
        with self.open_harness(tmp_path) as harness:
            assert not harness.queue.lease("sweep", "bob", 30)
            harness.store.admin.rebuild_index()
            assert [job.holder for job in harness.queue.list_jobs()] == ["ann"]

    def test_a_lease_that_is_renewed_in_the_background_outlives_its_duration(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            token = new_lease_token()
            assert token != new_lease_token()
            assert one.queue.lease("sweep", token, 0.03)
            lease = LeaseRenewal(one.queue, "sweep", token, 0.03)
            with lease.run():
                one.clock.at = NOON + SECOND
                wait_until(lambda: _until(other) == NOON + SECOND + timedelta(seconds=0.03))
                other.clock.at = NOON + SECOND
                assert not other.queue.lease("sweep", "bob", 30)
                assert lease.report(1, 2)


def _until(harness: StoreHarness) -> object:
    (job,) = harness.queue.list_jobs()
    return job.until


def wait_until(is_true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for an event of another thread; AssertionError if it does not come."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class DreamProgressContract(Contract):
    """Tests of what dreams store between runs."""

    def test_a_step_has_a_position_in_each_scope(self, harness: StoreHarness) -> None:
        queue = harness.queue
        assert queue.get_position(LOCAL, "merge") is None
        queue.set_position(LOCAL, "merge", 3)
        queue.set_position(LOCAL, "merge", 5)
        queue.set_position(ANN, "merge", 1)
        with harness.store.transaction(TransactionMode.TRIAL) as trial:
            trial.queue.set_position(LOCAL, "merge", 9)
        assert (queue.get_position(LOCAL, "merge"), queue.get_position(ANN, "merge")) == (5, 1)
        assert queue.get_position(LOCAL, "age") is None

    def test_unused_statements_are_found_until_they_are_used_or_probed(self, harness: StoreHarness) -> None:
        queue = harness.queue
        first, second, other = harness.add("one"), harness.add("two"), harness.add("three", kind="rule")

        def find_unused(kind: str = "fact", days: int = 1, limit: int = 10) -> list[AtomId]:
            return queue.find_unused(
                ProbeQuery(
                    scope=LOCAL,
                    kinds=[kind],
                    unused_since=NOON + days * DAY,
                    unprobed_since=NOON + DAY,
                    limit=limit,
                    counted_since=NOON,
                )
            )

        assert find_unused() == sorted([first.id, second.id])
        assert find_unused(limit=1) == sorted([first.id, second.id])[:1]
        assert find_unused(days=-1) == []
        assert find_unused("rule") == [other.id]
        harness.store.signals.add({first.id: SignalIncrement(used_at=NOON + 2 * DAY)})
        assert find_unused() == [second.id]
        queue.mark_probed(LOCAL, [second.id], NOON + 2 * DAY)
        assert find_unused() == []
        assert find_unused("rule", limit=2) == [other.id]
        assert find_unused("rule", limit=1) == []
