"""The server: API, MCP and web pages of one vault, in one thread beside whoever keeps it.

It listens on this machine alone unless told otherwise, and on a socket in the file system for programs of the vault's
own user.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from starlette.routing import Route

from lamina.access import House
from lamina.errors import InvalidInput, Refused, StoreError
from lamina.http.app import make_api, make_gate
from lamina.http.gate import Gate
from lamina.http.serving import PATIENCE, Server
from lamina.http.serving import serving as settings
from lamina.http.threads import MANY
from lamina.local_socket import socket_path
from lamina.mcp.http import mcp_app
from lamina.memory import Memory
from lamina.readers import Readers, asks_a_network, readers_wanted
from lamina.web.pages import make_pages
from lamina.web.trouble import problem_page

logger = logging.getLogger("lamina.server")

PORT = 8377
HOST = "127.0.0.1"
MARGIN = 5.0
"""Seconds beyond its own patience after which a server that does not end is left to itself."""
BACKLOG = 1024


class Running:
    """A server that answers in a thread of its own. Everything it acknowledged is safe whatever happens to it."""

    def __init__(self, server: Server, sockets: Sequence[socket.socket]) -> None:
        self._server, self._sockets = server, [*sockets]
        self._thread = threading.Thread(target=self._run, name="lamina-server", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def end(self) -> None:
        """Answer what is being asked, and nothing more; fit for a signal handler."""
        self._server.should_exit = True

    def wait(self) -> None:
        """Wait until it has ended."""
        self._thread.join(PATIENCE + MARGIN)

    def _run(self) -> None:
        asyncio.run(self._server.serve(self._sockets))


def make_app(house: House, keeper: Callable[[], str] | None = None) -> Gate:
    """API, MCP and web pages of a house behind its gate; `keeper` tells how the vault is kept."""
    app, tools = make_api(house, keeper=keeper), mcp_app(house)
    app.router.routes.append(Route("/mcp", tools))
    app.include_router(make_pages(house))
    app.state.page = problem_page
    app.router.lifespan_context = lambda _: tools.running()
    return make_gate(app)


@contextmanager
def serving(
    house: House, host: str = HOST, port: int = PORT, *, expose: bool = False, keeper: Callable[[], str] | None = None
) -> Iterator[tuple[Running, str]]:
    """A server that answers as long as this lasts, and the address of its pages."""
    memory = house.memory
    with _listening(host, port, expose=expose) as listener, _local(memory.state) as near, _read_beside(memory) as many:
        at_once = MANY if asks_a_network(memory.settings) else 1 + many
        running = Running(Server(settings(make_app(house, keeper)), at_once), [listener, *near])
        running.start()
        try:
            yield running, address_of(listener)
        finally:
            running.end()
            running.wait()


@contextmanager
def _read_beside(memory: Memory) -> Iterator[int]:
    """Processes that answer questions as long as this lasts; how many."""
    many = readers_wanted(memory.settings)
    if not many:
        yield 0
        return
    readers = Readers(memory, many)
    readers.start()
    try:
        yield many
    finally:
        readers.close()


def address_of(listener: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


@contextmanager
def _listening(host: str, port: int, *, expose: bool) -> Iterator[socket.socket]:
    """A listening socket. Beyond this machine only with an explicit word: nothing here is encrypted."""
    if not _is_loopback(host) and not expose:
        raise Refused(
            f"{host} can be reached from other machines, and what is said to it can be read on the way; put it behind "
            "something that encrypts, and say --expose"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidInput(
            f"{host} port {port} cannot be listened on: {error.strerror}; --port 0 takes any that is free"
        ) from error
    with listener:
        yield listener


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _local(state: Path) -> Iterator[list[socket.socket]]:
    """The socket for programs of the vault's own user; none where another server of the same vault has it."""
    path = socket_path(state)
    if path.parent != state:
        _own_folder(path.parent)
    if _is_answered(path):
        yield []
        return
    path.unlink(missing_ok=True)
    near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with near:
        before = os.umask(0o177)
        try:
            near.bind(str(path))
        except OSError as error:
            logger.warning("no socket for local programs: %s", error.strerror)
            yield []
            return
        finally:
            os.umask(before)
        near.listen(BACKLOG)
        own = path.stat().st_ino
        try:
            yield [near]
        finally:
            with suppress(FileNotFoundError):
                if path.stat().st_ino == own:
                    path.unlink()


def _own_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    held = folder.lstat()
    if held.st_uid != os.getuid() or held.st_mode & 0o077 or folder.is_symlink():
        raise StoreError(f"{folder} is not this user's alone; remove it and start again")


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        try:
            other.connect(str(path))
        except OSError:
            return False
        return True
