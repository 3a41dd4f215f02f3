"""The commands that set up and check a vault: the status card, init, sync, rebuild, doctor, stats, export.

Covers `lamina.cli.checkout_commands`, `lamina.cli.init` and `lamina.cli.start_screen`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lamina
from command_result import Cli
from lamina.models.light_embedder import find_light_files


def test_the_status_card_without_a_vault_shows_three_next_commands(cli: Cli, vault: Path) -> None:
    result = cli()
    assert result.code == 0
    assert f"none yet in {vault}" in result.out
    assert result.out.count("\n  lamina ") == 3
    data = cli("--json").data
    assert (data["exists"], len(data["next"])) == (False, 3)
    assert not vault.exists()


def test_the_status_card_fits_the_state_of_the_vault(cli: Cli, vault: Path) -> None:
    cli("init")
    assert "lamina try" in cli().out
    cli("remember", "The bin is blue.")
    used = cli()
    assert "1 (1 active)" in used.out
    assert "asked to remember" in used.out
    assert "lamina recall" in used.out
    (vault / "atoms" / "bad.md").write_text("---\nkind: [\n---\n\nx\n", encoding="utf-8")
    assert cli("--json").data["problems"] == 1
    assert "lamina doctor" in cli().out


def test_every_suggested_command_exists(cli: Cli) -> None:
    for command in cli("--json").data["next"]:
        assert cli(command.split()[1], "--help").code == 0


def test_init_makes_a_vault_at_the_given_path(cli: Cli, vault: Path, tmp_path: Path) -> None:
    assert cli("init", "--dry-run").out == f"{vault} would become a vault\n"
    assert not vault.exists()
    assert cli("init").out.startswith(f"{vault} is a vault now\n")
    assert cli("init").out.startswith(f"{vault} was a vault already\n")
    assert cli("init", "--dry-run").out == f"{vault} is a vault already\n"
    assert cli("init", str(tmp_path / "a"), "--json").data["created"] is True
    assert cli("init", "--vault", str(tmp_path / "b"), "--json").data["vault"] == str(tmp_path / "b")
    assert cli("init", ".").code == 0
    assert (tmp_path / "here" / "Home.md").is_file()


def test_init_imports_existing_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old" / "atoms").mkdir(parents=True)
    (tmp_path / "old" / "atoms" / "a.md").write_text("The key is under the pot.\n", encoding="utf-8")
    assert "adopted  1: atoms/a.md" in cli("init", str(tmp_path / "old")).out


def test_init_refuses_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x", encoding="utf-8")
    assert cli("init", str(tmp_path / "f")).code == 2


def test_a_folder_of_a_file_sync_tool_is_reported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "shared" / ".stfolder").mkdir(parents=True)
    assert "the databases are in" in cli("init", str(tmp_path / "shared")).out


def test_sync_reports_edits_of_files(cli: Cli, coffee: str, vault: Path) -> None:
    assert cli("sync").out == "nothing to do\n"
    (vault / "atoms" / "new.md").write_text("The key is under the pot.\n", encoding="utf-8")
    assert cli("sync", "--json").data["adopted"] == ["atoms/new.md"]


def test_many_missing_files_are_held_until_a_person_confirms(cli: Cli, vault: Path) -> None:
    cli("init")
    for number in range(25):
        (vault / "atoms" / f"{number}.md").write_text(f"Fact number {number}.\n", encoding="utf-8")
    cli("sync")
    for file in (vault / "atoms").glob("*.md"):
        file.unlink()
    assert len(cli("sync", "--json").data["held"]) == 25
    looked = cli("sync", "--accept-deletions", "--dry-run")
    assert "would be forgotten" in looked.out
    assert len(cli("list", "--json").data["atoms"]) == 25
    data = cli("sync", "--accept-deletions", "--json").data
    assert (len(data["deleted"]), data["held"]) == (25, [])
    assert cli("list", "--json").data["atoms"] == []


def test_rebuild_recreates_the_index(cli: Cli, coffee: str) -> None:
    before = cli("recall", "coffee", "--json").data["hits"]
    assert cli("rebuild").out == "the index contains 1 atoms\n"
    assert cli("recall", "coffee", "--json").data["hits"] == before


def test_doctor_is_satisfied_or_names_the_file_and_line(cli: Cli, coffee: str, vault: Path) -> None:
    assert cli("doctor", "--deep").out == "no problems found\n"
    (vault / "atoms" / "bad.md").write_text("---\nkind: [\n---\n\nx\n", encoding="utf-8")
    result = cli("doctor")
    assert result.code == 1
    assert "atoms/bad.md:" in result.out
    data = cli("doctor", "--json").data
    assert (data["healthy"], data["problems"][0]["kind"]) == (False, "unreadable")


def test_stats_count_atoms(cli: Cli, coffee: str) -> None:
    assert cli("stats", "--json").data["by_kind"] == {"preference": 1}
    assert "by_kind" in cli("stats").out


@pytest.mark.skipif(not find_light_files(), reason="the light model is not installed")
def test_stats_report_the_size_of_vectors_by_precision_and_of_token_states(
    cli: Cli, coffee: str, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "light")
    cli("sync")
    before = cli("stats", "--json").data["vector_bytes"]
    assert before.keys() == {"32 bits", "token states"} and before["token states"] > 0
    with lamina.open(vault, watch=False, background=False) as memory:
        memory.engine.store.passages.encodings.precision.change({atom.id: 4 for atom in memory.list()})
        assert memory.upkeep.stats()["vector_bytes"].keys() == {"4 bits", "token states"}
    vector_bytes = cli("stats", "--json").data["vector_bytes"]
    assert 0 < vector_bytes["4 bits"] < before["32 bits"] / 6 and vector_bytes["token states"] == 0
    assert f"4 bits {vector_bytes['4 bits']}, token states 0" in cli("stats").out


def test_export_writes_a_new_file_or_folder(cli: Cli, coffee: str, tmp_path: Path) -> None:
    place = tmp_path / "out.json"
    assert "1 atoms would be written" in cli("export", str(place), "--dry-run").out
    assert not place.exists()
    assert cli("export", str(place), "--json").data["path"] == str(place)
    assert json.loads(place.read_text(encoding="utf-8"))["atoms"][0]["id"] == coffee
    assert cli("export", str(place)).code == 2
    assert cli("export", str(tmp_path / "notes"), "--format", "markdown").code == 0
    assert len(list((tmp_path / "notes").rglob("*.md"))) == 1
    assert cli("export", "--format", "pdf").code == 2


def test_bench_is_passed_on(cli: Cli) -> None:
    assert "speed" in cli("bench", "--help").out


def test_the_version_is_printed(cli: Cli) -> None:
    import lamina

    assert cli("--version").out == lamina.__version__ + "\n"
