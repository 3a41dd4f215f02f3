"""Atoms and signals of any sort, for what must hold of all of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId, Evidence
from lamina.atom.kinds import KINDS, Durability, Layer
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.lifecycle.signals import AgeingSignals

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def make_event(days: float = 0.0, **fields: Any) -> Atom:
    """An ordinary episodic event, recorded so many days ago."""
    at = NOON - days * DAY
    actual = {"kind": "event", "layer": Layer.EPISODIC, "observed_at": at, "recorded_at": at, **fields}
    return Atom(id=AtomId("0" * 26), scope=Scope("org:local"), content="Tea was served.", **actual)


def make_signals(*days: float, **fields: Any) -> AgeingSignals:
    """Signals of uses so many days ago each."""
    signals = AgeingSignals(**fields)
    for day in days:
        signals = signals.with_use(NOON - day * DAY)
    return signals


units = st.floats(0.0, 1.0)
ages_in_days = st.floats(0.0, 2000.0)
moments = ages_in_days.map(lambda days: NOON - days * DAY)
optional_moments = st.none() | moments


@st.composite
def atoms(draw: st.DrawFn) -> Atom:
    evidence = (Evidence("s", 1, 0, 4),) if draw(st.booleans()) else ()
    return make_event(
        draw(ages_in_days),
        kind=draw(st.sampled_from([*sorted(KINDS), "of my own"])),
        layer=draw(st.sampled_from(Layer)),
        durability=draw(st.sampled_from(Durability)),
        origin=draw(st.sampled_from(Origin)),
        status=draw(st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.ACTIVE, *Status])),
        confidence=draw(units),
        importance=draw(units | st.floats(0.0, 0.3)),
        valence=draw(st.floats(-1.0, 1.0)),
        pinned=draw(st.sampled_from([False, False, False, True])),
        resolved=draw(st.booleans()),
        run_id=draw(st.sampled_from([None, None, "run"])),
        expires_at=draw(st.none() | st.none() | moments),
        evidence=evidence,
    )


@st.composite
def signals(draw: st.DrawFn) -> AgeingSignals:
    known_value = make_signals(*draw(st.lists(ages_in_days, max_size=12)))
    return AgeingSignals(
        uses=known_value.uses,
        count=known_value.count,
        first_use=known_value.first_use,
        use_days=known_value.use_days,
        confirmations=draw(st.integers(0, 9)) * draw(st.integers(0, 1)),
        quality=draw(st.floats(0.1, 2.0)),
        successes=draw(st.integers(0, 50)),
        failures=draw(st.integers(0, 50)),
        causal=draw(st.floats(0.0, 0.5)),
        trust=draw(st.none() | units),
        is_disputed=draw(st.sampled_from([False, False, False, True])),
        reviewed_at=draw(st.none() | st.none() | moments),
        revised_at=draw(optional_moments),
        archived_at=draw(optional_moments),
        wrong_at=draw(optional_moments),
    )
