"""Passages are encoded once, by one process at a time, whatever happens to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
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
from lamina.testing.store_harness import count_missing, coverage
from lamina.testing.stored_encodings import commit_segment
from lamina.testing.vector_reference import WIDTH, make_states, make_vectors

PROCESSES = multiprocessing.get_context("spawn")
LONG = 60.0
"""Seconds to wait for what happens in another thread or process before the test fails."""


class RandomEmbedder:
    """A small embedder that tells what it was shown before it answers, and that can be made to fail."""

    def __init__(
        self,
        result: Callable[[Sequence[TextToEncode]], None] = lambda pieces: None,
        model: str = "dice",
        states: TokenStates = TokenStates.NONE,
    ) -> None:
        self._shown = result
        self.model = EmbeddingModel(model, WIDTH, states)

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        self._shown(pieces)
        return [EncodedText(make_vectors(piece.text), make_states(piece.text).data) for piece in pieces]

    def encode_question(self, text: str) -> EncodedQuestion:
        return EncodedQuestion(make_vectors(text)[0], np.empty((0, 0), dtype=np.float32), ())


@contextmanager
def open_store(folder: Path, clock: Clock | None = None) -> Iterator[SqliteStore]:
    store = SqliteStore(folder, clock or SystemClock())
    try:
        yield store
    finally:
        store.close()


def fill_store(folder: Path, count: int) -> set[str]:
    """A store with so many facts; returns their texts."""
    texts = {f"fact number {n}" for n in range(count)}
    with open_store(folder, FixedClock(NOON)) as store:
        harness = StoreHarness(store, FixedClock(NOON))
        harness.commit(*[harness.new_atom(text) for text in sorted(texts)])
    return texts


def never_stop() -> bool:
    return False


# Here


@pytest.mark.skipif(not find_light_files(), reason="the package wordllama is not installed")
def test_missing_passages_are_encoded_by_a_real_model_and_none_twice(tmp_path: Path) -> None:
    fill_store(tmp_path, 70)
    result: list[tuple[str, int, int]] = []
    embedder = WordLlama()
    with open_store(tmp_path) as store:
        assert encode_up_to(store, embedder, 10) == 10
        assert encode_all(store, embedder, never_stop, lambda *progress: result.append(progress)) == 60
        assert encode_all(store, embedder, never_stop) == encode_up_to(store, embedder, 10) == 0
        assert coverage(store, embedder.model.id, [LOCAL]) == (70, 70)
        (job,) = store.queue.list_jobs()
        assert (job.holder, job.done, job.total, job.error) == ("", 60, 60, "")
        assert job.finished_at is not None
    assert result[-1][1:] == (60, 60)
    assert [actual for _, actual, _ in result] == sorted(actual for _, actual, _ in result)


def test_less_is_read_of_an_assistants_answer(tmp_path: Path) -> None:
    fields: dict[str, int] = {}
    with open_store(tmp_path, FixedClock(NOON)) as store:
        harness = StoreHarness(store, FixedClock(NOON))
        commit_segment(harness, "an answer", speaker="assistant")
        commit_segment(harness, "a question", speaker="Ann", session="t")
        encode_all(
            store,
            RandomEmbedder(lambda pieces: fields.update({piece.text: piece.chunks for piece in pieces})),
            never_stop,
        )
    assert fields == {"an answer": MAX_PART_CHUNKS, "a question": MAX_CHUNKS}


def test_a_stopped_worker_ends_and_releases_the_lease(tmp_path: Path) -> None:
    fill_store(tmp_path, 50)
    batches: list[int] = []
    embedder = RandomEmbedder(lambda pieces: batches.append(len(pieces)))
    with open_store(tmp_path) as store:
        result = encode_all(store, embedder, lambda: len(batches) == 2)
        assert len(batches) == 2
        assert result == sum(batches) < 50
        assert [job.holder for job in store.queue.list_jobs()] == [""]
        assert encode_all(store, embedder, never_stop) == 50 - result


def test_a_failure_is_reported_by_the_job_and_releases_the_lease(tmp_path: Path) -> None:
    fill_store(tmp_path, 50)
    result: list[int] = []

    def fail(pieces: Sequence[TextToEncode]) -> None:
        if result:
            raise ModelUnreachable("nobody answers")
        result.append(len(pieces))

    with open_store(tmp_path) as store:
        with pytest.raises(ModelError, match="nobody answers"):
            encode_all(store, RandomEmbedder(fail), never_stop)
        (job,) = store.queue.list_jobs()
        assert (job.holder, job.error, job.done) == ("", "nobody answers", result[0])
        assert encode_all(store, RandomEmbedder(), never_stop) == 50 - result[0]
        assert [job.error for job in store.queue.list_jobs()] == [""]


def test_a_worker_that_lost_the_lease_stops_after_the_current_batch(tmp_path: Path) -> None:
    fill_store(tmp_path, 50)
    clock = FixedClock(NOON)
    with open_store(tmp_path, clock) as store, open_store(tmp_path, clock) as other:

        def lose(pieces: Sequence[TextToEncode]) -> None:
            clock.at += timedelta(seconds=LEASE_SECONDS)
            assert other.queue.lease("encode dice", "somebody", LEASE_SECONDS)

        result = encode_all(store, RandomEmbedder(lose), never_stop)
        assert 0 < result < 50
        (job,) = store.queue.list_jobs()
        assert (job.holder, job.error, job.finished_at) == ("somebody", "", None)


# In several processes


def _encode_and_report(folder: Path, path: Path, ready: object, go: object) -> None:
    def result(pieces: Sequence[TextToEncode]) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{piece.text}\n" for piece in pieces)

    with open_store(folder) as store:
        ready.release()  # type: ignore[attr-defined]
        go.wait(LONG)  # type: ignore[attr-defined]
        encode_all(store, RandomEmbedder(result), never_stop)


def test_of_two_processes_one_encodes_and_nothing_is_encoded_twice(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    texts = fill_store(vault, 3000)
    ready, go = PROCESSES.Semaphore(0), PROCESSES.Event()
    actual = [tmp_path / f"told-{n}" for n in range(2)]
    workers = [PROCESSES.Process(target=_encode_and_report, args=(vault, item, ready, go)) for item in actual]
    for worker in workers:
        worker.start()
    for _ in workers:
        assert ready.acquire(timeout=LONG)
    go.set()
    for worker in workers:
        worker.join(LONG)
        assert worker.exitcode == 0
    result = [line for item in actual if item.exists() for line in item.read_text(encoding="utf-8").splitlines()]
    assert sorted(result) == sorted(texts)
    with open_store(vault) as store:
        assert count_missing(store.passages.encodings, "dice") == 0
        assert store.passages.encodings.count().encoded == {"dice": len(texts)}


def _encode_until_killed(folder: Path, holds: object) -> None:
    def hang(pieces: Sequence[TextToEncode]) -> None:
        holds.set()  # type: ignore[attr-defined]
        threading.Event().wait()

    with open_store(folder) as store:
        encode_all(store, RandomEmbedder(hang), never_stop)


def test_a_killed_worker_blocks_no_one_longer_than_its_lease(tmp_path: Path) -> None:
    texts = fill_store(tmp_path, 20)
    holds = PROCESSES.Event()
    worker = PROCESSES.Process(target=_encode_until_killed, args=(tmp_path, holds))
    worker.start()
    assert holds.wait(LONG)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join(LONG)
    clock = FixedClock(SystemClock().now())
    with open_store(tmp_path, clock) as store:
        (job,) = store.queue.list_jobs()
        assert job.holder
        assert job.until is not None
        assert job.until <= clock.at + timedelta(seconds=LEASE_SECONDS)
        assert encode_all(store, RandomEmbedder(), never_stop) == 0
        clock.at = job.until
        assert encode_all(store, RandomEmbedder(), never_stop) == len(texts)


# In the background


@contextmanager
def background(store: SqliteStore, embedder: Embedder) -> Iterator[EncodingWorker]:
    thread = EncodingWorker(store, lambda: [embedder])
    try:
        yield thread
    finally:
        thread.stop()


def test_a_thread_encodes_on_notification_and_ends_when_stopped(tmp_path: Path) -> None:
    fill_store(tmp_path, 5)
    result: set[str] = set()
    semaphore = threading.Semaphore(0)

    def show(pieces: Sequence[TextToEncode]) -> None:
        result.update(piece.text for piece in pieces)
        semaphore.release()

    clock = FixedClock(NOON)
    before = threading.active_count()
    with open_store(tmp_path, clock) as store, background(store, RandomEmbedder(show)) as thread:
        assert threading.active_count() == before
        thread.wake()
        assert semaphore.acquire(timeout=LONG)
        harness = StoreHarness(store, clock)
        harness.add("one more")
        thread.wake()
        assert semaphore.acquire(timeout=LONG)
        assert "one more" in result
        thread.stop()
        assert threading.active_count() == before
        harness.add("too late")
        thread.wake()
        assert threading.active_count() == before
        assert count_missing(store.passages.encodings, "dice") == 1


def test_a_thread_that_never_started_is_stopped_immediately(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        worker = EncodingWorker(store, lambda: [RandomEmbedder()])
        started = time.monotonic()
        worker.stop()
        assert time.monotonic() - started < 5


def test_stopping_waits_for_the_current_batch_only(tmp_path: Path) -> None:
    fill_store(tmp_path, 500)
    begun, go_on = threading.Event(), threading.Event()
    batches: list[int] = []

    def hold(pieces: Sequence[TextToEncode]) -> None:
        batches.append(len(pieces))
        begun.set()
        assert go_on.wait(LONG)

    with open_store(tmp_path) as store, background(store, RandomEmbedder(hold)) as thread:
        thread.wake()
        assert begun.wait(LONG)
        stopping = threading.Thread(target=thread.stop)
        stopping.start()
        go_on.set()
        stopping.join(LONG)
        assert not stopping.is_alive()
        assert len(batches) == 1
        assert count_missing(store.passages.encodings, "dice") == 500 - batches[0]
        assert [job.holder for job in store.queue.list_jobs()] == [""]


def test_a_failing_model_is_retried(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill_store(tmp_path, 5)
    tries, done_event = iter(range(100)), threading.Event()

    def fail_once(pieces: Sequence[TextToEncode]) -> None:
        if next(tries) == 0:
            raise ModelUnreachable("nobody answers")
        done_event.set()

    with open_store(tmp_path) as store, background(store, RandomEmbedder(fail_once)) as thread:
        thread.wake()
        assert done_event.wait(LONG)
        thread.stop()
        assert count_missing(store.passages.encodings, "dice") == 0
    assert "encoding failed and will be retried: ModelUnreachable" in caplog.text


def test_a_thread_waiting_to_retry_stops_immediately(tmp_path: Path) -> None:
    fill_store(tmp_path, 5)
    failed = threading.Event()

    def fail(pieces: Sequence[TextToEncode]) -> None:
        failed.set()
        raise ModelUnreachable("nobody answers")

    with open_store(tmp_path) as store:
        thread = EncodingWorker(store, lambda: [RandomEmbedder(fail)])
        thread.wake()
        assert failed.wait(LONG)
        thread.stop()
        assert count_missing(store.passages.encodings, "dice") == 5


def test_unfinished_work_of_another_process_is_done_after_its_lease_expired(tmp_path: Path) -> None:
    fill_store(tmp_path, 5)
    refused, done_event = threading.Event(), threading.Event()
    clock = FixedClock(NOON)
    with open_store(tmp_path, clock) as store:
        assert store.queue.lease("encode dice", "the dead", LEASE_SECONDS)

        def embedders() -> list[Embedder]:
            if refused.is_set():
                clock.at = NOON + timedelta(seconds=LEASE_SECONDS)
            refused.set()
            return [RandomEmbedder(lambda pieces: done_event.set())]

        thread = EncodingWorker(store, embedders, retry_seconds=0.01)
        thread.wake()
        assert done_event.wait(LONG)
        thread.stop()
        assert count_missing(store.passages.encodings, "dice") == 0


# Another model, another packing


def old_and_new(folder: Path) -> tuple[RandomEmbedder, RandomEmbedder]:
    """A store that one model has read, and another model beside it."""
    fill_store(folder, 20)
    old, new = RandomEmbedder(model="old"), RandomEmbedder(model="new")
    with open_store(folder) as store:
        encode_all(store, old, never_stop)
    return old, new


def test_vectors_of_the_old_model_are_dropped_once_the_new_one_has_encoded_everything(tmp_path: Path) -> None:
    _, new = old_and_new(tmp_path)
    done_event = threading.Event()
    with open_store(tmp_path) as store:

        def embedders() -> list[Embedder]:
            if not count_missing(store.passages.encodings, "new"):
                done_event.set()
            return [new]

        thread = EncodingWorker(store, embedders)
        thread.wake()
        while not done_event.wait(0.01):
            thread.wake()
        thread.stop()
        assert store.passages.encodings.count().encoded == {"new": 20}
        assert [job.name for job in store.queue.list_jobs() if job.holder] == []


def test_both_models_are_kept_until_the_new_one_has_encoded_everything(tmp_path: Path) -> None:
    old, _ = old_and_new(tmp_path)
    batches: list[int] = []
    new = RandomEmbedder(lambda pieces: batches.append(len(pieces)), "new")
    with open_store(tmp_path) as store:
        encode_with_all(store, [new], lambda: bool(batches))
        assert store.passages.encodings.count().encoded == {"new": batches[0], "old": 20}
        encode_with_all(store, [old, new], never_stop)
        assert store.passages.encodings.count().encoded == {"new": 20, "old": 20}
        encode_with_all(store, [new], never_stop)
        assert store.passages.encodings.count().encoded == {"new": 20}


def test_a_model_another_process_is_encoding_with_is_kept(tmp_path: Path) -> None:
    _, new = old_and_new(tmp_path)
    with open_store(tmp_path) as store:
        assert store.queue.lease("encode old", "somebody", LEASE_SECONDS)
        encode_with_all(store, [new], never_stop)
        assert store.passages.encodings.count().encoded == {"new": 20, "old": 20}
        store.queue.release("encode old", "somebody")
        encode_with_all(store, [new], never_stop)
        assert store.passages.encodings.count().encoded == {"new": 20}


def test_static_vectors_and_no_model_replace_no_other_model(tmp_path: Path) -> None:
    old_and_new(tmp_path)
    with open_store(tmp_path) as store:
        encode_with_all(store, [RandomEmbedder(model="static", states=TokenStates.PIECES)], never_stop)
        encode_with_all(store, [], never_stop)
        assert store.passages.encodings.count().encoded == {"old": 20, "static": 20}


def test_a_new_packing_encodes_every_text_again_and_keeps_the_vectors(tmp_path: Path) -> None:
    fill_store(tmp_path, 20)
    result: list[str] = []
    with open_store(tmp_path) as store:
        encode_all(store, RandomEmbedder(states=TokenStates.SIGNS), never_stop)
        fine = RandomEmbedder(lambda pieces: result.extend(piece.text for piece in pieces), states=TokenStates.NIBBLES)
        assert encode_up_to(store, fine, 5) == 5
        assert coverage(store, "dice", [LOCAL]) == (20, 20)
        assert encode_with_all(store, [fine], never_stop) == 15
        assert len(set(result)) == len(result) == 20
        assert encode_with_all(store, [fine], never_stop) == 0
        assert store.passages.encodings.count().encoded == {"dice": 20}
