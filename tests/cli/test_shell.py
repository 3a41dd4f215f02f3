"""Run the command line as real processes, as a shell does.

Covers `lamina.__main__`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

LAMINA = [sys.executable, "-m", "lamina"]


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": ""}


def shell(env: dict[str, str], *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*LAMINA, *words], input=stdin, capture_output=True, env=env, timeout=60, check=False)


def start_process(env: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*LAMINA, *words], stdin=pipe, stdout=pipe, stderr=pipe, env=env)


def test_json_is_alone_on_stdout_and_notes_go_to_stderr(env: dict[str, str]) -> None:
    process = shell(env, "remember", "Ünïcode 咖啡 🙂", "--json")
    assert process.returncode == 0
    assert json.loads(process.stdout)["outcomes"][0]["atom"]["content"] == "Ünïcode 咖啡 🙂"
    assert process.stderr.startswith(b"created a vault in ")


def test_errors_are_two_lines_without_a_traceback(env: dict[str, str]) -> None:
    process = shell(env, "list")
    assert (process.returncode, process.stdout) == (3, b"")
    assert [line.split(b":")[0] for line in process.stderr.splitlines()] == [b"error", b"hint"]


def test_a_failing_disk_is_an_error_with_a_hint(env: dict[str, str]) -> None:
    process = shell(env, "remember", "x", "--vault", "/proc/nowhere")
    assert process.returncode == 1
    assert b"Traceback" not in process.stderr
    assert process.stderr.startswith(b"error: ")


def test_text_the_terminal_cannot_show_is_escaped(env: dict[str, str]) -> None:
    ascii_only = {**env, "PYTHONIOENCODING": "ascii"}
    process = shell(ascii_only, "remember", "Ünïcode 咖啡")
    assert process.returncode == 0
    assert b"\\xdcn\\xefcode" in process.stdout


def test_a_closed_pipe_is_no_error(env: dict[str, str]) -> None:
    turns = "\n".join(json.dumps({"speaker": "Ann", "content": f"Turn {n}: " + "word " * 50}) for n in range(1500))
    assert shell(env, "capture", "-", "--turns", stdin=turns.encode()).returncode == 0
    with start_process(env, "list", "--all", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_an_interrupted_prompt_exits_quietly(env: dict[str, str]) -> None:
    with start_process(env, "try") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        assert process.wait(timeout=60) == 130
        assert b"Traceback" not in process.stderr.read()


def test_help_does_not_load_the_engine(env: dict[str, str]) -> None:
    script = """
import atexit, sys
engine = {"pydantic", "apsw", "numpy", "watchfiles"}
atexit.register(lambda: print(sorted(engine & set(sys.modules)), file=sys.stderr))
sys.argv = ["lamina", "--help"]
from lamina.cli import main
main()
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, env=env, timeout=60, check=True)
    assert result.stderr.strip() == b"[]"
    assert b"recall" in result.stdout
