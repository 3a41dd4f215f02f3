"""Starts `lamina hook` without loading the rest of the command line, because a host waits for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lamina.hosts.event import Event
from lamina.hosts.hook import LONGER, SECONDS, Call, answer, read_call
from lamina.hosts.hook_place import is_vault

NAME = "hook"
_OPTIONS = ("--vault", "--scope", "--limit")


def is_asked_for(words: Sequence[str]) -> bool:
    """Whether the arguments are a `hook` command, with or without options before it."""
    return _parts(words)[1][:1] == [NAME]


def main(words: Sequence[str]) -> NoReturn:
    """Answer a host and exit with 0, whatever the arguments are and whatever fails."""
    try:
        host_output = os.dup(1)
        _be_quiet()
        os.write(host_output, run(*_parsed(words)).encode())
    except Exception:  # noqa: BLE001 - the boundary to a host; errors must not reach it
        pass
    finally:
        # Do not wait for threads or buffers; everything that matters is written.
        os._exit(0)


def run(event: str, vault: Path | None = None, scope: str | None = None, seconds: float = SECONDS) -> str:
    """Return the output for the host; empty if the folder is not a vault."""
    root = Path.cwd() / vault.expanduser() if vault is not None else _chosen()
    return answer(Call(Event(event), root, scope, seconds), read_call) if is_vault(root) else ""


def _chosen() -> Path:
    from lamina.cli.vault_choice import choose

    return choose(None, os.environ, Path.cwd(), Path.home()).folder


def _parsed(words: Sequence[str]) -> tuple[str, Path | None, str | None, float]:
    options, (_, *positional) = _parts(words)
    vault, scope = options.get("--vault"), options.get("--scope")
    seconds = float(options.get("--limit", SECONDS))
    return (
        positional[0] if positional else "",
        Path(vault) if vault else None,
        scope or None,
        seconds if 0 < seconds <= LONGER else SECONDS,
    )


def _parts(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the known options with their values, and the positional arguments; unknown options are skipped."""
    options, positional = dict[str, str](), list[str]()
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            options[name] = value if equals else next(remaining, "")
        elif not word.startswith("-"):
            positional.append(word)
    return options, positional


def _be_quiet() -> None:
    """Redirect stdout and stderr, so that nothing imported later prints to the host."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null_device, descriptor)
