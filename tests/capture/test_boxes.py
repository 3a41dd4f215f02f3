"""Statements made in one go about one thing lie in a box; boxes that recur form a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory
from lamina.atom.atom import Evidence
from lamina.capture.box import IDLE_TIMEOUT, MAX_STATEMENTS, seal_boxes, topic_overlap
from lamina.capture.extraction import CapturedTurn, ExtractedStatement
from lamina.capture.extraction_queue import StatementReader

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Literal:
    """Takes every sentence as it stands for a statement about Ann."""

    name = "literal"
    instant = True

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        return [
            ExtractedStatement(
                content=turn.text,
                kind="fact",
                subject="Ann",
                evidence=Evidence(turn.segment, turn.n, 0, len(turn.text)),
            )
            for turn in turns
        ]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened:
        opened._model_registry.__dict__["reader"] = StatementReader(Literal())
        yield opened


def say(memory: Memory, *texts: str, session: str = "s") -> list[Atom]:
    turns = [{"speaker": "Ann", "content": text} for text in texts]
    return [outcome.atom for outcome in memory.capture(turns, session_id=session).outcomes if outcome.atom.evidence]


def boxes(memory: Memory) -> list[Atom]:
    return [each for each in memory.list(limit=None) if each.kind == "box"]


SAILING = (
    "Ann sails the old dinghy on the lake.",
    "Ann repaired the sail of the dinghy.",
    "Ann keeps the dinghy at the lake house.",
)
BREAD = ("Ann bakes rye bread with walnuts.", "Ann feeds her sourdough for rye bread at night.")


def test_what_is_about_one_thing_shares_a_box_and_another_thing_has_its_own(memory: Memory) -> None:
    sailing, bread = say(memory, *SAILING), say(memory, *BREAD)
    assert len({each.box_id for each in sailing}) == 1
    assert len({each.box_id for each in bread}) == 1
    assert sailing[0].box_id != bread[0].box_id


def test_after_half_an_hour_of_silence_another_box_begins(memory: Memory, clock: FixedClock) -> None:
    (first,) = say(memory, SAILING[0])
    clock.at = NOON + IDLE_TIMEOUT - MINUTE
    (second,) = say(memory, SAILING[2])
    clock.at = NOON + 2 * IDLE_TIMEOUT
    (third,) = say(memory, SAILING[0] + " It leaks.")
    assert first.box_id == second.box_id != third.box_id


def test_a_full_box_takes_no_more(memory: Memory) -> None:
    made = say(memory, *(f"Ann sails the old dinghy number {n} on the lake." for n in range(MAX_STATEMENTS + 5)))
    assert sorted(sum(each.box_id == box for each in made) for box in {each.box_id for each in made}) == [
        5,
        MAX_STATEMENTS,
    ]


def test_a_sealed_box_is_a_file_that_lists_what_it_holds_and_is_never_searched(
    memory: Memory, clock: FixedClock
) -> None:
    made = say(memory, *SAILING)
    memory.read_waiting()
    assert boxes(memory) == []
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (box,) = boxes(memory)
    path = memory.path_of(box.id) or ""
    assert (box.id, path) == (made[0].box_id, f"boxes/2026-11-14/box-{box.id}.md")
    text = (memory.root / path).read_text(encoding="utf-8")
    for atom in made:
        assert f"[[{Path(memory.path_of(atom.id) or '').stem}]] {atom.content}" in text
    assert "dinghy" in box.content.splitlines()[0]
    assert all(hit.atom.kind != "box" for hit in memory.recall("dinghy lake sail", 50).hits)
    assert all(hit.atom.kind != "box" for hit in memory.recall("dinghy", 50, ranking="plain").hits)
    memory.read_waiting()
    assert len(boxes(memory)) == 1


def test_a_topic_that_comes_back_within_a_week_goes_on_with_its_trace(memory: Memory, clock: FixedClock) -> None:
    for day, texts in ((0, SAILING), (0, BREAD), (3, SAILING[:2]), (30, SAILING)):
        clock.at = NOON + timedelta(days=day)
        say(memory, *(f"{text} Day {day}." for text in texts), session=f"s{day}")
        clock.at += IDLE_TIMEOUT
        memory.read_waiting()
    found = {(box.observed_at - NOON).days: box for box in boxes(memory) if "dinghi" in box.tags}
    assert found[0].trace_id == found[3].trace_id == found[0].id
    assert found[30].trace_id == found[30].id
    (bread,) = (box for box in boxes(memory) if "dinghi" not in box.tags)
    assert bread.trace_id == bread.id


def test_sealing_twice_seals_once(memory: Memory, clock: FixedClock) -> None:
    say(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    assert len(seal_boxes(memory._store, memory.scope, clock.now())) == len(SAILING)
    assert len(boxes(memory)) == 1
    assert seal_boxes(memory._store, memory.scope, clock.now()) == []


def test_containment_does_not_shrink_as_a_box_grows() -> None:
    topics = frozenset({"sail", "lake"})
    assert topic_overlap(topics, frozenset({"sail"})) == 0.5
    assert topic_overlap(topics, frozenset({"sail", "lake", *map(str, range(99))})) == 1
    assert topic_overlap(frozenset(), topics) == 0


def test_who_is_named_again_and_again_has_a_page_with_every_statement(memory: Memory, clock: FixedClock) -> None:
    made = say(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (page,) = (each for each in memory.list(limit=None) if each.kind == "entity")
    path = memory.path_of(page.id) or ""
    assert (page.subject, path) == ("Ann", f"entities/ann-{page.id[-6:]}.md")
    assert all(each.content in page.content for each in made)
    assert page.id not in {hit.atom.id for hit in memory.recall("Ann dinghy lake", 50).hits}


def test_a_person_writes_beside_what_is_generated_and_keeps_it(memory: Memory, clock: FixedClock) -> None:
    say(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (page,) = (each for each in memory.list(limit=None) if each.kind == "entity")
    file = memory.root / (memory.path_of(page.id) or "")
    file.write_text(file.read_text(encoding="utf-8") + "\nShe is afraid of thunder.\n", encoding="utf-8")
    memory.sync()
    assert memory.recall("who fears thunder").hits[0].text == "She is afraid of thunder."
    say(memory, *BREAD, session="t")
    clock.at = NOON + 3 * IDLE_TIMEOUT
    memory.read_waiting()
    text = file.read_text(encoding="utf-8")
    assert "She is afraid of thunder." in text
    assert all(each in text for each in (*SAILING, *BREAD))
    assert text.count("lamina: begin") == 1


def test_undo_takes_back_what_somebody_did_not_what_follows_by_itself(memory: Memory, clock: FixedClock) -> None:
    say(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    assert [each.verb for each in memory.journal()] == ["capture", "box", "entity"]
    memory.undo()
    first, *_, undone, page = memory.journal()
    assert undone.undoes == first.id
    assert page.verb == "entity"  # what was taken back leaves the page at once
