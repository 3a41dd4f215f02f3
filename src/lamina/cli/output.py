"""The one place that renders: tables on a terminal, plain text in a pipe, one JSON document where it is asked for."""

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
    """A line of text. Styles are rich's; a pipe shows none."""

    text: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line."""

    pairs: tuple[tuple[str, str], ...]
    indent: int = 0


Block = Line | Grid | Facts


@dataclass(frozen=True, slots=True)
class View:
    """What a command found: the document for `--json`, the same for people, and the exit code."""

    data: Json
    blocks: tuple[Block, ...] = ()
    code: int = 0


class Output:
    """Results on stdout; notes, progress and errors on stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def show(self, view: View) -> None:
        if self.as_json:
            self._put(json.dumps(view.data, ensure_ascii=False, indent=2))
        else:
            self.blocks(view.blocks)
        sys.stdout.flush()

    def line(self, data: Json) -> None:
        """One of many documents, on a line of its own, for whoever reads along."""
        self._put(json.dumps(data, ensure_ascii=False))
        sys.stdout.flush()

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Print blocks for people."""
        console = _console(stderr=False)
        for block in blocks:
            if console.is_terminal:
                _draw(console, block)
            else:
                for line in _plain(block):
                    self._put(line)
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Something worth saying that is no result."""
        self._aside(text, "dim")

    def error(self, kind: str, message: str, hint: str) -> None:
        if self.as_json:
            told = {"error": {"type": kind, "message": message, "hint": hint}}
            sys.stderr.write(json.dumps(told, ensure_ascii=False) + "\n")
            return
        self._aside(f"error: {' '.join(safe(message).split())}", "bold red")
        self._aside(f"hint: {hint}", "dim")

    def _put(self, line: str) -> None:
        sys.stdout.write(line + "\n")

    def _aside(self, text: str, style: str) -> None:
        _console(stderr=True).print(safe(text), style=style, markup=False, highlight=False, soft_wrap=True)


def safe(text: str) -> str:
    """The text without characters that command a terminal; those that nobody would see are written out."""
    return escaped(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def brief(text: str, limit: int = BRIEF) -> str:
    """The text on one line, cut where it is long."""
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

    told = [[" ".join(safe(cell).split()) for cell in row] for row in rows]
    widths = [max(cell_len(row[n]) for row in told) for n in range(len(told[0]))]
    for row in told:
        yield "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
