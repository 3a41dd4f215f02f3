"""Train the state model's weights from the data, in under an hour on a laptop CPU.

Usage: python -m training [--steps N] [--pair-steps N] [--reader-steps N]
       [--light-steps N] [--light-reader-steps N] [--only minilm|light]

For each trunk: train the slot space, the list reader and, on the transformer, the pair model, export them, ask the
ranker's chats through the engine, fit what comes first, which hits are outdated and which answer at all, and write the
figures on held-out people and slots. The weights go where the engine loads them from; everything else is scratch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lamina

WEIGHTS = Path(lamina.__file__).parent / "models" / "weights"
EMBEDDER = {"minilm": "auto", "light": "light"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--light-steps", type=int, default=500)
    parser.add_argument("--pair-steps", type=int, default=1800)
    parser.add_argument("--reader-steps", type=int, default=2000)
    parser.add_argument("--light-reader-steps", type=int, default=600)
    parser.add_argument("--only", choices=sorted(EMBEDDER))
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for trunk in [options.only] if options.only else ["minilm", "light"]:
            steps = options.steps if trunk == "minilm" else options.light_steps
            make(trunk, steps, options, Path(folder))
    print(f"done in {(time.monotonic() - began) / 60:.0f} minutes")


def make(trunk: str, steps: int, options: argparse.Namespace, folder: Path) -> None:
    """Make the weights and the decisions of one trunk."""
    name = f"state_{trunk}"
    network, weights, decisions = folder / f"{trunk}.pt", WEIGHTS / f"{name}.onnx", WEIGHTS / f"{name}.json"
    answers, held_out = folder / f"{trunk}.jsonl", folder / f"{trunk}_held_out.jsonl"
    run("train", trunk, str(network), "--steps", str(steps))
    run("train_requests", str(network))
    run("export", str(network), str(weights))
    reader = folder / f"reader_{trunk}.pt"
    reader_steps = options.reader_steps if trunk == "minilm" else options.light_reader_steps
    run("train_reader", trunk, str(reader), "--steps", str(reader_steps))
    run("export", "--reader", str(reader), str(WEIGHTS / f"reader_{trunk}.onnx"))
    if trunk == "minilm":
        run("train_pairs", str(network), str(folder / "pairs.pt"), "--steps", str(options.pair_steps))
        run("export", "--pairs", str(folder / "pairs.pt"), str(WEIGHTS / "pair_minilm.onnx"))
        run("pair_bounds", str(WEIGHTS / "pair_minilm.json"))
    run("retrieval", str(answers), "--embedder", EMBEDDER[trunk])
    run("retrieval", str(held_out), "--embedder", EMBEDDER[trunk], "--held-out")
    run("fit", weights.name, trunk, str(answers), str(held_out), str(decisions))


def run(step: str, *arguments: str) -> None:
    """Run one training step as a process of its own; CalledProcessError if it fails."""
    print(f"== {step} {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", f"training.{step}", *arguments], check=True)


if __name__ == "__main__":
    main()
