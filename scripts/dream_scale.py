"""Measure how long clustering takes, and how many planted clusters it finds.

    OMP_NUM_THREADS=1 python scripts/dream_scale.py [--atoms 100000] [--seed 1] [--pairs]

Generates vectors of 384 dimensions, a fifth of them in planted clusters of 5 to 20 with a cosine of about .87, the rest
random, all with a common offset as real ones have. Prints seconds, peak memory and how many planted clusters were found
complete; with `--pairs` also how many of all near pairs were compared, counted one by one.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "dream"))

from planted_vectors import pair_recall, plant_clusters

from lamina.dream.clusters import MIN_MEAN_COSINE, find_clusters


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--atoms", type=int, default=100_000, help="how many vectors")
    arguments.add_argument("--seed", type=int, default=1, help="seed of the vectors")
    arguments.add_argument("--spread", type=float, default=0.13, help="how loose planted clusters are")
    arguments.add_argument("--pairs", action="store_true", help="count all near pairs, too; slow for many vectors")
    options = arguments.parse_args()
    data = plant_clusters(options.atoms, options.seed, options.spread)
    started, worked = time.monotonic(), time.process_time()
    found_clusters = {frozenset(cluster) for cluster in find_clusters(data.vectors)}
    seconds, worked = time.monotonic() - started, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    complete = sum(cluster in found_clusters for cluster in data.clusters)
    sys.stdout.write(
        f"{options.atoms} vectors (seed {options.seed}): {seconds:.1f} s ({worked:.1f} s of CPU), "
        f"{peak:.0f} MB at most; {complete} of {len(data.clusters)} planted clusters found complete, "
        f"{len(found_clusters)} clusters in all\n"
    )
    if options.pairs:
        compared, total = pair_recall(data.vectors)
        sys.stdout.write(
            f"{compared} of {total} pairs nearer than {MIN_MEAN_COSINE} looked at, {compared / total:.4f}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
