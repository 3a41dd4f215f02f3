"""An opened memory with its door: who may come in, and the seat each of them gets."""

from __future__ import annotations

from dataclasses import dataclass, field

from lamina.access.budget import Budgets
from lamina.access.caller import Caller, Right
from lamina.access.tokens import Tokens
from lamina.atom.trust import Origin
from lamina.memory import Memory


@dataclass(frozen=True, slots=True)
class House:
    """What the surfaces share while a process serves a vault."""

    memory: Memory
    tokens: Tokens
    budgets: Budgets = field(default_factory=Budgets)

    @classmethod
    def of(cls, memory: Memory) -> House:
        """The house of an opened memory, with the limits of its settings."""
        own = memory.settings
        budgets = Budgets(own.serve_reads_per_minute, own.serve_writes_per_minute)
        return cls(memory, Tokens(memory.state, memory.now), budgets)

    def seat(self, caller: Caller) -> Memory:
        """The memory as this caller may use it."""
        return self.memory.seat(caller.scope, actor=actor_of(caller), principal=caller.name, ceiling=caller.origin)

    def is_kept_by(self, caller: Caller) -> bool:
        """Whether this caller looks after the whole vault: who may do everything, in the scope it is served for."""
        return caller.may(Right.ADMIN) and caller.scope == self.memory.scope

    def local(self) -> Caller:
        """Whoever comes through the socket that only the vault's owner may open."""
        return Caller("local", self.memory.scope, Right.WRITE, Origin.AGENT)


def actor_of(caller: Caller) -> str:
    """How the journal names a caller: a person as everywhere, an agent by its name."""
    return "human" if caller.origin is Origin.HUMAN else caller.name
