"""`lamina mcp` without the rest of the command line: a host waits for it, and has nothing to read meanwhile.

Whatever is not the plain command with its own options, a question for help for one, is left to the command line.
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
"""Options of every command, and those of this one, which stand behind its name."""


def mcp_at_once(words: Sequence[str]) -> bool:
    """Serve if these words ask for just that; tells whether it did."""
    given = asked_for(words)
    if given is None:
        return False
    gc.disable()  # what is imported stays; looking through it over and over takes a third of the time
    try:
        from lamina.mcp.stdio import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "lamina":
            raise
        return False
    wanted = _wanted(given)
    gc.freeze()
    gc.enable()
    try:
        serve(wanted)
    except KeyboardInterrupt:
        pass
    return True


def asked_for(words: Sequence[str]) -> dict[str, str] | None:
    """The options by name; None where the words are anything else than this command."""
    given, left, commands = dict[str, str](), iter(words), 0
    for word in left:
        name, equals, value = word.partition("=")
        if word == "mcp":
            commands += 1
        elif name in _OWN and not commands:
            return None
        elif word == "--read-only":
            given[word] = "yes"
        elif name in _ANYWHERE or name == "--as":
            told = value if equals else next(left, "")
            if not told or told.startswith("-") or name in given:
                return None
            given[name] = told
        else:
            return None
    return given if commands == 1 and given.get("--as", "agent") in ("agent", "human") else None


def _wanted(given: dict[str, str]) -> Wanted:
    from lamina.cli.vault_choice import choose
    from lamina.mcp.opening import Wanted

    vault = Path(given["--vault"]) if "--vault" in given else None
    folder = choose(vault, os.environ, Path.cwd(), Path.home()).folder
    return Wanted(folder, given.get("--scope"), human=given.get("--as") == "human", read_only="--read-only" in given)
