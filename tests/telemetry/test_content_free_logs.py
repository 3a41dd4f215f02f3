"""Nothing that anybody said stands in any log, at any level, whatever is done and whatever fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from full_day import FullDay

from canaries import Canaries, traces
from lamina.capture.extractors import CapturedTurn, ExtractedStatement
from lamina.capture.statement_extractor import build_statements
from lamina.errors import LaminaError
from lamina.testing.store_harness import NOON
from lamina.vault.watcher import Watcher
from lamina.worker import Worker


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
def test_a_day_of_every_verb_and_every_failure_leaves_no_content_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    caplog.set_level(level)
    day = FullDay(tmp_path / "day")
    day.root.mkdir()
    day.spend()
    log = tmp_path / "log"
    log.mkdir()
    (log / "lines").write_text(caplog.text)
    (log / "kept").write_text("\n".join(f"{item.text} {item.facts}" for item in day.kept))
    for text in ("recall does without openai:seer", "no second opinion", "imported later", "will be written later"):
        assert text in caplog.text
    assert any("encoding failed and will be retried" in item.text for item in day.kept)
    assert len(day.canaries.made) > 100
    assert traces([log], day.canaries.made) == {}


def test_a_failing_callback_is_logged_without_the_text_it_failed_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    word = Canaries(9).new()
    for fail in (_extracting, _working, _watching):
        fail(word, tmp_path)
    for text in ("clumsy failed on 1 turns", "sweeping failed and will be retried", "the watcher's listener failed"):
        assert text in caplog.text
    assert word not in caplog.text


class _FailingExtractor:
    name, instant = "clumsy", True

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        raise KeyError(turns[0].text)


def _extracting(word: str, root: Path) -> None:
    turn = CapturedTurn("segment", 0, f"My bank is {word}.", "Ann", NOON)
    assert build_statements([turn], [], _FailingExtractor(), {}, iter(())).failure == "clumsy failed: KeyError"


def _working(word: str, root: Path) -> None:
    tried = threading.Event()

    def fail(stop: Callable[[], bool]) -> None:
        tried.set()
        raise LaminaError(f"{word} was in the way")

    worker = Worker("sweeping", fail)
    worker.wake()
    assert tried.wait(10)
    worker.stop()


def _watching(word: str, root: Path) -> None:
    done_event = threading.Event()

    def fail(paths: frozenset[str]) -> None:
        done_event.set()
        raise ValueError(f"{word} is at {paths}")

    watcher = Watcher(root, fail)
    if watcher.start():
        (root / f"{word}.md").write_text("…")
        assert done_event.wait(10)
        watcher.stop()
    else:
        pytest.skip("files cannot be watched here")
