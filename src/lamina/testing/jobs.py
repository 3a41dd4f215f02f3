"""Contract of jobs: leases on work that one process does for all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from lamina.testing.store_harness import NOON, Contract

SECOND = timedelta(seconds=1)


class JobContract(Contract):
    """Who holds the lease of a job, and for how long."""

    def test_a_job_is_leased_to_one_holder_at_a_time(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            assert one.store.jobs.list() == []
            assert one.store.jobs.acquire("sweep", "ann", 30)
            assert not other.store.jobs.acquire("sweep", "bob", 30)
            assert other.store.jobs.acquire("mop", "bob", 30)
            assert one.store.jobs.acquire("sweep", "ann", 30)
            assert [(job.name, job.holder) for job in other.store.jobs.list()] == [("mop", "bob"), ("sweep", "ann")]

    def test_a_released_lease_is_free_and_reports_how_the_job_ended(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            jobs = harness.store.jobs
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
            one.store.jobs.acquire("sweep", "ann", 30)
            other.clock.at = NOON + 30 * SECOND - timedelta(milliseconds=1)
            assert not other.store.jobs.acquire("sweep", "bob", 30)
            other.clock.at = NOON + 30 * SECOND
            assert other.store.jobs.acquire("sweep", "bob", 30)
            assert not one.store.jobs.renew("sweep", "ann", 30, 1, 1)
            one.store.jobs.release("sweep", "ann", "too late")
            assert not one.store.jobs.acquire("sweep", "ann", 30)
            (job,) = other.store.jobs.list()
            assert (job.holder, job.until, job.done, job.error) == ("bob", NOON + 60 * SECOND, 0, "")

    def test_an_expired_lease_that_was_not_taken_can_be_renewed(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.store.jobs.acquire("sweep", "ann", 30)
            harness.clock.at = NOON + 90 * SECOND
            assert harness.store.jobs.renew("sweep", "ann", 30, 1, 2)
            assert not harness.store.jobs.acquire("sweep", "bob", 30)

    def test_a_lease_that_was_never_taken_cannot_be_renewed_or_released(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            assert not harness.store.jobs.renew("sweep", "ann", 30, 1, 1)
            harness.store.jobs.release("sweep", "ann")
            assert harness.store.jobs.list() == []
            harness.store.jobs.acquire("sweep", "ann", 30)
            harness.store.jobs.release("sweep", "ann")
            assert not harness.store.jobs.renew("sweep", "ann", 30, 1, 1)

    def test_a_lease_survives_closing_the_store_and_is_not_in_the_journal(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.store.jobs.acquire("sweep", "ann", 30)
            assert harness.store.position() == 0
        with self.open_harness(tmp_path) as harness:
            assert not harness.store.jobs.acquire("sweep", "bob", 30)
            harness.store.rebuild_index()
            assert [job.holder for job in harness.store.jobs.list()] == ["ann"]
