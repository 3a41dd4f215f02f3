"""A daemon reads edits and captures, runs dreams when they are due, reports failures once and stops on a signal.

Covers `lamina.engine.background_work` and `lamina.engine.due_work`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina.clock import FixedClock
from lamina.daemon import Daemon, DaemonEvent, DaemonEventType, StopSignal
from lamina.memory import Memory
from lamina.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENTENCES = (
    "The mill grinds on Tuesdays.",
    "The mill sells rye flour.",
    "The mill has two stones.",
    "The mill stands by the weir.",
    "The mill was built of oak.",
)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    settings = Settings(embedder="none", batch_minutes=15, batch_turns=5)
    with lamina.open(tmp_path / "vault", clock=clock, settings=settings, watch=False, background=False) as memory:
        yield memory


class RecordedEvents(list[DaemonEvent]):
    """What a keeper told, by what it was."""

    def of(self, what: DaemonEventType) -> list[str]:
        return [item.text for item in self if item.event_type is what]


def run_daemon(memory: Memory) -> tuple[Daemon, RecordedEvents]:
    recorded_events = RecordedEvents()
    return Daemon(memory, recorded_events.append), recorded_events


def test_a_round_reads_edits_of_files_and_reports_who_made_them(memory: Memory) -> None:
    atom = memory.remember(SENTENCES[0]).outcomes[0].atom
    daemon, result = run_daemon(memory)
    file = memory.root / str(memory.path_of(atom.id))
    file.write_text(file.read_text("utf-8").replace("Tuesdays", "Wednesdays"), "utf-8")
    (memory.root / "inbox").mkdir(exist_ok=True)
    (memory.root / "inbox" / "note.txt").write_text("The miller keeps a heron.\n", "utf-8")
    assert daemon.run_once()
    assert "Wednesdays" in memory.get(atom.id).content
    assert any("heron" in hit.text for hit in memory.recall("what does the miller keep?").hits)
    verbs = {item.facts["verb"] for item in result if item.event_type is DaemonEventType.WRITTEN}
    assert {"inbox"} < verbs
    assert not any(word in item.text for item in result for word in ("Wednesdays", "heron"))


def test_text_is_read_when_it_has_waited_long_enough(memory: Memory, clock: FixedClock) -> None:
    _wait(memory, *(f"Hello number {n}." for n in range(25)))
    daemon, _ = run_daemon(memory)
    daemon.run_once()
    assert memory.waiting() == 0  # the first ones of a scope are read at once
    _wait(memory, "Nothing much today.")
    daemon.run_once()
    assert memory.waiting() == 1
    clock.at += timedelta(minutes=16)
    daemon.run_once()
    assert memory.waiting() == 0


def _wait(memory: Memory, *words: str) -> None:
    """Words kept by a program that went away before it read them."""
    with lamina.open(
        memory.root, clock=memory.engine.clock, settings=memory.settings, watch=False, background=True
    ) as other:
        assert other.engine.background.reading is not None
        other.engine.background.reading.stop()
        other.capture([{"speaker": "Ann", "content": word} for word in words], session_id="late")


def test_a_dream_runs_when_it_is_due_and_not_before(memory: Memory, clock: FixedClock) -> None:
    daemon, result = run_daemon(memory)
    daemon.run_once()
    assert not result.of(DaemonEventType.DREAM)  # where nothing was ever written there is nothing to dream of
    memory.remember_many([{"content": sentence, "subject": "Old Mill"} for sentence in SENTENCES])
    daemon.run_once()
    (first,) = result.of(DaemonEventType.DREAM)
    assert "merge: 1 add" in first
    daemon.run_once()
    clock.at += timedelta(hours=23)
    daemon.run_once()
    assert len(result.of(DaemonEventType.DREAM)) == 1
    clock.at += timedelta(hours=2)
    daemon.run_once()
    assert len(result.of(DaemonEventType.DREAM)) == 2


def test_three_captures_that_were_read_make_a_dream_due(memory: Memory) -> None:
    memory.remember(SENTENCES[0])
    daemon, result = run_daemon(memory)
    daemon.run_once()
    for n in range(3):
        assert len(result.of(DaemonEventType.DREAM)) == 1
        memory.capture([{"speaker": "Ann", "content": f"I live in the house number {n}."}], session_id=f"s{n}")
        daemon.run_once()
    assert len(result.of(DaemonEventType.DREAM)) == 2


def test_its_own_dreams_are_not_reported_again_as_commits(memory: Memory) -> None:
    memory.remember_many([{"content": sentence, "subject": "Old Mill"} for sentence in SENTENCES])
    daemon, result = run_daemon(memory)
    daemon.run_once()
    daemon.run_once()
    assert "dream" not in {item.facts.get("verb") for item in result}


def test_an_interrupted_dream_is_due_again_immediately_and_completed_by_the_next(memory: Memory) -> None:
    memory.remember_many([{"content": sentence, "subject": "Old Mill"} for sentence in SENTENCES])
    answers = iter([False])
    report = memory.upkeep.dream(stop=lambda: next(answers, True))
    assert [step.step for step in report.steps] == ["age"]
    assert memory.upkeep.dream_is_due()
    daemon, result = run_daemon(memory)
    daemon.run_once()
    assert "merge: 1 add" in result.of(DaemonEventType.DREAM)[0]
    assert not memory.upkeep.dream_is_due()


def test_an_interrupted_scan_is_repeated(memory: Memory) -> None:
    """A step that is taken at leisure must not believe it was done because it was stopped."""
    memory.remember_many([{"content": sentence, "subject": "Old Mill"} for sentence in SENTENCES])
    result = iter([False, False])  # before age, before merge; then inside it
    memory.upkeep.dream(stop=lambda: next(result, True))
    assert "merge: 1 add" in [step.summary for step in memory.upkeep.dream().steps]


def test_a_failure_is_reported_once_and_blocks_nothing_else(memory: Memory) -> None:
    memory.remember_many([{"content": sentence, "subject": "Old Mill"} for sentence in SENTENCES])
    settings = memory.settings.model_copy(update={"embedder": "minilm", "models_dir": memory.root / "nowhere"})
    with lamina.open(memory.root, clock=memory.engine.clock, settings=settings, watch=False, background=False) as other:
        daemon, result = run_daemon(other)
        assert not daemon.run_once()
        assert not daemon.run_once()
    (trouble,) = result.of(DaemonEventType.TROUBLE)
    assert trouble.startswith("encoding failed and will be retried: ")
    assert result.of(DaemonEventType.DREAM)


def test_a_daemon_stops_on_the_stop_signal_however_long_it_would_sleep(memory: Memory) -> None:
    stop_signal, recorded_events, rested = StopSignal(), RecordedEvents(), threading.Event()

    def tell(happening: DaemonEvent) -> None:
        recorded_events.append(happening)
        if happening.event_type is DaemonEventType.BEGAN:
            rested.set()

    thread = threading.Thread(target=Daemon(memory, tell, stop_signal, round_seconds=3600.0).run)
    thread.start()
    assert rested.wait(30)
    stop_signal.request()
    thread.join(30)
    assert not thread.is_alive()
    assert [item.event_type for item in (recorded_events[0], recorded_events[-1])] == [
        DaemonEventType.BEGAN,
        DaemonEventType.ENDED,
    ]


def test_a_stop_signal_reaches_every_thread_and_stays_set() -> None:
    stop_signal = StopSignal()
    assert not stop_signal.is_requested() and not stop_signal.wait(0.0)
    stop_signal.request()
    assert stop_signal.wait(3600.0) and stop_signal.wait(3600.0) and stop_signal.is_requested()


def test_a_stop_signal_may_be_set_by_a_signal_handler_of_the_waiting_thread() -> None:
    stop_signal = StopSignal()
    before = signal.signal(signal.SIGALRM, lambda number, frame: stop_signal.request())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert stop_signal.wait(30.0)
    finally:
        signal.signal(signal.SIGALRM, before)
