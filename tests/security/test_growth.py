"""The time of a write, of a question and of a document reader grows with the length of the text, whatever its shape."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from growth_shapes import SHAPES, build_lines

import lamina
from cpu_time import cpu_seconds
from lamina.atom.passage import parse_segment, render_passage
from lamina.capture.caller_input import parse_conversation
from lamina.capture.echo_filter import is_echo, is_memory_talk, score_importance
from lamina.capture.memory_requests import find_forget_requests, find_labelled_statements, find_remember_requests
from lamina.capture.prose import find_statable_sentences, is_pasted
from lamina.importers.documents.html_text import html_to_markdown
from lamina.text.normal_form import comparison_form

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
LIMIT = 2.4
"""How many times longer a text of twice the length may take."""
NOISE = 0.2
"""Seconds below which a time says nothing about growth."""
RUNS = 6
"""How often a suspicious pair of lengths is measured: the least time of each counts."""
QUESTION, SHORT, LONG = 1_000, 12_000, 24_000
"""The characters of the shortest text, of which there are also texts of twice and four times the length."""
SLOW_SHAPES = list(SHAPES) if os.environ.get("LAMINA_GROWTH") == "all" else list(SHAPES)[::6]
"""The shapes that are measured end to end: all of them with `make torture`, each sixth otherwise."""

STAGES: dict[str, Callable[[str], object]] = {
    "splitting and redaction": lambda text: parse_conversation(text, None, None, NOON, redact_personal=True),
    "requests to forget": find_forget_requests,
    "labels": find_labelled_statements,
    "requests to remember": find_remember_requests,
    "sentences": find_statable_sentences,
    "pasted text": is_pasted,
    "talk about memory": is_memory_talk,
    "echoes": lambda text: is_echo(text, [text[:500]]),
    "importance": lambda text: score_importance(text, "fact"),
    "comparison": comparison_form,
    "passages": lambda text: parse_segment(render_passage(1, text, "Ann")),
    "web page": html_to_markdown,
    "web page with an end": lambda text: html_to_markdown(f"{text}\"'>-->"),
}


def check_growth(measure_length: Callable[[int], float], size: int) -> None:
    """Measure a text of three lengths, each twice the one before, and fail if a time grows faster than the length."""
    sizes = [size, 2 * size, 4 * size]
    times = {length: measure_length(length) for length in sizes}
    for shorter, longer in pairwise(sizes):
        for _ in range(RUNS):
            if times[longer] <= LIMIT * max(times[shorter], NOISE):
                break
            times[longer] = min(times[longer], measure_length(longer))
            times[shorter] = min(times[shorter], measure_length(shorter))
        assert times[longer] <= LIMIT * max(times[shorter], NOISE), times


def measure_in_vault(folder: Path, work: Callable[[lamina.Memory], object]) -> float:
    """Return the processor seconds of some work in a new vault."""
    count = sum(1 for _ in folder.iterdir())
    with lamina.open(folder / f"vault {count}", watch=False, background=False) as memory:
        return measure(lambda: work(memory))


def measure(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work; what other tests left is not searched for garbage meanwhile."""
    gc.collect()
    gc.freeze()
    try:
        return cpu_seconds(work)
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("shape", SHAPES)
def test_each_stage_that_reads_words_takes_time_in_proportion_to_them(shape: str) -> None:
    def read(length: int) -> float:
        text = SHAPES[shape](length)
        return measure(lambda: [stage(text) for stage in STAGES.values() if text.strip()])

    check_growth(read, LONG)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SLOW_SHAPES)
def test_capturing_a_text_takes_time_in_proportion_to_it(shape: str, tmp_path: Path) -> None:
    def capture(length: int) -> float:
        text = SHAPES[shape](length) + "\nend"
        return measure_in_vault(tmp_path, lambda memory: memory.capture(text, session_id="s", wait=True))

    check_growth(capture, LONG)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SLOW_SHAPES)
def test_capturing_turns_takes_time_in_proportion_to_them(shape: str, tmp_path: Path) -> None:
    def capture(length: int) -> float:
        turns = [{"speaker": "Ann", "content": line} for line in build_lines(shape, length)]
        turns.append({"speaker": "Ann", "content": "end"})
        return measure_in_vault(tmp_path, lambda memory: memory.capture(turns, session_id="s", wait=True))

    check_growth(capture, SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SLOW_SHAPES)
def test_remembering_statements_takes_time_in_proportion_to_them(shape: str, tmp_path: Path) -> None:
    def remember(length: int) -> float:
        fields = {"subject": "user", "kind": "preference"}
        statements = [{"content": f"It says {line[:4000]}", **fields} for line in build_lines(shape, length)]
        statements.append({"content": "end", **fields})
        return measure_in_vault(tmp_path, lambda memory: memory.remember_many(statements))

    check_growth(remember, SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SLOW_SHAPES)
def test_asking_takes_time_in_proportion_to_the_question(shape: str, tmp_path: Path) -> None:
    def recall(length: int) -> float:
        question = SHAPES[shape](length).encode()[:length].decode(errors="ignore").strip() or "?"

        def ask(memory: lamina.Memory) -> None:
            memory.recall(question)

        return measure_in_vault(tmp_path, ask)

    check_growth(recall, QUESTION)


@pytest.mark.parametrize("shape", ["near-identical statements", "equal lines", "a list of things"])
def test_remembering_values_of_one_claim_takes_time_in_proportion_to_them(shape: str, tmp_path: Path) -> None:
    def remember(length: int) -> float:
        fields = {"subject": "user", "attribute": "favourite"}
        statements = [{"content": line, "value": line, **fields} for line in build_lines(shape, length)]
        return measure_in_vault(tmp_path, lambda memory: memory.remember_many(statements))

    check_growth(remember, SHORT)


@pytest.mark.slow
def test_one_line_of_two_megabytes_is_captured(tmp_path: Path) -> None:
    line = SHAPES["one long line"](2_000_000)
    assert measure_in_vault(tmp_path, lambda memory: memory.capture(line, session_id="s", wait=True)) < 120


def test_what_is_read_on_opening_has_a_time_budget(tmp_path: Path) -> None:
    inbox = tmp_path / "vault" / "inbox"
    with lamina.open(tmp_path / "vault", watch=False, background=False) as memory:
        inbox.mkdir(parents=True, exist_ok=True)
        (inbox / "page.html").write_text("<p>The harbour is quiet.</p>" + "<a " * 25_000)
        memory.upkeep.due_work.request_inbox_import(budget_seconds=0.0)
        assert (inbox / "page.html").exists()
        memory.upkeep.due_work.request_inbox_import()
        assert not (inbox / "page.html").exists()
        assert memory.recall("quiet harbour").hits
