"""The command line: it translates between a person's shell and `Memory`, and decides nothing."""

from __future__ import annotations

import sys


def main() -> None:
    """The `lamina` command. What a host waits for is started without all the rest."""
    words = sys.argv[1:]
    if "hook" in words and "--help" not in words:
        from lamina.cli import hook

        if hook.is_asked_for(words):
            hook.main(words)
    if "mcp" in words:
        from lamina.cli.at_once import mcp_at_once

        if mcp_at_once(words):
            return
    from lamina.cli.app import run

    run()
