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
from pathlib import Path
from typing import Any

import pytest

from lamina.memory import Memory
from llm_server import FakeServer, completion, scripted
from terminal import Cli

LAMINA = [sys.executable, "-m", "lamina"]
SAID = (
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
    for words in SAID:
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


def told_until(process: subprocess.Popen[str], what: str) -> list[dict[str, Any]]:
    """The lines a process prints up to one of this sort."""
    told: list[dict[str, Any]] = []
    assert process.stdout is not None
    for line in process.stdout:
        told.append(json.loads(line))
        if told[-1]["what"] == what:
            return told
    assert process.stderr is not None
    raise AssertionError(f"it ended after {told}: {process.stderr.read()}")


def rest_of(process: subprocess.Popen[str]) -> list[str]:
    """What is told until the end, by its sort; it went well."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return [json.loads(line)["what"] for line in out.splitlines()]


class Asked:
    """A chat model that is asked in the middle of a dream, and answers when it may."""

    def __init__(self) -> None:
        self.asked, self.may = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.asked.set()
        self.may.wait(60)


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def server(asked: Asked) -> Iterator[FakeServer]:
    with scripted(replace(completion(IN_SHORT), before=asked.wait)) as server:
        yield server
        asked.may.set()


@pytest.fixture
def talking(env: dict[str, str], server: FakeServer) -> dict[str, str]:
    """An environment in which dreams ask a chat model for a card's words."""
    return {**env, "LAMINA_CHAT": "openai:m", "LAMINA_CHAT_URL": f"{server.address}/v1", "LAMINA_CHAT_KEY": "k"}


def steps_done(vault: Path) -> list[str]:
    with Memory(vault, watch=False, background=False) as memory:
        assert memory.doctor(deep=True).healthy
        return [entry.reason.partition(":")[0] for entry in memory.journal() if entry.verb == "dream"]


def test_one_round_reads_dreams_and_ends(cli: Cli, mill: Path) -> None:
    first = cli("serve", "--once", "--json")
    told = [json.loads(line) for line in first.out.splitlines()]
    assert (first.code, first.err) == (0, "")
    (dream,) = [each for each in told if each["what"] == "dream"]
    assert "merge: 1 add" in dream["steps"]
    assert cli("undo", dream["batch"]).code == 0
    assert [json.loads(line)["what"] for line in cli("serve", "--once", "--json").out.splitlines()] == []


def test_people_are_told_on_standard_error_a_line_a_happening(cli: Cli, mill: Path) -> None:
    ran = cli("serve", "--once")
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert " dream: dream-" in line


def test_a_vault_that_is_not_there_is_not_made(cli: Cli, vault: Path) -> None:
    ran = cli("serve", "--once")
    assert ran.code == 3 and "lamina init" in ran.err
    assert not vault.exists()


def test_a_round_in_which_something_fails_says_so_with_its_exit_code(
    cli: Cli, mill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "minilm")
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(mill / "nowhere"))
    ran = cli("serve", "--once")
    assert ran.code == 1
    assert "trouble: encoding failed and will be retried" in ran.err and " dream: dream-" in ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_peace(env: dict[str, str], mill: Path, number: signal.Signals) -> None:
    with serving(env, "--every", "3600") as process:
        told = told_until(process, "dream")
        assert told[0]["what"] == "began"
        process.send_signal(number)
        assert rest_of(process) == ["ended"]


def test_what_is_saved_and_captured_meanwhile_is_noticed(env: dict[str, str], mill: Path) -> None:
    with serving(env, "--every", "0.1") as process:
        told_until(process, "dream")
        (mill / "atoms" / "heron.md").write_text("The miller keeps a heron.\n", "utf-8")
        adopted = told_until(process, "written")[-1]
        assert (adopted["actor"], adopted["atoms"]) == ("human", 1)
        said = subprocess.run([*LAMINA, "remember", "The weir leaks."], env=env, capture_output=True, check=False)
        assert said.returncode == 0
        assert told_until(process, "written")[-1]["verb"] == "remember"
        process.send_signal(signal.SIGTERM)
        assert rest_of(process)[-1] == "ended"


def test_two_never_dream_at_once(
    env: dict[str, str], talking: dict[str, str], asked: Asked, mill: Path, cli: Cli
) -> None:
    with serving(talking, "--every", "3600") as first:
        assert asked.asked.wait(60)
        with serving(env, "--once") as second:
            assert rest_of(second) == ["dream"]
        assert steps_done(mill) == ["merge"]
        assert cli("dream", "--if-due", "--json").data["asleep"]
        asked.may.set()
        told_until(first, "dream")
        first.send_signal(signal.SIGTERM)
        assert rest_of(first) == ["ended"]
    assert steps_done(mill) == ["merge", "cards"]


def test_a_signal_in_the_middle_of_a_dream_leaves_whole_steps_and_the_next_one_does_the_rest(
    env: dict[str, str], talking: dict[str, str], asked: Asked, mill: Path
) -> None:
    with serving(talking, "--every", "3600") as process:
        assert asked.asked.wait(60)
        process.send_signal(signal.SIGTERM)
        asked.may.set()
        assert rest_of(process) == ["began", "dream", "ended"]
    assert steps_done(mill) == ["merge", "cards"]
    with serving(env, "--once") as process:
        assert rest_of(process) == ["dream"]  # probe, drift and prune were still to do
    with serving(env, "--once") as process:
        assert rest_of(process) == []


def test_killed_in_the_middle_of_a_dream_the_next_one_takes_over_at_once(
    env: dict[str, str], talking: dict[str, str], asked: Asked, mill: Path
) -> None:
    with serving(talking, "--every", "3600") as process:
        assert asked.asked.wait(60)
        process.kill()
        process.wait()
    assert steps_done(mill) == ["merge"]
    with serving(env, "--once") as process:
        dream = told_until(process, "dream")[-1]
        assert dream["steps"] == ["cards: 1 card"]
        assert rest_of(process) == []
    assert steps_done(mill) == ["merge", "cards"]
    with serving(env, "--once") as process:
        assert rest_of(process) == []
