"""Access tokens and sessions on `lamina.store.access`; the contract is in `lamina.testing.admin`."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina.access import AccessTokenStore, Principal, Right
from lamina.access.tokens import MAX_SESSIONS, SESSION_DAYS
from lamina.atom.provenance import Origin
from lamina.clock import FixedClock
from lamina.errors import InvalidInput, InvalidScope, NotFound, StoreError
from lamina.store.sqlite.access import SqliteAccess

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def tokens(tmp_path: Path, clock: FixedClock) -> Iterator[AccessTokenStore]:
    with closing(SqliteAccess(tmp_path)) as state:
        yield AccessTokenStore(state, clock.now)


def test_only_the_exact_secret_authenticates(tokens: AccessTokenStore) -> None:
    token, secret = tokens.create("ci", "org:acme", Right.READ, Origin.AGENT)
    assert tokens.authenticate(secret) == Principal("ci", token.scope, Right.READ, Origin.AGENT, token.id)
    for other in ("", "lam_", secret[:-1], secret + "x", secret.upper(), secret.lower(), token.hash, token.id):
        assert tokens.authenticate(other) is None or other == secret


def test_the_file_holds_no_secret(tokens: AccessTokenStore, tmp_path: Path) -> None:
    _, secret = tokens.create("ci", "org:acme")
    session = tokens.open_session(secret)
    assert session is not None
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert secret[4:].encode() not in data and session[4:].encode() not in data


def test_a_secret_has_256_random_bits(tokens: AccessTokenStore) -> None:
    result = {tokens.create(f"t{n}", "org:acme")[1] for n in range(20)}
    assert len(result) == 20
    assert all(len(secret.removeprefix("lam_")) == 43 for secret in result)


def test_a_revoked_token_and_its_sessions_stop_authenticating_even_for_readers_of_the_file(
    tokens: AccessTokenStore, tmp_path: Path, clock: FixedClock
) -> None:
    _, secret = tokens.create("ci", "org:acme")
    session = tokens.open_session(secret)
    assert session is not None and tokens.authenticate(session) is not None
    with closing(SqliteAccess(tmp_path)) as state:
        AccessTokenStore(state, clock.now).revoke("ci")
    assert tokens.authenticate(secret) is None
    assert tokens.authenticate(session) is None
    assert tokens.open_session(secret) is None
    with pytest.raises(NotFound):
        tokens.revoke("ci")


def test_a_token_expires_after_its_last_day(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ci", "org:acme", days=2)
    session = tokens.open_session(secret)
    assert session is not None
    clock.at += timedelta(days=2) - timedelta(seconds=1)
    assert tokens.authenticate(secret) is not None and tokens.authenticate(session) is not None
    clock.at += timedelta(seconds=1)
    assert tokens.authenticate(secret) is None and tokens.authenticate(session) is None
    assert tokens.list() == []


def test_a_session_ends_after_its_lifetime_and_when_it_is_closed(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ann", "org:acme", Right.ADMIN, Origin.HUMAN)
    first, second = tokens.open_session(secret), tokens.open_session(secret)
    assert first is not None and second is not None
    tokens.close_session(first)
    assert tokens.authenticate(first) is None and tokens.authenticate(second) is not None
    clock.at += timedelta(days=SESSION_DAYS)
    assert tokens.authenticate(second) is None and tokens.authenticate(secret) is not None


def test_a_session_authenticates_only_itself_and_the_oldest_of_many_is_dropped(tokens: AccessTokenStore) -> None:
    _, secret = tokens.create("ann", "org:acme")
    sessions = [tokens.open_session(secret) for _ in range(MAX_SESSIONS + 1)]
    assert None not in sessions
    assert tokens.open_session(sessions[-1] or "") is None
    assert tokens.authenticate(sessions[0] or "") is None
    assert all(tokens.authenticate(session or "") for session in sessions[1:])
    assert [atom.name for atom in tokens.list()] == ["ann"]


@pytest.mark.parametrize("name", ["", "Ann", "a b", "../x", "a" * 65, "a\n", "-a", "human", "lamina", "local"])
def test_a_misleading_name_is_refused(tokens: AccessTokenStore, name: str) -> None:
    with pytest.raises(InvalidInput):
        tokens.create(name, "org:acme")


def test_invalid_arguments_are_refused_and_no_token_is_made(tokens: AccessTokenStore) -> None:
    tokens.create("ci", "org:acme")
    with pytest.raises(InvalidInput):
        tokens.create("ci", "org:acme")
    with pytest.raises(InvalidScope):
        tokens.create("b", "*")
    with pytest.raises(InvalidInput):
        tokens.create("b", "org:acme", origin=Origin.WEB)
    with pytest.raises(InvalidInput):
        tokens.create("b", "org:acme", days=0)
    assert [atom.name for atom in tokens.list()] == ["ci"]


RECORD = {
    "id": "0123456789ab",
    "name": "ci",
    "scope": "org:acme",
    "right": "read",
    "origin": "agent",
    "hash": hashlib.sha256(b"lam_" + b"a" * 43).hexdigest(),
    "made_at": "2026-03-01T12:00:00Z",
    "expires_at": None,
    "of": None,
}


def test_the_token_file_of_earlier_versions_is_adopted_once(tokens: AccessTokenStore, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    session = {**RECORD, "id": "session", "hash": hashlib.sha256(b"las_" + b"b" * 43).hexdigest(), "of": RECORD["id"]}
    file.write_text(json.dumps([RECORD, session]))
    caller = tokens.authenticate("lam_" + "a" * 43)
    assert caller is not None and (caller.name, caller.right, caller.token) == ("ci", Right.READ, RECORD["id"])
    assert tokens.authenticate("las_" + "b" * 43) is not None
    assert not file.exists()
    tokens.revoke("ci")
    assert tokens.authenticate("lam_" + "a" * 43) is tokens.authenticate("las_" + "b" * 43) is None


def test_an_interrupted_adoption_is_repeated_without_a_second_token(tmp_path: Path, clock: FixedClock) -> None:
    for _ in range(2):
        (tmp_path / "tokens.json").write_text(json.dumps([RECORD]))
        with closing(SqliteAccess(tmp_path)) as state:
            assert [token.name for token in AccessTokenStore(state, clock.now).list()] == ["ci"]


def test_a_damaged_token_file_admits_no_one_and_is_reported(tokens: AccessTokenStore, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    other = (
        {"hash": 5},
        {"hash": "\u00e9"},
        {"scope": "all"},
        {"made_at": 5},
        {"made_at": "then"},
        {"of": 1},
        {"x": ""},
    )
    wrong = [json.dumps([{**RECORD, **item}]) for item in (*other, {"name": None}, {"right": "all"})]
    for damage in ("", "{}x", "null", "[[1]]", "[" * 100_000, '[{"id": 1}]', json.dumps({"a": 1}), *wrong):
        file.write_text(damage)
        with pytest.raises(StoreError, match="damaged"):
            tokens.authenticate("lam_" + "a" * 43)
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreError, match="no token is accepted"):
        tokens.create("b", "org:acme")


def test_a_damaged_database_admits_no_one_and_is_not_replaced(tmp_path: Path, clock: FixedClock) -> None:
    (tmp_path / "access.db").write_bytes(b"no database" * 1000)
    with closing(SqliteAccess(tmp_path)) as state, pytest.raises(StoreError):
        AccessTokenStore(state, clock.now).authenticate("lam_" + "a" * 43)
    assert (tmp_path / "access.db").read_bytes() == b"no database" * 1000


def _make(folder: Path, n: int) -> None:
    with closing(SqliteAccess(folder)) as state:
        AccessTokenStore(state, lambda: NOON).create(f"t{n}", "org:acme")


def test_tokens_made_by_many_processes_are_all_stored(tokens: AccessTokenStore, tmp_path: Path) -> None:
    run = multiprocessing.get_context("fork")
    others = [run.Process(target=_make, args=(tmp_path, n)) for n in range(8)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert {token.name for token in tokens.list()} == {f"t{n}" for n in range(8)}


def test_each_right_includes_the_lower_ones() -> None:
    assert [[a.covers(b) for b in Right] for a in Right] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_a_name_can_be_reused_once_its_token_has_ended(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, first = tokens.create("ci", "org:acme", days=1)
    clock.at += timedelta(days=1)
    assert tokens.list() == []
    _, second = tokens.create("ci", "org:acme")
    assert tokens.authenticate(first) is None and tokens.authenticate(second) is not None
    assert [atom.name for atom in tokens.list()] == ["ci"]


def test_a_caller_stays_valid_as_long_as_its_credential(tokens: AccessTokenStore, clock: FixedClock) -> None:
    _, secret = tokens.create("ann", "org:acme", days=3)
    one, two = tokens.open_session(secret), tokens.open_session(secret)
    callers = [tokens.authenticate(item or "") for item in (secret, one, two)]
    known_value = [caller for caller in callers if caller is not None]
    assert [tokens.is_authorised(item) for item in known_value] == [True, True, True]
    tokens.close_session(one or "")
    assert [tokens.is_authorised(item) for item in known_value] == [True, False, True]
    clock.at += timedelta(days=3)
    assert [tokens.is_authorised(item) for item in known_value] == [False, False, False]
