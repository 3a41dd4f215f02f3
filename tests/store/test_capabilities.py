"""A backend that lacks a capability skips its tests, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from lamina.clock import Clock
from lamina.store.sqlite import SqliteStore
from lamina.testing import Capability, StoreContract


class WithoutFiles(StoreContract):
    capabilities = frozenset({Capability.SCRUB})

    def make_store(self, tmp_path: Path, clock: Clock) -> SqliteStore:
        return SqliteStore(tmp_path, clock)


def test_a_missing_capability_skips_its_tests_by_name_and_runs_the_rest(tmp_path: Path) -> None:
    contract: Any = WithoutFiles()
    with pytest.raises(SkipTest, match="`files`"):
        contract.test_files_that_are_not_atoms_are_recorded_and_forgotten(tmp_path)
    contract.test_problems_are_listed_until_they_are_resolved(tmp_path)
