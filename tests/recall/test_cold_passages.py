"""Passages too cold to have their token states kept: they are found, read closely in passing, and say how coarse they
are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from town_conversations import DAY, NOON, answers, needs_minilm, open_memory, populate, questions

from lamina import FixedClock, Memory
from lamina.atom.atom import Atom
from lamina.cli.record_views import explain_score
from lamina.models.embedder import Embedder, EncodedText, TextToEncode
from lamina.models.encoding_worker import MAX_RECOMPUTED, RecomputedStates
from lamina.recall.hit_builder import DIMENSION_DEVIATION
from lamina.recall.recall_result import VectorPrecision
from lamina.store.encodings import UnencodedText
from lamina.testing.store_harness import token_states
from lamina.vectors.fisher_rao import frqad
from lamina.vectors.quantisation import expected_error

EMBEDDERS = ["light", pytest.param("minilm", marks=needs_minilm)]
FACT = "Grandmother's silver brooch lies in the blue tin behind the flour."
QUESTION = "where is grandmother's silver brooch?"


def all_atoms(memory: Memory) -> list[Atom]:
    return memory.list(status=None, limit=None)


def make_cold(memory: Memory, bits: int) -> None:
    """Keep everything in so many bits."""
    memory.embed()
    memory.engine.store.passages.encodings.precision.change({atom.id: bits for atom in all_atoms(memory)})
    memory.embed()
    memory.engine.store.current_index.drop_search()


def texts(memory: Memory, count: int) -> list[UnencodedText]:
    texts_to_encode = memory.engine.store.passages.encodings.find_missing("nobody", 1000)[:count]
    assert len(texts_to_encode) == count
    return texts_to_encode


def main_of(memory: Memory) -> Embedder:
    embedder = memory.engine.models.choice.primary or memory.engine.models.choice.light
    assert embedder is not None
    return embedder


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_an_old_fact_without_competition_still_ranks_first(tmp_path: Path, embedder: str, bits: int) -> None:
    with open_memory(tmp_path / "vault", embedder) as memory:
        populate(memory, sessions=6)
        old = memory.remember(FACT, observed_at=NOON - 900 * DAY).outcomes[0].atom
        make_cold(memory, bits)
        for n in range(20):
            memory.remember(f"The market in Ghent opens at {n} o'clock, says number {n}.")
        memory.embed()
        hits = memory.recall(QUESTION).hits
        assert hits[0].atom.id == old.id and hits[0].relevant
        assert {"passage", "window", "session"} <= dict(hits[0].terms).keys()
        assert dict(hits[0].terms)["passage"] > 0


def test_temporary_states_equal_stored_ones_and_are_computed_once(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        memory.embed()
        counting = _Counting(main_of(memory))
        wanted = texts(memory, MAX_RECOMPUTED + 8)
        thawed, stored = (
            RecomputedStates(),
            token_states(memory.engine.store, counting.model.id, [text.digest for text in wanted]),
        )
        for _ in range(3):
            assert thawed.states(counting, wanted) == {
                unencoded_text.digest: stored[unencoded_text.digest] for unencoded_text in wanted[:MAX_RECOMPUTED]
            }
            assert counting.seen == MAX_RECOMPUTED
        assert thawed.states(counting, wanted[4:]).keys() == {
            unencoded_text.digest for unencoded_text in wanted[4 : MAX_RECOMPUTED + 4]
        }
        assert counting.seen == MAX_RECOMPUTED + 4
        small = RecomputedStates(limit=3)
        for first, computed in ((0, 5), (2, 0), (1, 1)):
            counting.seen = 0
            small.states(counting, wanted[first:5])
            assert counting.seen == computed


def test_a_recall_writes_nothing_and_is_repeatable(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        make_cold(memory, 4)
        before = memory.engine.store.passages.encodings.precision.sizes()
        result = questions(count=6)
        first = answers(memory, result)
        assert answers(memory, result) == first
        assert memory.engine.store.passages.encodings.precision.sizes() == before and before.states == (0, 0)
    with open_memory(tmp_path / "vault") as memory:
        assert answers(memory, list(reversed(result))) == list(reversed(first))


def test_few_cold_passages_are_compared_as_closely_as_hot_ones(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        memory.embed()
        some = [memory.remember(FACT).outcomes[0].atom, memory.remember("Ann broke the kayak.").outcomes[0].atom]
        before = memory.recall(QUESTION).hits[0]
        memory.engine.store.passages.encodings.precision.change({atom.id: 4 for atom in some})
        memory.engine.store.current_index.drop_search()
        after = memory.recall(QUESTION).hits[0]
        assert before.atom.id == after.atom.id == some[0].id and after.precision is not None
        for name in ("passage", "window", "session", "text"):
            assert dict(after.terms)[name] == dict(before.terms)[name]


def test_a_hit_reports_its_precision_and_the_uncertainty_of_its_cosine(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault") as memory:
        memory.remember(FACT)
        memory.embed()
        (whole,) = memory.recall(QUESTION).hits
        assert whole.precision is None and whole.explain()["precision"] == {}
        assert not [output_block for output_block in explain_score(whole) if "precision" in str(output_block)]
        errors = []
        for bits in (8, 4, 2):
            memory.engine.store.passages.encodings.precision.change({whole.atom.id: 32})
            make_cold(memory, bits)
            (hit,) = memory.recall(QUESTION).hits
            assert hit.precision is not None and hit.precision.bits == bits
            assert 0 < hit.precision.error < expected_error(bits, 256)
            assert hit.explain()["precision"] == {
                "bits": bits,
                "error": hit.precision.error,
                "frqad": hit.precision.frqad,
            }
            model = main_of(memory)
            stored = memory.engine.store.passages.encodings.vectors(model.model.id, [(hit.atom.id, 1)])
            kept = stored[hit.atom.id, 1].rows[0]
            question = model.encode_question(QUESTION).vector.astype(float)
            assert (
                hit.precision.frqad
                == frqad(question, DIMENSION_DEVIATION, 32, kept.astype(float), DIMENSION_DEVIATION, bits)
                > 0
            )
            assert [
                output_block for output_block in explain_score(hit) if f"{bits} bits (cosine ± " in str(output_block)
            ]
            errors.append(hit.precision.error)
        assert errors == sorted(errors)
    assert str(VectorPrecision(4, 0.00512, 38.04)) == "4 bits (cosine ± 0.0051, Fisher-Rao 38.0)"


def test_a_reworded_statement_is_found_without_its_token_states(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    with open_memory(tmp_path / "vault", clock=clock) as memory:
        old = memory.remember(FACT).outcomes[0].atom
        clock.at += DAY
        memory.revise(old.id, "Grandmother's silver brooch was given to Carla.", reason="moved")
        make_cold(memory, 2)
        assert memory.recall(QUESTION, known_at=NOON + DAY / 2).hits[0].text == FACT
        assert "Carla" in memory.recall(QUESTION).hits[0].text


class _Counting:
    """An embedder that counts what it was given to read."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.seen = embedder, 0
        self.model, self.encode_question = embedder.model, embedder.encode_question

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        self.seen += len(pieces)
        return self._embedder.encode_passages(pieces)
