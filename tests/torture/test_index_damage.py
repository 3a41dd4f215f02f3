"""The index is damaged in any way: it is noticed, the index is made anew, and it equals the one before."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from mixed_writes import write_something
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import open_vault

from lamina.errors import Refused
from lamina.memory import Memory

QUESTIONS = ("which fact is of the torture", "the value", "what was said", "revised", "part of it")
PAGE_BYTES = 4096
DAMAGES_EACH = 20
FLIPPED = "flipped bits"

Files = dict[str, bytes]
Damage = Callable[[Files, "Sources", random.Random], None]


@dataclass(frozen=True, slots=True)
class Sources:
    """Other files that may stand in the place of an index: an earlier one, and that of another vault."""

    earlier: Files
    other: Files


def damage_indexes(batch: Batch) -> Tally:
    """Damage the index of a vault again and again, and compare what is found with what was found before."""
    tally, rng = Tally(), batch.random()
    for first in range(0, batch.count, DAMAGES_EACH):
        folder = batch.folder / f"from-{first}"
        folder.mkdir()
        _damage_one_vault(tally, rng, folder, min(DAMAGES_EACH, batch.count - first))
    return tally


SUITE = Suite("index", "damaged indexes", 10_000, 100, damage_indexes)


def test_a_damaged_index_is_made_anew_and_equals_the_one_before(pool: Executor) -> None:
    expect_no_failure(SUITE, 60, pool)


def _damage_one_vault(tally: Tally, rng: random.Random, folder: Path, count: int) -> None:
    root = folder / "vault"
    earlier, _ = _write(root, rng, "early")
    other, _ = _write(folder / "other", rng, "other")
    whole, expected = _write(root, rng, "late")
    for number in range(count):
        name, damage = rng.choice(sorted(DAMAGES.items()))
        files = dict(whole)
        damage(files, Sources(earlier, other), rng)
        _replace_index(root, files)
        texts, is_silent = _judge(root, expected)
        if is_silent and name != FLIPPED:
            texts.append("the damage was not noticed by opening the vault")
        tally.fail(*(f"{number}, {name}: {text}" for text in texts))
        tally.runs += 1
        tally.count(name)
        tally.count("flips that only doctor notices", is_silent)


def _write(root: Path, rng: random.Random, name: str) -> tuple[Files, list[object]]:
    known: list[str] = []
    with open_vault(root) as memory:
        for step in range(rng.randint(3, 12)):
            try:
                write_something(memory, rng, f"{name}-{step}", known)
            except Refused:
                continue
        memory.upkeep.sync()
        expected = _look(memory)
    return {path.name: path.read_bytes() for path in (root / ".lamina").glob("index.db*")}, expected


def _look(memory: Memory) -> list[object]:
    """Return the whole index in canonical order, and what recall answers."""
    answers = [[(hit.atom.id, hit.text, hit.score) for hit in memory.recall(question).hits] for question in QUESTIONS]
    return [memory.engine.store.dump(), answers]


def _replace_index(root: Path, files: Files) -> None:
    for path in (root / ".lamina").glob("index.db*"):
        path.unlink()
    for name, data in files.items():
        (root / ".lamina" / name).write_bytes(data)


def _judge(root: Path, expected: list[object]) -> tuple[list[str], bool]:
    """Return what is wrong, and whether only a deep check noticed the damage.

    SQLite has no checksums of its pages, so a bit that changes a value and no structure is noticed by comparing the
    index with the journal, which a deep check does.
    """
    with open_vault(root) as memory:
        memory.upkeep.sync()
        is_silent = _look(memory)[0] != expected[0]
        faults = list(memory.upkeep.doctor(deep=True).faults)
        if is_silent and not faults:
            return ["the index differs, and a deep check does not notice it"], is_silent
        found = _look(memory)
        texts = ["the index differs"] if found[0] != expected[0] else []
        texts += ["recall answers differently"] if _without_scores(found[1]) != _without_scores(expected[1]) else []
        return (texts if is_silent else texts + faults), is_silent


def _without_scores(answers: object) -> object:
    """Return only what was found, in its order: scores depend on the time of the question."""
    assert isinstance(answers, list)
    return [[hit[:2] for hit in hits] for hits in answers]


def _truncate(files: Files, _: Sources, rng: random.Random) -> None:
    data = files["index.db"]
    files["index.db"] = data[: rng.randrange(len(data))]


def _zero_a_page(files: Files, _: Sources, rng: random.Random) -> None:
    _put_page(files, rng, bytes(PAGE_BYTES))


def _fill_a_page(files: Files, _: Sources, rng: random.Random) -> None:
    _put_page(files, rng, rng.randbytes(PAGE_BYTES))


def _put_page(files: Files, rng: random.Random, page: bytes) -> None:
    data = bytearray(files["index.db"])
    at = rng.randrange(len(data) // PAGE_BYTES) * PAGE_BYTES
    data[at : at + PAGE_BYTES] = page
    files["index.db"] = bytes(data)


def _flip_bits(files: Files, _: Sources, rng: random.Random) -> None:
    data = bytearray(files["index.db"])
    for _n in range(rng.choice((1, 1, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    files["index.db"] = bytes(data)


def _delete(files: Files, _: Sources, rng: random.Random) -> None:
    files.clear()


def _empty(files: Files, _: Sources, rng: random.Random) -> None:
    files["index.db"] = b""


def _no_database(files: Files, _: Sources, rng: random.Random) -> None:
    files["index.db"] = rng.randbytes(rng.randrange(1, 20_000))


def _wrong_log(files: Files, _: Sources, rng: random.Random) -> None:
    files["index.db-wal"] = rng.randbytes(rng.randrange(1, 20_000))


def _take_earlier(files: Files, sources: Sources, rng: random.Random) -> None:
    files.clear()
    files.update(sources.earlier)


def _take_other(files: Files, sources: Sources, rng: random.Random) -> None:
    files.clear()
    files.update(sources.other)


DAMAGES: dict[str, Damage] = {
    "cut off": _truncate,
    "a page of zeros": _zero_a_page,
    "a page of noise": _fill_a_page,
    FLIPPED: _flip_bits,
    "deleted": _delete,
    "empty": _empty,
    "not a database": _no_database,
    "a log of noise": _wrong_log,
    "an earlier index": _take_earlier,
    "of another vault": _take_other,
}
