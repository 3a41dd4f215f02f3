"""The pages as answers: who gets which, what they carry, and what a form must bring."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from web_server import Site
from workshop import Workshop

import lamina.web
from lamina.access import AccessTokenStore, RateLimiter, Right, ServedMemory
from lamina.atom.trust import Origin
from lamina.http.browser_session import SESSION_COOKIE, csrf_token_for
from lamina.http.problem import ProblemDetails
from lamina.server import run_server
from lamina.web.error_page import render_problem_page
from lamina.web.pages import PAGES
from terminal import Cli

FRAGMENT = "/timeline/fresh"
VENDOR = Path(lamina.web.__file__).parent / "static" / "vendor"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def ask(
    pages: Site, path: str, session: str | None = None, form: Mapping[str, str] | None = None, **headers: str
) -> Answer:
    """Ask as a browser would."""
    place = urlsplit(pages.address)
    door = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    sent = {"Accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if session:
        sent["Cookie"] = f"{SESSION_COOKIE}={session}"
    body = None
    if form is not None:
        body = urlencode(form)
        sent |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": pages.address}
    try:
        door.request("POST" if form is not None else "GET", path, body, sent)
        got = door.getresponse()
        return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read().decode())
    finally:
        door.close()


@pytest.fixture(scope="module")
def session(pages: Site) -> str:
    held = pages.session(pages.token)
    assert held is not None
    return held


def _path(page: lamina.web.PageRoute, made: Workshop) -> str:
    return page.path.replace("{id}", made.oven)


def test_nobody_sees_a_page_without_a_session(pages: Site, made: Workshop) -> None:
    for page in PAGES:
        if page.right is None:
            continue
        got = ask(pages, _path(page, made), form={"csrf": "x"} if page.method == "POST" else None)
        assert got.status in (303, 401, 403), page.path
        assert "front oven" not in got.text


def test_whoever_may_only_read_changes_nothing(pages: Site, made: Workshop) -> None:
    held = pages.session(pages.reader)
    assert held is not None
    before = made.memory.journal(limit=1)
    for page in PAGES:
        if page.right is Right.WRITE:
            got = ask(pages, _path(page, made), held, {"csrf": csrf_token_for(held), "verb": "forget", "reason": "x"})
            assert got.status == 403, page.path
    assert made.memory.journal(limit=1) == before


def test_whoever_may_only_read_sees_no_buttons_and_an_agent_decides_nothing(pages: Site, made: Workshop) -> None:
    for path in ("/inbox", f"/atom/{made.oven}", "/timeline", "/recall?q=front+oven"):
        told = ask(pages, path, pages.session(pages.reader)).text
        assert 'method="post"' in ask(pages, path, pages.session(pages.token)).text.partition("<main")[2]
        assert 'method="post"' not in told.partition("<main")[2], path
    agent = ask(pages, "/inbox", pages.session(pages.agent)).text
    assert 'method="post"' not in agent.partition("<main")[2]
    assert "Only a person decides" in agent


def test_a_form_that_is_not_from_our_page_is_refused(pages: Site, made: Workshop, session: str) -> None:
    for page in PAGES:
        if page.right is Right.WRITE:
            for form in ({"verb": "pin"}, {"verb": "pin", "csrf": "0" * 64}):
                assert ask(pages, _path(page, made), session, form).status == 403, page.path


def test_looking_changes_nothing(pages: Site, made: Workshop, session: str) -> None:
    before = made.memory.journal(limit=1)
    for page in PAGES:
        if page.method == "GET" and page.right is not None:
            part = page.path == FRAGMENT
            path = _path(page, made)
            got = ask(pages, path, session, HX_Request="true") if part else ask(pages, path, session)
            assert got.status == 200, page.path
            assert got.headers["content-type"].startswith(("text/html; charset=utf-8", "application/json"))
    assert made.memory.journal(limit=1) == before


def test_every_page_carries_a_strict_policy_and_no_word_of_script_or_style(
    pages: Site, made: Workshop, session: str
) -> None:
    for page in PAGES:
        if page.method == "POST":
            continue
        got = ask(pages, _path(page, made), session if page.right else None)
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert " style=" not in got.text and "<style" not in got.text
        assert " onclick=" not in got.text and "<script>" not in got.text


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("/inbox?kind=pair", "/inbox?kind=pair"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_to_our_own_pages_only(pages: Site, wanted: str, given: str) -> None:
    got = ask(pages, "/login", form={"token": pages.token, "next": wanted})
    assert (got.status, got.headers["location"]) == (303, given)
    cookie = got.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie


def test_what_is_not_there_is_told_as_a_page(pages: Site, session: str) -> None:
    got = ask(pages, "/atom/nosuchatom", session)
    assert got.status == 404
    assert "nosuchatom" in got.text and "<main" in got.text
    assert ask(pages, "/recall?q=x&k=1000", session).status == 422
    assert ask(pages, "/recall?q=x&mode=nonsense", session).status == 422
    assert ask(pages, "/browse?offset=-1", session).status == 422


def test_an_address_that_leads_nowhere_is_a_page_for_people_and_a_document_for_programs(
    pages: Site, session: str
) -> None:
    for path, status in (("/nosuch", 404), ("/health/nosuch", 404), ("/inbox/decide", 405)):
        got = ask(pages, path, session)
        assert got.status == status
        assert "<main" in got.text and "There is no page at this address" in got.text and 'href="/inbox"' in got.text
        assert "openapi" not in got.text
        assert (
            ask(pages, path, session, Accept="application/json").headers["content-type"] == "application/problem+json"
        )
    assert ask(pages, "/v1/nosuch", session).headers["content-type"] == "application/problem+json"


def test_what_the_gate_refuses_a_person_is_told_on_a_page(pages: Site, made: Workshop) -> None:
    held = pages.session(pages.reader)
    got = ask(pages, f"/atom/{made.oven}/do", held, {"csrf": csrf_token_for(str(held)), "verb": "pin"})
    assert (got.status, got.headers["cache-control"]) == (403, "no-store")
    assert "Not allowed" in got.text and "reader may read" in got.text
    part = ask(pages, f"/atom/{made.oven}/do", held, {"csrf": csrf_token_for(str(held))}, HX_Request="true")
    assert part.headers["content-type"] == "application/problem+json"


def test_who_asks_too_much_and_what_failed_are_told_on_pages(made: Workshop) -> None:
    house = ServedMemory(made.memory, AccessTokenStore(made.memory.state, made.memory.now), RateLimiter(2, 2))
    _, token = house.tokens.create("hasty", made.memory.scope, Right.READ, Origin.HUMAN)
    held = house.tokens.open_session(token)
    with run_server(house, port=0) as (_, address):
        hasty = Site(address.rstrip("/"), house, token, token, token)
        answers = [ask(hasty, "/browse", held) for _ in range(4)]
    assert answers[0].status == 200
    assert answers[-1].status == 429 and int(answers[-1].headers["retry-after"]) >= 1
    assert "Too many requests" in answers[-1].text and "try again in" in answers[-1].text
    failed = render_problem_page(ProblemDetails(500, "Failed", "see the log"), {"path": "/"}).decode()
    assert "Internal error" in failed and "see the log" in failed


def test_any_word_in_an_address_is_only_asked(pages: Site, session: str) -> None:
    got = ask(pages, "/browse?self=1&status=any&kind=fact", session)
    assert got.status == 200
    assert ask(pages, "/inbox?self=1&offset=4000", session).status == 200


def test_an_agent_decides_nothing_in_the_inbox(pages: Site, made: Workshop) -> None:
    held = str(pages.session(pages.agent))
    before = made.memory.journal(limit=1)
    for path in ("/inbox/decide", "/inbox/source", "/inbox/undo"):
        for many in ("", "yes"):
            form = {
                "csrf": csrf_token_for(held),
                "verb": "confirm",
                "id": made.waiting[0],
                "source": "newsletter",
                "many": many,
            }
            got = ask(pages, path, held, {**form, "commit": before[0].id})
            assert got.status == 409 and "only a person decides" in got.text
    assert made.memory.journal(limit=1) == before


def test_the_icon_is_found_where_browsers_look_for_it(pages: Site) -> None:
    got = ask(pages, "/favicon.ico")
    assert (got.status, got.headers["content-type"]) == (200, "image/svg+xml")


def test_the_command_the_login_page_names_makes_a_token_that_decides(pages: Site, cli: Cli, vault: Path) -> None:
    told = re.search("<code>lamina (token create [^<]*)</code>", ask(pages, "/login").text)
    assert told is not None
    cli("init", str(vault))
    made = cli(*told[1].split(), "--vault", str(vault), "--json")
    assert made.data["as"] == "human"


def test_who_signs_in_again_comes_back_to_the_page_they_were_on(pages: Site, made: Workshop, session: str) -> None:
    here = f"{pages.address}/atom/{made.oven}?passage=1"
    got = ask(pages, f"/atom/{made.oven}/do", None, {"verb": "pin"}, HX_Request="true", HX_Current_URL=here)
    assert (got.status, got.headers["hx-redirect"]) == (401, f"/login?next=%2Fatom%2F{made.oven}%3Fpassage%3D1")
    assert ask(pages, FRAGMENT + "?since=1", session).headers["location"] == "/timeline"


def test_parts_of_pages_are_given_to_scripts_alone(pages: Site, session: str) -> None:
    whole = ask(pages, "/recall?q=front+oven", session)
    part = ask(pages, "/recall?q=front+oven", session, HX_Request="true")
    assert "<html" in whole.text and "<html" not in part.text
    again = ask(pages, "/recall?q=front+oven", session, HX_Request="true", HX_History_Restore_Request="true")
    assert "<html" in again.text


def test_static_files_stay_in_their_folder(pages: Site) -> None:
    assert ask(pages, "/static/style.css").status == 200
    for path in (
        "/static/../visit.py",
        "/static/%2e%2e/visit.py",
        "/static/..%2fvisit.py",
        "/static/",
        "/static/vendor",
    ):
        assert ask(pages, path).status == 404, path


def test_vendored_files_are_the_pinned_ones_and_have_their_licences() -> None:
    told = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    here = {file.name for file in VENDOR.iterdir()} - {"manifest.json"}
    assert {each["file"] for each in told} == here
    for each in told:
        data = (VENDOR / each["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == each["sha256"], each["file"]
        assert len(data) == each["bytes"]
    for name in {each["name"] for each in told}:
        assert any(each["name"] == name and "LICENSE" in each["file"] for each in told), name
