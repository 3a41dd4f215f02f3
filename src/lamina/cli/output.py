"""Prints the results of commands: tables on a terminal, plain text in a pipe, one JSON document with `--json`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lamina.text.hidden import escaped

if TYPE_CHECKING:
    from rich.console import Console

Json = Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BRIEF = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with a style of rich; a pipe shows no styles."""

    text: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows under column headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one pair per line."""

    pairs: tuple[tuple[str, str], ...]
    indent: int = 0


Block = Line | Grid | Facts


@dataclass(frozen=True, slots=True)
class View:
    """The result of a command: the document for `--json`, the same as blocks for people, and the exit code."""

    data: Json
    blocks: tuple[Block, ...] = ()
    code: int = 0


class Output:
    """Prints results to stdout, and notes, progress and errors to stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def show(self, view: View) -> None:
        """Print the result of a command."""
        if self.as_json:
            self._put(json.dumps(view.data, ensure_ascii=False, indent=2))
        else:
            self.blocks(view.blocks)
        sys.stdout.flush()

    def line(self, data: Json) -> None:
        """Print one of several JSON documents on its own line, immediately."""
        self._put(json.dumps(data, ensure_ascii=False))
        sys.stdout.flush()

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Print blocks as text for people."""
        console = _console(stderr=False)
        for block in blocks:
            if console.is_terminal:
                _draw(console, block)
            else:
                for line in _plain(block):
                    self._put(line)
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a note to stderr."""
        self._aside(text, "dim")

    def error(self, kind: str, message: str, hint: str) -> None:
        """Print an error and a hint to stderr."""
        if self.as_json:
            document = {"error": {"type": kind, "message": message, "hint": hint}}
            sys.stderr.write(json.dumps(document, ensure_ascii=False) + "\n")
            return
        self._aside(f"error: {' '.join(safe(message).split())}", "bold red")
        self._aside(f"hint: {hint}", "dim")

    def _put(self, line: str) -> None:
        sys.stdout.write(line + "\n")

    def _aside(self, text: str, style: str) -> None:
        _console(stderr=True).print(safe(text), style=style, markup=False, highlight=False, soft_wrap=True)


def safe(text: str) -> str:
    """Replace the control characters of a text, and write out its invisible characters."""
    return escaped(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def brief(text: str, limit: int = BRIEF) -> str:
    """Return a text on one line, cut if it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False)


def _draw(console: Console, block: Block) -> None:
    from rich.table import Table
    from rich.text import Text

    match block:
        case Line(text, style):
            console.print(Text(safe(text), style), soft_wrap=True)
        case Grid(columns, rows):
            table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
            for column in columns:
                table.add_column(column, overflow="fold", no_wrap=column in _NARROW)
            for row in rows:
                table.add_row(*(Text(safe(cell)) for cell in row))
            console.print(table)
        case Facts(pairs, indent):
            width = max((len(name) for name, _ in pairs), default=0)
            for name, value in pairs:
                line = Text(" " * indent).append(f"{name:<{width}}  ", "dim").append(safe(value))
                console.print(line, soft_wrap=True)


_NARROW = frozenset({"id", "commit", "date", "when (UTC)", "kind", "status", "score", "n"})


def _plain(block: Block) -> Iterable[str]:
    match block:
        case Line(text):
            yield safe(text)
        case Grid(columns, rows):
            yield from _aligned([columns, *rows])
        case Facts(pairs, indent):
            width = max((len(name) for name, _ in pairs), default=0)
            for name, value in pairs:
                yield f"{' ' * indent}{name:<{width}}  {safe(value)}".rstrip()


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    from rich.cells import cell_len

    cells = [[" ".join(safe(cell).split()) for cell in row] for row in rows]
    widths = [max(cell_len(row[n]) for row in cells) for n in range(len(cells[0]))]
    for row in cells:
        yield "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
