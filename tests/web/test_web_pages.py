"""The responses of the pages: who may see which, their headers, and what a form must send.

Covers `lamina.web.page_request` and `lamina.web.sign_in_page`.
"""

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
from bakery_vault import BakeryVault
from web_server import Site

import lamina.web
from command_result import Cli
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.provenance import Origin
from lamina.http.browser_session import SESSION_COOKIE, csrf_token_for
from lamina.http.problem import ProblemDetails
from lamina.server import run_server
from lamina.web.error_page import render_problem_page
from lamina.web.pages import PAGES

FRAGMENT = "/timeline/fresh"
VENDOR = Path(lamina.web.__file__).parent / "static" / "vendor"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def request_page(
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
    text = pages.session(pages.token)
    assert text is not None
    return text


def _path(page: lamina.web.PageRoute, bakery_vault: BakeryVault) -> str:
    return page.path.replace("{id}", bakery_vault.oven)


def test_without_a_session_no_page_is_shown(pages: Site, bakery: BakeryVault) -> None:
    for page in PAGES:
        if page.right is None:
            continue
        got = request_page(pages, _path(page, bakery), form={"csrf": "x"} if page.method == "POST" else None)
        assert got.status in (303, 401, 403), page.path
        assert "front oven" not in got.text


def test_a_read_only_caller_changes_nothing(pages: Site, bakery: BakeryVault) -> None:
    text = pages.session(pages.reader)
    assert text is not None
    before = bakery.memory.journal(limit=1)
    for page in PAGES:
        if page.right is Right.WRITE:
            got = request_page(
                pages, _path(page, bakery), text, {"csrf": csrf_token_for(text), "verb": "forget", "reason": "x"}
            )
            assert got.status == 403, page.path
    assert bakery.memory.journal(limit=1) == before


def test_a_read_only_caller_sees_no_buttons_and_an_agent_decides_nothing(pages: Site, bakery: BakeryVault) -> None:
    for path in ("/inbox", f"/atom/{bakery.oven}", "/timeline", "/recall?q=front+oven"):
        text = request_page(pages, path, pages.session(pages.reader)).text
        assert 'method="post"' in request_page(pages, path, pages.session(pages.token)).text.partition("<main")[2]
        assert 'method="post"' not in text.partition("<main")[2], path
    agent = request_page(pages, "/inbox", pages.session(pages.agent)).text
    assert 'method="post"' not in agent.partition("<main")[2]
    assert "Only a person decides" in agent


def test_a_form_from_another_page_is_refused(pages: Site, bakery: BakeryVault, session: str) -> None:
    for page in PAGES:
        if page.right is Right.WRITE:
            for form in ({"verb": "pin"}, {"verb": "pin", "csrf": "0" * 64}):
                assert request_page(pages, _path(page, bakery), session, form).status == 403, page.path


def test_reading_pages_changes_nothing(pages: Site, bakery: BakeryVault, session: str) -> None:
    before = bakery.memory.journal(limit=1)
    for page in PAGES:
        if page.method == "GET" and page.right is not None:
            part = page.path == FRAGMENT
            path = _path(page, bakery)
            got = request_page(pages, path, session, HX_Request="true") if part else request_page(pages, path, session)
            assert got.status == 200, page.path
            assert got.headers["content-type"].startswith(("text/html; charset=utf-8", "application/json"))
    assert bakery.memory.journal(limit=1) == before


def test_the_page_of_an_atom_shows_its_counters_of_use(pages: Site, bakery: BakeryVault, session: str) -> None:
    bakery.memory.cite([bakery.oven])
    used = bakery.memory.signals(bakery.oven)
    text = request_page(pages, f"/atom/{bakery.oven}", session).text
    assert f"<dt>quality</dt><dd>{used.quality_score:.2f}</dd>" in text
    assert re.search(rf"<dt>used</dt><dd>{used.recall_count} times?, last .*{bakery.clock.at:%Y-%m-%d}", text)


def test_every_page_has_a_strict_policy_and_no_inline_script_or_style(
    pages: Site, bakery: BakeryVault, session: str
) -> None:
    for page in PAGES:
        if page.method == "POST":
            continue
        got = request_page(pages, _path(page, bakery), session if page.right else None)
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert " style=" not in got.text and "<style" not in got.text
        assert " onclick=" not in got.text and "<script>" not in got.text


@pytest.mark.parametrize(
    ("wanted", "text"),
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
def test_signing_in_redirects_to_local_pages_only(pages: Site, wanted: str, text: str) -> None:
    got = request_page(pages, "/login", form={"token": pages.token, "next": wanted})
    assert (got.status, got.headers["location"]) == (303, text)
    cookie = got.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie


def test_a_missing_item_is_reported_as_a_page(pages: Site, session: str) -> None:
    got = request_page(pages, "/atom/nosuchatom", session)
    assert got.status == 404
    assert "nosuchatom" in got.text and "<main" in got.text
    assert request_page(pages, "/recall?q=x&k=1000", session).status == 422
    assert request_page(pages, "/recall?q=x&mode=nonsense", session).status == 422
    assert request_page(pages, "/browse?offset=-1", session).status == 422


def test_an_unknown_url_is_a_page_for_people_and_a_document_for_programs(pages: Site, session: str) -> None:
    for path, status in (("/nosuch", 404), ("/health/nosuch", 404), ("/inbox/decide", 405)):
        got = request_page(pages, path, session)
        assert got.status == status
        assert "<main" in got.text and "There is no page at this address" in got.text and 'href="/inbox"' in got.text
        assert "openapi" not in got.text
        assert (
            request_page(pages, path, session, Accept="application/json").headers["content-type"]
            == "application/problem+json"
        )
    assert request_page(pages, "/v1/nosuch", session).headers["content-type"] == "application/problem+json"


def test_a_security_refusal_is_shown_as_a_page(pages: Site, bakery: BakeryVault) -> None:
    text = pages.session(pages.reader)
    got = request_page(pages, f"/atom/{bakery.oven}/do", text, {"csrf": csrf_token_for(str(text)), "verb": "pin"})
    assert (got.status, got.headers["cache-control"]) == (403, "no-store")
    assert "Not allowed" in got.text and "reader may read" in got.text
    part = request_page(pages, f"/atom/{bakery.oven}/do", text, {"csrf": csrf_token_for(str(text))}, HX_Request="true")
    assert part.headers["content-type"] == "application/problem+json"


def test_rate_limits_and_failures_are_shown_as_pages(bakery: BakeryVault) -> None:
    served = ServedMemory.for_memory(bakery.memory, RateLimits(2, 2))
    _, token = served.tokens.create("hasty", bakery.memory.scope, Right.READ, Origin.HUMAN)
    pending = served.tokens.open_session(token)
    with run_server(served, port=0) as (_, address):
        hasty = Site(address.rstrip("/"), served, token, token, token)
        answers = [request_page(hasty, "/browse", pending) for _ in range(4)]
    assert answers[0].status == 200
    assert answers[-1].status == 429 and int(answers[-1].headers["retry-after"]) >= 1
    assert "Too many requests" in answers[-1].text and "try again in" in answers[-1].text
    failed = render_problem_page(ProblemDetails(500, "Failed", "see the log"), {"path": "/"}).decode()
    assert "Internal error" in failed and "see the log" in failed


def test_any_text_in_a_url_is_only_a_query(pages: Site, session: str) -> None:
    got = request_page(pages, "/browse?self=1&status=any&kind=fact", session)
    assert got.status == 200
    assert request_page(pages, "/inbox?self=1&offset=4000", session).status == 200


def test_an_agent_decides_nothing_in_the_inbox(pages: Site, bakery: BakeryVault) -> None:
    pending = str(pages.session(pages.agent))
    before = bakery.memory.journal(limit=1)
    for path in ("/inbox/decide", "/inbox/source", "/inbox/undo"):
        for many in ("", "yes"):
            form = {
                "csrf": csrf_token_for(pending),
                "verb": "confirm",
                "id": bakery.waiting[0],
                "source": "newsletter",
                "many": many,
            }
            got = request_page(pages, path, pending, {**form, "commit": before[0].id})
            assert got.status == 409 and "only a person decides" in got.text
    assert bakery.memory.journal(limit=1) == before


def test_the_icon_is_at_the_standard_path(pages: Site) -> None:
    got = request_page(pages, "/favicon.ico")
    assert (got.status, got.headers["content-type"]) == (200, "image/svg+xml")


def test_the_command_on_the_sign_in_page_makes_an_admin_token(pages: Site, cli: Cli, vault: Path) -> None:
    matches = re.search("<code>lamina (token create [^<]*)</code>", request_page(pages, "/login").text)
    assert matches is not None
    cli("init", str(vault))
    result = cli(*matches[1].split(), "--vault", str(vault), "--json")
    assert result.data["as"] == "human"


def test_signing_in_again_returns_to_the_previous_page(pages: Site, bakery: BakeryVault, session: str) -> None:
    here = f"{pages.address}/atom/{bakery.oven}?passage=1"
    got = request_page(pages, f"/atom/{bakery.oven}/do", None, {"verb": "pin"}, HX_Request="true", HX_Current_URL=here)
    assert (got.status, got.headers["hx-redirect"]) == (401, f"/login?next=%2Fatom%2F{bakery.oven}%3Fpassage%3D1")
    assert request_page(pages, FRAGMENT + "?since=1", session).headers["location"] == "/timeline"


def test_page_fragments_are_served_only_to_scripts(pages: Site, session: str) -> None:
    whole = request_page(pages, "/recall?q=front+oven", session)
    part = request_page(pages, "/recall?q=front+oven", session, HX_Request="true")
    assert "<html" in whole.text and "<html" not in part.text
    again = request_page(pages, "/recall?q=front+oven", session, HX_Request="true", HX_History_Restore_Request="true")
    assert "<html" in again.text


def test_static_files_stay_in_their_folder(pages: Site) -> None:
    assert request_page(pages, "/static/style.css").status == 200
    for path in (
        "/static/../visit.py",
        "/static/%2e%2e/visit.py",
        "/static/..%2fvisit.py",
        "/static/",
        "/static/vendor",
    ):
        assert request_page(pages, path).status == 404, path


def test_vendored_files_are_the_pinned_ones_with_their_licences() -> None:
    document = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    here = {file.name for file in VENDOR.iterdir()} - {"manifest.json"}
    assert {element["file"] for element in document} == here
    for item in document:
        data = (VENDOR / item["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == item["sha256"], item["file"]
        assert len(data) == item["bytes"]
    for name in {element["name"] for element in document}:
        assert any(element["name"] == name and "LICENSE" in element["file"] for element in document), name
