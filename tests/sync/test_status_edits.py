"""A person's word may be written into the file: it is the same word as the verb."""

from __future__ import annotations

from typing import Any

from desk import Desk
from lamina import Atom, Status


def home(desk: Desk, value: str, **fields: Any) -> Atom:
    desk.tick()
    return desk.memory.remember(f"Ann lives in {value}.", subject="Ann", attribute="home", value=value, **fields).atom


def test_active_in_the_file_of_what_waits_confirms_it_and_its_rival_gives_way_in_the_same_commit(desk: Desk) -> None:
    rome = home(desk, "Rome")
    oslo = home(desk, "Oslo", origin="import")
    desk.edit(oslo, "status: constrained", "status: active")
    position = len(desk.memory.journal())
    desk.memory.sync()
    assert len(desk.memory.journal()) == position + 1
    entry = desk.memory.journal()[-1]
    assert (entry.verb, entry.actor) == ("confirm", "human")
    assert desk.memory.get(oslo.id).supersedes == (rome.id,)
    assert desk.memory.get(rome.id).status is Status.SUPERSEDED
    assert "status: superseded" in desk.file(rome).read_text()
    desk.memory.undo(entry.id)
    assert (desk.memory.get(rome.id), desk.memory.get(oslo.id)) == (rome, oslo)


def test_active_in_the_file_of_what_is_doubted_says_that_the_other_is_wrong(desk: Desk) -> None:
    rome = home(desk, "Rome", observed_at=desk.clock.at)
    oslo = home(desk, "Oslo", observed_at=rome.observed_at)
    assert oslo.status is Status.CHALLENGED
    desk.edit(oslo, "status: challenged", "status: active")
    desk.memory.sync()
    assert desk.memory.get(oslo.id).status is Status.ACTIVE
    assert desk.memory.get(rome.id).status is Status.INVALIDATED


def test_words_edited_along_with_the_status_are_confirmed_as_edited(desk: Desk) -> None:
    rome = home(desk, "Rome")
    oslo = home(desk, "Osloo", origin="import")
    desk.edit(oslo, "Osloo", "Oslo")
    desk.edit(oslo, "status: constrained", "status: active")
    desk.memory.sync()
    found = desk.memory.get(oslo.id)
    assert (found.content, found.value, found.status) == ("Ann lives in Oslo.", "Oslo", Status.ACTIVE)
    assert desk.memory.get(rome.id).superseded_by == (oslo.id,)


def test_tombstoned_in_the_file_rejects_what_waits_and_forgets_what_counts(desk: Desk) -> None:
    held, known = desk.remember("Tea is green.", origin="import"), desk.remember("Milk is white.", subject="milk")
    desk.edit(held, "status: constrained", "status: tombstoned")
    desk.edit(known, "subject: milk", "subject: milk\nstatus: tombstoned")
    desk.memory.sync()
    verbs = {desk.memory.history(each.id).versions[-1].verb: each.id for each in (held, known)}
    assert verbs == {"reject": held.id, "forget": known.id}


def test_active_in_the_file_of_what_is_over_restores_it(desk: Desk) -> None:
    atom = desk.remember("Tea is green.")
    desk.memory.forget(atom.id, "r")
    desk.edit(atom, "status: tombstoned", "status: active")
    desk.memory.sync()
    assert desk.memory.history(atom.id).versions[-1].verb == "restore"


def test_a_synthesis_confirmed_in_its_file_takes_the_place_of_its_sources(desk: Desk) -> None:
    sources = [
        desk.remember(text, tags=["garden"])
        for text in ("The spade hangs in the shed.", "Marta borrowed a rake last autumn.")
    ]
    (group,) = desk.memory.review.compact(create_proposals=True).groups
    desk.edit(group.proposal, "status: constrained", "status: active")
    desk.memory.sync()
    assert {desk.memory.get(source.id).superseded_by for source in sources} == {(group.proposal.id,)}
