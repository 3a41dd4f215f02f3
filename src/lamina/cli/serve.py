"""`lamina serve` and `lamina mcp`: serve a vault over HTTP with its daemon, or to one host over standard input."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lamina.cli import exit_codes
from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandOutput, Json
from lamina.errors import InvalidInput
from lamina.logs import start_logging, stop_logging
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.access import ServedMemory
    from lamina.daemon import DaemonEvent, EventHandler, StopSignal
    from lamina.memory import Memory

app = typer.Typer(rich_help_panel="Serve")
EXTRA_PACKAGES = {"mcp": ("mcp",), "serve": ("fastapi", "jinja2", "markdown_it", "mcp", "multipart", "nh3", "uvicorn")}
"""The packages that each extra needs."""
MAX_INTERVAL = 86_400.0
LOG_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
OWNER_TOKEN_NAME = "owner"
"""Name of the token that the first start creates."""


@command(app, "serve", example="lamina serve --port 8377  ·  lamina serve --only-keep --once --json")
def serve(
    session: CommandSession,
    host: Annotated[str, typer.Option(help="The address to listen on; a public address needs --expose.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port; 0 chooses a free one.", min=0, max=65_535)] = 8377,
    expose: Annotated[
        bool, typer.Option("--expose", help="Accept requests from other machines. The connection is not encrypted.")
    ] = False,
    only_keep: Annotated[
        bool, typer.Option("--only-keep", help="Do the background work only, without a server.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Do the background work once, then exit; exit code 1 if it failed.")
    ] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Interval of the background work.", min=0.1, max=MAX_INTERVAL)
    ] = 60.0,
    log: Annotated[str, typer.Option(metavar="LEVEL", help="Log level: error, warning, or info for requests.")] = (
        "warning"
    ),
) -> None:
    """Serve a vault: web page, HTTP API and MCP for clients with a token. Also sync files, extract captures and dream
    when due. The first start prints an access token, once. Ctrl-C or SIGTERM shuts it down; a second one stops it
    immediately. With --json every line is a JSON document."""
    from lamina.daemon import Daemon, StopSignal

    stop_signal, report = StopSignal(), _event_printer(session.output)
    if once:
        if not Daemon(session.memory, report, stop_signal, every).run_once():
            raise typer.Exit(exit_codes.ERROR)
        return
    with _stop_on_signals(stop_signal.request), _log_to_stderr(log, as_json=session.output.as_json):
        memory = session.open_watched()
        if only_keep:
            Daemon(memory, report, stop_signal, every).run()
        else:
            _serve_requests(memory, report, stop_signal, every, (host, port, expose))


@command(app, "mcp", example="lamina mcp  ·  lamina mcp --vault ~/notes --scope org:acme:agent:coder")
def mcp(
    session: CommandSession,
    origin: Annotated[
        Literal["agent", "human"],
        typer.Option(
            "--as",
            help="The origin of what the client writes: agent, or human for yourself, who may also decide reviews.",
        ),
    ] = "agent",
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow only tools that change nothing.")] = False,
) -> None:
    """Serve agents over MCP on standard input and output, until the host closes them."""
    require_extra("mcp")
    from lamina.mcp.background_opening import VaultOptions
    from lamina.mcp.stdio_transport import serve

    serve(VaultOptions(session.choice.folder, session.scope, is_human=origin == "human", is_read_only=read_only))


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed."""
    return [part for part in EXTRA_PACKAGES[extra] if find_spec(part) is None]


def require_extra(extra: str) -> None:
    """Raise InvalidInput with the install command if a package of an extra is missing."""
    absent = missing_packages(extra)
    if absent:
        raise InvalidInput(f"{', '.join(absent)} not installed; run `pip install 'lamina[{extra}]'`")


def _serve_requests(
    memory: Memory, report: EventHandler, stop_signal: StopSignal, every: float, listen_on: tuple[str, int, bool]
) -> None:
    """Run the background work and the server together."""
    require_extra("serve")
    from lamina.access import ServedMemory
    from lamina.daemon import Daemon, DaemonEvent, DaemonEventType
    from lamina.server import run_server

    served, (host, port, expose) = ServedMemory.for_memory(memory), listen_on
    daemon = Daemon(memory, report, stop_signal, every, lambda: [token.scope for token in served.tokens.list()])
    with run_server(served, host, port, expose=expose, daemon_status=daemon.describe_state) as (server, address):
        _create_owner_token(served, report)
        report(DaemonEvent(memory.now(), DaemonEventType.SERVING, address, {"url": address}))
        stop_signal.on_request(server.stop)
        daemon.run()


def _create_owner_token(served: ServedMemory, report: EventHandler) -> None:
    """Create a token for the vault's owner if there is none, and print it once."""
    from lamina.access import Right
    from lamina.atom.provenance import Origin
    from lamina.daemon import DaemonEvent, DaemonEventType

    if served.tokens.list():
        return
    memory = served.memory
    try:
        _, secret = served.tokens.create(OWNER_TOKEN_NAME, memory.scope, Right.ADMIN, Origin.HUMAN)
    except InvalidInput:  # another server of this vault created it first
        return
    text = f"{secret}  (shown only once: log in with it; `lamina token create` makes more)"
    report(DaemonEvent(memory.now(), DaemonEventType.TOKEN, text, {"token": secret}))


@contextmanager
def _log_to_stderr(level: str, *, as_json: bool) -> Iterator[None]:
    """Log to standard error inside the block, without memory text."""
    if level not in LOG_LEVELS:
        raise InvalidInput(f"{level!r} is not a log level; choose from {', '.join(LOG_LEVELS)}")
    handler = start_logging(sys.stderr, as_json=as_json, level=LOG_LEVELS[level])
    try:
        yield
    finally:
        stop_logging(handler)


def event_data(event: DaemonEvent) -> Json:
    """Return an event of the daemon as a JSON document."""
    return {"at": format_time(event.at), "what": event.event_type.value, "text": event.text, **event.facts}


def _event_printer(output: CommandOutput) -> Callable[[DaemonEvent], None]:
    def report(event: DaemonEvent) -> None:
        if output.as_json:
            output.print_json_line(event_data(event))
        else:
            output.print_note(f"{event.at:%H:%M:%S} {event.event_type}: {event.text}")

    return report


@contextmanager
def _stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Shut down at the first SIGINT or SIGTERM; a second one has its default effect."""
    old_handlers = {signal_number: signal.getsignal(signal_number) for signal_number in (signal.SIGINT, signal.SIGTERM)}

    def restore_handlers() -> None:
        for signal_number, handler in old_handlers.items():
            signal.signal(signal_number, handler)

    def handle(number: int, frame: object) -> None:
        restore_handlers()
        stop()

    for signal_number in old_handlers:
        signal.signal(signal_number, handle)
    try:
        yield
    finally:
        restore_handlers()
