"""What a new statement is to those already there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest

import lamina
from lamina import FixedClock, InvalidInput, Memory, Origin, Outcome, Result, Scope, Status
from lamina.atom.atom import IdSource
from lamina.capture.caller_input import parse_draft
from lamina.capture.capture import remember
from lamina.capture.statement_commit import Writer
from lamina.store.base import Commit, CommitResult, Store
from lamina.store.sqlite import SqliteStore

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
CITY: dict[str, Any] = {"subject": "Ann", "attribute": "city"}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def remember_city(memory: Memory, name: str, **fields: Any) -> Outcome:
    return memory.remember(f"Ann lives in {name}.", value=name, **{**CITY, **fields}).outcomes[0]


def current_values(memory: Memory) -> list[str]:
    return [hit.text for hit in memory.recall("where does Ann live").hits]


def test_a_first_value_is_new(memory: Memory) -> None:
    outcome = remember_city(memory, "Oslo")
    assert (outcome.result, outcome.reason) == (Result.NEW, "first value of ann::city")
    assert outcome.atom.recorded_at == NOON
    assert outcome.path is not None
    assert (memory.root / outcome.path).is_file()


@pytest.mark.parametrize("again", ["Tea is ready.", "TEA, is ready!!", "  tea\nis   ready"])
def test_the_same_text_is_a_duplicate_and_changes_nothing(memory: Memory, again: str) -> None:
    first = memory.remember("Tea is ready.")
    receipt = memory.remember(again)
    assert (receipt.outcomes[0].result, receipt.atom.id, receipt.commit) == (Result.DUPLICATE, first.atom.id, None)
    assert len(memory.list()) == len(memory.journal()) == 1


@pytest.mark.parametrize("other", [{"kind": "rule"}, {"subject": "x"}, {"subject": "x", "attribute": "y"}])
def test_the_same_text_about_another_subject_is_no_duplicate(memory: Memory, other: dict[str, Any]) -> None:
    memory.remember("Tea is ready.")
    assert memory.remember("Tea is ready.", **other).outcomes[0].result is Result.NEW


def test_texts_without_words_are_never_equal(memory: Memory) -> None:
    assert [memory.remember(text).outcomes[0].result for text in ("🦊", "🦊", "!!!")] == [Result.NEW] * 3


def test_the_same_value_in_other_words_is_a_duplicate(memory: Memory) -> None:
    first = remember_city(memory, "Oslo").atom
    outcome = memory.remember("Her home is Oslo", value="OSLO", **CITY).outcomes[0]
    assert (outcome.result, outcome.atom.id) == (Result.DUPLICATE, first.id)


def test_a_newer_value_supersedes_the_old_one_which_was_valid_until_then(memory: Memory, clock: FixedClock) -> None:
    old = remember_city(memory, "Oslo").atom
    clock.at = NOON + DAY
    outcome = remember_city(memory, "Rome")
    assert (outcome.result, outcome.reason) == (Result.SUPERSEDES, "ann::city changed")
    old, new = memory.get(old.id), memory.get(outcome.atom.id)
    assert (old.status, old.valid_until, old.superseded_by) == (Status.SUPERSEDED, NOON + DAY, (new.id,))
    assert (new.status, new.valid_from, new.supersedes) == (Status.ACTIVE, NOON + DAY, (old.id,))
    assert current_values(memory) == ["Ann lives in Rome."]
    transition = memory.status_history(old.id)[-1]
    assert (transition.old, transition.new) == (Status.ACTIVE, Status.SUPERSEDED)
    assert "ann::city changed" in transition.reason


def test_a_late_older_value_is_filed_as_past_and_changes_nothing(memory: Memory) -> None:
    new = remember_city(memory, "Rome").atom
    outcome = remember_city(memory, "Oslo", observed_at=NOON - 9 * DAY)
    late = outcome.atom
    assert (outcome.result, late.status) == (Result.SUPERSEDED, Status.SUPERSEDED)
    assert (late.valid_until, late.superseded_by) == (NOON, (new.id,))
    assert memory.get(new.id).supersedes == (late.id,)
    assert current_values(memory) == ["Ann lives in Rome."]


def test_a_late_older_value_keeps_its_stated_end(memory: Memory) -> None:
    remember_city(memory, "Rome")
    late = remember_city(memory, "Oslo", valid_from=NOON - 9 * DAY, valid_until=NOON - 8 * DAY).atom
    assert (late.valid_from, late.valid_until) == (NOON - 9 * DAY, NOON - 8 * DAY)


def test_two_values_of_one_moment_are_a_contradiction_for_review(memory: Memory) -> None:
    first = remember_city(memory, "Oslo", observed_at=NOON).atom
    outcome = remember_city(memory, "Rome", observed_at=NOON)
    assert (outcome.result, outcome.atom.status) == (Result.CHALLENGED, Status.CHALLENGED)
    assert [(relation.name, relation.target) for relation in outcome.atom.relations] == [("contradicts", first.id)]
    assert "waiting for review" in outcome.reason
    assert current_values(memory) == ["Ann lives in Oslo."]


def test_a_future_value_is_pending_until_its_day(memory: Memory, clock: FixedClock) -> None:
    old = remember_city(memory, "Oslo", observed_at=NOON - DAY).atom
    outcome = remember_city(memory, "Rome", valid_from=NOON + 9 * DAY)
    assert (outcome.result, outcome.reason) == (Result.SUPERSEDES, "ann::city will change on 2026-11-23")
    assert memory.get(old.id).status is Status.ACTIVE
    assert current_values(memory) == ["Ann lives in Oslo."]
    clock.at = NOON + 9 * DAY
    assert current_values(memory) == ["Ann lives in Rome."]


def test_a_change_today_is_valid_until_the_planned_day(memory: Memory, clock: FixedClock) -> None:
    old = remember_city(memory, "Oslo", observed_at=NOON - DAY).atom
    future = remember_city(memory, "Rome", valid_from=NOON + 9 * DAY).atom
    today = remember_city(memory, "Bonn", observed_at=NOON)
    assert (today.result, today.atom.status) == (Result.SUPERSEDES, Status.ACTIVE)
    assert (today.atom.valid_from, today.atom.valid_until) == (NOON, future.valid_from)
    assert memory.get(old.id).status is Status.SUPERSEDED
    assert current_values(memory) == ["Ann lives in Bonn."]
    clock.at = NOON + 10 * DAY
    assert current_values(memory) == ["Ann lives in Rome."]


def test_values_of_disjoint_times_coexist(memory: Memory) -> None:
    for name, year in (("Oslo", 2018), ("Rome", 2020), ("Oslo", 2022)):
        stretch = {"valid_from": datetime(year, 1, 1, tzinfo=UTC), "valid_until": datetime(year + 2, 1, 1, tzinfo=UTC)}
        assert remember_city(memory, name, **stretch).result is Result.NEW
    assert remember_city(memory, "Oslo").result is Result.NEW
    assert len(memory.list()) == 4
    ends = sorted(atom.valid_until.year for atom in memory.list() if atom.valid_until)
    assert ends == [2020, 2022, 2024]
    assert current_values(memory) == ["Ann lives in Oslo."]


def test_a_multi_valued_attribute_keeps_all_values(memory: Memory) -> None:
    for name in ("Bob", "Eve", "bob"):
        memory.remember(f"{name} is a friend of Ann", subject="Ann", attribute="friend", value=name)
    assert len(memory.list()) == 2
    assert all(atom.status is Status.ACTIVE for atom in memory.list(status=None))


def test_a_preference_that_surely_replaces_one_of_its_subject_supersedes_it(memory: Memory, clock: FixedClock) -> None:
    memory.remember("Ann prefers Dark Roast.", kind="preference", subject="coffee")
    clock.at += DAY
    outcome = memory.remember("Ann prefers Light Roast.", kind="preference", subject="Coffee").outcomes[0]
    assert (outcome.result, outcome.reason) == (Result.SUPERSEDES, "coffee::preference changed")


def test_preferences_of_one_person_about_different_things_stay_side_by_side(memory: Memory, clock: FixedClock) -> None:
    memory.remember("Ann prefers tea in the morning.", kind="preference", subject="Ann")
    clock.at += DAY
    outcome = memory.remember("Ann prefers window seats on trains.", kind="preference", subject="Ann").outcomes[0]
    assert (outcome.result, outcome.atom.supersedes, outcome.atom.relations) == (Result.NEW, (), ())
    assert {atom.content for atom in memory.list()} == {
        "Ann prefers tea in the morning.",
        "Ann prefers window seats on trains.",
    }
    assert memory.review.pairs() == []


def test_each_scope_has_its_own_claims(memory: Memory) -> None:
    remember_city(memory, "Oslo")
    with lamina.open(memory.root, "org:other", clock=FixedClock(NOON), watch=False) as other:
        assert remember_city(other, "Rome").result is Result.NEW
    assert current_values(memory) == ["Ann lives in Oslo."]


def test_many_statements_are_one_commit_and_are_compared_with_each_other(memory: Memory) -> None:
    receipt = memory.remember_many(
        [
            {"content": "Ann lives in Oslo.", **CITY, "observed_at": NOON - DAY},
            {"content": "Ann lives in Rome.", **CITY},
            {"content": "Ann lives in Rome.", **CITY},
            {"content": "Ann lives in Bonn.", **CITY},
        ]
    )
    assert [o.result for o in receipt.outcomes] == [Result.NEW, Result.SUPERSEDES, Result.DUPLICATE, Result.CHALLENGED]
    assert len(memory.journal()) == 1
    assert [atom.status for atom in memory.list(status=None)].count(Status.SUPERSEDED) == 1


def test_one_invalid_statement_rejects_the_whole_batch(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="content"):
        memory.remember_many([{"content": "good"}, {"content": "  "}])
    assert memory.list() == []


def test_ten_threads_with_different_values_leave_one_current_value(memory: Memory) -> None:
    failed: list[BaseException] = []
    start = threading.Barrier(10)

    def say(n: int) -> None:
        start.wait()
        try:
            remember_city(memory, f"City {n}", observed_at=NOON - n * DAY)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=say, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(memory.list(status=None)) == 10
    assert [atom.value for atom in memory.list()] == ["City 0"]
    assert memory.upkeep.doctor(deep=True).healthy


class RacingStore:
    """A store in which somebody else is quicker, once."""

    def __init__(self, store: Store, quicker: Callable[[], object]) -> None:
        self._store, self._quicker = store, [quicker]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def journal(self) -> RacingStore:
        return self

    def append(self, commit: Commit) -> CommitResult:
        if self._quicker:
            self._quicker.pop()()
        return self._store.journal.append(commit)


@pytest.mark.parametrize("words", ["Ann lives in Rome.", "Ann lives in Oslo."])
def test_a_writer_that_loses_a_race_for_the_first_value_classifies_again(tmp_path: Path, words: str) -> None:
    store = SqliteStore(tmp_path, FixedClock(NOON))
    writer, ids = Writer("test", Origin.HUMAN, None, Scope("org:local")), IdSource(os.urandom)

    def say(content: str, into: Store, at: datetime) -> Outcome:
        draft = parse_draft(content=content, observed_at=at, **CITY)
        return remember([draft], writer, into, ids, NOON, "r").outcomes[0]

    slow = RacingStore(store, lambda: say(words, store, NOON - DAY))
    outcome = say("Ann lives in Rome.", cast(Store, slow), NOON)
    assert outcome.result is (Result.DUPLICATE if "Rome" in words else Result.SUPERSEDES)
    store.close()


# What comes in from outside


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"content": ""}, "content: .*give a text"),
        ({"content": "x" * 70_000}, "content: longer than 64 KiB"),
        ({"content": "a\0"}, "content: .*NUL"),
        ({"content": None}, "content"),
        ({"kind": "Not A Kind"}, "kind"),
        ({"subject": "s" * 501}, "subject: longer than 500"),
        ({"tags": ["ok", 7]}, r"tags\.1"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"importance": -1}, "importance"),
        ({"valid_from": "someday"}, "valid_from"),
        ({"valid_from": "2026-02-02", "valid_until": "2026-01-01"}, "valid_until must be later"),
        ({"valid_from": NOON, "valid_until": NOON}, "valid_until must be later"),
        ({"observed_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))}, "observed_at: outside"),
        ({"layer": "attic"}, "layer"),
        ({"metadata": {"a": None}}, "metadata"),
        ({"status": "active"}, "status"),
        ({"scope": "org:other"}, "scope"),
        ({"id": "x"}, "id"),
        ({"recorded_at": NOON}, "recorded_at"),
        ({"principal": "somebody else"}, "principal"),
    ],
)
def test_invalid_input_is_refused_with_the_name_of_the_field(memory: Memory, fields: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        memory.remember_many([{"content": "tea", **fields}])
    assert memory.journal() == []


def test_missing_content_is_refused_with_the_name_of_the_field(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="content: is required"):
        memory.remember_many([{"kind": "fact"}])
    with pytest.raises(InvalidInput, match="nothing to remember"):
        memory.remember_many([])


@pytest.mark.parametrize("end", ["2026-11-14", date(2026, 11, 14)])
def test_a_bare_end_date_means_through_that_day(memory: Memory, clock: FixedClock, end: date | str) -> None:
    atom = memory.remember("The sale is on.", valid_until=end).atom
    assert atom.valid_until == datetime(2026, 11, 15, tzinfo=UTC)
    assert len(memory.recall("sale").hits) == 1
    clock.at = datetime(2026, 11, 15, tzinfo=UTC)
    assert memory.recall("sale").hits == ()


def test_times_are_utc_to_the_millisecond(memory: Memory) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    atom = memory.remember("x", observed_at=datetime(2026, 1, 1, 0, 0, 0, 123_999, tzinfo=east)).atom
    assert atom.observed_at == datetime(2025, 12, 31, 18, 30, 0, 123_000, tzinfo=UTC)


def test_a_kind_sets_traits_and_the_caller_may_override_them(memory: Memory) -> None:
    rule = memory.remember("Always test.", kind="rule").atom
    assert (rule.memory_type, rule.layer, rule.durability) == ("procedure", "procedural", "core")
    atom = memory.remember("Sometimes rest.", kind="rule", memory_type="fact", durability="ephemeral").atom
    assert (atom.memory_type, atom.layer, atom.durability) == ("fact", "procedural", "ephemeral")
    doubtful = memory.remember("Perhaps.", kind="rule", confidence=0.3).atom
    assert doubtful.layer == "episodic"
    assert memory.remember("Bip.", kind="my-own_kind").atom.kind == "my-own_kind"
