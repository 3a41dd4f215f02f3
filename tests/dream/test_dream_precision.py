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
from random_stores import BEGINS, DAY, THINGS

import lamina
from lamina import FixedClock, Memory, Settings
from lamina.atom.atom import AtomId
from lamina.dream.report import DreamReport
from lamina.dream.steps import NIGHTLY, STEPS, describe_changes
from lamina.models.light_embedder import find_light_files
from lamina.store.precision import EncodingSizes, PrecisionChange

pytestmark = pytest.mark.skipif(not find_light_files(), reason="the light model is not installed")


def open_memory(root: Path, clock: FixedClock) -> Memory:
    return lamina.open(
        root, clock=clock, watch=False, settings=Settings(embedder="light", background=False, watch=False)
    )


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(BEGINS)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with open_memory(tmp_path / "vault", clock) as result:
        yield result


def capture_session(memory: Memory, n: int, *words: str) -> AtomId:
    """One session of somebody's words; returns the atom that keeps them."""
    text = [{"speaker": "Ann", "content": word} for word in words]
    return memory.capture(text, session_id=f"s{n}").outcomes[0].atom.id


def run_dreams(memory: Memory, clock: FixedClock, days: float) -> DreamReport:
    """Some days go by, somebody looks in, and the memory dreams."""
    clock.at += timedelta(days=days)
    memory.remember(f"Somebody looked in at {clock.at:%Y-%m-%d %H:%M:%S}.", kind="fact")
    memory.embed()
    return memory.upkeep.dream(yes=True)


def bits(memory: Memory, atom_id: AtomId) -> int:
    return memory.engine.store.signals.get([atom_id])[1][atom_id].bits


def stored_bits(memory: Memory, atom_id: AtomId) -> int:
    model = memory.engine.models.choice.light
    assert model is not None
    vectors = memory.engine.store.passages.encodings.vectors(model.model.id, [(atom_id, 1)])
    return vectors[atom_id, 1].bits


def encoding_sizes(memory: Memory) -> EncodingSizes:
    return memory.engine.store.passages.encodings.precision.sizes()


def notes(report: DreamReport) -> list[str]:
    return [note for step in report.steps if step.step == "precision" for note in step.notes]


def test_the_precision_step_comes_last_and_runs_on_request() -> None:
    assert list(STEPS)[-1] == list(NIGHTLY)[-1] == "precision"


def test_unused_passages_lose_bits_stepwise_and_then_their_token_states(memory: Memory, clock: FixedClock) -> None:
    old = capture_session(memory, 1, f"The {THINGS[0]} lies in the attic.", f"The {THINGS[1]} hangs in the hall.")
    memory.embed()
    assert (
        encoding_sizes(memory).vectors.keys() == {32}
        and encoding_sizes(memory).states[0] == encoding_sizes(memory).vectors[32][0]
    )
    result = [32]
    for _ in range(40):
        run_dreams(memory, clock, 10)
        memory.embed()
        assert stored_bits(memory, old) == bits(memory, old)
        result.append(stored_bits(memory, old))
    assert result == sorted(result, reverse=True) and {32, 4, 2} <= set(result)
    assert len(memory.recall(f"where is the {THINGS[0]}?").hits) > 0


