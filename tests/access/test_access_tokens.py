from __future__ import annotations

import json
import multiprocessing
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina.access import AccessTokenStore, Caller, Right
from lamina.access.tokens import MAX_SESSIONS, SESSION_DAYS
from lamina.atom.trust import Origin
from lamina.clock import FixedClock
from lamina.errors import InvalidInput, InvalidScope, NotFound, StoreError

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def tokens(tmp_path: Path, clock: FixedClock) -> AccessTokenStore:
    return AccessTokenStore(tmp_path, clock.now)


def test_a_token_opens_with_its_secret_and_with_nothing_like_it(tokens: AccessTokenStore) -> None:
    token, secret = tokens.create("ci", "org:acme", Right.READ, Origin.AGENT)
    assert tokens.authenticate(secret) == Caller("ci", token.scope, Right.READ, Origin.AGENT, token.id)  # type: ignore[arg-type]
    for other in ("", "lam_", secret[:-1], secret + "x", secret.upper(), secret.lower(), token.hash, token.id):
        assert tokens.authenticate(other) is None or other == secret


def test_the_file_holds_no_secret_and_is_its_owners_alone(tokens: AccessTokenStore, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        _, secret = tokens.create("ci", "org:acme")
        session = tokens.open_session(secret)
    finally:
        os.umask(before)
    assert session is not None
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        held = file.read_text()
        assert secret not in held and secret[4:] not in held and session not in held and session[4:] not in held


def test_a_secret_has_256_random_bits(tokens: AccessTokenStore) -> None:
    made = {tokens.create(f"t{n}", "org:acme")[1] for n in range(20)}
    assert len(made) == 20
    assert all(len(secret.removeprefix("lam_")) == 43 for secret in made)


def test_a_revoked_token_opens_nothing_nor_its_sessions_also_for_who_has_read_the_file(
    tokens: AccessTokenStore, tmp_path: Path, clock: FixedClock
) -> None:
    _, secret = tokens.create("ci", "org:acme")
    session = tokens.open_session(secret)
    assert session is not None and tokens.authenticate(session) is not None
    AccessTokenStore(tmp_path, clock.now).revoke("ci")
    assert tokens.authenticate(secret) is None
    assert tokens.authenticate(session) is None
    assert tokens.open_session(secret) is None
    with pytest.raises(NotFound):
        tokens.revoke("ci")


def test_a_token_ends_with_its_last_day(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ci", "org:acme", days=2)
    session = tokens.open_session(secret)
    assert session is not None
    clock.at += timedelta(days=2) - timedelta(seconds=1)
    assert tokens.authenticate(secret) is not None and tokens.authenticate(session) is not None
    clock.at += timedelta(seconds=1)
    assert tokens.authenticate(secret) is None and tokens.authenticate(session) is None
    assert tokens.list() == []


def test_a_session_ends_after_its_days_and_when_it_is_closed(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ann", "org:acme", Right.ADMIN, Origin.HUMAN)
    first, second = tokens.open_session(secret), tokens.open_session(secret)
    assert first is not None and second is not None
    tokens.close_session(first)
    assert tokens.authenticate(first) is None and tokens.authenticate(second) is not None
    clock.at += timedelta(days=SESSION_DAYS)
    assert tokens.authenticate(second) is None and tokens.authenticate(secret) is not None


def test_a_session_opens_no_other_and_the_oldest_of_many_makes_way(tokens: AccessTokenStore) -> None:
    _, secret = tokens.create("ann", "org:acme")
    sessions = [tokens.open_session(secret) for _ in range(MAX_SESSIONS + 1)]
    assert None not in sessions
    assert tokens.open_session(sessions[-1] or "") is None
    assert tokens.authenticate(sessions[0] or "") is None
    assert all(tokens.authenticate(session or "") for session in sessions[1:])
    assert [each.name for each in tokens.list()] == ["ann"]


@pytest.mark.parametrize("name", ["", "Ann", "a b", "../x", "a" * 65, "a\n", "-a", "human", "lamina", "local"])
def test_a_name_that_could_mislead_is_refused(tokens: AccessTokenStore, name: str) -> None:
    with pytest.raises(InvalidInput):
        tokens.create(name, "org:acme")


def test_what_cannot_be_is_refused_and_nothing_is_made(tokens: AccessTokenStore) -> None:
    tokens.create("ci", "org:acme")
    with pytest.raises(InvalidInput):
        tokens.create("ci", "org:acme")
    with pytest.raises(InvalidScope):
        tokens.create("b", "*")
    with pytest.raises(InvalidInput):
        tokens.create("b", "org:acme", origin=Origin.WEB)
    with pytest.raises(InvalidInput):
        tokens.create("b", "org:acme", days=0)
    assert [each.name for each in tokens.list()] == ["ci"]


def test_a_damaged_file_opens_nothing_and_says_so(tokens: AccessTokenStore, tmp_path: Path) -> None:
    _, secret = tokens.create("ci", "org:acme")
    file = tmp_path / "tokens.json"
    (one,) = json.loads(file.read_text())
    other = (
        {"hash": 5},
        {"hash": "\u00e9"},
        {"scope": "all"},
        {"made_at": 5},
        {"made_at": "then"},
        {"of": 1},
        {"x": ""},
    )
    wrong = [json.dumps([{**one, **each}]) for each in (*other, {"name": None}, {"right": "all"})]
    for damage in ("", "{}x", "null", "[[1]]", "[" * 100_000, '[{"id": 1}]', json.dumps({"a": 1}), *wrong):
        file.write_text(damage)
        with pytest.raises(StoreError, match="damaged"):
            tokens.authenticate(secret)
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreError, match="no token is accepted"):
        tokens.authenticate(secret)
    with pytest.raises(StoreError):
        tokens.create("b", "org:acme")


def _make(folder: Path, n: int) -> None:
    AccessTokenStore(folder, lambda: NOON).create(f"t{n}", "org:acme")


def test_many_processes_make_tokens_and_none_is_lost(tmp_path: Path) -> None:
    run = multiprocessing.get_context("fork")
    others = [run.Process(target=_make, args=(tmp_path, n)) for n in range(8)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert {each.name for each in AccessTokenStore(tmp_path, lambda: NOON).list()} == {f"t{n}" for n in range(8)}


def test_each_right_covers_those_before_it() -> None:
    assert [[a.covers(b) for b in Right] for a in Right] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_a_name_is_free_again_once_its_token_is_over(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, first = tokens.create("ci", "org:acme", days=1)
    clock.at += timedelta(days=1)
    assert tokens.list() == []
    _, second = tokens.create("ci", "org:acme")
    assert tokens.authenticate(first) is None and tokens.authenticate(second) is not None
    assert [each.name for each in tokens.list()] == ["ci"]


def test_a_session_whose_token_is_gone_opens_nothing(tokens: AccessTokenStore, tmp_path: Path) -> None:
    """Also where another process revoked the token while the session was being opened."""
    _, secret = tokens.create("ann", "org:acme")
    session = tokens.open_session(secret)
    assert session is not None
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps([load for load in json.loads(file.read_text()) if load["of"] is not None]))
    assert tokens.authenticate(session) is None


def test_a_caller_is_welcome_for_as_long_as_what_it_came_with(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ann", "org:acme", days=3)
    one, two = tokens.open_session(secret), tokens.open_session(secret)
    callers = [tokens.authenticate(each or "") for each in (secret, one, two)]
    known = [caller for caller in callers if caller is not None]
    assert [tokens.is_authorised(each) for each in known] == [True, True, True]
    tokens.close_session(one or "")
    assert [tokens.is_authorised(each) for each in known] == [True, False, True]
    clock.at += timedelta(days=3)
    assert [tokens.is_authorised(each) for each in known] == [False, False, False]


def test_a_file_that_others_may_read_is_taken_from_them(tokens: AccessTokenStore, tmp_path: Path) -> None:
    _, secret = tokens.create("ann", "org:acme")
    (tmp_path / "tokens.json").chmod(0o666)
    assert tokens.authenticate(secret) is not None
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600
