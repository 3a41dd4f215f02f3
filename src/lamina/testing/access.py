"""Contract of what server processes share: tokens, replies to requests with an idempotency key, and rate limits."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from lamina.atom.provenance import Origin
from lamina.store.access import AccessToken, ReplyLimits, StoredReply
from lamina.testing.store_harness import DAY, LOCAL, NOON, Contract, StoreHarness

LIMITS = ReplyLimits(per_caller=2, in_total=3, max_bytes=100)
HOUR = timedelta(hours=1)


def make_token(id: str, name: str = "ci", *, of: str | None = None, expires_at: datetime | None = None) -> AccessToken:
    """Return a token, or a session of the token `of`."""
    return AccessToken(id, name, LOCAL, "read", Origin.AGENT, f"hash of {id}", NOON, expires_at, of)


class AccessContract(Contract):
    """Tests of the state that several server processes share."""

    def test_tokens_are_known_to_every_process_until_they_are_removed(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            access = one.store.admin.access
            assert access.list_tokens(NOON) == []
            token, session = make_token("a", expires_at=NOON + DAY), make_token("s", of="a")
            assert access.add_token(token, NOON, 2) and access.add_token(session, NOON, 2)
            assert other.store.admin.access.list_tokens(NOON) == [token, session]
            assert not other.store.admin.access.add_token(make_token("b"), NOON, 2)
            assert other.store.admin.access.add_token(make_token("b", "other name"), NOON, 2)
            other.store.admin.access.remove_token("a")
            assert [token.id for token in access.list_tokens(NOON)] == ["b"]
            access.remove_token("nothing")

    def test_a_token_ends_with_its_sessions_and_frees_its_name(self, harness: StoreHarness) -> None:
        access = harness.store.admin.access
        access.add_token(make_token("a", expires_at=NOON + DAY), NOON, 2)
        access.add_token(make_token("s", of="a"), NOON, 2)
        assert len(access.list_tokens(NOON + DAY - timedelta(seconds=1))) == 2
        assert access.list_tokens(NOON + DAY) == []
        assert not access.add_token(make_token("t", of="a"), NOON + DAY, 2)
        assert access.add_token(make_token("b"), NOON + DAY, 2)

    def test_only_the_latest_sessions_of_a_token_are_kept(self, harness: StoreHarness) -> None:
        access = harness.store.admin.access
        access.add_token(make_token("a"), NOON, 2)
        for n in range(3):
            access.add_token(make_token(f"s{n}", of="a"), NOON, 2)
        assert [token.id for token in access.list_tokens(NOON)] == ["a", "s1", "s2"]

    def test_a_key_belongs_to_one_request_and_its_reply_to_every_process(self, tmp_path: Path) -> None:
        reply = StoredReply(b"digest", 200, ((b"content-type", b"text/plain"),), b"done")
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            begun = one.store.admin.access.begin_reply("ann", "k", b"digest", NOON, NOON + HOUR)
            assert begun is None
            running = other.store.admin.access.begin_reply("ann", "k", b"digest", NOON, NOON + HOUR)
            assert running == StoredReply(b"digest")
            assert other.store.admin.access.begin_reply("bob", "k", b"other", NOON, NOON + HOUR) is None
            one.store.admin.access.finish_reply("ann", "k", reply, NOON + DAY, LIMITS)
            assert other.store.admin.access.begin_reply("ann", "k", b"digest", NOON, NOON + HOUR) == reply
            other.store.admin.access.finish_reply("bob", "k", None, NOON + DAY, LIMITS)
            assert one.store.admin.access.begin_reply("bob", "k", b"new", NOON, NOON + HOUR) is None

    def test_a_key_is_free_again_when_its_time_is_over(self, harness: StoreHarness) -> None:
        access = harness.store.admin.access
        access.begin_reply("ann", "k", b"one", NOON, NOON + HOUR)
        assert access.begin_reply("ann", "k", b"two", NOON + HOUR, NOON + DAY) is None
        access.finish_reply("ann", "k", StoredReply(b"two", 200, (), b"text"), NOON + DAY, LIMITS)
        assert access.begin_reply("ann", "k", b"three", NOON + DAY, NOON + 2 * DAY) is None

    def test_the_oldest_replies_over_the_limits_are_removed(self, harness: StoreHarness) -> None:
        def finish(caller: str, key: str, body: bytes = b"x") -> None:
            access.begin_reply(caller, key, b"d", NOON, NOON + HOUR)
            access.finish_reply(caller, key, StoredReply(b"d", 200, (), body), NOON + DAY, LIMITS)

        access = harness.store.admin.access
        keys = [("ann", "1"), ("ann", "2"), ("bob", "3"), ("ann", "4"), ("cid", "5")]
        for caller, key in keys:
            finish(caller, key)
        known = [access.begin_reply(caller, key, b"d", NOON, NOON + HOUR) is not None for caller, key in keys]
        assert known == [False, False, True, True, True]
        finish("dan", "6", b"x" * 100)
        assert access.begin_reply("cid", "5", b"d", NOON, NOON + HOUR) is None

    def test_clearing_removes_finished_replies_and_an_erasure_does_so(self, harness: StoreHarness) -> None:
        access = harness.store.admin.access
        for clear in (access.clear_replies, lambda: harness.erasures.finish([])):
            access.begin_reply("ann", "done", b"d", NOON, NOON + HOUR)
            access.finish_reply("ann", "done", StoredReply(b"d", 200, (), b"text"), NOON + DAY, LIMITS)
            access.begin_reply("ann", "running", b"d", NOON, NOON + HOUR)
            clear()
            assert access.begin_reply("ann", "running", b"d", NOON, NOON + HOUR) == StoredReply(b"d")
            assert access.begin_reply("ann", "done", b"d", NOON, NOON + HOUR) is None

    def test_requests_are_counted_over_all_processes_and_the_allowance_refills(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            assert one.store.admin.access.take("ann", 2, 0.0) == other.store.admin.access.take("ann", 2, 0.0) == 0.0
            assert one.store.admin.access.take("ann", 2, 0.0) == 30.0
            assert one.store.admin.access.take("bob", 2, 0.0) == 0.0
            assert other.store.admin.access.take("ann", 2, 30.0) == 0.0
            assert other.store.admin.access.take("ann", 2, 40.0) == 20.0
