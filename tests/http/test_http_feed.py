"""The change feed sends every commit of the caller's scopes once and in order, through any interruption.

Covers `lamina.http.api.feed_endpoint`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, run_server

from lamina.http.change_feed import FIRST_BATCH


class Stream:
    """An open feed, read event by event."""

    def __init__(self, server: LiveServer, token: str, query: str = "", *headers: str, bearer: bool = True) -> None:
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
def stream(server: LiveServer, token: str, query: str = "", *headers: str, bearer: bool = True) -> Iterator[Stream]:
    opened_memory = Stream(server, token, query, *headers, bearer=bearer)
    try:
        yield opened_memory
    finally:
        opened_memory.close()


def test_commits_are_sent_as_they_happen_without_text(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "Before anybody listened.")
    with stream(fresh, token) as feed:
        assert feed.status == 200
        assert feed.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert feed.headers["cache-control"] == "no-store"
        next(feed.messages())
        id = fresh.remember(token, "A SENTINEL word.", reason="because of the SENTINEL")
        seq, result = next(feed.events())
    assert seq == result["seq"] == 2
    assert (result["verb"], result["changes"][0]["id"]) == ("remember", id)
    assert "SENTINEL" not in json.dumps(result)
    assert "reason" not in result


def test_a_feed_continues_after_a_disconnect(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    result: list[int] = []
    for n in range(4):
        fresh.remember(token, f"Number {n} before.")
    with stream(fresh, token, "?since=0") as feed:
        events = feed.events()
        result += [next(events)[0] for _ in range(3)]
    for n in range(3):
        fresh.remember(token, f"Number {n} while nobody listened.")
    with stream(fresh, token, "", f"Last-Event-ID: {result[-1]}") as feed:
        events = feed.events()
        result += [next(events)[0] for _ in range(4)]
        fresh.remember(token, "One more.")
        result.append(next(events)[0])
    assert result == [1, 2, 3, 4, 5, 6, 7, 8]


def test_reasons_are_sent_on_request(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "Uma draws maps.", reason="she said so")
    with stream(fresh, token, "?since=0&reasons=true") as feed:
        assert next(feed.events())[1]["reason"] == "she said so"


def test_only_commits_of_readable_scopes_are_sent(fresh: LiveServer) -> None:
    mine, theirs = fresh.token("mine", "org:acme"), fresh.token("theirs", "org:bolt")
    agent = fresh.token("agent", "org:acme:agent:scout")
    with stream(fresh, mine) as feed, stream(fresh, agent) as fields:
        next(feed.messages())
        next(fields.messages())
        fresh.remember(theirs, "Not for you.")
        fresh.remember(agent, "For the scout alone.", private=True)
        last = fresh.remember(mine, "For you.")
        assert next(feed.events())[1]["changes"][0]["id"] == last
        events = fields.events()
        assert [next(events)[1]["scope"] for _ in range(2)] == ["org:acme:agent:scout", "org:acme"]


def test_an_idle_feed_sends_keep_alives(tmp_path: Path) -> None:
    with run_server(tmp_path, beat=0.05) as server, stream(server, server.token("owner")) as feed:
        messages = feed.messages()
        assert next(messages).startswith("retry: ")
        assert next(messages) == ": alive"
        assert next(messages) == ": alive"


def test_a_revoked_token_ends_its_feeds(tmp_path: Path) -> None:
    with run_server(tmp_path, beat=0.05) as server, stream(server, server.token("owner")) as feed:
        next(feed.messages())
        server.house.tokens.revoke("owner")
        assert not any("data:" in message for message in feed.messages())


def test_commits_after_a_token_was_revoked_are_not_sent(fresh: LiveServer) -> None:
    """The stream has waited since before; nothing but the next commit wakes it."""
    with stream(fresh, fresh.token("guest")) as feed:
        next(feed.messages())
        fresh.house.tokens.revoke("guest")
        fresh.remember(fresh.token("owner"), "Not for guests.")
        assert list(feed.messages()) == []


def test_a_feed_ends_with_its_session(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    session = fresh.house.tokens.open_session(token)
    assert session is not None
    with stream(fresh, "", "", f"Cookie: lamina_session={session}", bearer=False) as feed:
        next(feed.messages())
        fresh.house.tokens.close_session(session)
        fresh.remember(token, "Said after somebody left.")
        assert list(feed.messages()) == []


def test_a_long_journal_is_sent_completely_in_batches(fresh: LiveServer) -> None:
    token, count = fresh.token("mine", "org:acme"), FIRST_BATCH + 40
    mine, theirs = (fresh.house.memory.for_caller(scope) for scope in ("org:acme", "org:bolt"))
    for n in range(count):
        (theirs if n % 3 else mine).remember(f"Number {n}.", subject=f"{n}")
    positions = [*range(1, count + 1, 3)]
    with stream(fresh, token, "?since=0") as feed:
        events = feed.events()
        assert [next(events)[0] for _ in positions] == positions
    pages, since = [], 0
    while True:
        page = fresh.ask("GET", f"/v1/journal?since={since}&limit=30", token).data
        pages.append([entry["seq"] for entry in page["entries"]])
        since = page["next"]
        if not page["more"]:
            break
    assert pages == [positions[:30], positions[30:60], positions[60:]]


@pytest.mark.parametrize("last", ["9" * 5000, "x", "-1", "1e3", "\u0663".encode().decode("latin-1"), ""])
def test_an_invalid_last_event_id_is_ignored(fresh: LiveServer, last: str) -> None:
    token = fresh.token("owner")
    fresh.remember(token, "The first.")
    with stream(fresh, token, "?since=0", f"Last-Event-ID: {last}") as feed:
        assert feed.status == 200
        assert next(feed.events())[0] == 1


def test_feeds_end_when_the_server_ends(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        opened_memory = [Stream(server, server.token(f"t{n}")) for n in range(5)]
        for item in opened_memory:
            next(item.messages())
    for item in opened_memory:
        assert list(item.messages()) == []
        item.close()


def test_many_listeners_share_one_query(fresh: LiveServer) -> None:
    token, feed = fresh.token("owner"), fresh.app.state.feed
    opened_memory = [Stream(fresh, token) for _ in range(20)]
    messages = [item.messages() for item in opened_memory]
    for message in messages:
        next(message)
    assert feed.listeners == 20
    assert feed.polled_scopes == {"org:local"}
    fresh.remember(token, "Heard by all.")
    assert all("data: " in next(message) for message in messages)
    for one in opened_memory:
        one.close()


def test_too_many_listeners_are_told_to_retry(tmp_path: Path) -> None:
    with run_server(tmp_path, max_listeners=1) as server:
        token = server.token("owner")
        with stream(server, token) as first:
            next(first.messages())
            with stream(server, token) as second:
                assert second.status == 503
                assert second.headers["retry-after"] == "10"


@pytest.mark.parametrize("query", ["?since=-1", "?since=x", "?since=1e3", "?token=1", "?from=3"])
def test_an_invalid_position_is_refused(server: LiveServer, owner: str, query: str) -> None:
    assert server.ask("GET", f"/v1/feed{query}", owner).status in (400, 422)
