"""Statements of the former rules become the sentences they were made of; what a person touched stays."""

from __future__ import annotations

import pytest

import lamina
from lamina import Atom, Settings, Status
from lamina.errors import Refused
from vault_workspace import VaultWorkspace


def add_rule_statement(workspace: VaultWorkspace, words: str, content: str, **fields: object) -> Atom:
    """Capture words, and give their statement the form that the former rules gave it, by the same verb."""
    workspace.tick()
    turns = [{"speaker": "Ann", "content": words, "at": workspace.clock.at}]
    receipt = workspace.memory.capture(turns, session_id=words, wait=True)
    (atom,) = [outcome.atom for outcome in receipt.outcomes if not outcome.atom.is_segment]
    change = atom.with_(content=content, attribute=words.split()[1], **fields)
    workspace.commit(change, verb="extract")
    return workspace.memory.get(atom.id)


def test_without_apply_nothing_changes_and_with_it_everything_can_be_undone(workspace: VaultWorkspace) -> None:
    old = add_rule_statement(
        workspace, "My dentist is Dr Reyes.", "Ann's dentist is Dr Reyes.", status=Status.SUPERSEDED
    )
    planned = workspace.memory.upkeep.reread()
    assert [atom.content for atom in planned.revised] == ["My dentist is Dr Reyes."]
    assert workspace.memory.get(old.id) == old
    result = workspace.memory.upkeep.reread(apply=True)
    new = workspace.memory.get(old.id)
    assert (new.content, new.attribute, new.value, new.status) == (
        "My dentist is Dr Reyes.",
        None,
        "Dr Reyes",
        Status.ACTIVE,
    )
    assert result.receipt is not None
    workspace.memory.undo(str(result.receipt.commit))
    assert workspace.memory.get(old.id).content == old.content
    assert workspace.memory.get(old.id).status is Status.SUPERSEDED


def test_a_statement_of_a_non_asserting_sentence_is_dropped_and_its_text_stays(workspace: VaultWorkspace) -> None:
    old = add_rule_statement(workspace, "I live in Rome.", "Ann lives in Rome.")
    again = add_rule_statement(workspace, "I like green tea.", "Ann likes green tea.")
    workspace.commit(again.with_(evidence=old.evidence), verb="extract")
    result = workspace.memory.upkeep.reread(apply=True)
    assert [item.id for item in result.dropped] == [again.id]
    assert "I like green tea." in [hit.text for hit in workspace.memory.recall("green tea").hits]
    assert workspace.memory.upkeep.reread().dropped == ()


def test_statements_a_person_touched_are_left_alone(workspace: VaultWorkspace) -> None:
    old = add_rule_statement(workspace, "My dentist is Dr Reyes.", "Ann's dentist is Dr Reyes.")
    workspace.memory.revise(old.id, "Ann sees Dr Reyes.", reason="my words")
    assert workspace.memory.upkeep.reread().revised == ()


def test_it_is_refused_with_a_chat_model(workspace: VaultWorkspace) -> None:
    settings = Settings(embedder="none", watch=False, background=False, chat="openai:m")
    with lamina.open(workspace.root, settings=settings) as memory, pytest.raises(Refused, match="chat model"):
        memory.upkeep.reread()
