"""What the importance of an atom depends on besides its text, as the store knows it."""

from __future__ import annotations

from lamina.atom.status import Status
from lamina.review.ageing_signals import load_signals, load_signals_with_history
from vault_workspace import VaultWorkspace


def test_signals_have_uses_disputes_and_the_trust_of_the_lineage(workspace: VaultWorkspace) -> None:
    atom, other = workspace.remember("Ann keeps bees."), workspace.remember("Bob keeps bees.", origin="agent")
    workspace.memory.cite([atom.id])
    workspace.memory.update_status(atom.id, "challenged", "a neighbour disagrees")
    store, current = workspace.memory.engine.store, workspace.memory.get(atom.id)
    derived = workspace.remember("Both keep bees.").with_(derived_from=(other.id, atom.id))
    signals = load_signals([current, other, derived], store)
    assert (signals[atom.id].total_uses, signals[atom.id].is_disputed) == (1, True)
    assert load_signals([derived], store)[derived.id].trust == 0.7
    assert load_signals([other], store)[other.id].trust is None


def test_history_adds_reviews_and_what_a_dream_archived(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed.", kind="event", importance=0.2)
    store = workspace.memory.engine.store
    assert load_signals_with_history(atom, store).reviewed_at is None
    workspace.tick(days=1)
    revised = workspace.memory.revise(atom.id, "Bob hummed a tune.", reason="heard it again")
    signals = load_signals_with_history(revised, store)
    assert signals.reviewed_at == signals.revised_at == workspace.clock.at
    workspace.tick(days=200)
    workspace.remember("Somebody was here.")
    workspace.memory.upkeep.dream(["age"])
    archived = workspace.memory.get(atom.id)
    assert archived.status is Status.ARCHIVED
    assert load_signals_with_history(archived, store).archived_at is not None
