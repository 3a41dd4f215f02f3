"""A Lattice folder is imported without loss: every field, counter and link, and a summary that counts all of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from exports import note
from lattice_folder import LatticeAtom, lattice_atoms, write_lattice_folder

import lamina
from command_result import Cli
from lamina import Atom, FixedClock, Memory, Status
from lamina.atom.kinds import Layer
from lamina.importers.import_writer import ImportReport

NOW = datetime(2026, 11, 14, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, ImportReport]]:
    place = tmp_path_factory.mktemp("lattice")
    write_lattice_folder(place / "folder")
    with lamina.open(place / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory:
        yield memory, memory.import_(place / "folder")


def atom_of(memory: Memory, original: LatticeAtom) -> Atom:
    return memory.get(original.id)


@pytest.mark.parametrize("original", lattice_atoms(), ids=lambda original: original.id)
def test_every_field_of_an_atom_is_kept(imported: tuple[Memory, ImportReport], original: LatticeAtom) -> None:
    memory, _ = imported
    atom = atom_of(memory, original)
    assert (atom.source_ref, atom.kind, atom.subject) == (original.id, original.kind, original.subject)
    assert (atom.content, atom.observed_at) == (original.content, original.observed_at)
    assert (atom.source_id, atom.session_id) == ("telegram", original.session)
    assert atom.segment_id == f"seg_{original.number}"
    assert atom.episode_id == f"{original.observed_at:%Y-%m-%d}:{original.session}"
    assert atom.layer is (Layer.SEMANTIC if original.tier == "semantic" else Layer.EPISODIC)
    assert atom.metadata.get("tier", original.tier) == original.tier
    assert atom.metadata["mood"] == "cheerful"
    assert atom.valid_from == datetime(2025, 1, 1, tzinfo=UTC)
    assert atom.status is (Status.SUPERSEDED if original.superseded_by else Status.CONSTRAINED)
    if original.superseded_by:
        assert atom.valid_until == datetime(2026, 1, 1, tzinfo=UTC), "a bare end date means through that day"
    counters = memory.signals(atom.id)
    assert (counters.quality_score, counters.recall_count) == (original.quality, original.number)
    assert counters.last_recalled_at == (original.recalled_at if original.number else None)
    assert {memory.get(old).id for old in original.supersedes} == {*atom.supersedes}
    assert atom.superseded_by == ((memory.get(original.superseded_by).id,) if original.superseded_by else ())


def test_the_summary_counts_what_was_kept_held_and_left_out(imported: tuple[Memory, ImportReport]) -> None:
    _, report = imported
    originals = lattice_atoms()
    ended = [original for original in originals if original.superseded_by]
    assert (report.source, report.facts) == ("Lattice vault", len(originals))
    assert dict(report.results) == {"held": len(originals) - len(ended), "superseded": len(ended)}
    assert dict(report.left_out) == {"dedup": len(originals)}
    assert (report.skipped, report.problem_count) == ((), 0)


def _one_more(folder: Path) -> Path:
    note(
        folder / "more.md",
        lattice_atoms()[3].text().replace("a1b2c3d4e003", "cccccccccccc").replace("number 3", "number 300"),
    )
    return folder


def test_an_import_that_merges_skips_and_cannot_read_says_so_and_why(cli: Cli, vault: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    originals = write_lattice_folder(folder)
    same = originals[0].text().replace(originals[0].id, "ffffffffffff")
    broken = originals[1].text().replace(originals[1].id, "eeeeeeeeeeee")
    wrong = originals[2].text().replace(originals[2].id, "dddddddddddd").replace("number 2", "number 200")
    note(folder / "same.md", same.replace("quality_score: 0.1", "quality_score: 1.7"))
    note(folder / "broken.md", broken.replace("valid_until: null", "valid_until: 2024-01-01"))
    note(folder / "wrong.md", wrong.replace("recall_count: 2", "recall_count: many"))
    first = cli("import", str(folder), "--json").data
    assert first["results"] == {"duplicate": 1, "held": 42, "superseded": 4}
    assert first["left_out"] == {"dedup": 47, "recall_count": 1}
    assert [problem["path"] for problem in first["problems"]] == ["broken.md"]
    assert first["facts"] + first["problem_count"] == len(originals) + 3
    again = cli("import", str(folder)).out
    assert "review confirm --source lattice" in cli("import", str(_one_more(folder))).out
    assert "skipped: imported before" in again
    assert "could not be read" in again
    merged = cli("get", originals[0].id, "--json").data
    assert merged["quality_score"] == 0.1


def test_the_counters_and_fields_of_an_import_survive_the_loss_of_the_journal(tmp_path: Path) -> None:
    originals = write_lattice_folder(tmp_path / "folder")
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory:
        memory.import_(tmp_path / "folder")
        before = {original.id: memory.get(original.id) for original in originals}
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    later = FixedClock(NOW + timedelta(seconds=1))
    with lamina.open(tmp_path / "vault", clock=later, watch=False, background=False) as memory:
        for original in originals:
            atom = memory.get(original.id)
            assert atom == before[original.id]
            assert memory.signals(atom.id).quality_score == original.quality
            assert memory.signals(atom.id).recall_count == original.number


@pytest.mark.parametrize("form", ["json", "markdown", "csv", "okf"])
def test_an_export_contains_the_counters_and_an_import_of_it_keeps_them(
    imported: tuple[Memory, ImportReport], tmp_path: Path, form: str
) -> None:
    memory, _ = imported
    original = lattice_atoms()[11]
    atom = atom_of(memory, original)
    if form == "okf":  # a bundle contains no pending statements
        atom = memory.review.confirm(atom.id, "yes").atom
    path = memory.export(tmp_path / f"out{'.' + form if form in ('json', 'csv') else ''}", format=form)
    if form == "json":
        record = next(record for record in json.loads(path.read_text())["atoms"] if record["id"] == atom.id)
        assert (record["quality_score"], record["recall_count"]) == (original.quality, original.number)
    with lamina.open(tmp_path / "other", clock=FixedClock(NOW), watch=False, background=False) as other:
        other.import_(path)
        counters = other.signals(other.get(atom.id).id)
    assert (counters.quality_score, counters.recall_count) == (original.quality, original.number)
    assert counters.last_recalled_at == original.recalled_at


def test_confirming_by_the_source_of_an_import_finds_atoms_that_kept_their_own_source(tmp_path: Path) -> None:
    write_lattice_folder(tmp_path / "folder")
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory:
        memory.import_(tmp_path / "folder")
        assert len(memory.review.held("lattice")) == len(memory.review.held("telegram")) == 41


def test_values_that_lamina_cannot_store_are_kept_as_metadata_or_named_in_the_summary(tmp_path: Path) -> None:
    text = (
        lattice_atoms()[8]
        .text()
        .replace("kind: fact", "kind: Überraschung!")
        .replace("tier: semantic", "tier: archive")
    )
    text = text.replace("observed_at: 2025-11-22T09:12:00Z", "observed_at: last winter\nconfidence: 7")
    note(tmp_path / "folder" / "odd.md", text)
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory:
        report = memory.import_(tmp_path / "folder")
        atom = memory.get(lattice_atoms()[8].id)
    assert (atom.kind, atom.metadata["kind"], atom.metadata["tier"]) == ("fact", "Überraschung!", "archive")
    assert dict(report.left_out) == {"confidence": 1, "dedup": 1, "observed_at": 1}


def test_a_link_that_only_the_successor_names_is_kept_both_ways(tmp_path: Path) -> None:
    originals = {original.number: original for original in lattice_atoms()}
    for number in (40, 41):
        text = originals[number].text().replace(f"superseded_by: {originals[41].id}", "superseded_by: null")
        note(tmp_path / "folder" / f"{originals[number].id}.md", text)
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory:
        memory.import_(tmp_path / "folder")
        old, new = (memory.get(originals[number].id) for number in (40, 41))
        assert (old.superseded_by, new.supersedes) == ((new.id,), (old.id,))
