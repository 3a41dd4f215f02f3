"""An opened memory together with its access tokens and rate limits: what the network surfaces share."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.access.principal import Principal, Right
from lamina.access.rate_limit import RateLimiter, RateLimits
from lamina.access.tokens import AccessTokenStore
from lamina.atom.provenance import Origin
from lamina.memory import Memory


@dataclass(frozen=True, slots=True)
class ServedMemory:
    """Holds one opened memory, its access tokens and its rate limiter while a process serves a vault."""

    memory: Memory
    tokens: AccessTokenStore
    rate_limiter: RateLimiter

    @classmethod
    def for_memory(cls, memory: Memory, limits: RateLimits | None = None) -> ServedMemory:
        """Return the served memory for an opened memory; its settings have the rate limits unless some are given."""
        settings, state = memory.settings, memory.engine.store.admin.access
        limits = limits or RateLimits(settings.serve_reads_per_minute, settings.serve_writes_per_minute)
        # The clock itself: `memory.now` reads the journal, and a request must not wait for a commit to be admitted.
        return cls(memory, AccessTokenStore(state, memory.engine.clock.now), RateLimiter(state, limits))

    def memory_for(self, caller: Principal) -> Memory:
        """Return the memory as this caller may use it; the journal calls a person `human`, an agent by its token."""
        actor = "human" if caller.origin is Origin.HUMAN else caller.name
        return self.memory.for_caller(caller.scope, actor=actor, principal=caller.name, ceiling=caller.origin)

    def is_vault_admin(self, caller: Principal) -> bool:
        """Return whether this caller administers the whole vault: the right admin, in the scope that is served."""
        return caller.may(Right.ADMIN) and caller.scope == self.memory.scope

    def local_caller(self) -> Principal:
        """Return the caller for requests over the Unix socket, which only the vault's owner can open."""
        return Principal("local", self.memory.scope, Right.WRITE, Origin.AGENT)
