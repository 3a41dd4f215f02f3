from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from benchmarks.data_set import BenchSession, BenchTurn
from benchmarks.turn_lookup import TurnLookup, capture_session

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[lamina.Memory]:
    settings = lamina.Settings(segment_chars=500, watch=False)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        yield memory


def session(*texts: str, name: str = "s") -> BenchSession:
    return BenchSession(
        name, AT, tuple(BenchTurn(f"{name}/{n}", text, speaker="Ann", at=AT) for n, text in enumerate(texts))
    )


def found_turns(memory: lamina.Memory, places: TurnLookup, question: str) -> list[tuple[str | None, str]]:
    turns = [places.turn_of(hit) for hit in memory.recall(question).hits]
    return list(zip(turns, places.sessions(turn or "" for turn in turns), strict=True))


def test_passages_of_a_session_over_several_files_map_to_its_turns(memory: lamina.Memory) -> None:
    text = session(*(f"Word{n} {'and so on ' * 12}" for n in range(20)))
    segments = capture_session(memory, text)
    assert len(segments) > 3
    places = TurnLookup()
    places.add_session(text, segments)
    for n in range(20):
        assert found_turns(memory, places, f"word{n}")[0] == (f"s/{n}", "s")


def test_blank_turns_and_turns_that_resemble_marks_do_not_shift_the_others(memory: lamina.Memory) -> None:
    text = session("alpha", "  ", "beta ^p7", "**Ann**\ngamma", "", "alpha omega", "delta\n\n\nepsilon\r\nzeta")
    places = TurnLookup()
    places.add_session(text, capture_session(memory, text))
    assert found_turns(memory, places, "beta")[0] == ("s/2", "s")
    assert found_turns(memory, places, "gamma")[0] == ("s/3", "s")
    assert found_turns(memory, places, "omega")[0] == ("s/5", "s")
    assert found_turns(memory, places, "zeta")[0] == ("s/6", "s")


def test_a_growing_session_keeps_its_turns(memory: lamina.Memory) -> None:
    places = TurnLookup()
    first, second = session("alpha", name="one"), session("beta", name="two")
    for part in (first, second):
        receipt = memory.capture([{"content": part.turns[0].text}], session_id="same", observed_at=AT)
        places.add_session(part, [outcome.atom for outcome in receipt.outcomes])
    assert found_turns(memory, places, "alpha")[0] == ("one/0", "one")
    assert found_turns(memory, places, "beta")[0] == ("two/0", "two")


def test_a_turn_in_several_passages_is_one_turn(memory: lamina.Memory) -> None:
    long = BenchTurn("long", "alpha beta.\n\ngamma delta.\n\nepsilon.")
    whole = BenchSession("text", AT, (long, BenchTurn("short", "zeta")))
    receipt = memory.capture(long.text + "\n\nzeta", session_id="text", observed_at=AT)
    places = TurnLookup()
    places.add_session(whole, [outcome.atom for outcome in receipt.outcomes])
    for word, turn in (("beta", "long"), ("gamma", "long"), ("epsilon", "long"), ("zeta", "short")):
        assert found_turns(memory, places, word)[0] == (turn, "text")


def test_a_statement_maps_to_the_turn_it_rests_on(memory: lamina.Memory) -> None:
    text = session("Hello.", "Remember that the harbour gate code is 4711.")
    places = TurnLookup()
    places.add_session(text, capture_session(memory, text))
    facts = memory.recall("harbour gate code", mode="facts_only").hits
    assert [places.turn_of(hit) for hit in facts] == ["s/1"]


def test_atoms_outside_the_data_map_to_no_turn(memory: lamina.Memory) -> None:
    memory.remember("The harbour is closed.")
    assert found_turns(memory, TurnLookup(), "harbour") == [(None, "")]


def test_changed_words_are_matched_by_order_and_missing_ones_are_an_error(memory: lamina.Memory) -> None:
    segments = capture_session(memory, session("alpha", "beta"))
    places = TurnLookup()
    places.add_session(session("alpha", "something else", name="other"), segments)
    assert found_turns(memory, places, "beta")[0] == ("other/1", "other")
    with pytest.raises(lamina.LaminaError, match="session third"):
        TurnLookup().add_session(session("one", "two", "three", name="third"), segments)
