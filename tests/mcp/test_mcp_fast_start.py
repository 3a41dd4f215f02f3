"""The fast start of `lamina mcp` accepts what the command line accepts, and leaves everything else to it.

Covers `lamina.cli.serve`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from command_result import Cli
from lamina.cli.app import app
from lamina.cli.mcp_fast_start import parse_mcp_options

WORDS = st.lists(
    st.sampled_from(
        [
            "mcp",
            "--vault",
            "v",
            "--vault=v",
            "--scope",
            "org:a",
            "--scope=org:a",
            "--as",
            "human",
            "--as=agent",
            "wolf",
            "--read-only",
            "--help",
            "--json",
            "recall",
            "--",
            "-x",
            "",
            "--version",
        ]
    ),
    max_size=6,
)


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (["mcp"], {}),
        (["--vault", "v", "mcp"], {"--vault": "v"}),
        (["mcp", "--vault=v", "--scope", "org:a"], {"--vault": "v", "--scope": "org:a"}),
        (
            ["--scope=org:a", "mcp", "--as", "human", "--read-only"],
            {"--scope": "org:a", "--as": "human", "--read-only": "yes"},
        ),
    ],
)
def test_the_command_and_its_options_are_parsed(words: list[str], fields: dict[str, str]) -> None:
    assert parse_mcp_options(words) == fields


@pytest.mark.parametrize(
    "words",
    [
        ["mcp", "--help"],
        ["recall", "mcp"],
        ["mcp", "mcp"],
        ["mcp", "--as", "wolf"],
        ["mcp", "--vault"],
        ["--json", "mcp"],
        ["mcp", "--vault", "--read-only"],
        ["--vault", "mcp"],
        ["install", "mcp"],
        ["mcp", "--vault", "a", "--vault", "b"],
        ["mcp", "--as", "human", "extra"],
        [],
        ["--as", "human", "mcp"],
        ["--read-only", "mcp"],
        ["mcp", "--read-only=yes"],
    ],
)
def test_all_other_arguments_are_left_to_the_command_line(words: list[str]) -> None:
    assert parse_mcp_options(words) is None


@given(WORDS)
def test_everything_the_fast_start_accepts_the_command_line_accepts(words: list[str]) -> None:
    result = parse_mcp_options(words)
    if result is None:
        return
    group: Any = typer.main.get_command(app)
    with group.make_context("lamina", list(words)) as before:
        rest: list[str] = before._protected_args + before.args
        assert rest.pop(0) == "mcp"
        with group.commands["mcp"].make_context("mcp", rest, parent=before) as after:
            arguments = {option: after.params[option] or before.params[option] for option in ("vault", "scope")}
            assert {option: value and str(value) for option, value in arguments.items()} == {
                option: result.get(f"--{option}") for option in arguments
            }
            assert after.params["origin"] == result.get("--as", "agent")
            assert after.params["read_only"] is ("--read-only" in result)


def test_the_command_is_listed_in_the_help(cli: Cli) -> None:
    output = cli("mcp", "--help").out
    assert "--read-only" in output
    assert "--as" in output


def test_the_command_line_starts_the_same_server(cli: Cli, home: Path) -> None:
    assert cli("mcp", "--as", "wolf").code == 2
