"""The right every operation needs, in one table, and which requests that makes of the routes of a server."""

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
"""For work that takes as long as the store is large; whoever asks for it waits for it."""


@dataclass(frozen=True, slots=True)
class Need:
    """What an operation asks of its caller. `write`: it counts as a write; `seconds` None: a stream, which may last."""

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
"""Operations of the API by their ids, which are the verbs. What is not here is not served."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a request must bring: a right, JSON where it is for the API; `route` is what figures are told by.

    `right` None: anybody may come. `page`: it is one of the web pages, so a form may be sent, and a browser kept it.
    """

    route: str
    right: Right | None
    write: bool = False
    seconds: float | None = SECONDS
    page: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is anything at that path for that method."""
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
    """What is asked of every request there can be; `public` are the pages that need no token, folders with a slash."""

    known: tuple[_Known, ...]
    public: tuple[str, ...]

    def find(self, method: str, path: str) -> Rule:
        """The rule of a request. Where there is no such path, one must still be let in to be told so."""
        for each in self.known:
            if each.method == method and each.shape.match(path):
                return each.rule
        writes = method not in SAFE
        if _is_under(path, MCP):
            return Rule(MCP, Right.READ, seconds=None)
        if _is_under(path, API) or path == "/metrics":
            return Rule(UNKNOWN, Right.READ, writes)
        if any(path == each or (each.endswith("/") and path.startswith(each)) for each in self.public):
            return Rule("public", None, page=True)
        if path == LOGOUT:
            return Rule("page", Right.READ, page=True)
        seconds = LONG if path in LONG_PAGES else SECONDS
        return Rule("page", Right.WRITE if writes else Right.READ, writes, seconds, page=True)


PUBLIC = ("/login", "/static/", "/favicon.ico")
LOGOUT = "/logout"
"""Whoever may only read may leave, too."""
LONG_PAGES = frozenset({"/inbox/source", "/inbox/undo", "/health/problems"})
"""What a person may ask of thousands of memories at once."""


def rules_of(app: FastAPI, public: Sequence[str] = PUBLIC) -> Rules:
    """The rules of a server's own routes; one without an entry in the table cannot be served."""
    return Rules(tuple(_known(app)), tuple(public))


def _known(app: FastAPI) -> Iterable[_Known]:
    for route in api_routes(app):
        need = NEEDS[operation_of(route)]
        for method in sorted(route.methods or ()):
            yield _Known(route.path_regex, method, Rule(route.path, need.right, need.write, need.seconds))


def api_routes(app: FastAPI) -> list[APIRoute]:
    """Every operation of the API."""
    return list(_operations(app.routes))


def _operations(routes: Iterable[BaseRoute]) -> Iterable[APIRoute]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        if isinstance(route, APIRoute):
            yield route
        elif inside is not None:
            yield from _operations(inside.routes)


def operation_of(route: APIRoute) -> str:
    """The verb a route stands for."""
    return route.operation_id or route.name


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
