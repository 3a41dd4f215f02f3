"""`lamina serve` as a process: it keeps a vault, ends in peace, dies without harm, and dreams alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from command_result import Cli
from lamina.clock import FixedClock, SystemClock
from lamina.dream.dream import LEASE_SECONDS
from llm_server import FakeServer, completion, scripted

LAMINA = [sys.executable, "-m", "lamina"]
SENTENCES = (
    "The mill grinds on Tuesdays.",
    "The mill sells rye flour.",
    "The mill has two stones.",
    "The mill stands by the weir.",
    "The mill was built of oak.",
)
IN_SHORT = {
    "sentences": [
        {"text": "The mill sells rye flour.", "lines": [2]},
        {"text": "The mill has two stones.", "lines": [3]},
    ]
}


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "LAMINA_EXTRACTOR": "rules"}


@pytest.fixture
def mill(cli: Cli, vault: Path) -> Path:
    """A vault with something to dream of."""
    for words in SENTENCES:
        assert cli("remember", words, "--subject", "Old Mill").code == 0
    return vault


@contextmanager
def serving(env: dict[str, str], *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*LAMINA, "serve", "--only-keep", "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
    )
    patience = threading.Timer(60, process.kill)
    patience.start()
    with process:
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()


def read_lines_until(process: subprocess.Popen[str], what: str) -> list[dict[str, Any]]:
    """The lines a process prints up to one of this sort."""
    result: list[dict[str, Any]] = []
    assert process.stdout is not None
    for line in process.stdout:
        result.append(json.loads(line))
        if result[-1]["what"] == what:
            return result
    assert process.stderr is not None
    raise AssertionError(f"it ended after {result}: {process.stderr.read()}")


def rest_of(process: subprocess.Popen[str]) -> list[str]:
    """What is told until the end, by its sort; it went well."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return [json.loads(line)["what"] for line in out.splitlines()]


class BlockingChat:
    """A chat model that is asked in the middle of a dream, and answers when it may."""

    def __init__(self) -> None:
        self.asked, self.may = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.asked.set()
        self.may.wait(60)


@pytest.fixture
def blocking_chat() -> BlockingChat:
    return BlockingChat()


@pytest.fixture
def server(blocking_chat: BlockingChat) -> Iterator[FakeServer]:
    with scripted(replace(completion(IN_SHORT), before=blocking_chat.wait)) as server:
        yield server
        blocking_chat.may.set()


@pytest.fixture
def chat_env(env: dict[str, str], server: FakeServer) -> dict[str, str]:
    """An environment in which dreams ask a chat model for a card's words."""
    return {**env, "LAMINA_CHAT": "openai:m", "LAMINA_CHAT_URL": f"{server.address}/v1", "LAMINA_CHAT_KEY": "k"}


def steps_done(vault: Path) -> list[str]:
    with lamina.open(vault, watch=False, background=False) as memory:
        assert memory.upkeep.doctor(deep=True).healthy
        return [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"]


def test_one_round_extracts_dreams_and_exits(cli: Cli, mill: Path) -> None:
    first = cli("serve", "--once", "--json")
    result = [json.loads(line) for line in first.out.splitlines()]
    assert (first.code, first.err) == (0, "")
    (dream,) = [item for item in result if item["what"] == "dream"]
    assert "merge: 1 add" in dream["steps"]
    assert cli("undo", dream["batch"]).code == 0
    assert [json.loads(line)["what"] for line in cli("serve", "--once", "--json").out.splitlines()] == []


def test_each_event_is_one_line_on_standard_error(cli: Cli, mill: Path) -> None:
    result = cli("serve", "--once")
    assert result.out == ""
    (line,) = result.err.splitlines()
    assert " dream: dream-" in line


def test_a_missing_vault_is_not_created(cli: Cli, vault: Path) -> None:
    result = cli("serve", "--once")
    assert result.code == 3 and "lamina init" in result.err
    assert not vault.exists()


def test_a_round_with_a_failure_reports_it_with_its_exit_code(
    cli: Cli, mill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "minilm")
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(mill / "nowhere"))
    result = cli("serve", "--once")
    assert result.code == 1
    assert "trouble: encoding failed and will be retried" in result.err and " dream: dream-" in result.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_shuts_it_down(env: dict[str, str], mill: Path, number: signal.Signals) -> None:
    with serving(env, "--every", "3600") as process:
        result = read_lines_until(process, "dream")
        assert result[0]["what"] == "began"
        process.send_signal(number)
        assert rest_of(process) == ["ended"]


def test_edits_and_captures_meanwhile_are_noticed(env: dict[str, str], mill: Path) -> None:
    with serving(env, "--every", "0.1") as process:
        read_lines_until(process, "dream")
        (mill / "atoms" / "heron.md").write_text("The miller keeps a heron.\n", "utf-8")
        adopted = read_lines_until(process, "written")[-1]
        assert (adopted["actor"], adopted["atoms"]) == ("human", 1)
        result = subprocess.run([*LAMINA, "remember", "The weir leaks."], env=env, capture_output=True, check=False)
        assert result.returncode == 0
        assert read_lines_until(process, "written")[-1]["verb"] == "remember"
        process.send_signal(signal.SIGTERM)
        assert rest_of(process)[-1] == "ended"


def test_two_processes_never_dream_at_the_same_time(
    env: dict[str, str], chat_env: dict[str, str], blocking_chat: BlockingChat, mill: Path, cli: Cli
) -> None:
    with serving(chat_env, "--every", "3600") as first:
        assert blocking_chat.asked.wait(60)
        with serving(env, "--once") as second:
            assert rest_of(second) == ["dream"]
        assert steps_done(mill) == ["merge"]
        assert cli("dream", "--if-due", "--json").data["asleep"]
        blocking_chat.may.set()
        read_lines_until(first, "dream")
        first.send_signal(signal.SIGTERM)
        assert rest_of(first) == ["ended"]
    assert steps_done(mill) == ["merge", "cards", "topics"]


def test_a_signal_during_a_dream_leaves_whole_steps_and_the_next_one_does_the_rest(
    env: dict[str, str], chat_env: dict[str, str], blocking_chat: BlockingChat, mill: Path
) -> None:
    with serving(chat_env, "--every", "3600") as process:
        assert blocking_chat.asked.wait(60)
        process.send_signal(signal.SIGTERM)
        blocking_chat.may.set()
        assert rest_of(process) == ["began", "dream", "ended"]
    assert steps_done(mill) == ["merge", "cards"]
    with serving(env, "--once") as process:
        assert rest_of(process) == ["dream"]  # probe, drift and prune were still to do
    with serving(env, "--once") as process:
        assert rest_of(process) == []


def test_after_a_kill_during_a_dream_the_next_dream_finishes_it_when_the_lease_ends(
    env: dict[str, str], chat_env: dict[str, str], blocking_chat: BlockingChat, mill: Path
) -> None:
    with serving(chat_env, "--every", "3600") as process:
        assert blocking_chat.asked.wait(60)
        process.kill()
        process.wait()
    assert steps_done(mill) == ["merge"]
    with serving(env, "--once") as process:
        assert "another process" in read_lines_until(process, "dream")[-1]["text"]
        assert rest_of(process) == []
    after_the_lease = FixedClock(SystemClock().now() + timedelta(seconds=LEASE_SECONDS))
    with lamina.open(mill, watch=False, background=False, clock=after_the_lease) as memory:
        memory.upkeep.dream()
    assert steps_done(mill) == ["merge", "cards", "topics"]
    with serving(env, "--once") as process:
        assert rest_of(process) == []
