"""Builds the context that a host adds to a session: core memories at its start, hits for each prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lamina.hosts import direct_memory
from lamina.hosts.hook_event import HookEvent
from lamina.hosts.server_client import ServerClient, ServerUnavailable

START_BUDGET, PROMPT_BUDGET = 1500, 600
"""Tokens; a host cuts context that is much longer than ten thousand characters."""
MAX_HITS = 6
MAX_QUESTION_BYTES = 4000
"""Bytes; a server rejects questions that are much longer."""
MAX_PROJECT_NAME = 200
_HOST_COMMAND_PREFIXES = ("/", "!", "#")
"""A prompt that starts like this is a command for the host, not a question."""


class ContextRequest:
    """One request of a host for context; the client is None if the scope must not be served by a server."""

    def __init__(
        self, event: HookEvent, payload: dict[str, Any], root: Path, scope: str | None, client: ServerClient | None
    ) -> None:
        self._event, self._payload = event, payload
        self._root, self._scope, self._client = root, scope, client

    @property
    def is_needed(self) -> bool:
        """Whether the event needs context at all."""
        return self._event is HookEvent.SESSION_START or bool(self._question)

    def fetch_from_server(self) -> str:
        """Return the context from the running server; ServerUnavailable if there is none."""
        if self._client is None:
            raise ServerUnavailable("a server answers for its own scope only")
        if self._event is HookEvent.SESSION_START:
            from urllib.parse import quote

            target = f"/v1/context?budget={START_BUDGET}"
            response = self._client.get(
                f"{target}&about={quote(self._project, errors='replace')}" if self._project else target
            )
            return _text_or_empty(response.get("context")) if response.get("known", True) else ""
        response = self._client.post("/v1/recall", {"question": self._question, "k": MAX_HITS, "budget": PROMPT_BUDGET})
        has_memories = response.get("known", bool(response.get("relevant")))
        return _text_or_empty(response.get("context")) if has_memories else ""

    def read_from_memory(self) -> str:
        """Return the context by opening the memory in this process."""
        if self._event is HookEvent.SESSION_START:
            return direct_memory.session_start_context(self._root, self._scope, self._project, START_BUDGET)
        return direct_memory.recall_context(self._root, self._scope, self._question, MAX_HITS, PROMPT_BUDGET)

    @property
    def _question(self) -> str:
        prompt = _text_or_empty(self._payload.get("prompt")).strip()
        return "" if prompt.startswith(_HOST_COMMAND_PREFIXES) else _truncate(prompt, MAX_QUESTION_BYTES)

    @property
    def _project(self) -> str:
        folder = _text_or_empty(self._payload.get("cwd"))
        return Path(folder).name[:MAX_PROJECT_NAME] if folder else ""


def _truncate(text: str, max_bytes: int) -> str:
    """Cut a text to a number of bytes, replacing characters that are not valid UTF-8."""
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore").strip()


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""
