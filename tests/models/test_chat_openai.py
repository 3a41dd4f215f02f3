"""Chat over OpenAI's protocol, with a scripted server."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel, Field

from lamina.errors import InvalidInput
from lamina.models.chat import Chat, NoUsageMeter, system_message, user_message
from lamina.models.chat_choice import choose_chat
from lamina.models.errors import ModelError, ModelMissing, ModelPaused, ModelUnreachable
from lamina.models.openai_chat import SEED, OpenAIChat
from lamina.models.retry_and_circuit_breaker import BREAK_SECONDS, MAX_FAILURES, MAX_RETRY_DELAY, RETRY_DELAYS
from llm_server import FakeServer, Scripted, completion, error, scripted

pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")

MESSAGES = [system_message("rules"), user_message("where?")]
LISBON: dict[str, Any] = {"city": "Lisbon"}


class Place(BaseModel):
    city: str = Field(max_length=20)


class Meters(NoUsageMeter):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.tokens: list[tuple[int, int]] = []

    def begin(self, model: str) -> None:
        self.begun.append(model)

    def record_usage(self, model: str, tokens_in: int, tokens_out: int) -> None:
        self.tokens.append((tokens_in, tokens_out))


@contextmanager
def connected_chat(*script: Scripted, **more: Any) -> Iterator[tuple[FakeServer, OpenAIChat]]:
    with scripted(*script) as server:
        chat = server.chat(**more)
        try:
            yield server, chat
        finally:
            chat.close()


def test_an_answer_conforms_to_the_requested_schema() -> None:
    with connected_chat(completion(LISBON)) as (server, chat):
        it: Chat = chat
        reply = it.ask(MESSAGES, Place, most_tokens=99)
    assert reply.value == Place(city="Lisbon")
    assert (reply.tokens_in, reply.tokens_out, reply.calls) == (11, 5, 1)
    assert chat.model == f"openai:m@127.0.0.1:{server.server_port}"
    (request,) = server.asked
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == "Bearer secret"
    assert request["messages"] == [{"role": "system", "content": "rules"}, {"role": "user", "content": "where?"}]
    assert (request["model"], request["temperature"], request["seed"], request["max_tokens"]) == ("m", 0, SEED, 99)
    schema = request["response_format"]["json_schema"]
    assert schema["strict"]
    assert schema["schema"]["properties"] == {"city": {"type": "string", "maxLength": 20}}


def test_a_server_without_schemas_is_prompted_in_words_from_then_on() -> None:
    refusal = error(400, "response_format json_schema is not supported by this model")
    with connected_chat(refusal, completion('```json\n{"city": "Lisbon"}\n```')) as (server, chat):
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
    assert ["response_format" in request for request in server.asked] == [True, False, False]
    assert "JSON schema" in server.asked[1]["messages"][-1]["content"]


def test_a_server_that_ignores_the_schema_is_prompted_once_in_words() -> None:
    with connected_chat(completion("It is Lisbon."), completion(LISBON)) as (server, chat):
        reply = chat.ask(MESSAGES, Place)
    assert (reply.calls, reply.tokens_in, reply.tokens_out) == (2, 22, 10)
    assert ["response_format" in request for request in server.asked] == [True, False]


def test_a_repeated_wrong_answer_is_an_error_after_two_calls() -> None:
    with (
        connected_chat(completion("no JSON at all")) as (server, chat),
        pytest.raises(ModelError, match="no JSON at all"),
    ):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 2


def test_a_value_out_of_bounds_is_a_wrong_answer() -> None:
    with (
        connected_chat(completion({"city": "x" * 21})) as (server, chat),
        pytest.raises(ModelError, match="requested format"),
    ):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 2


def test_a_server_that_refuses_bounds_gets_the_schema_without_them() -> None:
    text = (
        "Invalid schema for response_format 'Place': In context=('properties', 'city'), 'maxLength' is not permitted."
    )
    with connected_chat(error(400, text), completion(LISBON)) as (server, chat):
        chat.ask(MESSAGES, Place)
        chat.ask(MESSAGES, Place)
    city = [request["response_format"]["json_schema"]["schema"]["properties"]["city"] for request in server.asked]
    assert ["maxLength" in item for item in city] == [True, False, False]
    assert city[1]["description"] == "at most 20 characters"


def test_models_with_fixed_temperature_and_limit_keep_their_own() -> None:
    with connected_chat(
        error(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        error(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        error(400, "Unknown parameter: 'seed'."),
        completion(LISBON),
    ) as (server, chat):
        assert chat.ask(MESSAGES, Place, most_tokens=50).value.city == "Lisbon"
    last = server.asked[-1]
    assert last["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature", "seed"} & last.keys()
    assert "response_format" in last


def test_a_server_that_refuses_everything_is_reported_and_not_called_for_ever() -> None:
    refusal = error(400, "schema temperature seed max_tokens unsupported maxLength")
    with connected_chat(refusal) as (server, chat), pytest.raises(ModelError, match="answers 400"):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 6


@pytest.mark.parametrize("text", ["the model does not exist", "the request exceeds the context by 20 tokens"])
def test_any_other_refusal_is_reported_immediately(text: str) -> None:
    with connected_chat(error(400, text)) as (server, chat), pytest.raises(ModelError, match=text):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 1


def test_a_truncated_answer_is_never_used() -> None:
    cut = completion('{"city": "Lis', finish="length")
    with connected_chat(cut) as (server, chat), pytest.raises(ModelError, match="cut off at 7 tokens"):
        chat.ask(MESSAGES, Place, most_tokens=7)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "refusing", [completion(None, refusal="I cannot help with that."), completion("", finish="content_filter")]
)
def test_a_model_that_declines_is_not_asked_again(refusing: Scripted) -> None:
    with connected_chat(refusing) as (server, chat), pytest.raises(ModelError, match="declines to answer"):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_server_is_retried(status: int) -> None:
    with connected_chat(error(status, "busy"), error(status, "busy"), completion(LISBON)) as (server, chat):
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
    assert tuple(server.slept) == RETRY_DELAYS


def test_a_busy_server_may_name_the_retry_delay() -> None:
    with connected_chat(error(429, "slow down", retry_after="7"), completion(LISBON)) as (server, chat):
        chat.ask(MESSAGES, Place)
    assert server.slept == [7.0]


def test_a_server_with_a_long_retry_delay_is_paused_for_it() -> None:
    wait = int(MAX_RETRY_DELAY) + 100
    with connected_chat(error(429, "slow down", retry_after=str(wait)), completion(LISBON)) as (server, chat):
        with pytest.raises(ModelUnreachable, match="answers 429"):
            chat.ask(MESSAGES, Place)
        server.now += BREAK_SECONDS + 1
        with pytest.raises(ModelUnreachable, match="called again in 89 s"):
            chat.ask(MESSAGES, Place)
        server.now += wait
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"
    assert server.slept == []


def test_a_server_that_fails_repeatedly_is_paused_and_then_called_again() -> None:
    calls = MAX_FAILURES * (len(RETRY_DELAYS) + 1)
    with connected_chat(*[error(500, "out of memory")] * calls, completion(LISBON)) as (server, chat):
        for _ in range(MAX_FAILURES):
            with pytest.raises(ModelUnreachable, match=r"500: .*out of memory"):
                chat.ask(MESSAGES, Place)
        for _ in range(100):
            with pytest.raises(ModelPaused, match="called again in"):
                chat.ask(MESSAGES, Place)
        assert len(server.asked) == calls
        server.now += BREAK_SECONDS + 1
        assert chat.ask(MESSAGES, Place).value.city == "Lisbon"


def test_a_success_between_failures_prevents_the_pause() -> None:
    down = [error(500, "down")] * (len(RETRY_DELAYS) + 1)
    with connected_chat(*down, *down, completion(LISBON), *down, *down, completion(LISBON)) as (_, chat):
        for _ in range(2):
            for _ in range(MAX_FAILURES - 1):
                with pytest.raises(ModelUnreachable, match="500"):
                    chat.ask(MESSAGES, Place)
            assert chat.ask(MESSAGES, Place).value.city == "Lisbon"


def test_exhausted_credit_is_not_retried() -> None:
    spent = error(429, "insufficient_quota: buy more")
    with connected_chat(spent) as (server, chat), pytest.raises(ModelError, match="no credit left"):
        chat.ask(MESSAGES, Place)
    assert len(server.asked) == 1


def test_a_wrong_key_is_reported_without_the_key() -> None:
    with (
        connected_chat(error(401, "bad key secret")) as (_, chat),
        pytest.raises(ModelError, match="check the API key") as exception_t,
    ):
        chat.ask(MESSAGES, Place)
    assert "secret" not in str(exception_t.value)


def test_text_and_key_follow_no_redirect() -> None:
    with scripted(completion(LISBON)) as elsewhere:
        away = Scripted("", 307, {"Location": f"{elsewhere.address}/v1/chat/completions"})
        with connected_chat(away) as (_, chat), pytest.raises(ModelError, match="307"):
            chat.ask(MESSAGES, Place)
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    "body", ["<html>", "", "[]", '{"choices": []}', '{"choices": [{"message": 3}]}', "\udcff".join("ab")]
)
def test_a_response_that_is_no_completion_is_an_error(body: str) -> None:
    reply = Scripted(body.encode("utf-8", "replace").decode())
    with connected_chat(reply) as (_, chat), pytest.raises(ModelError, match="did not answer with a completion"):
        chat.ask(MESSAGES, Place)


def test_a_timeout_is_not_retried() -> None:
    done_event = threading.Event()
    slow = Scripted(completion(LISBON).body, before=lambda: done_event.wait(10))
    with connected_chat(slow, timeout=0.2) as (server, chat):
        with pytest.raises(ModelUnreachable, match=r"takes longer than 0\.2 s"):
            chat.ask(MESSAGES, Place)
        done_event.set()
        assert len(server.asked) == 1
        assert server.slept == []


def test_a_broken_connection_is_retried() -> None:
    with scripted(completion(LISBON)) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        chat = OpenAIChat("m", f"http://127.0.0.1:{port}/v1", timing=server.timing())
        with pytest.raises(ModelUnreachable, match="is it running"):
            chat.ask(MESSAGES, Place)
        assert tuple(server.slept) == RETRY_DELAYS
        chat.close()


def test_every_call_is_metered_including_failures() -> None:
    meter = Meters()
    script = [error(503, "busy"), completion("nonsense"), completion(LISBON, usage={})]  # no usage told
    with connected_chat(*script, meter=meter) as (_, chat):
        reply = chat.ask(MESSAGES, Place)
    assert meter.begun == [chat.model] * 3
    assert meter.tokens[0] == (11, 5)
    result, answered = meter.tokens[1]
    assert result > 20  # guessed from the length, as the server does not tell
    assert answered > 1
    assert (reply.tokens_in, reply.tokens_out) == (11 + result, 5 + answered)


def test_half_a_surrogate_pair_can_be_sent() -> None:
    with connected_chat(completion(LISBON)) as (_, chat):
        assert chat.ask([user_message("a \ud800 b")], Place).value.city == "Lisbon"


def test_threads_share_one_chat() -> None:
    with connected_chat(completion(LISBON)) as (server, chat):
        got: list[str] = []
        threads = [threading.Thread(target=lambda: got.append(chat.ask(MESSAGES, Place).value.city)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == ["Lisbon"] * 6
    assert len(server.asked) == 6


def test_a_setting_names_a_chat_model_or_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_chat("none") is None
    chat = choose_chat("openai:gpt", None, "key")
    assert chat is not None
    assert chat.model == "openai:gpt@api.openai.com"
    with pytest.raises(InvalidInput, match=r"needs chat_key .*or chat_url"):
        choose_chat("openai:gpt")
    with pytest.raises(InvalidInput, match="none, anthropic:MODEL, openai:MODEL, ollama:MODEL"):
        choose_chat("clever")
    with pytest.raises(InvalidInput, match="address"):
        choose_chat("openai:gpt", "localhost:8080")
    with pytest.raises(InvalidInput, match="characters no key has"):
        choose_chat("openai:gpt", None, "kéy\n")
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ModelMissing, match=r"lamina\[llm\]"):
        choose_chat("openai:gpt", None, "key")
    with pytest.raises(ModelMissing, match=r"lamina\[anthropic\]"):
        choose_chat("anthropic:claude", None, "key")


def test_libraries_are_loaded_only_for_a_call() -> None:
    script = (
        "import sys; from lamina.models.chat_choice import choose_chat; "
        "chats = [choose_chat(f'{name}:m', None, 'key') for name in ('openai', 'anthropic')]; "
        "print({'openai', 'anthropic', 'httpx2'} & sys.modules.keys())"
    )
    pytest.importorskip("anthropic", reason="this wire needs pip install 'lamina[anthropic]'")
    process = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert process.stdout == "set()\n"


def test_server_messages_contain_no_terminal_control_characters() -> None:
    with connected_chat(completion("\x1b[2Jgone")) as (_, chat), pytest.raises(ModelError) as exception_t:
        chat.ask(MESSAGES, Place)
    assert "\x1b" not in str(exception_t.value)
