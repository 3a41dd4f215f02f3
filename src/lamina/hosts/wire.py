"""A running server asked through its socket: the shortest way to a memory that somebody holds open already.

A host waits, so the few words of HTTP this needs are spoken here: the library's client takes longer to load than a
server takes to answer.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

from lamina.hosts.deadline import Moment

LARGEST_ANSWER = 4 << 20
PATIENCE = 30.0
"""Seconds after which a server is taken to hang, however much time there is."""
_AT_ONCE = 65_536


class NoServer(Exception):
    """Nobody listens there, or nobody any more."""


class Declined(Exception):
    """The server answered, and not with what was asked for."""

    def __init__(self, status: int, detail: str = "") -> None:
        self.status, self.detail = status, detail
        super().__init__(f"the server answered {status}")


class Wire:
    """Requests to the server of a vault, each within what is left of the time."""

    def __init__(self, path: Path, until: Moment) -> None:
        self._path, self._until = path, until

    def get(self, target: str) -> dict[str, Any]:
        """What it says to a question."""
        return self._answer(_asked("GET", target))

    def post(self, target: str, body: object) -> dict[str, Any]:
        """What it says to a request with a body."""
        return self._answer(_asked("POST", target, json.dumps(body, ensure_ascii=False).encode(errors="replace")))

    def _answer(self, asked: bytes) -> dict[str, Any]:
        if not _is_own(self._path):
            raise NoServer("no socket of this user's is there")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.settimeout(min(self._until.left, PATIENCE))
                line.connect(str(self._path))
                line.sendall(asked)
                said = self._heard(line)
        except TimeoutError:
            raise
        except OSError as error:
            raise NoServer(str(error)) from error
        status, told = _parsed(said)
        if not 200 <= status < 300:
            raise Declined(status, str(told.get("detail", "")))
        return told

    def _heard(self, line: socket.socket) -> bytes:
        """All it says until it hangs up, as it was asked to."""
        said = bytearray()
        while part := line.recv(_AT_ONCE):
            said += part
            if len(said) > LARGEST_ANSWER:
                raise NoServer("the answer has no end")
            line.settimeout(min(self._until.left, PATIENCE))
        return bytes(said)


def _asked(method: str, target: str, body: bytes | None = None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def _is_own(path: Path) -> bool:
    """Whether a socket is there that nobody else can have put there: words are told to it."""
    try:
        there, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    return stat.S_ISSOCK(there.st_mode) and there.st_uid == folder.st_uid == os.getuid()


def _parsed(said: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the document of an answer, which is whole or none at all."""
    head, parted, body = said.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    words = first.split(b" ", 2)
    named = {name.strip().lower(): value.strip() for name, _, value in (header.partition(b":") for header in headers)}
    try:
        status, length = int(words[1]), int(named[b"content-length"])
    except (IndexError, KeyError, ValueError) as error:
        raise NoServer("the answer is none of HTTP") from error
    if not parted or not words[0].startswith(b"HTTP/1.") or len(body) != length:
        raise NoServer("the answer was cut off")
    try:
        told = json.loads(body) if body else {}
    except ValueError as error:
        raise NoServer("the answer is no document") from error
    return status, told if isinstance(told, dict) else {}
