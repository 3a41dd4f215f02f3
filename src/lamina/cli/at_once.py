"""Starts `lamina mcp` without loading the rest of the command line, because a host waits for it.

Anything but the plain command with its options, such as `--help`, is left to the command line.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lamina.mcp.opening import Wanted

_ANYWHERE = frozenset({"--vault", "--scope"})
_OWN = frozenset({"--as", "--read-only"})
"""Options of every command, and options of `mcp`, which must follow the command name."""


def mcp_at_once(words: Sequence[str]) -> bool:
    """Run the MCP server if the arguments are a plain `mcp` command; return whether it ran."""
    options = asked_for(words)
    if options is None:
        return False
    gc.disable()  # collecting garbage during imports takes a third of the time
    try:
        from lamina.mcp.stdio import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "lamina":
            raise
        return False
    server_options = _wanted(options)
    gc.freeze()
    gc.enable()
    try:
        serve(server_options)
    except KeyboardInterrupt:
        pass
    return True


def asked_for(words: Sequence[str]) -> dict[str, str] | None:
    """Return the options by name; None if the arguments are not a plain `mcp` command."""
    options, remaining, command_count = dict[str, str](), iter(words), 0
    for word in remaining:
        name, equals, value = word.partition("=")
        if word == "mcp":
            command_count += 1
        elif name in _OWN and not command_count:
            return None
        elif word == "--read-only":
            options[word] = "yes"
        elif name in _ANYWHERE or name == "--as":
            option_value = value if equals else next(remaining, "")
            if not option_value or option_value.startswith("-") or name in options:
                return None
            options[name] = option_value
        else:
            return None
    return options if command_count == 1 and options.get("--as", "agent") in ("agent", "human") else None


def _wanted(given: dict[str, str]) -> Wanted:
    from lamina.cli.vault_choice import choose
    from lamina.mcp.opening import Wanted

    vault = Path(given["--vault"]) if "--vault" in given else None
    folder = choose(vault, os.environ, Path.cwd(), Path.home()).folder
    return Wanted(folder, given.get("--scope"), human=given.get("--as") == "human", read_only="--read-only" in given)
