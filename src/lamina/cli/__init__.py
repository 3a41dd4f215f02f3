"""The command line: it translates between a person's shell and `Memory`, and decides nothing."""

from __future__ import annotations


def main() -> None:
    """The `lamina` command."""
    from lamina.cli.app import run

    run()
