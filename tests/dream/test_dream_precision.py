"""After the steps of a dream: what fades is kept in fewer bits, what warms up in more, and no text is lost by it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import BEGINS, DAY, THINGS

from lamina import FixedClock, Memory, Settings
from lamina.atom.identity import AtomId
from lamina.dream.precision import describe_changes
from lamina.dream.report import DreamReport
from lamina.dream.steps import NIGHTLY, STEPS
from lamina.models.light_embedder import find_light_files
from lamina.store.encodings import EncodingSizes, PrecisionChange

pytestmark = pytest.mark.skipif(not find_light_files(), reason="the light model is not installed")


def opened(root: Path, clock: FixedClock) -> Memory:
    return Memory(root, clock=clock, watch=False, settings=Settings(embedder="light", background=False, watch=False))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(BEGINS)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with opened(tmp_path / "vault", clock) as found:
        yield found


def say(memory: Memory, n: int, *words: str) -> AtomId:
    """One session of somebody's words; returns the atom that keeps them."""
    said = [{"speaker": "Ann", "content": word} for word in words]
    return memory.capture(said, session_id=f"s{n}").outcomes[0].atom.id


def sleep(memory: Memory, clock: FixedClock, days: float) -> DreamReport:
    """Some days go by, somebody looks in, and the memory dreams."""
    clock.at += timedelta(days=days)
    memory.remember(f"Somebody looked in at {clock.at:%Y-%m-%d %H:%M:%S}.", kind="fact")
    memory.embed()
    return memory.dream(yes=True)


def bits(memory: Memory, atom_id: AtomId) -> int:
    return memory._store.ageing_states.get([atom_id])[atom_id].bits


def kept(memory: Memory, atom_id: AtomId) -> int:
    model = memory.models.light
    assert model is not None
    found = memory._store.encodings.coarse_vectors(model.model.id, [(atom_id, 1)])
    return found[atom_id, 1][0] if found else 32


def room(memory: Memory) -> EncodingSizes:
    return memory._store.encodings.sizes()


def notes(report: DreamReport) -> list[str]:
    return [note for step in report.steps if step.step == "precision" for note in step.notes]


def test_it_comes_last_in_every_night_and_whenever_it_is_asked_for() -> None:
    assert list(STEPS)[-1] == list(NIGHTLY)[-1] == "precision"


def test_words_nobody_uses_are_kept_in_fewer_and_fewer_bits_and_their_states_go(
    memory: Memory, clock: FixedClock
) -> None:
    old = say(memory, 1, f"The {THINGS[0]} lies in the attic.", f"The {THINGS[1]} hangs in the hall.")
    memory.embed()
    assert room(memory).vectors.keys() == {32} and room(memory).states[0] == room(memory).vectors[32][0]
    seen = [32]
    for _ in range(40):
        sleep(memory, clock, 10)
        memory.embed()
        assert kept(memory, old) == bits(memory, old)
        seen.append(kept(memory, old))
    assert seen == sorted(seen, reverse=True) and {32, 4, 2} <= set(seen)
    assert len(memory.recall(f"where is the {THINGS[0]}?").hits) > 0


