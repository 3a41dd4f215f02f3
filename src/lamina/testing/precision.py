"""Contract of precision: in how many bits a store keeps vectors, and how it changes that."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from lamina.atom.atom import Atom
from lamina.store.encodings import Moved, Unencoded
from lamina.store.lives import Life
from lamina.testing.encodings import littered, segment
from lamina.testing.hand import ANN, LOCAL, OTHER, Contract, Hand
from lamina.testing.nearness import CLOSE, MODEL, OTHER_MODEL, digests, encode, near, states_of, vectors_of
from lamina.vectors.kept import pack, unpack

BITS = (32, 8, 4, 2)
NOTHING = Moved({})


def kept_in(hand: Hand, *atoms: Atom, model: str = MODEL) -> list[int]:
    """Return the bits in which the vectors of each passage are stored."""
    keys = [(atom.id, n) for atom in atoms for n in range(1, len(digests(atom)) + 1)]
    coarse = hand.store.encodings.coarse(model, keys)
    return [coarse[key][0] if key in coarse else 32 for key in keys]


def to_make(hand: Hand) -> list[Unencoded]:
    """Return the texts that must be encoded."""
    return hand.store.encodings.missing(MODEL, 1000, packing="bytes")


class PrecisionContract(Contract):
    """Fewer bits are computed from the full vector or from the text, never from fewer bits."""

    def test_vectors_are_kept_in_the_bits_they_are_wanted_in_and_only_as_far_off_as_that(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            atoms = {bits: harness.kept(f"tea in {bits}") for bits in BITS}
            encode(harness)
            filters = {atom.id: bits for bits, atom in atoms.items()}
            moved = Moved({8: 1, 4: 1, 2: 1}, states=2)
            assert encodings.set_precision(filters, dry_run=True) == moved
            assert kept_in(harness, *atoms.values()) == [32, 32, 32, 32] and encodings.room().states[0] == 4
            assert encodings.set_precision(filters) == moved
            assert encodings.set_precision(filters) == encodings.set_precision(filters, dry_run=True) == NOTHING
            assert kept_in(harness, *atoms.values()) == [32, 8, 4, 2]
            results = encodings.vectors(MODEL, [each.id for each in atoms.values()])
            for bits, atom in atoms.items():
                whole = vectors_of(atom.content)
                assert np.array_equal(results[atom.id], unpack(pack(whole, bits)))
            assert encodings.coverage(MODEL, [LOCAL]) == (4, 4)
        with self.hand(tmp_path) as harness:
            for atom in atoms.values():
                assert near(harness, atom.content)[atom.id, 1].cosine > 0.8
                assert next(iter(near(harness, atom.content))) == (atom.id, 1)

    def test_few_bits_are_never_made_from_fewer_than_all_but_from_the_words_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            slowly, at_once, fresh = harness.kept("milk slowly"), harness.kept("milk at once"), harness.atom("fresh")
            encode(harness)
            encodings.set_precision({slowly.id: 8})
            before = encodings.coarse(MODEL, [(slowly.id, 1)])[slowly.id, 1][1]
            assert encodings.set_precision({slowly.id: 4, at_once.id: 4}) == Moved({4: 2}, states=2)
            assert kept_in(harness, slowly, at_once) == [8, 4]
            assert np.array_equal(encodings.coarse(MODEL, [(slowly.id, 1)])[slowly.id, 1][1], before)
            harness.put(fresh)
            assert [unencoded.text for unencoded in to_make(harness)] == ["fresh", "milk slowly"]
            assert encodings.how_many_missing(MODEL, "bytes") == 2 and encodings.how_many_missing(MODEL) == 1
            assert encode(harness) == 2 and to_make(harness) == []
            assert kept_in(harness, slowly, at_once) == [4, 4]
            for atom in (slowly, at_once):
                made = encodings.coarse(MODEL, [(atom.id, 1)])[atom.id, 1][1]
                assert np.array_equal(made, unpack(pack(vectors_of(atom.content), 4)))

    def test_what_warms_up_is_made_whole_again_with_its_states(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings, atom = harness.store.encodings, harness.kept("tea")
            encode(harness)
            for bits in (2, 8, 4, 32, 2, 32):
                encodings.set_precision({atom.id: bits})
                encode(harness)
                assert kept_in(harness, atom) == [bits] and to_make(harness) == []
                states = encodings.states(MODEL, digests(atom))
                assert states == ({digests(atom)[0]: states_of("tea")} if bits >= 8 else {})
                assert encodings.room().vectors.keys() == {bits} and encodings.room().states[0] == (bits >= 8)
            (vectors,) = encodings.vectors(MODEL, [atom.id]).values()
            assert abs(vectors - vectors_of("tea")).max() <= CLOSE

    def test_whoever_changes_their_mind_before_it_was_made_anew_has_lost_nothing(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings, atom = harness.store.encodings, harness.kept("tea")
            encode(harness)
            for bits in (8, 32, 8):
                encodings.set_precision({atom.id: bits})
            assert kept_in(harness, atom) == [8] and to_make(harness) == []
            encodings.set_precision({atom.id: 4})
            encodings.set_precision({atom.id: 8})
            assert kept_in(harness, atom) == [8] and [unencoded.text for unencoded in to_make(harness)] == ["tea"]
            encode(harness)
            assert encodings.states(MODEL, digests(atom)) == {digests(atom)[0]: states_of("tea")}

    def test_a_text_of_several_is_kept_in_the_most_that_one_of_them_wants(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            one, other, turns = harness.kept("tea"), harness.kept("tea", scope=ANN), segment(harness, "tea", "milk")
            encode(harness)
            assert encodings.set_precision({one.id: 2}) == NOTHING
            assert encodings.set_precision({turns.id: 4}) == Moved({4: 1}, states=1)
            assert kept_in(harness, one, other, turns) == [32, 32, 32, 4]
            assert encodings.set_precision({other.id: 8}) == Moved({8: 1})
            assert kept_in(harness, one, other, turns) == [8, 8, 8, 4]
            harness.put(other.with_(content="gone"), scope=ANN)
            encodings.set_precision({one.id: 2, turns.id: 2})
            encode(harness)
            assert kept_in(harness, one, turns) == [2, 2, 2]
            again = harness.kept("milk", kind="narrative")
            encodings.set_precision({again.id: 32})
            assert sorted({*digests(again)} & {unencoded.digest for unencoded in to_make(harness)}) == sorted(
                {*digests(again)} & {*digests(turns)}
            )

    def test_what_a_model_makes_later_is_kept_as_wanted_from_the_start(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings, atom = harness.store.encodings, harness.kept("tea")
            assert encodings.set_precision({atom.id: 4, harness.atom().id: 2}) == NOTHING
            encode(harness), encode(harness, OTHER_MODEL)
            assert kept_in(harness, atom) == kept_in(harness, atom, model=OTHER_MODEL) == [4]
            assert encodings.states(OTHER_MODEL, digests(atom)) == {} and encodings.room().states == (0, 0)
            harness.put(atom.with_(content="milk"))
            encode(harness)
            assert kept_in(harness, harness.head(atom)) == [4]

    def test_a_rebuild_keeps_every_vector_in_its_bits(self, tmp_path: Path) -> None:
        random = Random(4)
        with self.hand(tmp_path) as harness, self.hand(tmp_path) as other:
            littered(harness, random, 30)
            encode(harness)
            atoms = harness.read(LOCAL, ANN, OTHER)
            lives = {atom.id: Life(atom.revision, bits=random.choice(BITS)) for atom in atoms}
            harness.store.lives.put(lives)
            for scope in (LOCAL, ANN, OTHER):
                untold = harness.store.lives.untold(scope)
                harness.store.encodings.set_precision(untold)
                harness.store.lives.told(untold)
            encode(harness)
            before, room = kept_in(harness, *atoms), harness.store.encodings.room()
            assert set(before) == set(BITS)
            harness.store.rebuild()
            assert (kept_in(harness, *atoms), harness.store.encodings.room()) == (before, room)
            assert (kept_in(other, *atoms), other.store.encodings.room()) == (before, room)
            assert to_make(harness) == [] and harness.store.check() == []
            assert harness.store.encodings.set_precision({each: life.bits for each, life in lives.items()}) == NOTHING

    def test_what_is_noted_is_untold_until_it_is_told_and_after_it_was_written(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            lives, atom, theirs = harness.store.lives, harness.kept("tea"), harness.kept("milk", scope=OTHER)
            assert lives.untold(LOCAL) == {}
            lives.put({atom.id: Life(1), theirs.id: Life(1, bits=2)})
            assert (lives.untold(LOCAL), lives.untold(OTHER)) == ({atom.id: 32}, {theirs.id: 2})
            lives.told({atom.id: 32})
            lives.put({atom.id: Life(1, "cold")})
            assert lives.untold(LOCAL) == {}
            lives.put({atom.id: Life(1, bits=8)})
            lives.told({atom.id: 32})
            assert lives.untold(LOCAL) == {atom.id: 8} and lives.of([atom.id])[atom.id].bits == 8
            lives.told({atom.id: 8})
            harness.put(atom.with_(content="green tea"))
            lives.put({atom.id: Life(2, bits=8)})
            assert lives.untold(LOCAL) == {atom.id: 8}

    def test_what_everything_takes_is_told(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            assert (encodings.room().vectors, encodings.room().states) == ({}, (0, 0))
            atoms = [harness.kept(f"tea {n}") for n in range(4)]
            encode(harness), encode(harness, OTHER_MODEL)
            encodings.set_precision(dict(zip([each.id for each in atoms], BITS, strict=True)))
            matches = encodings.room()
            assert {bits: texts for bits, (texts, _) in matches.vectors.items()} == dict.fromkeys(BITS, 2)
            for atom, bits in zip(atoms, BITS, strict=True):
                assert matches.vectors[bits][1] >= 2 * len(pack(vectors_of(atom.content), bits).data) > 0
            assert matches.states == (4, 4 * len(states_of("tea 0").data))
            encodings.drop(OTHER_MODEL)
            assert encodings.room().states[0] == 2
            harness.put(atoms[0].with_(content="gone"))
            assert 32 not in encodings.room().vectors and encodings.room().states[0] == 1
