"""The security middleware: checks every request before the app sees it.

It checks Host and Origin against cross-site requests, the caller's token or session, the right the operation needs, the
size and type of the body, and the rate limit. Then it forwards the request with its caller, under a timeout.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send

from lamina.access import Caller, House
from lamina.access.budget import MINUTE
from lamina.errors import LaminaError
from lamina.http import threads
from lamina.http.answer import Answer, Recorder
from lamina.http.asked import Asked
from lamina.http.body import Gone, replayed, whole_body
from lamina.http.doors import Doors
from lamina.http.meters import Meters
from lamina.http.problem import FAILED, Problem, problem_of
from lamina.http.replies import HEADER as KEY
from lamina.http.replies import Replies, Reply, asked_of
from lamina.http.rights import ERASE, LONG, SAFE, Rule, Rules
from lamina.http.session import HEADER as CSRF_TOKEN_HEADER
from lamina.http.session import is_word_of, session_in, word_in_form, word_of
from lamina.http.stop import forbidden

logger = logging.getLogger("lamina.http")

NOT_HERE = Problem(
    403,
    "UnknownHost",
    "unknown Host; use the address that the server printed at its start, or add the name to `serve_hosts`",
)
NOT_FROM_THERE = Problem(403, "UnknownOrigin", "requests from pages of other sites are not allowed")
AMBIGUOUS = Problem(
    400, "BadRequest", "the request head is ambiguous; send each header once, and no control characters in the path"
)
SECRET_IN_ADDRESS = Problem(
    400, "SecretInAddress", "the URL contains a token, and URLs are logged; send it as `Authorization: Bearer TOKEN`"
)
WHO = Problem(
    401,
    "Unauthenticated",
    "no valid token; send `Authorization: Bearer TOKEN`, create one with `lamina token create`",
    headers={"WWW-Authenticate": 'Bearer realm="lamina"'},
)
NOT_JSON = Problem(415, "NotJson", "the body must be JSON; send `Content-Type: application/json`")
NO_WORD = Problem(403, "NoCsrfWord", "the CSRF token is missing or out of date; reload the page and try again")
TOO_LONG = Problem(
    504, "TookTooLong", "the request timed out; it may still be completed, so check before you repeat it"
)
LONG_AT_ONCE = 4
"""Slow requests that run at the same time, so that they cannot occupy every thread."""
LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lamina</title>
<meta http-equiv="refresh" content="0; url={to}"></head><body><p><a href="{to}">Sign in</a></p></body></html>
"""


class Denied(Exception):
    """A request that is not admitted, with the problem to send."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.name)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An admitted request; `session` is set if it was authenticated by a cookie."""

    asked: Asked
    rule: Rule
    caller: Caller | None
    session: str | None

    @property
    def principal(self) -> str:
        return f"{self.caller.name}/{self.caller.token}" if self.caller else ""


