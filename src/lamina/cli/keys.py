"""Single keys from a terminal, without the return key and without losing what is typed ahead."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIT = "q"
_END = "\x04"
_ROW = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O.|.)?")


@contextmanager
def single_keys(known: str) -> Iterator[Callable[[], str]]:
    """Gives a function that waits for one of the known keys; the end of input means quit, other keys are not heard."""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSADRAIN)
    typed: list[str] = []

    def key() -> str:
        while True:
            while typed:
                found = typed.pop(0).lower()
                if found == _END or found in known:
                    return QUIT if found == _END else found
            typed.extend(_heard(os.read(fd, 64)))

    try:
        yield key
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _heard(data: bytes) -> str:
    """What was typed; an arrow or function key arrives as a row of letters and means none of them."""
    return _ROW.sub("", data.decode(errors="replace")) if data else _END
