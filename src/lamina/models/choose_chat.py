"""Which chat model a memory works with, from one word of the settings. Nothing is loaded until it is used."""

from __future__ import annotations

from lamina.errors import InvalidInput
from lamina.models.anthropic_chat import ANTHROPIC, AnthropicChat
from lamina.models.chat import Chat, Meter
from lamina.models.openai_chat import OPENAI, OpenAIChat
from lamina.models.patience import Timing

CHAT_SETTINGS = "none, openai:MODEL or anthropic:MODEL"


def choose_chat(
    setting: str, base_url: str | None = None, api_key: str | None = None, *, meter: Meter | None = None,
    timing: Timing | None = None,
) -> Chat | None:  # fmt: skip
    """The chat model a setting stands for; without an address it is the vendor's own service, which wants a key."""
    family, _, name = setting.partition(":")
    match family, name:
        case "none", "":
            return None
        case ("openai", name) if name:
            return OpenAIChat(name, _address(setting, base_url, api_key, OPENAI), api_key, meter=meter, timing=timing)
        case ("anthropic", name) if name:
            url = _address(setting, base_url, api_key, ANTHROPIC)
            return AnthropicChat(name, url, api_key, meter=meter, timing=timing)
        case _:
            raise InvalidInput(f"no chat model is called {setting!r}; it is one of {CHAT_SETTINGS}")


def _address(setting: str, base_url: str | None, api_key: str | None, vendor: str) -> str:
    """Words leave the machine only where somebody named the place or gave the key of the vendor."""
    if base_url:
        return base_url
    if not api_key:
        raise InvalidInput(
            f"{setting} needs chat_key for {vendor}, or chat_url for another server, such as http://127.0.0.1:8080/v1"
        )
    return vendor
