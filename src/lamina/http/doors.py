"""Which names a server answers to. A page of another site that had its name point here must not be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""What a loopback address is called, as a Host header writes it."""


@dataclass(frozen=True, slots=True)
class Doors:
    """The names of this machine and those its owner configured, such as `memory.example` or `memory.example:8443`.

    A configured name counts with the port that is listened on and without one; with a port it counts as it stands.
    """

    names: tuple[str, ...] = ()

    def knows_host(self, host: bytes, address: str, port: int) -> bool:
        """Whether a Host header names this server as it listens: letter for letter, nothing is completed or mended."""
        return host.lower() in self._hosts(address, port)

    def knows_origin(self, origin: bytes, address: str, port: int) -> bool:
        """Whether an Origin header is that of a page this server gave out; `null` never is."""
        scheme, _, host = origin.lower().partition(b"://")
        if scheme == b"http":
            return host in self._hosts(address, port)
        return scheme == b"https" and host in self._named(port)

    def _hosts(self, address: str, port: int) -> frozenset[bytes]:
        own = f"[{address}]" if ":" in address else address
        here = [f"{name}:{port}" for name in (*LOOPBACK, own)]
        bare = [*LOOPBACK, own] if port == 80 else []
        return frozenset(each.encode() for each in (*here, *bare)) | self._named(port)

    def _named(self, port: int) -> frozenset[bytes]:
        told: list[str] = []
        for name in self.names:
            told += [name] if _has_port(name) else [name, f"{name}:{port}"]
        return frozenset(each.lower().encode() for each in told)


def doors(names: Sequence[str]) -> Doors:
    """Doors for configured names; spaces around them do not count."""
    return Doors(tuple(name.strip() for name in names if name.strip()))


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and not name.endswith("]")
