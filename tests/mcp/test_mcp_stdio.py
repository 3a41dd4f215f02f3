"""`lamina mcp` as a host starts it: a real process, spoken to over its standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_client import ERAS, Agent, run_agent
from mcp_http_server import run_mcp_server

import lamina

LEGACY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
NO_ENGINE = """
import sys
from lamina.mcp import catalogue, stdio_transport
assert len(catalogue.load_tools()) == 10
heavy = {"lamina.memory", "lamina.documents", "lamina.access", "numpy", "apsw", "typer", "rich"} & set(sys.modules)
assert not heavy, heavy
"""
NOISE = """
import os
import sys

def noisy(event, given):
    if event == "import" and given[0] == "apsw":
        print("printed", flush=True)
        os.write(1, b"written\\n")
        os.system("echo from a child")

sys.addaudithook(noisy)
"""
CONCURRENT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from lamina.mcp import server, stdio_transport
from lamina.mcp.background_opening import LazyVault, VaultOptions
from lamina.mcp.client_request import ClientRequest

def verbs():
    server.load_engine()
    from lamina.mcp.result_text import escape_json
    from lamina.mcp.tools import TOOLS_BY_NAME
    return len(TOOLS_BY_NAME)

opening = LazyVault(VaultOptions(Path(sys.argv[1])))
sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(2) as threads:
    memory, called = threads.submit(opening.memory_for, ClientRequest(None, "test", True)), threads.submit(verbs)
    assert called.result() == 10
    memory.result().remember("The engine runs.")
opening.close()
"""


def _lamina(vault: Path, *words: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "lamina", "mcp", "--vault", str(vault), *words], env=dict(os.environ)
    )


def _run_host(vault: Path, messages: list[Mapping[str, Any]], **variables: str) -> subprocess.CompletedProcess[str]:
    """The process after a host sent these messages and hung up."""
    text = "".join(json.dumps(message) + "\n" for message in messages)
    command = [sys.executable, "-m", "lamina", "mcp", "--vault", str(vault)]
    around = {**os.environ, **variables}
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False, env=around)


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_works_over_stdio(tmp_path: Path, era: str) -> None:
    async def work(agent: Agent) -> None:
        assert len((await agent.client.list_tools()).tools) == 10
        one = await agent.remember("The mill stands by the river.")
        two = await agent.remember("The river floods in spring.")
        receipt = await agent.remember("The mill is for sale.", origin="web")
        await agent.call("capture", words="We walked past the mill.", wait=True)
        answer = await agent.call("recall", question="where is the mill?")
        assert answer["hits"][0]["id"] == one
        await agent.call("feedback", recall_id=answer["recall_id"], cited=[one])
        await agent.call("revise", id=one, action="pin", reason="asked")
        await agent.call("relate", a=one, relation="depends_on", b=two)
        assert (await agent.call("get", id=one, neighbours=True))["neighbours"]
        await agent.call("review", action="confirm", id=receipt)
        await agent.call("forget", id=two, reason="asked")
        assert (await agent.call("status"))["by_status"]["tombstoned"] == 1
        assert "The mill" in await agent.read(f"memory://atom/{one}")

    run_agent(_lamina(tmp_path / "vault", "--as", "human"), work, era)


def test_stdout_carries_only_the_protocol(tmp_path: Path) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "remember", "arguments": {"content": "The lamp is on."}},
    }
    process = _run_host(tmp_path / "vault", [LEGACY, READY, LIST, call])
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert process.returncode == 0, process.stderr
    assert "Traceback" not in process.stderr


def test_output_of_libraries_does_not_reach_the_host(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISE, encoding="utf-8")
    call = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "remember", "arguments": {"content": "The lamp is on."}},
    }
    process = _run_host(tmp_path / "vault", [LEGACY, READY, LIST, call], PYTHONPATH=str(tmp_path))
    assert [json.loads(line)["id"] for line in process.stdout.splitlines()] == [1, 2, 3]
    assert {"printed", "written", "from a child"} <= set(process.stderr.splitlines())


def test_the_tool_listing_needs_no_engine() -> None:
    assert subprocess.run([sys.executable, "-c", NO_ENGINE], timeout=120, check=False).returncode == 0


def test_a_call_during_the_loading_of_the_engine_waits_for_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONCURRENT, str(tmp_path / "vault")]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0


def test_many_clients_share_one_vault(tmp_path: Path) -> None:
    vault, many = tmp_path / "vault", 8
    with run_mcp_server(vault) as server:
        token = server.token("third")

        async def write(agent: Agent, name: str) -> None:
            for n in range(many):
                await agent.call("remember", content=f"Lot {n} of {name} was sold.", subject=f"{name} {n}")
                await agent.call("recall", question=f"what became of lot {n} of {name}?")

        async def over_stdio(name: str) -> None:
            async with Client(_lamina(vault), mode="auto", read_timeout_seconds=60) as client:
                await write(Agent(client), name)

        async def over_http() -> None:
            async with server.agent(token) as agent:
                await write(agent, "third")

        async def all_at_once() -> dict[str, Any]:
            async with anyio.create_task_group() as group:
                group.start_soon(over_stdio, "first")
                group.start_soon(over_stdio, "second")
                group.start_soon(over_http)
            async with server.agent(token) as agent:
                return await agent.call("status")

        status = anyio.run(all_at_once)
    assert status["atoms"] == 3 * many
    assert status["commits"] == 3 * many
    with lamina.open(vault, watch=False) as memory:
        assert not memory.upkeep.doctor(deep=True).faults
