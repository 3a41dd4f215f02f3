"""The hook command as a host runs it: a process, its standard input, and what it stores.

Covers `lamina.cli.hook_fast_start` and `lamina.hosts.direct_memory`.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Reply, Request, serve_script
from transcript_lines import conversation, transcript_line, write_transcript

import lamina
from lamina.access import ServedMemory
from lamina.atom.passage import passages_of
from lamina.hosts import hook_state
from lamina.hosts.deadline import Timeout
from lamina.hosts.hook import read_question
from lamina.hosts.hook_state import HookState
from lamina.hosts.server_client import RequestDeclined, ServerClient
from lamina.local_socket import socket_path
from lamina.memory import Memory
from lamina.vault.vault_setup import ensure_vault

CONTEXT = "<memories>\n## facts\n- [01jc9x2k7m3f5r8t0v2w4y6z8a human active 2026-11-14] Ann takes it black\n</memories>"


@dataclass(frozen=True)
class HookResult:
    code: int
    out: bytes
    err: bytes

    @property
    def context(self) -> str:
        hookspecificoutput = json.loads(self.out)["hookSpecificOutput"]
        assert set(hookspecificoutput) == {"hookEventName", "additionalContext"}
        return str(hookspecificoutput["additionalContext"])


@dataclass(frozen=True)
class Host:
    """A machine with a vault on it, and a host that runs hooks there."""

    folder: Path

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def state(self) -> Path:
        return self.vault / ".lamina"

    @property
    def log(self) -> list[str]:
        return (self.state / "hooks" / "hooks.log").read_text(encoding="utf-8").splitlines()

    def run(
        self, event: str, initial: Any = None, *more: str, limit: float = 20, raw: bytes | None = None
    ) -> HookResult:
        """Run a hook to its end; a test that waits for longer than anybody would has failed."""
        data = raw if raw is not None else json.dumps(initial or {}).encode()
        options = ["--vault", str(self.vault), "--limit", str(limit), *more]
        words = [sys.executable, "-m", "lamina", "hook", event, *options]
        result = subprocess.run(words, input=data, capture_output=True, timeout=60, env=self.environ, cwd=self.folder)
        return HookResult(result.returncode, result.stdout, result.stderr)

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}

    def call(self, *texts: str, session: str = "s") -> dict[str, str]:
        """What the host says when there is something to keep."""
        path = write_transcript(self.folder / f"{session}.jsonl", conversation(texts))
        return {"session_id": session, "transcript_path": str(path), "cwd": str(self.folder / "boathouse")}

    def kept(self) -> list[str]:
        """Every turn that is in the vault, once nobody is at work any more."""
        self.wait()
        with lamina.open(self.vault, watch=False, background=False) as memory:
            atoms = memory.list(status=None, limit=200)
        segments = sorted((atom for atom in atoms if atom.is_segment), key=lambda item: item.id)
        return [passage.text for segment in segments for passage in passages_of(segment)]

    def wait(self) -> None:
        """Wait until processes that were left behind have let go of their locks: that of who is next, then the one."""
        for pattern in ("next_*.lock", "capturing.lock"):
            for path in (self.state / "hooks").glob(pattern):
                with path.open("w") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    ensure_vault(tmp_path / "vault")
    return Host(tmp_path)


@pytest.fixture
def server(host: Host) -> Iterator[Memory]:
    """A real server of the vault."""
    serving = pytest.importorskip("lamina.server").run_server
    with (
        lamina.open(host.vault, watch=False, background=False) as memory,
        serving(ServedMemory.for_memory(memory), port=0),
    ):
        yield memory


def _answering(request: Request) -> tuple[int, Any]:
    return 200, {"known": True, "context": CONTEXT, "hits": []}


def test_hooks_name_a_vault_like_every_other_surface(tmp_path: Path) -> None:
    assert not hook_state.is_vault(tmp_path)
    with lamina.open(tmp_path, watch=False, background=False) as memory:
        assert hook_state.is_vault(tmp_path)
        assert HookState(tmp_path, {}).state_folder == memory.engine.state
        assert (memory.engine.state / hook_state.HISTORY).exists()
    (tmp_path / ".lamina" / "settings.toml").write_text(f'state_dir = "{tmp_path}/other"\n', encoding="utf-8")
    assert HookState(tmp_path, {}).state_folder == tmp_path / "other"
    assert HookState(tmp_path, {"LAMINA_STATE_DIR": "/else"}).state_folder == Path("/else")


def test_a_session_starts_with_the_core_context(host: Host) -> None:
    with serve_script(host.state, _answering) as served:
        result = host.run("session-start", {"source": "compact", "cwd": "/work/boathouse"})
    assert (result.code, result.context, result.err) == (0, CONTEXT, b"")
    assert served.asked == [("GET", "/v1/context?budget=1500&about=boathouse", None)]


def test_a_prompt_is_answered_with_recalled_context(host: Host) -> None:
    with serve_script(host.state, _answering) as served:
        result = host.run("user-prompt-submit", {"prompt": " How does Ann take it? "})
    assert result.context == CONTEXT
    assert served.asked == [("POST", "/v1/recall", {"question": "How does Ann take it?", "k": 6, "budget": 600})]


@pytest.mark.parametrize("prompt", ["", "  ", "/clear", "!ls", "# remember this", 3, None])
def test_host_commands_are_not_recalled(prompt: object) -> None:
    assert not read_question({"prompt": prompt})


def test_without_relevant_memories_nothing_is_printed(host: Host) -> None:
    with serve_script(host.state, lambda request: (200, {"known": False, "context": "<memories>…", "hits": []})):
        assert (host.run("user-prompt-submit", {"prompt": "hm?"}).out, host.run("session-start").out) == (b"", b"")


BROKEN: dict[str, Reply] = {
    "an error": lambda request: (500, {"detail": "Ann takes it black"}),
    "no JSON": lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\noops!",
    "no HTTP": lambda request: b"\0\1\2\r\n\r\n",
    "a list": lambda request: (200, [1]),
    "killed in the middle": lambda request: b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"context": "x',
    "no context": lambda request: (200, {"known": True, "context": None}),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_failing_server_is_no_failure_of_the_host(host: Host, how: str) -> None:
    (host.state / "hooks").mkdir()
    (host.state / "hooks" / "slow.mark").touch()  # nobody opens the memory here
    with serve_script(host.state, BROKEN[how]):
        result = host.run("user-prompt-submit", {"prompt": "How does Ann take it?"})
    assert (result.code, result.out, result.err) == (0, b"", b"")
    assert len(host.log) == 1
    assert "Ann" not in host.log[0]


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit"])
def test_a_hanging_server_is_abandoned_within_the_deadline(host: Host, event: str) -> None:
    with serve_script(host.state, lambda request: None):
        result = host.run(event, {"prompt": "How does Ann take it?"}, limit=0.3)
    assert (result.code, result.out) == (0, b"")
    assert len(host.log) == 1


def test_turns_a_hanging_server_does_not_store_are_stored_otherwise_in_time(host: Host) -> None:
    with serve_script(host.state, lambda request: None) as served:
        result = host.run("session-end", host.call("I live in Porto."), limit=2)
    assert (result.code, result.out, result.err) == (0, b"", b"")
    assert served.asked
    assert host.kept() == ["I live in Porto."]
    assert host.log[0].split()[1:5] == ["session-end", "left", "to", "a"]


def test_a_server_of_another_version_is_no_failure(host: Host) -> None:
    with serve_script(host.state, lambda request: (404, {"detail": "Ann"})):
        assert host.run("session-start").out == b""
        host.run("stop", host.call("I live in Porto."))
        assert host.kept() == ["I live in Porto."]
    assert host.log[0].split()[1:5] == ["session-start", "declined", "with", "404"]


@pytest.mark.parametrize("sign", ["日", "é", "a", "🐝", "\ud800"])
def test_a_long_prompt_is_truncated_in_any_script(host: Host, sign: str) -> None:
    with serve_script(host.state, _answering) as served:
        assert host.run("user-prompt-submit", {"prompt": f"How? {sign * 9000}"}).context == CONTEXT
    question = served.asked[0][2]["question"]
    assert question.startswith("How?")
    assert 3000 < len(question.encode()) <= 4000


def test_a_host_that_never_closes_standard_input_is_abandoned_in_time(host: Host) -> None:
    words = [sys.executable, "-m", "lamina", "hook", "stop", "--vault", str(host.vault), "--limit", "0.3"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=host.environ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(30) == 0
    assert host.log[0].split()[1:5] == ["stop", "took", "too", "long"]


@pytest.mark.parametrize(
    ("event", "raw"),
    [
        ("stop", b""),
        ("session-end", b"{"),
        ("session-start", b"[]"),
        ("user-prompt-submit", b"\xff\xfe"),
        ("pre-compact", b'{"session_id": {}, "transcript_path": 3}'),
        ("user-prompt-submit", b'{"prompt": {}}'),
    ],
)
def test_an_invalid_event_exits_without_error(host: Host, event: str, raw: bytes) -> None:
    result = host.run(event, raw=raw)
    assert (result.code, result.out, result.err) == (0, b"", b"")
    assert len(host.log) == 1


def test_invalid_bytes_exit_without_error(host: Host) -> None:
    vault = ["--vault", str(host.vault)]
    for words in (
        ["hook", "nonsense"],
        ["hook"],
        ["hook", "stop", "--limit", "soon"],
        ["hook", "stop", "--vault"],
        ["hook", "stop", "--vault", "/no/vault"],
        [*vault, "hook", "nonsense"],
        [*vault, "--json", "hook"],
        [*vault, "hook", "stop", "--nonsense"],
        ["--scope", "..", *vault, "hook", "stop"],
    ):
        result = subprocess.run(
            [sys.executable, "-m", "lamina", *words],
            input=b"{}",
            capture_output=True,
            env=host.environ,
            cwd=host.folder,
            timeout=60,
        )
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_without_a_vault_nothing_is_created(tmp_path: Path) -> None:
    result = Host(tmp_path).run("session-start")
    assert (result.code, result.out, list(tmp_path.iterdir())) == (0, b"", [])


def test_a_stop_event_sends_new_turns_to_the_server(host: Host) -> None:
    with serve_script(host.state, lambda request: (200, {"commit": "x"})) as served:
        call = host.call("I live in Porto.", "Noted.")
        assert [host.run("stop", call).out for _ in range(2)] == [b"", b""]
        with Path(call["transcript_path"]).open("a", encoding="utf-8") as file:
            file.write(conversation(["And I keep bees."], 2))
        host.run("session-end", call)
    assert [[turn["content"] for turn in body["turns"]] for _, _, body in served.asked] == [
        ["I live in Porto.", "Noted."],
        ["And I keep bees."],
    ]
    first = served.asked[0][2]
    assert (first["session_id"], first["source_id"]) == ("s", "claude-code")
    assert first["turns"][0] == {"role": "user", "content": "I live in Porto.", "at": "2026-11-16T10:00:00.500Z"}


def test_turns_the_server_refuses_are_not_sent_again(host: Host) -> None:
    fields = {"detail": "there are no words to capture besides what recall had told"}
    with serve_script(host.state, lambda request: (422, fields)) as served:
        call = host.call(CONTEXT)
        host.run("stop", call)
        host.run("stop", call)
    assert len(served.asked) == 1


def test_a_whole_session_with_a_real_server(host: Host, server: Memory) -> None:
    server.remember("Ann takes her coffee black.", kind="preference", subject="Ann", pinned=True)
    begun = host.run("session-start", {"cwd": "/work/boathouse"}).context
    context = host.run("user-prompt-submit", {"prompt": "How does Ann take her coffee?"}).context
    assert "Ann takes her coffee black." in begun
    assert "Ann takes her coffee black." in context
    assert host.run("user-prompt-submit", {"prompt": "Which port does the metrics exporter use?"}).out == b""
    text = f"<system-reminder>\nSessionStart hook additional context: {begun}\n</system-reminder>\nI moved to Porto."
    call = host.call(text, f"{context}\nThen welcome to Porto.", "ok")
    host.run("stop", call)
    host.run("pre-compact", call)
    assert host.kept() == ["I moved to Porto.", "Then welcome to Porto.", "ok"]
    assert [atom.origin for atom in server.list() if atom.session_id == "s" and atom.is_segment] == ["agent"]


def _echoes(context: str) -> Iterator[str]:
    """What a host and an agent make of context that a hook had told."""
    item = next(part for part in context.split("\n") if part.startswith("- ["))
    escaped = context.replace("<", "&lt;").replace(">", "&gt;")
    yield f"<system-reminder>\nUserPromptSubmit hook additional context: {context}\n</system-reminder>"
    yield from (context.replace(" ", "\u00a0"), context.replace("\n", "\r\n"), context.replace("\n", " "))
    yield from (escaped, json.dumps(context), json.dumps({"a": json.dumps(context)}))
    yield from ("\n".join(f"> {part}" for part in context.split("\n")), f"```\n{context}\n```")
    yield from (context[: len(context) // 2], f"…{context[len(context) // 2 :]}")
    yield from (item, f"* {item[2:]}", f"As I remember: {item[2:]}")


def test_injected_context_in_a_transcript_is_not_captured(host: Host, server: Memory) -> None:
    """The word heron stands in what is told and nowhere else; what a person says around it stays."""
    server.remember("The staging database is called heron.", kind="fact", subject="staging")
    result = [host.run("session-start", {"cwd": "/work/heron"}).context]
    result.append(host.run("user-prompt-submit", {"prompt": "What is the staging database called?"}).context)
    before = {atom.id: atom.evidence for atom in server.list(status=None, limit=200)}
    echoes = [echo for context in result for echo in _echoes(context)]
    fields = [f"My {n}th boat lies in Cork." for n in range(len(echoes))]
    text = [f"{echo}\n{words}" for echo, words in zip(echoes, fields, strict=True)]
    host.run("stop", host.call(*text))
    wire = ServerClient(socket_path(host.state), Timeout(30))
    wire.post(
        "/v1/capture", {"turns": [{"role": "user", "content": element} for element in text], "session_id": "http"}
    )
    for item in result:
        with pytest.raises(RequestDeclined):
            wire.post("/v1/remember", {"content": item})
    host.wait()
    atoms = server.list(status=None, limit=200)
    new = [atom for atom in atoms if atom.id not in before]
    assert [atom.content for atom in new if "heron" in atom.content] == []
    assert {atom.id: atom.evidence for atom in atoms if atom.id in before} == before
    for session in ("s", "http"):
        texts = [p.text for atom in new if atom.is_segment and atom.session_id == session for p in passages_of(atom)]
        assert [words for words, turn in zip(fields, texts, strict=True) if words not in turn] == []


def test_after_a_server_was_killed_turns_are_still_stored(host: Host) -> None:
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    dead.bind(str(socket_path(host.state)))
    dead.close()
    result = host.run("stop", host.call("I live in Porto.", "Noted."))
    assert (result.code, result.out, result.err) == (0, b"", b"")
    assert host.kept() == ["I live in Porto.", "Noted."]
    assert [item for item in host.log if "afterwards: opened, 2 turns" in item]


def test_a_server_killed_while_answering_loses_nothing_and_stores_nothing_twice(host: Host) -> None:
    words = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--vault", str(host.vault)]
    call = host.call("I live in Porto.", "Noted.", "And I keep bees.")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=host.environ) as process:
        assert process.stderr is not None
        for result in process.stderr:
            if b"http://" in result:
                break
        hook = [sys.executable, "-m", "lamina", "hook", "stop", "--vault", str(host.vault), "--limit", "20"]
        with subprocess.Popen(hook, stdin=subprocess.PIPE, env=host.environ) as running:
            assert running.stdin is not None
            running.stdin.write(json.dumps(call).encode())
            running.stdin.close()
            process.send_signal(signal.SIGKILL)
            assert running.wait(60) == 0
    assert host.run("session-end", call).code == 0
    assert host.kept() == ["I live in Porto.", "Noted.", "And I keep bees."]


def test_concurrent_hooks_store_every_turn_once(host: Host) -> None:
    call = json.dumps(host.call(*(f"The {n}th door is green." for n in range(6)))).encode()
    words = [sys.executable, "-m", "lamina", "hook", "stop", "--vault", str(host.vault), "--limit", "20"]
    running = [subprocess.Popen(words, stdin=subprocess.PIPE, env=host.environ) for _ in range(3)]
    for item in running:
        assert item.stdin is not None
        item.stdin.write(call)
        item.stdin.close()
    assert [element.wait(60) for element in running] == [0, 0, 0]
    assert host.kept() == [f"The {n}th door is green." for n in range(6)]


def test_without_a_server_a_prompt_is_answered_if_time_allows(host: Host) -> None:
    with lamina.open(host.vault, watch=False, background=False) as memory:
        memory.remember("Ann takes her coffee black.", kind="preference", subject="Ann")
    call = {"prompt": "How does Ann take her coffee?"}
    assert "black" in host.run("user-prompt-submit", call, limit=60).context
    assert "black" in host.run("session-start", {"cwd": "/work/boathouse"}, limit=60).context
    assert host.run("user-prompt-submit", call, limit=0.05).out == b""
    (host.state / "hooks" / "slow.mark").touch()
    assert host.run("user-prompt-submit", call, limit=60).out == b""
    assert host.log[-1].split()[1:4] == ["user-prompt-submit", "no", "server"]


def test_a_slow_or_failed_recall_is_not_retried_immediately(host: Host) -> None:
    place = HookState(host.vault, {})
    with place.guard_slow_open() as may:
        assert may
    with pytest.raises(OSError, match="gone"), place.guard_slow_open():
        raise OSError("gone")
    with place.guard_slow_open() as may:
        assert not may
    long_ago = time.time() - 3600
    os.utime(place.file_path("slow", "mark"), (long_ago, long_ago))
    with place.guard_slow_open() as may:
        assert may


def test_a_configured_scope_is_never_sent_to_a_server_of_another(host: Host) -> None:
    with serve_script(host.state, _answering) as served:
        host.run("stop", host.call("I live in Porto."), "--scope", "org:work")
        host.wait()
    assert served.asked == []
    with lamina.open(host.vault, "org:work", watch=False, background=False) as memory:
        assert [atom.session_id for atom in memory.list() if atom.is_segment] == ["s"]


def test_a_socket_of_another_user_receives_nothing(host: Host) -> None:
    (host.state / "hooks").mkdir()
    (host.state / "hooks" / "slow.mark").touch()
    socket_path(host.state).symlink_to("/run/other.sock")
    assert host.run("user-prompt-submit", {"prompt": "How does Ann take it?"}).out == b""
    assert host.log[0].split()[1:4] == ["user-prompt-submit", "no", "server"]


def test_the_readable_part_of_a_broken_transcript_is_captured(host: Host) -> None:
    call = host.call("I live in Porto.")
    text = '{"oops\n\0\n' + transcript_line("user", "I live in Porto.") + '{"type": "user"'
    write_transcript(Path(call["transcript_path"]), text)
    with serve_script(host.state, lambda request: (200, {})) as served:
        host.run("stop", call)
        host.run("stop", {**call, "transcript_path": str(host.folder / "gone")})
        host.run("stop", call)
    assert [turn["content"] for _, _, body in served.asked for turn in body["turns"]] == ["I live in Porto."]
    assert "FileNotFoundError" in host.log[-2]
    assert host.log[-1].split()[1:4] == ["stop", "nothing", "new"]


@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_without_a_writable_folder_a_hook_exits_without_error(host: Host, event: str) -> None:
    words = [sys.executable, "-m", "lamina", "hook", event, "--vault", str(host.vault)]
    full = f"ulimit -f 0; exec {shlex.join(words)}"
    call = json.dumps(host.call("I live in Porto.")).encode()
    result = subprocess.run(["bash", "-c", full], input=call, capture_output=True, env=host.environ, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_the_log_contains_no_text_and_is_bounded(host: Host) -> None:
    with serve_script(host.state, _answering):
        host.run("user-prompt-submit", {"prompt": "How does Ann take it?"})
        log = host.state / "hooks" / "hooks.log"
        log.write_text("x" * 300_000, encoding="utf-8")
        host.run("user-prompt-submit", {"prompt": "How does Ann take it?"})
    assert "Ann" not in log.read_text(encoding="utf-8")
    assert len(log.read_text(encoding="utf-8")) < 1000


def test_no_secret_of_a_session_is_written_anywhere(host: Host, server: Memory) -> None:
    secret = "ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5"
    text = f"My token is {secret}. I live in Porto."
    host.run("stop", host.call(text))
    host.run("user-prompt-submit", {"prompt": f"{text} Where do I live?"})
    host.run("stop", host.call(text, "ok", session="other"), "--scope", "org:work")
    assert len(host.kept()) == 1
    server.close()
    written = [path for path in host.vault.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert [path for path in written if secret.encode() in path.read_bytes()] == []


def test_the_typed_command_does_the_same(host: Host) -> None:
    with serve_script(host.state, _answering):
        words = [sys.executable, "-m", "lamina", "--vault", str(host.vault), "hook", "session-start"]
        result = subprocess.run(words, input=b"{}", capture_output=True, env=host.environ, timeout=60)
    assert json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"] == CONTEXT
