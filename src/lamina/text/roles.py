"""Speakers that are parts in a conversation, not people with names."""

from __future__ import annotations

from lamina.text.normal import normal_form

ASSISTANTS = frozenset({"assistant", "ai", "bot"})
INSTRUMENTS = frozenset({"tool", "function", "plugin", "browser", "observation", "ipython", "web search"})
ROLES = ASSISTANTS | INSTRUMENTS | {"user", "human", "system", "developer"}


def is_role(speaker: str | None) -> bool:
    """Whether a speaker is a part such as user or assistant."""
    return speaker is not None and normal_form(speaker) in ROLES


def is_instrument(speaker: str | None) -> bool:
    """Whether a speaker is no one but a tool whose output stands in the conversation."""
    name = normal_form(speaker) if speaker else ""
    return name in INSTRUMENTS or name.split(" ")[0] in ("tool", "function")


def is_prompt(speaker: str | None) -> bool:
    """Whether a speaker is whoever set the machine up, and not a person in the conversation."""
    return speaker is not None and normal_form(speaker) in ("system", "developer")


def is_assistant(speaker: str | None) -> bool:
    """Whether a speaker is the machine in a conversation."""
    return speaker is not None and normal_form(speaker) in ASSISTANTS
