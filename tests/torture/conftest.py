"""Processes that torture tests share: started once, because each of them imports the engine."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from torture_suite import open_pool


@pytest.fixture(scope="session")
def pool() -> Iterator[ProcessPoolExecutor]:
    with open_pool(1) as opened:
        yield opened
