"""Suites of torture tests: seeded batches that can be resumed and bounded in time, and the report of a run."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fake_state_models import FakeListReader, FakePairModel, FakeStateModel
from lamina.model_registry import ModelRegistry
from lamina.states.sentence_models import StateReader

SCRATCH = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
"""Where vaults are written. In memory: a killed process and a simulated power loss need no slow disk."""
MOST_FAILURES = 200


@dataclass(slots=True)
class Tally:
    """How often something was tried, every time it went wrong, further counts, and longest times in seconds."""

    runs: int = 0
    failures: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    longest: dict[str, float] = field(default_factory=dict)

    def fail(self, *messages: str) -> None:
        self.failures += messages

    def count(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def time(self, name: str, seconds: float) -> None:
        self.longest[name] = max(seconds, self.longest.get(name, 0.0))

    def add(self, other: Tally) -> None:
        self.runs += other.runs
        self.failures += other.failures
        for name, number in other.counts.items():
            self.count(name, number)
        for name, seconds in other.longest.items():
            self.time(name, seconds)


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of a suite that depends on nothing but its number and its seed; `count` is how much it is to try."""

    number: int
    count: int
    seed: int
    folder: Path

    def random(self) -> random.Random:
        return random.Random(self.seed)


@dataclass(frozen=True, slots=True)
class Suite:
    """What is tried: `unit` says what one run is, `count` how many make the full size, `batch` how many go together.

    A batch may do some more runs than it was asked for.
    """

    name: str
    unit: str
    count: int
    batch: int
    run: Callable[[Batch], Tally]
    lanes: int = 2


@dataclass(slots=True)
class Progress:
    """What was done so far. Stored after each batch, so that a stopped run goes on with the next one."""

    suite: str
    seed: int
    count: int
    done: list[int] = field(default_factory=list)
    seconds: float = 0.0
    failed: int = 0
    tally: Tally = field(default_factory=Tally)
    commits: list[str] = field(default_factory=list)

    def record(self, number: int, tally: Tally) -> None:
        self.done.append(number)
        self.failed += len(tally.failures)
        self.tally.add(tally)
        del self.tally.failures[MOST_FAILURES:]

    def save(self, file: Path) -> None:
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(file)

    @classmethod
    def load(cls, file: Path) -> Progress:
        fields = json.loads(file.read_text())
        return cls(**{**fields, "tally": Tally(**fields["tally"])})

    def report(self, suite: Suite) -> dict[str, Any]:
        """Return the report as JSON. The bound is the rule of three: at 95 % the failure rate is below it."""
        runs = self.tally.runs
        return {
            "suite": self.suite,
            "unit": suite.unit,
            "runs": runs,
            "count": self.count,
            "complete": runs >= self.count,
            "failed": self.failed,
            "failures": self.tally.failures,
            "bound": 3 / runs if runs and not self.failed else None,
            "seed": self.seed,
            "batches": len(self.done),
            "commits": self.commits,
            "seconds": round(self.seconds, 1),
            "per_second": round(runs / self.seconds, 2) if self.seconds else None,
            "counts": self.tally.counts,
            "longest": {name: round(seconds, 3) for name, seconds in self.tally.longest.items()},
        }


def run_suite(
    suite: Suite,
    progress: Progress,
    pool: Executor,
    *,
    lanes: int = 1,
    state: Path | None = None,
    minutes: float | None = None,
) -> dict[str, Any]:
    """Run batches until the count is reached or the time is over, and return the report.

    `lanes` run at once; `state` is the file that keeps the progress.
    """
    began, before = time.monotonic(), progress.seconds
    deadline = None if minutes is None else began + minutes * 60
    numbers, running = _open_numbers(progress), dict[Future[Tally], int]()
    commit = current_commit()
    progress.commits += [commit] if commit not in progress.commits else []
    while True:
        while len(running) < lanes and (deadline is None or time.monotonic() < deadline):
            count = min(suite.batch, progress.count - progress.tally.runs - len(running) * suite.batch)
            if count <= 0:
                break
            number = next(numbers)
            running[pool.submit(run_batch, suite.run, number, count, batch_seed(suite, progress.seed, number))] = number
        if not running:
            return progress.report(suite)
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            progress.record(running.pop(future), future.result())
        progress.seconds = before + time.monotonic() - began
        if state is not None:
            progress.save(state)
            show_progress(suite, progress)


