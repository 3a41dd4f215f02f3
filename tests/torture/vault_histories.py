"""The machine of `tests/machine` as a suite: random histories of people, agents and accidents at one vault."""

from __future__ import annotations

from test_equivalence import run_histories
from torture_suite import Batch, Suite, Tally


def check_histories(batch: Batch) -> Tally:
    """Run histories; the first failure of a batch ends it."""
    run_histories(batch.seed, batch.count)
    return Tally(batch.count)


SUITE = Suite("machine", "histories", 2_000, 5, check_histories)
