"""A claim finds its subject under another name, and attributes declared to have several values keep them."""

from __future__ import annotations

from pathlib import Path

import lamina
from lamina import Settings
from lamina.atom.status import Status


def test_a_typo_in_the_subject_fills_the_same_slot(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        old = memory.remember("Maria Lindqvist sits in room 4.", subject="Maria Lindqvist", attribute="room", value="4")
        new = memory.remember("Maria Lindquist sits in room 9.", subject="Maria Lindquist", attribute="room", value="9")
        assert memory.get(old.atom.id).status is Status.SUPERSEDED
        assert new.atom.subject == "Maria Lindqvist"


def test_another_first_name_is_another_person(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        for one, other in (("Martin", "Martina"), ("Daniel Berg", "Daniela Berg")):
            old = memory.remember(f"{one} lives in Rome.", subject=one, attribute="city", value="Rome")
            new = memory.remember(f"{other} lives in Oslo.", subject=other, attribute="city", value="Oslo")
            assert memory.get(old.atom.id).status is Status.ACTIVE
            assert new.atom.subject == other


def test_another_number_is_another_subject(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        one = memory.remember("Taxi 11 is green.", subject="taxi 11", attribute="colour", value="green")
        memory.remember("Taxi 12 is red.", subject="taxi 12", attribute="colour", value="red")
        assert memory.get(one.atom.id).status is Status.ACTIVE


def test_an_alias_resolves_to_the_subject_it_names(tmp_path: Path) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        old = memory.remember("Maria Lindqvist sits in room 4.", subject="Maria Lindqvist", attribute="room", value="4")
        memory.remember("Maria Lindqvist is called Mimi.", subject="Maria Lindqvist", attribute="alias", value="Mimi")
        new = memory.remember("Mimi sits in room 9.", subject="Mimi", attribute="room", value="9")
        assert new.atom.subject == "Maria Lindqvist"
        assert memory.get(old.atom.id).status is Status.SUPERSEDED


def test_an_attribute_declared_as_multi_valued_keeps_its_values(tmp_path: Path) -> None:
    settings = Settings(multi_valued=("Mentor",))
    with lamina.open(tmp_path, settings=settings, watch=False) as memory:
        one = memory.remember("Bea is a mentor of mine.", subject="Ann", attribute="mentor", value="Bea")
        memory.remember("Cleo is a mentor of mine.", subject="Ann", attribute="mentor", value="Cleo")
        assert memory.get(one.atom.id).status is Status.ACTIVE
    with lamina.open(tmp_path / "other", watch=False) as memory:
        one = memory.remember("My mentor is Bea.", subject="Ann", attribute="mentor", value="Bea")
        memory.remember("My mentor is Cleo.", subject="Ann", attribute="mentor", value="Cleo")
        assert memory.get(one.atom.id).status is Status.SUPERSEDED