def test_what_is_used_again_is_whole_again_with_its_states(memory: Memory, clock: FixedClock) -> None:
    old = say(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    sleep(memory, clock, 400)
    memory.embed()
    assert kept(memory, old) == 2
    states = room(memory).states[0]
    memory.cite([old])
    sleep(memory, clock, 1)
    assert bits(memory, old) == 32 and kept(memory, old) == 2
    memory.embed()
    assert kept(memory, old) == 32 and room(memory).states[0] > states + 1


def test_pinned_words_stay_whole(memory: Memory, clock: FixedClock) -> None:
    pinned, other = say(memory, 1, "The pinned marble is blue."), say(memory, 2, "The other marble is green.")
    memory.pin(pinned)
    memory.embed()
    sleep(memory, clock, 900)
    assert (kept(memory, pinned), kept(memory, other)) == (32, 2)


def test_a_clock_that_jumps_ages_nothing_that_nobody_could_have_used(memory: Memory, clock: FixedClock) -> None:
    old = say(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    clock.at += 900 * DAY
    assert notes(memory.dream(yes=True)) == [] and kept(memory, old) == 32


def test_a_dry_run_tells_what_it_would_do_and_does_nothing(memory: Memory, clock: FixedClock) -> None:
    for n in range(6):
        say(memory, n, f"The {THINGS[n]} lies in the attic.", f"Nobody needs a {THINGS[n]}.")
    memory.embed()
    clock.at += 900 * DAY
    say(memory, 9, "Somebody looked in.")
    memory.embed()
    before = room(memory)
    (would,) = notes(memory.dream(dry_run=True, yes=True))
    assert room(memory) == before and "vectors to 2 bits; token states of " in would
    assert notes(memory.dream(yes=True)) == [would]
    assert room(memory).vectors[2][0] >= 12 and room(memory).states[0] < before.states[0]


def test_dreaming_twice_changes_not_a_byte_of_it(memory: Memory, clock: FixedClock) -> None:
    say(memory, 1, f"The {THINGS[0]} lies in the attic.")
    sleep(memory, clock, 400)
    memory.embed()
    before = room(memory)
    again = memory.dream(yes=True)
    assert notes(again) == [] and room(memory) == before and memory.embed() == 0


def test_what_it_does_is_no_commit(memory: Memory, clock: FixedClock) -> None:
    say(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    clock.at += 400 * DAY
    say(memory, 2, "Somebody looked in.")
    memory.dream(["age"], yes=True)
    at = memory._store.position()
    assert notes(memory.dream(["precision"])) and memory._store.position() == at


def test_a_lost_index_comes_back_with_the_same_bits(tmp_path: Path, clock: FixedClock) -> None:
    with opened(tmp_path / "vault", clock) as memory:
        for n in range(5):
            say(memory, n, f"The {THINGS[n]} lies in the attic.")
            sleep(memory, clock, 30)
            memory.embed()
        before, state = room(memory), memory.state
        assert len(before.vectors) > 2
    for suffix in ("", "-wal", "-shm"):
        (state / f"index.db{suffix}").unlink(missing_ok=True)
    with opened(tmp_path / "vault", clock) as memory:
        memory.embed()
        assert room(memory) == before
        memory.rebuild()
        assert room(memory) == before and memory.embed() == 0


def test_the_line_it_is_told_in() -> None:
    assert describe_changes(PrecisionChange({8: 1204, 4: 311}, 311)) == (
        "1,204 vectors to 8 bits, 311 to 4 bits; token states of 311 passages dropped"
    )
    assert (
        describe_changes(PrecisionChange({32: 2})),
        describe_changes(PrecisionChange({}, 3)),
        describe_changes(PrecisionChange({})),
    ) == ("2 vectors to 32 bits", "token states of 3 passages dropped", "")


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from(("say", "dream", "dream", "use", "embed", "rebuild", "lose the index")), max_size=9),
    st.integers(0, 2**32),
)
def test_whatever_happens_no_text_is_lost_and_recall_finds_what_was_said(deeds: list[str], seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as name:
        clock = FixedClock(BEGINS)
        with opened(Path(name) / "vault", clock) as memory:
            said = {say(memory, 0, "The kettle number 0 whistles."): 0}
            memory.embed()
            for n, deed in enumerate(deeds, 1):
                match deed:
                    case "say":
                        said[say(memory, n, f"The kettle number {n} whistles.")] = n
                    case "dream":
                        sleep(memory, clock, random.choice((0.1, 9, 40, 300)))
                    case "use":
                        memory.cite([random.choice(list(said))])
                    case "embed":
                        memory.embed()
                        assert memory.embed() == 0
                    case "rebuild":
                        memory.rebuild()
                    case _:
                        for suffix in ("", "-wal", "-shm"):
                            (memory.state / f"index.db{suffix}").unlink(missing_ok=True)
                atom_id, number = random.choice(list(said.items()))
                hits = memory.recall(f"does the kettle number {number} whistle?", k=20).hits
                assert atom_id in {hit.atom.id for hit in hits}
            memory.embed()
            assert all(kept(memory, each) == (bits(memory, each) if noted(memory, each) else 32) for each in said)


def noted(memory: Memory, atom_id: AtomId) -> bool:
    """Whether maintenance has looked at it, and told the index."""
    store = memory._store
    return bool(store.ageing_states.get([atom_id])) and atom_id not in store.ageing_states.unapplied_bits(memory.scope)
