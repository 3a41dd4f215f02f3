"""Whose memory. A scope is checked once at the border and is a required argument of every query."""

from __future__ import annotations

import re
from typing import NewType

from lamina.errors import InvalidScope

Scope = NewType("Scope", str)

_NAME = r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?"
_SHAPE = re.compile(rf"org:({_NAME})(?::agent:({_NAME}))?", re.ASCII)


def parse_scope(text: object) -> Scope:
    """The scope a text names, or InvalidScope: nothing is guessed, folded or completed."""
    if not isinstance(text, str) or not _SHAPE.fullmatch(text):
        raise InvalidScope(
            f"{text!r} is not a scope; write org:NAME or org:NAME:agent:NAME in lower-case letters, digits, - and _"
        )
    return Scope(text)


def organisation(scope: Scope) -> str:
    """The organisation's name in a scope."""
    return scope.split(":")[1]


def agent(scope: Scope) -> str | None:
    """The agent's name in a scope, where it is an agent's own."""
    parts = scope.split(":")
    return parts[3] if len(parts) == 4 else None


def visible_from(scope: Scope) -> tuple[Scope, ...]:
    """What a caller in this scope may read: its own scope and its organisation's, never a sibling's."""
    org = Scope(f"org:{organisation(scope)}")
    return (scope,) if scope == org else (scope, org)
