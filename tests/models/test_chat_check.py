"""The chat model as people set it up: names, addresses, `lamina models test` and `lamina doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, Field
from typer.testing import CliRunner

import lamina
from command_result import CommandResult
from lamina import Settings
from lamina.cli.models import app
from lamina.errors import InvalidInput
from lamina.models.anthropic_chat import AnthropicChat
from lamina.models.chat import user_message
from lamina.models.chat_check import find_server_problem
from lamina.models.chat_choice import choose_chat
from lamina.models.chat_services import SERVICES, add_version, clean_address, redact_address
from lamina.models.errors import ModelError
from lamina.models.openai_chat import OpenAIChat
from llm_server import FakeServer, Json, Scripted, Smol, completion, error, needs_a_model, scripted

pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")

LISBON: Json = {"city": "Lisbon"}
NO_PATH = Scripted("404 page not found", 404)


class Place(BaseModel):
    city: str = Field(max_length=40)


def ask(chat: OpenAIChat) -> str:
    try:
        return chat.ask([user_message("I moved to Lisbon.")], Place).value.city
    finally:
        chat.close()


@pytest.mark.parametrize("name", ["ollama:llama3.2:3b", "llamacpp", "llamacpp:any", "vllm:Qwen/Qwen3-4B", "lmstudio:m"])
def test_local_servers_need_neither_address_nor_key(name: str) -> None:
    chat = choose_chat(name)
    assert isinstance(chat, OpenAIChat)
    assert chat.address == SERVICES[name.partition(":")[0]].address
    assert chat.model.startswith(name.rstrip(":"))


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "openrouter:m", "groq:m", "mistral:m", "gemini:m"])
def test_hosted_services_need_a_key_or_another_address(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} needs chat_key for https://"):
        choose_chat(name)
    if name != "anthropic:m":
        assert choose_chat(name, api_key="k") is not None
        assert choose_chat(name, "http://127.0.0.1:9/v1") is not None


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="ollama:MODEL"):
        choose_chat("lama:m")
    with pytest.raises(InvalidInput, match="ollama:MODEL"):
        choose_chat("ollama:")


@pytest.mark.parametrize(
    ("text", "cleaned", "other"),
    [
        ("http://h:1/v1/", "http://h:1/v1", None),
        ("http://h:1/v1/chat/completions", "http://h:1/v1", None),
        ("http://h:1", "http://h:1", "http://h:1/v1"),
        ("http://h:1/api/", "http://h:1/api", "http://h:1/v1"),
        ("http://h:1/proxy", "http://h:1/proxy", "http://h:1/proxy/v1"),
        ("https://g/v1beta/openai", "https://g/v1beta/openai", None),
    ],
)
def test_addresses_are_normalised(text: str, cleaned: str, other: str | None) -> None:
    assert clean_address(text) == cleaned
    assert add_version(cleaned) == other


@pytest.mark.parametrize(
    ("text", "suggested"),
    [("localhost:11434", "http://localhost:11434/v1"), ("ftp://h/v1", "http://h/v1"), ("", "http://127.0.0.1:8080/v1")],
)
def test_an_invalid_address_is_refused_with_a_valid_example(text: str, suggested: str) -> None:
    with pytest.raises(InvalidInput, match=f"write one such as {suggested}"):
        clean_address(text)


def test_an_address_is_shown_without_its_secrets() -> None:
    assert redact_address("https://me:pass@h:1/v1?key=s") == "https://h:1/v1"


def test_anthropic_accepts_an_address_with_or_without_its_version() -> None:
    pytest.importorskip("anthropic", reason="this wire needs pip install 'lamina[anthropic]'")
    for url in ("http://h", "http://h/v1", "http://h/v1/messages"):
        assert AnthropicChat("m", url).address == "http://h"


@pytest.mark.parametrize("first", [NO_PATH, Scripted({"error": "Unexpected endpoint"}), Scripted("<html>", 405)])
def test_an_address_without_a_version_is_completed_where_the_completed_one_answers(first: Scripted) -> None:
    with scripted(first, completion(LISBON)) as server:
        chat = OpenAIChat("m", server.address, timing=server.timing())
        assert ask(chat) == ask(chat) == "Lisbon"
        assert chat.address == f"{server.address}/v1"
    assert server.paths == ["/chat/completions", "/v1/chat/completions", "/v1/chat/completions"]


def test_an_address_that_cannot_be_completed_is_refused_with_the_reason() -> None:
    with scripted(NO_PATH) as server:
        chat = OpenAIChat("m", server.address, timing=server.timing())
        with pytest.raises(ModelError, match=r"answers 404: .*chat_url is what comes before /chat/completions"):
            ask(chat)
        assert chat.address == server.address
    assert server.paths == ["/chat/completions", "/v1/chat/completions"]


def test_a_missing_model_is_reported_with_the_servers_message() -> None:
    with scripted(error(404, "model 'm' not found, try pulling it first")) as server:
        with pytest.raises(ModelError, match=r"try pulling it first.*check the model's name"):
            ask(server.chat())
        assert server.paths == ["/v1/chat/completions"]


def run(*words: str) -> CommandResult:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return CommandResult(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("LAMINA_VAULT", str(tmp_path / "vault"))
    monkeypatch.setenv("LAMINA_CHAT_RETRIES", "0")
    return monkeypatch


def use_setting(
    monkeypatch: pytest.MonkeyPatch, server: FakeServer | Smol, chat: str = "openai:m", path: str = "/v1"
) -> None:
    monkeypatch.setenv("LAMINA_CHAT", chat)
    monkeypatch.setenv("LAMINA_CHAT_URL", server.address + path)


def test_the_test_command_prints_time_tokens_and_schema_support(configured: pytest.MonkeyPatch) -> None:
    with scripted(completion(LISBON)) as server:
        use_setting(configured, server)
        result, data = run("test"), run("test", "--json").data
    assert result.code == 0
    assert "takes a JSON schema, the answer is right" in result.out
    assert (data["works"], data["takes_schema"], data["is_right"], data["tokens"]) == (True, True, True, 16)
    assert (data["address"], data["error"], data["advice"]) == (f"{server.address}/v1", "", "")
    assert len(server.asked) == 2


def test_the_test_command_reports_a_completed_address_and_a_missing_schema(configured: pytest.MonkeyPatch) -> None:
    refusing = error(400, "response_format is not supported")
    with scripted(NO_PATH, refusing, completion({"city": "Oslo"})) as server:
        use_setting(configured, server, path="")
        data = run("test", "--json").data
    assert (data["works"], data["takes_schema"], data["is_right"]) == (True, False, False)
    assert f'Write chat_url = "{server.address}/v1"' in data["advice"]
    assert "ignores the JSON schema" in data["advice"]


@pytest.mark.parametrize(
    ("answer", "text", "advice"),
    [
        (error(401, "no"), "refuses the key", "LAMINA_CHAT_KEY"),
        (error(404, "model 'm' not found"), "not found", "ollama list"),
        (error(503, "loading"), "answers 503", "ollama serve"),
        (completion("Lisbon, I guess"), "requested format", "instruction-tuned"),
    ],
    ids=["key", "model", "down", "prose"],
)
def test_the_test_command_prints_an_error_and_what_to_do_next(
    configured: pytest.MonkeyPatch, answer: Scripted, text: str, advice: str
) -> None:
    with scripted(answer) as server:
        use_setting(configured, server)
        result = run("test", "--json")
    assert (result.code, result.data["works"]) == (1, False)
    assert text in result.data["error"]
    assert advice in result.data["advice"]


def test_the_test_command_without_or_with_a_wrong_setting_says_what_to_write(configured: pytest.MonkeyPatch) -> None:
    assert "ollama:MODEL" in run("test", "--json").data["advice"]
    configured.setenv("LAMINA_CHAT", "openai:m")
    result = run("test")
    assert result.code == 1
    assert "needs chat_key" in result.out
    configured.setenv("LAMINA_CHAT", "ollama:m")
    configured.setenv("LAMINA_CHAT_URL", "localhost:11434")
    assert "write one such as http://localhost:11434/v1" in run("test", "--json").data["error"]


@needs_a_model
def test_the_test_command_works_with_a_real_server(configured: pytest.MonkeyPatch) -> None:
    server = Smol()
    try:
        use_setting(configured, server, "llamacpp", path="")
        data = run("test", "--json").data
        assert (data["works"], data["takes_schema"]) == (True, True)
        assert data["seconds"] > 0
        assert find_server_problem(server.address, None, "any") is None
    finally:
        server.kill()


def model_listing(*names: str) -> Scripted:
    return Scripted({"object": "list", "data": [{"id": name, "owned_by": "library"} for name in names]})


def chat_faults(folder: Path, **settings: object) -> tuple[str, ...]:
    initial = Settings.model_validate({"embedder": "none", "watch": False, "background": False, **settings})
    with lamina.open(folder, settings=initial) as memory:
        assert memory.upkeep.doctor(look=False).healthy
        return memory.upkeep.doctor().faults


def test_doctor_reports_a_misconfigured_or_unreachable_chat_model(tmp_path: Path) -> None:
    assert chat_faults(tmp_path) == ()
    (text,) = chat_faults(tmp_path, chat="openai:m")
    assert "openai:m needs chat_key" in text
    with scripted(model_listing("llama3.2:latest")) as server:
        assert chat_faults(tmp_path, chat="ollama:llama3.2", chat_url=f"{server.address}/v1") == ()
        (text,) = chat_faults(tmp_path, chat="ollama:qwen", chat_url=f"{server.address}/v1")
        assert "has no model 'qwen'; it has llama3.2:latest" in text
        address = server.address
    (text,) = chat_faults(tmp_path, chat="ollama:llama3.2", chat_url=address)
    assert text.startswith("ollama:llama3.2@127.0.0.1:")
    assert "does not answer: " in text
    assert "`lamina models test`" in text


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (error(401, "no"), "refuses the key (401)"),
        (NO_PATH, None),
        (Scripted("hello"), None),
        (model_listing("m"), None),
    ],
)
def test_a_server_without_a_model_listing_counts_as_reachable(answer: Scripted, why: str | None) -> None:
    with scripted(answer) as server:
        assert find_server_problem(server.address, "k", "m") == why
