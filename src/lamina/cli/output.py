"""Prints the results of commands: tables on a terminal, plain text in a pipe, one JSON document with `--json`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lamina.text.normal_form import escape_unprintable, shorten_line
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from rich.console import Console

Json = Any

SHORT_LENGTH = 100


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text with a style of rich; a pipe shows no styles."""

    text: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class TextGrid:
    """Rows under column headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class FieldList:
    """Names and values, one pair per line."""

    fields: tuple[tuple[str, str], ...]
    indent: int = 0


OutputBlock = TextLine | TextGrid | FieldList


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command: the document for `--json`, the same as blocks for people, and the exit code."""

    data: Json
    blocks: tuple[OutputBlock, ...] = ()
    exit_code: int = 0


class CommandOutput:
    """Prints results to stdout, and notes, progress and errors to stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def print_result(self, view: CommandResult) -> None:
        """Print the result of a command; times in its data are written as in the files."""
        if self.as_json:
            self._write_line(json.dumps(view.data, ensure_ascii=False, indent=2, default=format_time))
        else:
            self.print_blocks(view.blocks)
        sys.stdout.flush()

    def print_json_line(self, data: Json) -> None:
        """Print one of several JSON documents on its own line, immediately."""
        self._write_line(json.dumps(data, ensure_ascii=False))
        sys.stdout.flush()

    def print_blocks(self, blocks: Iterable[OutputBlock]) -> None:
        """Print blocks as text for people."""
        console = _make_console(stderr=False)
        for block in blocks:
            if console.is_terminal:
                _draw_block(console, block)
            else:
                for line in _plain_lines(block):
                    self._write_line(line)
        sys.stdout.flush()

    def print_note(self, text: str) -> None:
        """Print a note to stderr."""
        self._print_to_stderr(text, "dim")

    def print_error(self, kind: str, message: str, hint: str) -> None:
        """Print an error and a hint to stderr."""
        if self.as_json:
            document = {"error": {"type": kind, "message": message, "hint": hint}}
            sys.stderr.write(json.dumps(document, ensure_ascii=False) + "\n")
            return
        self._print_to_stderr(f"error: {' '.join(escape_unprintable(message).split())}", "bold red")
        self._print_to_stderr(f"hint: {hint}", "dim")

    def _write_line(self, line: str) -> None:
        sys.stdout.write(line + "\n")

    def _print_to_stderr(self, text: str, style: str) -> None:
        _make_console(stderr=True).print(
            escape_unprintable(text), style=style, markup=False, highlight=False, soft_wrap=True
        )


def shorten(text: str, max_length: int = SHORT_LENGTH) -> str:
    """Return a text on one line, cut if it is too long."""
    return shorten_line(text, max_length)


def _make_console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False)


def _draw_block(console: Console, block: OutputBlock) -> None:
    from rich.table import Table
    from rich.text import Text

    match block:
        case TextLine(text, style):
            console.print(Text(escape_unprintable(text), style), soft_wrap=True)
        case TextGrid(columns, rows):
            table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
            for column in columns:
                table.add_column(column, overflow="fold", no_wrap=column in _UNWRAPPED_COLUMNS)
            for row in rows:
                table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
            console.print(table)
        case FieldList(pairs, indent):
            width = max((len(name) for name, _ in pairs), default=0)
            for name, value in pairs:
                line = Text(" " * indent).append(f"{name:<{width}}  ", "dim").append(escape_unprintable(value))
                console.print(line, soft_wrap=True)


_UNWRAPPED_COLUMNS = frozenset({"id", "commit", "date", "when (UTC)", "kind", "status", "score", "n"})


def _plain_lines(block: OutputBlock) -> Iterable[str]:
    match block:
        case TextLine(text):
            yield escape_unprintable(text)
        case TextGrid(columns, rows):
            yield from _align_columns([columns, *rows])
        case FieldList(pairs, indent):
            width = max((len(name) for name, _ in pairs), default=0)
            for name, value in pairs:
                yield f"{' ' * indent}{name:<{width}}  {escape_unprintable(value)}".rstrip()


def _align_columns(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    from rich.cells import cell_len

    cells = [[" ".join(escape_unprintable(cell).split()) for cell in row] for row in rows]
    widths = [max(cell_len(row[n]) for row in cells) for n in range(len(cells[0]))]
    for row in cells:
        yield "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
