"""`lamina hook`: started without the rest of the command line, because a host waits for it."""

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
    """Whether these words ask for a hook, with options of whatever kind before it or without."""
    return _parts(words)[1][:1] == [NAME]


def main(words: Sequence[str]) -> NoReturn:
    """Answer a host and end with 0, whatever the words are and whatever happens."""
    try:
        out = os.dup(1)
        _be_quiet()
        os.write(out, run(*_parsed(words)).encode())
    except Exception:  # noqa: BLE001 - the border to a host, and nobody is left to tell
        pass
    finally:
        # Nothing that is still open is waited for; all that matters is written.
        os._exit(0)


def run(event: str, vault: Path | None = None, scope: str | None = None, seconds: float = SECONDS) -> str:
    """What the host is told. Without a vault there is nothing to tell."""
    root = Path.cwd() / vault.expanduser() if vault is not None else _chosen()
    return answer(Call(Event(event), root, scope, seconds), read_call) if is_vault(root) else ""


def _chosen() -> Path:
    from lamina.cli.vault_choice import choose

    return choose(None, os.environ, Path.cwd(), Path.home()).folder


def _parsed(words: Sequence[str]) -> tuple[str, Path | None, str | None, float]:
    given, (_, *rest) = _parts(words)
    vault, scope = given.get("--vault"), given.get("--scope")
    seconds = float(given.get("--limit", SECONDS))
    return (
        rest[0] if rest else "",
        Path(vault) if vault else None,
        scope or None,
        seconds if 0 < seconds <= LONGER else SECONDS,
    )


def _parts(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Options of ours with their values, and the words that are no options. What is none of ours is passed over."""
    given, rest = dict[str, str](), list[str]()
    ahead = iter(words)
    for word in ahead:
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            given[name] = value if equals else next(ahead, "")
        elif not word.startswith("-"):
            rest.append(word)
    return given, rest


def _be_quiet() -> None:
    """Let nothing that is loaded on the way say anything to the host."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for each in (1, 2):
        os.dup2(nowhere, each)
