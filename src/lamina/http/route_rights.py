"""The right and timeout of every operation, in one table, and the rule for each request derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    """What an operation requires. `is_write`: it counts as a write; `timeout_seconds` None: a stream."""

    right: Right | None
    is_write: bool = False
    timeout_seconds: float | None = DEFAULT_SECONDS


_READ, _WRITE = OperationPolicy(Right.READ), OperationPolicy(Right.WRITE, is_write=True)
_SLOW_WRITE, _SLOW_ADMIN = (
    OperationPolicy(Right.WRITE, is_write=True, timeout_seconds=SLOW_SECONDS),
    OperationPolicy(Right.ADMIN, is_write=True, timeout_seconds=SLOW_SECONDS),
)

OPERATION_POLICIES: dict[str, OperationPolicy] = {
    **dict.fromkeys(
        (
            "capture",
            "remember",
            "remember_many",
            "propose",
            "revise",
            "update_status",
            "forget",
            "pin",
            "unpin",
            "promote",
            "demote",
            "resolve",
            "relate",
            "rollback",
            "undo",
            "feedback",
            "cite",
        ),
        _WRITE,
    ),
    "erase": _SLOW_ADMIN,
    "quarantine": _SLOW_ADMIN,
    **dict.fromkeys(
        (
            "recall",
            "recall_long",
            "top",
            "plan_context",
            "context",
            "get",
            "list",
            "history",
            "status_history",
            "neighbours",
            "signals",
            "journal",
            "topics",
        ),
        _READ,
    ),
    "answer": OperationPolicy(Right.READ, timeout_seconds=SLOW_SECONDS),
    "feed": OperationPolicy(Right.READ, timeout_seconds=None),
    **dict.fromkeys(("review_list", "review_pairs"), _READ),
    **dict.fromkeys(
        (
            "review_confirm",
            "review_reject",
            "review_edit",
            "review_keep_a",
            "review_keep_b",
            "review_both_valid",
            "review_merge",
            "review_need_more",
        ),
        _WRITE,
    ),
    **dict.fromkeys(("review_compact", "review_dedup", "review_approve_source", "review_reject_source"), _SLOW_WRITE),
    **dict.fromkeys(("run_note", "run_close", "block_add"), _WRITE),
    **dict.fromkeys(("run", "block"), _READ),
    **dict.fromkeys(("stats", "metrics", "openapi"), _READ),
    "jobs": OperationPolicy(Right.ADMIN),
    "health": OperationPolicy(None),
    **dict.fromkeys(("sync", "doctor", "dream"), _SLOW_WRITE),
    "rebuild": _SLOW_ADMIN,
    "export": _SLOW_ADMIN,
}
"""Operations of the API by id, which is the verb. An operation that is not listed is not served."""


@dataclass(frozen=True, slots=True)
class RequestRule:
    """What a request must satisfy; `route` is its label in metrics.

    `right` None: no token needed. `is_page`: a web page, so a form may be sent and a session cookie is accepted.
    """

    route: str
    right: Right | None
    is_write: bool = False
    timeout_seconds: float | None = DEFAULT_SECONDS
    is_page: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is an operation at this path for this method."""
        return self.route != UNKNOWN_ROUTE


@dataclass(frozen=True, slots=True)
class _RouteRule:
    path_pattern: re.Pattern[str]
    method: str
    rule: RequestRule


API_PREFIX, MCP_PREFIX, ERASE_PATH = "/v1", "/mcp", "/v1/erase"
UNKNOWN_ROUTE = "unknown"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The rule of every possible request; `public` are paths that need no token, folders with a slash at the end."""

    route_rules: tuple[_RouteRule, ...]
    public: tuple[str, ...]

    def find(self, method: str, path: str) -> RequestRule:
        """Return the rule of a request. An unknown path still requires a token before its 404 is sent."""
        for route_rule in self.route_rules:
            if route_rule.method == method and route_rule.path_pattern.match(path):
                return route_rule.rule
        writes = method not in SAFE_METHODS
        if _is_under(path, MCP_PREFIX):
            return RequestRule(MCP_PREFIX, Right.READ, timeout_seconds=None)
        if _is_under(path, API_PREFIX) or path == "/metrics":
            return RequestRule(UNKNOWN_ROUTE, Right.READ, writes)
        if any(
            path == public_path or (public_path.endswith("/") and path.startswith(public_path))
            for public_path in self.public
        ):
            return RequestRule("public", None, is_page=True)
        if path == LOGOUT_PATH:
            return RequestRule("page", Right.READ, is_page=True)
        seconds = SLOW_SECONDS if path in SLOW_PAGES else DEFAULT_SECONDS
        return RequestRule("page", Right.WRITE if writes else Right.READ, writes, seconds, is_page=True)


PUBLIC_PATHS = ("/login", "/static/", "/favicon.ico")
LOGOUT_PATH = "/logout"
"""A caller with only the right to read may sign out as well."""
SLOW_PAGES = frozenset({"/inbox/source", "/inbox/undo", "/health/problems"})
"""Pages that may act on thousands of atoms in one request."""


def build_rules(app: FastAPI, public: Sequence[str] = PUBLIC_PATHS) -> RequestRules:
    """Return the rules of an app's routes; KeyError if an operation is missing in the table."""
    return RequestRules(tuple(_route_rules(app)), tuple(public))


def _route_rules(app: FastAPI) -> Iterable[_RouteRule]:
    for route in list_api_routes(app):
        policy = OPERATION_POLICIES[operation_name(route)]
        for method in sorted(route.methods or ()):
            yield _RouteRule(
                route.path_regex, method, RequestRule(route.path, policy.right, policy.is_write, policy.timeout_seconds)
            )


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
