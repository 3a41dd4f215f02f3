from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import LiveServer, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for the tests of a file."""
    with run_server(tmp_path_factory.mktemp("http")) as running:
        yield running


@pytest.fixture(scope="module")
def owner(server: LiveServer) -> str:
    """A person's token that may do everything."""
    return server.token("owner")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[LiveServer]:
    """A server for one test alone."""
    with run_server(tmp_path) as running:
        yield running
