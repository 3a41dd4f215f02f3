"""The same store, question and clock give the same hits, to the last bit of every number."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import town
from town import EMBEDDERS, answers, opened, populate

from lamina import Memory

PART = 12
"""Where a thing is asked again and again, so many of the questions."""


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def seen(embedder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A vault that nobody changes, and its answers."""
    root = tmp_path_factory.mktemp(embedder) / "vault"
    with opened(root, embedder) as memory:
        populate(memory)
        return root, answers(memory)


@pytest.fixture
def mine(seen: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy of the vault, to be changed."""
    return Path(shutil.copytree(seen[0], tmp_path / "vault"))


@pytest.fixture
def memory(mine: Path, embedder: str) -> Iterator[Memory]:
    with opened(mine, embedder) as again:
        yield again


def some(memory: Memory) -> list[str]:
    return answers(memory, town.questions()[:PART])


def test_the_questions_find_something_through_the_model_that_was_asked_for(
    seen: tuple[Path, list[str]], embedder: str
) -> None:
    found = [json.loads(each) for each in seen[1]]
    model = {"none": "text", "light": "wordllama-l2-supercat-256", "minilm": "all-MiniLM-L6-v2-int8@afdb6f1a"}[embedder]
    assert len(found) == town.COUNT
    assert {each[1] for each in found} == {model}
    assert sum(len(each[3]) for each in found) > 6 * town.COUNT


def test_asking_again_gives_the_same_bits(memory: Memory, seen: tuple[Path, list[str]]) -> None:
    assert answers(memory) == seen[1]
    assert answers(memory) == seen[1]


def test_the_order_of_the_questions_does_not_matter(memory: Memory, seen: tuple[Path, list[str]]) -> None:
    asked = [n for n in range(town.COUNT) if n % 7 != 6]
    Random(3).shuffle(asked)
    questions = town.questions()
    for n in asked[:PART]:
        assert town.told(memory.recall(questions[n], 10)) == seen[1][n]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_gives_the_same_bits(seen: tuple[Path, list[str]], embedder: str, seed: str) -> None:
    ran = subprocess.run(
        [sys.executable, town.__file__, str(seen[0]), embedder],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert json.loads(ran.stdout) == seen[1]


def test_an_index_made_anew_gives_the_same_bits(memory: Memory, seen: tuple[Path, list[str]]) -> None:
    memory.rebuild()
    assert answers(memory) == seen[1]


def test_a_lost_index_is_made_again_with_the_same_bits(mine: Path, embedder: str, seen: tuple[Path, list[str]]) -> None:
    lost = list((mine / ".lamina").glob("index.db*"))
    assert lost
    for file in lost:
        file.unlink()
    with opened(mine, embedder) as again:
        again.embed()
        assert answers(again) == seen[1]


def test_the_same_atoms_give_the_same_bits_in_whatever_order_they_came(
    mine: Path, tmp_path: Path, embedder: str, seen: tuple[Path, list[str]]
) -> None:
    shutil.rmtree(mine / ".lamina")
    files = sorted(path.relative_to(mine) for folder in ("atoms", "sessions") for path in (mine / folder).rglob("*.md"))
    told = []
    for seed in (4, 5):
        Random(seed).shuffle(files)
        root = tmp_path / f"again {seed}"
        with opened(root, embedder) as memory:
            for batch in (files[:10], files[10:25], files[25:]):
                for file in batch:
                    (root / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(mine / file, root / file)
                memory.sync()
                memory.embed()
            told.append(answers(memory))
    assert told == [seen[1], seen[1]]


@pytest.mark.parametrize("scope", ["org:other", "org:local:agent:eve"])
def test_atoms_of_a_scope_that_is_not_searched_change_no_bit(
    memory: Memory, seen: tuple[Path, list[str]], embedder: str, scope: str
) -> None:
    with opened(memory.root, embedder, scope) as other:
        written = []
        for n in range(20):
            words = f"Ann adopted a tabby cat in Lisbon and cooked ramen, number {n}."
            written.append(other.remember(words, private=True, subject=f"Ann {n}").atom.id)
        other.capture(
            [{"speaker": "Zoe", "content": f"In Oslo the violin cost {n} euros."} for n in range(20)],
            session_id="talk 1 1",
            private=True,
        )
        other.embed()
        assert some(memory) == seen[1][:PART]
        for atom_id in written:
            other.forget(atom_id, "gone")
        assert some(memory) == seen[1][:PART]
    memory.rebuild()
    assert some(memory) == seen[1][:PART]


def test_writing_and_taking_back_leaves_the_same_bits(memory: Memory, seen: tuple[Path, list[str]]) -> None:
    memory.remember("Ann adopted a tabby cat in Lisbon.", subject="Ann's cat")
    assert some(memory) != seen[1][:PART]
    memory.undo()
    memory.embed()
    assert some(memory) == seen[1][:PART]
