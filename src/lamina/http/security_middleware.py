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

from lamina.access import Principal, ServedMemory
from lamina.errors import LaminaError
from lamina.http import thread_limit
from lamina.http.allowed_hosts import AllowedHosts
from lamina.http.browser_session import CSRF_HEADER as CSRF_TOKEN_HEADER
from lamina.http.browser_session import csrf_token_for, is_csrf_token_of, parse_form_csrf_token, parse_session_cookie
from lamina.http.idempotency import KEY_HEADER as KEY
from lamina.http.idempotency import IdempotencyKeys, RunningReply, digest_request
from lamina.http.operation_policies import SAFE_METHODS, SLOW_SECONDS, RequestRule, RequestRules
from lamina.http.problem import INTERNAL_ERROR, ProblemDetails, ProblemError, forbidden_problem, problem_from_error
from lamina.http.request_body import MAX_SECONDS, ClientDisconnected, read_body, replay_body
from lamina.http.request_head import RequestHead
from lamina.http.request_metrics import RequestMetrics
from lamina.http.response_sender import ReplyRecorder, ResponseSender
from lamina.store.access import StoredReply

logger = logging.getLogger("lamina.http")

UNKNOWN_HOST = ProblemDetails(
    403,
    "UnknownHost",
    "unknown Host; use the address that the server printed at its start, or add the name to `serve_hosts`",
)
UNKNOWN_ORIGIN = ProblemDetails(403, "UnknownOrigin", "requests from pages of other sites are not allowed")
AMBIGUOUS_HEAD = ProblemDetails(
    400, "BadRequest", "the request head is ambiguous; send each header once, and no control characters in the path"
)
SECRET_IN_URL = ProblemDetails(
    400, "SecretInAddress", "the URL contains a token, and URLs are logged; send it as `Authorization: Bearer TOKEN`"
)
UNAUTHENTICATED = ProblemDetails(
    401,
    "Unauthenticated",
    "no valid token; send `Authorization: Bearer TOKEN`, create one with `lamina token create`",
    headers={"WWW-Authenticate": 'Bearer realm="lamina"'},
)
NOT_JSON = ProblemDetails(415, "NotJson", "the body must be JSON; send `Content-Type: application/json`")
NO_CSRF_TOKEN = ProblemDetails(
    403, "NoCsrfWord", "the CSRF token is missing or out of date; reload the page and try again"
)
TOOK_TOO_LONG = ProblemDetails(
    504, "TookTooLong", "the request timed out; it may still be completed, so check before you repeat it"
)
MAX_SLOW_REQUESTS = 4
LOG_SECONDS = 60.0
"""How often a rate limit of one principal is logged."""
"""Slow requests that run at the same time, so that they cannot occupy every thread."""
LOGIN_REDIRECT_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lamina</title>
<meta http-equiv="refresh" content="0; url={to}"></head><body><p><a href="{to}">Sign in</a></p></body></html>
"""


@dataclass(frozen=True, slots=True)
class _AdmittedRequest:
    """An admitted request; `session` is set if it was authenticated by a cookie."""

    head: RequestHead
    rule: RequestRule
    caller: Principal | None
    session: str | None

    @property
    def principal(self) -> str:
        return f"{self.caller.name}/{self.caller.token}" if self.caller else ""


class SecurityMiddleware:
    """ASGI middleware in front of API, MCP and web pages."""

    def __init__(
        self,
        app: ASGIApp,
        served_memory: ServedMemory,
        rules: RequestRules,
        allowed_hosts: AllowedHosts,
        metrics: RequestMetrics,
        on_close: Callable[[], None] = lambda: None,
        render_page: Callable[[ProblemDetails, Scope], bytes] | None = None,
        body_seconds: float = MAX_SECONDS,
    ) -> None:
        self.app, self._rules, self._metrics = app, rules, metrics
        self._served_memory, self._allowed_hosts, self._body_seconds = served_memory, allowed_hosts, body_seconds
        memory = served_memory.memory
        self._idempotency_keys = IdempotencyKeys(memory.engine.store.admin.access, memory.engine.clock.now)
        self._on_close, self._render_page = on_close, render_page
        self._late_tasks: set[asyncio.Task[None]] = set()
        self._slow_slots, self._last_warnings = asyncio.Semaphore(MAX_SLOW_REQUESTS), dict[tuple[str, bool], float]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await self.app(scope, receive, send)
            case "http":
                await self._handle_http(scope, receive, send)
            case "websocket":
                await send({"type": "websocket.close", "code": 1008})

    def close_streams(self) -> None:
        """End every stream because the server is shutting down."""
        self._on_close()

    async def wait_for_late_requests(self, seconds: float) -> None:
        """Wait for requests that outlived their timeout, before the memory is closed."""
        if self._late_tasks:
            await asyncio.wait(self._late_tasks, timeout=seconds)

    async def _handle_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        head, started = RequestHead.from_scope(scope), time.perf_counter()
        page = self._problem_renderer(head, scope)
        sender = ResponseSender(send, page)
        rule, caller_scope = RequestRule(None, route="refused"), ""
        try:
            request = self._admit(head)
            rule, caller_scope = request.rule, request.caller.scope if request.caller else ""
            sender.is_cacheable = rule.is_page and rule.right is None
            body = await self._read_body(request, receive)
            scope.setdefault("state", {}).update(
                caller=request.caller, csrf=csrf_token_for(request.session) if request.session else "", page=page
            )
            await self._forward(request, body, scope, receive, sender)
        except ProblemError as denied:
            self._metrics.record_refusal(denied.problem.name)
            await self._refuse(head, denied.problem, sender)
        except ClientDisconnected:
            return
        except LaminaError as error:  # without a readable token file no request is admitted
            await sender.send_problem(problem_from_error(error))
        self._metrics.record_request(
            caller_scope, rule.route, head.method, sender.status, time.perf_counter() - started
        )

    def _problem_renderer(self, head: RequestHead, scope: Scope) -> Callable[[ProblemDetails], bytes] | None:
        """Return how to render a problem as a page if a browser navigates to one; None for a program."""
        page = self._render_page
        if page is None or not head.is_page_navigation or not self._rules.find(head.method, head.path).is_page:
            return None
        return lambda problem: page(problem, scope)

    def _admit(self, head: RequestHead) -> _AdmittedRequest:
        """Check everything that the request head shows; raise ProblemError if it is not admitted."""
        self._check_host_and_origin(head)
        rule = self._rules.find(head.method, head.path)
        caller, session = self._authenticate(head, rule)
        request = _AdmittedRequest(head, rule, caller, session)
        self._check_right(request)
        if rule.is_write and rule.is_known and not rule.is_page and head.content_type != "application/json":
            raise ProblemError(NOT_JSON)
        self._check_rate_limit(request)
        return request

    def _check_host_and_origin(self, head: RequestHead) -> None:
        hosts, origins = head.header_values(b"host"), head.header_values(b"origin")
        if not head.is_relative or len(hosts) != 1:
            raise ProblemError(UNKNOWN_HOST)
        if head.is_local:
            # No browser can connect to a Unix socket, so a request with an Origin is not legitimate.
            if origins:
                raise ProblemError(UNKNOWN_ORIGIN)
        elif head.port is None or not self._allowed_hosts.allows_host(hosts[0], head.address, head.port):
            raise ProblemError(UNKNOWN_HOST)
        elif not all(self._allowed_hosts.allows_origin(origin, head.address, head.port) for origin in origins):
            raise ProblemError(UNKNOWN_ORIGIN)
        if not head.is_unambiguous:
            raise ProblemError(AMBIGUOUS_HEAD)
        if head.has_secret_in_url:
            raise ProblemError(SECRET_IN_URL)

    def _authenticate(self, head: RequestHead, rule: RequestRule) -> tuple[Principal | None, str | None]:
        if head.is_local:
            return self._served_memory.local_caller(), None
        if head.header_values(b"authorization"):
            kind, _, secret = head.header(b"authorization").partition(" ")
            caller = self._served_memory.tokens.authenticate(secret.strip()) if kind.lower() == "bearer" else None
            if caller is None:
                raise ProblemError(UNAUTHENTICATED)
            return caller, None
        session = parse_session_cookie(head.header(b"cookie"))
        caller = self._served_memory.tokens.authenticate(session) if session else None
        if caller is None and rule.right is not None:
            raise ProblemError(UNAUTHENTICATED)
        return caller, session if caller else None

    def _check_right(self, request: _AdmittedRequest) -> None:
        right, caller = request.rule.right, request.caller
        if right is not None and caller is not None and not caller.may(right):
            raise ProblemError(forbidden_problem(caller, right))

    def _check_rate_limit(self, request: _AdmittedRequest) -> None:
        if request.caller is None or (request.rule.is_page and request.rule.right is None):
            return
        wait = self._served_memory.rate_limiter.take(request.principal, write=request.rule.is_write)
        if wait:
            kind = "writes" if request.rule.is_write else "reads"
            self._log_rate_limit(request, kind)
            seconds = max(1, math.ceil(wait))
            detail = f"too many {kind} in a minute; try again in {seconds} s"
            raise ProblemError(
                ProblemDetails(429, "TooMany", detail, {"seconds": seconds}, {"Retry-After": str(seconds)})
            )

    def _log_rate_limit(self, request: _AdmittedRequest, kind: str) -> None:
        """Log a rate limit once a minute, so that a flood of requests does not flood the log."""
        key, now = (request.principal, request.rule.is_write), time.monotonic()
        if now - self._last_warnings.get(key, -LOG_SECONDS) >= LOG_SECONDS:
            self._last_warnings[key] = now
            logger.warning("%s exceeded the limit of %s per minute", request.principal.partition("/")[0], kind)

    async def _read_body(self, request: _AdmittedRequest, receive: Receive) -> bytes:
        head = request.head
        body = await read_body(receive, head.header(b"content-length"), self._body_seconds)
        if isinstance(body, ProblemDetails):
            raise ProblemError(body)
        if request.session and request.rule.right is not None and head.method not in SAFE_METHODS:
            csrf_token = head.header(CSRF_TOKEN_HEADER) or parse_form_csrf_token(body, head.content_type)
            if not is_csrf_token_of(request.session, csrf_token):
                raise ProblemError(NO_CSRF_TOKEN)
        return body

    async def _forward(
        self, request: _AdmittedRequest, body: bytes, scope: Scope, receive: Receive, sender: ResponseSender
    ) -> None:
        """Forward the request to the app, once per idempotency key and within its timeout."""
        key = request.head.header(KEY)
        reply = (
            self._begin_reply(request, key, body) if key and request.rule.is_write and request.rule.is_known else None
        )
        if isinstance(reply, StoredReply):
            await sender.send_stored(reply)
            return
        work = self._run_app(request, scope, replay_body(body, receive), sender, reply)
        if request.rule.timeout_seconds is None:
            await work
            return
        await self._run_with_timeout(asyncio.create_task(work), request.rule, sender)

    def _begin_reply(self, request: _AdmittedRequest, key: str, body: bytes) -> StoredReply | RunningReply:
        head = request.head
        digest = digest_request(head.method, head.path, head.query, body)
        reply = self._idempotency_keys.begin(request.principal, key, digest)
        if isinstance(reply, ProblemDetails):
            raise ProblemError(reply)
        return reply

    async def _run_with_timeout(self, task: asyncio.Task[None], rule: RequestRule, sender: ResponseSender) -> None:
        """Send 504 after the timeout; a handler in a thread cannot be stopped, so it continues without its client."""
        try:
            done, _ = await asyncio.wait({task}, timeout=rule.timeout_seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            task.result()
            return
        remove_thread = thread_limit.add_temporary_thread()
        self._late_tasks.add(task)
        task.add_done_callback(self._late_tasks.discard)
        task.add_done_callback(lambda _: remove_thread())
        logger.warning("%s took more than %g s", rule.route, rule.timeout_seconds)
        await sender.send_problem(TOOK_TOO_LONG)

    async def _run_app(
        self,
        request: _AdmittedRequest,
        scope: Scope,
        receive: Receive,
        sender: ResponseSender,
        reply: RunningReply | None,
    ) -> None:
        send: Send = ReplyRecorder(sender, reply) if reply is not None else sender
        try:
            async with self._slow_slot() if request.rule.timeout_seconds == SLOW_SECONDS else nullcontext():
                await self.app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the outermost handler: errors are logged without their message
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.error("%s failed: %s\n%s", request.rule.route, type(error).__name__, frames)
            await sender.send_problem(INTERNAL_ERROR)
        finally:
            if reply is not None:
                self._idempotency_keys.finish(reply)

    @asynccontextmanager
    async def _slow_slot(self) -> AsyncIterator[None]:
        """Limit how many slow requests run at the same time, each with a temporary extra thread."""
        async with self._slow_slots:
            remove_thread = thread_limit.add_temporary_thread()
            try:
                yield
            finally:
                remove_thread()

    async def _refuse(self, head: RequestHead, problem: ProblemDetails, sender: ResponseSender) -> None:
        """Redirect a browser without a session to the sign-in page; send everyone else the problem."""
        if problem is not UNAUTHENTICATED or not self._rules.find(head.method, head.path).is_page:
            await sender.send_problem(problem)
            return
        login_url = f"/login?next={quote(head.return_path, safe='')}" if head.return_path else "/login"
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        if head.header_values(b"hx-request"):
            await sender.send_page(problem.status, [*headers, (b"hx-redirect", login_url.encode())], b"")
        elif head.wants_html:
            await sender.send_page(problem.status, headers, LOGIN_REDIRECT_PAGE.format(to=login_url).encode())
        else:
            await sender.send_problem(problem)
