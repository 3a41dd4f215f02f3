"""One request of a browser: the caller, its memory, the form, and the rendered page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from secrets import compare_digest

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from lamina.access import Principal, Right, ServedMemory
from lamina.atom.provenance import Origin
from lamina.errors import InvalidInput, Refused
from lamina.memory import Memory
from lamina.store.base import CommitResult
from lamina.web.template_environment import render_template

MAX_ROWS = 200
"""The maximum of a number in the query by default."""


@dataclass(frozen=True)
class PageRequest:
    """A browser request with its caller. `form` is empty for a GET."""

    http_request: Request
    served_memory: ServedMemory
    caller: Principal | None
    form: FormData
    right: Right = Right.READ

    @cached_property
    def memory(self) -> Memory:
        """The memory as this caller may use it."""
        if self.caller is None:
            raise Refused("not signed in; sign in with a token")
        return self.served_memory.memory_for(self.caller)

    @property
    def query(self) -> QueryParams:
        """The query parameters."""
        return self.http_request.query_params

    @property
    def is_fragment(self) -> bool:
        """Return whether htmx requests a fragment; a page restored from its history is requested whole."""
        headers = self.http_request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    @property
    def may_write(self) -> bool:
        """Return whether the caller has the right to write."""
        return self.caller is not None and self.caller.may(Right.WRITE)

    @property
    def may_decide(self) -> bool:
        """Return whether the caller is a person; only a person decides on pending items."""
        return self.may_write and self.caller is not None and self.caller.origin is Origin.HUMAN

    @property
    def csrf(self) -> str:
        """The CSRF token that forms must send back; empty if the caller has no session cookie."""
        return str(self.http_request.scope.get("state", {}).get("csrf") or "")

    def check_csrf_token(self) -> None:
        """Raise Refused if the form does not carry the session's CSRF token."""
        sent_token = self.http_request.headers.get("x-csrf-token") or self.form_value("csrf")
        if self.csrf and not compare_digest(sent_token.encode(), self.csrf.encode()):
            raise Refused("the form is not from this page, or the session has ended; reload the page and try again")

    def form_value(self, name: str, default: str = "") -> str:
        """Return one field of the form, with plain line ends."""
        value = self.form.get(name, default)
        return value.replace("\r\n", "\n") if isinstance(value, str) else default

    def form_values(self, name: str) -> list[str]:
        """Return every value of a form field."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]

    def undo_commits(self, *, cascade: bool = False) -> list[CommitResult]:
        """Undo the commits that the form names, in its order; `cascade` also undoes what was built on them."""
        return [done for commit in self.form_values("commit") for done in self.memory.undo(commit, cascade=cascade)]

    def int_parameter(self, name: str, default: int, limit: int = MAX_ROWS) -> int:
        """Return a whole number from the query; InvalidInput if it is not one or is above `limit`."""
        text = self.query.get(name) or str(default)
        if not text.isascii() or not text.isdigit() or not 0 <= int(text[:9]) <= limit:
            raise InvalidInput(f"{name} must be a whole number up to {limit}, not {text[:40]!r}")
        return int(text[:9])

    def render(
        self, template: str, context: Mapping[str, object], *, fragment: str | None = None, status: int = 200
    ) -> Response:
        """Render a template, or `fragment` if htmx requests only that."""
        chosen_template = fragment if fragment is not None and self.is_fragment else template
        shared: dict[str, object] = {"request": self, "current_path": self.http_request.url.path, "inbox_count": None}
        if chosen_template == template and self.caller is not None:
            shared["inbox_count"] = (
                context["pending_count"] if "pending_count" in context else self.memory.review.count()
            )
        return HTMLResponse(render_template(chosen_template, {**shared, **context}), status)
