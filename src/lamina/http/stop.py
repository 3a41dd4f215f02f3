"""An exception that ends a request with a problem."""

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
        """Return the error for a caller without the required right."""
        return cls(forbidden(caller, right))


def forbidden(caller: Caller, right: Right) -> Problem:
    """Return the problem for a caller without the required right."""
    detail = f"{caller.name} may {caller.right}, this needs {right}; ask the vault's owner for a token with that right"
    return Problem(403, "Forbidden", detail, {"needs": right.value, "has": caller.right.value})
