"""An opened memory together with its access tokens and rate limits: what the network surfaces share."""

from __future__ import annotations

from dataclasses import dataclass, field

from lamina.access.budget import Budgets
from lamina.access.caller import Caller, Right
from lamina.access.tokens import Tokens
from lamina.atom.trust import Origin
from lamina.memory import Memory


@dataclass(frozen=True, slots=True)
class House:
    """Holds one opened memory, its access tokens and its rate limiter while a process serves a vault."""

    memory: Memory
    tokens: Tokens
    budgets: Budgets = field(default_factory=Budgets)

    @classmethod
    def of(cls, memory: Memory) -> House:
        """Return the served memory for an opened memory, with the rate limits of its settings."""
        settings = memory.settings
        budgets = Budgets(settings.serve_reads_per_minute, settings.serve_writes_per_minute)
        return cls(memory, Tokens(memory.state, memory.now), budgets)

    def seat(self, caller: Caller) -> Memory:
        """Return the memory as this caller may use it."""
        return self.memory.seat(caller.scope, actor=actor_of(caller), principal=caller.name, ceiling=caller.origin)

    def is_kept_by(self, caller: Caller) -> bool:
        """Return whether this caller administers the whole vault: the right admin, in the scope that is served."""
        return caller.may(Right.ADMIN) and caller.scope == self.memory.scope

    def local(self) -> Caller:
        """Return the caller for requests over the Unix socket, which only the vault's owner can open."""
        return Caller("local", self.memory.scope, Right.WRITE, Origin.AGENT)


def actor_of(caller: Caller) -> str:
    """Return the caller's name in the journal: `human` for a person, the token's name for an agent."""
    return "human" if caller.origin is Origin.HUMAN else caller.name
