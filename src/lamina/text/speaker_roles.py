"""Recognise speakers that are roles in a conversation, not named people."""

from __future__ import annotations

from lamina.text.normal_form import normal_form

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot"})
TOOL_NAMES = frozenset({"tool", "function", "plugin", "browser", "observation", "ipython", "web search"})
ROLE_NAMES = ASSISTANT_NAMES | TOOL_NAMES | {"user", "human", "system", "developer"}


def is_role(speaker: str | None) -> bool:
    """Return whether a speaker is a role such as user or assistant."""
    return speaker is not None and normal_form(speaker) in ROLE_NAMES


def is_tool(speaker: str | None) -> bool:
    """Return whether a speaker is a tool whose output is part of the conversation."""
    name = normal_form(speaker) if speaker else ""
    return name in TOOL_NAMES or name.split(" ")[0] in ("tool", "function")


def is_system(speaker: str | None) -> bool:
    """Return whether a speaker is the system prompt or developer, not a participant."""
    return speaker is not None and normal_form(speaker) in ("system", "developer")


def is_assistant(speaker: str | None) -> bool:
    """Return whether a speaker is the assistant."""
    return speaker is not None and normal_form(speaker) in ASSISTANT_NAMES
