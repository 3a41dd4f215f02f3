"""A vault that is kept: edits, waiting words and dreams are seen to, troubles are told once, and the bell ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina.clock import FixedClock
from lamina.daemon import Daemon, DaemonEvent, DaemonEventType, StopSignal
from lamina.memory import Memory
from lamina.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID = (
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
    with Memory(tmp_path / "vault", clock=clock, settings=settings, watch=False, background=False) as memory:
        yield memory


class Told(list[DaemonEvent]):
    """What a keeper told, by what it was."""

    def of(self, what: DaemonEventType) -> list[str]:
        return [each.text for each in self if each.event_type is what]


def kept(memory: Memory) -> tuple[Daemon, Told]:
    told = Told()
    return Daemon(memory, told.append), told


def test_a_round_takes_in_what_people_did_to_the_files_and_tells_who_did_what(memory: Memory) -> None:
    atom = memory.remember(SAID[0]).outcomes[0].atom
    keeper, told = kept(memory)
    file = memory.root / str(memory.path_of(atom.id))
    file.write_text(file.read_text("utf-8").replace("Tuesdays", "Wednesdays"), "utf-8")
    (memory.root / "inbox").mkdir(exist_ok=True)
    (memory.root / "inbox" / "note.txt").write_text("The miller keeps a heron.\n", "utf-8")
    assert keeper.run_once()
    assert "Wednesdays" in memory.get(atom.id).content
    assert any("heron" in hit.text for hit in memory.recall("what does the miller keep?").hits)
    verbs = {each.facts["verb"] for each in told if each.event_type is DaemonEventType.WRITTEN}
    assert {"inbox"} < verbs
    assert not any(word in each.text for each in told for word in ("Wednesdays", "heron"))


def test_words_are_read_when_they_have_waited_long_enough(memory: Memory, clock: FixedClock) -> None:
    _wait(memory, *(f"Hello number {n}." for n in range(25)))
    keeper, _ = kept(memory)
    keeper.run_once()
    assert memory.waiting() == 0  # the first ones of a scope are read at once
    _wait(memory, "Nothing much today.")
    keeper.run_once()
    assert memory.waiting() == 1
    clock.at += timedelta(minutes=16)
    keeper.run_once()
    assert memory.waiting() == 0


def _wait(memory: Memory, *words: str) -> None:
    """Words kept by a program that went away before it read them."""
    with Memory(memory.root, clock=memory._clock, settings=memory.settings, watch=False, background=True) as other:
        assert other._extraction_worker is not None
        other._extraction_worker.stop()
        other.capture([{"speaker": "Ann", "content": word} for word in words], session_id="late")


def test_a_dream_comes_when_it_is_due_and_not_before(memory: Memory, clock: FixedClock) -> None:
    keeper, told = kept(memory)
    keeper.run_once()
    assert not told.of(DaemonEventType.DREAM)  # where nothing was ever written there is nothing to dream of
    memory.remember_many([{"content": each, "subject": "Old Mill"} for each in SAID])
    keeper.run_once()
    (first,) = told.of(DaemonEventType.DREAM)
    assert "merge: 1 add" in first
    keeper.run_once()
    clock.at += timedelta(hours=23)
    keeper.run_once()
    assert len(told.of(DaemonEventType.DREAM)) == 1
    clock.at += timedelta(hours=2)
    keeper.run_once()
    assert len(told.of(DaemonEventType.DREAM)) == 2


def test_three_captures_that_were_read_make_a_dream_due(memory: Memory) -> None:
    memory.remember(SAID[0])
    keeper, told = kept(memory)
    keeper.run_once()
    for n in range(3):
        assert len(told.of(DaemonEventType.DREAM)) == 1
        memory.capture([{"speaker": "Ann", "content": f"I live in the house number {n}."}], session_id=f"s{n}")
        keeper.run_once()
    assert len(told.of(DaemonEventType.DREAM)) == 2


def test_its_own_dreams_are_not_told_a_second_time_as_commits(memory: Memory) -> None:
    memory.remember_many([{"content": each, "subject": "Old Mill"} for each in SAID])
    keeper, told = kept(memory)
    keeper.run_once()
    keeper.run_once()
    assert "dream" not in {each.facts.get("verb") for each in told}


def test_a_dream_broken_off_is_due_again_at_once_and_the_next_one_ends_it(memory: Memory) -> None:
    memory.remember_many([{"content": each, "subject": "Old Mill"} for each in SAID])
    answers = iter([False])
    report = memory.dream(stop=lambda: next(answers, True))
    assert [step.step for step in report.steps] == ["age"]
    assert memory.dream_is_due()
    keeper, told = kept(memory)
    keeper.run_once()
    assert "merge: 1 add" in told.of(DaemonEventType.DREAM)[0]
    assert not memory.dream_is_due()


def test_what_was_broken_off_while_it_looked_is_looked_at_again(memory: Memory) -> None:
    """A step that is taken at leisure must not believe it was done because it was stopped."""
    memory.remember_many([{"content": each, "subject": "Old Mill"} for each in SAID])
    asked = iter([False, False])  # before age, before merge; then inside it
    memory.dream(stop=lambda: next(asked, True))
    assert "merge: 1 add" in [step.summary for step in memory.dream().steps]


def test_what_fails_is_told_once_and_keeps_nothing_else_from_being_done(memory: Memory) -> None:
    memory.remember_many([{"content": each, "subject": "Old Mill"} for each in SAID])
    settings = memory.settings.model_copy(update={"embedder": "minilm", "models_dir": memory.root / "nowhere"})
    with Memory(memory.root, clock=memory._clock, settings=settings, watch=False, background=False) as other:
        keeper, told = kept(other)
        assert not keeper.run_once()
        assert not keeper.run_once()
    (trouble,) = told.of(DaemonEventType.TROUBLE)
    assert trouble.startswith("encoding failed and will be retried: ")
    assert told.of(DaemonEventType.DREAM)


def test_a_keeper_ends_when_the_bell_rings_however_long_it_would_rest(memory: Memory) -> None:
    bell, told, rested = StopSignal(), Told(), threading.Event()

    def tell(happening: DaemonEvent) -> None:
        told.append(happening)
        if happening.event_type is DaemonEventType.BEGAN:
            rested.set()

    thread = threading.Thread(target=Daemon(memory, tell, bell, round_seconds=3600.0).run)
    thread.start()
    assert rested.wait(30)
    bell.request()
    thread.join(30)
    assert not thread.is_alive()
    assert [each.event_type for each in (told[0], told[-1])] == [DaemonEventType.BEGAN, DaemonEventType.ENDED]


def test_a_bell_is_heard_by_everybody_and_for_good() -> None:
    bell = StopSignal()
    assert not bell.is_requested() and not bell.wait(0.0)
    bell.request()
    assert bell.wait(3600.0) and bell.wait(3600.0) and bell.is_requested()


def test_a_bell_may_be_rung_by_a_signal_while_its_own_thread_waits() -> None:
    bell = StopSignal()
    before = signal.signal(signal.SIGALRM, lambda number, frame: bell.request())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert bell.wait(30.0)
    finally:
        signal.signal(signal.SIGALRM, before)
