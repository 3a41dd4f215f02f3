"""Contract of encodings: the vectors and states that models made of passages, and the search over them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from lamina.atom.atom import Atom
from lamina.atom.passage import render_passage
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.store.encodings import TextEncoding
from lamina.store.precision import FULL_BITS
from lamina.testing.store_harness import (
    ANN,
    DAY,
    LOCAL,
    NOON,
    OTHER,
    Contract,
    StoreHarness,
    count_missing,
    coverage,
    token_states,
)
from lamina.testing.vector_reference import (
    COSINE_TOLERANCE,
    MODEL,
    OTHER_MODEL,
    encode_missing,
    make_states,
    make_vectors,
    nearest_cosines,
    nearest_passages,
    text_digests,
)

WORDS = ("tea", "milk", "sugar", "honey", "lemon", "green", "black", "cup", "pot", "leaf")
SPEAKERS = ("Ann", "Bob", "assistant", None)


def commit_segment(
    harness: StoreHarness, *texts: str, session: str = "s", scope: Scope = LOCAL, speaker: str | None = "Ann"
) -> Atom:
    """Commit a segment with one turn for each text."""
    turns = [render_passage(n, text, speaker, harness.clock.now()) for n, text in enumerate(texts, 1)]
    return harness.add("\n\n".join(turns), kind="narrative", session_id=session, segment_id=f"{session}-1", scope=scope)


def missing_texts(harness: StoreHarness, model: str = MODEL) -> list[str]:
    """Return the texts that a model has not encoded."""
    return [text.text for text in harness.encodings.find_missing(model, 1000)]


def commit_random_atoms(harness: StoreHarness, random: Random, count: int) -> None:
    """Commit random facts, rules, events and sessions of every status, type, time and scope."""
    for n in range(count):
        text = " ".join(random.choices(WORDS, k=random.randint(1, 5)))
        scope, status = random.choice((LOCAL, LOCAL, ANN, OTHER)), random.choice((*Status, *[Status.ACTIVE] * 8))
        until = random.choice((None, None, NOON, NOON + DAY))
        start = random.choice((None, None, NOON - DAY, NOON + DAY / 2)) if until != NOON else NOON - DAY
        if n % 3:
            kind = random.choice(("fact", "rule", "event"))
            harness.add(
                text,
                scope=scope,
                status=status,
                kind=kind,
                subject=f"{n}",
                valid_from=start,
                valid_until=until,
                observed_at=NOON - n * DAY,
            )
        else:
            turns = [
                render_passage(m, f"{text} {m}", random.choice(SPEAKERS), NOON - (n + m) * DAY)
                for m in range(1, random.randint(2, 6))
            ]
            harness.add(
                "\n\n".join(turns),
                kind="narrative",
                session_id=f"s{n % 4}",
                segment_id=f"{n}",
                scope=scope,
                status=status,
            )


class EncodingContract(Contract):
    """Tests of stored encodings and of searches in them."""

    def test_a_text_is_missing_until_a_model_has_encoded_it(self, harness: StoreHarness) -> None:
        encodings = harness.encodings
        assert (missing_texts(harness), encodings.count().encoded, coverage(harness.store, MODEL, [LOCAL])) == (
            [],
            {},
            (0, 0),
        )
        tea, talk = harness.add("is green", subject="tea"), commit_segment(harness, "hello", "zebra")
        harness.add("theirs", scope=OTHER)
        assert sorted(missing_texts(harness)) == ["hello", "tea: is green", "theirs", "zebra"]
        assert count_missing(encodings, MODEL) == 4
        assert len(encodings.find_missing(MODEL, 3)) == 3
        first = next(text for text in encodings.find_missing(MODEL, 9) if text.text == "zebra")
        encodings.put(MODEL, [TextEncoding(first.digest, make_vectors("zebra"), make_states("zebra"))])
        assert coverage(harness.store, MODEL, [LOCAL]) == (1, 3)
        assert coverage(harness.store, MODEL, [LOCAL, OTHER]) == (1, 4)
        assert coverage(harness.store, MODEL, []) == (0, 0)
        assert sorted(missing_texts(harness)) == ["hello", "tea: is green", "theirs"]
        assert encode_missing(harness) == 3
        assert (missing_texts(harness), count_missing(encodings, MODEL)) == ([], 0)
        assert coverage(harness.store, MODEL, [LOCAL]) == (3, 3)
        assert count_missing(encodings, OTHER_MODEL) == 4
        assert encodings.count().encoded == {MODEL: 4}
        assert [first.digest] == text_digests(talk)[1:]
        assert first.digest not in text_digests(tea)

    def test_recallable_texts_are_missing_first(self, harness: StoreHarness) -> None:
        for n in range(5):
            harness.add(f"old {n}", status=Status.SUPERSEDED)
            harness.add(f"current {n}")
        assert all(text.startswith("current") for text in missing_texts(harness)[:5])
        assert {text.text for text in harness.encodings.find_missing(MODEL, 5)} == {f"current {n}" for n in range(5)}

    def test_an_assistant_turn_may_be_encoded_in_part_and_a_persons_equal_words_are_another_text(
        self, harness: StoreHarness
    ) -> None:
        commit_segment(harness, "a long answer", speaker="assistant")
        commit_segment(harness, "a long answer", speaker="Ann", session="t")
        assert sorted(text.is_partial for text in harness.encodings.find_missing(MODEL, 9)) == [False, True]

    def test_encodings_of_unknown_texts_are_ignored(self, harness: StoreHarness) -> None:
        atom = harness.add("tea")
        (known,) = harness.encodings.find_missing(MODEL, 9)
        harness.commit(atom.with_(content="coffee"))
        harness.encodings.put(MODEL, [TextEncoding(known.digest, make_vectors("tea"), make_states("tea"))])
        harness.encodings.put(MODEL, [TextEncoding(b"0123456789abcdef", make_vectors("?"), make_states("?"))])
        harness.encodings.put(MODEL, [])
        assert harness.encodings.count().encoded == {}
        assert missing_texts(harness) == ["coffee"]

    def test_equal_texts_share_one_encoding_which_is_removed_with_the_last_of_them(self, harness: StoreHarness) -> None:
        encodings = harness.encodings
        one, other = harness.add("tea"), harness.add("tea", scope=ANN)
        turns = commit_segment(harness, "tea", "milk")
        assert encode_missing(harness) == 2
        assert coverage(harness.store, MODEL, [LOCAL, ANN]) == (4, 4)
        assert len(nearest_passages(harness, "tea", LOCAL, ANN)) == 4
        text = text_digests(one)[0]
        harness.commit(one.with_(content="gone"))
        harness.commit(turns.with_(content=render_passage(1, "gone", "Ann", NOON)))
        assert token_states(harness.store, MODEL, [text]) == {text: make_states("tea")}
        assert coverage(harness.store, MODEL, [LOCAL, ANN]) == (1, 3)
        assert list(nearest_passages(harness, "tea", LOCAL, ANN)) == [(other.id, 1)]
        harness.commit(other.with_(content="gone"), scope=ANN)
        assert token_states(harness.store, MODEL, [text]) == {}
        assert encodings.count().encoded == {}
        assert nearest_passages(harness, "tea", LOCAL, ANN) == {}

    def test_a_text_that_was_removed_and_returns_is_encoded_again(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            atom = harness.add("tea")
            encode_missing(harness)
            assert len(nearest_passages(harness, "tea")) == len(nearest_passages(other, "tea")) == 1
            atom = harness.commit(atom.with_(content="milk")).atoms[0]
            assert nearest_passages(harness, "tea") == {}
            harness.commit(atom.with_(content="tea"))
            for process in (harness, other):
                assert missing_texts(process) == ["tea"]
                assert coverage(process.store, MODEL, [LOCAL]) == (0, 1)
                assert nearest_passages(process, "tea") == {}
            encode_missing(other)
            assert nearest_cosines(harness, "tea") == nearest_cosines(other, "tea") != {}

    def test_dropping_a_model_forgets_all_it_made_and_nothing_else(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            atom = harness.add("tea")
            encode_missing(harness), encode_missing(harness, OTHER_MODEL)
            assert harness.encodings.count().encoded == {MODEL: 1, OTHER_MODEL: 1}
            assert len(nearest_passages(other, "tea")) == 1
            harness.encodings.drop_model(MODEL)
            for process in (harness, other):
                assert process.encodings.count().encoded == {OTHER_MODEL: 1}
                assert token_states(process.store, MODEL, text_digests(atom)) == {}
                assert coverage(process.store, MODEL, [LOCAL]) == (0, 1)
                assert nearest_passages(process, "tea") == {}
                assert len(nearest_passages(process, "tea", model=OTHER_MODEL)) == 1
            assert encode_missing(other) == 1
            assert len(nearest_passages(harness, "tea")) == 1

    def test_writes_encodings_and_rebuilds_of_another_process_are_visible_immediately(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            atom = one.add("tea")
            encode_missing(other)
            assert nearest_cosines(one, "tea") == nearest_cosines(other, "tea") != {}
            more = other.add("milk")
            encode_missing(other)
            assert nearest_cosines(one, "tea").keys() == {(atom.id, 1), (more.id, 1)}
            other.commit(atom.with_(content="gone"))
            assert nearest_cosines(one, "tea").keys() == {(more.id, 1)}
            encode_missing(other)
            other.store.admin.rebuild_index()
            assert nearest_cosines(one, "tea") == nearest_cosines(other, "tea")
            other.commit(more.with_(status=Status.TOMBSTONED))
            assert nearest_cosines(one, "tea").keys() == nearest_cosines(other, "tea").keys() == {(atom.id, 1)}

    def test_encodings_survive_a_rebuild_and_every_change_except_of_their_text(self, tmp_path: Path) -> None:
        random = Random(8)
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, random, 40)
            encode_missing(harness)
            for atom in harness.read():
                harness.commit(atom.with_(pinned=True, tags=("x",), importance=0.1))
            for atom in harness.read(statuses=frozenset({Status.ACTIVE})):
                harness.commit(
                    atom.with_(status=random.choice((Status.ARCHIVED, Status.CHALLENGED, Status.TOMBSTONED)))
                )
            assert missing_texts(harness) == []
            filters = {"limit": 1000, "statuses": frozenset(Status)}
            before = nearest_cosines(harness, "tea", LOCAL, ANN, **filters)
            models = harness.encodings.count().encoded
            harness.store.admin.rebuild_index()
            assert (missing_texts(harness), harness.encodings.count().encoded) == ([], models)
            assert nearest_cosines(harness, "tea", LOCAL, ANN, **filters) == before
            assert harness.store.admin.check() == []
        with self.open_harness(tmp_path) as again:
            assert nearest_cosines(again, "tea", LOCAL, ANN, **filters) == before

    def test_the_vectors_of_passages_are_returned_as_given(self, harness: StoreHarness) -> None:
        vectors = harness.encodings.vectors
        atoms = [harness.add(f"tea {'x' * (n % 3)}{n}", subject="pot" if n % 2 else "") for n in range(510)]
        talk, over = commit_segment(harness, "first", "second"), harness.add("over", status=Status.SUPERSEDED)
        encode_missing(harness)
        fresh = harness.add("not encoded")
        encoded = [(atom.id, 1) for atom in (talk, over, *atoms)]
        stored = vectors(MODEL, [(fresh.id, 1), *encoded, (fresh.id, 2), (harness.new_atom().id, 1)])
        assert set(stored) == set(encoded) and {text.bits for text in stored.values()} == {FULL_BITS}
        for atom in (talk, over, *atoms):
            text = "first" if atom is talk else f"pot: {atom.content}" if atom.subject else atom.content
            assert stored[atom.id, 1].rows.shape == make_vectors(text).shape
            assert abs(stored[atom.id, 1].rows - make_vectors(text)).max() <= COSINE_TOLERANCE
        assert vectors("unknown", encoded) == vectors(MODEL, []) == vectors(MODEL, encoded, only_reduced=True) == {}

    def test_token_states_are_returned_as_given(self, harness: StoreHarness) -> None:
        atoms = [harness.add(f"tea {n}") for n in range(1200)]
        encode_missing(harness)
        expected_digests = [text_digests(atom)[0] for atom in atoms]
        results = token_states(harness.store, MODEL, [*expected_digests, expected_digests[0], b"0123456789abcdef"])
        assert results == {
            digest: make_states(atom.content) for digest, atom in zip(expected_digests, atoms, strict=True)
        }
        assert token_states(harness.store, "unknown", expected_digests) == token_states(harness.store, MODEL, []) == {}

    def test_states_of_another_packing_are_used_until_replaced_and_vectors_stay(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            encodings = harness.encodings
            atoms = [harness.add(f"tea {n}") for n in range(6)]
            encode_missing(harness, packing="coarse")
            before, expected_digests = nearest_cosines(harness, "tea 3"), [text_digests(atom)[0] for atom in atoms]
            assert count_missing(encodings, MODEL, "coarse") == count_missing(encodings, MODEL) == 0
            assert count_missing(encodings, MODEL, "fine") == 6
            harness.add("fresh"), harness.add("old", status=Status.SUPERSEDED)
            unencoded = encodings.find_missing(MODEL, 9, packing="fine")
            assert [text.text for text in unencoded[:2]] == ["fresh", "old"]
            assert {text.digest for text in unencoded[2:]} == set(expected_digests)
            assert [text.text for text in encodings.find_missing(MODEL, 9)] == ["fresh", "old"]
            assert encodings.find_missing(MODEL, 9, [OTHER], "fine") == []
            repacked = unencoded[2:5]
            encodings.put(
                MODEL,
                [TextEncoding(text.digest, make_vectors("?"), make_states(text.text, "fine")) for text in repacked],
            )
            for process in (harness, other):
                results = token_states(process.store, MODEL, expected_digests)
                packed = {digest for digest, states in results.items() if states.packing == "fine"}
                assert packed == {text.digest for text in repacked}
                assert {digest: states.data for digest, states in results.items()} == {
                    digest: make_states(atom.content).data for digest, atom in zip(expected_digests, atoms, strict=True)
                }
                assert nearest_cosines(process, "tea 3") == before
            assert encode_missing(other, packing="fine") == 5
            harness.store.admin.rebuild_index()
            assert count_missing(encodings, MODEL, "fine") == 0
            assert count_missing(encodings, MODEL, "coarse") == 8
            assert encodings.count().encoded == {MODEL: 8}
