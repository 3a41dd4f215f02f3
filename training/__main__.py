"""Train the models' weights from the data, on a laptop CPU with two cores.

Usage: python -m training [--steps N] [--pair-steps N] [--reader-steps N]
       [--light-steps N] [--light-reader-steps N] [--only minilm|light]

For each trunk: train the slot space, the list reader and, on the transformer, the pair model, export them, ask the
ranker's chats through the engine, fit what comes first, which hits are outdated and which answer at all, and write the
figures on held-out people and slots. The weights go where the engine loads them from; everything else is scratch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lamina

WEIGHTS = Path(lamina.__file__).parent / "models" / "weights"
EMBEDDER = {"minilm": "auto", "light": "light"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--light-steps", type=int, default=500)
    parser.add_argument("--pair-steps", type=int, default=1800)
    parser.add_argument("--reader-steps", type=int, default=1200)
    parser.add_argument("--light-reader-steps", type=int, default=600)
    parser.add_argument("--only", choices=sorted(EMBEDDER))
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for trunk in [options.only] if options.only else ["minilm", "light"]:
            make(trunk, options, Path(folder))
    print(f"done in {(time.monotonic() - began) / 60:.0f} minutes")


def make(trunk: str, options: argparse.Namespace, folder: Path) -> None:
    """Make the weights and the decisions of one trunk.

    The list reader does not build on the state model, so both are trained at the same time, each on one thread.
    """
    weights = WEIGHTS / f"state_{trunk}.onnx"
    records, held_out = folder / f"{trunk}.jsonl", folder / f"{trunk}_held_out.jsonl"
    with ThreadPoolExecutor() as threads:
        tasks = [
            threads.submit(make_state_models, trunk, options, folder, weights),
            threads.submit(make_reader, trunk, options, folder),
        ]
        for task in tasks:
            task.result()
    if trunk == "minilm":
        run("pair_bounds", str(WEIGHTS / "pair_minilm.json"))
    run("retrieval", str(records), "--embedder", EMBEDDER[trunk])
    run("retrieval", str(held_out), "--embedder", EMBEDDER[trunk], "--held-out")
    run("fit", weights.name, trunk, str(records), str(held_out), str(WEIGHTS / f"state_{trunk}.json"))


def make_state_models(trunk: str, options: argparse.Namespace, folder: Path, weights: Path) -> None:
    """Train the state model and, on the transformer, the pair model, which begins with its layers."""
    network = folder / f"{trunk}.pt"
    run("train", trunk, str(network), "--steps", str(options.steps if trunk == "minilm" else options.light_steps))
    run("train_requests", str(network))
    run("export", str(network), str(weights))
    if trunk == "minilm":
        run("train_pairs", str(network), str(folder / "pairs.pt"), "--steps", str(options.pair_steps))
        run("export", "--pairs", str(folder / "pairs.pt"), str(WEIGHTS / "pair_minilm.onnx"))


def make_reader(trunk: str, options: argparse.Namespace, folder: Path) -> None:
    """Train the list reader."""
    reader = folder / f"reader_{trunk}.pt"
    steps = options.reader_steps if trunk == "minilm" else options.light_reader_steps
    run("train_reader", trunk, str(reader), "--steps", str(steps))
    run("export", "--reader", str(reader), str(WEIGHTS / f"reader_{trunk}.onnx"))


def run(step: str, *arguments: str) -> None:
    """Run one training step as a process of its own on one thread; CalledProcessError if it fails."""
    print(f"== {step} {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", f"training.{step}", *arguments]
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
