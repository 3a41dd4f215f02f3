"""A person's word may be written into the file: it is the same word as the verb."""

from __future__ import annotations

from typing import Any

from lamina import Atom, Status
from vault_workspace import VaultWorkspace


def home(workspace: VaultWorkspace, value: str, **fields: Any) -> Atom:
    workspace.tick()
    return workspace.memory.remember(
        f"Ann lives in {value}.", subject="Ann", attribute="home", value=value, **fields
    ).atom


def test_active_in_a_pending_file_confirms_it_and_its_rival_yields_in_the_same_commit(
    workspace: VaultWorkspace,
) -> None:
    rome = home(workspace, "Rome")
    oslo = home(workspace, "Oslo", origin="import")
    workspace.edit(oslo, "status: constrained", "status: active")
    position = len(workspace.memory.journal())
    workspace.memory.upkeep.sync()
    assert len(workspace.memory.journal()) == position + 1
    entry = workspace.memory.journal()[-1]
    assert (entry.verb, entry.actor) == ("confirm", "human")
    assert workspace.memory.get(oslo.id).supersedes == (rome.id,)
    assert workspace.memory.get(rome.id).status is Status.SUPERSEDED
    assert "status: superseded" in workspace.file(rome).read_text()
    workspace.memory.undo(entry.id)
    assert (workspace.memory.get(rome.id), workspace.memory.get(oslo.id)) == (rome, oslo)


def test_active_in_a_challenged_file_decides_that_the_other_is_wrong(workspace: VaultWorkspace) -> None:
    rome = home(workspace, "Rome", observed_at=workspace.clock.at)
    oslo = home(workspace, "Oslo", observed_at=rome.observed_at)
    assert oslo.status is Status.CHALLENGED
    workspace.edit(oslo, "status: challenged", "status: active")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(oslo.id).status is Status.ACTIVE
    assert workspace.memory.get(rome.id).status is Status.INVALIDATED


def test_text_edited_with_the_status_is_confirmed_as_edited(workspace: VaultWorkspace) -> None:
    rome = home(workspace, "Rome")
    oslo = home(workspace, "Osloo", origin="import")
    workspace.edit(oslo, "Osloo", "Oslo")
    workspace.edit(oslo, "status: constrained", "status: active")
    workspace.memory.upkeep.sync()
    atom = workspace.memory.get(oslo.id)
    assert (atom.content, atom.value, atom.status) == ("Ann lives in Oslo.", "Oslo", Status.ACTIVE)
    assert workspace.memory.get(rome.id).superseded_by == (oslo.id,)


def test_tombstoned_in_the_file_rejects_a_pending_atom_and_forgets_an_active_one(workspace: VaultWorkspace) -> None:
    receipt, known_value = (
        workspace.remember("Tea is green.", origin="import"),
        workspace.remember("Milk is white.", subject="milk"),
    )
    workspace.edit(receipt, "status: constrained", "status: tombstoned")
    workspace.edit(known_value, "subject: milk", "subject: milk\nstatus: tombstoned")
    workspace.memory.upkeep.sync()
    verbs = {workspace.memory.history(item.id).versions[-1].verb: item.id for item in (receipt, known_value)}
    assert verbs == {"reject": receipt.id, "forget": known_value.id}


def test_active_in_the_file_of_an_ended_atom_restores_it(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Tea is green.")
    workspace.memory.forget(atom.id, "r")
    workspace.edit(atom, "status: tombstoned", "status: active")
    workspace.memory.upkeep.sync()
    assert workspace.memory.history(atom.id).versions[-1].verb == "restore"


def test_a_synthesis_confirmed_in_its_file_replaces_its_sources(workspace: VaultWorkspace) -> None:
    sources = [
        workspace.remember(text, tags=["garden"])
        for text in ("The spade hangs in the shed.", "Marta borrowed a rake last autumn.")
    ]
    (group,) = workspace.memory.review.compact(create_proposals=True).groups
    workspace.edit(group.proposal, "status: constrained", "status: active")
    workspace.memory.upkeep.sync()
    assert {workspace.memory.get(source.id).superseded_by for source in sources} == {(group.proposal.id,)}
