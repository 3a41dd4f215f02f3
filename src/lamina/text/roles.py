"""Speakers that are parts in a conversation, not people with names."""

from __future__ import annotations

from lamina.text.normal import normal_form

ASSISTANTS = frozenset({"assistant", "ai", "bot"})
ROLES = ASSISTANTS | {"user", "human", "system", "developer", "tool"}


def is_role(speaker: str | None) -> bool:
    """Whether a speaker is a part such as user or assistant."""
    return speaker is not None and normal_form(speaker) in ROLES


def is_assistant(speaker: str | None) -> bool:
    """Whether a speaker is the machine in a conversation."""
    return speaker is not None and normal_form(speaker) in ASSISTANTS
