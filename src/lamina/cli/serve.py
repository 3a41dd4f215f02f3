"""`lamina serve`: one process that keeps a vault and answers for it until it is told to end."""

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
"""The token that the first start makes."""


@command(app, "serve", panel=PANEL, example="lamina serve --port 8377  ·  lamina serve --only-keep --once --json")
def serve(
    session: Session,
    host: Annotated[str, typer.Option(help="The address to listen on; others than this machine need --expose.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65_535)] = 8377,
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines ask, too. Nothing is encrypted here.")
    ] = False,
    only_keep: Annotated[bool, typer.Option("--only-keep", help="Keep the vault and answer nobody.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="One round of keeping, then end; 1 where it went wrong.")
    ] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="How often to look.", min=0.1, max=LONGEST)] = 60.0,
    log: Annotated[str, typer.Option(metavar="LEVEL", help="What to log: error, warning, or info for requests.")] = (
        "warning"
    ),
) -> None:
    """Serve a vault: web pages, HTTP API and MCP for whoever has a token; take in edits, read what was captured, dream
    when it is time. The first start prints a token, once. Ctrl-C or SIGTERM ends it in peace; a second one at once.
    With --json every line is a document."""
    from lamina.keeper import Bell, Keeper

    bell, tell = Bell(), _teller(session.output)
    if once:
        if not Keeper(session.memory, tell, bell, every).once():
            raise typer.Exit(exits.ERROR)
        return
    with _rung_by_signals(bell.ring), _logged(log, as_json=session.output.as_json):
        memory = session.watched()
        if only_keep:
            Keeper(memory, tell, bell, every).keep()
        else:
            _answer(memory, tell, bell, every, (host, port, expose))


def _answer(memory: Memory, tell: Tell, bell: Bell, every: float, where: tuple[str, int, bool]) -> None:
    """Keep the vault, and answer beside it."""
    needed("serve")
    from lamina.access import House
    from lamina.keeper import Happening, Keeper, What
    from lamina.server import serving

    house, (host, port, expose) = House.of(memory), where
    keeper = Keeper(memory, tell, bell, every, lambda: [each.scope for each in house.tokens.list()])
    with serving(house, host, port, expose=expose, keeper=keeper.state) as (running, address):
        _say_token(house, tell)
        tell(Happening(memory.now(), What.SERVING, address, {"url": address}))
        bell.rings(running.end)
        keeper.keep()


def _say_token(house: House, tell: Tell) -> None:
    """A first token for the vault's owner, told once."""
    from lamina.access import Right
    from lamina.atom.trust import Origin
    from lamina.keeper import Happening, What

    if house.tokens.list():
        return
    memory = house.memory
    try:
        _, secret = house.tokens.create(OWNER, memory.scope, Right.ADMIN, Origin.HUMAN)
    except InvalidInput:  # another server of this vault was quicker, and has told it
        return
    text = f"{secret}  (shown this once: log in with it; `lamina token` makes more)"
    tell(Happening(memory.now(), What.TOKEN, text, {"token": secret}))


@contextmanager
def _logged(level: str, *, as_json: bool) -> Iterator[None]:
    """Log to standard error meanwhile, without anybody's words."""
    if level not in LEVELS:
        raise InvalidInput(f"{level!r} is no level of a log; choose from {', '.join(LEVELS)}")
    handler = to_stream(sys.stderr, as_json=as_json, level=LEVELS[level])
    try:
        yield
    finally:
        no_longer(handler)


def happening_data(told: Happening) -> Json:
    """A happening as a document."""
    return {"at": format_time(told.at), "what": told.what.value, "text": told.text, **told.facts}


def _teller(output: Output) -> Callable[[Happening], None]:
    def tell(told: Happening) -> None:
        if output.as_json:
            output.line(happening_data(told))
        else:
            output.note(f"{told.at:%H:%M:%S} {told.what}: {told.text}")

    return tell


@contextmanager
def _rung_by_signals(ring: Callable[[], None]) -> Iterator[None]:
    """Ring at the first signal to end; the second does what it always does."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}

    def give_back() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def handle(number: int, frame: object) -> None:
        give_back()
        ring()

    for each in before:
        signal.signal(each, handle)
    try:
        yield
    finally:
        give_back()
