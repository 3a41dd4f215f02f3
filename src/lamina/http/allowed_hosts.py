"""The host names this server accepts, which protects against DNS rebinding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""Names of a loopback address in a Host header."""


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names of this machine and the configured ones, such as `memory.example` or `memory.example:8443`.

    A configured name without a port is accepted with the listening port and without one; with a port only as written.
    """

    names: tuple[str, ...] = ()

    def allows_host(self, host: bytes, address: str, port: int) -> bool:
        """Return whether a Host header names this server exactly."""
        return host.lower() in self._listening_hosts(address, port)

    def allows_origin(self, origin: bytes, address: str, port: int) -> bool:
        """Return whether an Origin header belongs to a page of this server; `null` never does."""
        scheme, _, host = origin.lower().partition(b"://")
        if scheme == b"http":
            return host in self._listening_hosts(address, port)
        return scheme == b"https" and host in self._configured_hosts(port)

    def _listening_hosts(self, address: str, port: int) -> frozenset[bytes]:
        listening_name = f"[{address}]" if ":" in address else address
        with_port = [f"{name}:{port}" for name in (*LOOPBACK_NAMES, listening_name)]
        bare = [*LOOPBACK_NAMES, listening_name] if port == 80 else []
        return frozenset(host.encode() for host in (*with_port, *bare)) | self._configured_hosts(port)

    def _configured_hosts(self, port: int) -> frozenset[bytes]:
        hosts: list[str] = []
        for name in self.names:
            hosts += [name] if _has_port(name) else [name, f"{name}:{port}"]
        return frozenset(host.lower().encode() for host in hosts)


def parse_allowed_hosts(names: Sequence[str]) -> AllowedHosts:
    """Return the allowed hosts for configured names; surrounding spaces are removed."""
    return AllowedHosts(tuple(name.strip() for name in names if name.strip()))


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and not name.endswith("]")
