"""Addresses of chat servers: the known ones by name, and corrections of common mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from lamina.errors import InvalidInput

_VERSIONED = re.compile(r"/v\d[^/]*(?:/|$)")
_ENDPOINT_PATHS = ("/chat/completions", "/completions", "/models")
_OLLAMA_PATHS = ("/api", "/api/chat", "/api/generate")
"""Paths of Ollama's own API, which exists beside the OpenAI-compatible one."""


@dataclass(frozen=True, slots=True)
class ChatService:
    """A server with OpenAI's chat completions API; one on this machine needs no key."""

    address: str
    needs_key: bool = False


SERVICES: Mapping[str, ChatService] = {
    "openai": ChatService("https://api.openai.com/v1", needs_key=True),
    "ollama": ChatService("http://127.0.0.1:11434/v1"),
    "llamacpp": ChatService("http://127.0.0.1:8080/v1"),
    "vllm": ChatService("http://127.0.0.1:8000/v1"),
    "lmstudio": ChatService("http://127.0.0.1:1234/v1"),
    "openrouter": ChatService("https://openrouter.ai/api/v1", needs_key=True),
    "groq": ChatService("https://api.groq.com/openai/v1", needs_key=True),
    "mistral": ChatService("https://api.mistral.ai/v1", needs_key=True),
    "gemini": ChatService("https://generativelanguage.googleapis.com/v1beta/openai", needs_key=True),
}
"""By the word before the colon of the setting `chat`."""


def clean_address(base_url: str) -> str:
    """Return an address without a trailing slash or endpoint path. Raises InvalidInput if it is no address."""
    address = base_url.strip().rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        guess = f"http://{address.rpartition('//')[2] or '127.0.0.1:8080'}"
        example = guess if _VERSIONED.search(urlsplit(guess).path) else f"{guess}/v1"
        raise InvalidInput(f"{base_url!r} is not the address of a chat server; write one such as {example}")
    for ending in _ENDPOINT_PATHS:
        address = address.removesuffix(ending)
    return address.rstrip("/")


def add_version(address: str) -> str | None:
    """Return the address with /v1, to try if a server does not know this one; None if it has a version already."""
    parts = urlsplit(address)
    if _VERSIONED.search(parts.path):
        return None
    path = "" if parts.path in _OLLAMA_PATHS else parts.path
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/v1", parts.query, ""))


def redact_address(address: str) -> str:
    """Return an address that is safe to show: without user, password and query."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
