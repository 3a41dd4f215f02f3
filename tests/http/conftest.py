from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live import Live, live


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One server for the tests of a file."""
    with live(tmp_path_factory.mktemp("http")) as running:
        yield running


@pytest.fixture(scope="module")
def owner(server: Live) -> str:
    """A person's token that may do everything."""
    return server.token("owner")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Live]:
    """A server for one test alone."""
    with live(tmp_path) as running:
        yield running
