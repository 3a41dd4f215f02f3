"""The short way to `lamina mcp` understands what the command line does, and leaves everything else to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from lamina.cli.app import app
from lamina.cli.mcp_fast_start import parse_mcp_options
from terminal import Cli

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
    ("words", "given_"),
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
def test_the_command_and_its_options_are_understood(words: list[str], given_: dict[str, str]) -> None:
    assert parse_mcp_options(words) == given_


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
def test_whatever_else_is_left_to_the_command_line(words: list[str]) -> None:
    assert parse_mcp_options(words) is None


@given(WORDS)
def test_what_is_taken_at_once_the_command_line_takes_too(words: list[str]) -> None:
    found = parse_mcp_options(words)
    if found is None:
        return
    group: Any = typer.main.get_command(app)
    with group.make_context("lamina", list(words)) as before:
        rest: list[str] = before._protected_args + before.args
        assert rest.pop(0) == "mcp"
        with group.commands["mcp"].make_context("mcp", rest, parent=before) as after:
            given_ = {option: after.params[option] or before.params[option] for option in ("vault", "scope")}
            assert {option: value and str(value) for option, value in given_.items()} == {
                option: found.get(f"--{option}") for option in given_
            }
            assert after.params["origin"] == found.get("--as", "agent")
            assert after.params["read_only"] is ("--read-only" in found)


def test_the_command_is_told_in_the_help(cli: Cli) -> None:
    told = cli("mcp", "--help").out
    assert "--read-only" in told
    assert "--as" in told


def test_the_command_line_starts_the_same_server(cli: Cli, home: Path) -> None:
    assert cli("mcp", "--as", "wolf").code == 2
