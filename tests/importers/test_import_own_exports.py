"""Exports of lamina brought in again: nothing in them is believed further than an import is, whatever they say."""

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
from lamina.importers.csv_export import escape_cell, unescape_cell

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
FORMATS = ("json", "markdown", "okf", "csv")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FixedClock(NOON)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as opened:
        opened.remember("Ann lives in Oslo", subject="Ann", attribute="city", value="Oslo", tags=["home"])
        clock.at += timedelta(days=1)
        opened.remember("Ann lives in Rome", subject="Ann", attribute="city", value="Rome", pinned=True)
        opened.capture([{"speaker": "Ann", "content": "My dentist is Dr Moss."}], session_id="teeth")
        opened.forget(opened.remember("Ann collects beetles").atom.id, "she does not")
        yield opened


def exported(memory: Memory, place: Path, form: str) -> Path:
    suffix = {"json": ".json", "csv": ".csv"}.get(form, "")
    return memory.export(place.with_suffix(suffix), format=form)


def brought(place: Path, vault: Path) -> Memory:
    opened = lamina.open(vault, clock=FixedClock(NOON + timedelta(days=2)), watch=False, background=False)
    opened.import_(place)
    return opened


@pytest.mark.parametrize("form", FORMATS)
def test_facts_wait_and_words_are_evidence_of_an_import(memory: Memory, tmp_path: Path, form: str) -> None:
    with brought(exported(memory, tmp_path / "out", form), tmp_path / "other") as other:
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
def test_what_was_taken_back_stays_away(memory: Memory, tmp_path: Path, form: str) -> None:
    with brought(exported(memory, tmp_path / "out", form), tmp_path / "other") as other:
        assert not any("beetles" in atom.content for atom in other.list(status=None, limit=None))


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "okf"])
def test_what_was_over_is_history_and_points_to_its_successor(memory: Memory, tmp_path: Path, form: str) -> None:
    with brought(exported(memory, tmp_path / "out", form), tmp_path / "other") as other:
        (oslo,) = [atom for atom in other.list(status=None, limit=None) if "Oslo" in atom.content]
        assert oslo.status is Status.SUPERSEDED
        assert [other.get(each).value for each in oslo.superseded_by] == ["Rome"]


@pytest.mark.parametrize("form", FORMATS)
def test_brought_back_where_it_came_from_it_changes_nothing_that_stands(
    memory: Memory, tmp_path: Path, form: str
) -> None:
    place = exported(memory, tmp_path / "out", form)
    before = {atom.id: (atom.content, atom.status, atom.origin) for atom in memory.list(status=None, limit=None)}
    memory.import_(place)
    after = {atom.id: (atom.content, atom.status, atom.origin) for atom in memory.list(status=None, limit=None)}
    assert {each: after[each] for each in before} == before
    assert all(after[each][1] is not Status.ACTIVE for each in after.keys() - before.keys())
    position = len(memory.journal())
    memory.import_(place)
    assert len(memory.journal()) == position


def test_a_file_that_says_it_is_a_persons_word_is_not_believed(memory: Memory, tmp_path: Path) -> None:
    place = exported(memory, tmp_path / "out", "json")
    told = json.loads(place.read_text(encoding="utf-8"))
    for record in told["atoms"]:
        record |= {"origin": "human", "status": "active", "principal": "the boss", "pinned": True, "confidence": 1.0}
        record |= {"superseded_by": [], "valid_until": None}
    place.write_text(json.dumps(told), encoding="utf-8")
    with brought(place, tmp_path / "other") as other:
        facts = [atom for atom in other.list(status=None, limit=None) if not atom.is_segment]
        assert {(atom.origin, atom.status, atom.pinned) for atom in facts} == {
            (Origin.IMPORT, Status.CONSTRAINED, False)
        }
        assert other.top() == []


def test_words_nobody_vouched_for_wait_again(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False, background=False) as memory:
        memory.capture("Ann's door code is under the mat.", session_id="page", origin="web")
        place = exported(memory, tmp_path / "out", "json")
    with brought(place, tmp_path / "other") as other:
        (words,) = [atom for atom in other.list(status=None, limit=None) if atom.is_segment]
        assert (words.origin, words.status) == (Origin.WEB, Status.CONSTRAINED)


def test_a_damaged_entry_is_a_problem_of_its_own(memory: Memory, tmp_path: Path) -> None:
    place = exported(memory, tmp_path / "out", "json")
    told = json.loads(place.read_text(encoding="utf-8"))
    told["atoms"][0]["status"] = "splendid"
    told["atoms"][1] = 7
    place.write_text(json.dumps(told), encoding="utf-8")
    steps = list(plan_import(place).steps())
    assert len(steps) == len(told["atoms"])
    problems = [step for step in steps if isinstance(step, ImportProblem)]
    assert [problem.path for problem in problems] == ["out.json #1", "out.json #2"]


def test_a_broken_off_export_is_refused_with_what_to_do(memory: Memory, tmp_path: Path) -> None:
    place = exported(memory, tmp_path / "out", "json")
    place.write_bytes(place.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="not a complete export"):
        plan_import(place)


def test_a_table_of_others_is_not_taken_for_ours(tmp_path: Path) -> None:
    place = tmp_path / "prices.csv"
    place.write_text("id,price\n1,2\n", encoding="utf-8")
    assert plan_import(place).importer.name == "file"


def test_a_table_row_without_a_time_is_a_problem(memory: Memory, tmp_path: Path) -> None:
    place = exported(memory, tmp_path / "out", "csv")
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


def test_concepts_of_others_are_notes(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "people").mkdir(parents=True)
    (bundle / "index.md").write_text('---\nokf_version: "0.2"\n---\n\n# people\n', encoding="utf-8")
    (bundle / "log.md").write_text("# Log\n\n## 2026-01-01\n", encoding="utf-8")
    (bundle / "people" / "ann.md").write_text("---\ntype: Person\n---\n\nAnn bakes bread.\n", encoding="utf-8")
    plan = plan_import(bundle)
    assert (plan.importer.name, plan.total) == ("OKF bundle", 1)
    with brought(bundle, tmp_path / "vault") as memory:
        (words,) = [atom for atom in memory.list(status=None, limit=None) if atom.is_segment]
        assert "Ann bakes bread." in words.content
        assert words.origin is Origin.DOCUMENT


def test_what_only_lists_other_atoms_is_made_anew(memory: Memory, tmp_path: Path) -> None:
    memory.block("garden").add("plan", "Water the roses.")
    steps = plan_import(exported(memory, tmp_path / "out", "json")).steps()
    skipped = [step.reason for step in steps if isinstance(step, SkippedItem)]
    assert sorted(skipped) == ["generated again by lamina", "retracted in the exported memory"]


@given(st.text())
def test_a_cell_comes_back_as_it_was_and_never_begins_a_formula(text: str) -> None:
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    assert not cell.lstrip().startswith(("=", "+", "-", "@")) and not cell.startswith(("\t", "\r"))
