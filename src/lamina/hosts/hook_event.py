"""The events of an agent session at which a host runs `lamina hook`."""

from __future__ import annotations

from enum import StrEnum


class HookEvent(StrEnum):
    """An event of an agent session; the value is the argument of `lamina hook`."""

    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"

    @property
    def claude_name(self) -> str:
        """The name of the event in Claude Code."""
        return "".join(word.capitalize() for word in self.value.split("-"))

    @property
    def wants_context(self) -> bool:
        """Whether the host expects context; at other events turns are captured."""
        return self in (HookEvent.SESSION_START, HookEvent.USER_PROMPT_SUBMIT)
