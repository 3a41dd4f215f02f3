"""Other systems beside lamina on LoCoMo: the same turns, the same vectors, the same grading, one run.

    python scripts/peers.py --data locomo10.json --python PEERS/bin/python [--only txtai,mem0] [--json FILE]

Each system runs in a process of its own (`scripts/peer.py`), in the interpreter given: they need torch and much else
that is no business of lamina's environment. A system that is not installed there is told as such. Quality is graded
over the questions of categories 1-4, a store a conversation; speed is the search alone over one store of all turns and
as many of the same shape as make `--items`, without the time to embed the question.
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
from peer import NOT_INSTALLED, PEERS

from lamina import Memory, Settings
from lamina.bench.collection import Asked, Collection, Session, Turn
from lamina.bench.locomo import APART, load, shaped
from lamina.bench.metrics import averaged, distinct, graded, quantile
from lamina.bench.places import capture
from lamina.bench.result import commit
from lamina.bench.retrieval import run
from lamina.bench.vaults import Vaults
from lamina.models.choose import choose
from lamina.models.files import models_folder

FIGURES = ("R@5", "R@10", "NDCG@10")
OURS = (
    ("lamina, light, fast", "light", True),
    ("lamina, light", "light", False),
    ("lamina, transformer, fast", "minilm", True),
    ("lamina, transformer", "minilm", False),
)


def main() -> int:
    """Run everything and write the table to standard output, the document where it was asked for."""
    given = _arguments()
    conversations, digest = load(given.data)
    asked = [_asked(conversation) for conversation in conversations]
    sessions = [session for conversation in conversations for session in conversation.sessions]
    count = sum(len(session.turns) for session in sessions)
    sessions += shaped(conversations, max(0, given.items - count), given.seed)
    chosen = random.Random(given.seed).sample([each.text for one in asked for each in one], given.questions)
    began = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="lamina-peers-") as place:
        folder = Path(place)
        _write_task(folder, conversations, asked, sessions, chosen)
        rows = [_theirs(name, folder, given.python, asked) for name in given.only]
        rows += _ours(folder, conversations, sessions, chosen)
    document = {
        "commit": commit(),
        "data_sha256": digest,
        "items": given.items,
        "questions": given.questions,
        "seed": given.seed,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load_before_and_after": [began, os.getloadavg()[0]],
        "at": time.strftime("%Y-%m-%d", time.gmtime()),
        "systems": rows,
    }
    sys.stdout.write(_table(rows))
    if given.json:
        given.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
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


def _asked(conversation: Collection) -> list[Asked]:
    return [question for question in conversation.questions if question.category not in APART]


def _text(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}"


def _items(sessions: Sequence[Session]) -> list[tuple[str, str]]:
    return [(turn.id, _text(turn)) for session in sessions for turn in session.turns]


def _write_task(
    folder: Path,
    conversations: Sequence[Collection],
    asked: Sequence[Sequence[Asked]],
    sessions: Sequence[Session],
    chosen: Sequence[str],
) -> None:
    task: dict[str, Any] = {
        "collections": [
            {"items": _items(one.sessions), "questions": [each.text for each in of_it]}
            for one, of_it in zip(conversations, asked, strict=True)
        ],
        "speed": {"items": _items(sessions), "questions": list(chosen)},
    }
    texts = {text for _, text in task["speed"]["items"]} | {each.text for of_it in asked for each in of_it}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    _embed(folder, sorted(texts))


def _embed(folder: Path, texts: Sequence[str]) -> None:
    """The vector of every text, each read whole, by the model that lamina ships with."""
    primary = choose("minilm", _models()).primary
    assert primary is not None
    vectors = []
    for n, text in enumerate(texts, 1):
        vectors.append(primary.question(text).vector)
        if n % 500 == 0 or n == len(texts):
            _say(f"embedded {n} of {len(texts)} texts")
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    np.save(folder / "vectors.npy", np.stack(vectors))


def _models() -> Path:
    return models_folder(os.environ, Path.home(), sys.platform)


def _theirs(name: str, folder: Path, python: str, asked: Sequence[Sequence[Asked]]) -> dict[str, Any]:
    _say(f"running {name}")
    program = Path(__file__).with_name("peer.py")
    ended = subprocess.run([python, str(program), name, str(folder)], check=False, stdout=subprocess.DEVNULL)
    answer = folder / f"{name}.json"
    told = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {}
    if ended.returncode:
        why = told.get("missing", "") if ended.returncode == NOT_INSTALLED else f"it ended with {ended.returncode}"
        return {"name": name, "failed": why}
    grades = [
        graded(distinct(found), each.turns)
        for of_it, rankings in zip(asked, told["found"], strict=True)
        for each, found in zip(of_it, rankings, strict=True)
    ]
    return {"name": f"{name} {told['version']}", **averaged(grades), **_speed(told["took_ms"], told["cpu_ms"])}


def _ours(
    folder: Path, conversations: Sequence[Collection], sessions: Sequence[Session], chosen: Sequence[str]
) -> list[dict[str, Any]]:
    rows = []
    for embedder in ("light", "minilm"):
        _say(f"grading lamina, {embedder}")
        grades = run(conversations, Vaults(light=embedder == "light"), lambda what, done, total: None)
        quality = grades.overall(APART)["turn"]
        chosen_settings = Settings(embedder=embedder, background=False, watch=False)
        with Memory(folder / f"lamina-{embedder}", watch=False, settings=chosen_settings) as memory:
            _say(f"filling lamina, {embedder}")
            for session in sessions:
                capture(memory, session)
            memory.embed()
            for name, wanted, fast in OURS:
                if wanted == embedder:
                    took, cpu = _timed(lambda text, fast=fast: memory.recall(text, 10, fast=fast), chosen)  # type: ignore[misc]
                    rows.append({"name": name, **({} if fast else quality), **_speed(took, cpu)})
    return rows


def _timed(search: Callable[[str], object], questions: Sequence[str]) -> tuple[list[float], float]:
    """The milliseconds of each search and its processor time; the questions are embedded before, as for the others."""
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
