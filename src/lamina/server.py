"""Runs API, MCP and web pages of one vault in one background thread.

Listens on this machine only unless `expose` is given, and on a Unix socket for programs of the vault's owner.
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
from lamina.http.serving import serving as uvicorn_config
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
"""Seconds to wait for the server thread beyond the server's own shutdown time."""
BACKLOG = 1024


class Running:
    """A server in a background thread. Acknowledged writes are safe even if it is killed."""

    def __init__(self, server: Server, sockets: Sequence[socket.socket]) -> None:
        self._server, self._sockets = server, [*sockets]
        self._thread = threading.Thread(target=self._run, name="lamina-server", daemon=True)

    def start(self) -> None:
        """Start to serve requests."""
        self._thread.start()

    def end(self) -> None:
        """Finish current requests and accept no more; safe to call from a signal handler."""
        self._server.should_exit = True

    def wait(self) -> None:
        """Wait until the server has shut down."""
        self._thread.join(PATIENCE + MARGIN)

    def _run(self) -> None:
        asyncio.run(self._server.serve(self._sockets))


def make_app(house: House, keeper: Callable[[], str] | None = None) -> Gate:
    """Return API, MCP and web pages behind the security middleware; `daemon_status` describes the daemon."""
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
    """Serve requests while the context is open; yield the server thread and the URL of the web page."""
    memory = house.memory
    with (
        _listening(host, port, expose=expose) as listener,
        _local(memory.state) as local_sockets,
        _read_beside(memory) as readers,
    ):
        max_threads = MANY if asks_a_network(memory.settings) else 1 + readers
        thread = Running(Server(uvicorn_config(make_app(house, keeper)), max_threads), [listener, *local_sockets])
        thread.start()
        try:
            yield thread, address_of(listener)
        finally:
            thread.end()
            thread.wait()


@contextmanager
def _read_beside(memory: Memory) -> Iterator[int]:
    """Run reader processes while the context is open; yield their number."""
    count = readers_wanted(memory.settings)
    if not count:
        yield 0
        return
    readers = Readers(memory, count)
    readers.start()
    try:
        yield count
    finally:
        readers.close()


def address_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


@contextmanager
def _listening(host: str, port: int, *, expose: bool) -> Iterator[socket.socket]:
    """Yield a listening socket. Refused for non-loopback addresses without `expose`: nothing is encrypted."""
    if not _is_loopback(host) and not expose:
        raise Refused(
            f"{host} can be reached from other machines and the connection is not encrypted; put it behind "
            "a proxy that encrypts, and add --expose"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidInput(
            f"{host} port {port} cannot be used: {error.strerror}; --port 0 takes any free port"
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
    """Yield the Unix socket for programs of the vault's owner; none if another server of the vault has it."""
    path = socket_path(state)
    if path.parent != state:
        _own_folder(path.parent)
    if _is_answered(path):
        yield []
        return
    path.unlink(missing_ok=True)
    local_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with local_socket:
        old_umask = os.umask(0o177)
        try:
            local_socket.bind(str(path))
        except OSError as error:
            logger.warning("no socket for local programs: %s", error.strerror)
            yield []
            return
        finally:
            os.umask(old_umask)
        local_socket.listen(BACKLOG)
        inode = path.stat().st_ino
        try:
            yield [local_socket]
        finally:
            with suppress(FileNotFoundError):
                if path.stat().st_ino == inode:
                    path.unlink()


def _own_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    stat = folder.lstat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o077 or folder.is_symlink():
        raise StoreError(f"{folder} can be accessed by other users; remove it and start again")


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True