def summary_line(report: dict[str, Any]) -> str:
    """Return the result of a run in one line."""
    bound = f"rate < {report['bound']:.2g} at 95 %" if report["bound"] else "no bound"
    part = "" if report["complete"] else f" of {report['count']:,}"
    return (
        f"{report['suite']}: {report['failed']} failures in {report['runs']:,}{part} {report['unit']}: {bound} "
        f"(seed {report['seed']}, {report['seconds']:.0f} s) {json.dumps(report['counts'])}"
    )


def _open_numbers(progress: Progress) -> Iterator[int]:
    done, number = set(progress.done), 0
    while True:
        if number not in done:
            yield number
        number += 1


def batch_seed(suite: Suite, seed: int, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{suite.name}/{number}".encode()).digest()[:6], "big")


def run_batch(run: Callable[[Batch], Tally], number: int, count: int, seed: int) -> Tally:
    """Run one batch in a folder of its own; an exception is a failure."""
    with tempfile.TemporaryDirectory(prefix="lamina-torture-", dir=SCRATCH, ignore_cleanup_errors=True) as folder:
        try:
            tally = run(Batch(number, count, seed, Path(folder)))
        except Exception as error:
            frame = error.__traceback__
            while frame is not None and frame.tb_next is not None:
                frame = frame.tb_next
            where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else ""
            tally = Tally(runs=count, failures=[f"{type(error).__name__}: {error} ({where})"])
    tally.failures = [f"batch {number}: {failure}" for failure in tally.failures]
    return tally


def open_pool(lanes: int) -> ProcessPoolExecutor:
    """Return processes of their own that have opened nothing yet, so that they may fork."""
    return ProcessPoolExecutor(lanes, mp_context=multiprocessing.get_context("spawn"), initializer=prepare_process)


def prepare_process() -> None:
    """Leave out the models of the machine, which cost seconds; small fakes find statements."""
    logging.disable(logging.CRITICAL)  # injected faults are reported at every turn
    sys.unraisablehook = lambda _: None  # and some cannot be handed on by SQLite
    os.environ.update(LAMINA_EMBEDDER="none", LAMINA_BACKGROUND="false", LAMINA_WATCH="false")
    ModelRegistry.default_state_reader = StateReader(FakeStateModel(), FakePairModel(), FakeListReader())


def fresh_seed() -> int:
    return random.SystemRandom().randrange(2**32)


def expect_no_failure(suite: Suite, count: int, pool: Executor) -> dict[str, Any]:
    """Run a short version of a suite; AssertionError with the seed if anything failed.

    The seed is always the same; LAMINA_TORTURE_SEED is another one, or `random` for a new one.
    """
    chosen = os.environ.get("LAMINA_TORTURE_SEED", "7")
    progress = Progress(suite.name, fresh_seed() if chosen == "random" else int(chosen), count)
    report = run_suite(suite, progress, pool)
    print(f"{suite.name}: {report['runs']} {suite.unit}, seed {progress.seed}, {report['seconds']} s")
    failures = "\n".join(report["failures"][:20])
    assert not report["failed"], f"{suite.name}, seed {progress.seed}: {report['failed']} failures\n{failures}"
    assert report["runs"] >= count
    return report


def current_commit() -> str:
    """Return the short id of the checked out commit, with a mark if files differ from it."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def show_progress(suite: Suite, progress: Progress) -> None:
    """Progress on standard error: how many, how fast, how long still."""
    runs = progress.tally.runs
    rate = runs / progress.seconds if progress.seconds else 0.0
    remaining = max(0, progress.count - runs) / rate if rate else 0.0
    print(
        f"{suite.name}: {runs:,}/{progress.count:,} {suite.unit}, {progress.failed} failures, "
        f"{rate:,.1f} a second, {remaining / 60:.1f} min left",
        file=sys.stderr,
        flush=True,
    )
