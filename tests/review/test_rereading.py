"""Statements of the former rules become the sentences they were made of; what a person touched stays."""

from __future__ import annotations

import pytest

from desk import Desk
from lamina import Atom, Memory, Settings, Status
from lamina.errors import Refused


def made_by_rules(desk: Desk, words: str, content: str, **fields: object) -> Atom:
    """Capture words, and give their statement the form that the former rules gave it, by the same verb."""
    desk.tick()
    said = [{"speaker": "Ann", "content": words, "at": desk.clock.at}]
    receipt = desk.memory.capture(said, session_id=words, wait=True)
    (atom,) = [outcome.atom for outcome in receipt.outcomes if not outcome.atom.is_segment]
    change = atom.with_(content=content, attribute=words.split()[1], **fields)
    desk.commit(change, verb="extract")
    return desk.memory.get(atom.id)


def test_without_apply_nothing_changes_and_with_it_everything_can_be_undone(desk: Desk) -> None:
    old = made_by_rules(desk, "My dentist is Dr Reyes.", "Ann's dentist is Dr Reyes.", status=Status.SUPERSEDED)
    planned = desk.memory.reread()
    assert [atom.content for atom in planned.revised] == ["My dentist is Dr Reyes."]
    assert desk.memory.get(old.id) == old
    done = desk.memory.reread(apply=True)
    new = desk.memory.get(old.id)
    assert (new.content, new.attribute, new.value, new.status) == (
        "My dentist is Dr Reyes.",
        None,
        "Dr Reyes",
        Status.ACTIVE,
    )
    assert done.receipt is not None
    desk.memory.undo(str(done.receipt.commit))
    assert desk.memory.get(old.id).content == old.content
    assert desk.memory.get(old.id).status is Status.SUPERSEDED


def test_a_statement_of_a_sentence_that_states_nothing_is_dropped_and_its_words_stay(desk: Desk) -> None:
    old = made_by_rules(desk, "I live in Rome.", "Ann lives in Rome.")
    again = made_by_rules(desk, "I like green tea.", "Ann likes green tea.")
    desk.commit(again.with_(evidence=old.evidence), verb="extract")
    done = desk.memory.reread(apply=True)
    assert [each.id for each in done.dropped] == [again.id]
    assert "I like green tea." in [hit.text for hit in desk.memory.recall("green tea").hits]
    assert desk.memory.reread().dropped == ()


def test_what_a_person_touched_is_left_alone(desk: Desk) -> None:
    old = made_by_rules(desk, "My dentist is Dr Reyes.", "Ann's dentist is Dr Reyes.")
    desk.memory.revise(old.id, "Ann sees Dr Reyes.", reason="my words")
    assert desk.memory.reread().revised == ()


def test_with_a_chat_model_it_is_refused(desk: Desk) -> None:
    settings = Settings(embedder="none", watch=False, background=False, chat="openai:m")
    with Memory(desk.root, settings=settings) as memory, pytest.raises(Refused, match="chat model"):
        memory.reread()
