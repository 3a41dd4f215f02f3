"""`docs/seeds.md` links one table for each of the five systems, and every row of a table names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = ("lattice", "skylattice", "lota", "remnic", "engram")
_ROW = re.compile(r"^\| ([A-Z]\d+) \|(.*)\|$", re.MULTILINE)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_names_a_test_that_exists(seed: str) -> None:
    rows = _ROW.findall((DOCS / "seeds" / f"{seed}.md").read_text(encoding="utf-8"))
    ids = [row_id for row_id, _ in rows]
    assert len(rows) >= 50 and len(set(ids)) == len(ids)
    module = ast.parse((Path(__file__).parent / f"test_{seed}.py").read_text(encoding="utf-8"))
    tests = {node.name for node in module.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    for row_id, text in rows:
        named = set(re.findall(r"`(test_\w+)(?:\[[^\]]*\])?`", text.rpartition(" | ")[2] or text))
        assert named and named <= tests, f"{row_id} names {sorted(named - tests) or 'no test'}"
        assert "absent" not in text, row_id


def test_the_page_counts_the_rows_of_each_table() -> None:
    page = (DOCS / "seeds.md").read_text(encoding="utf-8")
    for seed in SEEDS:
        count = len(_ROW.findall((DOCS / "seeds" / f"{seed}.md").read_text(encoding="utf-8")))
        assert f"[{seed}](seeds/{seed}.md) | {count} |" in page
