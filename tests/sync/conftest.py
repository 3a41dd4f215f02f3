from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "vault")
    yield desk
    desk.close()
