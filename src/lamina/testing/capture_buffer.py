"""Contract of the capture buffer: passages that wait for extraction are durable, ordered, and taken once."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.buffer import BufferedPassage, SessionBacklog
from lamina.testing.store_harness import LOCAL, NOON, OTHER, Contract, StoreHarness

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
            harness.store.buffer.add([buffered_passage(2), buffered_passage(1), buffered_passage(3, after=1)])
            harness.store.buffer.add([buffered_passage(2, after=9, urgent=True)])
        with self.open_harness(tmp_path) as harness:
            buffer = harness.store.buffer
            assert buffer.session_passages(LOCAL, "s1") == [
                buffered_passage(1),
                buffered_passage(2),
                buffered_passage(3, after=1),
            ]
            assert buffer.session_passages(LOCAL, "s2") == buffer.session_passages(OTHER, "s1") == []
            assert buffer.take([buffered_passage(1), buffered_passage(3, after=1)])
            assert buffer.session_passages(LOCAL, "s1") == [buffered_passage(2)]

    def test_backlogs_report_how_much_each_session_has_buffered_and_since_when(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.store.buffer.add(
                [
                    buffered_passage(1, "s2", after=1),
                    buffered_passage(2, "s2", after=2, urgent=True),
                    buffered_passage(1, "s1", OTHER),
                ]
            )
            assert harness.store.buffer.backlogs() == [
                SessionBacklog(OTHER, "s1", 1, NOON, False),
                SessionBacklog(LOCAL, "s2", 2, NOON + MINUTE, True),
            ]
            assert harness.store.buffer.take(harness.store.buffer.session_passages(LOCAL, "s2"))
            assert [queue.scope for queue in harness.store.buffer.backlogs()] == [OTHER]
            assert (harness.store.buffer.count_taken(LOCAL), harness.store.buffer.count_taken(OTHER)) == (2, 0)

    def test_a_buffered_passage_is_taken_by_one_process_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.store.buffer.add([buffered_passage(n) for n in range(1, 9)])
            took: list[str] = []

            def take(harness: StoreHarness, name: str) -> None:
                for n in range(1, 9):
                    if harness.store.buffer.take([buffered_passage(n)]):
                        took.append(f"{name}{n}")

            threads = [
                threading.Thread(target=take, args=(harness, name)) for harness, name in ((one, "a"), (other, "b"))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(entry[1:] for entry in took) == [str(n) for n in range(1, 9)]
            assert one.store.buffer.count_taken(LOCAL) == 8

    def test_all_are_taken_or_none(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.store.buffer.add([buffered_passage(1), buffered_passage(2)])
            assert not harness.store.buffer.take([buffered_passage(1), buffered_passage(7)])
            assert harness.store.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1), buffered_passage(2)]

    def test_one_reader_at_a_time_leases_a_session(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            mine, theirs = one.store.buffer, other.store.buffer
            assert mine.lease(LOCAL, "s1", "a", NOON, NOON + MINUTE)
            assert not theirs.lease(LOCAL, "s1", "b", NOON, NOON + MINUTE)
            assert theirs.lease(LOCAL, "s2", "b", NOON, NOON + MINUTE)
            assert mine.lease(LOCAL, "s1", "a", NOON, NOON + 2 * MINUTE)
            theirs.release(LOCAL, "s1", "b")
            assert not theirs.lease(LOCAL, "s1", "b", NOON + MINUTE, NOON + 2 * MINUTE)
            mine.release(LOCAL, "s1", "a")
            assert theirs.lease(LOCAL, "s1", "b", NOON, NOON + MINUTE)
            assert mine.lease(LOCAL, "s1", "a", NOON + MINUTE, NOON + 2 * MINUTE)

    def test_buffer_changes_roll_back_with_their_transaction(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.store.buffer.add([buffered_passage(1)])
            try:
                with harness.store.exclusive_transaction():
                    harness.add("tea")
                    harness.store.buffer.take([buffered_passage(1)])
                    harness.store.buffer.add([buffered_passage(2)])
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert harness.store.position() == 0
            assert harness.store.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1)]
            with harness.store.trial_transaction():
                harness.store.buffer.take([buffered_passage(1)])
            assert harness.store.buffer.session_passages(LOCAL, "s1") == [buffered_passage(1)]
