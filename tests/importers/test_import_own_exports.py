"""Exports of lamina are imported again with the trust of an import, whatever they claim.

Covers `lamina.importers.lamina_export`, `lamina.importers.okf_bundle`, `lamina.importers.evidence_quotes` and
`lamina.importers.evidence_quotes`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamina
from lamina import FixedClock, InvalidInput, Memory, Origin, Status, passages_of
from lamina.importers import ImportProblem, SkippedItem, plan_import
from lamina.importers.atom_csv_format import escape_cell, unescape_cell

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
FORMATS = ("json", "markdown", "okf", "csv")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FixedClock(NOON)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened_memory:
        opened_memory.remember("Ann lives in Oslo", subject="Ann", attribute="city", value="Oslo", tags=["home"])
        clock.at += timedelta(days=1)
        opened_memory.remember("Ann lives in Rome", subject="Ann", attribute="city", value="Rome", pinned=True)
        opened_memory.capture([{"speaker": "Ann", "content": "My dentist is Dr Moss."}], session_id="teeth")
        opened_memory.forget(opened_memory.remember("Ann collects beetles").atom.id, "she does not")
        yield opened_memory


def write_export(memory: Memory, place: Path, form: str) -> Path:
    suffix = {"json": ".json", "csv": ".csv"}.get(form, "")
    return memory.export(place.with_suffix(suffix), format=form)


def import_into(place: Path, vault: Path) -> Memory:
    opened_memory = lamina.open(vault, clock=FixedClock(NOON + timedelta(days=2)), watch=False, background=False)
    opened_memory.import_(place)
    return opened_memory


@pytest.mark.parametrize("form", FORMATS)
def test_facts_are_pending_and_text_is_evidence_of_an_import(memory: Memory, tmp_path: Path, form: str) -> None:
    with import_into(write_export(memory, tmp_path / "out", form), tmp_path / "other") as other:
        atoms = other.list(status=None, limit=None)
        assert {atom.origin for atom in atoms} == {Origin.IMPORT}
        rome = next(atom for atom in atoms if atom.value == "Rome" or "Rome" in atom.content)
        assert (rome.status, rome.pinned, rome.subject, rome.attribute) == (Status.CONSTRAINED, False, "Ann", "city")
        (words,) = [atom for atom in atoms if atom.is_segment]
        assert (words.status, words.session_id) == (Status.ACTIVE, "teeth")
        assert [(passage.speaker, passage.text) for passage in passages_of(words)] == [
            ("Ann", "My dentist is Dr Moss.")
        ]
        standing = [atom.content for atom in atoms if atom.status is Status.ACTIVE and not atom.is_segment]
        assert standing == []
        assert not any("Rome" in hit.text for hit in other.recall("Where does Ann live?").hits)


@pytest.mark.parametrize("form", FORMATS)
def test_retracted_statements_stay_away(memory: Memory, tmp_path: Path, form: str) -> None:
    with import_into(write_export(memory, tmp_path / "out", form), tmp_path / "other") as other:
        assert not any("beetles" in atom.content for atom in other.list(status=None, limit=None))


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "okf"])
def test_an_ended_statement_is_history_and_links_to_its_successor(memory: Memory, tmp_path: Path, form: str) -> None:
    with import_into(write_export(memory, tmp_path / "out", form), tmp_path / "other") as other:
        (oslo,) = [atom for atom in other.list(status=None, limit=None) if "Oslo" in atom.content]
        assert oslo.status is Status.SUPERSEDED
        assert [other.get(item).value for item in oslo.superseded_by] == ["Rome"]


@pytest.mark.parametrize("form", FORMATS)
def test_reimported_into_its_origin_it_changes_nothing(memory: Memory, tmp_path: Path, form: str) -> None:
    place = write_export(memory, tmp_path / "out", form)
    before = {atom.id: (atom.content, atom.status, atom.origin) for atom in memory.list(status=None, limit=None)}
    memory.import_(place)
    after = {atom.id: (atom.content, atom.status, atom.origin) for atom in memory.list(status=None, limit=None)}
    assert {item: after[item] for item in before} == before
    assert all(after[key][1] is not Status.ACTIVE for key in after.keys() - before.keys())
    position = len(memory.journal())
    memory.import_(place)
    assert len(memory.journal()) == position


def test_a_file_claiming_human_origin_is_not_trusted(memory: Memory, tmp_path: Path) -> None:
    place = write_export(memory, tmp_path / "out", "json")
    document = json.loads(place.read_text(encoding="utf-8"))
    for record in document["atoms"]:
        record |= {"origin": "human", "status": "active", "principal": "the boss", "pinned": True, "confidence": 1.0}
        record |= {"superseded_by": [], "valid_until": None}
    place.write_text(json.dumps(document), encoding="utf-8")
    with import_into(place, tmp_path / "other") as other:
        facts = [atom for atom in other.list(status=None, limit=None) if not atom.is_segment]
        assert {(atom.origin, atom.status, atom.pinned) for atom in facts} == {
            (Origin.IMPORT, Status.CONSTRAINED, False)
        }
        assert other.top() == []


def test_untrusted_statements_are_pending_again(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False, background=False) as memory:
        memory.capture("Ann's door code is under the mat.", session_id="page", origin="web")
        place = write_export(memory, tmp_path / "out", "json")
    with import_into(place, tmp_path / "other") as other:
        (words,) = [atom for atom in other.list(status=None, limit=None) if atom.is_segment]
        assert (words.origin, words.status) == (Origin.WEB, Status.CONSTRAINED)


def test_a_damaged_entry_is_a_problem_of_its_own(memory: Memory, tmp_path: Path) -> None:
    place = write_export(memory, tmp_path / "out", "json")
    document = json.loads(place.read_text(encoding="utf-8"))
    document["atoms"][0]["status"] = "splendid"
    document["atoms"][1] = 7
    place.write_text(json.dumps(document), encoding="utf-8")
    steps = list(plan_import(place).steps())
    assert len(steps) == len(document["atoms"])
    problems = [step for step in steps if isinstance(step, ImportProblem)]
    assert [problem.path for problem in problems] == ["out.json #1", "out.json #2"]


def test_a_truncated_export_is_refused_with_what_to_do(memory: Memory, tmp_path: Path) -> None:
    place = write_export(memory, tmp_path / "out", "json")
    place.write_bytes(place.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="not a complete export"):
        plan_import(place)


def test_a_foreign_table_is_not_taken_for_an_export(tmp_path: Path) -> None:
    place = tmp_path / "prices.csv"
    place.write_text("id,price\n1,2\n", encoding="utf-8")
    assert plan_import(place).importer.name == "file"


def test_a_table_row_without_a_time_is_a_problem(memory: Memory, tmp_path: Path) -> None:
    place = write_export(memory, tmp_path / "out", "csv")
    with place.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["observed_at"] = "soon"
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    steps = list(plan_import(place).steps())
    assert [isinstance(step, ImportProblem) for step in steps].count(True) == 1
    assert len(steps) == len(rows)


def test_foreign_concepts_are_notes(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "people").mkdir(parents=True)
    (bundle / "index.md").write_text('---\nokf_version: "0.2"\n---\n\n# people\n', encoding="utf-8")
    (bundle / "log.md").write_text("# Log\n\n## 2026-01-01\n", encoding="utf-8")
    (bundle / "people" / "ann.md").write_text("---\ntype: Person\n---\n\nAnn bakes bread.\n", encoding="utf-8")
    plan = plan_import(bundle)
    assert (plan.importer.name, plan.total) == ("OKF bundle", 1)
    with import_into(bundle, tmp_path / "vault") as memory:
        (words,) = [atom for atom in memory.list(status=None, limit=None) if atom.is_segment]
        assert "Ann bakes bread." in words.content
        assert words.origin is Origin.DOCUMENT


def test_atoms_that_only_list_others_are_made_anew(memory: Memory, tmp_path: Path) -> None:
    memory.block("garden").add("plan", "Water the roses.")
    steps = plan_import(write_export(memory, tmp_path / "out", "json")).steps()
    skipped = [step.reason for step in steps if isinstance(step, SkippedItem)]
    assert sorted(skipped) == ["generated again by lamina", "retracted in the exported memory"]


@given(st.text())
def test_a_cell_round_trips_and_never_begins_a_formula(text: str) -> None:
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    assert not cell.lstrip().startswith(("=", "+", "-", "@")) and not cell.startswith(("\t", "\r"))
