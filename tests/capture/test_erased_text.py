"""Words that come in are compared with what was erased: cheaply, and only where something was."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lamina.atom.provenance import Origin, Scope
from lamina.capture.caller_input import Conversation, parse_conversation, parse_turns
from lamina.capture.erased_text import find_erased_statements, remove_erased_sentences
from lamina.capture.store_reads import StoreReads
from vault_workspace import VaultWorkspace

LOCAL = Scope("org:local")
SENTENCE = "The code of the boathouse is kavodumbitarozk."


def conversation(workspace: VaultWorkspace, *texts: str, hours: float = 0.0) -> Conversation:
    at = workspace.clock.at + timedelta(hours=hours)
    return parse_conversation(parse_turns([{"speaker": "user", "content": text} for text in texts]), "call", None, at)


def accepted_pieces(
    workspace: VaultWorkspace, words: Conversation, origin: Origin = Origin.HUMAN, scope: Scope = LOCAL
) -> list[str]:
    return [
        piece.text
        for piece in remove_erased_sentences(
            words, origin, scope, StoreReads(workspace.memory.engine.store), workspace.clock.at
        ).pieces
    ]


@pytest.fixture
def erased(workspace: VaultWorkspace) -> VaultWorkspace:
    fields = {"subject": "boathouse", "attribute": "code", "value": "kavodumbitarozk"}
    workspace.memory.erase(workspace.remember(SENTENCE, **fields).id, "private")
    return workspace


def test_without_erasures_text_is_accepted_unchanged(workspace: VaultWorkspace) -> None:
    words = conversation(workspace, SENTENCE)
    assert (
        remove_erased_sentences(words, Origin.WEB, LOCAL, StoreReads(workspace.memory.engine.store), workspace.clock.at)
        is words
    )
    assert find_erased_statements([workspace.remember(SENTENCE)], StoreReads(workspace.memory.engine.store)) == {}


def test_text_from_before_the_erasure_is_accepted_without_the_erased_part(erased: VaultWorkspace) -> None:
    assert accepted_pieces(erased, conversation(erased, f"Hello. {SENTENCE.upper()} Bye.", "It rains.", hours=-1)) == [
        "Hello. [erased] Bye.",
        "It rains.",
    ]


def test_later_text_is_accepted_from_people_and_from_no_one_else(erased: VaultWorkspace) -> None:
    words = conversation(erased, SENTENCE, hours=1)
    assert accepted_pieces(erased, words) == accepted_pieces(erased, words, Origin.AGENT) == [SENTENCE]
    for origin in (Origin.IMPORT, Origin.DOCUMENT, Origin.TOOL, Origin.WEB):
        assert accepted_pieces(erased, words, origin) == ["[erased]"]


def test_an_erased_value_in_other_words_is_recognised_by_its_slot(erased: VaultWorkspace) -> None:
    before = conversation(erased, "At the boathouse use kavodumbitarozk.", "I met kavodumbitarozk in Porto.", hours=-1)
    assert accepted_pieces(erased, before) == ["[erased]", "I met kavodumbitarozk in Porto."]


def test_an_old_transcript_without_times_is_distinguished_from_a_new_statement(workspace: VaultWorkspace) -> None:
    turns = ["I am at the lake today.", f"{SENTENCE} Do not tell.", "Fine."]
    workspace.memory.capture([{"speaker": "user", "content": turn} for turn in turns], session_id="call", wait=True)
    atoms = [
        atom for atom in workspace.memory.list(status=None, limit=None) if "kavo" in atom.content and atom.evidence
    ]
    workspace.memory.erase([atom.id for atom in atoms], "private")
    workspace.tick(hours=1)
    again = ["I am at the lake today.", "[erased] Do not tell.", "Fine."]
    assert accepted_pieces(workspace, conversation(workspace, *turns)) == again
    assert accepted_pieces(workspace, conversation(workspace, *turns[:2])) == again[:2]
    assert accepted_pieces(workspace, conversation(workspace, SENTENCE)) == [SENTENCE]
    assert accepted_pieces(workspace, conversation(workspace, "Listen to me now.", SENTENCE, "Fine.")) == [
        "Listen to me now.",
        SENTENCE,
        "Fine.",
    ]
    workspace.memory.capture([{"speaker": "user", "content": turn} for turn in turns], session_id="call", wait=True)
    assert not any("kavodumbitarozk" in atom.content for atom in workspace.memory.list(status=None, limit=None))


def test_an_erasure_applies_to_every_scope_of_the_organisation_and_no_other(erased: VaultWorkspace) -> None:
    words = conversation(erased, SENTENCE, hours=-1)
    assert accepted_pieces(erased, words, scope=Scope("org:local:agent:bot")) == ["[erased]"]
    assert accepted_pieces(erased, words, scope=Scope("org:other")) == [SENTENCE]


def test_the_rest_of_an_erased_turn_is_not_read_for_statements(erased: VaultWorkspace) -> None:
    at = erased.clock.at - timedelta(hours=1)
    turns = [{"speaker": "user", "content": item, "at": at} for item in (SENTENCE, "My dog is called Rex.")]
    receipt = erased.memory.capture(turns, session_id="again", wait=True)
    stated = [outcome.atom.content for outcome in receipt.outcomes if not outcome.atom.is_segment]
    assert len(stated) == 1
    assert "Rex" in stated[0]
