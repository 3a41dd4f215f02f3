"""Statements made in one go about one thing lie in a box; boxes that recur form a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import Atom, FixedClock, Memory
from lamina.atom.atom import Evidence
from lamina.capture.box import IDLE_TIMEOUT, MAX_STATEMENTS, seal_boxes, topic_overlap
from lamina.capture.extractors import CapturedTurn, ExtractedStatement
from lamina.capture.statement_extractor import StatementExtractor

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
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        opened_memory.engine.models.__dict__["statement_extractor"] = StatementExtractor(Literal())
        yield opened_memory


def capture_turns(memory: Memory, *texts: str, session: str = "s") -> list[Atom]:
    turns = [{"speaker": "Ann", "content": text} for text in texts]
    return [outcome.atom for outcome in memory.capture(turns, session_id=session).outcomes if outcome.atom.evidence]


def boxes(memory: Memory) -> list[Atom]:
    return memory.list(kind="box", limit=None)


SAILING = (
    "Ann sails the old dinghy on the lake.",
    "Ann repaired the sail of the dinghy.",
    "Ann keeps the dinghy at the lake house.",
)
BREAD = ("Ann bakes rye bread with walnuts.", "Ann feeds her sourdough for rye bread at night.")


def test_statements_on_one_topic_share_a_box_and_other_topics_have_their_own(memory: Memory) -> None:
    sailing, bread = capture_turns(memory, *SAILING), capture_turns(memory, *BREAD)
    assert len({item.box_id for item in sailing}) == 1
    assert len({item.box_id for item in bread}) == 1
    assert sailing[0].box_id != bread[0].box_id


def test_half_an_hour_of_silence_starts_a_new_box(memory: Memory, clock: FixedClock) -> None:
    (first,) = capture_turns(memory, SAILING[0])
    clock.at = NOON + IDLE_TIMEOUT - MINUTE
    (second,) = capture_turns(memory, SAILING[2])
    clock.at = NOON + 2 * IDLE_TIMEOUT
    (third,) = capture_turns(memory, SAILING[0] + " It leaks.")
    assert first.box_id == second.box_id != third.box_id


def test_a_full_box_accepts_no_more(memory: Memory) -> None:
    atoms = capture_turns(
        memory, *(f"Ann sails the old dinghy number {n} on the lake." for n in range(MAX_STATEMENTS + 5))
    )
    assert sorted(sum(atom.box_id == box for atom in atoms) for box in {atom.box_id for atom in atoms}) == [
        5,
        MAX_STATEMENTS,
    ]


def test_a_sealed_box_is_a_file_that_lists_its_statements_and_is_never_searched(
    memory: Memory, clock: FixedClock
) -> None:
    atoms = capture_turns(memory, *SAILING)
    memory.read_waiting()
    assert boxes(memory) == []
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (box,) = boxes(memory)
    path = memory.path_of(box.id) or ""
    assert (box.id, path) == (atoms[0].box_id, f"boxes/2026-11-14/box-{box.id}.md")
    text = (memory.root / path).read_text(encoding="utf-8")
    for atom in atoms:
        assert f"- [[{Path(memory.path_of(atom.id) or '').stem}|2026-11-14]] {atom.content}" in text
    assert "dinghy" in box.content.splitlines()[0]
    assert all(hit.atom.kind != "box" for hit in memory.recall("dinghy lake sail", 50).hits)
    assert all(hit.atom.kind != "box" for hit in memory.recall("dinghy", 50, ranking="plain").hits)
    memory.read_waiting()
    assert len(boxes(memory)) == 1


def test_a_topic_that_recurs_within_a_week_continues_its_trace(memory: Memory, clock: FixedClock) -> None:
    for day, texts in ((0, SAILING), (0, BREAD), (3, SAILING[:2]), (30, SAILING)):
        clock.at = NOON + timedelta(days=day)
        capture_turns(memory, *(f"{text} Day {day}." for text in texts), session=f"s{day}")
        clock.at += IDLE_TIMEOUT
        memory.read_waiting()
    result = {(box.observed_at - NOON).days: box for box in boxes(memory) if "dinghi" in box.tags}
    assert result[0].trace_id == result[3].trace_id == result[0].id
    assert result[30].trace_id == result[30].id
    (bread,) = (box for box in boxes(memory) if "dinghi" not in box.tags)
    assert bread.trace_id == bread.id


def test_sealing_is_idempotent(memory: Memory, clock: FixedClock) -> None:
    capture_turns(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    assert len(seal_boxes(memory.engine.store, memory.scope, clock.now())) == len(SAILING)
    assert len(boxes(memory)) == 1
    assert seal_boxes(memory.engine.store, memory.scope, clock.now()) == []


def test_containment_does_not_shrink_as_a_box_grows() -> None:
    topics = frozenset({"sail", "lake"})
    assert topic_overlap(topics, frozenset({"sail"})) == 0.5
    assert topic_overlap(topics, frozenset({"sail", "lake", *map(str, range(99))})) == 1
    assert topic_overlap(frozenset(), topics) == 0


def test_a_person_named_repeatedly_gets_a_page_with_every_statement(memory: Memory, clock: FixedClock) -> None:
    atoms = capture_turns(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (page,) = (atom for atom in memory.list(limit=None) if atom.kind == "entity")
    path = memory.path_of(page.id) or ""
    assert (page.subject, path) == ("Ann", f"entities/ann-{page.id[-6:]}.md")
    assert all(atom.content in page.content for atom in atoms)
    assert page.id not in {hit.atom.id for hit in memory.recall("Ann dinghy lake", 50).hits}


def test_text_a_person_adds_beside_a_generated_section_is_kept(memory: Memory, clock: FixedClock) -> None:
    capture_turns(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    (page,) = (atom for atom in memory.list(limit=None) if atom.kind == "entity")
    file = memory.root / (memory.path_of(page.id) or "")
    file.write_text(file.read_text(encoding="utf-8") + "\nShe is afraid of thunder.\n", encoding="utf-8")
    memory.upkeep.sync()
    assert memory.recall("who fears thunder").hits[0].text == "She is afraid of thunder."
    capture_turns(memory, *BREAD, session="t")
    clock.at = NOON + 3 * IDLE_TIMEOUT
    memory.read_waiting()
    text = file.read_text(encoding="utf-8")
    assert "She is afraid of thunder." in text
    assert all(item in text for item in (*SAILING, *BREAD))
    assert text.count("lamina: begin") == 1


def test_undo_reverses_what_a_caller_did_but_not_derived_changes(memory: Memory, clock: FixedClock) -> None:
    capture_turns(memory, *SAILING)
    clock.at = NOON + IDLE_TIMEOUT
    memory.read_waiting()
    assert [entry.verb for entry in memory.journal()] == ["capture", "box", "entity"]
    memory.undo()
    first, *_, undone, page = memory.journal()
    assert undone.undoes == first.id
    assert page.verb == "entity"  # what was taken back leaves the page at once


def test_a_run_of_short_remarks_on_one_topic_is_one_box_and_a_single_remark_is_no_file(
    memory: Memory, clock: FixedClock
) -> None:
    extractor = StatementExtractor(Literal(), embedder=lambda: memory.engine.models.choice.light)
    memory.engine.models.__dict__["statement_extractor"] = extractor
    atoms = capture_turns(
        memory,
        "Ann moved to Porto in spring.",
        "The flat is near the river.",
        "The rent is 900 euros.",
        "The landlord is kind.",
        "Ann started baking sourdough bread.",
        "The starter is called Fred.",
        "The bread needs a whole night.",
        "The oven is old, so the bread burns.",
    )
    members = Counter(atom.box_id for atom in atoms)
    assert len(members) <= 3
    assert min(members.values()) >= 2
    assert atoms[0].box_id != atoms[-1].box_id
    clock.at += timedelta(hours=1)
    capture_turns(memory, "Ann sold the car.", session="later")
    clock.at += timedelta(hours=1)
    memory.read_waiting()
    assert {box.id for box in boxes(memory)} == set(members)


def test_boxes_are_sealed_by_the_next_capture_and_by_a_dream(memory: Memory, clock: FixedClock) -> None:
    capture_turns(memory, *SAILING)
    clock.at += IDLE_TIMEOUT
    capture_turns(memory, *BREAD, session="t")
    (sailing,) = boxes(memory)
    clock.at += IDLE_TIMEOUT
    memory.upkeep.dream(dry_run=True)
    assert boxes(memory) == [sailing]
    memory.upkeep.dream()
    assert len(boxes(memory)) == 2
    assert sailing.id in {box.id for box in boxes(memory)}


def test_boxes_are_listed_only_on_request(memory: Memory, clock: FixedClock) -> None:
    capture_turns(memory, *SAILING)
    clock.at += IDLE_TIMEOUT
    memory.read_waiting()
    assert len(boxes(memory)) == 1
    listed = [*memory.list(limit=None), *memory.list(status=None, limit=None), *memory.list(known_at=clock.at)]
    assert "box" not in {atom.kind for atom in listed}


def test_the_rest_of_a_box_is_context_for_a_hit(memory: Memory, clock: FixedClock) -> None:
    atoms = capture_turns(memory, *SAILING)
    clock.at += IDLE_TIMEOUT
    memory.read_waiting()
    recalled = memory.recall("who repaired the sail?", 1)
    text = recalled.context(2000)
    assert [line for line in text.splitlines() if line.startswith("## ")][-1] == "## box"
    rest = text.partition("## box\n")[2]
    assert all((atom.content in rest) == (atom.content not in recalled.hits[0].text) for atom in atoms)
    assert "## box" not in memory.recall("who repaired the sail?", 1, known_at=clock.at).context(2000)
    memory.forget(atoms[2].id, "sold")
    assert SAILING[2] not in memory.recall("who repaired the sail?", 1).context(2000)


def test_days_and_months_get_no_page_and_spellings_of_one_name_share_one(memory: Memory) -> None:
    for n in range(6):
        memory.remember(f"Ann bakes loaf number {n} on Sunday.", subject="Ann", entities=["Sunday", "August 2026"])
        memory.remember(f"Ann rests after loaf {n} in May.", subject="Ann", entities=["May"])
        memory.remember(f"Tomas brought flour number {n}.", subject="tomas" if n else "Tomas")
    memory.upkeep.dream()
    assert {page.subject for page in memory.list(kind="entity")} - {"topics", "guidelines"} == {"Ann", "Tomas"}
    (tomas,) = (page for page in memory.list(kind="entity") if page.subject == "Tomas")
    assert all(f"Tomas brought flour number {n}." in tomas.content for n in range(6))
    ann = next(page for page in memory.list(kind="entity") if page.subject == "Ann")
    assert "named together" not in ann.content
    memory.remember("May is a nurse.", subject="May")
    for n in range(5):
        memory.remember(f"May likes song number {n}.", subject="May")
    memory.upkeep.dream()
    assert "May" in {page.subject for page in memory.list(kind="entity")}
