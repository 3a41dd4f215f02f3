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
from lamina.store.jobs import LeaseRenewal, new_lease_token
from lamina.store.signals import SignalIncrement
from lamina.store.waiting_passages import BufferedPassage, SessionBacklog
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
            harness.buffer.add([buffered_passage(2), buffered_passage(1), buffered_passage(3, after=1)])
            harness.buffer.add([buffered_passage(2, after=9, urgent=True)])
        with self.open_harness(tmp_path) as harness:
            buffer = harness.buffer
            assert buffer.session_passages(LOCAL, "s1") == [
                buffered_passage(1),
                buffered_passage(2),
                buffered_passage(3, after=1),
            ]
            assert buffer.session_passages(LOCAL, "s2") == buffer.session_passages(OTHER, "s1") == []
            assert buffer.take([buffered_passage(1), buffered_passage(3, after=1)])
            assert buffer.session_passages(LOCAL, "s1") == [buffered_passage(2)]

    def test_backlogs_report_how_much_each_session_has_buffered_and_since_when(self, harness: StoreHarness) -> None:
        harness.buffer.add(
            [
                buffered_passage(1, "s2", after=1),
                buffered_passage(2, "s2", after=2, urgent=True),
                buffered_passage(1, "s1", OTHER),
            ]
        )
        assert harness.buffer.backlogs() == [
            SessionBacklog(OTHER, "s1", 1, NOON, False),
            SessionBacklog(LOCAL, "s2", 2, NOON + MINUTE, True),
        ]
        assert harness.buffer.take(harness.buffer.session_passages(LOCAL, "s2"))
        assert [queue.scope for queue in harness.buffer.backlogs()] == [OTHER]
        assert [harness.buffer.count_taken(scope) for scope in (LOCAL, OTHER)] == [2, 0]

    def test_a_buffered_passage_is_taken_by_one_process_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.buffer.add([buffered_passage(n) for n in range(1, 9)])
            took: list[str] = []

            def take(harness: StoreHarness, name: str) -> None:
                for n in range(1, 9):
                    if harness.buffer.take([buffered_passage(n)]):
                        took.append(f"{name}{n}")

            run_in_threads(partial(take, one, "a"), partial(take, other, "b"))
            assert sorted(entry[1:] for entry in took) == [str(n) for n in range(1, 9)]
            assert one.buffer.count_taken(LOCAL) == 8

    def test_all_are_taken_or_none(self, harness: StoreHarness) -> None:
        harness.buffer.add([buffered_passage(1), buffered_passage(2)])
        assert not harness.buffer.take([buffered_passage(1), buffered_passage(7)])
        assert harness.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1), buffered_passage(2)]

    def test_one_reader_at_a_time_leases_a_session(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            mine, theirs = one.buffer, other.buffer
            assert mine.lease(LOCAL, "s1", "a", NOON, NOON + MINUTE)
            assert not theirs.lease(LOCAL, "s1", "b", NOON, NOON + MINUTE)
            assert theirs.lease(LOCAL, "s2", "b", NOON, NOON + MINUTE)
            assert mine.lease(LOCAL, "s1", "a", NOON, NOON + 2 * MINUTE)
            theirs.release(LOCAL, "s1", "b")
            assert not theirs.lease(LOCAL, "s1", "b", NOON + MINUTE, NOON + 2 * MINUTE)
            mine.release(LOCAL, "s1", "a")
            assert theirs.lease(LOCAL, "s1", "b", NOON, NOON + MINUTE)
            assert mine.lease(LOCAL, "s1", "a", NOON + MINUTE, NOON + 2 * MINUTE)

    def test_buffer_changes_roll_back_with_their_transaction(self, harness: StoreHarness) -> None:
        harness.buffer.add([buffered_passage(1)])
        with suppress(KeyboardInterrupt), harness.store.transaction(TransactionMode.WRITE):
            harness.add("tea")
            harness.buffer.take([buffered_passage(1)])
            harness.buffer.add([buffered_passage(2)])
            raise KeyboardInterrupt
        assert harness.journal.position() == 0
        assert harness.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1)]
        with harness.store.transaction(TransactionMode.TRIAL):
            harness.buffer.take([buffered_passage(1)])
        assert harness.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1)]


SECOND = timedelta(seconds=1)


