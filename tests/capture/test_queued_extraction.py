"""Text is stored immediately and read for statements immediately or later, each passage once.

Covers `lamina.capture.change.supersession`, `lamina.capture.change.change_detection` and `lamina.engine.captures`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from fake_state_models import FakeStateModel
from lamina import FixedClock, Memory, Result, Settings, Status
from lamina.atom.proposals_and_pairs import LIKELY_CHANGE_CONFIDENCE
from lamina.atom.provenance import Scope
from lamina.capture.extractors import CapturedTurn, ExtractedStatement, StateExtractor
from lamina.capture.queued_extraction import ExtractionPolicy, ExtractionSchedule
from lamina.capture.statement_extractor import StatementExtractor
from lamina.states.sentence_models import StateReader
from lamina.store.queue import SessionBacklog

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LOCAL = Scope("org:local")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def turn(text: str, speaker: str = "Ann") -> dict[str, str]:
    return {"speaker": speaker, "content": text}


def extracted_statements(memory: Memory) -> list[str]:
    return sorted(atom.content for atom in memory.list(status=None, limit=None) if atom.evidence)


def test_a_capture_without_a_background_worker_reads_immediately_in_one_commit(memory: Memory) -> None:
    receipt = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1")
    assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW]
    assert receipt.stages == (("words", "kept"), ("statements", "read by state model"))
    fact = receipt.outcomes[1].atom
    assert (fact.subject, fact.attribute, fact.value) == ("Ann", None, "Dr Reyes")
    assert len(memory.journal()) == 1
    memory.undo()
    assert memory.recall("who is the dentist").hits == ()


def test_with_a_background_worker_text_is_stored_immediately_and_statements_follow(tmp_path: Path) -> None:
    settings = Settings(embedder="none", watch=False, background=True)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        read = threading.Event()
        fields = StateExtractor(StateReader(FakeStateModel())).extract

        class Told(StateExtractor):
            def extract(
                self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()
            ) -> list[ExtractedStatement]:
                read.set()
                return fields(turns, before)

        memory.engine.models.__dict__["statement_extractor"] = StatementExtractor(Told(StateReader(FakeStateModel())))
        receipt = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1")
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT]
        assert dict(receipt.stages)["statements"] == "queued for extraction"
        assert memory.recall("dentist").hits
        assert read.wait(30)
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert extracted_statements(memory) == ["My dentist is Dr Reyes."]
        assert memory.read_waiting() == []


def test_waiting_callers_get_the_statements_in_the_receipt(tmp_path: Path) -> None:
    settings = Settings(embedder="none", watch=False, background=True)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        receipt = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1", wait=True)
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW]


def test_text_of_an_assistant_is_never_read_for_statements(memory: Memory) -> None:
    memory.capture([turn("My dentist is Dr Reyes.", "assistant")], session_id="s1")
    assert extracted_statements(memory) == []


def test_a_dry_run_reports_the_statements_and_stores_nothing(memory: Memory) -> None:
    with memory.trial() as trial:
        receipt = trial.capture([turn("My dentist is Dr Reyes.")], session_id="s1")
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW]
    assert (memory.list(status=None), memory.journal()) == ([], [])


@pytest.mark.parametrize("origin", ["import", "document"])
def test_text_imported_by_a_person_is_found_immediately_and_its_facts_are_pending(memory: Memory, origin: str) -> None:
    receipt = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1", origin=origin)
    words, fact = receipt.outcomes
    assert (words.atom.status, fact.result, fact.atom.status) == (Status.ACTIVE, Result.HELD, Status.CONSTRAINED)
    assert "waiting for review" in fact.reason
    (hit,) = memory.recall("dentist").hits
    assert hit.atom.id == words.atom.id


@pytest.mark.parametrize("origin", ["tool", "web"])
def test_foreign_text_through_an_agent_is_pending_as_a_whole(memory: Memory, origin: str) -> None:
    receipt = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1", origin=origin)
    assert {outcome.atom.status for outcome in receipt.outcomes} == {Status.CONSTRAINED}
    assert memory.recall("dentist").hits == ()


def test_a_trusted_statement_is_accepted_although_the_same_is_pending(memory: Memory) -> None:
    memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1", origin="document")
    outcome = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s2").outcomes[1]
    assert (outcome.result, outcome.atom.status) == (Result.NEW, Status.ACTIVE)


def test_pending_text_never_replaces_a_trusted_value(memory: Memory, clock: FixedClock) -> None:
    atom = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1").outcomes[1].atom
    clock.at = NOON + MINUTE
    text = [turn("My dentist is Dr Moss, no longer Dr Reyes.")]
    outcome = memory.capture(text, session_id="s2", origin="document").outcomes[1]
    assert (outcome.result, outcome.atom.status) == (Result.HELD, Status.CONSTRAINED)
    assert memory.get(atom.id).status is Status.ACTIVE


def test_only_a_sure_replacement_ends_the_old_statement(memory: Memory, clock: FixedClock) -> None:
    first = memory.capture([turn("My office is in Ghent.")], session_id="s1").outcomes[1].atom
    clock.at = NOON + MINUTE
    other = memory.capture([turn("My dentist is Dr Moss.")], session_id="s2").outcomes[1]
    assert (other.result, memory.get(first.id).status) == (Result.NEW, Status.ACTIVE)
    clock.at = NOON + 2 * MINUTE
    also = memory.capture([turn("My office is also in Bruges.")], session_id="s3").outcomes[1]
    assert (also.result, memory.get(first.id).status) == (Result.NEW, Status.ACTIVE)
    clock.at = NOON + 3 * MINUTE
    third = memory.capture([turn("My office is in Liège.")], session_id="s4").outcomes[1]
    ended = memory.get(first.id)
    assert (third.result, ended.status, ended.superseded_by) == (Result.SUPERSEDES, Status.SUPERSEDED, (third.atom.id,))
    assert memory.get(other.atom.id).status is Status.ACTIVE


def test_a_retracted_statement_does_not_return_with_the_same_old_text(memory: Memory, clock: FixedClock) -> None:
    fact = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1").outcomes[1].atom
    clock.at = NOON + MINUTE
    memory.forget(fact.id, "not so")
    again = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s2", observed_at=NOON).outcomes[1]
    assert again.result is Result.REFUSED
    assert fact.id in again.reason
    clock.at = NOON + 2 * MINUTE
    anew = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s3").outcomes[1]
    assert anew.result is Result.NEW


def test_an_undone_statement_may_return(memory: Memory) -> None:
    memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1")
    memory.undo()
    again = memory.capture([turn("My dentist is Dr Reyes.")], session_id="s2")
    assert again.outcomes[1].result is Result.NEW


def test_nearly_equal_sentences_are_one_statement_with_more_evidence(memory: Memory) -> None:
    first = memory.capture([turn("I went to a lake house with Tom and Ana by the early train.")], session_id="s1")
    again = memory.capture([turn("I went to a lake house with Tom and Ana by early train!")], session_id="s2")
    assert [item.result for item in (first.outcomes[1], again.outcomes[1])] == [Result.NEW, Result.DUPLICATE]
    assert len(memory.get(first.outcomes[1].atom.id).evidence) == 2


def test_a_failing_extractor_loses_its_statements_and_no_text(memory: Memory) -> None:
    class Stumbles(StateExtractor):
        def extract(
            self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()
        ) -> list[ExtractedStatement]:
            raise RecursionError("too deep")

    memory.engine.models.__dict__["statement_extractor"] = StatementExtractor(Stumbles(StateReader(FakeStateModel())))
    receipt = memory.capture([turn("My dentist is Dr Reyes. Remember that tea is ready.")], session_id="s1")
    assert dict(receipt.stages)["statements"] == "read by no extractor, because state model failed: RecursionError"
    assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW]
    assert memory.recall("dentist").hits


def test_only_an_independent_source_confirms(memory: Memory, clock: FixedClock) -> None:
    fact = memory.capture([turn("My dentist is Dr Reyes."), turn("My dentist is Dr Reyes!")], session_id="s1")
    atom_id = fact.outcomes[1].atom.id
    clock.at = NOON + MINUTE
    memory.capture([turn("My dentist is Dr Reyes.")], session_id="s1")
    assert (len(memory.get(atom_id).evidence), memory.confirmations(atom_id)) == (3, 0)
    memory.capture([turn("My dentist is Dr Reyes.")], session_id="s2")
    assert memory.confirmations(atom_id) == 1


def test_a_repeated_recall_result_is_no_new_statement(memory: Memory) -> None:
    memory.capture([turn("I work at the old harbour office in Bergen.")], session_id="s1")
    context = memory.recall("where does Ann work").context()
    before = extracted_statements(memory)
    memory.capture([turn(context), turn("Ann works at the old harbour office in Bergen.", "Bob")], session_id="s2")
    assert extracted_statements(memory) == before
    (fact,) = (atom for atom in memory.list(limit=None) if atom.evidence)
    assert memory.confirmations(fact.id) == 0


def queue(length: int = 1, age: int = 0, *, urgent: bool = False) -> SessionBacklog:
    return SessionBacklog(LOCAL, "s", length, NOON - age * MINUTE, urgent)


@pytest.mark.parametrize(
    ("rhythm", "queue", "count", "due"),
    [
        (ExtractionSchedule.SMART, queue(), 20, False),
        (ExtractionSchedule.SMART, queue(), 19, True),
        (ExtractionSchedule.SMART, queue(5), 20, True),
        (ExtractionSchedule.SMART, queue(age=15), 20, True),
        (ExtractionSchedule.SMART, queue(urgent=True), 20, True),
        (ExtractionSchedule.EVERY_N, queue(4, 99, urgent=True), 0, False),
        (ExtractionSchedule.EVERY_N, queue(5), 20, True),
        (ExtractionSchedule.TIME_BASED, queue(99, 14, urgent=True), 0, False),
        (ExtractionSchedule.TIME_BASED, queue(1, 15), 20, True),
    ],
)
def test_passages_are_read_when_they_are_due(
    rhythm: ExtractionSchedule, queue: SessionBacklog, count: int, due: bool
) -> None:
    assert ExtractionPolicy(rhythm).is_due(queue, count, NOON) is due


def test_a_likely_replacement_labels_the_earlier_statement_and_keeps_both(memory: Memory, clock: FixedClock) -> None:
    text = "I live in Berlin with two cats, an old piano and more books than the floor was ever made to carry."
    memory.capture([turn(text)], session_id="s1")
    clock.at += 60 * 24 * MINUTE
    memory.capture([turn("I live in Lisbon now.")], session_id="s2")
    old, new = sorted((atom for atom in memory.list(limit=None) if atom.evidence), key=lambda item: item.observed_at)
    assert (old.status, new.status) == (Status.ACTIVE, Status.ACTIVE)
    assert [(relation.name, relation.target, relation.confidence) for relation in new.relations] == [
        ("contradicts", old.id, LIKELY_CHANGE_CONFIDENCE)
    ]
    first, second = memory.recall("Where do I live?").hits[:2]
    assert ("Lisbon" in first.text, second.marks) == (True, ("possibly outdated",))
    assert memory.review.pairs() == []
    memory.undo()
    assert [hit.text for hit in memory.recall("Where do I live?").hits] == [text]
    assert memory.recall("Where do I live?").hits[0].marks == ()
