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

from lamina.hosts.deadline import Timeout

MAX_RESPONSE_BYTES = 4 << 20
MAX_WAIT_SECONDS = 30.0
"""Seconds after which a server counts as hanging, however much time is left."""
_CHUNK_BYTES = 65_536


class ServerUnavailable(Exception):
    """No server is listening, or it stopped or sent an unusable response."""


class RequestDeclined(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, detail: str = "") -> None:
        self.status, self.detail = status, detail
        super().__init__(f"the server answered {status}")


class ServerClient:
    """Sends requests to the server of a vault within the time that is left."""

    def __init__(self, socket_path: Path, timeout: Timeout) -> None:
        self._path, self._timeout = socket_path, timeout

    def get(self, target: str) -> dict[str, Any]:
        """Send a GET request and return the JSON response.

        ServerUnavailable, RequestDeclined or TimeoutError if that fails.
        """
        return self._send(_format_request("GET", target))

    def post(self, target: str, body: object) -> dict[str, Any]:
        """Send a POST request with a JSON body and return the JSON response; fails like `get`."""
        return self._send(
            _format_request("POST", target, json.dumps(body, ensure_ascii=False).encode(errors="replace"))
        )

    def _send(self, request: bytes) -> dict[str, Any]:
        if not _is_own_socket(self._path):
            raise ServerUnavailable("there is no socket of this user")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(min(self._timeout.seconds_left, MAX_WAIT_SECONDS))
                connection.connect(str(self._path))
                connection.sendall(request)
                response = self._receive(connection)
        except TimeoutError:
            raise
        except OSError as error:
            raise ServerUnavailable(str(error)) from error
        status, document = _parse_response(response)
        if not 200 <= status < 300:
            raise RequestDeclined(status, str(document.get("detail", "")))
        return document

    def _receive(self, connection: socket.socket) -> bytes:
        """Return everything the server sends until it closes the connection."""
        received = bytearray()
        while part := connection.recv(_CHUNK_BYTES):
            received += part
            if len(received) > MAX_RESPONSE_BYTES:
                raise ServerUnavailable("the response is too long")
            connection.settimeout(min(self._timeout.seconds_left, MAX_WAIT_SECONDS))
        return bytes(received)


def _format_request(method: str, target: str, body: bytes | None = None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def _is_own_socket(path: Path) -> bool:
    """Return whether the socket belongs to this user: private text is sent to it."""
    try:
        socket_stat, folder_stat = path.lstat(), path.parent.stat()
    except OSError:
        return False
    return stat.S_ISSOCK(socket_stat.st_mode) and socket_stat.st_uid == folder_stat.st_uid == os.getuid()


def _parse_response(response: bytes) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON body of a response; ServerUnavailable if it is incomplete."""
    head, separator, body = response.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    words = first.split(b" ", 2)
    header_values = {
        name.strip().lower(): value.strip() for name, _, value in (header.partition(b":") for header in headers)
    }
    try:
        status, length = int(words[1]), int(header_values[b"content-length"])
    except (IndexError, KeyError, ValueError) as error:
        raise ServerUnavailable("the response is not HTTP") from error
    if not separator or not words[0].startswith(b"HTTP/1.") or len(body) != length:
        raise ServerUnavailable("the response was cut off")
    try:
        document = json.loads(body) if body else {}
    except ValueError as error:
        raise ServerUnavailable("the response is not JSON") from error
    return status, document if isinstance(document, dict) else {}
