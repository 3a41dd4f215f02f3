"""Sends HTTP responses: with security headers, one per request, and recorded for an idempotency key."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Message, Send

from lamina.http.idempotency import REPLAYED_HEADER, RunningReply
from lamina.http.problem import MEDIA_TYPE, ProblemDetails
from lamina.store.access import StoredReply

Headers = list[tuple[bytes, bytes]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Same-origin referrers stay allowed: without them, browsers send forms of this site with `Origin: null`."""
SECURITY_HEADERS: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
NO_STORE: Headers = [(b"cache-control", b"no-store")]
_REMOVED_NAMES = frozenset({b"access-control-allow-origin", b"access-control-allow-credentials", b"server"})


def add_security_headers(headers: Headers, *, is_cacheable: bool) -> Headers:
    """Return the headers with the security headers, which take precedence; no-store unless `is_cacheable`."""
    added = [*SECURITY_HEADERS, *([] if is_cacheable else NO_STORE)]
    names = {name for name, _ in added} | _REMOVED_NAMES
    return [*((name, value) for name, value in headers if name.lower() not in names), *added]


class ResponseSender:
    """Sends one response. After a problem was sent instead, later messages of the app are dropped."""

    def __init__(self, send: Send, render_page: Callable[[ProblemDetails], bytes] | None = None) -> None:
        self._send = send
        self._render_page = render_page
        """Renders a problem as a page for a person; None where a program made the request."""
        self._is_closed = False
        self.status = 0
        self.is_cacheable = False
        """Whether a browser may cache the response: only for content that is not from the memory."""

    async def __call__(self, message: Message) -> None:
        if self._is_closed:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {
                **message,
                "headers": add_security_headers(list(message.get("headers", [])), is_cacheable=self.is_cacheable),
            }
        await self._send(message)

    async def send_problem(self, problem: ProblemDetails) -> None:
        """Send a problem if no response has started; everything sent afterwards is dropped."""
        if not self.status:
            self.is_cacheable = False
            headers: Headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
            if self._render_page is not None:
                await self.send_page(problem.status, headers, self._render_page(problem))
            else:
                await self._send_body(problem.status, MEDIA_TYPE.encode(), headers, problem.body())
        self._is_closed = True

    async def send_page(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an HTML page."""
        await self._send_body(status, b"text/html; charset=utf-8", headers, body)

    async def _send_body(self, status: int, media_type: bytes, headers: Headers, body: bytes) -> None:
        response_headers = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *headers]
        await self({"type": "http.response.start", "status": status, "headers": response_headers})
        await self({"type": "http.response.body", "body": body})

    async def send_stored(self, reply: StoredReply) -> None:
        """Send a stored reply again."""
        await self(
            {"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, REPLAYED_HEADER]}
        )
        await self({"type": "http.response.body", "body": reply.body})


class ReplyRecorder:
    """Records a response in a running reply while it is sent, also if the client no longer waits for it."""

    def __init__(self, send: Send, reply: RunningReply) -> None:
        self._send, self._reply = send, reply
        self._status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._reply.headers = list(message.get("headers", []))
        elif message["type"] == "http.response.body":
            self._reply.body += message.get("body", b"")
            if not message.get("more_body", False):
                self._reply.status = self._status
        await self._send(message)
