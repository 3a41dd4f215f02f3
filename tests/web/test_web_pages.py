"""The pages as answers: who gets which, what they carry, and what a form must bring."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from web_server import Site
from workshop import Workshop

import lamina.web
from lamina.access import Right
from lamina.http.session import COOKIE, word_of
from lamina.web.pages import PAGES

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
        sent["Cookie"] = f"{COOKIE}={session}"
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


def _path(page: lamina.web.Page, made: Workshop) -> str:
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
            got = ask(pages, _path(page, made), held, {"csrf": word_of(held), "verb": "forget", "reason": "x"})
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
            got = ask(pages, _path(page, made), session)
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
        ("/inbox?kind=pair", "/inbox?kind=pair"), ("//evil.example", "/"), ("https://evil.example", "/"),
        ("/\\evil.example", "/"), ("javascript:alert(1)", "/"), ("/x\r\nSet-Cookie: a=b", "/"), ("", "/"),
    ],
)  # fmt: skip
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
