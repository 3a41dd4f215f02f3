"""The same store, question and clock give the same hits, to the last bit of every number."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import town_conversations
from town_conversations import EMBEDDERS, NOON, answers, open_memory, populate

from lamina import FixedClock, Memory

PART = 12
"""Where a thing is asked again and again, so many of the questions."""


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def shared_vault(embedder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A vault that nobody changes, and its answers."""
    root = tmp_path_factory.mktemp(embedder) / "vault"
    with open_memory(root, embedder, clock=FixedClock(NOON - timedelta(minutes=1))) as memory:
        populate(memory)
    with open_memory(root, embedder) as memory:
        return root, answers(memory)


@pytest.fixture
def private_copy(shared_vault: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy of the vault, to be changed."""
    return Path(shutil.copytree(shared_vault[0], tmp_path / "vault"))


@pytest.fixture
def memory(private_copy: Path, embedder: str) -> Iterator[Memory]:
    with open_memory(private_copy, embedder) as again:
        yield again


def some_answers(memory: Memory) -> list[str]:
    return answers(memory, town_conversations.questions()[:PART])


def test_the_questions_have_hits_through_the_requested_model(
    shared_vault: tuple[Path, list[str]], embedder: str
) -> None:
    result = [json.loads(item) for item in shared_vault[1]]
    model = {"none": "text", "light": "wordllama-l2-supercat-256", "minilm": "all-MiniLM-L6-v2-int8@afdb6f1a"}[embedder]
    assert len(result) == town_conversations.COUNT
    assert {item[1] for item in result} == {model}
    assert sum(len(item[3]) for item in result) > 6 * town_conversations.COUNT


def test_repeating_a_question_gives_identical_results(memory: Memory, shared_vault: tuple[Path, list[str]]) -> None:
    assert answers(memory) == shared_vault[1]
    assert answers(memory) == shared_vault[1]


def test_the_order_of_the_questions_does_not_matter(memory: Memory, shared_vault: tuple[Path, list[str]]) -> None:
    numbers = [n for n in range(town_conversations.COUNT) if n % 7 != 6]
    Random(3).shuffle(numbers)
    questions = town_conversations.questions()
    for n in numbers[:PART]:
        assert town_conversations.recall_snapshot(memory.recall(questions[n], 10)) == shared_vault[1][n]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_gives_identical_results(
    shared_vault: tuple[Path, list[str]], embedder: str, seed: str
) -> None:
    result = subprocess.run(
        [sys.executable, town_conversations.__file__, str(shared_vault[0]), embedder],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert json.loads(result.stdout) == shared_vault[1]


def test_a_rebuilt_index_gives_identical_results(memory: Memory, shared_vault: tuple[Path, list[str]]) -> None:
    memory.upkeep.rebuild()
    assert answers(memory) == shared_vault[1]


def test_a_lost_index_is_recreated_with_identical_results(
    private_copy: Path, embedder: str, shared_vault: tuple[Path, list[str]]
) -> None:
    paths = list((private_copy / ".lamina").glob("index.db*"))
    assert paths
    for file in paths:
        file.unlink()
    with open_memory(private_copy, embedder) as again:
        again.embed()
        assert answers(again) == shared_vault[1]


def test_the_order_of_writing_changes_no_result(
    private_copy: Path, tmp_path: Path, embedder: str, shared_vault: tuple[Path, list[str]]
) -> None:
    shutil.rmtree(private_copy / ".lamina")
    files = sorted(
        path.relative_to(private_copy)
        for folder in ("atoms", "sessions")
        for path in (private_copy / folder).rglob("*.md")
    )
    result = []
    for seed in (4, 5):
        Random(seed).shuffle(files)
        root = tmp_path / f"again {seed}"
        with open_memory(root, embedder) as memory:
            for batch in (files[:10], files[10:25], files[25:]):
                for file in batch:
                    (root / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(private_copy / file, root / file)
                memory.upkeep.sync()
                memory.embed()
            result.append(answers(memory))
    assert result == [shared_vault[1], shared_vault[1]]


@pytest.mark.parametrize("scope", ["org:other", "org:local:agent:eve"])
def test_atoms_of_an_unsearched_scope_change_no_result(
    memory: Memory, shared_vault: tuple[Path, list[str]], embedder: str, scope: str
) -> None:
    with open_memory(memory.root, embedder, scope) as other:
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
        assert some_answers(memory) == shared_vault[1][:PART]
        for atom_id in written:
            other.forget(atom_id, "gone")
        assert some_answers(memory) == shared_vault[1][:PART]
    memory.upkeep.rebuild()
    assert some_answers(memory) == shared_vault[1][:PART]


def test_a_write_and_its_undo_change_no_result(memory: Memory, shared_vault: tuple[Path, list[str]]) -> None:
    memory.remember("Ann adopted a tabby cat in Lisbon.", subject="Ann's cat")
    assert some_answers(memory) != shared_vault[1][:PART]
    memory.undo()
    memory.embed()
    assert some_answers(memory) == shared_vault[1][:PART]
