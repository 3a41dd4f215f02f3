"""Which chat model a memory works with, from one word of the settings. Nothing is loaded until it is used."""

from __future__ import annotations

from lamina.errors import InvalidInput
from lamina.models.anthropic_chat import ANTHROPIC, AnthropicChat
from lamina.models.chat import Chat, Meter
from lamina.models.chat_address import SERVICES
from lamina.models.openai_chat import OpenAIChat
from lamina.models.patience import Timing

CHAT_SETTINGS = f"none, anthropic:MODEL, {', '.join(f'{name}:MODEL' for name in SERVICES)}"
_ANY_MODEL = "default"
"""What llama.cpp is asked for: it serves the model it was started with, whatever the name."""


def choose_chat(
    setting: str,
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    meter: Meter | None = None,
    timing: Timing | None = None,
) -> Chat | None:
    """Return the chat model that a setting names; without an address it is called where the service usually is."""
    family, _, name = setting.partition(":")
    name = _ANY_MODEL if setting in ("llamacpp", "llamacpp:") else name
    match family, name:
        case "none", "":
            return None
        case "anthropic", name if name:
            url = base_url or _vendor(setting, ANTHROPIC, api_key, needs_key=True)
            return AnthropicChat(name, url, api_key, meter=meter, timing=timing)
        case family, name if name and family in SERVICES:
            service = SERVICES[family]
            url = base_url or _vendor(setting, service.address, api_key, needs_key=service.needs_key)
            return OpenAIChat(name, url, api_key, meter=meter, timing=timing, service=family)
        case _:
            raise InvalidInput(f"no chat model is called {setting!r}; it is one of {CHAT_SETTINGS}")


def _vendor(setting: str, address: str, api_key: str | None, *, needs_key: bool) -> str:
    """Return a service's own address. Words leave the machine only with a key or an address that the user gave."""
    if needs_key and not api_key:
        raise InvalidInput(
            f"{setting} needs chat_key for {address}, or chat_url for another server, such as http://127.0.0.1:8080/v1"
        )
    return address