def test_a_used_passage_returns_to_full_precision_with_its_states(memory: Memory, clock: FixedClock) -> None:
    old = capture_session(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    run_dreams(memory, clock, 400)
    memory.embed()
    assert stored_bits(memory, old) == 2
    states = encoding_sizes(memory).states[0]
    memory.cite([old])
    run_dreams(memory, clock, 1)
    assert bits(memory, old) == 32 and stored_bits(memory, old) == 2
    memory.embed()
    assert stored_bits(memory, old) == 32 and encoding_sizes(memory).states[0] > states + 1


def test_pinned_passages_keep_full_precision(memory: Memory, clock: FixedClock) -> None:
    pinned, other = (
        capture_session(memory, 1, "The pinned marble is blue."),
        capture_session(memory, 2, "The other marble is green."),
    )
    memory.pin(pinned)
    memory.embed()
    run_dreams(memory, clock, 900)
    assert (stored_bits(memory, pinned), stored_bits(memory, other)) == (32, 2)


def test_a_clock_jump_ages_nothing(memory: Memory, clock: FixedClock) -> None:
    old = capture_session(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    clock.at += 900 * DAY
    assert notes(memory.upkeep.dream(yes=True)) == [] and stored_bits(memory, old) == 32


def test_a_dry_run_reports_the_precision_changes_and_makes_none(memory: Memory, clock: FixedClock) -> None:
    for n in range(6):
        capture_session(memory, n, f"The {THINGS[n]} lies in the attic.", f"Nobody needs a {THINGS[n]}.")
    memory.embed()
    clock.at += 900 * DAY
    capture_session(memory, 9, "Somebody looked in.")
    memory.embed()
    before = encoding_sizes(memory)
    (would,) = notes(memory.upkeep.dream(dry_run=True, yes=True))
    assert encoding_sizes(memory) == before and " to 2 bits; token states of " in would
    assert notes(memory.upkeep.dream(yes=True)) == [would]
    assert encoding_sizes(memory).vectors[2][0] >= 12 and encoding_sizes(memory).states[0] < before.states[0]


def test_a_second_dream_changes_no_byte(memory: Memory, clock: FixedClock) -> None:
    capture_session(memory, 1, f"The {THINGS[0]} lies in the attic.")
    run_dreams(memory, clock, 400)
    memory.embed()
    before = encoding_sizes(memory)
    again = memory.upkeep.dream(yes=True)
    assert notes(again) == [] and encoding_sizes(memory) == before and memory.embed() == 0


def test_a_precision_change_is_no_commit(memory: Memory, clock: FixedClock) -> None:
    capture_session(memory, 1, f"The {THINGS[0]} lies in the attic.")
    memory.embed()
    clock.at += 400 * DAY
    capture_session(memory, 2, "Somebody looked in.")
    memory.upkeep.dream(["age"], yes=True)
    at = memory.engine.store.journal.position()
    assert notes(memory.upkeep.dream(["precision"])) and memory.engine.store.journal.position() == at


def test_a_rebuilt_index_has_the_same_precisions(tmp_path: Path, clock: FixedClock) -> None:
    with open_memory(tmp_path / "vault", clock) as memory:
        for n in range(5):
            capture_session(memory, n, f"The {THINGS[n]} lies in the attic.")
            run_dreams(memory, clock, 30)
            memory.embed()
        before, state = encoding_sizes(memory), memory.engine.state
        assert len(before.vectors) > 2
    for suffix in ("", "-wal", "-shm"):
        (state / f"index.db{suffix}").unlink(missing_ok=True)
    with open_memory(tmp_path / "vault", clock) as memory:
        memory.embed()
        assert encoding_sizes(memory) == before
        memory.upkeep.rebuild()
        assert encoding_sizes(memory) == before and memory.embed() == 0


def test_the_report_line_of_the_step() -> None:
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
def test_no_text_is_lost_and_recall_finds_it_through_any_sequence(deeds: list[str], seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as name:
        clock = FixedClock(BEGINS)
        with open_memory(Path(name) / "vault", clock) as memory:
            fields = {capture_session(memory, 0, "The kettle number 0 whistles."): 0}
            memory.embed()
            for n, deed in enumerate(deeds, 1):
                match deed:
                    case "say":
                        fields[capture_session(memory, n, f"The kettle number {n} whistles.")] = n
                    case "dream":
                        run_dreams(memory, clock, random.choice((0.1, 9, 40, 300)))
                    case "use":
                        memory.cite([random.choice(list(fields))])
                    case "embed":
                        memory.embed()
                        assert memory.embed() == 0
                    case "rebuild":
                        memory.upkeep.rebuild()
                    case _:
                        for suffix in ("", "-wal", "-shm"):
                            (memory.engine.state / f"index.db{suffix}").unlink(missing_ok=True)
                atom_id, number = random.choice(list(fields.items()))
                hits = memory.recall(f"does the kettle number {number} whistle?", k=20).hits
                assert atom_id in {hit.atom.id for hit in hits}
            memory.embed()
            assert all(
                stored_bits(memory, item) == (bits(memory, item) if noted(memory, item) else 32) for item in fields
            )


def noted(memory: Memory, atom_id: AtomId) -> bool:
    """Whether maintenance has looked at it, and told the index."""
    store = memory.engine.store
    return bool(store.signals.get([atom_id])[1]) and atom_id not in store.signals.unapplied_bits(memory.scope)
