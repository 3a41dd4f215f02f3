"""The right and timeout of every operation, in one table, and the rule for each request derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from lamina.access import Right

SECONDS = 8.0
LONG = 120.0
"""For operations whose time grows with the store; the client waits for them."""


@dataclass(frozen=True, slots=True)
class Need:
    """What an operation requires. `is_write`: it counts as a write; `timeout_seconds` None: a stream."""

    right: Right | None
    write: bool = False
    seconds: float | None = SECONDS


_READ, _WRITE = Need(Right.READ), Need(Right.WRITE, write=True)
_LONG_WRITE, _LONG_ADMIN = Need(Right.WRITE, write=True, seconds=LONG), Need(Right.ADMIN, write=True, seconds=LONG)

NEEDS: dict[str, Need] = {
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
    "erase": _LONG_ADMIN,
    "quarantine": _LONG_ADMIN,
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
    "answer": Need(Right.READ, seconds=LONG),
    "feed": Need(Right.READ, seconds=None),
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
    **dict.fromkeys(("review_compact", "review_dedup", "review_approve_source", "review_reject_source"), _LONG_WRITE),
    **dict.fromkeys(("run_note", "run_close", "block_add"), _WRITE),
    **dict.fromkeys(("run", "block"), _READ),
    **dict.fromkeys(("stats", "metrics", "openapi"), _READ),
    "jobs": Need(Right.ADMIN),
    "health": Need(None),
    **dict.fromkeys(("sync", "doctor", "dream"), _LONG_WRITE),
    "rebuild": _LONG_ADMIN,
    "export": _LONG_ADMIN,
}
"""Operations of the API by id, which is the verb. An operation that is not listed is not served."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a request must satisfy; `route` is its label in metrics.

    `right` None: no token needed. `is_page`: a web page, so a form may be sent and a session cookie is accepted.
    """

    route: str
    right: Right | None
    write: bool = False
    seconds: float | None = SECONDS
    page: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is an operation at this path for this method."""
        return self.route != UNKNOWN


@dataclass(frozen=True, slots=True)
class _Known:
    shape: re.Pattern[str]
    method: str
    rule: Rule


API, MCP, ERASE = "/v1", "/mcp", "/v1/erase"
UNKNOWN = "unknown"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Rules:
    """The rule of every possible request; `public` are paths that need no token, folders with a slash at the end."""

    known: tuple[_Known, ...]
    public: tuple[str, ...]

    def find(self, method: str, path: str) -> Rule:
        """Return the rule of a request. An unknown path still requires a token before its 404 is sent."""
        for route_rule in self.known:
            if route_rule.method == method and route_rule.shape.match(path):
                return route_rule.rule
        writes = method not in SAFE
        if _is_under(path, MCP):
            return Rule(MCP, Right.READ, seconds=None)
        if _is_under(path, API) or path == "/metrics":
            return Rule(UNKNOWN, Right.READ, writes)
        if any(
            path == public_path or (public_path.endswith("/") and path.startswith(public_path))
            for public_path in self.public
        ):
            return Rule("public", None, page=True)
        if path == LOGOUT:
            return Rule("page", Right.READ, page=True)
        seconds = LONG if path in LONG_PAGES else SECONDS
        return Rule("page", Right.WRITE if writes else Right.READ, writes, seconds, page=True)


PUBLIC = ("/login", "/static/", "/favicon.ico")
LOGOUT = "/logout"
"""A caller with only the right to read may sign out as well."""
LONG_PAGES = frozenset({"/inbox/source", "/inbox/undo", "/health/problems"})
"""Pages that may act on thousands of atoms in one request."""


def rules_of(app: FastAPI, public: Sequence[str] = PUBLIC) -> Rules:
    """Return the rules of an app's routes; KeyError if an operation is missing in the table."""
    return Rules(tuple(_known(app)), tuple(public))


def _known(app: FastAPI) -> Iterable[_Known]:
    for route in api_routes(app):
        policy = NEEDS[operation_of(route)]
        for method in sorted(route.methods or ()):
            yield _Known(route.path_regex, method, Rule(route.path, policy.right, policy.write, policy.seconds))


def api_routes(app: FastAPI) -> list[APIRoute]:
    """Return every operation of the API."""
    return list(_operations(app.routes))


def _operations(routes: Iterable[BaseRoute]) -> Iterable[APIRoute]:
    for route in routes:
        router = getattr(route, "original_router", None)
        if isinstance(route, APIRoute):
            yield route
        elif router is not None:
            yield from _operations(router.routes)


def operation_of(route: APIRoute) -> str:
    """Return the verb of a route."""
    return route.operation_id or route.name


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
