"""Reads single keys from a terminal, without the return key; keys typed ahead are kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIT_KEY = "q"
_END_OF_INPUT = "\x04"
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O.|.)?")


@contextmanager
def read_single_keys(accepted: str) -> Iterator[Callable[[], str]]:
    """Yield a function that waits for an accepted key; end of input means quit, other keys are ignored."""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSADRAIN)
    typed: list[str] = []

    def key() -> str:
        while True:
            while typed:
                character = typed.pop(0).lower()
                if character == _END_OF_INPUT or character in accepted:
                    return QUIT_KEY if character == _END_OF_INPUT else character
            typed.extend(_decode_keys(os.read(fd, 64)))

    try:
        yield key
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _decode_keys(data: bytes) -> str:
    """Return the typed characters; escape sequences of arrow and function keys are removed."""
    return _ESCAPE_SEQUENCE.sub("", data.decode(errors="replace")) if data else _END_OF_INPUT
