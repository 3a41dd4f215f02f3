"""A backend that lacks a capability skips its tests, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from lamina.clock import Clock, FixedClock
from lamina.store.projection import FileChanges, FileDeleted, KnownFiles, NullProjection
from lamina.store.sqlite import SqliteStore
from lamina.testing import NOON, Capability, StoreContract, StoreHarness


class WithoutFiles(StoreContract):
    capabilities = frozenset({Capability.SCRUB})

    def make_store(self, tmp_path: Path, clock: Clock) -> SqliteStore:
        return SqliteStore(tmp_path, clock)


def test_a_missing_capability_skips_its_tests_by_name_and_runs_the_rest(tmp_path: Path) -> None:
    contract: Any = WithoutFiles()
    with pytest.raises(SkipTest, match="`files`"):
        contract.test_files_that_are_not_atoms_are_recorded_and_forgotten(tmp_path)
    contract.test_problems_are_listed_until_they_are_resolved(tmp_path)


def test_a_backend_without_files_commits_edits_and_knows_no_file(tmp_path: Path) -> None:
    harness = StoreHarness(SqliteStore(tmp_path, FixedClock(NOON)), FixedClock(NOON))
    projection = NullProjection(harness.journal)
    atom = projection.commit_edits(harness.new_commit(harness.new_atom("one")), FileChanges()).atoms[0]
    projection.record([FileDeleted("atoms/one.md")], 1)
    assert harness.current(atom) == atom
    assert (projection.catch_up(with_signals=True), projection.pending_files()) == ([], [])
    assert projection.read(ids=[atom.id]) == KnownFiles((), 1)
    assert (projection.paths_of([atom.id]), projection.find_atom(atom.id), projection.list_files().entries) == (
        {},
        None,
        [],
    )
    assert set(projection.summary().values()) == {0}
    harness.store.close()
