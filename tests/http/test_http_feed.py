"""The change feed tells every commit of the own scopes once and in order, whatever is cut in between."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live import Live, live


class Stream:
    """An open feed, read event by event."""

    def __init__(self, server: Live, token: str, query: str = "", *headers: str, bearer: bool = True) -> None:
        self._line = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        lines = [
            f"GET /v1/feed{query} HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            *([f"Authorization: Bearer {token}"] if bearer else []),
            *headers,
            "",
            "",
        ]
        self._line.sendall("\r\n".join(lines).encode("latin-1"))
        self._file = self._line.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        self.headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(": ")
            self.headers[name] = value

    def messages(self) -> Iterator[str]:
        """Comments and events as they come, until the server ends the stream."""
        waiting = ""
        while size := int(self._file.readline().strip() or b"0", 16):
            waiting += self._file.read(size).decode()
            self._file.readline()
            *whole, waiting = waiting.split("\n\n")
            yield from whole

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for message in self.messages():
            fields = dict(line.partition(": ")[::2] for line in message.split("\n"))
            if "data" in fields:
                assert fields["event"] == "commit"
                yield int(fields["id"]), json.loads(fields["data"])

    def close(self) -> None:
        self._file.close()
        self._line.close()


@contextmanager
def stream(server: Live, token: str, query: str = "", *headers: str, bearer: bool = True) -> Iterator[Stream]:
    opened = Stream(server, token, query, *headers, bearer=bearer)
    try:
        yield opened
    finally:
        opened.close()


def test_commits_are_told_as_they_happen_and_without_words(fresh: Live) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "Before anybody listened.")
    with stream(fresh, token) as feed:
        assert feed.status == 200
        assert feed.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert feed.headers["cache-control"] == "no-store"
        next(feed.messages())
        id = fresh.remember(token, "A SENTINEL word.", reason="because of the SENTINEL")
        seq, told = next(feed.events())
    assert seq == told["seq"] == 2
    assert (told["verb"], told["changes"][0]["id"]) == ("remember", id)
    assert "SENTINEL" not in json.dumps(told)
    assert "reason" not in told


def test_a_feed_goes_on_where_it_was_cut(fresh: Live) -> None:
    token = fresh.token("owner")
    seen: list[int] = []
    for n in range(4):
        fresh.remember(token, f"Number {n} before.")
    with stream(fresh, token, "?since=0") as feed:
        events = feed.events()
        seen += [next(events)[0] for _ in range(3)]
    for n in range(3):
        fresh.remember(token, f"Number {n} while nobody listened.")
    with stream(fresh, token, "", f"Last-Event-ID: {seen[-1]}") as feed:
        events = feed.events()
        seen += [next(events)[0] for _ in range(4)]
        fresh.remember(token, "One more.")
        seen.append(next(events)[0])
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8]


def test_reasons_are_told_to_who_asks_for_them(fresh: Live) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "Uma draws maps.", reason="she said so")
    with stream(fresh, token, "?since=0&reasons=true") as feed:
        assert next(feed.events())[1]["reason"] == "she said so"


def test_only_the_own_scopes_are_told(fresh: Live) -> None:
    mine, theirs = fresh.token("mine", "org:acme"), fresh.token("theirs", "org:bolt")
    agent = fresh.token("agent", "org:acme:agent:scout")
    with stream(fresh, mine) as feed, stream(fresh, agent) as own:
        next(feed.messages())
        next(own.messages())
        fresh.remember(theirs, "Not for you.")
        fresh.remember(agent, "For the scout alone.", private=True)
        last = fresh.remember(mine, "For you.")
        assert next(feed.events())[1]["changes"][0]["id"] == last
        events = own.events()
        assert [next(events)[1]["scope"] for _ in range(2)] == ["org:acme:agent:scout", "org:acme"]


def test_a_silent_feed_says_that_it_is_still_there(tmp_path: Path) -> None:
    with live(tmp_path, beat=0.05) as server, stream(server, server.token("owner")) as feed:
        messages = feed.messages()
        assert next(messages).startswith("retry: ")
        assert next(messages) == ": alive"
        assert next(messages) == ": alive"


def test_a_revoked_token_ends_its_feeds(tmp_path: Path) -> None:
    with live(tmp_path, beat=0.05) as server, stream(server, server.token("owner")) as feed:
        next(feed.messages())
        server.house.tokens.revoke("owner")
        assert not any("data:" in message for message in feed.messages())


def test_what_happens_after_a_token_was_revoked_is_not_told(fresh: Live) -> None:
    """The stream has waited since before; nothing but the next commit wakes it."""
    with stream(fresh, fresh.token("guest")) as feed:
        next(feed.messages())
        fresh.house.tokens.revoke("guest")
        fresh.remember(fresh.token("owner"), "Not for guests.")
        assert list(feed.messages()) == []


def test_a_feed_ends_with_the_session_it_was_opened_with(fresh: Live) -> None:
    token = fresh.token("owner")
    session = fresh.house.tokens.open_session(token)
    assert session is not None
    with stream(fresh, "", "", f"Cookie: lamina_session={session}", bearer=False) as feed:
        next(feed.messages())
        fresh.house.tokens.close_session(session)
        fresh.remember(token, "Said after somebody left.")
        assert list(feed.messages()) == []


def test_a_long_journal_is_told_piece_by_piece_and_whole(fresh: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.http.journal_batches.FIRST_BATCH", 2)
    monkeypatch.setattr("lamina.http.journal_batches.LARGEST_BATCH", 3)
    mine, theirs = fresh.token("mine", "org:acme"), fresh.token("theirs", "org:bolt")
    for n in range(24):
        fresh.remember(theirs if n % 3 else mine, f"Number {n}.", subject=f"{n}")
    with stream(fresh, mine, "?since=0") as feed:
        events = feed.events()
        assert [next(events)[0] for _ in range(8)] == [*range(1, 24, 3)]
    pages, since = [], 0
    while True:
        page = fresh.ask("GET", f"/v1/journal?since={since}&limit=3", mine).data
        pages.append([each["seq"] for each in page["entries"]])
        since = page["next"]
        if not page["more"]:
            break
    assert pages == [[1, 4, 7], [10, 13, 16], [19, 22]]


@pytest.mark.parametrize("last", ["9" * 5000, "x", "-1", "1e3", "\u0663".encode().decode("latin-1"), ""])
def test_a_last_event_id_that_is_no_position_counts_for_nothing(fresh: Live, last: str) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "The first.")
    with stream(fresh, token, "?since=0", f"Last-Event-ID: {last}") as feed:
        assert feed.status == 200
        assert next(feed.events())[0] == 1


def test_feeds_end_when_the_server_ends(tmp_path: Path) -> None:
    with live(tmp_path) as server:
        opened = [Stream(server, server.token(f"t{n}")) for n in range(5)]
        for each in opened:
            next(each.messages())
    for each in opened:
        assert list(each.messages()) == []
        each.close()


def test_many_who_listen_cost_one_look(fresh: Live) -> None:
    token, feed = fresh.token("owner"), fresh.app.state.feed
    opened = [Stream(fresh, token) for _ in range(20)]
    messages = [each.messages() for each in opened]
    for message in messages:
        next(message)
    assert feed.listeners == 20
    assert len(feed._watches) == 1
    fresh.remember(token, "Heard by all.")
    assert all("data: " in next(message) for message in messages)
    for one in opened:
        one.close()


def test_too_many_are_told_to_come_back(fresh: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.http.change_feed.MAX_LISTENERS", 1)
    token = fresh.token("owner")
    with stream(fresh, token) as first:
        next(first.messages())
        with stream(fresh, token) as second:
            assert second.status == 503
            assert second.headers["retry-after"] == "10"


@pytest.mark.parametrize("query", ["?since=-1", "?since=x", "?since=1e3", "?token=1", "?from=3"])
def test_a_position_that_is_none_is_refused(server: Live, owner: str, query: str) -> None:
    assert server.ask("GET", f"/v1/feed{query}", owner).status in (400, 422)
