"""The caller of a memory: whose memory it uses, in whose name it writes, and what its word counts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.provenance import Origin, Scope, agent_name, organisation_name, parse_scope, readable_scopes
from lamina.errors import InvalidScope, Refused


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a verb: a scope, the actor that commits name, the principal of a token, and the highest origin of a
    write."""

    scope: Scope
    actor: str = "human"
    principal: str | None = None
    ceiling: Origin = Origin.HUMAN

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that the caller may read: its own and that of its organisation."""
        return readable_scopes(self.scope)

    def writing_scope(self, private: bool) -> Scope:
        """Return the scope that a write goes to: that of the organisation, unless an agent writes in private."""
        shared = not private and agent_name(self.scope) is not None
        return Scope(f"org:{organisation_name(self.scope)}") if shared else self.scope

    @property
    def agent(self) -> str | None:
        """The name of the calling agent; None for an organisation."""
        return agent_name(self.scope)

    def agents(self, private: bool, named: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the agents to name in what it writes: those given, and an agent that writes for its organisation.

        InvalidScope for a name that no agent can have, and for agents named in a private write.
        """
        for name in named:
            parse_scope(f"org:{organisation_name(self.scope)}:agent:{name}")
        if private and named and self.agent:
            raise InvalidScope("a private write is for its agent alone; name no agents, or do not write it as private")
        caller_names = (self.agent,) if self.agent and not private else ()
        return tuple(dict.fromkeys((*caller_names, *named)))

    def select_scopes(self, scopes: Sequence[str] | None) -> tuple[Scope, ...]:
        """Return the scopes to read, by default all that the caller may; InvalidScope for any other.

        An agent that selects its own scope reads its organisation's as well, but only what it learnt there: see
        `selects_own`.
        """
        if scopes is None or self.selects_own(scopes):
            return self.scopes
        selected = tuple(parse_scope(scope) for scope in ([scopes] if isinstance(scopes, str) else scopes))
        self.require_scopes(selected)
        if not selected:
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}, not nothing")
        return selected

    def selects_own(self, scopes: Sequence[str] | None) -> bool:
        """Return whether an agent selects its own scope only: then it reads what it learnt, wherever that is stored."""
        if scopes is None or self.agent is None:
            return False
        return {parse_scope(scope) for scope in ([scopes] if isinstance(scopes, str) else scopes)} == {self.scope}

    def require_scopes(self, scopes: Sequence[Scope]) -> None:
        """Raise InvalidScope if the caller may not read one of these scopes."""
        if set(scopes) - set(self.scopes):
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}, not {', '.join(scopes)}")

    def require_person(self, action: str) -> None:
        """Raise Refused unless the caller acts as a person."""
        if self.ceiling is not Origin.HUMAN:
            raise Refused(f"{self.ceiling} may not {action}")
