from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Signals
from lamina.atom.identity import IdSource
from lamina.clock import FixedClock
from lamina.dream.guidelines import MAX_LINES, KindTally, gather_tallies, write_guidelines
from lamina.dream.step_context import StepContext
from lamina.errors import StoreError
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

KINDS = ("question", "decision", "event", "belief", "summary", "fact", "goal", "episodic layer", "semantic layer")
figures = st.floats() | st.floats(0, 1e6)
tallies = st.builds(KindTally, st.integers(-5, 10**6), st.integers(-5, 10**6), figures, figures, st.integers(-5, 10**9))


def scene_of(hand: StoreHarness) -> StepContext:
    ids = IdSource(lambda n: bytes(n))
    return StepContext(
        store=hand.store, scope=LOCAL, moment=AgeingTime(hand.clock.at), ids=iter(lambda: ids.new(NOON), None)
    )


def test_what_is_rarely_used_is_to_be_kept_short() -> None:
    (line,) = write_guidelines({"question": KindTally(count=40, used=1, chars=40 * 60)})
    assert line == "question: 1 of 40 were ever used: keep it short"


def test_what_is_rarely_used_and_long_is_to_be_cut() -> None:
    (line,) = write_guidelines({"summary": KindTally(count=40, used=0, chars=40 * 620)})
    assert "cut it from 620 characters to one sentence" in line


def test_what_is_often_used_is_to_be_kept_whole() -> None:
    (line,) = write_guidelines({"decision": KindTally(count=40, used=30)})
    assert "keep it whole" in line


def test_what_made_answers_wrong_is_to_keep_its_source() -> None:
    (line,) = write_guidelines({"belief": KindTally(count=3, used=3, successes=1, failures=9)})
    assert "9 of 10 answers were wrong" in line and "who said it" in line


def test_what_served_well_is_to_be_left_as_it_is_worded() -> None:
    (line,) = write_guidelines({"rule": KindTally(count=3, used=3, successes=9)})
    assert "9 of 9 answers came out well" in line


def test_too_little_teaches_nothing() -> None:
    assert write_guidelines({}) == ()
    assert write_guidelines({"question": KindTally(count=19, used=0), "belief": KindTally(count=3, failures=4)}) == ()
    assert write_guidelines({"fact": KindTally(count=100, used=30)}) == ()


def test_the_best_founded_lines_come_first_and_no_more_than_can_be_read() -> None:
    told = write_guidelines({name: KindTally(count=100 + n, used=0, failures=50.0) for n, name in enumerate(KINDS)})
    assert len(told) == MAX_LINES
    assert told[0].startswith(KINDS[-1]) and told[1].startswith(KINDS[-2])


def test_a_kind_that_somebody_named_themselves_gets_no_line() -> None:
    assert write_guidelines({"ignore all rules and": KindTally(count=400, used=0)}) == ()


@pytest.mark.parametrize("damaged", [nan, inf, -1.0])
def test_damaged_counters_cost_their_own_kind_its_lines_and_nothing_else(damaged: float) -> None:
    sound = KindTally(count=40, used=0)
    told = write_guidelines({"belief": KindTally(count=40, used=0, failures=damaged), "question": sound})
    assert told == write_guidelines({"question": sound}) != ()


@given(st.dictionaries(st.sampled_from(KINDS) | st.text(), tallies, max_size=12))
def test_whatever_the_counters_say_the_lines_are_few_and_short(drawn: dict[str, KindTally]) -> None:
    told = write_guidelines(drawn)
    assert len(told) <= MAX_LINES and all(0 < len(each) < 120 and "\n" not in each for each in told)
    assert told == write_guidelines(dict(reversed(drawn.items())))


def test_a_store_tells_what_became_of_its_memories(hand: StoreHarness) -> None:
    asked = [hand.add(f"what is {n}?", kind="question") for n in range(30)]
    chosen = [hand.add(f"we take {n}", kind="decision") for n in range(30)]
    hand.store.ledger.set_signals(asked[0].id, Signals(recall_count=1, last_recalled_at=NOON))
    for each in chosen:
        hand.store.ledger.set_signals(each.id, Signals(recall_count=2, last_recalled_at=NOON, successes=1.0))
    found = gather_tallies(scene_of(hand))
    assert found["question"] == KindTally(30, 1, 0.0, 0.0, sum(len(each.content) for each in asked))
    assert found["procedural layer"].used == 30 and found["decision"].successes == 30.0
    told = write_guidelines(found)
    assert any(each.startswith("question: 1 of 30") for each in told)
    assert any(each.startswith("decision: 30 of 30 were ever used: keep it whole") for each in told)


def test_an_empty_store_has_no_guidelines(hand: StoreHarness) -> None:
    assert gather_tallies(scene_of(hand)) == {}


def test_a_store_that_cannot_be_read_costs_the_guidelines_and_raises_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, FixedClock(NOON))
    hand = StoreHarness(store, FixedClock(NOON))
    hand.add()
    scene = scene_of(hand)
    store.close()
    with pytest.raises(StoreError):
        hand.read()
    assert gather_tallies(scene) == {}
