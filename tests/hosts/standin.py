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

Asked = tuple[str, str, Any]
"""Method, target and body."""
Reply = Callable[[Asked], tuple[int, Any] | bytes | None]
"""What is answered: a status and a body, bytes as they are, or nothing at all and for ever."""


class Standin:
    """Answers one connection after the other, and remembers what it was asked."""

    def __init__(self, state: Path, reply: Reply) -> None:
        self.asked: list[Asked] = []
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
        for each in self._held:
            each.close()

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
            asked = method, target, json.loads(file.read(length)) if length else None
        self.asked.append(asked)
        told = self._reply(asked)
        if told is None:
            self._held.append(line)
            return
        with contextlib.suppress(OSError):
            line.sendall(told if isinstance(told, bytes) else _rendered(*told))
        line.close()


@contextlib.contextmanager
def standin(state: Path, reply: Reply) -> Iterator[Standin]:
    """A server that is there for as long as the test wants it."""
    served = Standin(state, reply)
    try:
        yield served
    finally:
        served.close()


def _rendered(status: int, body: Any) -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data