class JobContract(Contract):
    """Tests of who holds the lease of a job, and for how long."""

    def test_a_job_is_leased_to_one_holder_at_a_time(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            assert one.jobs.list() == []
            assert one.jobs.acquire("sweep", "ann", 30)
            assert not other.jobs.acquire("sweep", "bob", 30)
            assert other.jobs.acquire("mop", "bob", 30)
            assert one.jobs.acquire("sweep", "ann", 30)
            assert [(job.name, job.holder) for job in other.jobs.list()] == [("mop", "bob"), ("sweep", "ann")]

    def test_a_released_lease_is_free_and_reports_how_the_job_ended(self, harness: StoreHarness) -> None:
        jobs = harness.jobs
        jobs.acquire("sweep", "ann", 30)
        harness.clock.at = NOON + SECOND
        assert jobs.renew("sweep", "ann", 30, 3, 7)
        (job,) = jobs.list()
        assert (job.holder, job.until, job.done, job.total) == ("ann", NOON + 31 * SECOND, 3, 7)
        assert (job.started_at, job.finished_at, job.error) == (NOON, None, "")
        jobs.release("sweep", "ann", "the broom broke")
        (job,) = jobs.list()
        assert (job.holder, job.until, job.done, job.error) == ("", None, 3, "the broom broke")
        assert job.finished_at == NOON + SECOND
        assert jobs.acquire("sweep", "bob", 30)
        (job,) = jobs.list()
        assert (job.holder, job.done, job.total, job.error) == ("bob", 0, 0, "")
        assert (job.started_at, job.finished_at) == (NOON + SECOND, None)

    def test_an_expired_lease_can_be_taken_and_its_old_holder_cannot_change_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.jobs.acquire("sweep", "ann", 30)
            other.clock.at = NOON + 30 * SECOND - timedelta(milliseconds=1)
            assert not other.jobs.acquire("sweep", "bob", 30)
            other.clock.at = NOON + 30 * SECOND
            assert other.jobs.acquire("sweep", "bob", 30)
            assert not one.jobs.renew("sweep", "ann", 30, 1, 1)
            one.jobs.release("sweep", "ann", "too late")
            assert not one.jobs.acquire("sweep", "ann", 30)
            (job,) = other.jobs.list()
            assert (job.holder, job.until, job.done, job.error) == ("bob", NOON + 60 * SECOND, 0, "")

    def test_an_expired_lease_that_was_not_taken_can_be_renewed(self, harness: StoreHarness) -> None:
        harness.jobs.acquire("sweep", "ann", 30)
        harness.clock.at = NOON + 90 * SECOND
        assert harness.jobs.renew("sweep", "ann", 30, 1, 2)
        assert not harness.jobs.acquire("sweep", "bob", 30)

    def test_a_lease_that_was_never_taken_cannot_be_renewed_or_released(self, harness: StoreHarness) -> None:
        assert not harness.jobs.renew("sweep", "ann", 30, 1, 1)
        harness.jobs.release("sweep", "ann")
        assert harness.jobs.list() == []
        harness.jobs.acquire("sweep", "ann", 30)
        harness.jobs.release("sweep", "ann")
        assert not harness.jobs.renew("sweep", "ann", 30, 1, 1)

    def test_a_lease_survives_closing_the_store_and_is_not_in_the_journal(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.jobs.acquire("sweep", "ann", 30)
            assert harness.journal.position() == 0
        with self.open_harness(tmp_path) as harness:
            assert not harness.jobs.acquire("sweep", "bob", 30)
            harness.store.admin.rebuild_index()
            assert [job.holder for job in harness.jobs.list()] == ["ann"]

    def test_a_lease_that_is_renewed_in_the_background_outlives_its_duration(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            token = new_lease_token()
            assert token != new_lease_token()
            assert one.jobs.acquire("sweep", token, 0.03)
            lease = LeaseRenewal(one.jobs, "sweep", token, 0.03)
            with lease.run():
                one.clock.at = NOON + SECOND
                wait_until(lambda: _until(other) == NOON + SECOND + timedelta(seconds=0.03))
                other.clock.at = NOON + SECOND
                assert not other.jobs.acquire("sweep", "bob", 30)
                assert lease.report(1, 2)


def _until(harness: StoreHarness) -> object:
    (job,) = harness.jobs.list()
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
        progress = harness.store.queue.dream_progress
        assert progress.get_position(LOCAL, "merge") is None
        progress.set_position(LOCAL, "merge", 3)
        progress.set_position(LOCAL, "merge", 5)
        progress.set_position(ANN, "merge", 1)
        with harness.store.transaction(TransactionMode.TRIAL) as trial:
            trial.queue.dream_progress.set_position(LOCAL, "merge", 9)
        assert (progress.get_position(LOCAL, "merge"), progress.get_position(ANN, "merge")) == (5, 1)
        assert progress.get_position(LOCAL, "age") is None

    def test_unused_statements_are_found_until_they_are_used_or_probed(self, harness: StoreHarness) -> None:
        progress = harness.store.queue.dream_progress
        first, second, other = harness.add("one"), harness.add("two"), harness.add("three", kind="rule")

        def find_unused() -> list[str]:
            return [*progress.find_unused(LOCAL, ["fact"], NOON + DAY, NOON + DAY, 10)]

        assert find_unused() == sorted([first.id, second.id])
        assert progress.find_unused(LOCAL, ["fact"], NOON - DAY, NOON + DAY, 10) == []
        assert progress.find_unused(LOCAL, ["rule"], NOON + DAY, NOON + DAY, 10) == [other.id]
        harness.store.signals.add({first.id: SignalIncrement(used_at=NOON + 2 * DAY)})
        assert find_unused() == [second.id]
        progress.mark_probed(LOCAL, [second.id], NOON + 2 * DAY)
        assert find_unused() == []
        assert progress.count_probed_since(LOCAL, NOON) == 1
        assert progress.count_probed_since(ANN, NOON) == 0
