"""Checks of the configured chat model: one small real call, or only whether its server answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.error import HTTPError, URLError
from urllib.request import Request, build_opener

from pydantic import BaseModel, Field

from lamina.errors import InvalidInput
from lamina.models.anthropic_chat import AnthropicChat
from lamina.models.chat import Chat, system_message, user_message
from lamina.models.chat_services import add_version, redact_address
from lamina.models.errors import ModelError, ModelMissing, ModelUnreachable
from lamina.models.json_endpoint import NoRedirect
from lamina.models.openai_chat import OpenAIChat

PROBE_TIMEOUT = 3.0
"""How long a server may take to answer the probe."""
MOST_TOKENS = 400
"""Enough for a model that reasons before it answers."""
_WRONG_KEY = (401, 403)
_CHECK_MESSAGES = [system_message("Answer with the city that the sentence names."), user_message("I moved to Lisbon.")]


class _City(BaseModel):
    city: str = Field(max_length=40)


@dataclass(frozen=True, slots=True)
class ChatCheck:
    """The result of one call: how long it took, whether the server accepts a JSON schema, whether the answer is right;
    or the error, and what to do next."""

    model: str
    address: str
    seconds: float
    takes_schema: bool = False
    is_right: bool = False
    tokens: int = 0
    error: str = ""
    advice: str = ""

    @property
    def is_working(self) -> bool:
        """Return whether the call succeeded."""
        return not self.error


def check_chat(chat: Chat, clock: Callable[[], float] = time.monotonic) -> ChatCheck:
    """Make one small call and return its result."""
    began, address = clock(), _address(chat)
    try:
        reply = chat.ask(_CHECK_MESSAGES, _City, most_tokens=MOST_TOKENS)
    except ModelError as error:
        return ChatCheck(chat.model, address, clock() - began, error=str(error), advice=advice_for(error))
    is_right = "lisbon" in reply.value.city.lower()
    advice = [
        "" if _address(chat) == address else f'Write chat_url = "{_address(chat)}": only that address answers.',
        ""
        if reply.takes_schema
        else "The server ignores the JSON schema, so answers fail more often; update it or "
        "choose one with structured output (Ollama, llama.cpp, vLLM).",
        "" if is_right else "The model did not name the city; choose a larger or an instruction-tuned one.",
    ]
    return ChatCheck(
        chat.model,
        _address(chat),
        clock() - began,
        takes_schema=reply.takes_schema,
        is_right=is_right,
        tokens=reply.tokens_in + reply.tokens_out,
        advice=" ".join(filter(None, advice)),
    )


def _address(chat: Chat) -> str:
    return redact_address(chat.address) if isinstance(chat, OpenAIChat | AnthropicChat) else ""


def advice_for(error: Exception) -> str:
    """Return what to do about an error of a chat model."""
    message = str(error)
    if isinstance(error, ModelMissing):
        return "Install the extra named above."
    if isinstance(error, InvalidInput):
        return "Correct chat, chat_url and chat_key in .lamina/settings.toml, or LAMINA_CHAT… in the environment."
    if "takes longer than" in message:
        return "Raise chat_timeout, or choose a smaller model."
    if isinstance(error, ModelUnreachable):
        return (
            "Start the server (`ollama serve`, `llama-server -m MODEL.gguf --port 8080`, `vllm serve MODEL`) or "
            "correct chat_url."
        )
    if "key" in message:
        return "Set chat_key in .lamina/settings.toml, or LAMINA_CHAT_KEY in the environment."
    if "404" in message or "not found" in message:
        return "Check the model's name (`ollama list`, or the server's /v1/models) and chat_url, which ends in /v1."
    return "Choose an instruction-tuned model that can answer in JSON."


def find_server_problem(address: str, api_key: str | None, model: str, *, timeout: float = PROBE_TIMEOUT) -> str | None:
    """Return why a server with OpenAI's API cannot serve a model; None if nothing is wrong.

    Only its list of models is requested, so no tokens are used. A server without such a list counts as working.
    """
    models = _list_models(address, api_key, timeout)
    if isinstance(models, int) and models not in _WRONG_KEY and (versioned := add_version(address)) is not None:
        models = _list_models(versioned, api_key, timeout)
    match models:
        case str():
            return f"does not answer: {models}"
        case int() if models in _WRONG_KEY:
            return f"refuses the key ({models})"
        case int():
            return None
    if not models or model in models or f"{model}:latest" in models:
        return None
    return f"has no model {model!r}; it has {', '.join(models[:8])}"


def _list_models(address: str, api_key: str | None, timeout: float) -> list[str] | int | str:
    """Return the names of a server's models, or the status it answers instead, or why it does not answer.

    The list is empty if names do not matter: llama.cpp serves its one model under any name.
    """
    headers = {"Accept": "application/json", "User-Agent": "lamina"}
    headers |= {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        with build_opener(NoRedirect).open(Request(f"{address}/models", headers=headers), timeout=timeout) as answer:
            listed = json.loads(answer.read(1_000_000))["data"]
        names = [str(entry["id"]) for entry in listed]
        return [] if any(entry.get("owned_by") == "llamacpp" for entry in listed) else names
    except HTTPError as error:
        with error:
            return error.code
    except URLError as error:
        return str(error.reason)
    except OSError as error:
        return str(error) or type(error).__name__
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
