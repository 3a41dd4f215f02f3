"""Chooses the chat model for a setting. Nothing is loaded until it is used."""

from __future__ import annotations

from lamina.errors import InvalidInput
from lamina.models.anthropic_chat import ANTHROPIC, AnthropicChat
from lamina.models.chat import Chat, UsageMeter
from lamina.models.chat_services import SERVICES
from lamina.models.openai_chat import OpenAIChat
from lamina.models.retry_and_circuit_breaker import CallTiming

CHAT_SETTINGS = f"none, anthropic:MODEL, {', '.join(f'{name}:MODEL' for name in SERVICES)}"
_ANY_MODEL = "default"
"""The name sent to llama.cpp: it serves the model it was started with, whatever the name."""


def choose_chat(
    setting: str,
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    meter: UsageMeter | None = None,
    timing: CallTiming | None = None,
) -> Chat | None:
    """Return the chat model that a setting names, or None; without an address the usual one of the service is used.
    Raises InvalidInput for an unknown setting or a missing key."""
    family, _, name = setting.partition(":")
    name = _ANY_MODEL if setting in ("llamacpp", "llamacpp:") else name
    match family, name:
        case ["none", ""]:
            return None
        case ["anthropic", name] if name:
            url = base_url or _vendor_address(setting, ANTHROPIC, api_key, needs_key=True)
            return AnthropicChat(name, url, api_key, meter=meter, timing=timing)
        case [family, name] if name and family in SERVICES:
            service = SERVICES[family]
            url = base_url or _vendor_address(setting, service.address, api_key, needs_key=service.needs_key)
            return OpenAIChat(name, url, api_key, meter=meter, timing=timing, service=family)
        case _:
            raise InvalidInput(f"unknown chat model {setting!r}; choose one of {CHAT_SETTINGS}")


def _vendor_address(setting: str, address: str, api_key: str | None, *, needs_key: bool) -> str:
    """Return a service's own address. Text leaves the machine only if the user gave a key or an address. Raises
    InvalidInput if a key is missing."""
    if needs_key and not api_key:
        raise InvalidInput(
            f"{setting} needs chat_key for {address}, or chat_url for another server, such as http://127.0.0.1:8080/v1"
        )
    return address
