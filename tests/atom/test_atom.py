"""The record, and who is believed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom import Atom, AtomId, Origin, Scope
from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Validity, kind_defaults
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.provenance import TRUST, limit_origin, trust_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EDGES = st.none() | st.integers(0, 6).map(lambda hours: NOON + timedelta(hours=hours))
STRETCHES = st.builds(Validity, EDGES, EDGES)
INSTANTS = [NOON + timedelta(minutes=30 * step) for step in range(-1, 14)]


def atom(kind: str = "fact", confidence: float = 1.0, segment_id: str | None = None) -> Atom:
    return Atom(
        id=AtomId("0" * 26),
        scope=Scope("org:local"),
        kind=kind,
        content="x",
        observed_at=NOON,
        confidence=confidence,
        segment_id=segment_id,
    )


def test_an_interval_contains_its_start_but_not_its_end() -> None:
    day = Validity(NOON, NOON + timedelta(days=1))
    assert day.covers(NOON)
    assert not day.covers(NOON + timedelta(days=1))
    assert not day.covers(NOON - timedelta(milliseconds=1))


def test_an_open_interval_contains_everything() -> None:
    assert Validity().covers(datetime.min.replace(tzinfo=UTC))
    assert Validity().overlaps(Validity())
    assert not Validity().is_empty


def test_adjacent_intervals_do_not_overlap() -> None:
    assert not Validity(None, NOON).overlaps(Validity(NOON, None))


@given(STRETCHES, STRETCHES)
def test_two_intervals_overlap_exactly_when_they_share_a_moment(one: Validity, other: Validity) -> None:
    shared = any(one.covers(moment) and other.covers(moment) for moment in INSTANTS)
    assert one.overlaps(other) == other.overlaps(one) == shared


@given(STRETCHES)
def test_an_empty_interval_contains_nothing(stretch: Validity) -> None:
    assert stretch.is_empty == (not any(stretch.covers(moment) for moment in INSTANTS))


@pytest.mark.parametrize(
    ("confidence", "tier"),
    [
        (1.0, "explicit"),
        (0.95, "explicit"),
        (0.94, "implied"),
        (0.70, "implied"),
        (0.69, "inferred"),
        (0.40, "inferred"),
        (0.39, "speculative"),
        (0.0, "speculative"),
    ],
)
def test_confidence_maps_to_a_tier(confidence: float, tier: str) -> None:
    assert atom(confidence=confidence).confidence_tier == tier


def test_events_moments_and_narratives_are_episodic() -> None:
    assert all(atom(kind).is_episode for kind in ("event", "moment", "narrative"))
    assert not any(atom(kind).is_episode for kind in ("fact", "summary", "a kind of one's own"))


def test_only_a_narrative_with_a_segment_is_a_segment() -> None:
    assert atom("narrative", segment_id="s").is_segment
    assert not atom("narrative").is_segment
    assert not atom("fact", segment_id="s").is_segment


def test_an_atom_is_immutable() -> None:
    one = atom()
    with pytest.raises(FrozenInstanceError):
        one.content = "y"  # type: ignore[misc]
    assert one.with_(content="y").content == "y"
    assert one.content == "x"


def test_the_revision_is_not_part_of_the_content_comparison() -> None:
    assert atom() == atom().with_(revision=3)
    assert "revision" not in DATA_FIELDS
    assert set(DATA_FIELDS) >= FIXED_FIELDS


@pytest.mark.parametrize(
    ("confidence", "origin", "layer"),
    [
        (1.0, Origin.HUMAN, Layer.PROFILE),
        (0.70, Origin.AGENT, Layer.PROFILE),
        (0.69, Origin.HUMAN, Layer.EPISODIC),
        (1.0, Origin.WEB, Layer.EPISODIC),
        (1.0, Origin.DREAM, Layer.EPISODIC),
    ],
)
def test_only_stated_atoms_start_in_the_layer_of_their_kind(confidence: float, origin: Origin, layer: Layer) -> None:
    assert kind_defaults("preference", confidence, origin) == {
        "layer": layer,
        "durability": Durability.STANDARD,
        "memory_type": MemoryType.FACT,
    }


def test_trust_follows_the_origin() -> None:
    assert {origin.value: trust_of(origin) for origin in Origin} == {
        "human": 1.0,
        "agent": 0.7,
        "radar": 0.6,
        "import": 0.5,
        "document": 0.5,
        "tool": 0.5,
        "dream": 0.4,
        "web": 0.3,
    }


@given(st.sampled_from(Origin), st.lists(st.sampled_from(Origin)))
def test_trust_is_the_minimum_over_all_ancestors(origin: Origin, ancestors: list[Origin]) -> None:
    assert trust_of(origin, ancestors) == min(TRUST[item] for item in [origin, *ancestors])


@given(st.sampled_from(Origin), st.none() | st.sampled_from(Origin))
def test_a_caller_is_never_more_trusted_than_its_transport(ceiling: Origin, declared: Origin | None) -> None:
    given_origin = limit_origin(ceiling, declared)
    assert given_origin in (ceiling, declared)
    assert trust_of(given_origin) <= trust_of(ceiling)
    if declared is not None and TRUST[declared] <= TRUST[ceiling]:
        assert given_origin is declared
