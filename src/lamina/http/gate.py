"""The gate: what every request passes before anything of ours sees it, whatever it asks for.

Host and Origin, so that no page of another site reaches in through a browser; the caller's token or session; the right
the operation needs; the size and type of the body; how much was asked in the last minute. Only then is the request
handed on, with its caller, and for so many seconds.
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
from lamina.http.session import HEADER as WORD
from lamina.http.session import is_word_of, session_in, word_in_form, word_of
from lamina.http.stop import forbidden

logger = logging.getLogger("lamina.http")

NOT_HERE = Problem(403, "UnknownHost", "this server does not go by that name; use the address it printed at its start")
NOT_FROM_THERE = Problem(403, "UnknownOrigin", "pages of other sites may not ask here")
AMBIGUOUS = Problem(
    400, "BadRequest", "the head can be read in more than one way; send each header once, and plain paths"
)
SECRET_IN_ADDRESS = Problem(
    400, "SecretInAddress", "a token never stands in an address, where it would be logged: send `Authorization: Bearer`"
)
WHO = Problem(
    401,
    "Unauthenticated",
    "send `Authorization: Bearer TOKEN`; `lamina token create` makes one",
    headers={"WWW-Authenticate": 'Bearer realm="lamina"'},
)
NOT_JSON = Problem(415, "NotJson", "what is written comes as JSON: send `Content-Type: application/json`")
NO_WORD = Problem(403, "NoCsrfWord", "the page is out of date; load it again and repeat")
TOO_LONG = Problem(
    504, "TookTooLong", "it took too long to answer; what was begun may still be done, so look before you repeat it"
)
LONG_AT_ONCE = 4
"""Requests that may take long, worked on at once: they must not take every thread from those that do not."""
LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lamina</title>
<meta http-equiv="refresh" content="0; url={to}"></head><body><p><a href="{to}">Sign in</a></p></body></html>
"""


class Denied(Exception):
    """A request that is not let in."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.name)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A request that may come in; `session` is set where a cookie vouches for it."""

    asked: Asked
    rule: Rule
    caller: Caller | None
    session: str | None

    @property
    def principal(self) -> str:
        return f"{self.caller.name}/{self.caller.token}" if self.caller else ""


