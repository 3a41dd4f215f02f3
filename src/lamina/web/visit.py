"""One request of a browser: who asks, the seat they get, what they sent, and the page they are given."""

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
"""No list on a page is longer."""


@dataclass(frozen=True)
class Visit:
    """A request with its seat. `form` is empty where nothing was sent."""

    request: Request
    house: House
    caller: Caller | None
    form: FormData
    right: Right = Right.READ

    @cached_property
    def memory(self) -> Memory:
        """The memory as this caller may use it."""
        if self.caller is None:
            raise Refused("nobody is signed in; sign in with a token")
        return self.house.seat(self.caller)

    @property
    def asked(self) -> QueryParams:
        return self.request.query_params

    @property
    def is_fragment(self) -> bool:
        """Whether htmx asks for a part of a page; a page it takes out of its history is wanted whole."""
        headers = self.request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    @property
    def may_write(self) -> bool:
        return self.caller is not None and self.caller.may(Right.WRITE)

    @property
    def may_decide(self) -> bool:
        """Whether this is a person: nobody else says what counts."""
        return self.may_write and self.caller is not None and self.caller.origin is Origin.HUMAN

    @property
    def csrf(self) -> str:
        """The word that proves a form came from our own page; empty where no cookie was involved."""
        return str(self.request.scope.get("state", {}).get("csrf") or "")

    def check(self) -> None:
        """Refused where a form did not come from our own page."""
        given = self.request.headers.get("x-csrf-token") or self.sent("csrf")
        if self.csrf and not compare_digest(given.encode(), self.csrf.encode()):
            raise Refused("this form is not from this page, or its session has ended; reload the page and try again")

    def sent(self, name: str, default: str = "") -> str:
        """One field of the form, without the line ends browsers add."""
        found = self.form.get(name, default)
        return found.replace("\r\n", "\n") if isinstance(found, str) else default

    def sent_all(self, name: str) -> list[str]:
        """Every value of a field of the form."""
        return [each for each in self.form.getlist(name) if isinstance(each, str)]

    def number(self, name: str, default: int, most: int = MOST) -> int:
        """A whole number of the address."""
        given = self.asked.get(name) or str(default)
        if not given.isascii() or not given.isdigit() or not 0 <= int(given[:9]) <= most:
            raise InvalidInput(f"{name} is a whole number up to {most}, not {given[:40]!r}")
        return int(given[:9])

    def page(
        self, template: str, told: Mapping[str, object], *, part: str | None = None, status: int = 200
    ) -> Response:
        """A page; or its `part` where htmx asks for no more."""
        chosen = part if part is not None and self.is_fragment else template
        around: dict[str, object] = {"visit": self, "here": self.request.url.path, "inbox_count": None}
        if chosen == template and self.caller is not None:
            around["inbox_count"] = told["left"] if "left" in told else self.memory.review.count()
        return HTMLResponse(printed(chosen, {**around, **told}), status)
