"""One request of a browser: the caller, its memory, the form, and the rendered page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from secrets import compare_digest

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from lamina.access import Caller, House, Right
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput, Refused
from lamina.memory import Memory
from lamina.web.paper import printed

MOST = 200
"""The maximum of a number in the query by default."""


@dataclass(frozen=True)
class Visit:
    """A browser request with its caller. `form` is empty for a GET."""

    request: Request
    house: House
    caller: Caller | None
    form: FormData
    right: Right = Right.READ

    @cached_property
    def memory(self) -> Memory:
        """The memory as this caller may use it."""
        if self.caller is None:
            raise Refused("not signed in; sign in with a token")
        return self.house.seat(self.caller)

    @property
    def asked(self) -> QueryParams:
        """The query parameters."""
        return self.request.query_params

    @property
    def is_fragment(self) -> bool:
        """Whether htmx requests a fragment; a page restored from its history is requested whole."""
        headers = self.request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    @property
    def may_write(self) -> bool:
        """Whether the caller has the right to write."""
        return self.caller is not None and self.caller.may(Right.WRITE)

    @property
    def may_decide(self) -> bool:
        """Whether the caller is a person; only a person decides on pending items."""
        return self.may_write and self.caller is not None and self.caller.origin is Origin.HUMAN

    @property
    def csrf(self) -> str:
        """The CSRF token that forms must send back; empty if the caller has no session cookie."""
        return str(self.request.scope.get("state", {}).get("csrf") or "")

    def check(self) -> None:
        """Raise Refused if the form does not carry the session's CSRF token."""
        sent_token = self.request.headers.get("x-csrf-token") or self.sent("csrf")
        if self.csrf and not compare_digest(sent_token.encode(), self.csrf.encode()):
            raise Refused("the form is not from this page, or the session has ended; reload the page and try again")

    def sent(self, name: str, default: str = "") -> str:
        """Return one field of the form, with plain line ends."""
        value = self.form.get(name, default)
        return value.replace("\r\n", "\n") if isinstance(value, str) else default

    def sent_all(self, name: str) -> list[str]:
        """Return every value of a form field."""
        return [value for value in self.form.getlist(name) if isinstance(value, str)]

    def number(self, name: str, default: int, most: int = MOST) -> int:
        """Return a whole number from the query; InvalidInput if it is not one or is above `limit`."""
        text = self.asked.get(name) or str(default)
        if not text.isascii() or not text.isdigit() or not 0 <= int(text[:9]) <= most:
            raise InvalidInput(f"{name} must be a whole number up to {most}, not {text[:40]!r}")
        return int(text[:9])

    def page(
        self, template: str, told: Mapping[str, object], *, part: str | None = None, status: int = 200
    ) -> Response:
        """Render a template, or `fragment` if htmx requests only that."""
        chosen_template = part if part is not None and self.is_fragment else template
        shared: dict[str, object] = {"request": self, "current_path": self.request.url.path, "inbox_count": None}
        if chosen_template == template and self.caller is not None:
            shared["inbox_count"] = told["pending_count"] if "pending_count" in told else self.memory.review.count()
        return HTMLResponse(printed(chosen_template, {**shared, **told}), status)
