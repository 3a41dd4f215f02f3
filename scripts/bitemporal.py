"""Run the long version of the bi-temporal check, with progress on standard error.

    python scripts/bitemporal.py [--count 100000] [--seed S] [--folder FOLDER]

Plays random histories of single-valued claims on the real store and compares every answer with a list of versions.
Prints how many histories, commits and questions there were and what was wrong; exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "review"))

from random_histories import TOGETHER, Tally, histories

MEMORY_DISK = Path("/dev/shm")
AT_ONCE = 10 * TOGETHER


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=100_000, help="how many histories")
    arguments.add_argument("--seed", type=int, default=None, help="seed of the histories; random if not given")
    arguments.add_argument("--folder", type=Path, default=MEMORY_DISK if MEMORY_DISK.is_dir() else None)
    options = arguments.parse_args()
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    started, tally = time.monotonic(), Tally()
    for start in range(0, options.count, AT_ONCE):
        tally.add(histories(min(AT_ONCE, options.count - start), seed * 1000 + start // AT_ONCE, options.folder))
        wrong = len(tally.faults) + len(tally.doubled)
        sys.stderr.write(f"{tally.histories} of {options.count}, {wrong} wrong, seed {seed}\n")
    _tell(tally, seed, time.monotonic() - started)
    return 1 if tally.faults or tally.doubled else 0


def _tell(tally: Tally, seed: int, seconds: float) -> None:
    lines = [
        f"{tally.histories} histories (seed {seed}), {tally.commits} commits, {tally.questions} questions",
        f"in {seconds:.0f} s: {', '.join(f'{name} {count}' for name, count in tally.outcomes.most_common())}",
        f"{len(tally.faults)} faults, {len(tally.doubled)} moments with two values of one claim",
        *(f"  {fault}" for fault in (*tally.faults[:20], *tally.doubled[:20])),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
