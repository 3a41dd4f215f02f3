"""Contracts of administration: problems of files, usage of chat models, the last recalls, access tokens and limits."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin, Scope
from lamina.errors import NotFound
from lamina.store.access import AccessToken, ReplyLimits, StoredReply
from lamina.store.admin import DailyUsage, FileProblem, ModelUsage, Recalls, Retention, SavedRecall, Usage
from lamina.testing.store_harness import ANN, DAY, LOCAL, NOON, Contract, StoreHarness, raises


class ProblemContract(Contract):
    """Tests of the list of problems."""

    def test_problems_are_listed_until_they_are_resolved(self, harness: StoreHarness) -> None:
        problems = harness.store.admin.problems
        problems.report(FileProblem("a.md", "unreadable", "line 3 is odd", 3))
        harness.clock.at = NOON + DAY
        problems.report(FileProblem("b.md", "duplicate-id", "twice"))
        problems.report(FileProblem("a.md", "ignored-field", "id", 1))
        problems.report(FileProblem("a.md", "unreadable", "line 3 is odd", 3))
        listed = problems.list()
        assert [(problem.path, problem.kind) for problem in listed] == [
            ("a.md", "unreadable"),
            ("a.md", "ignored-field"),
            ("b.md", "duplicate-id"),
        ]
        assert (listed[0].line, listed[0].message, listed[0].at) == (3, "line 3 is odd", NOON)
        problems.report(FileProblem("a.md", "unreadable", "line 4 is odd", 4))
        assert [problem.line for problem in problems.list() if problem.kind == "unreadable"] == [4]
        problems.clear("a.md", ["ignored-field", "no-such"])
        assert len(problems.list()) == 2
        problems.clear("a.md")
        problems.clear("nowhere.md")
        assert [problem.path for problem in problems.list()] == ["b.md"]


TODAY = date(2026, 11, 16)
TOMORROW = TODAY + timedelta(days=1)


def day_total(usage: Usage, day: date) -> ModelUsage:
    """Return what all models together used on a day."""
    used = [counted.usage for counted in usage.days() if counted.day == day]
    return ModelUsage(
        sum(one.calls for one in used),
        sum(one.tokens_in for one in used),
        sum(one.tokens_out for one in used),
        sum(one.money for one in used),
    )


class UsageContract(Contract):
    """Tests of the usage counted by day and model."""

    def test_usage_adds_up_by_day_and_model_over_all_processes(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            assert one.store.admin.usage.days() == []
            assert one.store.admin.usage.add(TODAY, "a", ModelUsage(1, 10, 2, 0.5)) == ModelUsage(1, 10, 2, 0.5)
            assert other.store.admin.usage.add(TODAY, "b", ModelUsage(1, 5, 1, 0.25)) == ModelUsage(2, 15, 3, 0.75)
            other.store.admin.usage.add(TOMORROW, "a", ModelUsage(calls=1))
            assert one.store.admin.usage.days() == [
                DailyUsage(TOMORROW, "a", ModelUsage(calls=1)),
                DailyUsage(TODAY, "a", ModelUsage(1, 10, 2, 0.5)),
                DailyUsage(TODAY, "b", ModelUsage(1, 5, 1, 0.25)),
            ]

    def test_usage_of_earlier_days_is_pruned(self, harness: StoreHarness) -> None:
        usage = harness.store.admin.usage
        usage.add(TODAY, "a", ModelUsage(calls=1)), usage.add(TOMORROW, "a", ModelUsage(calls=2))
        assert harness.store.admin.prune(Retention(NOON, TOMORROW))["usage"] == 1
        assert usage.days() == [DailyUsage(TOMORROW, "a", ModelUsage(calls=2))]


def hits_of(recalls: Recalls, recall_id: str, scope: Scope) -> list[AtomId] | None:
    """Return the atoms that a recall of this scope returned; None if it is unknown."""
    saved = recalls.read(scope, recall_id=recall_id)
    return list(saved[0].atom_ids) if saved else None


class RecallContract(Contract):
    """Tests of the recalls that are stored so that feedback can be given later."""

    def test_a_recall_is_known_after_reopening_in_its_scope_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            one, other = harness.add("one"), harness.add("other")
            harness.store.admin.recalls.save(SavedRecall("r1", (other.id, one.id, other.id)), NOON, LOCAL)
            harness.store.admin.recalls.save(SavedRecall("r2", ()), NOON, LOCAL)
        with self.open_harness(tmp_path) as harness:
            recalls = harness.store.admin.recalls
            assert hits_of(recalls, "r1", LOCAL) == [other.id, one.id]
            assert hits_of(recalls, "r2", LOCAL) == []
            assert hits_of(recalls, "r1", ANN) is hits_of(recalls, "r3", LOCAL) is None

    def test_a_recall_is_answered_once_by_its_own_scope(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.store.admin.recalls.save(SavedRecall("r1", (one.add().id,)), NOON, LOCAL)
            raises(NotFound, other.store.admin.recalls.mark_answered, "r1", ANN)
            raises(NotFound, other.store.admin.recalls.mark_answered, "r2", LOCAL)
            assert other.store.admin.recalls.mark_answered("r1", LOCAL)
            assert not one.store.admin.recalls.mark_answered("r1", LOCAL)

    def test_recent_recalls_of_a_scope_list_what_they_returned(self, harness: StoreHarness) -> None:
        recalls = harness.store.admin.recalls
        assert recalls.read(LOCAL, limit=5) == []
        a, b, c = (harness.add(word).id for word in ("one", "two", "three"))
        for name, ids, scope in (("r1", [a], LOCAL), ("r2", [b, c], LOCAL), ("r3", [c, b], LOCAL), ("r4", [a], ANN)):
            recalls.save(SavedRecall(name, tuple(ids)), NOON, scope)
        assert recalls.read(LOCAL) == [SavedRecall("r3", (c, b))]
        assert [recall.id for recall in recalls.read(LOCAL, limit=9)] == ["r3", "r2", "r1"]
        assert recalls.read(ANN, limit=9) == [SavedRecall("r4", (a,))]

    def test_old_recalls_are_pruned(self, harness: StoreHarness) -> None:
        recalls, atom = harness.store.admin.recalls, harness.add()
        assert harness.store.admin.prune(Retention(NOON, TODAY))["recalls"] == 0
        for days, scope in ((2, LOCAL), (1, ANN), (0, LOCAL)):
            recalls.save(SavedRecall(f"r{days}", (atom.id,)), NOON - days * DAY, scope)
        counts = [harness.store.admin.prune(Retention(NOON - DAY, TODAY))["recalls"] for _ in range(2)]
        assert counts == [1, 0]
        assert hits_of(recalls, "r2", LOCAL) is None
        assert hits_of(recalls, "r1", ANN) == hits_of(recalls, "r0", LOCAL) == [atom.id]

    def test_recalls_are_not_in_the_journal_and_survive_a_rebuild(self, harness: StoreHarness) -> None:
        atom = harness.add()
        harness.store.admin.recalls.save(SavedRecall("r1", (atom.id,)), NOON, LOCAL)
        harness.store.admin.rebuild_index()
        assert harness.journal.position() == 1
        assert hits_of(harness.store.admin.recalls, "r1", LOCAL) == [atom.id]


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
