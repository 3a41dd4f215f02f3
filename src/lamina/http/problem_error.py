"""An exception that ends a request with a problem."""

from __future__ import annotations

from lamina.access import Caller, Right
from lamina.http.problem import ProblemDetails


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: ProblemDetails) -> None:
        self.problem = problem
        super().__init__(problem.name)

    @classmethod
    def forbidden(cls, caller: Caller, right: Right) -> ProblemError:
        """Return the error for a caller without the required right."""
        return cls(forbidden_problem(caller, right))


def forbidden_problem(caller: Caller, right: Right) -> ProblemDetails:
    """Return the problem for a caller without the required right."""
    detail = f"{caller.name} may {caller.right}, this needs {right}; ask the vault's owner for a token with that right"
    return ProblemDetails(403, "Forbidden", detail, {"needs": right.value, "has": caller.right.value})
