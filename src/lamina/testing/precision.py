"""Contract of precision: in how many bits a store keeps vectors, and how it changes that."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from lamina.atom.atom import Atom
from lamina.store.encodings import UnencodedText
from lamina.store.precision import PrecisionChange
from lamina.store.signals_and_ageing import AgeingState
from lamina.testing.capabilities import Capability, all_need
from lamina.testing.store_harness import (
    ANN,
    LOCAL,
    OTHER,
    Contract,
    StoreHarness,
    count_missing,
    coverage,
    token_states,
)
from lamina.testing.stored_encodings import commit_random_atoms, commit_segment
from lamina.testing.vector_reference import (
    COSINE_TOLERANCE,
    MODEL,
    OTHER_MODEL,
    encode_missing,
    make_states,
    make_vectors,
    nearest_passages,
    text_digests,
)
from lamina.vectors.stored_vectors import pack, unpack

BITS = (32, 8, 4, 2)
NO_CHANGE = PrecisionChange({})


def stored_bits(harness: StoreHarness, *atoms: Atom, model: str = MODEL) -> list[int]:
    """Return the bits in which the vectors of each passage are stored."""
    keys = [(atom.id, n) for atom in atoms for n in range(1, len(text_digests(atom)) + 1)]
    reduced = harness.encodings.vectors(model, keys, only_reduced=True)
    return [reduced[key].bits if key in reduced else 32 for key in keys]


def texts_to_encode(harness: StoreHarness) -> list[UnencodedText]:
    """Return the texts that must be encoded."""
    return harness.encodings.find_missing(MODEL, 1000, packing="bytes")


@all_need(Capability.PRECISION)
class PrecisionContract(Contract):
    """Fewer bits are computed from the full vector or from the text, never from fewer bits."""

    def test_vectors_are_stored_in_the_requested_bits_with_the_matching_error(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            encodings = harness.encodings
            atoms = {bits: harness.add(f"tea in {bits}") for bits in BITS}
            encode_missing(harness)
            filters = {atom.id: bits for bits, atom in atoms.items()}
            moved = PrecisionChange({8: 1, 4: 1, 2: 1}, states=2)
            assert encodings.precision.change(filters, dry_run=True) == moved
            assert (
                stored_bits(harness, *atoms.values()) == [32, 32, 32, 32] and encodings.precision.sizes().states[0] == 4
            )
            assert encodings.precision.change(filters) == moved
            assert encodings.precision.change(filters) == encodings.precision.change(filters, dry_run=True) == NO_CHANGE
            assert stored_bits(harness, *atoms.values()) == [32, 8, 4, 2]
            results = encodings.vectors(MODEL, [(atom.id, 1) for atom in atoms.values()])
            for bits, atom in atoms.items():
                whole = make_vectors(atom.content)
                assert np.array_equal(results[atom.id, 1].rows, unpack(pack(whole, bits)))
            assert coverage(harness.store, MODEL, [LOCAL]) == (4, 4)
        with self.open_harness(tmp_path) as harness:
            for atom in atoms.values():
                assert nearest_passages(harness, atom.content)[atom.id, 1].cosine > 0.8
                assert next(iter(nearest_passages(harness, atom.content))) == (atom.id, 1)

    def test_fewer_bits_are_made_from_the_full_vector_or_by_encoding_again(self, harness: StoreHarness) -> None:
        encodings = harness.encodings
        slowly, at_once, fresh = harness.add("milk slowly"), harness.add("milk at once"), harness.new_atom("fresh")
        encode_missing(harness)
        encodings.precision.change({slowly.id: 8})
        before = encodings.vectors(MODEL, [(slowly.id, 1)])[slowly.id, 1].rows
        assert encodings.precision.change({slowly.id: 4, at_once.id: 4}) == PrecisionChange({4: 2}, states=2)
        assert stored_bits(harness, slowly, at_once) == [8, 4]
        assert np.array_equal(encodings.vectors(MODEL, [(slowly.id, 1)])[slowly.id, 1].rows, before)
        harness.commit(fresh)
        assert [unencoded.text for unencoded in texts_to_encode(harness)] == ["fresh", "milk slowly"]
        assert count_missing(encodings, MODEL, "bytes") == 2 and count_missing(encodings, MODEL) == 1
        assert encode_missing(harness) == 2 and texts_to_encode(harness) == []
        assert stored_bits(harness, slowly, at_once) == [4, 4]
        for atom in (slowly, at_once):
            vectors = encodings.vectors(MODEL, [(atom.id, 1)])[atom.id, 1].rows
            assert np.array_equal(vectors, unpack(pack(make_vectors(atom.content), 4)))

    def test_raising_precision_restores_full_vectors_and_states(self, harness: StoreHarness) -> None:
        encodings, atom = harness.encodings, harness.add("tea")
        encode_missing(harness)
        for bits in (2, 8, 4, 32, 2, 32):
            encodings.precision.change({atom.id: bits})
            encode_missing(harness)
            assert stored_bits(harness, atom) == [bits] and texts_to_encode(harness) == []
            states = token_states(harness.store, MODEL, text_digests(atom))
            assert states == ({text_digests(atom)[0]: make_states("tea")} if bits >= 8 else {})
            assert encodings.precision.sizes().vectors.keys() == {bits}
            assert encodings.precision.sizes().states[0] == (bits >= 8)
        (vectors,) = encodings.vectors(MODEL, [(atom.id, 1)]).values()
        assert abs(vectors.rows - make_vectors("tea")).max() <= COSINE_TOLERANCE

    def test_reverting_a_precision_change_before_encoding_loses_nothing(self, harness: StoreHarness) -> None:
        encodings, atom = harness.encodings, harness.add("tea")
        encode_missing(harness)
        for bits in (8, 32, 8):
            encodings.precision.change({atom.id: bits})
        assert stored_bits(harness, atom) == [8] and texts_to_encode(harness) == []
        encodings.precision.change({atom.id: 4})
        encodings.precision.change({atom.id: 8})
        assert stored_bits(harness, atom) == [8]
        assert [unencoded.text for unencoded in texts_to_encode(harness)] == ["tea"]
        encode_missing(harness)
        assert token_states(harness.store, MODEL, text_digests(atom)) == {text_digests(atom)[0]: make_states("tea")}

    def test_a_shared_text_is_stored_in_the_highest_requested_precision(self, harness: StoreHarness) -> None:
        encodings = harness.encodings
        one, other = harness.add("tea"), harness.add("tea", scope=ANN)
        turns = commit_segment(harness, "tea", "milk")
        encode_missing(harness)
        assert encodings.precision.change({one.id: 2}) == NO_CHANGE
        assert encodings.precision.change({turns.id: 4}) == PrecisionChange({4: 1}, states=1)
        assert stored_bits(harness, one, other, turns) == [32, 32, 32, 4]
        assert encodings.precision.change({other.id: 8}) == PrecisionChange({8: 1})
        assert stored_bits(harness, one, other, turns) == [8, 8, 8, 4]
        harness.commit(other.with_(content="gone"), scope=ANN)
        encodings.precision.change({one.id: 2, turns.id: 2})
        encode_missing(harness)
        assert stored_bits(harness, one, turns) == [2, 2, 2]
        again = harness.add("milk", kind="narrative")
        encodings.precision.change({again.id: 32})
        digests = {*text_digests(again)}
        missing = {unencoded.digest for unencoded in texts_to_encode(harness)}
        assert digests & missing == digests & {*text_digests(turns)}

    def test_later_encodings_are_stored_in_the_requested_precision(self, harness: StoreHarness) -> None:
        encodings, atom = harness.encodings, harness.add("tea")
        assert encodings.precision.change({atom.id: 4, harness.new_atom().id: 2}) == NO_CHANGE
        encode_missing(harness), encode_missing(harness, OTHER_MODEL)
        assert stored_bits(harness, atom) == stored_bits(harness, atom, model=OTHER_MODEL) == [4]
        assert token_states(
            harness.store, OTHER_MODEL, text_digests(atom)
        ) == {} and encodings.precision.sizes().states == (0, 0)
        harness.commit(atom.with_(content="milk"))
        encode_missing(harness)
        assert stored_bits(harness, harness.current(atom)) == [4]

    def test_a_rebuild_keeps_every_vector_in_its_bits(self, tmp_path: Path) -> None:
        random = Random(4)
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            commit_random_atoms(harness, random, 30)
            encode_missing(harness)
            atoms = harness.read(LOCAL, ANN, OTHER)
            lives = {atom.id: AgeingState(atom.revision, bits=random.choice(BITS)) for atom in atoms}
            harness.store.signals.put_ageing(lives)
            for scope in (LOCAL, ANN, OTHER):
                untold = harness.store.signals.unapplied_bits(scope)
                harness.encodings.precision.change(untold)
                harness.store.signals.mark_bits_applied(untold)
            encode_missing(harness)
            before, room = stored_bits(harness, *atoms), harness.encodings.precision.sizes()
            assert set(before) == set(BITS)
            harness.store.admin.rebuild_index()
            assert (stored_bits(harness, *atoms), harness.encodings.precision.sizes()) == (before, room)
            assert (stored_bits(other, *atoms), other.encodings.precision.sizes()) == (before, room)
            assert texts_to_encode(harness) == [] and harness.store.admin.check() == []
            assert harness.encodings.precision.change({key: life.bits for key, life in lives.items()}) == NO_CHANGE

    def test_a_precision_is_unapplied_until_confirmed_and_again_after_a_revision(self, harness: StoreHarness) -> None:
        lives, atom, theirs = harness.store.signals, harness.add("tea"), harness.add("milk", scope=OTHER)
        assert lives.unapplied_bits(LOCAL) == {}
        lives.put_ageing({atom.id: AgeingState(1), theirs.id: AgeingState(1, bits=2)})
        assert (lives.unapplied_bits(LOCAL), lives.unapplied_bits(OTHER)) == ({atom.id: 32}, {theirs.id: 2})
        lives.mark_bits_applied({atom.id: 32})
        lives.put_ageing({atom.id: AgeingState(1, "cold")})
        assert lives.unapplied_bits(LOCAL) == {}
        lives.put_ageing({atom.id: AgeingState(1, bits=8)})
        lives.mark_bits_applied({atom.id: 32})
        assert lives.unapplied_bits(LOCAL) == {atom.id: 8}
        assert harness.store.signals.get([atom.id])[1][atom.id].bits == 8
        lives.mark_bits_applied({atom.id: 8})
        harness.commit(atom.with_(content="green tea"))
        lives.put_ageing({atom.id: AgeingState(2, bits=8)})
        assert lives.unapplied_bits(LOCAL) == {atom.id: 8}

    def test_sizes_of_vectors_and_states_are_reported(self, harness: StoreHarness) -> None:
        encodings = harness.encodings
        assert (encodings.precision.sizes().vectors, encodings.precision.sizes().states) == ({}, (0, 0))
        atoms = [harness.add(f"tea {n}") for n in range(4)]
        encode_missing(harness), encode_missing(harness, OTHER_MODEL)
        encodings.precision.change(dict(zip([atom.id for atom in atoms], BITS, strict=True)))
        matches = encodings.precision.sizes()
        assert {bits: texts for bits, (texts, _) in matches.vectors.items()} == dict.fromkeys(BITS, 2)
        for atom, bits in zip(atoms, BITS, strict=True):
            assert matches.vectors[bits][1] >= 2 * len(pack(make_vectors(atom.content), bits).data) > 0
        assert matches.states == (4, 4 * len(make_states("tea 0").data))
        encodings.drop_model(OTHER_MODEL)
        assert encodings.precision.sizes().states[0] == 2
        harness.commit(atoms[0].with_(content="gone"))
        assert 32 not in encodings.precision.sizes().vectors
        assert encodings.precision.sizes().states[0] == 1
