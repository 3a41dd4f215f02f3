"""Passages too cold to have their token states kept: they are found, read closely in passing, and say how coarse they
are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from town import DAY, NOON, answers, needs_minilm, opened, populate, questions

from lamina import FixedClock, Memory
from lamina.atom.atom import Atom
from lamina.cli.score_explanation import explain_score
from lamina.models.embedder import Embedder, EncodedText, TextToEncode
from lamina.models.recomputed_states import MAX_RECOMPUTED, RecomputedStates
from lamina.recall.vector_precision import DIMENSION_DEVIATION, VectorPrecision
from lamina.store.encodings import UnencodedText
from lamina.vectors.cosine_estimate import expected_error
from lamina.vectors.fisher_rao import frqad

EMBEDDERS = ["light", pytest.param("minilm", marks=needs_minilm)]
FACT = "Grandmother's silver brooch lies in the blue tin behind the flour."
ASKED = "where is grandmother's silver brooch?"


def every(memory: Memory) -> list[Atom]:
    return memory.list(status=None, limit=None)


def cool(memory: Memory, bits: int) -> None:
    """Keep everything in so many bits."""
    memory.embed()
    memory._store.encodings.set_precision({each.id: bits for each in every(memory)})
    memory.embed()
    memory._store.encodings.reset_search()


def texts(memory: Memory, count: int) -> list[UnencodedText]:
    found = memory._store.encodings.find_missing("nobody", 1000)[:count]
    assert len(found) == count
    return found


def main_of(memory: Memory) -> Embedder:
    embedder = memory.models.primary or memory.models.light
    assert embedder is not None
    return embedder


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_an_old_fact_without_competition_still_comes_first(tmp_path: Path, embedder: str, bits: int) -> None:
    with opened(tmp_path / "vault", embedder) as memory:
        populate(memory, sessions=6)
        old = memory.remember(FACT, observed_at=NOON - 900 * DAY).outcomes[0].atom
        cool(memory, bits)
        for n in range(20):
            memory.remember(f"The market in Ghent opens at {n} o'clock, says number {n}.")
        memory.embed()
        hits = memory.recall(ASKED).hits
        assert hits[0].atom.id == old.id and hits[0].relevant
        assert {"passage", "window", "session"} <= dict(hits[0].terms).keys()
        assert dict(hits[0].terms)["passage"] > 0


def test_states_made_in_passing_are_those_that_would_be_kept_and_are_made_once(tmp_path: Path) -> None:
    with opened(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        memory.embed()
        counting = _Counting(main_of(memory))
        wanted = texts(memory, MAX_RECOMPUTED + 8)
        thawed, kept = (
            RecomputedStates(),
            memory._store.encodings.states(counting.model.id, [each.digest for each in wanted]),
        )
        for _ in range(3):
            assert thawed.states(counting, wanted) == {
                each.digest: kept[each.digest] for each in wanted[:MAX_RECOMPUTED]
            }
            assert counting.seen == MAX_RECOMPUTED
        assert thawed.states(counting, wanted[4:]).keys() == {each.digest for each in wanted[4 : MAX_RECOMPUTED + 4]}
        assert counting.seen == MAX_RECOMPUTED + 4
        small = RecomputedStates(limit=3)
        small.states(counting, wanted[:5])
        assert len(small._states) == 3


def test_a_recall_writes_nothing_and_gives_the_same_answer_again(tmp_path: Path) -> None:
    with opened(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        cool(memory, 4)
        before = memory._store.encodings.sizes()
        asked = questions(count=6)
        first = answers(memory, asked)
        assert answers(memory, asked) == first
        assert memory._store.encodings.sizes() == before and before.states == (0, 0)
    with opened(tmp_path / "vault") as memory:
        assert answers(memory, list(reversed(asked))) == list(reversed(first))


def test_where_few_are_cold_they_are_read_as_closely_as_if_they_were_not(tmp_path: Path) -> None:
    with opened(tmp_path / "vault") as memory:
        populate(memory, sessions=8)
        memory.embed()
        some = [memory.remember(FACT).outcomes[0].atom, memory.remember("Ann broke the kayak.").outcomes[0].atom]
        before = memory.recall(ASKED).hits[0]
        memory._store.encodings.set_precision({each.id: 4 for each in some})
        memory._store.encodings.reset_search()
        after = memory.recall(ASKED).hits[0]
        assert before.atom.id == after.atom.id == some[0].id and after.precision is not None
        for name in ("passage", "window", "session", "text"):
            assert dict(after.terms)[name] == dict(before.terms)[name]


def test_a_hit_says_in_how_many_bits_it_is_kept_and_how_sure_its_cosine_is(tmp_path: Path) -> None:
    with opened(tmp_path / "vault") as memory:
        memory.remember(FACT)
        memory.embed()
        (whole,) = memory.recall(ASKED).hits
        assert whole.precision is None and whole.explain()["precision"] == {}
        assert not [each for each in explain_score(whole) if "kept in" in str(each)]
        errors = []
        for bits in (8, 4, 2):
            memory._store.encodings.set_precision({whole.atom.id: 32})
            cool(memory, bits)
            (hit,) = memory.recall(ASKED).hits
            assert hit.precision is not None and hit.precision.bits == bits
            assert 0 < hit.precision.error < expected_error(bits, 256)
            assert hit.explain()["precision"] == {
                "bits": bits,
                "error": hit.precision.error,
                "frqad": hit.precision.frqad,
            }
            model = main_of(memory)
            kept = memory._store.encodings.coarse_vectors(model.model.id, [(hit.atom.id, 1)])[hit.atom.id, 1][1][0]
            question = model.encode_question(ASKED).vector.astype(float)
            assert (
                hit.precision.frqad
                == frqad(question, DIMENSION_DEVIATION, 32, kept.astype(float), DIMENSION_DEVIATION, bits)
                > 0
            )
            assert [each for each in explain_score(hit) if f"{bits} bits (cosine ± " in str(each)]
            errors.append(hit.precision.error)
        assert errors == sorted(errors)
    assert str(VectorPrecision(4, 0.00512, 38.04)) == "4 bits (cosine ± 0.0051, Fisher-Rao 38.0)"


def test_what_was_said_once_and_reworded_since_is_asked_of_without_its_states(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    with opened(tmp_path / "vault", clock=clock) as memory:
        old = memory.remember(FACT).outcomes[0].atom
        clock.at += DAY
        memory.revise(old.id, "Grandmother's silver brooch was given to Carla.", reason="moved")
        cool(memory, 2)
        assert memory.recall(ASKED, known_at=NOON + DAY / 2).hits[0].text == FACT
        assert "Carla" in memory.recall(ASKED).hits[0].text


class _Counting:
    """An embedder that counts what it was given to read."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.seen = embedder, 0
        self.model, self.encode_question = embedder.model, embedder.encode_question

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        self.seen += len(pieces)
        return self._embedder.encode_passages(pieces)
