"""An atom as plain JSON values, and the difference between two versions of it."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lamina.atom import Atom, AtomId, Evidence, Origin, Relation, RelationName, Scope, Status
from lamina.atom.atom import DATA_FIELDS
from lamina.atom.json_record import apply_diff, diff_atoms, from_record, to_record
from lamina.atom.kinds import Durability, Layer, MemoryType

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LISTS = st.lists(WORDS, max_size=3).map(tuple)
UNIT = st.floats(0, 1)
SCALARS = WORDS | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.just(AtomId("0" * 26)),
    "scope": st.sampled_from([Scope("org:local"), Scope("org:acme:agent:bob")]),
    "kind": st.sampled_from(["fact", "event", "their own"]),
    **dict.fromkeys(["content", "subject"], WORDS),
    **dict.fromkeys(["attribute", "value", "source_id", "session_id", "segment_id"], st.none() | WORDS),
    **dict.fromkeys(["source_ref", "principal", "run_id", "episode_id", "box_id", "trace_id"], st.none() | WORDS),
    **dict.fromkeys(["tags", "entities", "agents", "derived_from", "supersedes", "superseded_by"], LISTS),
    "observed_at": MOMENTS,
    **dict.fromkeys(["recorded_at", "valid_from", "valid_until", "expires_at"], st.none() | MOMENTS),
    "metadata": st.dictionaries(WORDS, SCALARS | st.lists(SCALARS, max_size=3).map(tuple), max_size=3),
    "evidence": st.lists(st.builds(Evidence, WORDS, st.integers(1), st.integers(0), st.integers(0)), max_size=2).map(
        tuple
    ),
    "origin": st.sampled_from(Origin),
    "status": st.sampled_from(Status),
    "layer": st.sampled_from(Layer),
    "durability": st.sampled_from(Durability),
    "memory_type": st.sampled_from(MemoryType),
    **dict.fromkeys(["pinned", "resolved"], st.booleans()),
    **dict.fromkeys(["confidence", "importance"], UNIT),
    "surprise": st.none() | UNIT,
    "valence": st.floats(-1, 1),
    "relations": st.lists(
        st.builds(Relation, st.sampled_from(RelationName), st.just(AtomId("1" * 26)), UNIT, st.none() | MOMENTS),
        max_size=2,
    ).map(tuple),
}
NEEDED = ("id", "scope", "kind", "content", "observed_at")
ATOMS = st.fixed_dictionaries(
    {name: VALUES[name] for name in NEEDED},
    optional={name: item for name, item in VALUES.items() if name not in NEEDED},
).map(lambda chosen: Atom(**chosen))


def json_round_trip(record: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(record))
    return read


def test_every_field_is_covered_by_these_tests() -> None:
    assert set(VALUES) == set(DATA_FIELDS) == {field.name for field in fields(Atom)} - {"revision"}


@given(ATOMS, st.integers(0))
def test_a_record_round_trips(atom: Atom, revision: int) -> None:
    read = from_record(json_round_trip(to_record(atom)), revision)
    assert read == atom
    assert read.revision == revision


@given(ATOMS)
def test_a_record_holds_only_what_differs_from_the_defaults(atom: Atom) -> None:
    plain = Atom(id=atom.id, scope=atom.scope, kind=atom.kind, content=atom.content, observed_at=atom.observed_at)
    for name in set(to_record(atom)) - set(NEEDED):
        assert getattr(atom, name) != getattr(plain, name)


@given(ATOMS, ATOMS)
def test_applying_a_diff_gives_the_newer_version(old: Atom, new: Atom) -> None:
    assert apply_diff(old, json_round_trip(diff_atoms(old, new)), 3) == new
    assert apply_diff(None, json_round_trip(diff_atoms(None, new)), 1) == new


@given(ATOMS, WORDS)
def test_appended_text_is_stored_as_the_addition(old: Atom, more: str) -> None:
    new = old.with_(content=old.content + more)
    changed = json_round_trip(diff_atoms(old, new))
    if old.content and more:
        assert changed == {"content": {"+": more}}
    assert apply_diff(old, changed, 2) == new


@given(ATOMS)
def test_equal_versions_have_an_empty_diff(atom: Atom) -> None:
    assert diff_atoms(atom, atom.with_(revision=9)) == {}


def test_a_field_reset_to_its_default_is_in_the_diff() -> None:
    old = Atom(
        id=AtomId("0" * 26),
        scope=Scope("org:local"),
        kind="fact",
        content="x",
        observed_at=NOON,
        value="v",
        pinned=True,
    )
    changed = diff_atoms(old, old.with_(value=None, pinned=False))
    assert changed == {"value": None, "pinned": False}
    assert apply_diff(old, changed, 2).value is None


def test_a_diff_contains_its_revision() -> None:
    old = Atom(id=AtomId("0" * 26), scope=Scope("org:local"), kind="fact", content="x", observed_at=NOON, revision=4)
    assert apply_diff(old, {}, 5).revision == 5
