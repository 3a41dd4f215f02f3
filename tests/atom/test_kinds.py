"""KINDS: one table of every kind and its traits."""

from __future__ import annotations

import pytest

from lamina.atom.kinds import KINDS, kind_traits

TABLE = """
fact           fact       semantic    note     standard   730  -   0
preference     fact       profile     note     standard   365  yes .10
goal           fact       semantic    note     standard   180  -   .05
decision       procedure  procedural  note     core       180  yes .08
event          narrative  episodic    episode  standard   60   -   0
question       narrative  episodic    episode  ephemeral  60   -   0
insight        fact       semantic    note     standard   365  -   0
synthesis      fact       semantic    note     standard   730  -   0
correction     fact       semantic    note     core       730  yes .15
entity         fact       semantic    note     standard   730  -   .02
relationship   fact       semantic    note     standard   730  -   .05
principle      procedure  procedural  note     core       730  yes .12
commitment     fact       semantic    note     standard   180  yes .10
moment         narrative  episodic    episode  standard   60   -   .03
skill          procedure  procedural  note     standard   365  -   .05
procedure      procedure  procedural  note     core       730  -   .10
rule           procedure  procedural  note     core       730  yes .11
constraint     procedure  procedural  note     core       730  yes .11
habit          fact       profile     note     standard   365  -   .05
interest       fact       profile     note     standard   365  -   0
user_request   narrative  episodic    episode  ephemeral  60   -   0
interaction    narrative  episodic    episode  ephemeral  60   -   0
summary        narrative  semantic    note     standard   365  -   0
count          fact       semantic    note     standard   730  -   .03
recommendation narrative  episodic    episode  standard   90   -   0
reminder       fact       episodic    note     ephemeral  3    -   .03
belief         fact       semantic    note     standard   365  -   0
narrative      narrative  episodic    episode  standard   365  -   0
box            narrative  episodic    note     standard   365  -   0
block          narrative  episodic    note     standard   365  -   0
code           fact       codebase    note     standard   inf  -   0
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_kind_has_the_traits_of_the_table(row: list[str]) -> None:
    kind, memory_type, layer, memory_kind, durability, half_life, protected, boost = row
    fields = KINDS[kind]
    assert (fields.memory_type, fields.layer, fields.durability) == (memory_type, layer, durability)
    assert (fields.is_episode, fields.is_protected) == (memory_kind == "episode", protected == "yes")
    assert (fields.half_life_days, fields.importance_boost) == (float(half_life), float(boost))


def test_boxes_and_blocks_only_list_other_statements() -> None:
    assert [name for name, kind in KINDS.items() if kind.is_listing] == ["box", "block"]


def test_no_other_kind_exists() -> None:
    assert list(KINDS) == [row[0] for row in ROWS]


def test_an_undeclared_kind_has_the_traits_of_a_fact() -> None:
    assert kind_traits("recipe") == KINDS["fact"]
    assert kind_traits("event") == KINDS["event"]
