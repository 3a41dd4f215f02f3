"""A minimal HTTP client for the socket of a running server, which has the memory open already.

The host waits for the answer, and the standard library's HTTP client takes longer to import than the server to answer.
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
"""Seconds after which a server counts as hanging, however much time is left."""
_AT_ONCE = 65_536


class NoServer(Exception):
    """No server is listening, or it stopped or sent an unusable response."""


class Declined(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, detail: str = "") -> None:
        self.status, self.detail = status, detail
        super().__init__(f"the server answered {status}")


class Wire:
    """Sends requests to the server of a vault within the time that is left."""

    def __init__(self, path: Path, until: Moment) -> None:
        self._path, self._until = path, until

    def get(self, target: str) -> dict[str, Any]:
        """Send a GET request and return the JSON response.

        ServerUnavailable, RequestDeclined or TimeoutError if that fails.
        """
        return self._answer(_asked("GET", target))

    def post(self, target: str, body: object) -> dict[str, Any]:
        """Send a POST request with a JSON body and return the JSON response; fails like `get`."""
        return self._answer(_asked("POST", target, json.dumps(body, ensure_ascii=False).encode(errors="replace")))

    def _answer(self, asked: bytes) -> dict[str, Any]:
        if not _is_own(self._path):
            raise NoServer("there is no socket of this user")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(min(self._until.left, PATIENCE))
                connection.connect(str(self._path))
                connection.sendall(asked)
                response = self._heard(connection)
        except TimeoutError:
            raise
        except OSError as error:
            raise NoServer(str(error)) from error
        status, document = _parsed(response)
        if not 200 <= status < 300:
            raise Declined(status, str(document.get("detail", "")))
        return document

    def _heard(self, line: socket.socket) -> bytes:
        """Return everything the server sends until it closes the connection."""
        received = bytearray()
        while part := line.recv(_AT_ONCE):
            received += part
            if len(received) > LARGEST_ANSWER:
                raise NoServer("the response is too long")
            line.settimeout(min(self._until.left, PATIENCE))
        return bytes(received)


def _asked(method: str, target: str, body: bytes | None = None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def _is_own(path: Path) -> bool:
    """Whether the socket belongs to this user: private text is sent to it."""
    try:
        socket_stat, folder_stat = path.lstat(), path.parent.stat()
    except OSError:
        return False
    return stat.S_ISSOCK(socket_stat.st_mode) and socket_stat.st_uid == folder_stat.st_uid == os.getuid()


def _parsed(said: bytes) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON body of a response; ServerUnavailable if it is incomplete."""
    head, separator, body = said.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    words = first.split(b" ", 2)
    header_values = {
        name.strip().lower(): value.strip() for name, _, value in (header.partition(b":") for header in headers)
    }
    try:
        status, length = int(words[1]), int(header_values[b"content-length"])
    except (IndexError, KeyError, ValueError) as error:
        raise NoServer("the response is not HTTP") from error
    if not separator or not words[0].startswith(b"HTTP/1.") or len(body) != length:
        raise NoServer("the response was cut off")
    try:
        document = json.loads(body) if body else {}
    except ValueError as error:
        raise NoServer("the response is not JSON") from error
    return status, document if isinstance(document, dict) else {}
