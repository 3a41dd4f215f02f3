from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime, timedelta

import pytest

from lamina.cli import exit_codes
from lamina.cli.output import CommandOutput, CommandResult, FieldList, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.progress import ProgressBar
from lamina.cli.text_input import parse_json_turns, parse_since, parse_time_option
from lamina.errors import (
    ClaimTaken,
    InvalidInput,
    InvalidScope,
    NotFound,
    StoreBusy,
    StoreError,
    StoreTooNew,
    UndoRefused,
)
from lamina.text.normal_form import escape_unprintable

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2d", NOW - timedelta(days=2)),
        ("3h", NOW - timedelta(hours=3)),
        ("15m", NOW - timedelta(minutes=15)),
        ("1 w", NOW - timedelta(weeks=1)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T08:00+02:00", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ],
)
def test_times_are_parsed_in_everyday_forms(text: str, expected: datetime) -> None:
    assert parse_since(text, NOW) == expected


def test_today_and_yesterday_begin_at_local_midnight() -> None:
    today, yesterday = parse_since("today", NOW), parse_since("Yesterday", NOW)
    assert today.astimezone().time() == datetime.min.time()
    assert today <= NOW < today + timedelta(days=1, hours=2)
    assert yesterday < today


@pytest.mark.parametrize("text", ["", "soon", "2y", "2026-13-01"])
def test_an_unparsable_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidInput, match="yesterday"):
        parse_since(text, NOW)


def test_a_bare_date_as_an_end_means_through_that_day() -> None:
    assert parse_time_option("2026-11-15", end=True) == datetime(2026, 11, 16, tzinfo=UTC)
    assert parse_time_option(None) is None
    with pytest.raises(InvalidInput, match="not a time"):
        parse_time_option("noon")


def test_turns_are_a_list_or_one_per_line() -> None:
    one = {"speaker": "Ann", "content": "Hi."}
    assert parse_json_turns('[{"speaker": "Ann", "content": "Hi."}]') == [one]
    assert parse_json_turns('{"speaker": "Ann", "content": "Hi."}\n\n{"speaker": "Ann", "content": "Hi."}\n') == [
        one,
        one,
    ]


@pytest.mark.parametrize(
    ("text", "sentence"), [("{", "line 1"), ("[1]", "turns must be objects"), ("[", "list of turns")]
)
def test_invalid_turns_are_refused_with_the_position(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse_json_turns(text)


def test_a_long_text_is_truncated_to_one_line() -> None:
    assert shorten("a\n b\tc") == "a b c"
    assert len(shorten("word " * 100)) <= 100
    assert shorten("word " * 100).endswith("…")


def test_terminal_control_characters_are_not_printed() -> None:
    assert escape_unprintable("a\x1b[31mb\x07\x9b\nc\td") == "a�[31mb��\nc\td"


def test_a_table_in_a_pipe_is_aligned_even_with_wide_characters(capsys: pytest.CaptureFixture[str]) -> None:
    CommandOutput().print_blocks([TextGrid(("id", "what"), (("1", "咖啡"), ("long", "x")))])
    assert capsys.readouterr().out == "id    what\n1     咖啡\nlong  x\n"


def test_json_is_one_document_whatever_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    CommandOutput(as_json=True).print_result(CommandResult({"text": "咖\x1b"}, (TextLine("for people"),)))
    assert capsys.readouterr().out == '{\n  "text": "咖\\u001b"\n}\n'


def test_a_terminal_gets_colours_and_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    blocks: list[OutputBlock] = [
        TextLine("[bold]title", "bold"),
        TextGrid(("id", "what"), (("1", "[red]x"),)),
        FieldList((("file", "a.md"),)),
    ]
    CommandOutput().print_blocks(blocks)
    coloured = capsys.readouterr().out
    assert "\x1b[1m[bold]title" in coloured
    assert "[red]x" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    CommandOutput().print_blocks(blocks)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", capsys.readouterr().out)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_printed_on_stderr_once_work_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(silent_seconds=0) as bar:
        bar("reading files", 1, 10)
        bar("reading files", 2, 10)
    text = capsys.readouterr()
    assert (text.out, text.err) == ("", "reading files: 1 of 10\n")
    with ProgressBar() as patient:
        patient("reading files", 1, 10)
    assert capsys.readouterr().err == ""


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar(silent_seconds=0) as bar:
        bar("reading files", 5, 10)
        bar("reading files", 10, 10)
    assert "reading files" in screen.getvalue()


@pytest.mark.parametrize(
    ("error", "code", "hint"),
    [
        (InvalidInput("x"), 2, "--help"),
        (InvalidScope("x"), 2, "--scope"),
        (NotFound("x"), 3, "lamina list"),
        (UndoRefused("01a", ["01b"]), 4, "lamina undo 01a --cascade"),
        (ClaimTaken("a::b", "01a"), 4, "lamina history"),
        (StoreBusy("x"), 1, "try again"),
        (StoreTooNew("x"), 1, "upgrade"),
        (StoreError("x"), 1, "lamina doctor"),
        (PermissionError("x"), 1, "lamina doctor"),
    ],
)
def test_every_error_has_its_exit_code_and_a_hint(error: Exception, code: int, hint: str) -> None:
    assert exit_codes.exit_code_for(error) == code
    assert hint in exit_codes.hint_for(error, "recall")
