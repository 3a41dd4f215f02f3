"""Queries about another time return what was true and known then, whatever happened later.

Covers `lamina.recall.widening_search`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lamina
from lamina import Atom, FixedClock, Memory, Recall, Settings, Status
from lamina.atom.atom import IdSource
from lamina.atom.provenance import Origin
from lamina.atom.status import ENDED
from lamina.errors import InvalidInput, LaminaError, NotFound
from lamina.store.base import AtomChange, Commit

DAY = timedelta(days=1)


def day_of_march(number: int, hour: int = 9) -> datetime:
    return datetime(2026, 3, number, hour, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(day_of_march(1))


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    settings = Settings(embedder="none", extractor="none", background=False)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, settings=settings) as opened_memory:
        yield opened_memory


def texts(result: Recall) -> set[str]:
    return {hit.text for hit in result.hits}


def commit_many(memory: Memory, atoms: Sequence[Atom | str], **fields: Any) -> tuple[Atom, ...]:
    """Many atoms in one commit, without a look at what they say."""
    at, ids = memory.now(), IdSource(os.urandom)
    result = [
        Atom(id=ids.new(at), scope=memory.scope, kind="fact", content=atom, observed_at=at, **fields)
        if isinstance(atom, str)
        else atom.with_(**fields)
        for atom in atoms
    ]
    commit = Commit(
        actor="test",
        origin=Origin.HUMAN,
        verb="write",
        reason="because",
        scope=memory.scope,
        changes=tuple(map(AtomChange, result)),
    )
    return memory.engine.store.journal.append(commit).atoms


def remember_city(memory: Memory, city: str, **fields: Any) -> Atom:
    return memory.remember(f"Ann lives in {city}", subject="Ann", attribute="city", value=city, **fields).atom


def recalled_cities(memory: Memory, **when: Any) -> set[str]:
    return {text.removeprefix("Ann lives in ") for text in texts(memory.recall("where does Ann live?", **when))}


class TestAsOf:
    def test_a_superseded_statement_is_returned_as_of_its_time(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Lisbon")
        clock.at = day_of_march(9)
        assert recalled_cities(memory) == recalled_cities(memory, as_of=day_of_march(6)) == {"Lisbon"}
        assert recalled_cities(memory, as_of=day_of_march(4)) == {"Porto"}
        assert recalled_cities(memory, as_of=day_of_march(5)) == {"Lisbon"}
        assert recalled_cities(memory, as_of=day_of_march(1) - DAY) == set()

    def test_a_future_time_shows_announced_values(self, memory: Memory) -> None:
        remember_city(memory, "Porto")
        remember_city(memory, "Faro", valid_from=day_of_march(20))
        assert (
            recalled_cities(memory),
            recalled_cities(memory, as_of=day_of_march(19)),
            recalled_cities(memory, as_of=day_of_march(20)),
        ) == ({"Porto"}, {"Porto"}, {"Faro"})

    def test_wrong_retracted_and_pending_statements_were_never_true(self, memory: Memory, clock: FixedClock) -> None:
        wrong = memory.remember("the blue tea tastes of fish")
        memory.update_status(wrong.atom.id, "invalidated", "never so")
        receipt = memory.remember("the red tea tastes of fish")
        memory.forget(receipt.atom.id, "private")
        memory.remember("the black tea tastes of fish", origin="web")
        clock.at = day_of_march(5)
        assert texts(memory.recall("tea fish", as_of=day_of_march(3))) == set()

    def test_a_correction_applies_to_the_past_but_not_to_what_was_known(
        self, memory: Memory, clock: FixedClock
    ) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Faro", tags=("correction",))
        assert recalled_cities(memory, as_of=day_of_march(3)) == {"Faro"}
        assert recalled_cities(memory, as_of=day_of_march(3), known_at=day_of_march(4)) == {"Porto"}

    def test_later_text_is_not_shown(self, memory: Memory, clock: FixedClock) -> None:
        early, late = "a kettle whistles in the yard", "whose kettle is this?"
        clock.at = day_of_march(8)
        memory.capture(
            [
                {"speaker": "Ann", "content": early, "at": day_of_march(2)},
                {"speaker": "Bob", "content": late, "at": day_of_march(6)},
            ],
            session_id="kettles",
        )
        assert texts(memory.recall("kettle", as_of=day_of_march(3))) == {early}
        assert texts(memory.recall("kettle", as_of=day_of_march(7))) == {early, late}

    def test_as_of_now_equals_ordinary_recall(self, memory: Memory, clock: FixedClock) -> None:
        _random_changes(memory, clock, Random(3), 60)
        for question in ("tea", "kettle Ann", "green"):
            assert _hit_summaries(memory.recall(question, 100, as_of=clock.at)) == _hit_summaries(
                memory.recall(question, 100)
            )

    def test_included_statuses_are_shown_beside_what_was_true(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Lisbon")
        clock.at = day_of_march(9)
        remember_city(memory, "Faro")
        assert recalled_cities(memory, as_of=day_of_march(6), include="history") == {"Porto", "Lisbon"}
        assert recalled_cities(memory, as_of=day_of_march(6)) == {"Lisbon"}


class TestKnownAt:
    def test_an_atom_has_its_earlier_text_and_status(self, memory: Memory, clock: FixedClock) -> None:
        atom = memory.remember("the wifi word is zebra").atom
        clock.at = day_of_march(3)
        memory.revise(atom.id, "the wifi word is panther", reason="changed")
        clock.at = day_of_march(5)
        memory.forget(atom.id, "secret")
        clock.at = day_of_march(9)
        result = {n: texts(memory.recall("what is the wifi word?", known_at=day_of_march(n))) for n in (2, 4, 6)}
        assert result == {2: {"the wifi word is zebra"}, 4: {"the wifi word is panther"}, 6: set()}
        assert texts(memory.recall("zebra", known_at=day_of_march(2))) == {"the wifi word is zebra"}
        assert texts(memory.recall("panther", known_at=day_of_march(2))) == set()
        assert texts(memory.recall("zebra", known_at=day_of_march(4))) == set()
        (hit,) = memory.recall("wifi", known_at=day_of_march(4)).hits
        assert (hit.atom.status, hit.atom.revision) == (Status.ACTIVE, 2)

    def test_text_a_person_removed_from_a_session_is_known_before(self, memory: Memory, clock: FixedClock) -> None:
        turns = [{"speaker": "Ann", "content": words} for words in ("tea is in the copper tin", "milk is in the crate")]
        segment = memory.capture(turns, session_id="kitchen").atom
        clock.at = day_of_march(3)
        cut = segment.content[: segment.content.index("**Ann**", 5)].rstrip()
        memory.revise(segment.id, cut, reason="cut")
        clock.at = day_of_march(5)
        assert texts(memory.recall("what is in the crate?")) & {"milk is in the crate"} == set()
        assert "milk is in the crate" in texts(memory.recall("what is in the crate?", known_at=day_of_march(2)))

    def test_a_session_that_grew_has_its_earlier_length(self, memory: Memory, clock: FixedClock) -> None:
        text = [
            "a kettle whistles in the yard",
            "whose kettle is this?",
            "Bob mended a kettle",
            "kettle or pot, ask Eve",
        ]
        for n, words in enumerate(text, 1):
            clock.at = day_of_march(n)
            memory.capture([{"speaker": "Ann", "content": words}], session_id="kettles")
        for n in range(1, 5):
            assert texts(memory.recall("kettle", known_at=day_of_march(n))) == set(text[:n])

    def test_a_bare_date_ends_for_known_at_and_begins_for_as_of(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(2)
        remember_city(memory, "Faro")
        for of in ("2026-03-02", date(2026, 3, 2)):
            assert recalled_cities(memory, known_at=of) == {"Faro"}
            assert recalled_cities(memory, as_of=of) == {"Porto"}
        assert (
            recalled_cities(memory, known_at="2026-03-01")
            == recalled_cities(memory, known_at="2026-03-02T08:59")
            == {"Porto"}
        )
        assert recalled_cities(memory, known_at="2026-02-28") == set()

    @pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "", "0001-01-01T00:00+14:00"])
    def test_an_invalid_time_is_refused(self, memory: Memory, text: str) -> None:
        for when in ("as_of", "known_at"):
            with pytest.raises(InvalidInput, match="is not a time"):
                memory.recall("tea", **{when: text})  # type: ignore[arg-type]

    def test_an_erased_statement_is_known_at_no_time(self, memory: Memory, clock: FixedClock) -> None:
        atom = memory.remember("the wifi word is zebra").atom
        memory.revise(atom.id, "the wifi word is panther", reason="changed")
        clock.at = day_of_march(3)
        memory.erase(atom.id)
        assert memory.recall("what is the wifi word, zebra or panther?", known_at=day_of_march(2)).hits == ()
        assert memory.list(status=None, known_at=day_of_march(2)) == []
        with pytest.raises(LaminaError):
            memory.get(atom.id, known_at=day_of_march(2))

    def test_the_recall_reports_the_position_and_the_times(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Faro")
        result = memory.recall("where does Ann live?", known_at=day_of_march(3), as_of=day_of_march(2))
        assert result.position == 1
        assert dict(result.understood)["known at"] == "2026-03-03 09:00 UTC"
        assert dict(result.understood)["as of"] == "2026-03-02 09:00 UTC"
        assert memory.recall("where does Ann live?").position == 2

    def test_current_core_memories_are_not_in_a_past_context(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        memory.pin(memory.remember("the cat is called Moth").atom.id)
        assert "Moth" in memory.recall("where does Ann live?").context()
        assert "Moth" not in memory.recall("where does Ann live?", known_at=day_of_march(3)).context()

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("embedder", ["none", "light"])
    def test_past_atoms_text_and_statuses_never_change(
        self, tmp_path: Path, clock: FixedClock, seed: int, embedder: str
    ) -> None:
        settings, random = Settings(embedder=embedder, background=False), Random(seed)
        result: list[tuple[datetime, dict[str, object]]] = []
        with lamina.open(tmp_path / "vault", clock=clock, watch=False, settings=settings) as memory:
            for _ in range(4):
                _random_changes(memory, clock, random, 10)
                clock.at += timedelta(hours=1)
                result.append((clock.at, _visible_state(memory, known_at=clock.at)))
                assert result[-1][1]["recall"] == _hit_summaries(memory.recall("tea kettle", 100)), f"seed {seed}"
                clock.at += timedelta(hours=1)
            for moment, then in result:
                assert _visible_state(memory, known_at=moment) == then, f"seed {seed}"
            memory.upkeep.rebuild()
            for moment, then in result:
                assert _visible_state(memory, known_at=moment) == then, f"seed {seed}, rebuilt"

    def test_past_statements_are_found_however_many_ended_since(self, memory: Memory, clock: FixedClock) -> None:
        atoms = commit_many(memory, [f"green tea, sort {n}" for n in range(300)])
        commit_many(memory, atoms[10:], status=Status.TOMBSTONED)
        clock.at = day_of_march(5)
        commit_many(memory, [f"green tea tea, lot {n}" for n in range(300)])
        assert len(memory.recall("green tea", 20, known_at=day_of_march(4)).hits) == 10


class TestListAndGet:
    def test_a_list_is_as_it_was(self, memory: Memory, clock: FixedClock) -> None:
        porto = remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        faro = remember_city(memory, "Faro")
        memory.revise(faro.id, kind="goal", reason="moved")
        clock.at = day_of_march(9)
        tea = memory.remember("tea").atom

        def listed(**wanted: Any) -> list[str]:
            return [atom.id for atom in memory.list(**wanted)]

        assert listed() == [tea.id, faro.id]
        assert listed(as_of=day_of_march(3)) == [porto.id] == listed(known_at=day_of_march(3))
        assert listed(known_at=day_of_march(6), status="superseded") == [porto.id]
        assert listed(as_of=day_of_march(3), status="superseded") == [porto.id]
        assert listed(as_of=day_of_march(6), status="superseded") == []
        assert listed(known_at=day_of_march(6), status=None) == [faro.id, porto.id]
        assert listed(as_of=day_of_march(8), status=None) == [faro.id, porto.id]
        assert listed(known_at=day_of_march(6), kind="fact") == [] and listed(
            known_at=day_of_march(6), kind="goal"
        ) == [faro.id]
        assert (
            listed(known_at=day_of_march(6), subject="ann") == [faro.id]
            and listed(known_at=day_of_march(9), subject="bob") == []
        )
        assert listed(known_at=day_of_march(9), limit=1) == [tea.id] and listed(known_at=day_of_march(9), offset=1) == [
            faro.id
        ]

    def test_pages_of_a_past_list_are_consistent(self, memory: Memory, clock: FixedClock) -> None:
        for n in range(3):
            clock.at = day_of_march(1 + n)
            commit_many(memory, [f"tea {n} {m}" for m in range(400)])
        whole = [atom.id for atom in memory.list(status=None, known_at=day_of_march(2), limit=None)]
        assert len(whole) == 800
        pages = [
            memory.list(status=None, known_at=day_of_march(2), limit=300, offset=start) for start in (0, 300, 600, 900)
        ]
        assert [atom.id for page in pages for atom in page] == whole

    def test_an_atom_is_returned_as_it_was_or_not_at_all(self, memory: Memory, clock: FixedClock) -> None:
        clock.at = day_of_march(2)
        atom = remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Faro")
        assert memory.get(atom.id).status is Status.SUPERSEDED
        assert memory.get(atom.id, known_at=day_of_march(3)).status is Status.ACTIVE
        assert memory.get(atom.id, as_of=day_of_march(3)).status is Status.SUPERSEDED
        assert memory.get(atom.id[-8:], known_at=day_of_march(3), as_of=day_of_march(20)).valid_until is None
        with pytest.raises(NotFound, match="was known at 2026-03-01"):
            memory.get(atom.id, known_at=day_of_march(1))
        with pytest.raises(NotFound, match=r"was not true as of 2026-03-06.*over"):
            memory.get(atom.id, as_of=day_of_march(6))

    def test_no_caller_reads_another_scopes_past(self, tmp_path: Path, clock: FixedClock) -> None:
        with lamina.open(tmp_path, "org:acme", clock=clock, watch=False, background=False) as theirs:
            atom = theirs.remember("the acme tea is green").atom
            theirs.revise(atom.id, "the acme tea is black", reason="changed")
        clock.at = day_of_march(5)
        with lamina.open(tmp_path, clock=clock, watch=False, background=False) as ours:
            moments: list[dict[str, Any]] = [{"as_of": day_of_march(4)}, {"known_at": day_of_march(4)}]
            for when in moments:
                assert ours.recall("acme tea green black", **when).hits == ()
                assert ours.list(status=None, **when) == []
                with pytest.raises(NotFound):
                    ours.get(atom.id, **when)

    def test_the_plain_ranking_supports_other_times_too(self, memory: Memory, clock: FixedClock) -> None:
        remember_city(memory, "Porto")
        clock.at = day_of_march(5)
        remember_city(memory, "Faro")
        assert recalled_cities(memory, ranking="plain") == {"Faro"}
        for when in ({"as_of": day_of_march(3)}, {"known_at": day_of_march(3)}):
            assert recalled_cities(memory, ranking="plain", **when) == {"Porto"}


def _hit_summaries(result: Recall) -> set[tuple[str, int, str, str]]:
    return {(hit.atom.id, hit.passage.n, hit.passage.text, hit.atom.status.value) for hit in result.hits}


def _visible_state(memory: Memory, **when: Any) -> dict[str, object]:
    """All that can be seen of a small store at a moment."""
    return {
        "recall": _hit_summaries(memory.recall("tea kettle", 100, **when)),
        "list": [(atom.id, atom.content, atom.status) for atom in memory.list(status=None, limit=None, **when)],
        "active": {atom.id for atom in memory.list(limit=None, **when)},
    }


def _random_changes(memory: Memory, clock: FixedClock, random: Random, steps: int) -> None:
    """Whatever can happen to a handful of statements about tea."""
    for n in range(steps):
        clock.at += timedelta(minutes=random.randint(0, 90))
        atoms = memory.list(status=None, limit=None)
        atom = random.choice(atoms) if atoms else None
        mark = f"{random.randrange(10**6)} {n}"
        try:
            match random.choice(["remember", "remember", "claim", "capture", "revise", "forget", "restore", "undo"]):
                case "remember":
                    memory.remember(f"tea fact {mark}", subject=f"sort {mark}")
                case "claim":
                    memory.remember(f"Ann keeps tea in tin {mark}", subject="Ann", attribute="tin", value=mark)
                case "capture":
                    memory.capture([{"speaker": "Ann", "content": f"kettle {mark} sings"}], session_id="kettles")
                case "revise" if atom and not atom.is_segment:
                    memory.revise(atom.id, f"tea revised {mark}", reason="better")
                case "forget" if atom:
                    memory.forget(atom.id, "enough")
                case "restore" if atom and atom.status in ENDED:
                    memory.update_status(atom.id, "active", "after all")
                case "undo":
                    memory.undo()
        except LaminaError:
            pass
