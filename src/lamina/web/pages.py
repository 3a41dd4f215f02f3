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

from lamina.access import House, Right
from lamina.errors import LaminaError
from lamina.web import atom, browse, graph, health, inbox, recall, sign_in, timeline
from lamina.web.paper import HERE
from lamina.web.trouble import trouble
from lamina.web.visit import Visit

Show = Callable[[Visit], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page or a fragment of one. `right`: None if no token is needed."""

    path: str
    show: Show
    right: Right | None = Right.READ
    method: Literal["GET", "POST"] = "GET"


def _does(path: str, show: Show) -> Page:
    return Page(path, show, Right.WRITE, "POST")


PAGES: tuple[Page, ...] = (
    Page("/", recall.home),
    Page("/recall", recall.answer),
    _does("/recall/feedback", recall.feedback),
    _does("/remember", recall.remember),
    Page("/inbox", inbox.inbox),
    _does("/inbox/decide", inbox.decide),
    _does("/inbox/source", inbox.decide_source),
    _does("/inbox/undo", inbox.undo),
    Page("/atom/{id}", atom.atom),
    Page("/atom/{id}/diff", atom.diff),
    _does("/atom/{id}/do", atom.do),
    _does("/atom/{id}/undo", atom.undo),
    _does("/undo", timeline.undo),
    Page("/browse", browse.browse),
    Page("/graph/{id}", graph.graph),
    Page("/graph/{id}/near", graph.near),
    Page("/timeline", timeline.timeline),
    Page("/timeline/fresh", timeline.fresh),
    Page("/health", health.health),
    Page("/health/problems", health.problems),
    Page("/health/fading", health.fading),
    Page("/login", sign_in.ask, None),
    Page("/login", sign_in.sign_in, None, "POST"),
    Page("/logout", sign_in.sign_out, None, "POST"),
)


def make_pages(house: House) -> APIRouter:
    """Return the routes of the web page; mount them behind the security middleware, which sets the caller."""
    router = APIRouter()
    for page in PAGES:
        methods = [page.method]
        router.add_route(page.path, _shown(page, house), methods=methods, include_in_schema=False)
    router.add_route("/static/{path:path}", _static(), methods=["GET"], include_in_schema=False)
    router.add_route("/favicon.ico", _static("icon.svg"), methods=["GET"], include_in_schema=False)
    return router


def _shown(page: Page, house: House) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        form = await request.form() if page.method == "POST" else FormData()
        caller = request.scope.get("state", {}).get("caller")
        return await run_in_threadpool(_answered, page, Visit(request, house, caller, form))

    return endpoint


def _answered(page: Page, visit: Visit) -> Response:
    """Return a page's response; an error of lamina is shown as a page as well."""
    if page.right is not None and visit.caller is None:
        return sign_in.first(visit)
    try:
        if page.right is not None and visit.caller is not None:
            visit.caller.must(page.right)
        if page.method == "POST" and visit.caller is not None:
            visit.check()
        return page.show(visit)
    except LaminaError as error:
        return trouble(visit, error)


def _static(only: str | None = None) -> Endpoint:
    """Return an endpoint for static files; `only`: always this file."""
    files = StaticFiles(directory=HERE / "static")

    async def endpoint(request: Request) -> Response:
        path = only or request.path_params["path"]
        if path.startswith("."):
            raise HTTPException(404)
        response = await files.get_response(path, request.scope)
        response.headers["Cache-Control"] = "no-cache"
        return response

    return endpoint
