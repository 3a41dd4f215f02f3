"""How long clustering takes, and how much of what was planted it finds.

    OMP_NUM_THREADS=1 python scripts/dream_scale.py [--atoms 100000] [--seed 1] [--pairs]

Makes vectors of 384 dimensions, a fifth of them in planted clusters of 5 to 20 whose members lie around cosine .87 from
each other, the rest anywhere, all leaning to one side as real ones do. Prints seconds, the peak of memory and how many
planted clusters came out whole; with `--pairs` also how many of all near pairs were looked at, counted one by one.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "dream"))

from planted import pair_recall, planted

from lamina.dream.clusters import NEAR, clusters


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--atoms", type=int, default=100_000, help="how many vectors")
    arguments.add_argument("--seed", type=int, default=1, help="which")
    arguments.add_argument("--spread", type=float, default=0.13, help="how loose planted clusters are")
    arguments.add_argument("--pairs", action="store_true", help="count all near pairs, too; slow for many vectors")
    given = arguments.parse_args()
    made = planted(given.atoms, given.seed, given.spread)
    started, worked = time.monotonic(), time.process_time()
    found = {frozenset(cluster) for cluster in clusters(made.vectors)}
    seconds, worked = time.monotonic() - started, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    whole = sum(cluster in found for cluster in made.clusters)
    sys.stdout.write(
        f"{given.atoms} vectors (seed {given.seed}): {seconds:.1f} s ({worked:.1f} s of work), {peak:.0f} MB at most; "
        f"{whole} of {len(made.clusters)} planted clusters found whole, {len(found)} clusters in all\n"
    )
    if given.pairs:
        looked_at, there = pair_recall(made.vectors)
        sys.stdout.write(f"{looked_at} of {there} pairs nearer than {NEAR} looked at, {looked_at / there:.4f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
