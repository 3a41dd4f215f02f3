"""Call every public method as twenty tenants of one vault, at full size.

    python scripts/scopes.py [--calls N] [--seed S]

Prints how many calls were made of how many methods, and which returned data of a scope the caller may not read.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "security"))

from tenants import call_by_chance


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=5_000, help="calls of each scope")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    os.environ |= {"LAMINA_BACKGROUND": "false", "LAMINA_EMBEDDER": "none"}
    seed = random.randrange(2**32) if options.seed is None else options.seed
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-scopes-", ignore_cleanup_errors=True) as folder:
        report = call_by_chance(Path(folder), options.calls, seed)
    lines = [f"{report.summary()} (seed {seed}, {time.monotonic() - began:.0f} s)", *report.failures[:50]]
    sys.stdout.write("\n  ".join(lines) + "\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
