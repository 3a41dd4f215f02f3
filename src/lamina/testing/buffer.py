"""Contract of the capture buffer: passages that wait for extraction are durable, ordered, and taken once."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.buffer import Queue, Waiting
from lamina.testing.hand import LOCAL, NOON, OTHER, Contract, Hand

MINUTE = timedelta(minutes=1)


def waits(n: int, session: str = "s1", scope: Scope = LOCAL, *, after: int = 0, urgent: bool = False) -> Waiting:
    """Return the n-th passage of a session's only segment."""
    return Waiting(scope, session, AtomId(f"segment-{scope}-{session}"), n, NOON + after * MINUTE, urgent)


class BufferContract(Contract):
    """Buffered passages survive a crash, roll back with their transaction, and are taken by one process."""

    def test_passages_wait_in_order_until_they_are_taken(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.store.buffer.add([waits(2), waits(1), waits(3, after=1)])
            harness.store.buffer.add([waits(2, after=9, urgent=True)])
        with self.hand(tmp_path) as harness:
            buffer = harness.store.buffer
            assert buffer.of(LOCAL, "s1") == [waits(1), waits(2), waits(3, after=1)]
            assert buffer.of(LOCAL, "s2") == buffer.of(OTHER, "s1") == []
            assert buffer.take([waits(1), waits(3, after=1)])
            assert buffer.of(LOCAL, "s1") == [waits(2)]

    def test_queues_tell_how_much_waits_of_each_session_and_for_how_long(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.store.buffer.add(
                [waits(1, "s2", after=1), waits(2, "s2", after=2, urgent=True), waits(1, "s1", OTHER)]
            )
            assert harness.store.buffer.queues() == [
                Queue(OTHER, "s1", 1, NOON, False),
                Queue(LOCAL, "s2", 2, NOON + MINUTE, True),
            ]
            assert harness.store.buffer.take(harness.store.buffer.of(LOCAL, "s2"))
            assert [queue.scope for queue in harness.store.buffer.queues()] == [OTHER]
            assert (harness.store.buffer.taken(LOCAL), harness.store.buffer.taken(OTHER)) == (2, 0)

    def test_what_somebody_took_nobody_else_takes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one, self.hand(tmp_path) as other:
            one.store.buffer.add([waits(n) for n in range(1, 9)])
            took: list[str] = []

            def take(harness: Hand, name: str) -> None:
                for n in range(1, 9):
                    if harness.store.buffer.take([waits(n)]):
                        took.append(f"{name}{n}")

            threads = [
                threading.Thread(target=take, args=(harness, name)) for harness, name in ((one, "a"), (other, "b"))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(entry[1:] for entry in took) == [str(n) for n in range(1, 9)]
            assert one.store.buffer.taken(LOCAL) == 8

    def test_all_are_taken_or_none(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.store.buffer.add([waits(1), waits(2)])
            assert not harness.store.buffer.take([waits(1), waits(7)])
            assert harness.store.buffer.of(LOCAL, "s1") == [waits(1), waits(2)]

    def test_one_reader_at_a_time_leases_a_session(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one, self.hand(tmp_path) as other:
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

    def test_what_waits_goes_with_the_commit_beside_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.store.buffer.add([waits(1)])
            try:
                with harness.store.alone():
                    harness.kept("tea")
                    harness.store.buffer.take([waits(1)])
                    harness.store.buffer.add([waits(2)])
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert harness.store.position() == 0
            assert harness.store.buffer.of(LOCAL, "s1") == [waits(1)]
            with harness.store.trial():
                harness.store.buffer.take([waits(1)])
            assert harness.store.buffer.of(LOCAL, "s1") == [waits(1)]
