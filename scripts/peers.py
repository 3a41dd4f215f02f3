"""Compare other memory systems with lamina on LoCoMo: the same turns, vectors and grading in one run.

    python scripts/peers.py --data locomo10.json --python PEERS/bin/python [--only txtai,mem0] [--json FILE]

Each system runs in its own process (`scripts/peer.py`), in the given interpreter, because they need torch and many
other packages. A system that is not installed there is reported as such. Quality is graded over the questions of
categories 1-4, with one store for each conversation; speed is the search alone over one store of all turns and as many
generated ones as make `--items`, without the time to embed the question.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from peer import NOT_INSTALLED, PEERS

import lamina
from benchmarks.bench_result import current_commit
from benchmarks.bench_vaults import BenchVaults
from benchmarks.data_set import BenchCollection, BenchQuestion, BenchSession, BenchTurn
from benchmarks.locomo import SEPARATE_CATEGORIES, generate_sessions, load
from benchmarks.ranking_metrics import average_grades, grade_ranking, quantile, unique_in_order
from benchmarks.retrieval_benchmark import run
from benchmarks.turn_lookup import capture_session
from lamina import Settings
from lamina.models.model_choice import choose_embedders
from lamina.models.model_files import models_folder

FIGURES = ("R@5", "R@10", "NDCG@10")
OURS = (
    ("lamina, light, fast", "light", True),
    ("lamina, light", "light", False),
    ("lamina, transformer, fast", "minilm", True),
    ("lamina, transformer", "minilm", False),
)


def main() -> int:
    """Run everything; write the table to standard output, and the JSON document if requested."""
    options = _arguments()
    conversations, digest = load(options.data)
    questions = [_asked(conversation) for conversation in conversations]
    sessions = [session for conversation in conversations for session in conversation.sessions]
    count = sum(len(session.turns) for session in sessions)
    sessions += generate_sessions(conversations, max(0, options.items - count), options.seed)
    sample = random.Random(options.seed).sample(
        [question.text for group in questions for question in group], options.questions
    )
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="lamina-peers-") as temporary:
        folder = Path(temporary)
        _write_task(folder, conversations, questions, sessions, sample)
        rows = [_theirs(name, folder, options.python, questions) for name in options.only]
        rows += _ours(folder, conversations, sessions, sample)
    document = {
        "commit": current_commit(),
        "data_sha256": digest,
        "items": options.items,
        "questions": options.questions,
        "seed": options.seed,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load_before_and_after": [load_before, os.getloadavg()[0]],
        "at": time.strftime("%Y-%m-%d", time.gmtime()),
        "systems": rows,
    }
    sys.stdout.write(_table(rows))
    if options.json:
        options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the other systems")
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(PEERS), help="some of the systems")
    parser.add_argument("--items", type=int, default=5000, help="how many turns the store for speed holds")
    parser.add_argument("--questions", type=int, default=200, help="how many questions are timed")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="where to write everything as JSON")
    return parser.parse_args()


def _asked(conversation: BenchCollection) -> list[BenchQuestion]:
    return [question for question in conversation.questions if question.category not in SEPARATE_CATEGORIES]


def _text(turn: BenchTurn) -> str:
    return f"{turn.speaker}: {turn.text}"


def _items(sessions: Sequence[BenchSession]) -> list[tuple[str, str]]:
    return [(turn.id, _text(turn)) for session in sessions for turn in session.turns]


def _write_task(
    folder: Path,
    conversations: Sequence[BenchCollection],
    questions: Sequence[Sequence[BenchQuestion]],
    sessions: Sequence[BenchSession],
    chosen: Sequence[str],
) -> None:
    task: dict[str, Any] = {
        "collections": [
            {"items": _items(conversation.sessions), "questions": [question.text for question in group]}
            for conversation, group in zip(conversations, questions, strict=True)
        ],
        "speed": {"items": _items(sessions), "questions": list(chosen)},
    }
    texts = {text for _, text in task["speed"]["items"]} | {question.text for group in questions for question in group}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    _embed(folder, sorted(texts))


def _embed(folder: Path, texts: Sequence[str]) -> None:
    """Store the vector of every text, by the model that lamina ships with."""
    primary = choose_embedders("minilm", _models()).primary
    assert primary is not None
    vectors = []
    for n, text in enumerate(texts, 1):
        vectors.append(primary.encode_question(text).vector)
        if n % 500 == 0 or n == len(texts):
            _say(f"embedded {n} of {len(texts)} texts")
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    np.save(folder / "vectors.npy", np.stack(vectors))


def _models() -> Path:
    return models_folder(os.environ, Path.home(), sys.platform)


def _theirs(name: str, folder: Path, python: str, questions: Sequence[Sequence[BenchQuestion]]) -> dict[str, Any]:
    _say(f"running {name}")
    program = Path(__file__).with_name("peer.py")
    process = subprocess.run([python, str(program), name, str(folder)], check=False, stdout=subprocess.DEVNULL)
    answer = folder / f"{name}.json"
    result = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {}
    if process.returncode:
        reason = (
            result.get("missing", "") if process.returncode == NOT_INSTALLED else f"it ended with {process.returncode}"
        )
        return {"name": name, "failed": reason}
    grades = [
        grade_ranking(unique_in_order(ranking), question.turns)
        for group, rankings in zip(questions, result["found"], strict=True)
        for question, ranking in zip(group, rankings, strict=True)
    ]
    return {
        "name": f"{name} {result['version']}",
        **average_grades(grades),
        **_speed(result["took_ms"], result["cpu_ms"]),
    }


def _ours(
    folder: Path, conversations: Sequence[BenchCollection], sessions: Sequence[BenchSession], chosen: Sequence[str]
) -> list[dict[str, Any]]:
    rows = []
    for embedder in ("light", "minilm"):
        _say(f"grading lamina, {embedder}")
        grades = run(conversations, BenchVaults(light=embedder == "light"), lambda what, done, total: None)
        quality = grades.overall(SEPARATE_CATEGORIES)["turn"]
        chosen_settings = Settings(embedder=embedder, background=False, watch=False)
        with lamina.open(folder / f"lamina-{embedder}", watch=False, settings=chosen_settings) as memory:
            _say(f"filling lamina, {embedder}")
            for session in sessions:
                capture_session(memory, session)
            memory.embed()
            for name, model, fast in OURS:
                if model == embedder:
                    took, cpu = _timed(lambda text, fast=fast: memory.recall(text, 10, fast=fast), chosen)  # type: ignore[misc]
                    rows.append({"name": name, **({} if fast else quality), **_speed(took, cpu)})
    return rows


def _timed(search: Callable[[str], object], questions: Sequence[str]) -> tuple[list[float], float]:
    """Return the milliseconds of each search and its CPU time; the questions are embedded before, as for the others."""
    for question in questions:
        search(question)
    took, worked = [], time.process_time()
    for question in questions:
        began = time.perf_counter()
        search(question)
        took.append(1000 * (time.perf_counter() - began))
    return took, 1000 * (time.process_time() - worked) / len(took)


def _speed(took: Sequence[float], cpu: float) -> dict[str, float]:
    return {"p50_ms": round(quantile(took, 0.5), 1), "p95_ms": round(quantile(took, 0.95), 1), "cpu_ms": round(cpu, 1)}


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = ["| system | R@5 / R@10 / NDCG@10 | search p50 / p95 ms | CPU ms |", "|---|---|---|---|"]
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['name']} | not run: {row['failed']} | – | – |")
            continue
        quality = " / ".join(f"{row[name]:.1f}" for name in FIGURES) if "R@5" in row else "–"
        lines.append(f"| {row['name']} | {quality} | {row['p50_ms']} / {row['p95_ms']} | {row['cpu_ms']} |")
    return "\n".join(lines) + "\n"


def _say(what: str) -> None:
    sys.stderr.write(f"{what}\n")


if __name__ == "__main__":
    sys.exit(main())
