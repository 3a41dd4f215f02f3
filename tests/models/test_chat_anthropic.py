"""Chat over Anthropic's wire, against a server that answers by script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import BaseModel, Field

from lamina.models.anthropic_chat import AnthropicChat
from lamina.models.chat import Chat, Message, Role, system_message, user_message
from lamina.models.chat_choice import choose_chat
from lamina.models.errors import ModelError, ModelUnreachable
from lamina.models.retry_and_circuit_breaker import MAX_FAILURES, RETRY_DELAYS
from llm_server import FakeServer, Scripted, error, message, scripted

pytest.importorskip("anthropic", reason="this wire needs pip install 'lamina[anthropic]'")

MESSAGES = [
    system_message("rules"),
    user_message("where?"),
    Message(Role.ASSISTANT, "hm"),
    user_message("well? \ud800"),
]
LISBON = {"city": "Lisbon"}


class Place(BaseModel):
    city: str = Field(max_length=20)


@contextmanager
def connected_chat(*script: Scripted) -> Iterator[tuple[FakeServer, AnthropicChat]]:
    with scripted(*script) as server:
        chat = AnthropicChat("claude", server.address, "secret", timing=server.timing())
        try:
            yield server, chat
        finally:
            chat.close()


def test_an_answer_conforms_to_the_requested_schema() -> None:
    with connected_chat(message(LISBON)) as (server, chat):
        it: Chat = chat
        reply = it.ask(MESSAGES, Place, most_tokens=99)
    assert reply.value == Place(city="Lisbon")
    assert (reply.tokens_in, reply.tokens_out, reply.calls) == (11, 3, 1)
    assert chat.model == f"anthropic:claude@127.0.0.1:{server.server_port}"
    (request,) = server.asked
    assert server.paths == ["/v1/messages"]
    assert "secret" in str(server.headers[0])
    assert (request["model"], request["max_tokens"], request["system"]) == ("claude", 99, "rules")
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user"]
    shape = request["output_config"]["format"]
    assert shape["type"] == "json_schema"
    assert shape["schema"]["properties"] == {"city": {"type": "string", "description": "at most 20 characters"}}
    assert "temperature" not in request


def test_a_server_without_schemas_is_prompted_in_words_from_then_on() -> None:
    refusal = error(400, "output_config: Extra inputs are not permitted")
    with connected_chat(refusal, message('Sure: {"city": "Lisbon"}')) as (server, chat):
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
    assert ["output_config" in request for request in server.asked] == [True, False, False]
    assert "JSON schema" in server.asked[1]["messages"][-1]["content"]


def test_a_server_that_ignores_the_schema_is_prompted_once_in_words() -> None:
    with connected_chat(message("Lisbon."), message(LISBON)) as (server, chat):
        reply = chat.ask(MESSAGES, Place)
    assert (reply.calls, reply.tokens_in, reply.tokens_out) == (2, 22, 6)
    assert ["output_config" in request for request in server.asked] == [True, False]


def test_a_repeated_wrong_answer_is_an_error_after_two_calls() -> None:
    with connected_chat(message("still prose")) as (server, chat), pytest.raises(ModelError, match="still prose"):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 2


@pytest.mark.parametrize(("stop", "text"), [("max_tokens", "cut off at 4096"), ("refusal", "declines to answer")])
def test_a_truncated_or_declined_answer_is_never_used(stop: str, text: str) -> None:
    with connected_chat(message(LISBON, stop=stop)) as (server, chat), pytest.raises(ModelError, match=text):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 1


def test_a_busy_server_is_retried_and_then_paused() -> None:
    with connected_chat(error(529, "overloaded"), message(LISBON)) as (server, chat):
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
        server.script = [error(529, "overloaded")]
        for _ in range(MAX_FAILURES):
            with pytest.raises(ModelUnreachable, match="529"):
                chat.ask(MESSAGES, Place)
        with pytest.raises(ModelUnreachable, match="called again in"):
            chat.ask(MESSAGES, Place)
    assert tuple(server.slept) == (RETRY_DELAYS[0], *RETRY_DELAYS * MAX_FAILURES)


@pytest.mark.parametrize("body", ["<html>", "{}", '{"content": [3]}'])
def test_a_response_that_is_no_message_is_an_error(body: str) -> None:
    with connected_chat(Scripted(body)) as (_, chat), pytest.raises(ModelError, match="did not answer with a message"):
        chat.ask(MESSAGES, Place)


def test_any_other_refusal_is_reported_immediately() -> None:
    with (
        connected_chat(error(400, "max_tokens: too large")) as (server, chat),
        pytest.raises(ModelError, match="too large"),
    ):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 1


def test_a_setting_selects_it() -> None:
    chat = choose_chat("anthropic:claude", None, "key")
    assert chat is not None
    assert chat.model == "anthropic:claude@api.anthropic.com"
