"""Notes belong to their run, closing a run is one commit, and repeated successes become a procedure.

Covers `lamina.working.procedures`.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

import lamina
from lamina import (
    Atom,
    FixedClock,
    InvalidInput,
    Memory,
    NotFound,
    Origin,
    Receipt,
    Refused,
    Result,
    Run,
    Settings,
    Status,
)
from lamina.atom.kinds import Durability, Layer
from lamina.working.run import RunOutcome
from lamina.working.writer_access import LINEAGE_LIMIT

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ANN, BOB = "org:acme:agent:ann", "org:acme:agent:bob"
ROUNDS = 5
AWS = "AKIA" + "QX7Z2M4LPW3K6T5B"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def procedures(memory: Memory, status: Status | None = Status.ACTIVE) -> list[Atom]:
    return memory.list(status=status, kind="procedure")


def succeed(memory: Memory, run: str, summary: str = "Pushed the tag.", workflow: str = "release") -> Receipt:
    return memory.run(run).close("success", summary, workflow)


# Notes


def test_a_note_is_a_working_layer_file_that_names_its_run(memory: Memory) -> None:
    note = memory.run("task-7").note("Port 8080 is taken.", phase="probe", tags=["net"])
    assert (note.layer, note.run_id, note.kind, note.status) == (Layer.WORKING, "task-7", "interaction", Status.ACTIVE)
    assert (dict(note.metadata), note.tags, note.durability) == ({"phase": "probe"}, ("net",), Durability.EPHEMERAL)
    path = memory.path_of(note.id)
    assert path is not None
    assert "run_id: task-7" in (memory.root / path).read_text(encoding="utf-8")
    assert memory.get(note.id) == note


def test_notes_are_readable_only_within_their_run_in_order(memory: Memory, clock: FixedClock) -> None:
    for text in ("first", "second", "third"):
        memory.run("task-7").note(text)
        clock.at += MINUTE
    memory.run("task-8").note("elsewhere")
    assert [note.content for note in memory.run("task-7").notes()] == ["first", "second", "third"]
    assert [note.content for note in memory.run("task-8").notes()] == ["elsewhere"]
    assert memory.run("Task-7").notes() == memory.run("task 7").notes() == []


def test_only_the_run_itself_finds_its_notes(memory: Memory) -> None:
    run = memory.run("task-7")
    for kind in ("interaction", "decision", "fact", "rule", "preference"):
        run.note(f"The walrus port is 8080, said a {kind}.", kind=kind)
    memory.pin(run.notes()[0].id)
    for ranking in ("full", "plain"):
        result = memory.recall("which walrus port for task-7?", ranking=ranking, include=["history", "constrained"])
        assert result.hits == ()
        assert "walrus" not in result.context()
    assert memory.top() == memory.list() == memory.list(status=None, kind="decision") == []
    assert memory.plan_context("walrus port").procedural == ()
    assert len(memory.list(run_id="task-7")) == 5


def test_a_run_recalls_from_its_own_notes_by_plain_ranking(memory: Memory) -> None:
    run = memory.run("task-7")
    run.note("The port 8080 is taken.")
    run.note("The cache was cold.")
    memory.remember("The port of the old host was 22.", kind="fact")
    assert [note.content for note in run.recall("which port is taken?", 1)] == ["The port 8080 is taken."]
    assert len(run.recall("which port is taken?")) == 2
    assert memory.run("task-8").recall("which port is taken?") == []


def test_notes_of_one_run_may_be_equal_and_claim_nothing(memory: Memory) -> None:
    run = memory.run("task-7")
    for _ in range(2):
        run.note("Prefers tabs.", kind="preference")
    assert len(run.notes()) == 2


def test_a_note_edited_or_deleted_by_hand_takes_effect_immediately(memory: Memory) -> None:
    run = memory.run("task-7")
    stored, removed = run.note("Port 8080 is taken."), run.note("Nothing of use.")
    paths = {item.id: memory.root / str(memory.path_of(item.id)) for item in (stored, removed)}
    file = paths[stored.id]
    file.write_text(file.read_text(encoding="utf-8").replace("8080", "9090"), encoding="utf-8")
    assert "Port 9090 is taken." in [note.content for note in run.notes()]
    paths[removed.id].unlink()
    memory.upkeep.sync()
    assert [note.content for note in run.notes()] == ["Port 9090 is taken."]


def test_secrets_reach_neither_notes_nor_events(memory: Memory) -> None:
    run = memory.run("task-7")
    run.note(f"The key is {AWS}.")
    receipt = run.close("success", f"It works with {AWS}.", workflow="release")
    assert receipt.redacted
    paths = [path for path in memory.root.rglob("*") if path.is_file() and AWS.encode() in path.read_bytes()]
    assert paths == []


def test_personal_numbers_are_removed_on_request(tmp_path: Path) -> None:
    card = "4111 1111 1111 1111"
    with lamina.open(tmp_path / "v", watch=False, settings=Settings(redact_personal=True)) as memory:
        assert card not in memory.run("task-7").note(f"Her card is {card}.").content
        assert card not in memory.block("release-2").add("ci", f"Her card is {card}.").content
        assert card not in memory.run("task-7").close("success", f"Paid by {card}.").atom.content


@pytest.mark.parametrize("id", ["", "  ", "!!!", "x" * 501, "a\0b"])
def test_a_run_needs_a_name(memory: Memory, id: str) -> None:
    with pytest.raises(InvalidInput):
        memory.run(id)


def test_an_invalid_note_is_refused_and_nothing_is_written(memory: Memory) -> None:
    run = memory.run("task-7")
    for text, kind, origin in (
        (" ", "fact", None),
        ("x", "block", None),
        ("x", "No Kind", None),
        ("x", "fact", "nobody"),
    ):
        with pytest.raises(InvalidInput):
            run.note(text, kind=kind, origin=origin)
    with pytest.raises(InvalidInput):
        run.recall("x", 0)
    assert memory.journal() == []


# Closing


def test_closing_is_one_commit_that_archives_the_notes_and_leaves_one_event(memory: Memory) -> None:
    run = memory.run("task-7")
    notes = [run.note("Port 8080 is taken."), run.note("9090 works.")]
    before = len(memory.journal())
    receipt = run.close("failure", "The deploy failed because the port was taken.")
    (entry,) = memory.journal()[before:]
    assert (entry.id, entry.verb, len(entry.changes)) == (receipt.commit, "close", 3)
    (outcome,) = receipt.outcomes
    event = outcome.atom
    assert (event.kind, event.layer, event.run_id, event.status) == ("event", Layer.EPISODIC, "task-7", Status.ACTIVE)
    assert event.content == "Run task-7 (failure): The deploy failed because the port was taken."
    assert event.derived_from == tuple(note.id for note in notes)
    assert dict(event.metadata) == {"outcome": "failure", "notes": "2"}
    assert outcome.path is not None
    assert (memory.root / outcome.path).exists()
    assert [memory.get(note.id).status for note in notes] == [Status.TOMBSTONED] * 2
    assert run.notes() == run.recall("port") == []
    assert memory.recall("what came of task-7?").hits[0].atom.id == event.id
    assert run.event == event


def test_a_summary_that_names_run_and_outcome_is_used_unchanged(memory: Memory) -> None:
    text = "Task-7 was a success: deployed."
    assert memory.run("task-7").close("success", text).atom.content == text
    assert memory.run("7").close("success", "All 17 went well.").atom.content == "Run 7 (success): All 17 went well."


@pytest.mark.parametrize("outcome", RunOutcome)
def test_every_outcome_closes_a_run_even_one_without_notes(memory: Memory, outcome: RunOutcome) -> None:
    event = memory.run("task-7").close(outcome.value, "So it went.", workflow="release").atom
    assert (event.metadata["outcome"], event.derived_from) == (outcome, ())
    assert bool(procedures(memory)) is (outcome is RunOutcome.SUCCESS)


def test_a_run_is_closed_once_and_accepts_no_notes_afterwards(memory: Memory) -> None:
    run = memory.run("task-7")
    event = run.close("success", "Done.").atom
    before = len(memory.journal())
    with pytest.raises(Refused, match=f"run task-7 is closed: success, recorded in {event.id}; undo"):
        run.close("failure", "Done again.")
    with pytest.raises(Refused, match="closed"):
        memory.run("task-7").note("too late")
    assert len(memory.journal()) == before
    memory.forget(event.id, "not worth keeping")
    with pytest.raises(Refused, match="closed"):
        run.close("failure", "Done again.")


def test_a_note_that_mentions_an_outcome_closes_nothing(memory: Memory) -> None:
    run = memory.run("task-7")
    memory.revise(run.note("The probe failed.", kind="event").id, reason="more", metadata={"outcome": "failure"})
    assert run.event is None
    assert len(run.close("success", "Done.").atom.derived_from) == 1


def test_a_note_edited_just_before_the_close_is_archived_as_edited(memory: Memory) -> None:
    run = memory.run("task-7")
    note = run.note("Port 8080 is taken.")
    file = memory.root / str(memory.path_of(note.id))
    file.write_text(file.read_text(encoding="utf-8").replace("8080", "9090"), encoding="utf-8")
    entry = run.close("success", "Done.").commit
    assert memory.journal()[-1].id == entry
    atom = memory.get(note.id)
    assert (atom.status, atom.content) == (Status.TOMBSTONED, "Port 9090 is taken.")


@pytest.mark.parametrize(
    ("outcome", "summary", "workflow"),
    [("victory", "Done.", None), ("success", " \n", None), ("success", "Done.", "!!!"), ("success", "a\0b", None)],
)
def test_an_invalid_close_changes_nothing(memory: Memory, outcome: str, summary: str, workflow: str | None) -> None:
    run = memory.run("task-7")
    run.note("still here")
    with pytest.raises(InvalidInput):
        run.close(outcome, summary, workflow)
    assert len(run.notes()) == 1
    assert run.event is None


def test_undoing_a_close_restores_the_notes_and_the_run_can_be_closed_again(memory: Memory) -> None:
    run = memory.run("task-7")
    notes = [run.note("Port 8080 is taken."), run.note("9090 works.")]
    receipt = run.close("success", "Deployed.", workflow="release")
    memory.undo(receipt.commit)
    assert [note.id for note in run.notes()] == [note.id for note in notes]
    assert run.event is None
    assert procedures(memory) == []
    assert memory.recall("deployed").hits == ()
    run.note("one more")
    again = run.close("success", "Deployed.", workflow="release")
    assert len(again.atom.derived_from) == 3
    assert [atom.metadata["successes"] for atom in procedures(memory)] == [1]
    assert {hit.atom.kind for hit in memory.recall("deployed").hits} == {"event", "procedure"}


def test_a_dry_run_of_a_close_reports_its_effects_and_makes_none(memory: Memory) -> None:
    run = memory.run("task-7")
    run.note("still here")
    with memory.trial() as trial:
        assert len(trial.run("task-7").close("success", "Done.", workflow="release").outcomes) == 2
    assert len(run.notes()) == 1
    assert procedures(memory) == []


def test_a_run_survives_its_memory_and_a_rebuilt_index(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as memory:
        memory.run("task-7").note("Port 8080 is taken.")
    with lamina.open(tmp_path / "v", watch=False) as memory:
        memory.upkeep.rebuild()
        assert memory.recall("port 8080").hits == ()
        memory.run("task-7").close("success", "Deployed.")
        assert memory.upkeep.doctor(deep=True).faults == ()


def test_a_run_of_many_notes_leaves_an_event_with_a_readable_file(memory: Memory) -> None:
    run = memory.run("task-7")
    for n in range(LINEAGE_LIMIT + 5):
        run.note(f"step {n}")
    event = run.close("success", "Done.").atom
    assert (event.metadata["notes"], len(event.derived_from)) == (str(LINEAGE_LIMIT + 5), LINEAGE_LIMIT)
    memory.upkeep.sync()
    assert memory.get(event.id) == event
    assert memory.upkeep.doctor().problems == ()


# Who may


def test_an_agents_run_belongs_to_its_organisation_and_a_private_one_to_itself(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", ANN, watch=False) as ann, lamina.open(tmp_path / "v", BOB, watch=False) as bob:
        shared = ann.run("task-7").note("shared")
        fields = ann.run("task-7", private=True).note("private")
        assert (shared.scope, shared.agents, fields.scope, fields.agents) == ("org:acme", ("ann",), ANN, ())
        assert [note.content for note in bob.run("task-7").notes()] == ["shared"]
        assert bob.run("task-7", private=True).notes() == []
        with pytest.raises(NotFound):
            bob.get(fields.id)
        ann.run("task-7", private=True).close("success", "Kept to myself.", workflow="release")
        assert [note.content for note in bob.run("task-7").notes()] == ["shared"]
        assert bob.recall("kept to myself").hits == ()
        assert procedures(bob) == []
    with lamina.open(tmp_path / "v", watch=False) as stranger:
        assert stranger.run("task-7").notes() == []


def test_a_close_resting_on_the_web_is_pending_and_raises_no_confidence(memory: Memory) -> None:
    succeed(memory, "task-1")
    run = memory.run("task-2")
    run.note("A page says: push twice.", origin="web")
    receipt = run.close("success", "Pushed twice.", workflow="release")
    event, procedure = receipt.outcomes
    assert (event.result, event.atom.origin, event.atom.status) == (Result.HELD, Origin.WEB, Status.CONSTRAINED)
    assert procedure.result is Result.REFUSED
    assert procedures(memory)[0].metadata["successes"] == 1
    assert memory.recall("pushed twice").hits[0].atom.content == "release: Pushed the tag."


def test_a_note_is_never_more_trusted_than_its_memory(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False, ceiling="tool") as memory:
        assert memory.run("task-7").note("x", origin="human").origin is Origin.TOOL
        event, procedure = memory.run("task-7").close("success", "Done.", workflow="release").outcomes
        assert (event.result, procedure.result) == (Result.HELD, Result.HELD)
        assert memory.list() == []


# Workflows


def test_successes_of_a_workflow_strengthen_one_procedure_and_propose_a_canonical_one_once(memory: Memory) -> None:
    result = [
        [outcome.result for outcome in succeed(memory, f"run {n}", f"Pushed tag {n}.").outcomes] for n in range(1, 6)
    ]
    assert result == [
        [Result.NEW, Result.NEW],
        [Result.NEW, Result.DUPLICATE],
        [Result.NEW, Result.DUPLICATE, Result.HELD],
        [Result.NEW, Result.DUPLICATE],
        [Result.NEW, Result.DUPLICATE],
    ]
    (procedure,) = procedures(memory)
    assert (procedure.layer, procedure.subject, procedure.confidence) == (Layer.PROCEDURAL, "release", 1.0)
    assert procedure.content == "release: Pushed tag 1."
    assert dict(procedure.metadata) == {"workflow": "release", "canonical": False, "successes": 5}
    assert [memory.get(atom_id).run_id for atom_id in procedure.derived_from] == [f"run {n}" for n in range(1, 6)]
    (proposed,) = procedures(memory, Status.CONSTRAINED)
    assert (proposed.metadata["canonical"], proposed.metadata["successes"]) == (True, 3)
    assert proposed.content == "release: Pushed tag 1.\n\nAs it went the last time: Pushed tag 3."
    assert proposed.derived_from[0] == procedure.id
    assert proposed.id not in {hit.atom.id for hit in memory.recall("how to release").hits}


def test_confidence_rises_by_a_tenth(memory: Memory) -> None:
    confidences = [succeed(memory, str(n)).outcomes[1].atom.confidence for n in range(5)]
    assert confidences == [0.7, 0.8, 0.9, 1.0, 1.0]


def test_a_rejected_proposal_is_not_made_again_and_an_undone_one_is(memory: Memory) -> None:
    for n in range(2):
        succeed(memory, str(n))
    third = succeed(memory, "2")
    memory.undo(third.commit)
    assert procedures(memory)[0].metadata["successes"] == 2
    assert succeed(memory, "2 again").outcomes[2].result is Result.HELD
    (proposed,) = procedures(memory, Status.CONSTRAINED)
    memory.forget(proposed.id, "not so")
    memory.revise(procedures(memory)[0].id, reason="counted anew", metadata={"successes": "2"})
    assert len(succeed(memory, "3").outcomes) == 2
    assert procedures(memory)[0].metadata["successes"] == 3


def test_a_confirmed_canonical_procedure_is_the_one_strengthened(memory: Memory) -> None:
    for n in range(3):
        succeed(memory, str(n))
    (proposed,) = procedures(memory, Status.CONSTRAINED)
    memory.update_status(proposed.id, "active", "right")
    assert succeed(memory, "3").outcomes[1].atom.id == proposed.id
    assert memory.get(proposed.id).metadata["successes"] == 4


def test_a_failure_is_recorded_and_makes_no_procedure(memory: Memory) -> None:
    succeed(memory, "1")
    (before,) = procedures(memory)
    receipt = memory.run("2").close("failure", "The tag was there already.", workflow="release")
    assert [outcome.atom.kind for outcome in receipt.outcomes] == ["event"]
    assert receipt.atom.metadata["workflow"] == "release"
    assert procedures(memory) == [before]


def test_a_stated_procedure_is_strengthened_by_its_authors_runs_and_not_by_an_agents(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        stated = person.remember("To release, push the tag.", kind="procedure", subject="Release").atom
    with lamina.open(tmp_path / "v", "org:local:agent:ci", watch=False, ceiling="agent", actor="ci") as agent:
        succeed(agent, "1", "Pushed it twice.")
        assert procedures(agent) == [stated]
    with lamina.open(tmp_path / "v", watch=False) as person:
        succeed(person, "2", "Pushed it twice.")
        (procedure,) = procedures(person)
        assert (procedure.id, procedure.content, procedure.origin) == (stated.id, stated.content, Origin.HUMAN)
        assert procedure.metadata["successes"] == 1


def test_a_forgotten_procedure_does_not_return_in_the_same_words(memory: Memory) -> None:
    procedure = succeed(memory, "1").outcomes[1].atom
    memory.forget(procedure.id, "it was luck")
    assert succeed(memory, "2").outcomes[1].result is Result.REFUSED
    assert procedures(memory) == []
    assert succeed(memory, "3", "Signed the tag, then pushed it.").outcomes[1].result is Result.NEW


def test_workflows_that_differ_by_punctuation_are_two(memory: Memory) -> None:
    succeed(memory, "1", workflow="build c")
    succeed(memory, "2", workflow="build c++")
    assert {atom.subject for atom in procedures(memory)} == {"build c", "build c++"}


def test_a_hand_written_count_breaks_nothing(memory: Memory) -> None:
    procedure = succeed(memory, "1").outcomes[1].atom
    memory.revise(procedure.id, reason="fun", metadata={"successes": "²many"})
    assert succeed(memory, "2").outcomes[1].atom.metadata["successes"] == 1


def test_an_archived_procedure_is_revived_by_use(memory: Memory) -> None:
    procedure = succeed(memory, "1").outcomes[1].atom
    memory.update_status(procedure.id, "archived", "unused")
    succeed(memory, "2")
    assert [(atom.id, atom.metadata["successes"]) for atom in procedures(memory)] == [(procedure.id, 2)]


# Many at once


def test_two_processes_close_a_run_and_learn_a_workflow_once_leaving_no_note(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        for n in range(ROUNDS):
            memory.run(f"shared {n}").note("to be laid aside")
    context = multiprocessing.get_context("spawn")
    start, files = context.Barrier(2), [tmp_path / "a.json", tmp_path / "b.json"]
    racers = [context.Process(target=_race, args=(tmp_path / "vault", file, start)) for file in files]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    for one, other in zip(*(json.loads(file.read_text()) for file in files), strict=True):
        assert sorted([bool(one), bool(other)]) == [False, True]
        assert "is closed: success" in one + other
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert len(memory.list(kind="event")) == 4 * ROUNDS
        assert [note for n in range(ROUNDS) for note in memory.run(f"noted {n}").notes()] == []
        assert sorted((atom.subject, atom.metadata["successes"]) for atom in procedures(memory)) == sorted(
            [("shared", ROUNDS), *((f"round {n}", 2) for n in range(ROUNDS))]
        )


def _note_until_refused(run: Run) -> None:
    with contextlib.suppress(Refused):
        while True:
            run.note("no note outlives its run")


def _race(vault: Path, path: Path, start: Barrier) -> None:
    """Close a run that another process closes, and one of its own for a workflow that the other succeeds in, too."""
    refused: list[str] = []
    with lamina.open(vault, watch=False, background=False) as memory:
        for n in range(ROUNDS):
            start.wait(60)
            try:
                succeed(memory, f"shared {n}", workflow="shared")
                refused.append("")
            except Refused as error:
                refused.append(str(error))
            start.wait(60)
            succeed(memory, f"own {n} {path.stem}", workflow=f"round {n}")
            start.wait(60)
            if path.stem == "a":
                memory.run(f"noted {n}").close("abandoned", "Closed while somebody notes.")
            else:
                _note_until_refused(memory.run(f"noted {n}"))
    path.write_text(json.dumps(refused))


def test_a_note_does_not_prevent_a_request_to_remember(memory: Memory) -> None:
    memory.run("task-7").note("The port is 8080.", kind="fact")
    assert memory.remember("The port is 8080.").outcomes[0].result is Result.NEW
    memory.run("task-7").close("success", "Done.")
    assert memory.recall("port 8080").hits
