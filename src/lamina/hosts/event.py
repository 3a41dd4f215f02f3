"""The moments at which a host calls: some ask for context, the others have words to keep."""

from __future__ import annotations

from enum import StrEnum


class Event(StrEnum):
    """A moment in an agent's session, by the word the command takes."""

    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"

    @property
    def name_at_host(self) -> str:
        """What Claude Code calls it."""
        return "".join(word.capitalize() for word in self.value.split("-"))

    @property
    def asks(self) -> bool:
        """Whether the host waits for context, rather than having words to keep."""
        return self in (Event.SESSION_START, Event.USER_PROMPT_SUBMIT)
