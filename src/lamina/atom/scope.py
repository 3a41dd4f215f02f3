"""Define scopes: whose memory it is. A scope is checked once when it enters; every query requires one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NewType

from lamina.errors import InvalidScope

Scope = NewType("Scope", str)

_NAME = r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?"
_SHAPE = re.compile(rf"org:({_NAME})(?::agent:({_NAME}))?", re.ASCII)


def parse_scope(text: object) -> Scope:
    """Return the scope that a text names; InvalidScope if it is malformed, nothing is guessed or completed."""
    if not isinstance(text, str) or not _SHAPE.fullmatch(text):
        raise InvalidScope(
            f"{text!r} is not a scope; write org:NAME or org:NAME:agent:NAME in lower-case letters, digits, - and _"
        )
    return Scope(text)


def organisation_name(scope: Scope) -> str:
    """Return the name of the organisation in a scope."""
    return scope.split(":")[1]


def agent_name(scope: Scope) -> str | None:
    """Return the name of the agent in a scope; None for an organisation's scope."""
    parts = scope.split(":")
    return parts[3] if len(parts) == 4 else None


def is_of_agent(agent: str, scope: Scope, agents: Iterable[str]) -> bool:
    """Return whether an atom of a scope, with the agents it names, is what an agent learnt.

    Everything in the agent's own scope is; in the scope of the organisation, what names the agent.
    """
    owner = agent_name(scope)
    return owner == agent if owner is not None else agent in map(str.casefold, agents)


def readable_scopes(scope: Scope) -> tuple[Scope, ...]:
    """Return the scopes that a caller in this scope may read: its own and its organisation's, never another agent's."""
    organisation_scope = Scope(f"org:{organisation_name(scope)}")
    return (scope,) if scope == organisation_scope else (scope, organisation_scope)
