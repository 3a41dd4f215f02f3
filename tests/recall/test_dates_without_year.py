"""What is said later does not answer for an earlier day because its date names no year."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from town_conversations import capture_session, needs_minilm, open_memory

from lamina import FixedClock

MARCH, APRIL = datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 4, 10, 12, tzinfo=UTC)
OLD, NEW = "My holiday is from 4 July to 11 July.", "My holiday is now from 18 July to 1 August."


@needs_minilm
def test_coming_days_do_not_make_a_statement_true_since_last_year(tmp_path: Path) -> None:
    clock = FixedClock(MARCH)
    with open_memory(tmp_path / "vault", "minilm", clock=clock) as memory:
        for session, at, words in (("first", MARCH, OLD), ("second", APRIL, NEW)):
            clock.at = at
            capture_session(memory, ("Ann", words), session=session, at=at)
            memory.embed()
        for moment, words in ((datetime(2026, 3, 10, tzinfo=UTC), OLD), (datetime(2026, 4, 20, tzinfo=UTC), NEW)):
            hits = memory.recall("When is my holiday?", as_of=moment).hits
            assert [hit.text for hit in hits[:1]] == [words]
