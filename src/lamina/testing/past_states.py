"""Contract of past states: the atoms at a journal position, with the text and status they had."""

from __future__ import annotations

from random import Random

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import render_passage
from lamina.atom.status import Status
from lamina.store.base import TextQuery, TransactionMode
from lamina.store.passages import PassageFilter
from lamina.testing.store_harness import ANN, DAY, LOCAL, NOON, STATUS_TRANSITIONS, Contract, StoreHarness
from lamina.text.analyser import analyse


class PastStateContract(Contract):
    """Later commits never change what was known before, and past text matches by its words."""

    def test_an_atom_is_returned_as_it_was_at_every_position(self, harness: StoreHarness) -> None:
        first = harness.add("green tea", tags=("a",))
        second = harness.commit(first.with_(content="green tea and milk", tags=())).atoms[0]
        third = harness.commit(second.with_(status=Status.ARCHIVED)).atoms[0]
        other = harness.add("coffee")
        results = [harness.store.atoms.read_at([first.id, other.id], seq, [LOCAL]) for seq in range(5)]
        assert results[0] == {}
        assert [atoms[first.id] for atoms in results[1:]] == [first, second, third, third]
        assert [atoms[first.id].revision for atoms in results[1:]] == [1, 2, 3, 3]
        assert results[3].keys() == {first.id} and results[4][other.id] == other

    def test_only_atoms_of_the_given_scopes_are_returned(self, harness: StoreHarness) -> None:
        ours, theirs = harness.add("ours"), harness.add("theirs", scope=ANN)
        position = harness.journal.position()
        harness.commit(theirs.with_(content="theirs still"), scope=ANN)
        ids = [ours.id, theirs.id]
        assert harness.store.atoms.read_at(ids, position, [LOCAL]).keys() == {ours.id}
        assert harness.store.atoms.read_at(ids, position, [LOCAL, ANN])[theirs.id].content == "theirs"
        assert harness.store.atoms.read_at(ids, position, []) == {}

    def test_the_state_at_a_position_never_changes(self, harness: StoreHarness) -> None:
        random, results = Random(4), dict[int, dict[AtomId, Atom]]()
        for n in range(60):
            atoms = harness.read()
            if atoms and random.random() < 0.6:
                atom = random.choice(atoms)
                status = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                words = random.choice([atom.content, f"{atom.content} more", f"words {n}"])
                harness.commit(atom.with_(content=words, status=status, importance=n / 100))
            else:
                harness.add(f"tea {n}")
            results[harness.journal.position()] = {atom.id: atom for atom in harness.read()}
        ids = [atom.id for atom in harness.read()]
        for seq, then in results.items():
            assert harness.store.atoms.read_at(ids, seq, [LOCAL]) == then

    def test_past_words_of_an_atom_are_found_among_past_passages_only(self, harness: StoreHarness) -> None:
        atom = harness.add("green zebra")
        again = harness.commit(atom.with_(content="black panther")).atoms[0]
        assert _past_passage_keys(harness, "zebra") == [(atom.id, 1)]
        assert _past_passage_keys(harness, "panther") == []
        assert (harness.find_ids("zebra"), harness.find_ids("panther")) == ([], [atom.id])
        back = harness.commit(again.with_(content="green zebra")).atoms[0]
        assert _past_passage_keys(harness, "zebra") == []
        assert _past_passage_keys(harness, "panther") == [(atom.id, 1)]
        harness.commit(back.with_(status=Status.TOMBSTONED))
        assert _past_passage_keys(harness, "panther") == [(atom.id, 1)]
        assert _past_passage_keys(harness, "") == []
        assert harness.store.admin.check() == []

    def test_past_words_are_found_even_if_they_were_never_indexed_while_current(self, harness: StoreHarness) -> None:
        with harness.store.transaction(TransactionMode.WRITE):
            atom = harness.add("zebra")
            atom = harness.commit(atom.with_(content="panther")).atoms[0]
            harness.commit(atom.with_(content="lion", subject="animals"))
        assert _past_passage_keys(harness, "zebra") == _past_passage_keys(harness, "panther") == [(atom.id, 1)]
        harness.store.admin.rebuild_index()
        assert _past_passage_keys(harness, "zebra") == _past_passage_keys(harness, "panther") == [(atom.id, 1)]

    def test_a_segment_has_past_words_when_edited_but_not_when_it_grows(self, harness: StoreHarness) -> None:
        turns = [render_passage(n, f"word{n} said", "Ann", NOON) for n in range(1, 5)]
        segment = harness.add(turns[0], kind="narrative", session_id="s", segment_id="s-1")
        segment = harness.commit(segment.with_(content="\n\n".join(turns[:2]))).atoms[0]
        segment = harness.commit(segment.with_(content="\n\n".join(turns))).atoms[0]
        assert _past_passage_keys(harness, "word1 word2 word3 word4") == []
        edited = harness.commit(segment.with_(content="\n\n".join([turns[0], turns[3]]))).atoms[0]
        assert _past_passage_keys(harness, "word1 word2 word3 word4") == [(segment.id, 2), (segment.id, 3)]
        harness.commit(edited.with_(content="\n\n".join([turns[0], turns[3], turns[1]])))
        assert _past_passage_keys(harness, "word1 word2 word3 word4") == [(segment.id, 3)]
        assert harness.store.admin.check() == []

    def test_words_after_the_last_marker_are_past_words_once_extended(self, harness: StoreHarness) -> None:
        marked = render_passage(1, "first", "Ann", NOON)
        segment = harness.add(marked, kind="narrative", session_id="s", segment_id="s-1")
        for words in ("\n\nzebra", " and panther", " and lion ^p2\n\nbear"):
            segment = harness.commit(segment.with_(content=segment.content + words)).atoms[0]
        assert _past_passage_keys(harness, "zebra") == [(segment.id, 2), (segment.id, 2)]
        assert _past_passage_keys(harness, "lion bear") == []
        kept = _past_passage_keys(harness, "first zebra panther lion bear")
        harness.store.admin.rebuild_index()
        assert _past_passage_keys(harness, "first zebra panther lion bear") == kept
        assert harness.store.admin.check() == []

    def test_past_words_do_not_change_scores(self, harness: StoreHarness) -> None:
        harness.add("green tea"), harness.add("black tea and milk")
        changing = harness.add("something else")
        before = harness.search("tea milk")
        for words in ("tea tea milk", "milk and tea", "something else"):
            changing = harness.commit(changing.with_(content=words)).atoms[0]
        assert harness.search("tea milk") == before
        assert {key[0] for key in _past_passage_keys(harness, "tea")} == {changing.id}

    def test_past_words_of_atoms_recorded_later_are_not_returned(self, harness: StoreHarness) -> None:
        early = harness.add("zebra")
        harness.clock.at = NOON + DAY
        late = harness.add("zebra two")
        harness.commit(early.with_(content="panther"), late.with_(content="panther two"))
        assert {key[0] for key in _past_passage_keys(harness, "zebra")} == {early.id, late.id}
        assert [atom_id for atom_id, _ in _past_passage_keys(harness, "zebra", known_by=NOON)] == [early.id]

    def test_statements_valid_at_a_moment_are_found_superseded_or_not(self, harness: StoreHarness) -> None:
        ever = harness.add("tea ever", observed_at=NOON - 9 * DAY)
        past = harness.add("tea past", observed_at=NOON - 5 * DAY, valid_until=NOON, status=Status.SUPERSEDED)
        harness.add("tea unknown end", observed_at=NOON - 5 * DAY, status=Status.SUPERSEDED)
        ahead = harness.add("tea ahead", valid_from=NOON + DAY)
        everything = frozenset(Status)

        def true_at(days: int) -> set[AtomId]:
            return set(harness.find_ids("tea", statuses=everything, true_at=NOON + days * DAY))

        assert true_at(-10) == set()
        assert true_at(-6) == {ever.id}
        assert true_at(-5) == true_at(-1) == {ever.id, past.id}
        assert true_at(0) == {ever.id}
        assert true_at(1) == true_at(9) == {ever.id, ahead.id}

    def test_atoms_recorded_by_a_moment_are_found_whatever_their_status(self, harness: StoreHarness) -> None:
        gone = harness.add("tea gone", status=Status.TOMBSTONED)
        over = harness.add("tea over", valid_until=NOON - DAY)
        harness.clock.at = NOON + DAY
        harness.add("tea later")
        assert set(harness.find_ids("tea", statuses=frozenset(Status), known_by=over.recorded_at)) == {gone.id, over.id}


def _past_passage_keys(harness: StoreHarness, words: str, **overrides: object) -> list[tuple[AtomId, int]]:
    """Return the past passages that match some words: those that atoms no longer have."""
    fields = {"known_by": NOON + 100 * DAY, **overrides}
    passage_filter = PassageFilter(
        scopes=(LOCAL,),
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        valid_at=NOON,
        **fields,  # type: ignore[arg-type]
    )
    query = TextQuery(filter=passage_filter, tokens=tuple(dict.fromkeys(analyse(words))), limit=50)
    matches = harness.store.passages.search_text(query)
    return sorted(match.past.key for match in matches if match.past is not None)
