"""Token states of one bit or four: the same promises, a change without a gap, and damage that costs no answer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from town_conversations import EMBEDDERS, answers, needs_minilm, open_memory, populate, questions

from lamina import Memory
from lamina.models.encoding_worker import encode_up_to
from lamina.testing.store_harness import count_missing

QUESTIONS = questions(count=12)


def bits(root: Path, count: int) -> Memory:
    return open_memory(root, "minilm", token_bits=count)


def answer_snapshots(root: Path, count: int) -> list[str]:
    with bits(root, count) as memory:
        return answers(memory, QUESTIONS)


def encoded(root: Path, count: int) -> int:
    with bits(root, count) as memory:
        return memory.embed()


@pytest.fixture(scope="module")
def coarse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault whose states are of one bit; nobody changes it."""
    root = tmp_path_factory.mktemp("coarse") / "vault"
    with bits(root, 1) as memory:
        populate(memory, sessions=8)
        memory.embed()
    return root


@pytest.fixture
def vault(coarse: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(coarse, tmp_path / "vault"))


@needs_minilm
def test_until_all_states_are_recomputed_answers_use_signs_and_then_levels(vault: Path) -> None:
    before = answer_snapshots(vault, 1)
    with bits(vault, 4) as memory:
        assert answers(memory, QUESTIONS) == before
        left = count_missing(memory.engine.store.passages.encodings, _primary(memory), "nibbles")
        assert encode_up_to(memory.engine.store, memory.engine.models.embedders()[1], 5) == 5
        assert answers(memory, QUESTIONS) == before
        assert memory.embed() == left - 5
        after = answers(memory, QUESTIONS)
        assert after != before
        memory.upkeep.rebuild()
        assert answers(memory, QUESTIONS) == after
    assert answer_snapshots(vault, 4) == after
    (vault / ".lamina" / "index.db").unlink()
    assert encoded(vault, 4) > left
    assert answer_snapshots(vault, 4) == after
    assert answer_snapshots(vault, 1) == before
    assert encoded(vault, 1) == left
    assert answer_snapshots(vault, 1) == before


@needs_minilm
def test_text_written_meanwhile_is_found_immediately_through_the_transformer(vault: Path) -> None:
    with bits(vault, 4) as memory:
        atom = memory.remember("The heron stands in the pond.").outcomes[0].atom
        result = memory.recall("where does the heron stand?")
        assert result.model.startswith("all-MiniLM")
        assert result.hits[0].atom.id == atom.id
        assert count_missing(memory.engine.store.passages.encodings, _primary(memory), "nibbles") > 20


@needs_minilm
def test_with_four_bits_every_score_still_equals_its_terms_and_weights(vault: Path) -> None:
    encoded(vault, 4)
    with bits(vault, 4) as memory:
        hits = [hit for question in QUESTIONS for hit in memory.recall(question).hits]
    assert any(dict(hit.terms).get("window") for hit in hits)
    for hit in hits:
        score = max(0.0, sum(amount for _, amount in hit.terms))
        for _, weight in hit.weights:
            score *= weight
        assert abs(score - hit.score) < 1e-9


@pytest.mark.parametrize("embedder", EMBEDDERS[1:])
def test_overwritten_bytes_cost_the_index_and_no_answer(tmp_path: Path, embedder: str) -> None:
    root = tmp_path / "vault"
    with open_memory(root, embedder) as memory:
        populate(memory, sessions=4)
        memory.embed()
        before = answers(memory, QUESTIONS)
    assert _overwrite(root / ".lamina" / "index.db") > 20
    with open_memory(root, embedder) as memory:
        assert all(memory.recall(question).hits for question in QUESTIONS)
        memory.embed()
        assert answers(memory, QUESTIONS) == before
        assert memory.upkeep.doctor(deep=True).healthy


def _overwrite(file: Path) -> int:
    """Damage the bytes of every state where they lie in the file; returns how many were found there."""
    damaged = 0
    with file.open("r+b") as there:
        whole = there.read()
        for data in _beginnings(file):
            place = whole.find(data)
            if place >= 0:
                there.seek(place)
                there.write(b"\xff" * len(data))
                damaged += 1
        there.flush()
        os.fsync(there.fileno())
    return damaged


def _beginnings(file: Path) -> Iterator[bytes]:
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        yield from [bytes(row[0]) for row in db.execute("SELECT substr(data, 1, 24) FROM states WHERE length(data)>7")]
    finally:
        db.close()


def _primary(memory: Memory) -> str:
    assert memory.engine.models.choice.primary is not None
    return memory.engine.models.choice.primary.model.id
