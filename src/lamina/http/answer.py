"""Sends HTTP responses: with security headers, one per request, and recorded for an idempotency key."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Message, Send

from lamina.http.headers import Headers, secured
from lamina.http.problem import MEDIA_TYPE, Problem
from lamina.http.replies import REPLAYED, Reply


class Answer:
    """Sends one response. After a problem was sent instead, later messages of the app are dropped."""

    def __init__(self, send: Send, page: Callable[[Problem], bytes] | None = None) -> None:
        self._send = send
        self._page = page
        """Renders a problem as a page for a person; None where a program made the request."""
        self._over = False
        self.status = 0
        self.cached = False
        """Whether a browser may cache the response: only for content that is not from the memory."""

    async def __call__(self, message: Message) -> None:
        if self._over:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": secured(list(message.get("headers", [])), cached=self.cached)}
        await self._send(message)

    async def instead(self, problem: Problem) -> None:
        """Send a problem if no response has started; everything sent afterwards is dropped."""
        if not self.status:
            self.cached = False
            headers: Headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
            if self._page is not None:
                await self.page(problem.status, headers, self._page(problem))
            else:
                await self._told(problem.status, MEDIA_TYPE.encode(), headers, problem.body())
        self._over = True

    async def page(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an HTML page."""
        await self._told(status, b"text/html; charset=utf-8", headers, body)

    async def _told(self, status: int, media_type: bytes, headers: Headers, body: bytes) -> None:
        response_headers = [(b"content-type", media_type), (b"content-length", b"%d" % len(body)), *headers]
        await self({"type": "http.response.start", "status": status, "headers": response_headers})
        await self({"type": "http.response.body", "body": body})

    async def again(self, reply: Reply) -> None:
        """Send a stored reply again."""
        await self({"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, REPLAYED]})
        await self({"type": "http.response.body", "body": bytes(reply.body)})


class Recorder:
    """Records a response in a stored reply while it is sent, also if the client no longer waits for it."""

    def __init__(self, send: Send, reply: Reply) -> None:
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
