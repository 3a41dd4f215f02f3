"""`lamina bench speed`: time writing, opening, rebuilding and recalling, each against a baseline in the same run."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

import lamina
from benchmarks.data_set import BenchCollection, BenchQuestion, BenchSession
from benchmarks.locomo import SEPARATE_CATEGORIES, generate_sessions, load
from benchmarks.ranking_metrics import quantile
from benchmarks.turn_lookup import TurnLookup, capture_session
from lamina.atom.kinds import MemoryType
from lamina.atom.status import RECALL_WEIGHT
from lamina.memory import Memory
from lamina.settings import Settings
from lamina.store.base import TextQuery
from lamina.store.passages import PassageFilter
from lamina.text.analyser import STOP_WORDS, query_tokens

Say = Callable[[str], None]

BARS: dict[str, tuple[str, float]] = {
    "bulk_vs_fsync_per_file": ("≥", 8.0),
    "bulk_atoms_per_s": ("≥", 1500.0),
    "open_unchanged_s": ("<", 3.0),
    "rebuild_index_s": ("≤", 60.0),
    "rebuild_from_files_s": ("≤", 60.0),
    "recall_p50_vs_bare_fts5": ("≤", 1.5),
    "recall_p95_vs_p50": ("≤", 5.0),
    "pruning_cost_points": ("≤", 0.3),
    "meaning_p50_ms": ("≤", 60.0),
    "meaning_p95_ms": ("≤", 150.0),
    "encoded_turns_per_cpu_s": ("≥", 45.0),
}


@dataclass(slots=True)
class SpeedMeasurement:
    """The figures of a speed run."""

    settings: dict[str, Any]
    figures: dict[str, float] = field(default_factory=dict)
    data_sha256: str | None = None

    def bars(self) -> dict[str, dict[str, Any]]:
        """Return each required figure with its value and whether it passes."""
        bars: dict[str, dict[str, Any]] = {}
        for name, (sign, limit) in BARS.items():
            if name in self.figures:
                value = self.figures[name]
                holds = value >= limit if sign == "≥" else value < limit if sign == "<" else value <= limit
                bars[name] = {"figure": value, "bar": f"{sign} {limit:g}", "holds": holds}
        return bars


def run(
    files: int, passages: int, questions: int, data: Path | None, seed: int, say: Say, embedder: str = "none"
) -> SpeedMeasurement:
    """Measure everything; `say` reports the progress."""
    conversations, digest = load(data) if data else ([], None)
    chosen = {"files": files, "passages": passages, "questions": questions, "seed": seed, "embedder": embedder}
    result = SpeedMeasurement(chosen, data_sha256=digest)
    with _folder() as folder:
        _measure_files(folder, files, result, say)
    with _folder() as folder:
        sample = _measure_recall(folder, conversations, passages, questions, seed, result, say)
        if embedder != "none":
            _measure_meaning(folder, embedder, sample, result, say)
    return result


def _open(vault: Path, embedder: str = "none") -> Memory:
    """Open a vault with an embedding model; by default with none, to measure text search alone."""
    return lamina.open(vault, watch=False, settings=Settings(embedder=embedder, background=False, watch=False))


def _measure_meaning(
    folder: Path, embedder: str, questions: Sequence[BenchQuestion], result: SpeedMeasurement, say: Say
) -> None:
    """Encode the same turns, and time complete recalls of the same questions."""
    with _open(folder / "vault", embedder) as memory:
        say(f"encoding every turn with {embedder}")
        began, worked = time.perf_counter(), time.process_time()
        encoded = memory.embed()
        result.figures["encoded_turns_per_cpu_s"] = encoded / max(time.process_time() - worked, 1e-9)
        result.figures["encoding_s"] = time.perf_counter() - began
        result.figures["first_meaning_s"] = _timed(lambda: memory.recall("Is anything there?"))
        say(f"asking {len(questions)} questions by meaning")
        for name, fast in (("meaning", False), ("meaning_fast", True)):
            times_ms = []
            for question in questions:
                times_ms.append(1000 * _timed(lambda text=question.text, fast=fast: memory.recall(text, fast=fast)))  # type: ignore[misc]
            result.figures[f"{name}_p50_ms"] = quantile(times_ms, 0.5)
            result.figures[f"{name}_p95_ms"] = quantile(times_ms, 0.95)


def _measure_files(folder: Path, count: int, result: SpeedMeasurement, say: Say) -> None:
    sample = min(count, 500)
    say(f"writing {sample} files with one fsync each")
    per_file = _fsync_per_file(folder / "yardstick", sample)
    statements = _statements(count)
    vault = folder / "vault"
    with _open(vault) as memory:
        say(f"remembering {count} statements")
        began = time.perf_counter()
        for start in range(0, count, 5000):
            memory.remember_many(statements[start : start + 5000])
        bulk = count / (time.perf_counter() - began)
    result.figures |= {"fsync_per_file_atoms_per_s": per_file, "bulk_atoms_per_s": bulk}
    result.figures["bulk_vs_fsync_per_file"] = bulk / per_file
    say(f"opening the unchanged vault of {count} files")
    _timed(lambda: _open(vault).close())
    result.figures["open_unchanged_s"] = _timed(lambda: _open(vault).close())
    with _open(vault) as memory:
        say("rebuilding the index from the journal")
        result.figures["rebuild_index_s"] = _timed(memory.upkeep.rebuild)
    shutil.rmtree(vault / ".lamina")
    say("rebuilding everything from the files alone")
    result.figures["rebuild_from_files_s"] = _timed(lambda: _open_and_recall(vault))


def _open_and_recall(vault: Path) -> None:
    with _open(vault) as memory:
        memory.recall("harbour lantern")


def _fsync_per_file(folder: Path, count: int) -> float:
    """Return the baseline in files per second: temporary file, fsync, rename, fsync of the folder, one by one."""
    folder.mkdir()
    text = b"---\nid: 0\nkind: fact\n---\n\n" + b"A statement of ordinary length about an ordinary thing.\n" * 3
    began = time.perf_counter()
    for n in range(count):
        temporary = folder / f".{n}.tmp"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, text)
        os.fsync(handle)
        os.close(handle)
        temporary.replace(folder / f"{n}.md")
        parent = os.open(folder, os.O_RDONLY)
        os.fsync(parent)
        os.close(parent)
    return count / (time.perf_counter() - began)


_NOUNS = [
    "harbour",
    "lantern",
    "ticket",
    "garden",
    "violin",
    "river",
    "window",
    "letter",
    "bicycle",
    "coffee",
    "market",
    "mountain",
    "doctor",
    "sister",
]
_VERBS = ["likes", "sold", "painted", "repaired", "forgot", "borrowed", "visited", "described", "planned", "finished"]


def _statements(count: int) -> list[dict[str, Any]]:
    rng = random.Random(7)
    return [
        {
            "content": f"{rng.choice(_NOUNS).title()} {n} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)} near the "
            f"{rng.choice(_NOUNS)} and the {rng.choice(_NOUNS)} of number {rng.randint(1, count)}.",
            "subject": f"topic {n % 997}",
            "tags": [rng.choice(_NOUNS)],
        }
        for n in range(count)
    ]


def _measure_recall(
    folder: Path,
    conversations: Sequence[BenchCollection],
    passages: int,
    questions: int,
    seed: int,
    result: SpeedMeasurement,
    say: Say,
) -> list[BenchQuestion]:
    real = [session for conversation in conversations for session in conversation.sessions]
    turn_count = sum(len(session.turns) for session in real)
    sessions = [*real, *generate_sessions(conversations, max(0, passages - turn_count), seed)]
    sample = _questions(conversations, sessions, questions, seed)
    with _open(folder / "vault") as memory:
        say(f"capturing {sum(len(session.turns) for session in sessions)} turns")
        began = time.perf_counter()
        lookup = _capture(memory, sessions)
        result.figures["capture_turns_per_s"] = passages / (time.perf_counter() - began)
        say("indexing the same turns in a bare FTS5 table")
        bare = _bare_fts5(folder / "bare.db", sessions)
        say(f"asking {len(sample)} questions of both")
        ours, theirs = _latencies(memory, bare, sample)
        bare.close()
        result.figures |= {
            "recall_p50_ms": quantile(ours, 0.5),
            "recall_p95_ms": quantile(ours, 0.95),
            "bare_fts5_p50_ms": quantile(theirs, 0.5),
            "bare_fts5_p95_ms": quantile(theirs, 0.95),
        }
        result.figures["recall_p50_vs_bare_fts5"] = result.figures["recall_p50_ms"] / result.figures["bare_fts5_p50_ms"]
        result.figures["recall_p95_vs_p50"] = result.figures["recall_p95_ms"] / result.figures["recall_p50_ms"]
        graded = [item for item in sample if item.turns]
        if graded:
            say("measuring what pruning costs")
            pruned, whole = (_recall_at_10(memory, graded, lookup, exhaustive=item) for item in (False, True))
            result.figures |= {"r10_pruned": pruned, "r10_exhaustive": whole, "pruning_cost_points": whole - pruned}
    return sample


def _questions(
    conversations: Sequence[BenchCollection], sessions: Sequence[BenchSession], count: int, seed: int
) -> list[BenchQuestion]:
    real = [
        question
        for conversation in conversations
        for question in conversation.questions
        if question.category not in SEPARATE_CATEGORIES
    ]
    if not real:
        rng = random.Random(seed)
        turns = [turn for session in sessions for turn in session.turns]
        real = [BenchQuestion(f"What about {' '.join(rng.choice(turns).text.split()[:6])}?", "") for _ in range(count)]
    return random.Random(seed).sample(real, min(count, len(real)))


def _capture(memory: Memory, sessions: Sequence[BenchSession]) -> TurnLookup:
    """Capture the sessions; return the lookup from passages to turns."""
    lookup = TurnLookup()
    for session in sessions:
        lookup.add_session(session, capture_session(memory, session))
    return lookup


def _bare_fts5(path: Path, sessions: Sequence[BenchSession]) -> apsw.Connection:
    bare = apsw.Connection(str(path))
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    with bare:
        bare.executemany(
            "INSERT INTO t(text) VALUES(?)",
            [(f"{turn.speaker}: {turn.text}",) for session in sessions for turn in session.turns],
        )
    return bare


def _latencies(
    memory: Memory, bare: apsw.Connection, questions: Sequence[BenchQuestion]
) -> tuple[list[float], list[float]]:
    ours, theirs = [], []
    for question in questions[:5]:
        memory.recall(question.text)
        _ask_bare(bare, question.text)
    for question in questions:
        theirs.append(1000 * _timed(lambda text=question.text: _ask_bare(bare, text)))  # type: ignore[misc]
        ours.append(1000 * _timed(lambda text=question.text: memory.recall(text)))  # type: ignore[misc]
    return ours, theirs


def _ask_bare(bare: apsw.Connection, text: str) -> None:
    words = [
        word for word in "".join(c if c.isalnum() else " " for c in text.lower()).split() if word not in STOP_WORDS
    ]
    if words:
        expression = " OR ".join(f'"{word}"' for word in words)
        bare.execute("SELECT rowid, rank FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (expression,)).fetchall()


def _recall_at_10(memory: Memory, questions: Sequence[BenchQuestion], lookup: TurnLookup, *, exhaustive: bool) -> float:
    total = 0.0
    for question in questions:
        query = TextQuery(
            filter=PassageFilter(
                scopes=memory.scopes,
                statuses=frozenset(RECALL_WEIGHT),
                memory_types=frozenset(MemoryType),
                valid_at=memory.now(),
            ),
            tokens=tuple(term.token for term in query_tokens(question.text)),
            limit=10,
            is_exhaustive=exhaustive,
        )
        best = sorted(memory.search_text(query), key=lambda match: (-match.score, match.atom_id, match.n))[:10]
        hits = {lookup.turn_at(match.atom_id, match.n) for match in best}
        total += len(hits & question.turns) / len(question.turns)
    return 100 * total / len(questions)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
