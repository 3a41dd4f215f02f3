"""Memories of engram arrive with everything that has a meaning here, and the summary names the rest."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engram_files import COUNT, DAY, START, memory_rows, write_database, write_export

import lamina
from lamina import Atom, Memory
from lamina.atom.atom import Signals
from lamina.atom.status import Status
from lamina.errors import InvalidInput
from lamina.importers.chat_export import moment_from_seconds
from lamina.importers.engram_export import open_engram_export
from lamina.importers.engram_rows import EngramContext, import_diary, import_memory, import_names, import_relation
from lamina.importers.import_items import ImportedFact, SkippedItem
from lamina.importers.import_writer import ImportReport

ENDED = {"challenged", "superseded", "merged", "invalidated"}


@pytest.fixture(scope="module", params=[write_database, write_export], ids=["database", "export"])
def imported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Memory, ImportReport]]:
    folder = tmp_path_factory.mktemp("engram")
    write: Callable[[Path], Path] = request.param
    path = write(folder / ("engram.db" if write is write_database else "export.json"))
    with lamina.open(folder / "vault", watch=False) as memory:
        yield memory, memory.import_(path)


def by_engram_id(memory: Memory) -> dict[str, Atom]:
    return {atom.source_ref: atom for atom in memory.list(status=None, limit=None) if atom.source_ref}


def test_every_memory_arrives_with_its_layer_type_importance_and_valence(imported: tuple[Memory, ImportReport]) -> None:
    atoms = by_engram_id(imported[0])
    for row in memory_rows():
        atom = atoms[row["id"]]
        assert atom.content == row["content"]
        assert (atom.layer, atom.memory_type) == (row["layer"], row["memory_type"])
        assert (atom.importance, atom.valence) == (row["importance"], row["emotional_valence"])
        assert set(atom.tags) == {*row["metadata"]["tags"], *row["metadata"]["keywords"]}
        assert len(atom.entities) == 1
        assert f"{atom.observed_at:%Y-%m-%d}" == row["fact_date"]
        for name in ("source_file", "source_type", "fact_date_end", "previous_memory_id"):
            assert atom.metadata.get(name) == row[name]
        assert str(atom.metadata["surprise"]) == "0.25" and "2024-05-14" in str(atom.metadata["importance_history"])
    assert atoms["memory-008"].pinned


def test_active_memories_wait_for_review_and_the_others_keep_their_status(
    imported: tuple[Memory, ImportReport],
) -> None:
    memory, report = imported
    atoms = by_engram_id(memory)
    for row in memory_rows():
        atom = atoms[row["id"]]
        if row["forgotten"]:
            assert atom.status is Status.TOMBSTONED
        elif row["status"] in ENDED:
            assert atom.status == row["status"]
            reasons = " ".join(transition.reason for transition in memory.status_history(atom.id))
            assert f"active → {row['status']}: conflicting info from new source" in reasons
        else:
            assert atom.status is Status.CONSTRAINED
    assert atoms["memory-004"].superseded_by == (atoms["memory-012"].id,)
    ended = sum(atom.status is not Status.CONSTRAINED for atom in atoms.values())
    held = [atom for atom in memory.list(status="constrained", limit=None) if not atom.is_segment]
    results = dict(report.results)
    assert results.pop("held") == len(held) and sum(results.values()) == ended
    for n in (2, 4, 5, 6, 47):  # pending, superseded, merged, invalidated, forgotten
        hits = memory.recall(f"which port does service number {n} use?").hits
        assert f"memory-{n:03}" not in [hit.atom.source_ref for hit in hits]


def test_accesses_become_uses(imported: tuple[Memory, ImportReport]) -> None:
    memory = imported[0]
    for row in memory_rows()[:7]:
        signals = memory.signals(by_engram_id(memory)[row["id"]].id)
        assert (signals.recall_count, signals.use_days) == (row["access_count"], row["access_count"])
        if row["access_count"]:
            n = int(row["id"][-3:])
            assert signals.last_recalled_at == moment_from_seconds(START + (n + 100) * DAY)
            assert signals.first_used_at == moment_from_seconds(START + (n + 50) * DAY)


def test_entities_and_the_diary_arrive_too(imported: tuple[Memory, ImportReport]) -> None:
    memory, report = imported
    contents = {atom.content: atom for atom in memory.list(status="constrained", limit=None)}
    relation = contents["Billing depends on Postgres"]
    assert (relation.kind, relation.confidence, relation.metadata["relation"]) == ("relationship", 0.9, "DEPENDS_ON")
    alias = contents["Postgres is also called PG."]
    assert (alias.subject, alias.attribute, alias.value) == ("Postgres", "alias", "PG")
    assert memory.recall("racks").relevant[0].text == "Moved the racks today."
    assert (report.facts, report.documents) == (COUNT + 3, 1)


def test_the_summary_names_what_has_no_meaning_here(imported: tuple[Memory, ImportReport]) -> None:
    _, report = imported
    skipped = {reason.partition(";")[0]: count for reason, count in report.skipped}
    assert skipped == {
        "vector": COUNT,
        "hash of a text": COUNT,
        "hypothetical question": 1,
        "event of the other program's log": 1,
    }
    assert not report.problems


def test_importing_again_adds_nothing(imported: tuple[Memory, ImportReport], tmp_path: Path) -> None:
    memory, _ = imported
    before = len(memory.list(status=None, limit=None))
    again = memory.import_(write_database(tmp_path / "again.db"))
    assert again.facts == 0 and len(memory.list(status=None, limit=None)) == before


def test_confirming_a_memory_brings_it_back_as_it_was(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        memory.import_(write_database(tmp_path / "engram.db"))
        atom = by_engram_id(memory)["memory-002"]
        confirmed = memory.review.confirm(atom.id, "true").atom
        assert (confirmed.status, confirmed.layer, confirmed.importance) == (Status.ACTIVE, "semantic", 0.087)
        assert memory.recall("which port does service number 2 use?").relevant[0].atom.id == atom.id


def test_a_database_of_another_program_is_refused_with_what_is_supported(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE orders(id INTEGER)")
    db.commit()
    db.close()
    with lamina.open(tmp_path / "vault", watch=False) as memory, pytest.raises(InvalidInput) as refusal:
        memory.import_(path)
    for name in ("ChatGPT", "Claude", "Lattice", "Remnic", "engram", "OKF", "lamina"):
        assert name in str(refusal.value)


@pytest.mark.parametrize("damage", ["cut", "wrong"])
def test_a_damaged_file_is_refused_and_nothing_is_lost(tmp_path: Path, damage: str) -> None:
    path = write_export(tmp_path / "export.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-30] if damage == "cut" else json.dumps({"memories": [{"id": 1}]}), encoding="utf-8")
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        with pytest.raises(InvalidInput, match=r"export\.json"):
            memory.import_(path)
        assert memory.list(status=None) == []


def test_a_memory_of_a_wrong_shape_is_a_problem_and_the_rest_arrives(tmp_path: Path) -> None:
    path = tmp_path / "engram.db"
    write_database(path)
    db = sqlite3.connect(path)
    db.execute("UPDATE memories SET metadata='[1]' WHERE id='memory-001'")
    db.execute("UPDATE memories SET content='' WHERE id='memory-002'")
    db.commit()
    db.close()
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        report = memory.import_(path)
        assert [problem.path for problem in report.problems] == ["engram.db memories #2"]
        assert dict(report.skipped)["it is empty"] == 1
        assert report.facts == COUNT + 1


NOTHING_ELSE = EngramContext({"a": "Ann", "b": "Bob"}, {}, {}, {}, {})


def test_a_memory_without_the_newer_columns_is_read_too() -> None:
    row = {"id": "m", "content": "The API uses JWT tokens.", "layer": "semantic", "importance": 2, "created_at": START}
    fact = import_memory(row, "here", NOTHING_ELSE)
    assert isinstance(fact, ImportedFact) and fact.signals == Signals()
    assert (fact.draft.kind, fact.draft.layer, fact.draft.importance) == ("fact", "semantic", 1.0)
    assert fact.status is Status.CONSTRAINED and fact.draft.memory_type is None
    assert isinstance(import_memory({**row, "content": " "}, "here", NOTHING_ELSE), SkippedItem)
    invalidated = import_memory({**row, "metadata": '{"invalidated": true}'}, "here", NOTHING_ELSE)
    assert isinstance(invalidated, ImportedFact) and invalidated.status is Status.INVALIDATED


def test_a_relation_needs_both_ends_and_a_name_another_one() -> None:
    relation = import_relation({"source": "a", "target": "b", "relation_type": "KNOWS"}, "here", NOTHING_ELSE)
    assert (relation.draft.content, relation.draft.confidence) == ("Ann knows Bob", 0.4)
    with pytest.raises(InvalidInput, match="missing"):
        import_relation({"source": "a", "target": "c"}, "here", NOTHING_ELSE)
    assert [fact.draft.value for fact in import_names({"id": "a", "canonical_name": "Ann", "aliases": ["A."]}, "")] == [
        "A."
    ]
    assert list(import_names({"id": "a", "canonical_name": "Ann"}, "")) == []


def test_other_files_are_no_memories_of_engram(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"memories": "many"}')
    (tmp_path / "notes.md").write_text("memories")
    assert open_engram_export(tmp_path / "notes.json") is None
    assert open_engram_export(tmp_path / "notes.md") is None and open_engram_export(tmp_path) is None
    assert isinstance(import_diary({"text": "\n"}, "here")[0], SkippedItem)
