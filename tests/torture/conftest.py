from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on a disk: what is tortured must not lie in memory, where nothing is ever waited for."""
    with tempfile.TemporaryDirectory(prefix="lamina-torture-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
