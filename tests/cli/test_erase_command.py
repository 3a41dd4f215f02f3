"""`lamina erase`: asks before it does what nothing undoes."""

from __future__ import annotations

from pathlib import Path

from canaries import traces
from terminal import Cli


def remembered(cli: Cli, text: str) -> str:
    return str(cli("remember", text, "--json").data["outcomes"][0]["atom"]["id"])


def test_a_dry_run_tells_what_would_go(cli: Cli, vault: Path) -> None:
    own = remembered(cli, "The code is kavodumbitarozk.")
    ran = cli("erase", own, "--dry-run", "--json")
    assert ran.data["erased"] == [own]
    assert (ran.data["commit"], ran.data["dry_run"]) == (None, True)
    assert "kavodumbitarozk" in cli("get", own).out


def test_where_nobody_can_answer_nothing_is_erased(cli: Cli, vault: Path) -> None:
    own = remembered(cli, "The code is kavodumbitarozk.")
    ran = cli("erase", own)
    assert ran.code == 4
    assert "--yes" in ran.err
    assert cli("get", own).code == 0


def test_what_was_erased_is_gone_and_get_says_so(cli: Cli, vault: Path) -> None:
    one, other = remembered(cli, "The code is kavodumbitarozk."), remembered(cli, "The gate is red.")
    ran = cli("erase", one[-8:], "--reason", "she asked", "--yes")
    assert ran.code == 0
    assert "erased: " in ran.out and "statements" in ran.out and "copies that lamina cannot erase" in ran.out
    got = cli("get", one)
    assert got.code == 3
    assert "was erased on" in got.err and "by human (she asked)" in got.err
    assert cli("get", other).code == 0
    assert cli("undo").code == 3
    assert cli("doctor", "--deep").code == 0
    assert not traces([vault], ["kavodumbitarozk"])


def test_a_session_is_erased_by_its_name(cli: Cli, vault: Path) -> None:
    cli("capture", "--session", "call", "--speaker", "Ann", "The code is kavodumbitarozk. It rains.")
    ran = cli("erase", "--session", "call", "--yes", "--json")
    assert ran.data["removed"]["segments"] == 1
    assert ran.data["finished"] is True
    assert cli("list", "--all", "--json").data["atoms"] == []
    assert cli("erase", "--session", "call", "--yes").code == 3
    assert cli("erase").code == 2
