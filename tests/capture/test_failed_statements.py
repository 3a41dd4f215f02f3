"""Whatever fails while statements are made, the words are stored; and a statement never grows without bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lamina
from fake_state_models import FakeStateModel
from lamina import Atom, FixedClock, Memory, Settings
from lamina.atom.atom import MAX_EVIDENCE, Evidence
from lamina.capture.capture import STATEMENTS_STAGE
from lamina.capture.extractors import CapturedTurn, ExtractedStatement, StateExtractor
from lamina.capture.queued_extraction import EXTRACTION_PROBLEM
from lamina.capture.statement_extractor import StatementExtractor
from lamina.states.sentence_models import StateReader
from lamina.vault.atom_file import parse_file, render_file

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


class MisplacingExtractor(StateExtractor):
    """Cites a segment that does not exist for sentences about the sea, so that making their statements fails."""

    def __init__(self) -> None:
        super().__init__(StateReader(FakeStateModel()))

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        return [
            replace(statement, evidence=replace(statement.evidence, segment="nowhere"))
            if "sea" in statement.content
            else statement
            for statement in super().extract(turns, before)
        ]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False, background=False) as opened_memory:
        yield opened_memory


def use_extractor(memory: Memory, extractor: StateExtractor) -> None:
    memory.engine.models.__dict__["statement_extractor"] = StatementExtractor(extractor)


def turn(words: str) -> dict[str, str]:
    return {"speaker": "Ann", "content": words}


def statements(memory: Memory) -> list[Atom]:
    return [atom for atom in memory.list(status=None, limit=None) if atom.evidence]


def test_words_are_stored_and_queued_if_their_statements_cannot_be_made(memory: Memory) -> None:
    use_extractor(memory, MisplacingExtractor())
    receipt = memory.capture([turn("My boat lies in the sea."), turn("My dentist is Dr Reyes.")], session_id="s1")
    assert dict(receipt.stages)["words"] == "kept"
    assert "KeyError" in dict(receipt.stages)[STATEMENTS_STAGE]
    assert memory.recall("where does the boat lie?").hits
    (problem,) = memory.upkeep.doctor().problems
    assert (problem.kind, problem.atom_id) == (EXTRACTION_PROBLEM, receipt.atom.id)
    assert "sea" not in problem.message
    use_extractor(memory, StateExtractor(StateReader(FakeStateModel())))
    memory.read_waiting()
    assert {atom.content for atom in statements(memory)} == {"My boat lies in the sea.", "My dentist is Dr Reyes."}
    assert memory.upkeep.doctor().problems == ()


def test_one_passage_that_cannot_be_read_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    settings = Settings(embedder="none", watch=False, background=True, rhythm="time_based", batch_minutes=1000)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        use_extractor(memory, MisplacingExtractor())
        memory.capture([turn("My boat lies in the sea."), turn("My dentist is Dr Reyes.")], session_id="s1")
        memory.read_waiting()
        assert [atom.content for atom in statements(memory)] == ["My dentist is Dr Reyes."]
        assert [problem.kind for problem in memory.upkeep.doctor().problems] == [EXTRACTION_PROBLEM]
        assert memory.read_waiting() == []


def test_a_statement_that_is_said_again_and_again_stays_small(memory: Memory) -> None:
    for n in range(4):
        memory.capture([turn("My dentist is Dr Reyes.") for _ in range(400)], session_id=f"s{n}")
    (statement,) = statements(memory)
    assert len(statement.evidence) == MAX_EVIDENCE
    path = memory.root / str(memory.path_of(statement.id))
    assert len(parse_file(path.read_bytes()).fields["evidence"]) < MAX_EVIDENCE
    assert memory.upkeep.doctor(deep=True).healthy


def test_an_edit_of_a_file_that_shows_part_of_the_evidence_keeps_the_rest(memory: Memory) -> None:
    memory.capture([turn("My dentist is Dr Reyes.") for _ in range(100)], session_id="s1")
    (statement,) = statements(memory)
    path = memory.root / str(memory.path_of(statement.id))
    text = path.read_text()
    assert "evidence_count: 100\n" in text
    without_first = re.sub(r'\s*"?\[\[[^\]]*#\^p1\|[^\]]*\]\]"?,?', "", text)
    path.write_text(without_first.replace("Dr Reyes", "Dr Silva"))
    edited = memory.get(statement.id)
    assert edited.content == "My dentist is Dr Silva."
    assert edited.evidence == statement.evidence[1:]
    assert memory.upkeep.doctor().problems == ()


def test_a_file_shows_the_first_and_the_last_evidence() -> None:
    places = tuple(Evidence("01jc0000000000000000000000", n, 0, 9) for n in range(1, 101))
    atom = lamina_atom(places)
    data = render_file(atom, None, str)
    assert [place.passage for place in parse_file(data).fields["evidence"]] == [*range(1, 21), *range(81, 101)]
    assert render_file(atom, data, str) == data
    fewer = render_file(atom.with_(evidence=places[:3]), data, str)
    assert b"evidence_count" not in fewer
    assert parse_file(fewer).fields["evidence"] == places[:3]


def lamina_atom(evidence: tuple[Evidence, ...]) -> Atom:
    return Atom(
        id=lamina.AtomId("01jc0000000000000000000001"),
        scope=lamina.Scope("org:local"),
        kind="fact",
        content="x",
        observed_at=NOON,
        evidence=evidence,
    )
