"""The real server on a real socket, with the vault of a test behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.provenance import Origin
from lamina.memory import Memory
from lamina.server import run_server


@dataclass(frozen=True, slots=True)
class Site:
    """Where the pages are, and the tokens that open them."""

    address: str
    house: ServedMemory
    token: str
    reader: str
    agent: str

    def session(self, token: str) -> str | None:
        """What a browser holds after its person showed a token."""
        return self.house.tokens.open_session(token)


@contextmanager
def site(memory: Memory) -> Iterator[Site]:
    """The pages of a memory, as long as this lasts."""
    served = ServedMemory.for_memory(memory, RateLimits(100_000, 100_000))
    _, token = served.tokens.create("owner", memory.scope, Right.ADMIN, Origin.HUMAN)
    _, reader = served.tokens.create("reader", memory.scope, Right.READ, Origin.HUMAN)
    _, agent = served.tokens.create("agent", memory.scope, Right.WRITE, Origin.AGENT)
    with run_server(served, port=0) as (_, address):
        yield Site(address.rstrip("/"), served, token, reader, agent)
