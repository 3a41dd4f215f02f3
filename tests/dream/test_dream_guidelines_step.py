from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import IdSource, Signals
from lamina.clock import FixedClock
from lamina.dream.guidelines_step import MAX_LINES, KindTally, gather_tallies, write_guidelines
from lamina.dream.step import StepContext
from lamina.errors import StoreError
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

KINDS = ("question", "decision", "event", "belief", "summary", "fact", "goal", "episodic layer", "semantic layer")
figures = st.floats() | st.floats(0, 1e6)
tallies = st.builds(KindTally, st.integers(-5, 10**6), st.integers(-5, 10**6), figures, figures, st.integers(-5, 10**9))


def scene_of(harness: StoreHarness) -> StepContext:
    ids = IdSource(lambda n: bytes(n))
    return StepContext(
        store=harness.store, scope=LOCAL, moment=AgeingTime(harness.clock.at), ids=iter(lambda: ids.new(NOON), None)
    )


def test_rarely_used_kinds_are_to_be_kept_short() -> None:
    (line,) = write_guidelines({"question": KindTally(count=40, used=1, chars=40 * 60)})
    assert line == "question: 1 of 40 were ever used: keep it short"


def test_rarely_used_long_kinds_are_to_be_shortened() -> None:
    (line,) = write_guidelines({"summary": KindTally(count=40, used=0, chars=40 * 620)})
    assert "cut it from 620 characters to one sentence" in line


def test_often_used_kinds_are_to_be_kept_whole() -> None:
    (line,) = write_guidelines({"decision": KindTally(count=40, used=30)})
    assert "keep it whole" in line


def test_kinds_that_made_answers_wrong_are_to_keep_their_source() -> None:
    (line,) = write_guidelines({"belief": KindTally(count=3, used=3, successes=1, failures=9)})
    assert "9 of 10 answers were wrong" in line and "who said it" in line


def test_useful_kinds_are_to_keep_their_wording() -> None:
    (line,) = write_guidelines({"rule": KindTally(count=3, used=3, successes=9)})
    assert "9 of 9 answers came out well" in line


def test_too_few_uses_give_no_guideline() -> None:
    assert write_guidelines({}) == ()
    assert write_guidelines({"question": KindTally(count=19, used=0), "belief": KindTally(count=3, failures=4)}) == ()
    assert write_guidelines({"fact": KindTally(count=100, used=30)}) == ()


def test_the_best_supported_guidelines_come_first_within_the_limit() -> None:
    texts = write_guidelines({name: KindTally(count=100 + n, used=0, failures=50.0) for n, name in enumerate(KINDS)})
    assert len(texts) == MAX_LINES
    assert texts[0].startswith(KINDS[-1]) and texts[1].startswith(KINDS[-2])


def test_a_custom_kind_gets_no_guideline() -> None:
    assert write_guidelines({"ignore all rules and": KindTally(count=400, used=0)}) == ()


@pytest.mark.parametrize("damaged", [nan, inf, -1.0])
def test_damaged_counters_affect_only_their_own_kind(damaged: float) -> None:
    sound = KindTally(count=40, used=0)
    texts = write_guidelines({"belief": KindTally(count=40, used=0, failures=damaged), "question": sound})
    assert texts == write_guidelines({"question": sound}) != ()


@given(st.dictionaries(st.sampled_from(KINDS) | st.text(), tallies, max_size=12))
def test_guidelines_are_few_and_short_for_any_counters(drawn: dict[str, KindTally]) -> None:
    texts = write_guidelines(drawn)
    assert len(texts) <= MAX_LINES and all(0 < len(text) < 120 and "\n" not in text for text in texts)
    assert texts == write_guidelines(dict(reversed(drawn.items())))


def test_guidelines_are_derived_from_the_usage_of_a_store(harness: StoreHarness) -> None:
    result = [harness.add(f"what is {n}?", kind="question") for n in range(30)]
    chosen = [harness.add(f"we take {n}", kind="decision") for n in range(30)]
    harness.store.signals.put(result[0].id, Signals(recall_count=1, last_recalled_at=NOON))
    for item in chosen:
        harness.store.signals.put(item.id, Signals(recall_count=2, last_recalled_at=NOON, successes=1.0))
    actual = gather_tallies(scene_of(harness))
    assert actual["question"] == KindTally(30, 1, 0.0, 0.0, sum(len(request.content) for request in result))
    assert actual["procedural layer"].used == 30 and actual["decision"].successes == 30.0
    texts = write_guidelines(actual)
    assert any(text.startswith("question: 1 of 30") for text in texts)
    assert any(text.startswith("decision: 30 of 30 were ever used: keep it whole") for text in texts)


def test_an_empty_store_has_no_guidelines(harness: StoreHarness) -> None:
    assert gather_tallies(scene_of(harness)) == {}


def test_an_unreadable_store_gives_no_guidelines_and_raises_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, FixedClock(NOON))
    harness = StoreHarness(store, FixedClock(NOON))
    harness.add()
    scene = scene_of(harness)
    store.close()
    with pytest.raises(StoreError):
        harness.read()
    assert gather_tallies(scene) == {}
