"""Pieces on their way into segments: word for word, a page apart from the next, and with their place noted."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Origin, parse_scope
from lamina.capture.pieces import TextFormat, TextPiece, detect_format, split_text
from lamina.capture.segment import SegmentTarget, extend_segments

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
PLACE = SegmentTarget(
    scope=parse_scope("org:local"),
    session_id="doc",
    source_id=None,
    origin=Origin.DOCUMENT,
    principal=None,
    agents=(),
    observed_at=NOON,
    max_chars=12_000,
    idle_timeout=timedelta(minutes=30),
)
PARTS = [
    "# A\n",
    "## B\n\n",
    "words ",
    "words.\n\n",
    "```\n",
    "\n",
    "^p7",
    " ^p1\n",
    "**Ann**\n",
    "**Ann** 10:02\n",
    "- item\n",
    "| a | b |\n",
    "    code\n",
    "\\",
    "Ann: hi\n",
    "Bob: lo\n",
    "\u3000",
    "\t",
    "<bob> x\n",
    "---\n",
    "猫。",
    "\u2028",
]


def ids() -> Iterator[AtomId]:
    source = IdSource(random.Random(1).randbytes)
    while True:
        yield source.new(NOON)


def segments(pieces: Sequence[TextPiece], open_segment: Atom | None = None) -> list[Atom]:
    return extend_segments(pieces, PLACE, open_segment, 1 if open_segment else 0, ids())


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PARTS), max_size=30).map("".join)), st.sampled_from(list(TextFormat))
)
def test_every_piece_is_read_back_verbatim_from_its_segment(text: str, form: TextFormat) -> None:
    text = text.replace("\r", "\n")
    pieces = split_text(text, form)
    result = [passage for segment in segments(pieces) for passage in passages_of(segment)]
    assert [passage.text for passage in result] == [piece.text for piece in pieces]


def test_each_page_is_a_separate_segment() -> None:
    one, two = segments([TextPiece("a", page="page 1"), TextPiece("b", page="page 1"), TextPiece("c", page="page 2")])
    assert [passage.text for passage in passages_of(one)] == ["a", "b"]
    assert (one.metadata, two.metadata) == ({"page": "page 1"}, {"page": "page 2"})
    (grown,) = segments([TextPiece("d", page="page 2")], two)
    assert (grown.id, [passage.text for passage in passages_of(grown)]) == (two.id, ["c", "d"])


def test_a_segment_that_begins_below_a_heading_records_it() -> None:
    text = "# Tea\n\n" + "\n\n".join(f"Paragraph {n} about tea. {'x' * 900}" for n in range(30))
    first, *later = segments(split_text(text, detect_format(text, "tea.md")))
    assert first.metadata == {}
    assert later
    assert all(segment.metadata == {"heading": "Tea"} for segment in later)