class Gate:
    """ASGI middleware in front of API, MCP and web pages."""

    def __init__(
        self,
        app: ASGIApp,
        house: House,
        rules: Rules,
        doors: Doors,
        meters: Meters,
        at_end: Callable[[], None] = lambda: None,
        page: Callable[[Problem, Scope], bytes] | None = None,
    ) -> None:
        self._app, self._house, self._rules, self._doors, self._meters = app, house, rules, doors, meters
        self._replies, self._at_end, self._page = Replies(), at_end, page
        self._late: set[asyncio.Task[None]] = set()
        self._long, self._warned = asyncio.Semaphore(LONG_AT_ONCE), dict[tuple[str, bool], float]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await self._app(scope, receive, send)
            case "http":
                await self._http(scope, receive, send)
            case "websocket":
                await send({"type": "websocket.close", "code": 1008})

    def end(self) -> None:
        """End every stream because the server is shutting down."""
        self._at_end()

    async def settle(self, seconds: float) -> None:
        """Wait for requests that outlived their timeout, before the memory is closed."""
        if self._late:
            await asyncio.wait(self._late, timeout=seconds)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        head, started = Asked.of(scope), time.perf_counter()
        page = self._told_as_page(head, scope)
        sender = Answer(send, page)
        rule, caller_scope = Rule("refused", None), ""
        try:
            request = self._admit(head)
            rule, caller_scope = request.rule, request.caller.scope if request.caller else ""
            sender.cached = rule.page and rule.right is None
            body = await self._body(request, receive)
            scope.setdefault("state", {}).update(
                caller=request.caller, csrf=word_of(request.session) if request.session else "", page=page
            )
            await self._hand_on(request, body, scope, receive, sender)
        except Denied as denied:
            self._meters.refused(denied.problem.name)
            await self._refuse(head, denied.problem, sender)
        except Gone:
            return
        except LaminaError as error:  # without a readable token file no request is admitted
            await sender.instead(problem_of(error))
        self._meters.answered(caller_scope, rule.route, head.method, sender.status, time.perf_counter() - started)

    def _told_as_page(self, asked: Asked, scope: Scope) -> Callable[[Problem], bytes] | None:
        """Return how to render a problem as a page if a browser navigates to one; None for a program."""
        page = self._page
        if page is None or not asked.shows_page or not self._rules.find(asked.method, asked.path).page:
            return None
        return lambda problem: page(problem, scope)

    def _admit(self, asked: Asked) -> _Entry:
        """Check everything that the request head shows; raise RequestDenied if it is not admitted."""
        self._check_address(asked)
        rule = self._rules.find(asked.method, asked.path)
        caller, session = self._caller(asked, rule)
        request = _Entry(asked, rule, caller, session)
        self._check_right(request)
        if rule.write and rule.is_known and not rule.page and asked.content_type != "application/json":
            raise Denied(NOT_JSON)
        self._check_budget(request)
        return request

    def _check_address(self, asked: Asked) -> None:
        hosts, origins = asked.every(b"host"), asked.every(b"origin")
        if not asked.is_relative or len(hosts) != 1:
            raise Denied(NOT_HERE)
        if asked.is_local:
            # No browser can connect to a Unix socket, so a request with an Origin is not legitimate.
            if origins:
                raise Denied(NOT_FROM_THERE)
        elif asked.port is None or not self._doors.knows_host(hosts[0], asked.address, asked.port):
            raise Denied(NOT_HERE)
        elif not all(self._doors.knows_origin(origin, asked.address, asked.port) for origin in origins):
            raise Denied(NOT_FROM_THERE)
        if not asked.is_plain:
            raise Denied(AMBIGUOUS)
        if asked.tells_secret:
            raise Denied(SECRET_IN_ADDRESS)

    def _caller(self, asked: Asked, rule: Rule) -> tuple[Caller | None, str | None]:
        if asked.is_local:
            return self._house.local(), None
        if asked.every(b"authorization"):
            kind, _, secret = asked.one(b"authorization").partition(" ")
            caller = self._house.tokens.caller(secret.strip()) if kind.lower() == "bearer" else None
            if caller is None:
                raise Denied(WHO)
            return caller, None
        session = session_in(asked.one(b"cookie"))
        caller = self._house.tokens.caller(session) if session else None
        if caller is None and rule.right is not None:
            raise Denied(WHO)
        return caller, session if caller else None

    def _check_right(self, entry: _Entry) -> None:
        right, caller = entry.rule.right, entry.caller
        if right is not None and caller is not None and not caller.may(right):
            raise Denied(forbidden(caller, right))

    def _check_budget(self, entry: _Entry) -> None:
        if entry.caller is None or (entry.rule.page and entry.rule.right is None):
            return
        wait = self._house.budgets.take(entry.principal, write=entry.rule.write)
        if wait:
            kind = "writes" if entry.rule.write else "reads"
            self._warn(entry, kind)
            seconds = max(1, math.ceil(wait))
            detail = f"too many {kind} in a minute; try again in {seconds} s"
            raise Denied(Problem(429, "TooMany", detail, {"seconds": seconds}, {"Retry-After": str(seconds)}))

    def _warn(self, entry: _Entry, kind: str) -> None:
        """Log a rate limit once a minute, so that a flood of requests does not flood the log."""
        key, now = (entry.principal, entry.rule.write), time.monotonic()
        if now - self._warned.get(key, -MINUTE) >= MINUTE:
            self._warned[key] = now
            logger.warning("%s exceeded the limit of %s per minute", entry.principal.partition("/")[0], kind)

    async def _body(self, entry: _Entry, receive: Receive) -> bytes:
        head = entry.asked
        body = await whole_body(receive, head.one(b"content-length"))
        if isinstance(body, Problem):
            raise Denied(body)
        if entry.session and entry.rule.right is not None and head.method not in SAFE:
            csrf_token = head.one(CSRF_TOKEN_HEADER) or word_in_form(body, head.content_type)
            if not is_word_of(entry.session, csrf_token):
                raise Denied(NO_WORD)
        return body

    async def _hand_on(self, entry: _Entry, body: bytes, scope: Scope, receive: Receive, answer: Answer) -> None:
        """Forward the request to the app, once per idempotency key and within its timeout."""
        key = entry.asked.one(KEY)
        reply = self._reply(entry, key, body) if key and entry.rule.write and entry.rule.is_known else None
        if reply is not None and reply.status:
            await answer.again(reply)
            return
        work = self._work(entry, scope, replayed(body, receive), answer, key, reply)
        if entry.rule.seconds is None:
            await work
            return
        await self._timed(asyncio.create_task(work), entry.rule, answer)

    def _reply(self, entry: _Entry, key: str, body: bytes) -> Reply:
        head = entry.asked
        digest = asked_of(head.method, head.path, head.query, body)
        reply = self._replies.begin(entry.principal, key, digest)
        if isinstance(reply, Problem):
            raise Denied(reply)
        return reply

    async def _timed(self, task: asyncio.Task[None], rule: Rule, answer: Answer) -> None:
        """Send 504 after the timeout; a handler in a thread cannot be stopped, so it continues without its client."""
        try:
            done, _ = await asyncio.wait({task}, timeout=rule.seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            task.result()
            return
        remove_thread = threads.lend()
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        task.add_done_callback(lambda _: remove_thread())
        logger.warning("%s took more than %g s", rule.route, rule.seconds)
        await answer.instead(TOO_LONG)

    async def _work(
        self, entry: _Entry, scope: Scope, receive: Receive, answer: Answer, key: str, reply: Reply | None
    ) -> None:
        send: Send = Recorder(answer, reply) if reply is not None else answer
        try:
            async with self._long_one() if entry.rule.seconds == LONG else nullcontext():
                await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the outermost handler: errors are logged without their message
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.error("%s failed: %s\n%s", entry.rule.route, type(error).__name__, frames)
            await answer.instead(FAILED)
        finally:
            if entry.rule.route == ERASE:
                self._replies.forget(but=reply)
            if reply is not None:
                self._replies.done(entry.principal, key, reply)

    @asynccontextmanager
    async def _long_one(self) -> AsyncIterator[None]:
        """Limit how many slow requests run at the same time, each with a temporary extra thread."""
        async with self._long:
            remove_thread = threads.lend()
            try:
                yield
            finally:
                remove_thread()

    async def _refuse(self, asked: Asked, problem: Problem, answer: Answer) -> None:
        """Redirect a browser without a session to the sign-in page; send everyone else the problem."""
        if problem is not WHO or not self._rules.find(asked.method, asked.path).page:
            await answer.instead(problem)
            return
        login_url = f"/login?next={quote(asked.place, safe='')}" if asked.place else "/login"
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        if asked.every(b"hx-request"):
            await answer.page(problem.status, [*headers, (b"hx-redirect", login_url.encode())], b"")
        elif asked.wants_page:
            await answer.page(problem.status, headers, LOGIN.format(to=login_url).encode())
        else:
            await answer.instead(problem)
