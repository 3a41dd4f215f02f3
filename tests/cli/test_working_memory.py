"""`lamina run` and `lamina block`, as they are typed.

Covers `lamina.documents.working_memory`.
"""

from __future__ import annotations

from typing import Any

import pytest
import typer.main

from command_result import Cli
from lamina.cli.app import app

GROUP: Any = typer.main.get_command(app)
COMMANDS = [("run", "note"), ("run", "close"), ("run", "show"), ("block", "add"), ("block", "show")]


@pytest.mark.parametrize(("group", "name"), COMMANDS)
def test_every_command_of_a_group_has_a_sentence_an_example_and_help_for_every_option(group: str, name: str) -> None:
    command = GROUP.commands[group].commands[name]
    assert command.help.strip().endswith(".")
    assert f"lamina {group} {name}" in command.epilog
    assert all(param.help for param in command.params)
    options = {opt for param in command.params for opt in param.opts}
    assert {"--vault", "--scope", "--json"} <= options
    assert ("--dry-run" in options) is (name != "show")


def test_the_groups_have_no_other_command() -> None:
    assert [(group, name) for group in ("run", "block") for name in GROUP.commands[group].commands] == COMMANDS


def test_a_run_is_noted_shown_closed_and_reopened_by_undo(cli: Cli) -> None:
    note = cli("run", "note", "task-7", "Port 8080 is taken.", "--phase", "probe", "--json").data
    assert (note["atom"]["run_id"], note["atom"]["metadata"]) == ("task-7", {"phase": "probe"})
    assert note["undo"] == f"lamina undo {note['commit']}"
    cli("run", "note", "task-7", "-", stdin="The cache was cold.\n")
    assert "Port 8080 is taken." in cli("run", "show", "task-7").out
    data = cli("run", "show", "task-7", "--ask", "which port?", "-k", "1", "--json").data
    assert [note["content"] for note in data["notes"]] == ["Port 8080 is taken."]
    assert "8080" not in cli("recall", "port 8080").out
    assert "8080" not in cli("list", "--all").out

    closed = cli("run", "close", "task-7", "success", "Deployed on 9090.", "--workflow", "deploy", "--json").data
    assert [outcome["atom"]["kind"] for outcome in closed["outcomes"]] == ["event", "procedure"]
    result = cli("run", "show", "task-7", "--json").data
    assert (result["outcome"], result["notes"]) == ("success", [])
    assert cli("run", "show", "task-7").out == "closed: Run task-7 (success): Deployed on 9090.\n"
    again = cli("run", "close", "task-7", "success", "Twice.")
    assert (again.code, again.out) == (4, "")
    assert "run task-7 is closed" in again.err
    assert cli("undo", closed["commit"]).code == 0
    assert len(cli("run", "show", "task-7", "--json").data["notes"]) == 2


def test_a_dry_run_changes_nothing(cli: Cli) -> None:
    cli("run", "note", "task-7", "still here")
    result = cli("run", "close", "task-7", "success", "Done.", "--dry-run")
    assert "dry run: nothing was changed" in result.out
    data = cli("block", "add", "w", "planner", "Never.", "--dry-run", "--json").data
    assert (data["dry_run"], data["commit"], data["undo"]) == (True, None, None)
    assert len(cli("run", "show", "task-7", "--json").data["notes"]) == 1
    assert cli("block", "show", "w").out == "no notes\n"


def test_an_unknown_outcome_is_a_usage_error_that_lists_them(cli: Cli) -> None:
    result = cli("run", "close", "task-7", "victory", "Done.")
    assert result.code == 2
    assert "success, failure, abandoned" in result.err


def test_a_block_is_added_to_and_shown(cli: Cli) -> None:
    assert cli("block", "add", "release-2", "planner", "Freeze on Friday.").code == 0
    added = cli("block", "add", "release-2", "tester", "Two tests\nare flaky.", "--json").data
    assert (added["atom"]["kind"], added["atom"]["subject"]) == ("block", "release-2")
    assert cli("block", "show", "release-2").out == "planner: Freeze on Friday.\ntester: Two tests are flaky.\n"
    data = cli("block", "show", "release-2", "--budget", "0", "--json").data
    assert (len(data["entries"]), data["text"]) == (2, "")


def test_an_agents_private_run_stays_private(cli: Cli) -> None:
    cli("run", "note", "task-7", "mine", "--private", "--scope", "org:acme:agent:ann")
    assert cli("run", "show", "task-7", "--scope", "org:acme:agent:bob", "--private").out == "no notes yet\n"
    assert "mine" in cli("run", "--scope", "org:acme:agent:ann", "show", "task-7", "--private").out
