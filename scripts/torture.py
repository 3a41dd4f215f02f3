"""Run the torture suites at full size: seeded, resumable, bounded in time, with a report as JSON for each.

    python scripts/torture.py SUITE|all [--count N] [--seed S] [--minutes M] [--resume DIR] [--report FILE]
    python scripts/torture.py SUITE --seed S --batch N
    python scripts/torture.py report [--resume DIR] [--write docs/reliability.md]

The state folder (`--resume`, default `.torture`) holds the progress of each suite, stored after each batch: a run that
was stopped, or that `--minutes` ended, goes on where it was. `--batch` repeats one batch that failed. `report` prints
the table of all reports, or writes it into a document.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "machine"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "torture"))

import test_clock_jumps
import test_concurrent_use
import test_disk_full
import test_editor_races
import test_faults
import test_index_damage
import test_kills
import test_old_formats
import test_power_loss
import vault_histories
from torture_suite import (
    Progress,
    Suite,
    batch_seed,
    fresh_seed,
    open_pool,
    prepare_process,
    run_batch,
    run_suite,
    summary_line,
)

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        test_kills.SUITE,
        test_power_loss.SUITE,
        test_editor_races.SUITE,
        test_concurrent_use.SUITE,
        test_concurrent_use.HOLDERS,
        test_faults.SUITE,
        test_faults.OPENINGS,
        test_disk_full.SUITE,
        test_clock_jumps.SUITE,
        test_index_damage.SUITE,
        test_old_formats.SUITE,
        vault_histories.SUITE,
    )
}
STATE = Path(__file__).resolve().parent.parent / ".torture"
TABLE = re.compile(r"(?<=<!-- reports -->\n).*?(?=<!-- end of reports -->)", re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("suite", choices=[*SUITES, "all", "report"])
    parser.add_argument("--count", type=int, help="how many runs; default the full size")
    parser.add_argument("--seed", type=int, help="default a new one, or that of the run to resume")
    parser.add_argument("--minutes", type=float, help="the most minutes for each suite")
    parser.add_argument("--lanes", type=int, help="how many batches at once; default two")
    parser.add_argument("--resume", type=Path, default=STATE, metavar="DIR", help="the state folder")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the report is written as JSON too")
    parser.add_argument("--batch", type=int, help="repeat this batch only; needs the seed of its run")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="the document that gets the table of reports")
    options = parser.parse_args()
    if options.suite == "report":
        return write_table(options.resume, options.write)
    suites = list(SUITES.values()) if options.suite == "all" else [SUITES[options.suite]]
    if options.batch is not None:
        return repeat_batch(suites[0], options)
    reports = [run(suite, options) for suite in suites]
    if options.report is not None:
        options.report.write_text(json.dumps(reports if len(reports) > 1 else reports[0], indent=2) + "\n")
    return 1 if any(report["failed"] for report in reports) else 0


def run(suite: Suite, options: argparse.Namespace) -> dict[str, Any]:
    """Run a suite, or what is left of it, and return its report, which is stored beside its progress."""
    options.resume.mkdir(parents=True, exist_ok=True)
    file = options.resume / f"{suite.name}.progress.json"
    progress = load_progress(suite, file, options)
    lanes = min(suite.lanes, options.lanes or suite.lanes)
    with open_pool(lanes) as pool:
        report = run_suite(suite, progress, pool, lanes=lanes, state=file, minutes=options.minutes)
    (options.resume / f"{suite.name}.json").write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write("\n  ".join([summary_line(report), *report["failures"][:50]]) + "\n")
    sys.stdout.flush()
    return report


def load_progress(suite: Suite, file: Path, options: argparse.Namespace) -> Progress:
    """Return the stored progress; a new one if there is none, or if it has another seed."""
    if file.exists():
        progress = Progress.load(file)
        if options.seed in (None, progress.seed):
            progress.count = options.count or suite.count
            return progress
    seed = fresh_seed() if options.seed is None else options.seed
    return Progress(suite.name, seed, options.count or suite.count)


def repeat_batch(suite: Suite, options: argparse.Namespace) -> int:
    """Run one batch in this process."""
    if options.seed is None:
        sys.exit("--batch needs --seed, the seed of the run that failed")
    prepare_process()
    seed = batch_seed(suite, options.seed, options.batch)
    tally = run_batch(suite.run, options.batch, options.count or suite.batch, seed)
    sys.stdout.write("\n".join([f"{tally.runs} {suite.unit}, {len(tally.failures)} failures", *tally.failures]) + "\n")
    return 1 if tally.failures else 0


def write_table(folder: Path, document: Path | None) -> int:
    """Print the table of all reports in a folder, or write it into a document between its two marks."""
    found = {name: folder / f"{name}.json" for name in SUITES}
    table = table_of([json.loads(file.read_text()) for file in found.values() if file.exists()])
    if document is None:
        sys.stdout.write(table)
        return 0
    text = document.read_text()
    if not TABLE.search(text):
        sys.exit(f"{document} has no <!-- reports --> and <!-- end of reports -->")
    document.write_text(TABLE.sub(lambda _: table, text))
    return 0


def table_of(reports: list[dict[str, Any]]) -> str:
    """Return the reports as a markdown table."""
    lines = [
        "| suite | runs | failures | rate at 95 % | further counts | seed | commit | minutes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for report in reports:
        bound = f"< {report['bound']:.2g}" if report["bound"] else "-"
        counts = [f"{number:,} {name}" for name, number in report["counts"].items()]
        counts += [f"{name} {seconds:.2f} s" for name, seconds in report["longest"].items()]
        fields = (
            report["suite"],
            f"{report['runs']:,} {report['unit']}" + ("" if report["complete"] else f" of {report['count']:,}"),
            str(report["failed"]),
            bound,
            "; ".join(counts),
            str(report["seed"]),
            ", ".join(report["commits"]),
            f"{report['seconds'] / 60:.1f}",
        )
        lines.append(f"| {' | '.join(fields)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
