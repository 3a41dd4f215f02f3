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
    from lamina.mcp.background_opening import VaultOptions

_SHARED_OPTIONS = frozenset({"--vault", "--scope"})
_MCP_OPTIONS = frozenset({"--as", "--read-only"})
"""Options of every command, and options of `mcp`, which must follow the command name."""


def serve_mcp_directly(arguments: Sequence[str]) -> bool:
    """Run the MCP server if the arguments are a plain `mcp` command; return whether it ran."""
    options = parse_mcp_options(arguments)
    if options is None:
        return False
    gc.disable()  # collecting garbage during imports takes a third of the time
    try:
        from lamina.mcp.stdio_transport import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "lamina":
            raise
        return False
    server_options = _server_options(options)
    gc.freeze()
    gc.enable()
    try:
        serve(server_options)
    except KeyboardInterrupt:
        pass
    return True


def parse_mcp_options(arguments: Sequence[str]) -> dict[str, str] | None:
    """Return the options by name; None if the arguments are not a plain `mcp` command."""
    options, remaining, command_count = dict[str, str](), iter(arguments), 0
    for word in remaining:
        name, equals, value = word.partition("=")
        if word == "mcp":
            command_count += 1
        elif name in _MCP_OPTIONS and not command_count:
            return None
        elif word == "--read-only":
            options[word] = "yes"
        elif name in _SHARED_OPTIONS or name == "--as":
            option_value = value if equals else next(remaining, "")
            if not option_value or option_value.startswith("-") or name in options:
                return None
            options[name] = option_value
        else:
            return None
    return options if command_count == 1 and options.get("--as", "agent") in ("agent", "human") else None


def _server_options(options: dict[str, str]) -> VaultOptions:
    from lamina.cli.vault_choice import choose_vault
    from lamina.mcp.background_opening import VaultOptions

    vault = Path(options["--vault"]) if "--vault" in options else None
    folder = choose_vault(vault, os.environ, Path.cwd(), Path.home()).folder
    return VaultOptions(
        folder, options.get("--scope"), is_human=options.get("--as") == "human", is_read_only="--read-only" in options
    )
