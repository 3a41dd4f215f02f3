"""Questions of another time: what was true and what was known then, and that nothing that comes later touches it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lamina import Atom, FixedClock, Memory, Recall, Settings, Status
from lamina.atom.identity import IdSource
from lamina.atom.status import ENDED
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput, LaminaError, NotFound
from lamina.store.base import AtomChange, Commit

DAY = timedelta(days=1)


def day(number: int, hour: int = 9) -> datetime:
    return datetime(2026, 3, number, hour, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(day(1))


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    settings = Settings(embedder="none", extractor="none", background=False)
    with Memory(tmp_path / "vault", clock=clock, watch=False, settings=settings) as opened:
        yield opened


def texts(found: Recall) -> set[str]:
    return {hit.text for hit in found.hits}


def written(memory: Memory, atoms: Sequence[Atom | str], **fields: Any) -> tuple[Atom, ...]:
    """Many atoms in one commit, without a look at what they say."""
    at, ids = memory.now(), IdSource(os.urandom)
    made = [
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
        changes=tuple(map(AtomChange, made)),
    )
    return memory._store.commit(commit).atoms


def lives(memory: Memory, city: str, **fields: Any) -> Atom:
    return memory.remember(f"Ann lives in {city}", subject="Ann", attribute="city", value=city, **fields).atom


def asked(memory: Memory, **when: Any) -> set[str]:
    return {text.removeprefix("Ann lives in ") for text in texts(memory.recall("where does Ann live?", **when))}


class TestWhatWasTrue:
    def test_what_was_replaced_is_told_as_of_its_time(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Lisbon")
        clock.at = day(9)
        assert asked(memory) == asked(memory, as_of=day(6)) == {"Lisbon"}
        assert asked(memory, as_of=day(4)) == {"Porto"}
        assert asked(memory, as_of=day(5)) == {"Lisbon"}
        assert asked(memory, as_of=day(1) - DAY) == set()

    def test_a_future_moment_shows_what_is_announced(self, memory: Memory) -> None:
        lives(memory, "Porto")
        lives(memory, "Faro", valid_from=day(20))
        assert (asked(memory), asked(memory, as_of=day(19)), asked(memory, as_of=day(20))) == (
            {"Porto"},
            {"Porto"},
            {"Faro"},
        )

    def test_what_was_wrong_or_taken_back_or_waits_was_never_true(self, memory: Memory, clock: FixedClock) -> None:
        wrong = memory.remember("the blue tea tastes of fish")
        memory.update_status(wrong.atom.id, "invalidated", "never so")
        gone = memory.remember("the red tea tastes of fish")
        memory.forget(gone.atom.id, "private")
        memory.remember("the black tea tastes of fish", origin="web")
        clock.at = day(5)
        assert texts(memory.recall("tea fish", as_of=day(3))) == set()

    def test_a_correction_reaches_back_but_not_into_what_was_known(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Faro", tags=("correction",))
        assert asked(memory, as_of=day(3)) == {"Faro"}
        assert asked(memory, as_of=day(3), known_at=day(4)) == {"Porto"}

    def test_words_said_later_are_not_shown(self, memory: Memory, clock: FixedClock) -> None:
        early, late = "a kettle whistles in the yard", "whose kettle is this?"
        clock.at = day(8)
        memory.capture(
            [{"speaker": "Ann", "content": early, "at": day(2)}, {"speaker": "Bob", "content": late, "at": day(6)}],
            session_id="kettles",
        )
        assert texts(memory.recall("kettle", as_of=day(3))) == {early}
        assert texts(memory.recall("kettle", as_of=day(7))) == {early, late}

    def test_at_this_moment_it_is_what_recall_finds_anyway(self, memory: Memory, clock: FixedClock) -> None:
        _live(memory, clock, Random(3), 60)
        for question in ("tea", "kettle Ann", "green"):
            assert _shown(memory.recall(question, 100, as_of=clock.at)) == _shown(memory.recall(question, 100))

    def test_included_statuses_are_shown_beside_what_was_true(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Lisbon")
        clock.at = day(9)
        lives(memory, "Faro")
        assert asked(memory, as_of=day(6), include="history") == {"Porto", "Lisbon"}
        assert asked(memory, as_of=day(6)) == {"Lisbon"}


class TestWhatWasKnown:
    def test_an_atom_has_the_words_and_the_status_it_had(self, memory: Memory, clock: FixedClock) -> None:
        atom = memory.remember("the wifi word is zebra").atom
        clock.at = day(3)
        memory.revise(atom.id, "the wifi word is panther", reason="changed")
        clock.at = day(5)
        memory.forget(atom.id, "secret")
        clock.at = day(9)
        told = {n: texts(memory.recall("what is the wifi word?", known_at=day(n))) for n in (2, 4, 6)}
        assert told == {2: {"the wifi word is zebra"}, 4: {"the wifi word is panther"}, 6: set()}
        assert texts(memory.recall("zebra", known_at=day(2))) == {"the wifi word is zebra"}
        assert texts(memory.recall("panther", known_at=day(2))) == set()
        assert texts(memory.recall("zebra", known_at=day(4))) == set()
        (hit,) = memory.recall("wifi", known_at=day(4)).hits
        assert (hit.atom.status, hit.atom.revision) == (Status.ACTIVE, 2)

    def test_words_a_person_cut_out_of_a_session_are_known_before(self, memory: Memory, clock: FixedClock) -> None:
        turns = [{"speaker": "Ann", "content": words} for words in ("tea is in the copper tin", "milk is in the crate")]
        segment = memory.capture(turns, session_id="kitchen").atom
        clock.at = day(3)
        cut = segment.content[: segment.content.index("**Ann**", 5)].rstrip()
        memory.revise(segment.id, cut, reason="cut")
        clock.at = day(5)
        assert texts(memory.recall("what is in the crate?")) & {"milk is in the crate"} == set()
        assert "milk is in the crate" in texts(memory.recall("what is in the crate?", known_at=day(2)))

    def test_a_session_that_grew_is_known_as_long_as_it_was(self, memory: Memory, clock: FixedClock) -> None:
        said = [
            "a kettle whistles in the yard",
            "whose kettle is this?",
            "Bob mended a kettle",
            "kettle or pot, ask Eve",
        ]
        for n, words in enumerate(said, 1):
            clock.at = day(n)
            memory.capture([{"speaker": "Ann", "content": words}], session_id="kettles")
        for n in range(1, 5):
            assert texts(memory.recall("kettle", known_at=day(n))) == set(said[:n])

    def test_a_bare_date_is_over_for_what_was_known_and_begins_for_what_was_true(
        self, memory: Memory, clock: FixedClock
    ) -> None:
        lives(memory, "Porto")
        clock.at = day(2)
        lives(memory, "Faro")
        for of in ("2026-03-02", date(2026, 3, 2)):
            assert asked(memory, known_at=of) == {"Faro"}
            assert asked(memory, as_of=of) == {"Porto"}
        assert asked(memory, known_at="2026-03-01") == asked(memory, known_at="2026-03-02T08:59") == {"Porto"}
        assert asked(memory, known_at="2026-02-28") == set()

    @pytest.mark.parametrize("given", ["yesterday", "2026-13-01", "", "0001-01-01T00:00+14:00"])
    def test_what_is_no_time_is_refused(self, memory: Memory, given: str) -> None:
        for when in ("as_of", "known_at"):
            with pytest.raises(InvalidInput, match="is not a time"):
                memory.recall("tea", **{when: given})  # type: ignore[arg-type]

    def test_what_was_erased_is_known_at_no_moment(self, memory: Memory, clock: FixedClock) -> None:
        atom = memory.remember("the wifi word is zebra").atom
        memory.revise(atom.id, "the wifi word is panther", reason="changed")
        clock.at = day(3)
        memory.erase(atom.id)
        assert memory.recall("what is the wifi word, zebra or panther?", known_at=day(2)).hits == ()
        assert memory.list(status=None, known_at=day(2)) == []
        with pytest.raises(LaminaError):
            memory.get(atom.id, known_at=day(2))

    def test_the_recall_names_the_position_and_the_moments(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Faro")
        found = memory.recall("where does Ann live?", known_at=day(3), as_of=day(2))
        assert found.position == 1
        assert dict(found.understood)["known at"] == "2026-03-03 09:00 UTC"
        assert dict(found.understood)["as of"] == "2026-03-02 09:00 UTC"
        assert memory.recall("where does Ann live?").position == 2

    def test_core_memories_of_today_are_not_told_of_another_time(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        memory.pin(memory.remember("the cat is called Moth").atom.id)
        assert "Moth" in memory.recall("where does Ann live?").context()
        assert "Moth" not in memory.recall("where does Ann live?", known_at=day(3)).context()

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("embedder", ["none", "light"])
    def test_which_atoms_words_and_statuses_never_changes(
        self, tmp_path: Path, clock: FixedClock, seed: int, embedder: str
    ) -> None:
        settings, random = Settings(embedder=embedder, background=False), Random(seed)
        told: list[tuple[datetime, dict[str, object]]] = []
        with Memory(tmp_path / "vault", clock=clock, watch=False, settings=settings) as memory:
            for _ in range(4):
                _live(memory, clock, random, 10)
                clock.at += timedelta(hours=1)
                told.append((clock.at, _everything(memory, known_at=clock.at)))
                assert told[-1][1]["recall"] == _shown(memory.recall("tea kettle", 100)), f"seed {seed}"
                clock.at += timedelta(hours=1)
            for moment, then in told:
                assert _everything(memory, known_at=moment) == then, f"seed {seed}"
            memory.rebuild()
            for moment, then in told:
                assert _everything(memory, known_at=moment) == then, f"seed {seed}, rebuilt"

    def test_however_many_have_gone_since_those_that_stood_are_found(self, memory: Memory, clock: FixedClock) -> None:
        atoms = written(memory, [f"green tea, sort {n}" for n in range(300)])
        written(memory, atoms[10:], status=Status.TOMBSTONED)
        clock.at = day(5)
        written(memory, [f"green tea tea, lot {n}" for n in range(300)])
        assert len(memory.recall("green tea", 20, known_at=day(4)).hits) == 10


class TestListAndGet:
    def test_a_list_is_as_it_was(self, memory: Memory, clock: FixedClock) -> None:
        porto = lives(memory, "Porto")
        clock.at = day(5)
        faro = lives(memory, "Faro")
        memory.revise(faro.id, kind="goal", reason="moved")
        clock.at = day(9)
        tea = memory.remember("tea").atom

        def listed(**wanted: Any) -> list[str]:
            return [atom.id for atom in memory.list(**wanted)]

        assert listed() == [tea.id, faro.id]
        assert listed(as_of=day(3)) == [porto.id] == listed(known_at=day(3))
        assert listed(known_at=day(6), status="superseded") == [porto.id]
        assert listed(as_of=day(3), status="superseded") == [porto.id]
        assert listed(as_of=day(6), status="superseded") == []
        assert listed(known_at=day(6), status=None) == [faro.id, porto.id]
        assert listed(as_of=day(8), status=None) == [faro.id, porto.id]
        assert listed(known_at=day(6), kind="fact") == [] and listed(known_at=day(6), kind="goal") == [faro.id]
        assert listed(known_at=day(6), subject="ann") == [faro.id] and listed(known_at=day(9), subject="bob") == []
        assert listed(known_at=day(9), limit=1) == [tea.id] and listed(known_at=day(9), offset=1) == [faro.id]

    def test_pages_of_a_list_fit_together(self, memory: Memory, clock: FixedClock) -> None:
        for n in range(3):
            clock.at = day(1 + n)
            written(memory, [f"tea {n} {m}" for m in range(400)])
        whole = [atom.id for atom in memory.list(status=None, known_at=day(2), limit=None)]
        assert len(whole) == 800
        pages = [memory.list(status=None, known_at=day(2), limit=300, offset=start) for start in (0, 300, 600, 900)]
        assert [atom.id for page in pages for atom in page] == whole

    def test_one_atom_is_got_as_it_was_or_not_at_all(self, memory: Memory, clock: FixedClock) -> None:
        clock.at = day(2)
        atom = lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Faro")
        assert memory.get(atom.id).status is Status.SUPERSEDED
        assert memory.get(atom.id, known_at=day(3)).status is Status.ACTIVE
        assert memory.get(atom.id, as_of=day(3)).status is Status.SUPERSEDED
        assert memory.get(atom.id[-8:], known_at=day(3), as_of=day(20)).valid_until is None
        with pytest.raises(NotFound, match="was known at 2026-03-01"):
            memory.get(atom.id, known_at=day(1))
        with pytest.raises(NotFound, match=r"was not true as of 2026-03-06.*over"):
            memory.get(atom.id, as_of=day(6))

    def test_nobody_reads_another_scopes_past(self, tmp_path: Path, clock: FixedClock) -> None:
        with Memory(tmp_path, "org:acme", clock=clock, watch=False, background=False) as theirs:
            atom = theirs.remember("the acme tea is green").atom
            theirs.revise(atom.id, "the acme tea is black", reason="changed")
        clock.at = day(5)
        with Memory(tmp_path, clock=clock, watch=False, background=False) as ours:
            moments: list[dict[str, Any]] = [{"as_of": day(4)}, {"known_at": day(4)}]
            for when in moments:
                assert ours.recall("acme tea green black", **when).hits == ()
                assert ours.list(status=None, **when) == []
                with pytest.raises(NotFound):
                    ours.get(atom.id, **when)

    def test_the_plain_ranking_knows_other_times_too(self, memory: Memory, clock: FixedClock) -> None:
        lives(memory, "Porto")
        clock.at = day(5)
        lives(memory, "Faro")
        assert asked(memory, ranking="plain") == {"Faro"}
        for when in ({"as_of": day(3)}, {"known_at": day(3)}):
            assert asked(memory, ranking="plain", **when) == {"Porto"}


def _shown(found: Recall) -> set[tuple[str, int, str, str]]:
    return {(hit.atom.id, hit.passage.n, hit.passage.text, hit.atom.status.value) for hit in found.hits}


def _everything(memory: Memory, **when: Any) -> dict[str, object]:
    """All that can be seen of a small store at a moment."""
    return {
        "recall": _shown(memory.recall("tea kettle", 100, **when)),
        "list": [(atom.id, atom.content, atom.status) for atom in memory.list(status=None, limit=None, **when)],
        "active": {atom.id for atom in memory.list(limit=None, **when)},
    }


def _live(memory: Memory, clock: FixedClock, random: Random, steps: int) -> None:
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
