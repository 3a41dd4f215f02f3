"""An export of Skylattice: layers, states, supersession, metadata and runs arrive, and nothing is dropped.

Covers `lamina.importers.skylattice_export`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exports import write

import lamina
from command_result import Cli
from lamina import Atom, InvalidInput, Memory
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.text.timestamps import parse_time

EXPORT = Path(__file__).parent / "data" / "skylattice_export.json"
RECORDS: list[dict[str, Any]] = json.loads(EXPORT.read_text())["records"]
BY_ID = {record["record_id"]: record for record in RECORDS}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", watch=False) as opened_memory:
        yield opened_memory


def imported(memory: Memory) -> dict[str, Atom]:
    """Return every imported atom by the id of its record, notes of runs included."""
    runs = {record["run_id"] for record in RECORDS if record["run_id"]}
    notes = [atom for run in runs for atom in memory.list(status=None, limit=None, run_id=run)]
    atoms = {atom.id: atom for atom in (*memory.list(status=None, limit=None), *notes)}
    return {atom.source_ref: atom for atom in atoms.values() if atom.source_ref}


def record(**fields: Any) -> dict[str, Any]:
    return {**RECORDS[0], "supersedes": None, "metadata": {}, **fields}


def export_of(path: Path, *records: dict[str, Any], **fields: Any) -> Path:
    head = {"export_version": 1, "generated_at": "2026-04-20T08:00:00+00:00", "filters": {"layers": [], "statuses": []}}
    return write(path, {**head, "count": len(records), **fields, "records": list(records)})


def test_the_fixture_has_every_field_layer_and_status() -> None:
    assert len(RECORDS) >= 40
    assert all(any(record[field] for record in RECORDS) for field in RECORDS[0])
    assert {record["status"] for record in RECORDS} == {"active", "constrained", "superseded", "tombstoned"}
    assert {record["layer"] for record in RECORDS} == {"profile", "episodic", "semantic", "procedural", "working"}


def test_no_record_and_no_field_is_dropped(memory: Memory) -> None:
    report = memory.import_(EXPORT)
    assert (report.source, report.facts, report.duplicates) == ("Skylattice export", len(RECORDS), 0)
    assert (report.problem_count, report.skipped) == (0, ())
    atoms = imported(memory)
    assert atoms.keys() == BY_ID.keys()
    for record_id, row in BY_ID.items():
        atom = atoms[record_id]
        assert (atom.content, atom.layer.value, atom.confidence) == (row["summary"], row["layer"], row["confidence"])
        assert (atom.run_id, atom.observed_at) == (row["run_id"], parse_time(row["created_at"]))
        assert atom.metadata.get("source_refs", ()) == tuple(row["source_refs"])
        assert atom.source_id == f"skylattice:{record_id}"
        metadata = dict(atom.metadata)
        if "decided_proposal" in metadata:
            metadata["proposal_type"] = metadata["decided_proposal"]
        for key, value in row["metadata"].items():
            if isinstance(value, dict):
                assert {name: metadata[f"{key}.{name}"] for name in value} == value
            else:
                assert metadata[key] == (tuple(value) if isinstance(value, list) else value)
        if row["updated_at"] != row["created_at"]:
            assert parse_time(atom.metadata_text("updated_at")) == parse_time(row["updated_at"])


def test_states_are_kept_and_what_counted_there_is_pending(memory: Memory) -> None:
    report = memory.import_(EXPORT)
    atoms = imported(memory)
    for record_id, row in BY_ID.items():
        atom = atoms[record_id]
        if row["status"] in ("superseded", "tombstoned"):
            assert atom.status.value == row["status"] and "imported_status" not in atom.metadata
        else:
            assert (atom.status, atom.metadata["imported_status"]) == (Status.CONSTRAINED, row["status"])
    counts = Counter(row["status"] for row in RECORDS if row["layer"] != "working")
    assert report.held_count == memory.review.count() == counts["active"] + counts["constrained"]
    assert memory.recall("editor theme").hits == ()


def test_supersession_is_kept_in_both_directions(memory: Memory) -> None:
    memory.import_(EXPORT)
    atoms = imported(memory)
    for record_id, row in BY_ID.items():
        if row["supersedes"]:
            before, after = atoms[row["supersedes"]], atoms[record_id]
            assert (before.superseded_by, before.id in after.supersedes) == ((after.id,), True)
            assert before.valid_until == after.valid_from == parse_time(BY_ID[row["supersedes"]]["updated_at"])
        elif row["status"] == "superseded":
            assert atoms[record_id].superseded_by
    (compaction,) = (atom for atom in atoms.values() if "retries" in atom.content and atom.kind == "synthesis")
    assert len(compaction.supersedes) == len(compaction.derived_from) == 3


def test_an_import_of_the_same_or_a_continued_export_adds_only_what_changed(memory: Memory, tmp_path: Path) -> None:
    first, second = (record(record_id=f"mem-{n}", layer="semantic", summary=f"Fact number {n}.") for n in (1, 2))
    first, second = ({**row, "status": "active"} for row in (first, second))
    memory.import_(export_of(tmp_path / "one.json", first))
    again = memory.import_(export_of(tmp_path / "two.json", first))
    assert (again.facts, again.skipped) == (0, (("imported before", 1),))
    ended = {**first, "status": "superseded", "updated_at": "2026-05-01 10:00:00"}
    later = memory.import_(export_of(tmp_path / "three.json", ended, {**second, "supersedes": "mem-1"}))
    assert later.facts == 2
    atoms = {atom.source_ref: atom for atom in memory.list(status=None)}
    assert atoms["mem-1"].status is Status.SUPERSEDED
    assert atoms["mem-1"].superseded_by == (atoms["mem-2"].id,)


def test_confirming_an_import_gives_every_record_the_status_it_had(cli: Cli, vault: Path) -> None:
    data = cli("import", str(EXPORT), "--yes", "--json").data
    reviewed = {record_id: row for record_id, row in BY_ID.items() if row["layer"] != "working"}
    counts = Counter(row["status"] for row in reviewed.values())
    assert (data["facts"], data["kept"]) == (len(RECORDS), counts["active"])
    with lamina.open(vault, watch=False) as memory:
        atoms = imported(memory)
        assert {record_id: atoms[record_id].status.value for record_id in reviewed} == {
            record_id: row["status"] for record_id, row in reviewed.items()
        }
        assert [hit.text for hit in memory.recall("editor theme", layer="profile").relevant] == [
            "Profile preference for editor_theme: high contrast"
        ]
        past = memory.list(layer="profile", as_of="2026-03-10")
        assert "Profile preference for editor_theme: dark" in [atom.content for atom in past]
        assert len(memory.run("run-044").notes()) == 2


def test_pending_proposals_can_be_decided_here(cli: Cli, vault: Path) -> None:
    cli("import", str(EXPORT), "--yes")
    with lamina.open(vault, watch=False) as memory:
        atoms = imported(memory)
        pending = {atom.content: atom for atom in atoms.values() if atom.status is Status.CONSTRAINED}
        compaction = pending["Compacted semantic memory for topic 'configuration'."]
        procedure = pending["Scan, score, shortlist three, write the digest and the log"]
        move = pending["Profile preference for timezone: Europe/Oslo"]
        ended = [memory.review.confirm(atom.id).outcomes[1:] for atom in (compaction, procedure, move)]
        assert [[outcome.atom.status for outcome in outcomes] for outcomes in ended] == [
            [Status.SUPERSEDED] * 2,
            [Status.SUPERSEDED] * 2,
            [Status.SUPERSEDED],
        ]
        assert memory.list(layer=Layer.PROFILE, kind="preference")[0].valid_from is not None
        memory.rollback(compaction.id)
        assert [memory.get(source).status for source in compaction.derived_from] == [Status.ACTIVE] * 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"layer": "dreams"}, "'dreams' is not a valid Layer"),
        ({"layer": "codebase"}, "no layer and status of Skylattice"),
        ({"status": "archived"}, "no layer and status of Skylattice"),
        ({"summary": " "}, "a text is missing"),
        ({"created_at": "soon"}, "soon"),
        ({"confidence": 7}, "confidence"),
        ({"metadata": {"key": float("inf")}}, "must be text, a number"),
    ],
)
def test_a_record_that_cannot_be_read_is_named_and_the_rest_is_imported(
    memory: Memory, tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    report = memory.import_(export_of(tmp_path / "some.json", record(record_id="mem-x", **fields), RECORDS[1]))
    (problem,) = report.problems
    assert reason in problem.reason and report.facts == 1


def test_an_export_that_is_cut_off_says_so(memory: Memory, tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text(EXPORT.read_text()[:9000])
    with pytest.raises(InvalidInput, match="is not a complete export"):
        memory.import_(cut)
    report = memory.import_(export_of(tmp_path / "short.json", RECORDS[0], count=43))
    assert [problem.reason for problem in report.problems] == ["43 records were exported, but it has 1"]


def test_an_imported_record_cannot_act_as_a_proposal_of_lamina(memory: Memory, tmp_path: Path) -> None:
    victim = memory.remember("Keep this.").atom
    row = record(
        record_id="mem-y",
        layer="semantic",
        status="constrained",
        summary="Something else.",
        metadata={"proposal_type": "forget", "source_record_ids": [victim.id], "asked_to_forget_at": "2026-01-01"},
    )
    memory.import_(export_of(tmp_path / "one.json", row))
    (atom,) = memory.list(status="constrained")
    assert "proposal_type" not in atom.metadata and atom.derived_from == ()
    memory.review.confirm(atom.id)
    assert memory.get(victim.id).status is Status.ACTIVE


def test_secrets_in_summaries_and_metadata_are_redacted(memory: Memory, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    row = record(record_id="mem-z", summary=f"The token is {token}.", metadata={"tokens": [token]}, source_refs=[token])
    report = memory.import_(export_of(tmp_path / "one.json", row))
    assert report.secret_count
    assert token not in str(memory.list(status=None))
