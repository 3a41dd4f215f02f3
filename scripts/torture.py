"""Run the long version of the torture tests, with progress on standard error.

    python scripts/torture.py [kills|faults|processes|reading|people|power|full|all] [--count N] [--seed S]

Prints how often each was tried, what failed, and which failure rate that still allows (the rule of three).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "torture"))

from test_disk_full import full
from test_editor_races import people
from test_extraction_kills import reading
from test_faults import faults
from test_kills import kills
from test_power_loss import power
from test_processes import holders, processes
from torture_harness import Tally, fresh_seed, separate_process

Bar = Callable[[int, int, Path], Tally]

BARS: dict[str, tuple[int, list[Bar]]] = {
    "kills": (20_000, [lambda count, seed, folder: separate_process(kills, count, seed, folder, lanes=2)]),
    "faults": (4, [lambda count, seed, folder: separate_process(faults, count, seed, folder)]),
    "processes": (
        1_000,
        [processes, lambda count, seed, folder: separate_process(holders, max(1, count // 10), seed, folder)],
    ),
    "reading": (1_000, [lambda count, seed, folder: separate_process(reading, count, seed, folder)]),
    "people": (400, [people]),
    "power": (10_000, [lambda count, seed, folder: separate_process(power, count, seed, folder, lanes=2)]),
    "full": (1_000, [lambda count, seed, folder: separate_process(full, count, seed, folder)]),
}
"""How often each is tried by default; each function says what `count` means."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bar", nargs="?", default="all", choices=[*BARS, "all"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    seed = fresh_seed() if options.seed is None else options.seed
    failed = False
    for name in BARS if options.bar == "all" else [options.bar]:
        default_count, bars = BARS[name]
        for bar in bars:
            failed |= _run(bar, options.count or default_count, seed)
    return 1 if failed else 0


def _run(bar: Bar, count: int, seed: int) -> bool:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-torture-", ignore_cleanup_errors=True) as folder:
        tally = bar(count, seed, Path(folder))
    lines = [f"{tally.summary()} (seed {seed}, {time.monotonic() - began:.0f} s)", *tally.failures[:50]]
    sys.stdout.write("\n  ".join(lines) + "\n")
    sys.stdout.flush()
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main())
