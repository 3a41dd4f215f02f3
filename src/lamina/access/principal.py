"""The identity behind a request: its name, its scope, its right and the trust of what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.provenance import Origin, Scope
from lamina.errors import Refused


class Right(StrEnum):
    """A right of a caller; each right includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, other: Right) -> bool:
        """Return whether this right allows what needs the other one."""
        order = list(Right)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Principal:
    """The principal of a request. `token` and `session` are the ids it used; `origin` limits the trust of writes."""

    name: str
    scope: Scope
    right: Right
    origin: Origin
    token: str = ""
    session: str = ""

    def may(self, right: Right) -> bool:
        """Return whether the caller has this right."""
        return self.right.covers(right)

    def require(self, right: Right) -> None:
        """Raise Refused, with the command that makes a suitable token, if the caller lacks this right."""
        if not self.may(right):
            raise Refused(
                f"{self.name} may {self.right}, this needs {right}; use `lamina token create --right {right}`"
            )
