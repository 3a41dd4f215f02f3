"""Train the models' weights from the data, on a laptop CPU with two cores.

Usage: python -m training [--steps N] [--pair-steps N] [--reader-steps N]
       [--light-steps N] [--light-reader-steps N] [--only minilm|light] [--folder DIR] [--plan]

For each trunk: train the slot space, the list reader and, on the transformer, the pair model, export them, ask the
ranker's chats through the engine, fit what comes first, which hits are outdated and which answer at all, and write the
figures on held-out people and slots. The weights go where the engine loads them from. Everything else stays in the
folder: an interrupted run goes on there with the step it was at, if data, code and options are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lamina

HERE = Path(__file__).parent
WEIGHTS = Path(lamina.__file__).parent / "models" / "weights"
EMBEDDER = {"minilm": "auto", "light": "light"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the models' weights from the data (training/README.md).")
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--light-steps", type=int, default=500)
    parser.add_argument("--pair-steps", type=int, default=1800)
    parser.add_argument("--reader-steps", type=int, default=1200)
    parser.add_argument("--light-reader-steps", type=int, default=600)
    parser.add_argument("--only", choices=sorted(EMBEDDER))
    parser.add_argument(
        "--folder", type=Path, default=HERE.parent / ".venv" / "train" / "run", help="for what is made on the way"
    )
    parser.add_argument("--plan", action="store_true", help="print the steps, and which are done, and stop")
    options = parser.parse_args()
    began = time.monotonic()
    run = TrainingRun(options.folder, options.plan)
    for trunk in [options.only] if options.only else ["minilm", "light"]:
        make(trunk, options, run)
    if not options.plan:
        shutil.rmtree(options.folder)
        print(f"done in {(time.monotonic() - began) / 60:.0f} minutes")


class TrainingRun:
    """The steps of one run, each a process of its own; those that are done are not done again."""

    def __init__(self, folder: Path, is_plan: bool) -> None:
        self.folder, self._is_plan = folder, is_plan
        self._inputs = _digest_of_inputs()
        if not is_plan:
            folder.mkdir(parents=True, exist_ok=True)

    def step(self, name: str, *arguments: str) -> None:
        """Run a step on one thread unless it is done; CalledProcessError if it fails."""
        words = " ".join((name, *arguments))
        mark = self.folder / f"{hashlib.sha256((self._inputs + words).encode()).hexdigest()[:16]}.done"
        is_done = mark.exists()
        print(f"== {words}{' (done)' if is_done else ''}", flush=True)
        if is_done or self._is_plan:
            return
        command = [sys.executable, "-m", f"training.{name}", *arguments]
        subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        mark.touch()


def make(trunk: str, options: argparse.Namespace, run: TrainingRun) -> None:
    """Make the weights and the decisions of one trunk.

    The list reader does not build on the state model, so both are trained at the same time, each on one thread.
    """
    weights = WEIGHTS / f"state_{trunk}.onnx"
    records, held_out = run.folder / f"{trunk}.jsonl", run.folder / f"{trunk}_held_out.jsonl"
    with ThreadPoolExecutor() as threads:
        tasks = [
            threads.submit(make_state_models, trunk, options, run, weights),
            threads.submit(make_reader, trunk, options, run),
        ]
        for task in tasks:
            task.result()
    if trunk == "minilm":
        run.step("pair_bounds", str(WEIGHTS / "pair_minilm.json"))
    run.step("retrieval", str(records), "--embedder", EMBEDDER[trunk])
    run.step("retrieval", str(held_out), "--embedder", EMBEDDER[trunk], "--held-out")
    run.step("fit", trunk, str(records), str(held_out), str(WEIGHTS / f"state_{trunk}.json"))


def make_state_models(trunk: str, options: argparse.Namespace, run: TrainingRun, weights: Path) -> None:
    """Train the state model and, on the transformer, the pair model, which begins with its layers."""
    network, steps = run.folder / f"{trunk}.pt", options.steps if trunk == "minilm" else options.light_steps
    run.step("train", trunk, str(network), "--steps", str(steps))
    run.step("train_requests", str(network))
    run.step("export", str(network), str(weights))
    if trunk == "minilm":
        pairs = run.folder / "pairs.pt"
        run.step("train_pairs", str(network), str(pairs), "--steps", str(options.pair_steps))
        run.step("export", "--pairs", str(pairs), str(WEIGHTS / "pair_minilm.onnx"))


def make_reader(trunk: str, options: argparse.Namespace, run: TrainingRun) -> None:
    """Train the list reader."""
    reader = run.folder / f"reader_{trunk}.pt"
    steps = options.reader_steps if trunk == "minilm" else options.light_reader_steps
    run.step("train_reader", trunk, str(reader), "--steps", str(steps))
    run.step("export", "--reader", str(reader), str(WEIGHTS / f"reader_{trunk}.onnx"))


def _digest_of_inputs() -> str:
    """Return a digest of the data and the code that the weights are made from."""
    digest = hashlib.sha256()
    for path in sorted(path for path in HERE.rglob("*") if path.suffix in {".py", ".txt", ".jsonl", ".json"}):
        digest.update(str(path.relative_to(HERE)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
