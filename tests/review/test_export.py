"""Everything a memory may read, in a form that needs no lamina to read."""

from __future__ import annotations

import csv
import json
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock, InvalidInput, Memory
from lamina.atom.json_record import from_record
from lamina.importers.lenient_frontmatter import read_frontmatter
from lamina.vault import layout
from lamina.vault.atom_file import parse_file

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FixedClock(NOON)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        first = opened_memory.remember("Ann lives in Oslo 🏔", subject="Ann", attribute="city", tags=["a", "b"]).atom
        clock.at += timedelta(days=1)
        opened_memory.remember("Ann lives in Rome", subject="Ann", attribute="city", metadata={"k": "v: w"})
        opened_memory.capture(
            [{"speaker": "Ann", "content": "---\n^p1\n**Bob**\nRemember that 2+2=4."}], session_id="s"
        )
        opened_memory.relate(first.id, "supports", opened_memory.list()[0].id, 0.25)
        opened_memory.forget(opened_memory.remember("wrong").atom.id, "it was wrong")
        clock.at = datetime(2026, 11, 15, 13, tzinfo=UTC)
        yield opened_memory


def test_a_json_export_contains_every_atom_and_its_history(memory: Memory, tmp_path: Path) -> None:
    place = memory.export(tmp_path / "out.json")
    document = json.loads(place.read_text(encoding="utf-8"))
    assert (document["lamina_export"], document["position"], document["exported_at"]) == (
        1,
        len(memory.journal()),
        "2026-11-15T13:00:00Z",
    )
    histories = {record["id"]: record.pop("history") for record in document["atoms"]}
    atoms = [from_record(record) for record in document["atoms"]]
    assert atoms == sorted(memory.list(status=None, limit=None), key=lambda atom: atom.id)
    for atom in atoms:
        versions = memory.history(atom.id).versions
        assert [history["content"] for history in histories[atom.id]] == [version.atom.content for version in versions]
        assert [history["reason"] for history in histories[atom.id]] == [version.reason for version in versions]
        assert [history["status"] for history in histories[atom.id]] == [version.atom.status for version in versions]
    assert "🏔" in place.read_text(encoding="utf-8")


def test_history_can_be_left_out(memory: Memory, tmp_path: Path) -> None:
    document = json.loads(memory.export(tmp_path / "out.json", history=False).read_text(encoding="utf-8"))
    assert all("history" not in record for record in document["atoms"])


def test_a_markdown_export_round_trips(memory: Memory, tmp_path: Path) -> None:
    place = memory.export(tmp_path / "out", format="markdown")
    files = sorted(path for path in place.rglob("*.md"))
    atoms = memory.list(status=None, limit=None)
    assert len(files) == len(atoms)
    for atom in atoms:
        sheet = parse_file((place / layout.path_for(atom)).read_bytes())
        assert sheet.id == atom.id
        assert {name: value for name, value in sheet.fields.items() if value != getattr(atom, name)} == {}


def test_a_markdown_export_is_a_vault(memory: Memory, tmp_path: Path) -> None:
    place = memory.export(tmp_path / "out", format="markdown")
    with lamina.open(place, clock=FixedClock(NOON + timedelta(days=2)), watch=False) as copy:
        assert copy.upkeep.doctor().problems == ()
        assert copy.list(status=None, limit=None) == memory.list(status=None, limit=None)


def test_an_okf_bundle_is_readable_by_any_reader_of_the_format(memory: Memory, tmp_path: Path) -> None:
    memory.relate(memory.list(kind="fact")[0].id, "depends_on", memory.list(kind="narrative")[0].id)
    place = memory.export(tmp_path / "bundle", format="okf")
    concepts = [file for file in place.rglob("*.md") if file.name not in ("index.md", "log.md")]
    assert concepts
    for file in concepts:
        front = read_frontmatter(file.read_text(encoding="utf-8"))
        assert front.text("type")
        assert front.text("title")
        assert front.moment("timestamp")
    index = (place / "index.md").read_text(encoding="utf-8")
    assert read_frontmatter(index).text("okf_version") == "0.1"
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    assert listed == {file.relative_to(place).as_posix() for file in concepts}
    days = re.findall(r"(?m)^## (\d{4}-\d\d-\d\d)$", (place / "log.md").read_text(encoding="utf-8"))
    assert days == sorted(days, reverse=True) == ["2026-11-15"]
    linked = [match for file in concepts for match in re.findall(r"\]\(/([^)]+)\)", file.read_text(encoding="utf-8"))]
    assert linked
    assert all((place / item).is_file() for item in linked)


def test_an_okf_bundle_contains_only_active_statements(memory: Memory, tmp_path: Path) -> None:
    memory.remember("The gate code is 12", origin="web")
    place = memory.export(tmp_path / "bundle", format="okf")
    words = "".join(file.read_text(encoding="utf-8") for file in place.rglob("*.md"))
    assert "Ann lives in Rome" in words
    assert not any(text in words for text in ("Oslo", "wrong", "gate code"))


def test_no_cell_of_a_table_is_a_formula(memory: Memory, tmp_path: Path) -> None:
    memory.remember("=HYPERLINK(1)", subject="@SUM(A1)", tags=["+1"], entities=["-2", "\tx"])
    memory.remember("   =1+1 after spaces")
    place = memory.export(tmp_path / "out.csv", format="csv")
    with place.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(memory.list(status=None, limit=None))
    cells = [cell for row in rows for cell in row.values()]
    assert "'=HYPERLINK(1)" in cells
    assert not any(re.match(r"\s*[=+\-@]|[\t\r]", cell) for cell in cells)


@pytest.mark.parametrize("form", ["json", "markdown", "okf", "csv"])
def test_an_export_is_readable_only_by_its_owner(memory: Memory, tmp_path: Path, form: str) -> None:
    place = memory.export(tmp_path / "deep" / "out", format=form)
    files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    folders = [file for file in place.rglob("*") if file.is_dir()] if place.is_dir() else []
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert {stat.S_IMODE(item.stat().st_mode) for item in (*folders, tmp_path / "deep")} == {0o700}


def test_an_export_without_a_path_is_below_the_vaults_state_folder(memory: Memory) -> None:
    place = memory.export()
    assert place.parent == memory.root / ".lamina" / "exports"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert memory.upkeep.sync().has_changes is False


def test_no_existing_file_is_overwritten(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("mine")
    with pytest.raises(InvalidInput, match="already exists; choose another name"):
        memory.export(tmp_path / "mine.json")
    assert (tmp_path / "mine.json").read_text() == "mine"


def test_an_unknown_format_is_refused_with_the_known_ones(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="choose from json, markdown"):
        memory.export(tmp_path / "x", format="xml")


def test_an_export_contains_only_what_the_caller_may_read(memory: Memory, tmp_path: Path) -> None:
    with lamina.open(memory.root, "org:local:agent:ann", watch=False) as ann:
        ann.remember("a private word", private=True)
    with lamina.open(memory.root, "org:other", watch=False) as other:
        assert json.loads(other.export(tmp_path / "other.json").read_text())["atoms"] == []
    assert "private word" not in memory.export(tmp_path / "org.json").read_text()
    with lamina.open(memory.root, "org:local:agent:ann", watch=False) as ann:
        assert "private word" in ann.export(tmp_path / "ann.json").read_text()


def test_an_export_reflects_the_current_files(memory: Memory, tmp_path: Path) -> None:
    path = memory.root / (memory.path_of(memory.list(kind="fact")[0].id) or "")
    path.write_text(path.read_text() + "\nand an edit\n")
    assert "and an edit" in memory.export(tmp_path / "x.json").read_text()
