"""What a host is told: at the start of a session what matters, and for each prompt what is known of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lamina.hosts import own_hands
from lamina.hosts.event import Event
from lamina.hosts.wire import NoServer, Wire

START_BUDGET, PROMPT_BUDGET = 1500, 600
"""Tokens; a host shows only the beginning of what is much longer than ten thousand characters."""
HITS = 6
LONGEST_QUESTION = 4000
"""Bytes; a server takes no question that is much longer."""
LONGEST_NAME = 200
_COMMANDS = ("/", "!", "#")
"""What begins like this is for the host."""


class Asking:
    """One call of a host that wants context; `wire` is None where no server may be asked for this scope."""

    def __init__(self, event: Event, given: dict[str, Any], root: Path, scope: str | None, wire: Wire | None) -> None:
        self._event, self._given = event, given
        self._root, self._scope, self._wire = root, scope, wire

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to ask."""
        return self._event is Event.SESSION_START or bool(self._question)

    def served(self) -> str:
        """The context as the running server tells it."""
        if self._wire is None:
            raise NoServer("a scope of its own is not served")
        if self._event is Event.SESSION_START:
            from urllib.parse import quote

            target = f"/v1/context?budget={START_BUDGET}"
            told = self._wire.get(
                f"{target}&about={quote(self._project, errors='replace')}" if self._project else target
            )
            return _text(told.get("context")) if told.get("known", True) else ""
        told = self._wire.post("/v1/recall", {"question": self._question, "k": HITS, "budget": PROMPT_BUDGET})
        known = told.get("known", bool(told.get("relevant")))
        return _text(told.get("context")) if known else ""

    def by_own_hands(self) -> str:
        """The same from the memory itself."""
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
    """As much of the beginning as has so many bytes, and nothing that no server could read."""
    return text.encode(errors="replace")[:most].decode(errors="ignore").strip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
