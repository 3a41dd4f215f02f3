"""Every page in one table: its path, the right it needs, and its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from lamina.access import Right, ServedMemory
from lamina.errors import LaminaError
from lamina.web import (
    atom_page,
    browse_page,
    graph_page,
    health_page,
    inbox_page,
    recall_page,
    sign_in_page,
    timeline_page,
)
from lamina.web.error_page import show_error
from lamina.web.page_request import PageRequest
from lamina.web.template_environment import WEB_FOLDER

PageHandler = Callable[[PageRequest], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page or a fragment of one. `right`: None if no token is needed."""

    path: str
    handler: PageHandler
    right: Right | None = Right.READ
    method: Literal["GET", "POST"] = "GET"


def _action(path: str, handler: PageHandler) -> PageRoute:
    return PageRoute(path, handler, Right.WRITE, "POST")


PAGES: tuple[PageRoute, ...] = (
    PageRoute("/", recall_page.show_home),
    PageRoute("/recall", recall_page.show_answer),
    _action("/recall/feedback", recall_page.give_feedback),
    _action("/remember", recall_page.remember_statement),
    PageRoute("/inbox", inbox_page.show_inbox),
    _action("/inbox/decide", inbox_page.decide_items),
    _action("/inbox/source", inbox_page.decide_source),
    _action("/inbox/undo", inbox_page.undo_decisions),
    PageRoute("/atom/{id}", atom_page.show_atom),
    PageRoute("/atom/{id}/diff", atom_page.show_diff),
    _action("/atom/{id}/do", atom_page.apply_verb),
    _action("/atom/{id}/undo", atom_page.undo_on_atom),
    _action("/undo", timeline_page.undo_commits),
    PageRoute("/browse", browse_page.show_browse),
    PageRoute("/graph/{id}", graph_page.show_graph),
    PageRoute("/graph/{id}/near", graph_page.graph_data),
    PageRoute("/timeline", timeline_page.show_timeline),
    PageRoute("/timeline/fresh", timeline_page.show_new_events),
    PageRoute("/health", health_page.show_health),
    PageRoute("/health/problems", health_page.show_problems),
    PageRoute("/health/fading", health_page.retention_data),
    PageRoute("/login", sign_in_page.show_sign_in, None),
    PageRoute("/login", sign_in_page.sign_in, None, "POST"),
    PageRoute("/logout", sign_in_page.sign_out, None, "POST"),
)


def make_pages(served_memory: ServedMemory) -> APIRouter:
    """Return the routes of the web page; mount them behind the security middleware, which sets the caller."""
    router = APIRouter()
    for page in PAGES:
        methods = [page.method]
        router.add_route(page.path, _make_endpoint(page, served_memory), methods=methods, include_in_schema=False)
    router.add_route("/static/{path:path}", _make_static_endpoint(), methods=["GET"], include_in_schema=False)
    router.add_route("/favicon.ico", _make_static_endpoint("icon.svg"), methods=["GET"], include_in_schema=False)
    return router


def _make_endpoint(page: PageRoute, served_memory: ServedMemory) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        form = await request.form() if page.method == "POST" else FormData()
        caller = request.scope.get("state", {}).get("caller")
        return await run_in_threadpool(_respond, page, PageRequest(request, served_memory, caller, form))

    return endpoint


def _respond(page: PageRoute, request: PageRequest) -> Response:
    """Return a page's response; an error of lamina is shown as a page as well."""
    if page.right is not None and request.caller is None:
        return sign_in_page.redirect_to_sign_in(request)
    try:
        if page.right is not None and request.caller is not None:
            request.caller.require(page.right)
        if page.method == "POST" and request.caller is not None:
            request.check_csrf_token()
        return page.handler(request)
    except LaminaError as error:
        return show_error(request, error)


def _make_static_endpoint(only: str | None = None) -> Endpoint:
    """Return an endpoint for static files; `only`: always this file."""
    files = StaticFiles(directory=WEB_FOLDER / "static")

    async def endpoint(request: Request) -> Response:
        path = only or request.path_params["path"]
        if path.startswith("."):
            raise HTTPException(404)
        response = await files.get_response(path, request.scope)
        response.headers["Cache-Control"] = "no-cache"
        return response

    return endpoint
