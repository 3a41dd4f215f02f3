"""The command line: translates between the shell and `Memory`, without logic of its own."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `lamina` command. `hook` and `mcp`, which a host waits for, start without loading the other commands."""
    arguments = sys.argv[1:]
    if "hook" in arguments and "--help" not in arguments:
        from lamina.cli import hook_fast_start as hook

        if hook.is_hook_command(arguments):
            hook.main(arguments)
    if "mcp" in arguments:
        from lamina.cli.mcp_fast_start import serve_mcp_directly

        if serve_mcp_directly(arguments):
            return
    from lamina.cli.app import run

    run()
