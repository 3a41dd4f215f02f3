"""Whoever a request comes from: their name, whose memory they see, what they may do, and what their word is worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.errors import Refused


class Right(StrEnum):
    """What a caller may do; each covers those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, other: Right) -> bool:
        """Whether who has this right may do what needs the other."""
        order = list(Right)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Caller:
    """One principal. `token` and `session` are what it came with; its words are never worth more than `origin`."""

    name: str
    scope: Scope
    right: Right
    origin: Origin
    token: str = ""
    session: str = ""

    def may(self, right: Right) -> bool:
        return self.right.covers(right)

    def must(self, right: Right) -> None:
        """Refused, with what to do, where the right is missing."""
        if not self.may(right):
            raise Refused(f"{self.name} may {self.right}, this needs {right}; `lamina token create --right {right}`")
