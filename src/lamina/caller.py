"""The caller of a memory: whose memory it uses, in whose name it writes, and what its word counts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.scope import Scope, agent_name, organisation_name, parse_scope, readable_scopes
from lamina.atom.trust import Origin
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

    def agents(self, private: bool) -> tuple[str, ...]:
        """Return the agent to name in what it writes for its organisation; none for a private write."""
        name = agent_name(self.scope)
        return (name,) if name and not private else ()

    def select_scopes(self, scopes: Sequence[str] | None) -> tuple[Scope, ...]:
        """Return the scopes to read, by default all that the caller may; InvalidScope for any other."""
        if scopes is None:
            return self.scopes
        selected = tuple(parse_scope(scope) for scope in ([scopes] if isinstance(scopes, str) else scopes))
        self.require_scopes(selected)
        if not selected:
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}, not nothing")
        return selected

    def require_scopes(self, scopes: Sequence[Scope]) -> None:
        """Raise InvalidScope if the caller may not read one of these scopes."""
        if set(scopes) - set(self.scopes):
            raise InvalidScope(f"{self.scope} may read {', '.join(self.scopes)}, not {', '.join(scopes)}")

    def require_person(self, action: str) -> None:
        """Raise Refused unless the caller acts as a person."""
        if self.ceiling is not Origin.HUMAN:
            raise Refused(f"{self.ceiling} may not {action}")
