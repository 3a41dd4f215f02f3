"""Run the attacks on trust at full size, and report the results.

    python scripts/poison.py [poison|laundering|sources|overwrite|graft|flood|all] [--count N] [--seed S] [--light]

Prints how often each was tried, what failed, and which failure rate that still allows (the rule of three).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "security"))

from attacks import payloads
from laundering import LaunderingReport, Laundry, in_a_store
from poisoning import write_through_agents
from pressure import flood_with_copies, graft_procedures, try_forging, try_overwriting

Told = tuple[str, int, list[str]]
"""The result as text, how often it was tried, and the failures."""
Attack = Callable[[Path, int, int], Told]

VERBS_AT_ONCE = 250
WRITES_AT_ONCE = 500


def poison(folder: Path, count: int, seed: int) -> Told:
    """Try `count` payloads of each family in three wordings, each through every entry point of an agent."""
    report = write_through_agents(folder / "v", payloads(count, seed), seed, everyway=True)
    return report.summary(), report.written + report.recalls, report.shown


def laundering(folder: Path, count: int, seed: int) -> Told:
    """Try `count` chains of commits, and a tenth as many of method calls."""
    report = in_a_store(folder / "store", count, seed)
    for start in range(0, count // 10, VERBS_AT_ONCE):
        _add(report, _washed(folder / f"verbs-{start}", min(VERBS_AT_ONCE, count // 10 - start), seed + start))
    return report.summary(), report.chains, report.failures


def _washed(folder: Path, count: int, seed: int) -> LaunderingReport:
    folder.mkdir()
    laundry = Laundry(folder, seed)
    try:
        for _ in range(count):
            laundry.chain()
        return laundry.done
    finally:
        laundry.close()


def _add(done: LaunderingReport, more: LaunderingReport) -> None:
    done.chains += more.chains
    done.links += more.links
    done.refused += more.refused
    done.failures += more.failures


def sources(folder: Path, count: int, seed: int) -> Told:
    """Try one statement from 2 up to `count` forged sources."""
    failures = [failure for n in range(2, count + 1) for failure in try_forging(folder / str(n), n, seed + n).failures]
    return f"2 to {count} forged sources, {len(failures)} came to count", count - 1, failures


def overwrite(folder: Path, count: int, seed: int) -> Told:
    """Try `count` untrusted writes on the claims of trusted facts."""
    tries, refused, failures = 0, 0, list[str]()
    for n in range(0, count, WRITES_AT_ONCE):
        report = try_overwriting(folder / str(n), min(WRITES_AT_ONCE, count - n), seed + n)
        tries, refused, failures = tries + report.tries, refused + report.refused, failures + report.failures
    return f"{tries} untrusted writes ({refused} refused), {len(failures)} facts gave way", tries, failures


def graft(folder: Path, count: int, seed: int) -> Told:
    """Mix ten poisoned with a hundred honest experiences, `count` times."""
    slots, poisoned = 0, 0
    for n in range(count):
        report = graft_procedures(folder / str(n), seed + n)
        slots, poisoned = slots + report.slots, poisoned + report.poisoned
    share = poisoned / slots
    return (
        f"{poisoned} of {slots} top-3 slots ({share:.1%}) went to poison",
        0,
        ["more than 10 %"] if share > 0.1 else [],
    )


def flood(folder: Path, count: int, seed: int) -> Told:
    """Write `count` near copies of one poison, and as many that differ by a number."""
    slots = [flood_with_copies(folder / str(kind), count, seed, numbered=kind) for kind in (False, True)]
    return (
        f"{count} near copies took {slots} of ten slots",
        0,
        [f"{count_taken} slots" for count_taken in slots if count_taken > 1],
    )


ATTACKS: dict[str, tuple[int, Attack]] = {
    "poison": (50, poison),
    "laundering": (10_000, laundering),
    "sources": (50, sources),
    "overwrite": (10_000, overwrite),
    "graft": (3, graft),
    "flood": (1_000, flood),
}
"""The default size of each attack; each function says what `count` means."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("attack", nargs="?", default="all", choices=[*ATTACKS, "all"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--light", action="store_true", help="with static vectors, not text search alone")
    options = parser.parse_args()
    os.environ |= {"LAMINA_BACKGROUND": "false", "LAMINA_EMBEDDER": "light" if options.light else "none"}
    seed = random.randrange(2**32) if options.seed is None else options.seed
    names = ATTACKS if options.attack == "all" else [options.attack]
    failed = [_run(name, options.count, seed) for name in names]
    return 1 if any(failed) else 0


def _run(name: str, count: int | None, seed: int) -> bool:
    default_count, attack = ATTACKS[name]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-poison-", ignore_cleanup_errors=True) as folder:
        result, tries, failures = attack(Path(folder), count or default_count, seed)
    bound = f"; below {300 / tries:.3g} % at 95 %" if tries and not failures else ""
    lines = [f"{name}: {result}{bound} (seed {seed}, {time.monotonic() - began:.0f} s)", *failures[:50]]
    sys.stdout.write("\n  ".join(lines) + "\n")
    sys.stdout.flush()
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
