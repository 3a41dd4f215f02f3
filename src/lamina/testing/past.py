"""Contract of past states: the atoms at a journal position, with the text and status they had."""

from __future__ import annotations

from pathlib import Path
from random import Random

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import render_passage
from lamina.atom.status import Status
from lamina.store.base import TextQuery
from lamina.testing.hand import ANN, ARROWS, DAY, LOCAL, NOON, Contract, Hand
from lamina.text.analyse import analyse


class PastContract(Contract):
    """Later commits never change what was known before, and past text is found by its words."""

    def test_an_atom_is_told_as_it_was_at_every_position(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = harness.kept("green tea", tags=("a",))
            second = harness.put(first.with_(content="green tea and milk", tags=())).atoms[0]
            third = harness.put(second.with_(status=Status.ARCHIVED)).atoms[0]
            other = harness.kept("coffee")
            results = [harness.store.heads_at([first.id, other.id], seq, [LOCAL]) for seq in range(5)]
            assert results[0] == {}
            assert [each[first.id] for each in results[1:]] == [first, second, third, third]
            assert [each[first.id].revision for each in results[1:]] == [1, 2, 3, 3]
            assert results[3].keys() == {first.id} and results[4][other.id] == other

    def test_only_the_scopes_that_are_named_are_told_of(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ours, theirs = harness.kept("ours"), harness.kept("theirs", scope=ANN)
            position = harness.store.position()
            harness.put(theirs.with_(content="theirs still"), scope=ANN)
            ids = [ours.id, theirs.id]
            assert harness.store.heads_at(ids, position, [LOCAL]).keys() == {ours.id}
            assert harness.store.heads_at(ids, position, [LOCAL, ANN])[theirs.id].content == "theirs"
            assert harness.store.heads_at(ids, position, []) == {}

    def test_every_position_tells_for_ever_what_it_told_when_it_was_the_last(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            random, results = Random(4), dict[int, dict[AtomId, Atom]]()
            for n in range(60):
                atoms = harness.read()
                if atoms and random.random() < 0.6:
                    atom = random.choice(atoms)
                    status = Status(random.choice([*ARROWS[atom.status].split(), atom.status]))
                    words = random.choice([atom.content, f"{atom.content} more", f"words {n}"])
                    harness.put(atom.with_(content=words, status=status, importance=n / 100))
                else:
                    harness.kept(f"tea {n}")
                results[harness.store.position()] = {atom.id: atom for atom in harness.read()}
            ids = [atom.id for atom in harness.read()]
            for seq, then in results.items():
                assert harness.store.heads_at(ids, seq, [LOCAL]) == then

    def test_words_an_atom_had_once_are_found_and_nowhere_else(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("green zebra")
            again = harness.put(atom.with_(content="black panther")).atoms[0]
            assert _former(harness, "zebra") == [(atom.id, 1)]
            assert (_former(harness, "panther"), harness.found("zebra"), harness.found("panther")) == (
                [],
                [],
                [atom.id],
            )
            back = harness.put(again.with_(content="green zebra")).atoms[0]
            assert (_former(harness, "zebra"), _former(harness, "panther")) == ([], [(atom.id, 1)])
            harness.put(back.with_(status=Status.TOMBSTONED))
            assert _former(harness, "panther") == [(atom.id, 1)]
            assert _former(harness, "") == []
            assert harness.store.check() == []

    def test_former_words_are_found_though_the_index_was_not_there_while_they_stood(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            with harness.store.alone():
                atom = harness.kept("zebra")
                atom = harness.put(atom.with_(content="panther")).atoms[0]
                harness.put(atom.with_(content="lion", subject="animals"))
            assert _former(harness, "zebra") == _former(harness, "panther") == [(atom.id, 1)]
            harness.store.rebuild()
            assert _former(harness, "zebra") == _former(harness, "panther") == [(atom.id, 1)]

    def test_a_segment_that_grows_has_no_former_words_and_one_that_is_edited_has(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            turns = [render_passage(n, f"word{n} said", "Ann", NOON) for n in range(1, 5)]
            segment = harness.kept(turns[0], kind="narrative", session_id="s", segment_id="s-1")
            segment = harness.put(segment.with_(content="\n\n".join(turns[:2]))).atoms[0]
            segment = harness.put(segment.with_(content="\n\n".join(turns))).atoms[0]
            assert _former(harness, "word1 word2 word3 word4") == []
            edited = harness.put(segment.with_(content="\n\n".join([turns[0], turns[3]]))).atoms[0]
            assert _former(harness, "word1 word2 word3 word4") == [(segment.id, 2), (segment.id, 3)]
            harness.put(edited.with_(content="\n\n".join([turns[0], turns[3], turns[1]])))
            assert _former(harness, "word1 word2 word3 word4") == [(segment.id, 3)]
            assert harness.store.check() == []

    def test_words_behind_the_last_mark_are_former_words_once_they_were_added_to(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            marked = render_passage(1, "first", "Ann", NOON)
            segment = harness.kept(marked, kind="narrative", session_id="s", segment_id="s-1")
            for words in ("\n\nzebra", " and panther", " and lion ^p2\n\nbear"):
                segment = harness.put(segment.with_(content=segment.content + words)).atoms[0]
            assert _former(harness, "zebra") == [(segment.id, 2), (segment.id, 2)]
            assert _former(harness, "lion bear") == []
            kept = _former(harness, "first zebra panther lion bear")
            harness.store.rebuild()
            assert _former(harness, "first zebra panther lion bear") == kept
            assert harness.store.check() == []

    def test_former_words_move_no_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("green tea"), harness.kept("black tea and milk")
            changing = harness.kept("something else")
            before = harness.search("tea milk")
            for words in ("tea tea milk", "milk and tea", "something else"):
                changing = harness.put(changing.with_(content=words)).atoms[0]
            assert harness.search("tea milk") == before
            assert {key[0] for key in _former(harness, "tea")} == {changing.id}

    def test_former_words_of_what_was_recorded_later_are_not_told(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            early = harness.kept("zebra")
            harness.clock.at = NOON + DAY
            late = harness.kept("zebra two")
            harness.put(early.with_(content="panther"), late.with_(content="panther two"))
            assert {key[0] for key in _former(harness, "zebra")} == {early.id, late.id}
            query = _query("zebra", known_by=NOON)
            assert [match.atom_id for match, _ in harness.store.former(query)] == [early.id]

    def test_what_held_at_a_moment_is_found_replaced_or_not(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ever = harness.kept("tea ever", observed_at=NOON - 9 * DAY)
            past = harness.kept("tea past", observed_at=NOON - 5 * DAY, valid_until=NOON, status=Status.SUPERSEDED)
            harness.kept("tea unknown end", observed_at=NOON - 5 * DAY, status=Status.SUPERSEDED)
            ahead = harness.kept("tea ahead", valid_from=NOON + DAY)
            everything = frozenset(Status)

            def true_at(days: int) -> set[AtomId]:
                return set(harness.found("tea", statuses=everything, true_at=NOON + days * DAY))

            assert true_at(-10) == set()
            assert true_at(-6) == {ever.id}
            assert true_at(-5) == true_at(-1) == {ever.id, past.id}
            assert true_at(0) == {ever.id}
            assert true_at(1) == true_at(9) == {ever.id, ahead.id}

    def test_what_was_recorded_by_a_moment_is_found_whatever_became_of_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.kept("tea gone", status=Status.TOMBSTONED)
            over = harness.kept("tea over", valid_until=NOON - DAY)
            harness.clock.at = NOON + DAY
            harness.kept("tea later")
            assert set(harness.found("tea", statuses=frozenset(Status), known_by=NOON)) == {gone.id, over.id}


def _former(hand: Hand, words: str) -> list[tuple[AtomId, int]]:
    return sorted(near.key for _, near in hand.store.former(_query(words)))


def _query(words: str, **wanted: object) -> TextQuery:
    fields = {"known_by": NOON + 100 * DAY, **wanted}
    return TextQuery(
        scopes=(LOCAL,),
        tokens=tuple(dict.fromkeys(analyse(words))),
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        valid_at=NOON,
        limit=50,
        **fields,  # type: ignore[arg-type]
    )