class Gate:
    """Stands before a whole server: API, MCP, pages and whatever is not there."""

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
        """Let every stream end: the server is about to."""
        self._at_end()

    async def settle(self, seconds: float) -> None:
        """Wait for what went on after its time was over, before the memory is closed under it."""
        if self._late:
            await asyncio.wait(self._late, timeout=seconds)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked, began = Asked.of(scope), time.perf_counter()
        page = self._told_as_page(asked, scope)
        answer = Answer(send, page)
        rule, scope_of = Rule("refused", None), ""
        try:
            entry = self._admit(asked)
            rule, scope_of = entry.rule, entry.caller.scope if entry.caller else ""
            answer.cached = rule.page and rule.right is None
            body = await self._body(entry, receive)
            scope.setdefault("state", {}).update(
                caller=entry.caller, csrf=word_of(entry.session) if entry.session else "", page=page
            )
            await self._hand_on(entry, body, scope, receive, answer)
        except Denied as denied:
            self._meters.refused(denied.problem.name)
            await self._refuse(asked, denied.problem, answer)
        except Gone:
            return
        except LaminaError as error:  # tokens that cannot be read let nobody in
            await answer.instead(problem_of(error))
        self._meters.answered(scope_of, rule.route, asked.method, answer.status, time.perf_counter() - began)

    def _told_as_page(self, asked: Asked, scope: Scope) -> Callable[[Problem], bytes] | None:
        """How a person is told a problem, where a browser asks for one of the pages; a program gets its document."""
        page = self._page
        if page is None or not asked.shows_page or not self._rules.find(asked.method, asked.path).page:
            return None
        return lambda problem: page(problem, scope)

    def _admit(self, asked: Asked) -> _Entry:
        """Everything that can be told from the head."""
        self._check_address(asked)
        rule = self._rules.find(asked.method, asked.path)
        caller, session = self._caller(asked, rule)
        entry = _Entry(asked, rule, caller, session)
        self._check_right(entry)
        if rule.write and rule.is_known and not rule.page and asked.content_type != "application/json":
            raise Denied(NOT_JSON)
        self._check_budget(entry)
        return entry

    def _check_address(self, asked: Asked) -> None:
        hosts, origins = asked.every(b"host"), asked.every(b"origin")
        if not asked.is_relative or len(hosts) != 1:
            raise Denied(NOT_HERE)
        if asked.is_local:
            # No browser can reach a socket in the file system, so whatever names an origin is none of ours.
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
            told = f"too many {kind} in a minute; ask again in {seconds} s"
            raise Denied(Problem(429, "TooMany", told, {"seconds": seconds}, {"Retry-After": str(seconds)}))

    def _warn(self, entry: _Entry, kind: str) -> None:
        """Log it once a minute: whoever floods the server must not flood its log."""
        whose, now = (entry.principal, entry.rule.write), time.monotonic()
        if now - self._warned.get(whose, -MINUTE) >= MINUTE:
            self._warned[whose] = now
            logger.warning("%s has asked for too many %s in a minute", entry.principal.partition("/")[0], kind)

    async def _body(self, entry: _Entry, receive: Receive) -> bytes:
        asked = entry.asked
        found = await whole_body(receive, asked.one(b"content-length"))
        if isinstance(found, Problem):
            raise Denied(found)
        if entry.session and entry.rule.right is not None and asked.method not in SAFE:
            word = asked.one(WORD) or word_in_form(found, asked.content_type)
            if not is_word_of(entry.session, word):
                raise Denied(NO_WORD)
        return found

    async def _hand_on(self, entry: _Entry, body: bytes, scope: Scope, receive: Receive, answer: Answer) -> None:
        """Let the request be answered, once for each key it may carry, and not for longer than it may take."""
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
        asked = entry.asked
        told = asked_of(asked.method, asked.path, asked.query, body)
        found = self._replies.begin(entry.principal, key, told)
        if isinstance(found, Problem):
            raise Denied(found)
        return found

    async def _timed(self, task: asyncio.Task[None], rule: Rule, answer: Answer) -> None:
        """A handler in a thread cannot be stopped, so what is late goes on without anybody waiting for it."""
        try:
            done, _ = await asyncio.wait({task}, timeout=rule.seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            task.result()
            return
        give_back = threads.lend()
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        task.add_done_callback(lambda _: give_back())
        logger.warning("%s took more than %g s", rule.route, rule.seconds)
        await answer.instead(TOO_LONG)

    async def _work(
        self, entry: _Entry, scope: Scope, receive: Receive, answer: Answer, key: str, reply: Reply | None
    ) -> None:
        send: Send = Recorder(answer, reply) if reply is not None else answer
        try:
            async with self._long_one() if entry.rule.seconds == LONG else nullcontext():
                await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the outer border: whatever happened is told without its words
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
        """Of those that may take long only some at once, and each beside the others."""
        async with self._long:
            give_back = threads.lend()
            try:
                yield
            finally:
                give_back()

    async def _refuse(self, asked: Asked, problem: Problem, answer: Answer) -> None:
        """A browser that only lacks a session is shown the way to one; everybody else is told the problem."""
        if problem is not WHO or not self._rules.find(asked.method, asked.path).page:
            await answer.instead(problem)
            return
        to = f"/login?next={quote(asked.place, safe='')}" if asked.place else "/login"
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        if asked.every(b"hx-request"):
            await answer.page(problem.status, [*headers, (b"hx-redirect", to.encode())], b"")
        elif asked.wants_page:
            await answer.page(problem.status, headers, LOGIN.format(to=to).encode())
        else:
            await answer.instead(problem)
