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

import uvicorn
from starlette.routing import Route

from lamina.access import ServedMemory
from lamina.errors import InvalidInput, Refused, StoreError
from lamina.http import connection_limits, thread_limit
from lamina.http.app import make_api, secure_app
from lamina.http.security_middleware import SecurityMiddleware
from lamina.http.thread_limit import MAX_THREADS
from lamina.local_socket import socket_path
from lamina.mcp.http_transport import McpApp
from lamina.memory import Memory
from lamina.reader_pool import ReaderPool, reader_count, uses_network
from lamina.web.error_page import render_problem_page
from lamina.web.pages import make_pages

SHUTDOWN_SECONDS = 5
"""Seconds to wait for running requests at shutdown."""


def make_uvicorn_config(
    app: SecurityMiddleware, connection_class: type[connection_limits.LimitedConnection] | None = None
) -> uvicorn.Config:
    """Return the uvicorn configuration for this app; the caller provides the sockets.

    `connection_class`: the limits of connections; by default as many connections as this process may open.
    """
    return uvicorn.Config(
        app,
        http=connection_class or connection_limits.make_connection_class(connection_limits.raise_file_limit()),
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=2048,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


class ApiServer(uvicorn.Server):
    """A uvicorn server that ends its streams first at shutdown and then waits for running requests.

    `max_threads`: requests that are worked on at the same time.
    """

    def __init__(self, config: uvicorn.Config, max_threads: int = thread_limit.MAX_THREADS) -> None:
        super().__init__(config)
        self._max_threads = max_threads

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        thread_limit.set_limit(self._max_threads)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        gate = self.config.app
        if isinstance(gate, SecurityMiddleware):
            gate.close_streams()
        await super().shutdown(sockets)
        if isinstance(gate, SecurityMiddleware):
            await gate.wait_for_late_requests(SHUTDOWN_SECONDS)


logger = logging.getLogger("lamina.server")

DEFAULT_PORT = 8377
DEFAULT_HOST = "127.0.0.1"
SHUTDOWN_MARGIN_SECONDS = 5.0
"""Seconds to wait for the server thread beyond the server's own shutdown time."""
BACKLOG = 1024


class ServerThread:
    """A server in a background thread. Acknowledged writes are safe even if it is killed."""

    def __init__(self, server: ApiServer, sockets: Sequence[socket.socket]) -> None:
        self._server, self._sockets = server, [*sockets]
        self._thread = threading.Thread(target=self._run, name="lamina-server", daemon=True)

    def start(self) -> None:
        """Start to serve requests."""
        self._thread.start()

    def stop(self) -> None:
        """Finish current requests and accept no more; safe to call from a signal handler."""
        self._server.should_exit = True

    def join(self) -> None:
        """Wait until the server has shut down."""
        self._thread.join(SHUTDOWN_SECONDS + SHUTDOWN_MARGIN_SECONDS)

    def _run(self) -> None:
        asyncio.run(self._server.serve(self._sockets))


def make_app(served_memory: ServedMemory, daemon_status: Callable[[], str] | None = None) -> SecurityMiddleware:
    """Return API, MCP and web pages behind the security middleware; `daemon_status` describes the daemon."""
    app, tools = make_api(served_memory, daemon_status=daemon_status), McpApp(served_memory)
    app.router.routes.append(Route("/mcp", tools))
    app.include_router(make_pages(served_memory))
    app.state.page = render_problem_page
    app.router.lifespan_context = lambda _: tools.running()
    return secure_app(app)


@contextmanager
def run_server(
    served_memory: ServedMemory,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    *,
    expose: bool = False,
    daemon_status: Callable[[], str] | None = None,
) -> Iterator[tuple[ServerThread, str]]:
    """Serve requests while the context is open; yield the server thread and the URL of the web page."""
    memory = served_memory.memory
    with (
        _open_listener(host, port, expose=expose) as listener,
        _open_local_socket(memory.engine.state) as local_sockets,
        _run_readers(memory) as readers,
    ):
        max_threads = MAX_THREADS if uses_network(memory.settings) else 1 + readers
        thread = ServerThread(
            ApiServer(make_uvicorn_config(make_app(served_memory, daemon_status)), max_threads),
            [listener, *local_sockets],
        )
        thread.start()
        try:
            yield thread, listener_url(listener)
        finally:
            thread.stop()
            thread.join()


@contextmanager
def _run_readers(memory: Memory) -> Iterator[int]:
    """Run reader processes while the context is open; yield their number."""
    count = reader_count(memory.settings)
    if not count:
        yield 0
        return
    readers = ReaderPool(memory, count)
    readers.start()
    try:
        yield count
    finally:
        readers.close()


def listener_url(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


@contextmanager
def _open_listener(host: str, port: int, *, expose: bool) -> Iterator[socket.socket]:
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
def _open_local_socket(state: Path) -> Iterator[list[socket.socket]]:
    """Yield the Unix socket for programs of the vault's owner; none if another server of the vault has it."""
    path = socket_path(state)
    if path.parent != state:
        _create_private_folder(path.parent)
    if _is_in_use(path):
        yield []
        return
    local_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with local_socket:
        if not _bind_privately(local_socket, path):
            yield []
            return
        local_socket.listen(BACKLOG)
        inode = path.stat().st_ino
        try:
            yield [local_socket]
        finally:
            with suppress(FileNotFoundError):
                if path.stat().st_ino == inode:
                    path.unlink()


def _bind_privately(local_socket: socket.socket, path: Path) -> bool:
    """Bind a socket to a path for this user only; return whether the disk allowed it."""
    old_umask = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        local_socket.bind(str(path))
    except OSError as error:
        logger.warning("no socket for local programs: %s", error.strerror)
        return False
    finally:
        os.umask(old_umask)
    return True


def _create_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    stat = folder.lstat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o077 or folder.is_symlink():
        raise StoreError(f"{folder} can be accessed by other users; remove it and start again")


def _is_in_use(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True
