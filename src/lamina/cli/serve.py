"""`lamina serve`: runs the daemon of a vault, with the HTTP API, MCP and the web page."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli import exits
from lamina.cli.command import command
from lamina.cli.extras import needed
from lamina.cli.output import Json, Output
from lamina.cli.session import Session
from lamina.errors import InvalidInput
from lamina.logs import no_longer, to_stream
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.access import House
    from lamina.keeper import Bell, Happening, Tell
    from lamina.memory import Memory

app = typer.Typer()
PANEL = "Serve"
LONGEST = 86_400.0
LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
OWNER = "owner"
"""Name of the token that the first start creates."""


@command(app, "serve", panel=PANEL, example="lamina serve --port 8377  ·  lamina serve --only-keep --once --json")
def serve(
    session: Session,
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
        float, typer.Option(metavar="SECONDS", help="Interval of the background work.", min=0.1, max=LONGEST)
    ] = 60.0,
    log: Annotated[str, typer.Option(metavar="LEVEL", help="Log level: error, warning, or info for requests.")] = (
        "warning"
    ),
) -> None:
    """Serve a vault: web page, HTTP API and MCP for clients with a token. Also sync files, extract captures and dream
    when due. The first start prints an access token, once. Ctrl-C or SIGTERM shuts it down; a second one stops it
    immediately. With --json every line is a JSON document."""
    from lamina.keeper import Bell, Keeper

    stop_signal, report = Bell(), _teller(session.output)
    if once:
        if not Keeper(session.memory, report, stop_signal, every).once():
            raise typer.Exit(exits.ERROR)
        return
    with _rung_by_signals(stop_signal.ring), _logged(log, as_json=session.output.as_json):
        memory = session.watched()
        if only_keep:
            Keeper(memory, report, stop_signal, every).keep()
        else:
            _answer(memory, report, stop_signal, every, (host, port, expose))


def _answer(memory: Memory, tell: Tell, bell: Bell, every: float, where: tuple[str, int, bool]) -> None:
    """Run the background work and the server together."""
    needed("serve")
    from lamina.access import House
    from lamina.keeper import Happening, Keeper, What
    from lamina.server import serving

    served, (host, port, expose) = House.of(memory), where
    daemon = Keeper(memory, tell, bell, every, lambda: [token.scope for token in served.tokens.list()])
    with serving(served, host, port, expose=expose, keeper=daemon.state) as (server, address):
        _say_token(served, tell)
        tell(Happening(memory.now(), What.SERVING, address, {"url": address}))
        bell.rings(server.end)
        daemon.keep()


def _say_token(house: House, tell: Tell) -> None:
    """Create a token for the vault's owner if there is none, and print it once."""
    from lamina.access import Right
    from lamina.atom.trust import Origin
    from lamina.keeper import Happening, What

    if house.tokens.list():
        return
    memory = house.memory
    try:
        _, secret = house.tokens.create(OWNER, memory.scope, Right.ADMIN, Origin.HUMAN)
    except InvalidInput:  # another server of this vault created it first
        return
    text = f"{secret}  (shown only once: log in with it; `lamina token create` makes more)"
    tell(Happening(memory.now(), What.TOKEN, text, {"token": secret}))


@contextmanager
def _logged(level: str, *, as_json: bool) -> Iterator[None]:
    """Log to standard error inside the block, without memory text."""
    if level not in LEVELS:
        raise InvalidInput(f"{level!r} is not a log level; choose from {', '.join(LEVELS)}")
    handler = to_stream(sys.stderr, as_json=as_json, level=LEVELS[level])
    try:
        yield
    finally:
        no_longer(handler)


def happening_data(told: Happening) -> Json:
    """Return an event of the daemon as a JSON document."""
    return {"at": format_time(told.at), "what": told.what.value, "text": told.text, **told.facts}


def _teller(output: Output) -> Callable[[Happening], None]:
    def report(event: Happening) -> None:
        if output.as_json:
            output.line(happening_data(event))
        else:
            output.note(f"{event.at:%H:%M:%S} {event.what}: {event.text}")

    return report


@contextmanager
def _rung_by_signals(ring: Callable[[], None]) -> Iterator[None]:
    """Shut down at the first SIGINT or SIGTERM; a second one has its default effect."""
    old_handlers = {signal_number: signal.getsignal(signal_number) for signal_number in (signal.SIGINT, signal.SIGTERM)}

    def restore_handlers() -> None:
        for signal_number, handler in old_handlers.items():
            signal.signal(signal_number, handler)

    def handle(number: int, frame: object) -> None:
        restore_handlers()
        ring()

    for signal_number in old_handlers:
        signal.signal(signal_number, handle)
    try:
        yield
    finally:
        restore_handlers()
