"""The right and timeout of every operation, and the rule for each request derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from lamina.access import Right

DEFAULT_SECONDS = 8.0
SLOW_SECONDS = 120.0
"""For operations whose time grows with the store; the client waits for them."""


@dataclass(frozen=True, slots=True)
class OperationPolicy:
    """The requirements of an operation. `is_write`: it counts as a write; `timeout_seconds` None: a stream."""

    right: Right | None
    is_write: bool = False
    timeout_seconds: float | None = DEFAULT_SECONDS


READ = OperationPolicy(Right.READ)
SLOW_READ = OperationPolicy(Right.READ, timeout_seconds=SLOW_SECONDS)
STREAM = OperationPolicy(Right.READ, timeout_seconds=None)
WRITE = OperationPolicy(Right.WRITE, is_write=True)
SLOW_WRITE = OperationPolicy(Right.WRITE, is_write=True, timeout_seconds=SLOW_SECONDS)
SLOW_ADMIN = OperationPolicy(Right.ADMIN, is_write=True, timeout_seconds=SLOW_SECONDS)

OPERATION_POLICIES: dict[str, OperationPolicy] = {"feed": STREAM, "metrics": READ, "openapi": READ}
"""Operations of the API by id, which is the verb; `lamina.http.api.endpoint` adds those that return a document.

An operation that is not listed is not served.
"""


@dataclass(frozen=True, slots=True)
class RequestRule(OperationPolicy):
    """The requirements on a request; `route` is its label in metrics.

    `right` None: no token needed. `is_page`: a web page, so a form may be sent and a session cookie is accepted.
    """

    route: str = "page"
    is_page: bool = False

    @property
    def is_known(self) -> bool:
        """Return whether there is an operation at this path for this method."""
        return self.route != UNKNOWN_ROUTE


API_PREFIX, MCP_PREFIX = "/v1", "/mcp"
UNKNOWN_ROUTE = "unknown"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The rule of every possible request: those of the API's operations, by path and method, and of everything else."""

    operations: tuple[tuple[re.Pattern[str], str, RequestRule], ...]

    def find(self, method: str, path: str) -> RequestRule:
        """Return the rule of a request. An unknown path still requires a token before its 404 is sent."""
        for path_pattern, known_method, rule in self.operations:
            if known_method == method and path_pattern.match(path):
                return rule
        writes = method not in SAFE_METHODS
        if _is_under(path, MCP_PREFIX):
            return RequestRule(Right.READ, timeout_seconds=None, route=MCP_PREFIX)
        if _is_under(path, API_PREFIX) or path == "/metrics":
            return RequestRule(Right.READ, writes, route=UNKNOWN_ROUTE)
        if path in PUBLIC_PATHS or path.startswith(PUBLIC_FOLDER):
            return RequestRule(None, route="public", is_page=True)
        if path == LOGOUT_PATH:
            return RequestRule(Right.READ, is_page=True)
        seconds = SLOW_SECONDS if path in SLOW_PAGES else DEFAULT_SECONDS
        return RequestRule(Right.WRITE if writes else Right.READ, writes, seconds, is_page=True)


PUBLIC_PATHS, PUBLIC_FOLDER = frozenset({"/login", "/favicon.ico"}), "/static/"
"""Pages and files that need no token."""
LOGOUT_PATH = "/logout"
"""A caller with only the right to read may sign out as well."""
SLOW_PAGES = frozenset({"/inbox/source", "/inbox/undo", "/health/problems"})
"""Pages that may act on thousands of atoms in one request."""


def build_rules(app: FastAPI) -> RequestRules:
    """Return the rules of an app's routes; KeyError if an operation is missing in the table."""
    operations = []
    for route in list_api_routes(app):
        policy = OPERATION_POLICIES[operation_name(route)]
        rule = RequestRule(policy.right, policy.is_write, policy.timeout_seconds, route=route.path)
        operations += [(route.path_regex, method, rule) for method in sorted(route.methods or ())]
    return RequestRules(tuple(operations))


def list_api_routes(app: FastAPI) -> list[APIRoute]:
    """Return every operation of the API."""
    return list(_iter_api_routes(app.routes))


def _iter_api_routes(routes: Iterable[BaseRoute]) -> Iterable[APIRoute]:
    for route in routes:
        router = getattr(route, "original_router", None)
        if isinstance(route, APIRoute):
            yield route
        elif router is not None:
            yield from _iter_api_routes(router.routes)


def operation_name(route: APIRoute) -> str:
    """Return the verb of a route."""
    return route.operation_id or route.name


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
