"""`lamina erase` asks before it removes what cannot be undone."""

from __future__ import annotations

from pathlib import Path

from canaries import traces
from command_result import Cli


def remember_id(cli: Cli, text: str) -> str:
    return str(cli("remember", text, "--json").data["outcomes"][0]["atom"]["id"])


def test_a_dry_run_lists_what_would_be_erased(cli: Cli, vault: Path) -> None:
    text = remember_id(cli, "The code is kavodumbitarozk.")
    result = cli("erase", text, "--dry-run", "--json")
    assert result.data["erased"] == [text]
    assert (result.data["commit"], result.data["dry_run"]) == (None, True)
    assert "kavodumbitarozk" in cli("get", text).out


def test_equal_words_of_other_memories_stay_unless_everywhere_and_a_dry_run_shows_each(cli: Cli, vault: Path) -> None:
    one = remember_id(cli, "The code is kavodumbitarozk.")
    other = remember_id(cli, "Listen. The code is kavodumbitarozk.")
    shown = cli("erase", one, "--everywhere", "--dry-run")
    assert "Listen. The code is kavodumbitarozk. -> Listen. [erased]" in shown.out
    assert "--everywhere erases them" in cli("erase", one, "--dry-run").out
    result = cli("erase", one, "--yes", "--json")
    assert (result.data["erased"], result.data["also_in"], result.data["changes"]) == ([one], [other], [])
    assert "kavodumbitarozk" in cli("get", other).out
    cli("erase", other, "--everywhere", "--yes")
    assert not traces([vault], ["kavodumbitarozk"])


def test_without_a_terminal_nothing_is_erased(cli: Cli, vault: Path) -> None:
    text = remember_id(cli, "The code is kavodumbitarozk.")
    result = cli("erase", text)
    assert result.code == 4
    assert "--yes" in result.err
    assert cli("get", text).code == 0


def test_an_erased_atom_is_gone_and_get_reports_it(cli: Cli, vault: Path) -> None:
    one, other = remember_id(cli, "The code is kavodumbitarozk."), remember_id(cli, "The gate is red.")
    result = cli("erase", one[-8:], "--reason", "she asked", "--yes")
    assert result.code == 0
    assert "erased: " in result.out and "statements" in result.out and "copies that lamina cannot erase" in result.out
    got = cli("get", one)
    assert got.code == 3
    assert "was erased on" in got.err and "by human (she asked)" in got.err
    assert cli("get", other).code == 0
    assert cli("undo").code == 3
    assert cli("doctor", "--deep").code == 0
    assert not traces([vault], ["kavodumbitarozk"])


def test_a_session_is_erased_by_its_name(cli: Cli, vault: Path) -> None:
    cli("capture", "--session", "call", "--speaker", "Ann", "The code is kavodumbitarozk. It rains.")
    result = cli("erase", "--session", "call", "--yes", "--json")
    assert result.data["removed"]["segments"] == 1
    assert result.data["finished"] is True
    assert cli("list", "--all", "--json").data["atoms"] == []
    assert cli("erase", "--session", "call", "--yes").code == 3
    assert cli("erase").code == 2
