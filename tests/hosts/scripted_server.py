"""A stand-in for a running server: it listens on a vault's socket and answers as a test wants it to."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lamina.local_socket import socket_path

Request = tuple[str, str, Any]
"""Method, target and body."""
Reply = Callable[[Request], tuple[int, Any] | bytes | None]
"""What is answered: a status and a body, bytes as they are, or nothing at all and for ever."""


class ScriptedServer:
    """Answers one connection after the other, and remembers what it was asked."""

    def __init__(self, state: Path, reply: Reply) -> None:
        self.asked: list[Request] = []
        self._reply, self._path = reply, socket_path(state)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(self._path))
        self._socket.listen(8)
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)
        for item in self._held:
            item.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            self._answer(line)

    def _answer(self, line: socket.socket) -> None:
        with line.makefile("rb") as file:
            method, target, _ = file.readline().decode().split()
            length = 0
            while (header := file.readline().strip()) != b"":
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            result = method, target, json.loads(file.read(length)) if length else None
        self.asked.append(result)
        actual = self._reply(result)
        if actual is None:
            self._held.append(line)
            return
        with contextlib.suppress(OSError):
            line.sendall(actual if isinstance(actual, bytes) else _rendered(*actual))
        line.close()


@contextlib.contextmanager
def serve_script(state: Path, reply: Reply) -> Iterator[ScriptedServer]:
    """A server that is there for as long as the test wants it."""
    served = ScriptedServer(state, reply)
    try:
        yield served
    finally:
        served.close()


def _rendered(status: int, body: Any) -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data
