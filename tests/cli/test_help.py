from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main

import lamina
from command_result import Cli
from lamina.atom.status import INCLUDE_OPTIONS
from lamina.cli.app import app
from lamina.cli.generated_docs import render_commands, render_settings
from lamina.recall.request_and_question import MEMORY_TYPES_BY_MODE

GROUP: Any = typer.main.get_command(app)
DOCUMENTED_COMMANDS = [
    "init",
    "tour",
    "try",
    "capture",
    "remember",
    "revise",
    "status",
    "forget",
    "pin",
    "unpin",
    "promote",
    "demote",
    "resolve",
    "relate",
    "undo",
    "feedback",
    "erase",
    "import",
    "rollback",
    "quarantine",
    "recall",
    "top",
    "plan",
    "answer",
    "get",
    "list",
    "topics",
    "history",
    "neighbours",
    "journal",
    "diff",
    "sync",
    "rebuild",
    "reread",
    "jobs",
    "doctor",
    "backup",
    "restore",
    "stats",
    "export",
    "dream",
    "serve",
    "mcp",
    "install",
    "uninstall",
    "hook",
    "bench",
    "models",
    "token",
    "run",
    "block",
    "review",
    "profile",
    "semantic",
    "procedural",
]
READ_ONLY_COMMANDS = {
    "backup",
    "restore",
    "tour",
    "try",
    "recall",
    "top",
    "plan",
    "answer",
    "get",
    "list",
    "topics",
    "history",
    "neighbours",
    "journal",
    "diff",
    "rebuild",
    "jobs",
    "doctor",
    "stats",
    "serve",
    "bench",
    "models",
    "run",
    "block",
    "review",
    "profile",
    "semantic",
    "procedural",
    "mcp",
    "install",
    "uninstall",
    "hook",
    "token",
}
"""Those that change nothing, or nothing without a further word, such as --write."""


def test_the_reference_is_generated_from_the_help() -> None:
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == render_commands(), "run `make docs`"


def test_the_settings_page_is_generated_from_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    text = "run `python -m lamina.cli.generated_docs settings > docs/settings.md`"
    assert page.read_text(encoding="utf-8") == render_settings(), text


def test_exactly_the_documented_commands_exist() -> None:
    assert list(GROUP.commands) == DOCUMENTED_COMMANDS


@pytest.mark.parametrize("name", DOCUMENTED_COMMANDS)
def test_every_command_has_a_sentence_an_example_and_help_for_every_option(cli: Cli, name: str) -> None:
    command = GROUP.commands[name]
    assert command.help.strip().endswith(".")
    assert command.epilog.startswith("Example: ")
    assert f"lamina {name}" in command.epilog
    assert all(param.help for param in command.params)
    if name != "bench":
        assert {"--vault", "--scope", "--json"} <= {opt for param in command.params for opt in param.opts}
        assert cli(name, "--help").code == 0


@pytest.mark.parametrize("name", [name for name in DOCUMENTED_COMMANDS if name not in READ_ONLY_COMMANDS])
def test_every_command_that_changes_something_has_a_dry_run(name: str) -> None:
    assert "--dry-run" in {opt for param in GROUP.commands[name].params for opt in param.opts}


FAMILIES = [(name, sub) for name, group in GROUP.commands.items() for sub in getattr(group, "commands", {})]


@pytest.mark.parametrize(("family", "name"), FAMILIES)
def test_every_command_of_a_family_has_a_sentence_an_example_and_help_for_every_option(family: str, name: str) -> None:
    command = GROUP.commands[family].commands[name]
    assert command.help.strip().endswith(".")
    assert command.epilog.startswith(f"Example: lamina {family} {name}")
    assert all(param.help for param in command.params)


def test_the_help_names_every_choice_of_recall() -> None:
    result = {param.name: param.help for param in GROUP.commands["recall"].params}
    assert all(mode in result["mode"] for mode in MEMORY_TYPES_BY_MODE)
    assert all(name in result["include"] for name in INCLUDE_OPTIONS)


def test_an_unknown_command_is_a_usage_error(cli: Cli) -> None:
    assert cli("remembr", "x").code == 2


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in lamina.__all__ if not hasattr(lamina, name)] == []
    with pytest.raises(AttributeError, match="nonsense"):
        lamina.nonsense  # type: ignore[attr-defined] # noqa: B018
