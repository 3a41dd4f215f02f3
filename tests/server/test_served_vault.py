"""`lamina serve` as a process: one token, told once; this machine alone; ended in peace, killed in vain."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import lamina
from command_result import Cli
from lamina.local_socket import socket_path

LAMINA = [sys.executable, "-m", "lamina"]


@dataclass
class ServedVault:
    """A running server and what it said when it began."""

    process: subprocess.Popen[str]
    url: str
    token: str | None

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> tuple[int, Any]:
        """One request; the status and the document that came back."""
        there = urlsplit(self.url)
        connection = http.client.HTTPConnection(there.hostname or "", there.port, timeout=30)
        return _request(connection, method, path, body, token or self.token)

    def ended(self) -> tuple[int, str]:
        """Ask it to end; how it did, and what it complained of."""
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


def _request(
    connection: http.client.HTTPConnection, method: str, path: str, body: object, token: str | None
) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    result = None if body is None else json.dumps(body)
    if result is not None:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, path, result, headers)
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(data) if data and "json" in (answer.headers["content-type"] or "") else data


@contextmanager
def serve(vault: Path, *words: str) -> Iterator[ServedVault]:
    process = subprocess.Popen(
        [*LAMINA, "--vault", str(vault), "serve", "--json", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LAMINA_EXTRACTOR": "rules"},
    )
    patience = threading.Timer(90, process.kill)
    patience.start()
    with process:
        try:
            yield _read_start(process)
        finally:
            patience.cancel()
            process.kill()


def _read_start(process: subprocess.Popen[str]) -> ServedVault:
    token = None
    assert process.stdout is not None and process.stderr is not None
    for line in process.stdout:
        document = json.loads(line)
        token = document.get("token", token)
        if document["what"] == "serving":
            return ServedVault(process, document["url"], token)
    raise AssertionError(process.stderr.read())


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    with lamina.open(tmp_path / "v", watch=False) as memory:
        memory.remember("The ferry leaves at nine.", subject="ferry")
    return tmp_path / "v"


def contents(result: Any) -> list[str]:
    return [atom["content"] for atom in result["atoms"]]


def test_a_server_prints_one_token_once_and_loses_no_acknowledged_write(vault: Path) -> None:
    with serve(vault) as first:
        assert first.token
        assert first.ask("GET", "/v1/atoms", token="lam_" + "x" * 43)[0] == 401
        status, result = first.ask("GET", "/v1/atoms")
        assert (status, contents(result)) == (200, ["The ferry leaves at nine."])
        assert first.ask("POST", "/v1/remember", {"content": "The ferry is green."})[0] in (200, 201)
        first.process.kill()
        first.process.wait()
        assert socket_path(vault / ".lamina").exists()
    with serve(vault) as second:
        assert second.token is None
        _, again = second.ask("GET", "/v1/atoms", token=first.token)
        assert "The ferry is green." in contents(again)
        assert _by_socket(vault, "GET", "/v1/atoms")[0] == 200
        assert second.ended() == (0, "")
    assert not socket_path(vault / ".lamina").exists()
    for file in (vault / ".lamina").rglob("*"):
        assert not file.is_file() or first.token.encode() not in file.read_bytes()


def _by_socket(vault: Path, method: str, path: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(socket_path(vault / ".lamina")))
    return _request(connection, method, path, body, None)


def test_all_surfaces_share_one_process_and_two_processes_serve_one_vault(vault: Path) -> None:
    with serve(vault) as first, serve(vault) as second:
        assert second.token is None
        assert first.ask("GET", "/v1/health")[0] == 200
        assert first.ask("GET", "/recall")[0] == 200
        assert first.ask("POST", "/mcp", {}, token="lam_" + "y" * 43)[0] == 401
        assert first.ask("POST", "/mcp", {})[0] == 406
        first.ask("POST", "/v1/remember", {"content": "The ferry is red."})
        _, result = second.ask("GET", "/v1/atoms", token=first.token)
        assert "The ferry is red." in contents(result)
        _check_socket(vault)
        assert first.ended() == (0, "")
        assert second.ask("GET", "/v1/atoms", token=first.token)[0] == 200


def _check_socket(vault: Path) -> None:
    """Programs of the same user need no token, nobody else can open their socket, and their word is an agent's."""
    assert stat.S_IMODE(socket_path(vault / ".lamina").stat().st_mode) == 0o600
    status, result = _by_socket(vault, "POST", "/v1/remember", {"content": "The ferry is slow.", "origin": "human"})
    assert status in (200, 201)
    assert result["outcomes"][0]["atom"]["origin"] == "agent"
    assert _by_socket(vault, "POST", "/v1/erase", {"ids": ["x"], "reason": "no"})[0] == 403


def test_a_long_path_moves_the_socket_to_a_private_folder(tmp_path: Path) -> None:
    state = tmp_path / ("deep" * 30) / ".lamina"
    place = socket_path(state)
    assert len(str(place)) < 100
    assert place.parent.name == f"lamina-{os.getuid()}"
    assert socket_path(tmp_path / ("deeq" * 30) / ".lamina") != place


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "localhost.example"])
def test_remote_connections_need_an_explicit_option(cli: Cli, vault: Path, host: str) -> None:
    result = cli("--vault", str(vault), "serve", "--host", host, "--port", "0")
    assert result.code == 4
    assert "--expose" in result.err


def test_a_port_in_use_is_reported_with_what_to_do(cli: Cli, vault: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = cli("--vault", str(vault), "serve", "--port", str(other.getsockname()[1]))
    assert result.code == 2
    assert "--port 0" in result.err
