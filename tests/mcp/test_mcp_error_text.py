"""What goes wrong is told as an agent can use it: what it is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import mcp.types as types
import pytest
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_client import ERAS, Agent, run_agent

import lamina
from lamina import errors
from lamina.errors import LaminaError
from lamina.mcp.client_request import ClientRequest
from lamina.mcp.error_text import UNEXPECTED_ERROR, describe_error
from lamina.mcp.server import make_server
from lamina.memory import Memory
from lamina.models.errors import ModelError

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ERRORS: list[LaminaError] = [
    errors.InvalidInput("k is too large"),
    errors.InvalidScope("not yours"),
    errors.NotFound("no atom 'x'"),
    errors.Erased("01aaa", NOON, "human", "SECRET"),
    errors.Refused("a person does"),
    errors.TransitionRefused("active", "merged", ["archived"]),
    errors.ClaimTaken("SECRET::employer", "01bbb"),
    errors.StaleRevision("01aaa", 1, 2),
    errors.StoreError("disk full at /home/ann/SECRET"),
    errors.StoreBusy("busy"),
    errors.StoreTooNew("too new"),
    ModelError("no model"),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with lamina.open(tmp_path_factory.mktemp("mcp") / "vault", watch=False) as opened_memory:
        yield opened_memory


@pytest.fixture(scope="module")
def server(memory: Memory) -> Server[Any]:
    return make_server(lambda visit: memory.for_caller(ceiling="agent"))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_error_says_what_to_do_next(error: LaminaError) -> None:
    text = describe_error(error)
    assert text.startswith(type(error).__name__)
    assert len(text.partition(": ")[2].split(". ")) >= 2
    assert "SECRET" not in text
    assert "\n" not in text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("recall", {}, "question: is required"),
        ("recall", {"question": "x", "k": 101}, "k: must be at most 100"),
        ("recall", {"question": "x" * 4097}, "question: must have at most 4096"),
        ("recall", {"question": "é" * 4000}, "longer than 4096 bytes"),
        ("recall", {"question": "x", "as_of": "the other day"}, "as_of"),
        ("recall", {"question": "x", "planet": "Mars"}, "unknown argument; the arguments of recall are question, k, "),
        ("recall", {"question": None}, "question: is required"),
        ("capture", {"turns": ["hello"]}, "turns.0: must be an object"),
        ("capture", {"turns": [{"content": "x", "time": "y"}]}, "turns.0.time: unknown argument"),
        ("remember", {"content": "x" * 65537}, "content: must have at most 65536"),
        ("remember", {"content": "é" * 40000}, "64 KiB"),
        ("remember", {"content": "x", "origin": "dream"}, "origin"),
        ("capture", {}, "words or turns"),
        ("capture", {"words": "x", "turns": []}, "words or turns"),
        ("capture", {"words": "x", "observed_at": "soon"}, "observed_at"),
        ("get", {"id": "nowhere1"}, "no atom"),
        ("revise", {"id": "nowhere1", "content": "x", "reason": "y"}, "no atom"),
        ("relate", {"a": "nowhere1", "relation": "likes", "b": "nowhere2"}, "relation: must be"),
        ("feedback", {"recall_id": "0", "cited": []}, "recall"),
        ("review", {"action": "merge", "id": "nowhere1"}, "merge needs other"),
        ("review", {"action": "confirm", "id": "nowhere1", "source": "web"}, "not both"),
        ("review", {"action": "confirm", "source": "web", "limit": 5}, "confirm does not use limit"),
        ("review", {"action": "confirm", "id": "nowhere1", "content": "x"}, "confirm does not use content"),
        ("review", {"id": "nowhere1"}, "list does not use id"),
        ("revise", {"id": "nowhere1", "action": "pin", "content": "x", "reason": "y"}, "pin does not use content"),
        ("revise", {"id": "nowhere1", "content": "x", "status": "active", "reason": "y"}, "text does not use status"),
        ("revise", {"id": "nowhere1", "action": "status", "status": "merged", "reason": "y"}, "status: must be"),
    ],
)
def test_an_impossible_request_is_an_answer_and_no_crash(
    server: Server[Any], era: str, name: str, fields: dict[str, Any], text: str
) -> None:
    async def work(agent: Agent) -> None:
        result = await agent.fails(name, **fields)
        assert text in result
        assert "Traceback" not in result
        assert "pydantic" not in result

    run_agent(server, work, era)


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_a_protocol_error(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(MCPError, match="unknown tool") as caught:
            await agent.client.call_tool("erase", {"id": "x"})
        assert caught.value.code == types.INVALID_PARAMS

    run_agent(server, work, era)


@pytest.mark.parametrize("era", ERAS)
def test_an_unexpected_error_is_reported_without_its_message(era: str, caplog: pytest.LogCaptureFixture) -> None:
    def broken(visit: ClientRequest) -> Memory:
        raise RuntimeError("SECRET")

    async def work(agent: Agent) -> None:
        assert await agent.fails("status") == UNEXPECTED_ERROR

    run_agent(make_server(broken), work, era)
    assert "tool status failed" in caplog.text


@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_without_its_question_is_refused(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(MCPError, match="question"):
            await agent.client.get_prompt("recall_context", {})
        with pytest.raises(MCPError, match="unknown prompt"):
            await agent.client.get_prompt("sing", {})

    run_agent(server, work, era)


@pytest.mark.parametrize("era", ERAS)
def test_null_and_omitted_arguments_are_equivalent(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.call("recall", question="x", k=None, budget=None, mode=None, include=None, fast=None, explain=None)
        written = await agent.call(
            "remember", content="The hatch is red.", kind=None, subject=None, tags=None, key=None
        )
        assert written["outcomes"][0]["atom"]["kind"] == "fact"

    run_agent(server, work, era)
