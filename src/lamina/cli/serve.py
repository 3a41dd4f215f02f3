"""`lamina serve`: one process that keeps a vault until it is told to end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli import exits
from lamina.cli.command import command
from lamina.cli.output import Json, Output
from lamina.cli.session import Session
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.keeper import Happening

app = typer.Typer()
PANEL = "Upkeep"
LONGEST = 86_400.0


@command(app, "serve", panel=PANEL, example="lamina serve --every 30  ·  lamina serve --once --json")
def serve(
    session: Session,
    once: Annotated[bool, typer.Option("--once", help="One round, then end; 1 where something went wrong.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="How often to look.", min=0.1, max=LONGEST)] = 60.0,
) -> None:
    """Keep a vault: take in edits, read what was captured, dream when it is time. Ctrl-C or SIGTERM ends it in peace;
    a second one at once. With --json every line is a document."""
    from lamina.keeper import Bell, Keeper

    bell = Bell()
    with _rung_by_signals(bell.ring):
        keeper = Keeper(session.memory if once else session.watched(), _teller(session.output), bell, every)
        if not once:
            keeper.keep()
        elif not keeper.once():
            raise typer.Exit(exits.ERROR)


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
