"""Builds the context that a host adds to a session: core memories at its start, hits for each prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lamina.hosts import own_hands
from lamina.hosts.event import Event
from lamina.hosts.wire import NoServer, Wire

START_BUDGET, PROMPT_BUDGET = 1500, 600
"""Tokens; a host cuts context that is much longer than ten thousand characters."""
HITS = 6
LONGEST_QUESTION = 4000
"""Bytes; a server rejects questions that are much longer."""
LONGEST_NAME = 200
_COMMANDS = ("/", "!", "#")
"""A prompt that starts like this is a command for the host, not a question."""


class Asking:
    """One request of a host for context; the client is None if the scope must not be served by a server."""

    def __init__(self, event: Event, given: dict[str, Any], root: Path, scope: str | None, wire: Wire | None) -> None:
        self._event, self._given = event, given
        self._root, self._scope, self._wire = root, scope, wire

    @property
    def is_needed(self) -> bool:
        """Whether the event needs context at all."""
        return self._event is Event.SESSION_START or bool(self._question)

    def served(self) -> str:
        """Return the context from the running server; ServerUnavailable if there is none."""
        if self._wire is None:
            raise NoServer("a server answers for its own scope only")
        if self._event is Event.SESSION_START:
            from urllib.parse import quote

            target = f"/v1/context?budget={START_BUDGET}"
            response = self._wire.get(
                f"{target}&about={quote(self._project, errors='replace')}" if self._project else target
            )
            return _text(response.get("context")) if response.get("known", True) else ""
        response = self._wire.post("/v1/recall", {"question": self._question, "k": HITS, "budget": PROMPT_BUDGET})
        has_memories = response.get("known", bool(response.get("relevant")))
        return _text(response.get("context")) if has_memories else ""

    def by_own_hands(self) -> str:
        """Return the context by opening the memory in this process."""
        if self._event is Event.SESSION_START:
            return own_hands.at_the_start(self._root, self._scope, self._project, START_BUDGET)
        return own_hands.recalled(self._root, self._scope, self._question, HITS, PROMPT_BUDGET)

    @property
    def _question(self) -> str:
        prompt = _text(self._given.get("prompt")).strip()
        return "" if prompt.startswith(_COMMANDS) else _cut(prompt, LONGEST_QUESTION)

    @property
    def _project(self) -> str:
        folder = _text(self._given.get("cwd"))
        return Path(folder).name[:LONGEST_NAME] if folder else ""


def _cut(text: str, most: int) -> str:
    """Cut a text to a number of bytes, replacing characters that are not valid UTF-8."""
    return text.encode(errors="replace")[:most].decode(errors="ignore").strip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
