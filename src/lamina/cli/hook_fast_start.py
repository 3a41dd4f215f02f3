"""Starts `lamina hook` without loading the rest of the command line, because a host waits for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lamina.hosts.hook import (
    BACKGROUND_SECONDS,
    DEFAULT_SECONDS,
    HookCall,
    HookEvent,
    answer_hook,
    read_call_from_stdin,
)
from lamina.hosts.hook_state import is_vault

COMMAND = "hook"
_OPTIONS = ("--vault", "--scope", "--limit")


def is_hook_command(arguments: Sequence[str]) -> bool:
    """Return whether the arguments are a `hook` command, with or without options before it."""
    return _split_options(arguments)[1][:1] == [COMMAND]


def main(arguments: Sequence[str]) -> NoReturn:
    """Answer a host and exit with 0, whatever the arguments are and whatever fails."""
    try:
        host_output = os.dup(1)
        _silence_output()
        os.write(host_output, run(*_parse_options(arguments)).encode())
    except Exception:  # noqa: BLE001 - the boundary to a host; errors must not reach it
        pass
    finally:
        # Do not wait for threads or buffers; everything that matters is written.
        os._exit(0)


def run(event: str, vault: Path | None = None, scope: str | None = None, seconds: float = DEFAULT_SECONDS) -> str:
    """Return the output for the host; empty if the folder is not a vault."""
    root = Path.cwd() / vault.expanduser() if vault is not None else _default_vault()
    return answer_hook(HookCall(HookEvent(event), root, scope, seconds), read_call_from_stdin) if is_vault(root) else ""


def _default_vault() -> Path:
    from lamina.cli.vault_choice import choose_vault

    return choose_vault(None, os.environ, Path.cwd(), Path.home()).folder


def _parse_options(arguments: Sequence[str]) -> tuple[str, Path | None, str | None, float]:
    options, (_, *positional) = _split_options(arguments)
    vault, scope = options.get("--vault"), options.get("--scope")
    seconds = float(options.get("--limit", DEFAULT_SECONDS))
    return (
        positional[0] if positional else "",
        Path(vault) if vault else None,
        scope or None,
        seconds if 0 < seconds <= BACKGROUND_SECONDS else DEFAULT_SECONDS,
    )


def _split_options(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the known options with their values, and the positional arguments; unknown options are skipped."""
    options, positional = dict[str, str](), list[str]()
    remaining = iter(arguments)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            options[name] = value if equals else next(remaining, "")
        elif not word.startswith("-"):
            positional.append(word)
    return options, positional


def _silence_output() -> None:
    """Redirect stdout and stderr, so that nothing imported later prints to the host."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null_device, descriptor)
