"""Print a coverage report as a table: lines and branches of each package, the least covered first.

    python scripts/coverage_table.py .coverage/report.json

The report is what `coverage json` writes. Exits with 0 whatever the figures are: they are shown, not judged.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main() -> int:
    """Print the table of the report that the first argument names."""
    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    sys.stdout.write("\n".join(format_table(count_packages(report))) + "\n")
    return 0


def count_packages(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Return the counts of a report summed up for each package."""
    packages: dict[str, Counter[str]] = {}
    for name, file in report["files"].items():
        counts = packages.setdefault(package_of(name), Counter(files=0))
        counts.update({"files": 1} | {count: file["summary"][count] for count in COUNTS})
    return packages


def package_of(name: str) -> str:
    """Return the package of a file: a folder of `lamina`, `benchmarks`, or the module itself at the top."""
    parts = Path(name).with_suffix("").parts
    parts = parts[parts.index("lamina") :] if "lamina" in parts else parts[parts.index("benchmarks") :][:1]
    return ".".join(parts[:2])


def format_table(packages: dict[str, Counter[str]]) -> list[str]:
    """Return the lines of the table, with the sum of all packages as the last one."""
    ordered = sorted(packages.items(), key=lambda item: (share(item[1], "branches"), item[0]))
    total: Counter[str] = sum((counts for _, counts in ordered), Counter())
    lines = [f"{'package':24}{'files':>6}{'lines':>8}{'covered':>9}{'branches':>10}{'covered':>9}"]
    for name, counts in [*ordered, ("total", total)]:
        lines.append(
            f"{name:24}{counts['files']:6}{counts['num_statements']:8}{share(counts, 'lines'):8.1f}%"
            f"{counts['num_branches']:10}{share(counts, 'branches'):8.1f}%"
        )
    return lines


def share(counts: Counter[str], of: str) -> float:
    """Return how many per cent of the lines or branches are covered; 100 where there are none."""
    number = counts["num_statements" if of == "lines" else "num_branches"]
    return 100 * counts[f"covered_{of}"] / number if number else 100.0


if __name__ == "__main__":
    raise SystemExit(main())
