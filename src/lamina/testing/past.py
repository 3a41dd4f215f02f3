"""What was known at a journal position: the atoms there were, in the words and with the status they had."""

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
    """That what was known then is never touched by what came later, and that it is found by the words it had."""

    def test_an_atom_is_told_as_it_was_at_every_position(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("green tea", tags=("a",))
            second = hand.put(first.with_(content="green tea and milk", tags=())).atoms[0]
            third = hand.put(second.with_(status=Status.ARCHIVED)).atoms[0]
            other = hand.kept("coffee")
            told = [hand.store.heads_at([first.id, other.id], seq, [LOCAL]) for seq in range(5)]
            assert told[0] == {}
            assert [each[first.id] for each in told[1:]] == [first, second, third, third]
            assert [each[first.id].revision for each in told[1:]] == [1, 2, 3, 3]
            assert told[3].keys() == {first.id} and told[4][other.id] == other

    def test_only_the_scopes_that_are_named_are_told_of(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ours, theirs = hand.kept("ours"), hand.kept("theirs", scope=ANN)
            position = hand.store.position()
            hand.put(theirs.with_(content="theirs still"), scope=ANN)
            ids = [ours.id, theirs.id]
            assert hand.store.heads_at(ids, position, [LOCAL]).keys() == {ours.id}
            assert hand.store.heads_at(ids, position, [LOCAL, ANN])[theirs.id].content == "theirs"
            assert hand.store.heads_at(ids, position, []) == {}

    def test_every_position_tells_for_ever_what_it_told_when_it_was_the_last(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            random, told = Random(4), dict[int, dict[AtomId, Atom]]()
            for n in range(60):
                atoms = hand.read()
                if atoms and random.random() < 0.6:
                    atom = random.choice(atoms)
                    status = Status(random.choice([*ARROWS[atom.status].split(), atom.status]))
                    words = random.choice([atom.content, f"{atom.content} more", f"words {n}"])
                    hand.put(atom.with_(content=words, status=status, importance=n / 100))
                else:
                    hand.kept(f"tea {n}")
                told[hand.store.position()] = {atom.id: atom for atom in hand.read()}
            ids = [atom.id for atom in hand.read()]
            for seq, then in told.items():
                assert hand.store.heads_at(ids, seq, [LOCAL]) == then

    def test_words_an_atom_had_once_are_found_and_nowhere_else(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("green zebra")
            again = hand.put(atom.with_(content="black panther")).atoms[0]
            assert _former(hand, "zebra") == [(atom.id, 1)]
            assert (_former(hand, "panther"), hand.found("zebra"), hand.found("panther")) == ([], [], [atom.id])
            back = hand.put(again.with_(content="green zebra")).atoms[0]
            assert (_former(hand, "zebra"), _former(hand, "panther")) == ([], [(atom.id, 1)])
            hand.put(back.with_(status=Status.TOMBSTONED))
            assert _former(hand, "panther") == [(atom.id, 1)]
            assert _former(hand, "") == []
            assert hand.store.check() == []

    def test_former_words_are_found_though_the_index_was_not_there_while_they_stood(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            with hand.store.alone():
                atom = hand.kept("zebra")
                atom = hand.put(atom.with_(content="panther")).atoms[0]
                hand.put(atom.with_(content="lion", subject="animals"))
            assert _former(hand, "zebra") == _former(hand, "panther") == [(atom.id, 1)]
            hand.store.rebuild()
            assert _former(hand, "zebra") == _former(hand, "panther") == [(atom.id, 1)]

    def test_a_segment_that_grows_has_no_former_words_and_one_that_is_edited_has(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            said = [render_passage(n, f"word{n} said", "Ann", NOON) for n in range(1, 5)]
            segment = hand.kept(said[0], kind="narrative", session_id="s", segment_id="s-1")
            segment = hand.put(segment.with_(content="\n\n".join(said[:2]))).atoms[0]
            segment = hand.put(segment.with_(content="\n\n".join(said))).atoms[0]
            assert _former(hand, "word1 word2 word3 word4") == []
            edited = hand.put(segment.with_(content="\n\n".join([said[0], said[3]]))).atoms[0]
            assert _former(hand, "word1 word2 word3 word4") == [(segment.id, 2), (segment.id, 3)]
            hand.put(edited.with_(content="\n\n".join([said[0], said[3], said[1]])))
            assert _former(hand, "word1 word2 word3 word4") == [(segment.id, 3)]
            assert hand.store.check() == []

    def test_words_behind_the_last_mark_are_former_words_once_they_were_added_to(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            marked = render_passage(1, "first", "Ann", NOON)
            segment = hand.kept(marked, kind="narrative", session_id="s", segment_id="s-1")
            for words in ("\n\nzebra", " and panther", " and lion ^p2\n\nbear"):
                segment = hand.put(segment.with_(content=segment.content + words)).atoms[0]
            assert _former(hand, "zebra") == [(segment.id, 2), (segment.id, 2)]
            assert _former(hand, "lion bear") == []
            kept = _former(hand, "first zebra panther lion bear")
            hand.store.rebuild()
            assert _former(hand, "first zebra panther lion bear") == kept
            assert hand.store.check() == []

    def test_former_words_move_no_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("green tea"), hand.kept("black tea and milk")
            changing = hand.kept("something else")
            before = hand.search("tea milk")
            for words in ("tea tea milk", "milk and tea", "something else"):
                changing = hand.put(changing.with_(content=words)).atoms[0]
            assert hand.search("tea milk") == before
            assert {key[0] for key in _former(hand, "tea")} == {changing.id}

    def test_former_words_of_what_was_recorded_later_are_not_told(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            early = hand.kept("zebra")
            hand.clock.at = NOON + DAY
            late = hand.kept("zebra two")
            hand.put(early.with_(content="panther"), late.with_(content="panther two"))
            assert {key[0] for key in _former(hand, "zebra")} == {early.id, late.id}
            query = _query("zebra", known_by=NOON)
            assert [match.atom_id for match, _ in hand.store.former(query)] == [early.id]

    def test_what_held_at_a_moment_is_found_replaced_or_not(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ever = hand.kept("tea ever", observed_at=NOON - 9 * DAY)
            past = hand.kept("tea past", observed_at=NOON - 5 * DAY, valid_until=NOON, status=Status.SUPERSEDED)
            hand.kept("tea unknown end", observed_at=NOON - 5 * DAY, status=Status.SUPERSEDED)
            ahead = hand.kept("tea ahead", valid_from=NOON + DAY)
            everything = frozenset(Status)

            def true_at(days: int) -> set[AtomId]:
                return set(hand.found("tea", statuses=everything, true_at=NOON + days * DAY))

            assert true_at(-10) == set()
            assert true_at(-6) == {ever.id}
            assert true_at(-5) == true_at(-1) == {ever.id, past.id}
            assert true_at(0) == {ever.id}
            assert true_at(1) == true_at(9) == {ever.id, ahead.id}

    def test_what_was_recorded_by_a_moment_is_found_whatever_became_of_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.kept("tea gone", status=Status.TOMBSTONED)
            over = hand.kept("tea over", valid_until=NOON - DAY)
            hand.clock.at = NOON + DAY
            hand.kept("tea later")
            assert set(hand.found("tea", statuses=frozenset(Status), known_by=NOON)) == {gone.id, over.id}


def _former(hand: Hand, words: str) -> list[tuple[AtomId, int]]:
    return sorted(near.key for _, near in hand.store.former(_query(words)))


def _query(words: str, **wanted: object) -> TextQuery:
    own = {"known_by": NOON + 100 * DAY, **wanted}
    return TextQuery(
        scopes=(LOCAL,),
        tokens=tuple(dict.fromkeys(analyse(words))),
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        valid_at=NOON,
        limit=50,
        **own,  # type: ignore[arg-type]
    )
