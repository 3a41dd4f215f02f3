"""A handler that must stop for a reason only HTTP has."""

from __future__ import annotations

from lamina.access import Caller, Right
from lamina.http.problem import Problem


class Stop(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.name)

    @classmethod
    def forbidden(cls, caller: Caller, right: Right) -> Stop:
        """The caller's right does not reach that far."""
        return cls(forbidden(caller, right))


def forbidden(caller: Caller, right: Right) -> Problem:
    """What a caller is told whose right does not reach that far."""
    told = f"{caller.name} may {caller.right}, this needs {right}; ask the vault's owner for another token"
    return Problem(403, "Forbidden", told, {"needs": right.value, "has": caller.right.value})
