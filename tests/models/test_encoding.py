"""Passages are encoded once, by one process at a time, whatever happens to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lamina.clock import Clock, FixedClock, SystemClock
from lamina.models.embedder import Embedder, EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.encoding_worker import (
    LEASE_SECONDS,
    MAX_CHUNKS,
    MAX_PART_CHUNKS,
    EncodingWorker,
    encode_all,
    encode_up_to,
    encode_with_all,
)
from lamina.models.errors import ModelError, ModelUnreachable
from lamina.models.light_embedder import WordLlama, find_light_files
from lamina.store.sqlite import SqliteStore
from lamina.testing import LOCAL, NOON, StoreHarness
from lamina.testing.stored_encodings import commit_segment
from lamina.testing.vector_reference import WIDTH, make_states, make_vectors

PROCESSES = multiprocessing.get_context("spawn")
LONG = 60.0
"""Seconds to wait for what happens in another thread or process before the test fails."""


class Dice:
    """A small embedder that tells what it was shown before it answers, and that can be made to fail."""

    def __init__(
        self,
        shown: Callable[[Sequence[TextToEncode]], None] = lambda pieces: None,
        model: str = "dice",
        states: TokenStates = TokenStates.NONE,
    ) -> None:
        self._shown = shown
        self.model = EmbeddingModel(model, WIDTH, states)

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        self._shown(pieces)
        return [EncodedText(make_vectors(piece.text), make_states(piece.text).data) for piece in pieces]

    def encode_question(self, text: str) -> EncodedQuestion:
        return EncodedQuestion(make_vectors(text)[0], np.empty((0, 0), dtype=np.float32), ())


@contextmanager
def opened(folder: Path, clock: Clock | None = None) -> Iterator[SqliteStore]:
    store = SqliteStore(folder, clock or SystemClock())
    try:
        yield store
    finally:
        store.close()


def filled(folder: Path, count: int) -> set[str]:
    """A store with so many facts; returns their texts."""
    texts = {f"fact number {n}" for n in range(count)}
    with opened(folder, FixedClock(NOON)) as store:
        hand = StoreHarness(store, FixedClock(NOON))
        hand.commit(*[hand.new_atom(text) for text in sorted(texts)])
    return texts


def never() -> bool:
    return False


# Here


@pytest.mark.skipif(not find_light_files(), reason="the package wordllama is not installed")
def test_what_is_missing_is_encoded_by_a_real_model_and_nothing_twice(tmp_path: Path) -> None:
    filled(tmp_path, 70)
    told: list[tuple[str, int, int]] = []
    embedder = WordLlama()
    with opened(tmp_path) as store:
        assert encode_up_to(store, embedder, 10) == 10
        assert encode_all(store, embedder, never, lambda *progress: told.append(progress)) == 60
        assert encode_all(store, embedder, never) == encode_up_to(store, embedder, 10) == 0
        assert store.encodings.coverage(embedder.model.id, [LOCAL]) == (70, 70)
        (job,) = store.jobs.list()
        assert (job.holder, job.done, job.total, job.error) == ("", 60, 60, "")
        assert job.finished_at is not None
    assert told[-1][1:] == (60, 60)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_of_a_machine_s_answer_less_is_read(tmp_path: Path) -> None:
    shown: dict[str, int] = {}
    with opened(tmp_path, FixedClock(NOON)) as store:
        hand = StoreHarness(store, FixedClock(NOON))
        commit_segment(hand, "an answer", speaker="assistant")
        commit_segment(hand, "a question", speaker="Ann", session="t")
        encode_all(store, Dice(lambda pieces: shown.update({piece.text: piece.chunks for piece in pieces})), never)
    assert shown == {"an answer": MAX_PART_CHUNKS, "a question": MAX_CHUNKS}


def test_who_is_told_to_stop_does_and_leaves_the_lease_to_others(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    batches: list[int] = []
    embedder = Dice(lambda pieces: batches.append(len(pieces)))
    with opened(tmp_path) as store:
        done = encode_all(store, embedder, lambda: len(batches) == 2)
        assert len(batches) == 2
        assert done == sum(batches) < 50
        assert [job.holder for job in store.jobs.list()] == [""]
        assert encode_all(store, embedder, never) == 50 - done


def test_a_failure_is_told_by_the_job_and_gives_the_lease_back(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    seen: list[int] = []

    def fail(pieces: Sequence[TextToEncode]) -> None:
        if seen:
            raise ModelUnreachable("nobody answers")
        seen.append(len(pieces))

    with opened(tmp_path) as store:
        with pytest.raises(ModelError, match="nobody answers"):
            encode_all(store, Dice(fail), never)
        (job,) = store.jobs.list()
        assert (job.holder, job.error, job.done) == ("", "nobody answers", seen[0])
        assert encode_all(store, Dice(), never) == 50 - seen[0]
        assert [job.error for job in store.jobs.list()] == [""]


def test_who_lost_the_lease_stops_after_the_batch_at_hand(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as store, opened(tmp_path, clock) as other:

        def lose(pieces: Sequence[TextToEncode]) -> None:
            clock.at += timedelta(seconds=LEASE_SECONDS)
            assert other.jobs.acquire("encode dice", "somebody", LEASE_SECONDS)

        done = encode_all(store, Dice(lose), never)
        assert 0 < done < 50
        (job,) = store.jobs.list()
        assert (job.holder, job.error, job.finished_at) == ("somebody", "", None)


# In several processes


def _encode_and_tell(folder: Path, told: Path, ready: object, go: object) -> None:
    def shown(pieces: Sequence[TextToEncode]) -> None:
        with told.open("a", encoding="utf-8") as file:
            file.writelines(f"{piece.text}\n" for piece in pieces)

    with opened(folder) as store:
        ready.release()  # type: ignore[attr-defined]
        go.wait(LONG)  # type: ignore[attr-defined]
        encode_all(store, Dice(shown), never)


def test_of_two_processes_one_encodes_and_nothing_is_encoded_twice(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    texts = filled(vault, 3000)
    ready, go = PROCESSES.Semaphore(0), PROCESSES.Event()
    told = [tmp_path / f"told-{n}" for n in range(2)]
    workers = [PROCESSES.Process(target=_encode_and_tell, args=(vault, each, ready, go)) for each in told]
    for worker in workers:
        worker.start()
    for _ in workers:
        assert ready.acquire(timeout=LONG)
    go.set()
    for worker in workers:
        worker.join(LONG)
        assert worker.exitcode == 0
    shown = [line for each in told if each.exists() for line in each.read_text(encoding="utf-8").splitlines()]
    assert sorted(shown) == sorted(texts)
    with opened(vault) as store:
        assert store.encodings.count_missing("dice") == 0
        assert store.encodings.count_by_model() == {"dice": len(texts)}


def _encode_until_killed(folder: Path, holds: object) -> None:
    def hang(pieces: Sequence[TextToEncode]) -> None:
        holds.set()  # type: ignore[attr-defined]
        threading.Event().wait()

    with opened(folder) as store:
        encode_all(store, Dice(hang), never)


def test_a_killed_worker_blocks_nobody_longer_than_its_lease(tmp_path: Path) -> None:
    texts = filled(tmp_path, 20)
    holds = PROCESSES.Event()
    worker = PROCESSES.Process(target=_encode_until_killed, args=(tmp_path, holds))
    worker.start()
    assert holds.wait(LONG)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join(LONG)
    clock = FixedClock(SystemClock().now())
    with opened(tmp_path, clock) as store:
        (job,) = store.jobs.list()
        assert job.holder.startswith(f"{worker.pid}-")
        assert job.until is not None
        assert job.until <= clock.at + timedelta(seconds=LEASE_SECONDS)
        assert encode_all(store, Dice(), never) == 0
        clock.at = job.until
        assert encode_all(store, Dice(), never) == len(texts)


# In the background


@contextmanager
def background(store: SqliteStore, embedder: Embedder) -> Iterator[EncodingWorker]:
    thread = EncodingWorker(store, lambda: [embedder])
    try:
        yield thread
    finally:
        thread.stop()


def test_a_thread_encodes_what_it_is_told_of_and_ends_when_it_is_stopped(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    shown: set[str] = set()
    done = threading.Semaphore(0)

    def show(pieces: Sequence[TextToEncode]) -> None:
        shown.update(piece.text for piece in pieces)
        done.release()

    clock = FixedClock(NOON)
    before = threading.active_count()
    with opened(tmp_path, clock) as store, background(store, Dice(show)) as thread:
        assert threading.active_count() == before
        thread.wake()
        assert done.acquire(timeout=LONG)
        hand = StoreHarness(store, clock)
        hand.add("one more")
        thread.wake()
        assert done.acquire(timeout=LONG)
        assert "one more" in shown
        thread.stop()
        assert threading.active_count() == before
        hand.add("too late")
        thread.wake()
        assert threading.active_count() == before
        assert store.encodings.count_missing("dice") == 1


def test_a_thread_that_never_started_is_stopped_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        EncodingWorker(store, lambda: [Dice()]).stop()


def test_stopping_waits_for_the_batch_at_hand_and_not_for_the_rest(tmp_path: Path) -> None:
    filled(tmp_path, 500)
    begun, go_on = threading.Event(), threading.Event()
    batches: list[int] = []

    def hold(pieces: Sequence[TextToEncode]) -> None:
        batches.append(len(pieces))
        begun.set()
        assert go_on.wait(LONG)

    with opened(tmp_path) as store, background(store, Dice(hold)) as thread:
        thread.wake()
        assert begun.wait(LONG)
        stopping = threading.Thread(target=thread.stop)
        stopping.start()
        go_on.set()
        stopping.join(LONG)
        assert not stopping.is_alive()
        assert len(batches) == 1
        assert store.encodings.count_missing("dice") == 500 - batches[0]
        assert [job.holder for job in store.jobs.list()] == [""]


def test_a_model_that_fails_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(tmp_path, 5)
    tries, done = iter(range(100)), threading.Event()

    def fail_once(pieces: Sequence[TextToEncode]) -> None:
        if next(tries) == 0:
            raise ModelUnreachable("nobody answers")
        done.set()

    with opened(tmp_path) as store, background(store, Dice(fail_once)) as thread:
        thread.wake()
        assert done.wait(LONG)
        thread.stop()
        assert store.encodings.count_missing("dice") == 0
    assert "encoding failed and will be retried: ModelUnreachable" in caplog.text


def test_a_thread_that_waits_after_a_failure_still_stops_at_once(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    failed = threading.Event()

    def fail(pieces: Sequence[TextToEncode]) -> None:
        failed.set()
        raise ModelUnreachable("nobody answers")

    with opened(tmp_path) as store:
        thread = EncodingWorker(store, lambda: [Dice(fail)])
        thread.wake()
        assert failed.wait(LONG)
        thread.stop()
        assert store.encodings.count_missing("dice") == 5


def test_what_another_process_left_undone_is_done_when_its_lease_has_run_out(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    refused, done = threading.Event(), threading.Event()
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as store:
        assert store.jobs.acquire("encode dice", "the dead", LEASE_SECONDS)

        def embedders() -> list[Embedder]:
            if refused.is_set():
                clock.at = NOON + timedelta(seconds=LEASE_SECONDS)
            refused.set()
            return [Dice(lambda pieces: done.set())]

        thread = EncodingWorker(store, embedders, retry_seconds=0.01)
        thread.wake()
        assert done.wait(LONG)
        thread.stop()
        assert store.encodings.count_missing("dice") == 0


# Another model, another packing


def old_and_new(folder: Path) -> tuple[Dice, Dice]:
    """A store that one model has read, and another model beside it."""
    filled(folder, 20)
    old, new = Dice(model="old"), Dice(model="new")
    with opened(folder) as store:
        encode_all(store, old, never)
    return old, new


def test_a_thread_drops_what_the_old_model_made_when_the_new_one_has_read_everything(tmp_path: Path) -> None:
    _, new = old_and_new(tmp_path)
    done = threading.Event()
    with opened(tmp_path) as store:

        def embedders() -> list[Embedder]:
            if not store.encodings.count_missing("new"):
                done.set()
            return [new]

        thread = EncodingWorker(store, embedders)
        thread.wake()
        while not done.wait(0.01):
            thread.wake()
        thread.stop()
        assert store.encodings.count_by_model() == {"new": 20}
        assert [job.name for job in store.jobs.list() if job.holder] == []


def test_both_models_live_until_the_new_one_has_read_everything(tmp_path: Path) -> None:
    old, _ = old_and_new(tmp_path)
    batches: list[int] = []
    new = Dice(lambda pieces: batches.append(len(pieces)), "new")
    with opened(tmp_path) as store:
        encode_with_all(store, [new], lambda: bool(batches))
        assert store.encodings.count_by_model() == {"new": batches[0], "old": 20}
        encode_with_all(store, [old, new], never)
        assert store.encodings.count_by_model() == {"new": 20, "old": 20}
        encode_with_all(store, [new], never)
        assert store.encodings.count_by_model() == {"new": 20}


def test_a_model_that_somebody_else_encodes_with_at_this_moment_is_left_alone(tmp_path: Path) -> None:
    _, new = old_and_new(tmp_path)
    with opened(tmp_path) as store:
        assert store.jobs.acquire("encode old", "somebody", LEASE_SECONDS)
        encode_with_all(store, [new], never)
        assert store.encodings.count_by_model() == {"new": 20, "old": 20}
        store.jobs.release("encode old", "somebody")
        encode_with_all(store, [new], never)
        assert store.encodings.count_by_model() == {"new": 20}


def test_static_vectors_and_no_model_at_all_replace_nobody(tmp_path: Path) -> None:
    old_and_new(tmp_path)
    with opened(tmp_path) as store:
        encode_with_all(store, [Dice(model="static", states=TokenStates.PIECES)], never)
        encode_with_all(store, [], never)
        assert store.encodings.count_by_model() == {"old": 20, "static": 20}


def test_a_new_packing_has_every_text_read_again_and_the_vectors_stay(tmp_path: Path) -> None:
    filled(tmp_path, 20)
    shown: list[str] = []
    with opened(tmp_path) as store:
        encode_all(store, Dice(states=TokenStates.SIGNS), never)
        fine = Dice(lambda pieces: shown.extend(piece.text for piece in pieces), states=TokenStates.NIBBLES)
        assert encode_up_to(store, fine, 5) == 5
        assert store.encodings.coverage("dice", [LOCAL]) == (20, 20)
        assert encode_with_all(store, [fine], never) == 15
        assert len(set(shown)) == len(shown) == 20
        assert encode_with_all(store, [fine], never) == 0
        assert store.encodings.count_by_model() == {"dice": 20}
