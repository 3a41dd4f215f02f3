"""Fill a vault as large as years of talk without extraction, and measure complete recalls from it.

Capture would take days to read a million turns; here they are committed as capture stores them, one segment for each
session. Everything after that is the shipped code: index, encoding, vector search, every channel, reranking.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

import lamina
from benchmarks.data_set import BenchCollection, BenchSession
from benchmarks.locomo import generate_sessions
from benchmarks.ranking_metrics import quantile
from lamina.atom.atom import Atom, IdSource, kind_defaults
from lamina.atom.passage import render_passage
from lamina.atom.provenance import Origin
from lamina.memory import Memory
from lamina.models.embedder import TextToEncode
from lamina.settings import Settings
from lamina.store.base import AtomChange, Commit
from lamina.store.encodings import PackedStates, TextEncoding

Say = Callable[[str], None]

SESSIONS_AT_ONCE = 500
ASKED_OF_EACH = 30
_WARM_UP = 5
DRAWN_AT_ONCE = 50_000


def quiet_settings(embedder: str) -> Settings:
    """Return settings without background work."""
    return Settings(embedder=embedder, background=False, watch=False)


def fill_vault(vault: Path, conversations: Sequence[BenchCollection], passages: int, seed: int, say: Say) -> list[str]:
    """Store this many turns of talk in a new vault; return questions whose words occur in it."""
    random, ids = Random(seed), IdSource(Random(seed).randbytes)
    questions: list[str] = []
    with lamina.open(vault, watch=False, settings=quiet_settings("none")) as memory:
        stored = 0
        for batch in _batches(generate_sessions(conversations, passages, seed)):
            memory.engine.store.journal.append(_commit(memory, batch, ids))
            stored += sum(len(session.turns) for session in batch)
            questions += [_question(random, random.choice(batch)) for _ in range(ASKED_OF_EACH)]
            say(f"stored {stored} of {passages} turns")
        say("writing the files and the index")
        memory.upkeep.sync()
        memory.engine.store.admin.catch_up()
    return random.sample(questions, len(questions))


def _batches(sessions: Iterator[BenchSession]) -> Iterator[list[BenchSession]]:
    while batch := list(islice(sessions, SESSIONS_AT_ONCE)):
        yield batch


def _commit(memory: Memory, sessions: Sequence[BenchSession], ids: IdSource) -> Commit:
    changes = tuple(AtomChange(_segment(memory, session, ids)) for session in sessions)
    return Commit(
        actor="human", origin=Origin.HUMAN, verb="capture", reason="made talk", scope=memory.scope, changes=changes
    )


def _segment(memory: Memory, session: BenchSession, ids: IdSource) -> Atom:
    passages = [render_passage(n, turn.text, turn.speaker, turn.at) for n, turn in enumerate(session.turns, 1)]
    return Atom(
        id=ids.new(session.at),
        scope=memory.scope,
        kind="narrative",
        content="\n\n".join(passages),
        observed_at=session.at,
        session_id=session.id,
        segment_id=f"{session.id}-1",
        origin=Origin.HUMAN,
        **kind_defaults("narrative", 1.0, Origin.HUMAN),
    )


def _question(random: Random, session: BenchSession) -> str:
    words = random.choice(session.turns).text.split()
    start = random.randrange(max(1, len(words) - 6))
    return f"What did {random.choice(session.turns).speaker} say about {' '.join(words[start : start + 6])}?"


def measure_vault(vault: Path, embedder: str, questions: Sequence[str], say: Say, *, is_new: bool) -> dict[str, float]:
    """Encode the passages, build the vector index, then open the vault in a new process and ask.

    `made`: draw the vectors of the passages at random, which cost a search as much as real ones.
    """
    with lamina.open(vault, watch=False, settings=quiet_settings(embedder)) as memory:
        say(f"{'drawing vectors for' if is_new else 'encoding with'} {embedder}")
        began = time.perf_counter()
        if is_new:
            _draw_vectors(memory, say)
        memory.embed()
        figures = {"encode_s": time.perf_counter() - began}
        began = time.perf_counter()
        memory.recall(questions[0])
        figures["first_recall_s"] = time.perf_counter() - began
    say("opening it anew, and asking")
    search_path = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.large_vault", str(vault), embedder],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path)},
        input="\n".join(questions),
        capture_output=True,
        text=True,
        check=True,
    )
    return figures | {name: float(value) for name, value in (line.split() for line in process.stdout.splitlines())}


def _draw_vectors(memory: Memory, say: Say) -> None:
    """Store random vectors and token states of a model's size, seeded by the digest of each text."""
    for embedder in memory.engine.models.embedders():
        model, encodings = embedder.model, memory.engine.store.passages.encodings
        (like,) = embedder.encode_passages(
            [TextToEncode("How large are the numbers that this model makes of a sentence?", 1)]
        )
        width, packing, done = like.vectors.shape[1], model.states.value, 0
        while missing := encodings.find_missing(model.id, DRAWN_AT_ONCE, None, packing):
            seed = int.from_bytes(missing[0].digest[:8], "little")
            thrown = np.random.default_rng(seed).standard_normal((len(missing), width), dtype=np.float32)
            units = thrown / np.linalg.norm(thrown, axis=1, keepdims=True)
            states = PackedStates(packing, like.states)
            encodings.put(
                model.id, [TextEncoding(e.digest, u[None, :], states) for e, u in zip(missing, units, strict=True)]
            )
            done += len(missing)
            say(f"{done} vectors for {model.id}")


def measure_recalls(vault: Path, embedder: str, questions: Sequence[str]) -> dict[str, float]:
    """Return what opening the vault and asking costs in this process."""
    began, before = time.perf_counter(), resident_mb()
    with lamina.open(vault, watch=False, settings=quiet_settings(embedder)) as memory:
        figures = {"open_s": time.perf_counter() - began, "open_mb": resident_mb()}
        began = time.perf_counter()
        memory.recall(questions[0])
        figures["open_and_first_recall_s"] = figures["open_s"] + time.perf_counter() - began
        for question in questions[1 : 1 + _WARM_UP]:
            memory.recall(question)
        times_ms = []
        for question in questions[1 + _WARM_UP :]:
            began = time.perf_counter()
            memory.recall(question)
            times_ms.append(1000 * (time.perf_counter() - began))
        figures |= {"recall_p50_ms": quantile(times_ms, 0.5), "recall_p95_ms": quantile(times_ms, 0.95)}
        return figures | {"before_mb": before, "asking_mb": resident_mb()}


def resident_mb() -> float:
    """Return the resident memory of this process in MB, including shared file mappings."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    for name, value in measure_recalls(Path(sys.argv[1]), sys.argv[2], sys.stdin.read().splitlines()).items():
        sys.stdout.write(f"{name} {value:.6f}\n")
