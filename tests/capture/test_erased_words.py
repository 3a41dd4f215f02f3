"""Words that come in are compared with what was erased: cheaply, and only where something was."""

from __future__ import annotations

from datetime import timedelta

import pytest

from desk import Desk
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.capture.conversation import Conversation, parse_conversation
from lamina.capture.draft import parse_turns
from lamina.capture.erased_text import find_erased_statements, remove_erased_sentences

LOCAL = Scope("org:local")
SENTENCE = "The code of the boathouse is kavodumbitarozk."


def said(desk: Desk, *texts: str, hours: float = 0.0) -> Conversation:
    at = desk.clock.at + timedelta(hours=hours)
    return parse_conversation(parse_turns([{"speaker": "user", "content": text} for text in texts]), "call", None, at)


def heard(desk: Desk, words: Conversation, origin: Origin = Origin.HUMAN, scope: Scope = LOCAL) -> list[str]:
    return [
        piece.text for piece in remove_erased_sentences(words, origin, scope, desk.memory._store, desk.clock.at).pieces
    ]


@pytest.fixture
def erased(desk: Desk) -> Desk:
    fields = {"subject": "boathouse", "attribute": "code", "value": "kavodumbitarozk"}
    desk.memory.erase(desk.remember(SENTENCE, **fields).id, "private")
    return desk


def test_where_nothing_was_erased_words_come_in_as_they_are(desk: Desk) -> None:
    words = said(desk, SENTENCE)
    assert remove_erased_sentences(words, Origin.WEB, LOCAL, desk.memory._store, desk.clock.at) is words
    assert find_erased_statements([desk.remember(SENTENCE)], desk.memory._store) == {}


def test_what_was_said_before_the_erasure_comes_in_without_it(erased: Desk) -> None:
    assert heard(erased, said(erased, f"Hello. {SENTENCE.upper()} Bye.", "It rains.", hours=-1)) == [
        "Hello. [erased] Bye.",
        "It rains.",
    ]


def test_a_later_word_is_heard_from_people_and_from_nobody_else(erased: Desk) -> None:
    words = said(erased, SENTENCE, hours=1)
    assert heard(erased, words) == heard(erased, words, Origin.AGENT) == [SENTENCE]
    for origin in (Origin.IMPORT, Origin.DOCUMENT, Origin.TOOL, Origin.WEB):
        assert heard(erased, words, origin) == ["[erased]"]


def test_the_value_in_other_words_is_known_by_what_it_belongs_to(erased: Desk) -> None:
    before = said(erased, "At the boathouse use kavodumbitarozk.", "I met kavodumbitarozk in Porto.", hours=-1)
    assert heard(erased, before) == ["[erased]", "I met kavodumbitarozk in Porto."]


def test_an_old_transcript_without_times_is_told_from_somebody_who_says_it_anew(desk: Desk) -> None:
    turns = ["I am at the lake today.", f"{SENTENCE} Do not tell.", "Fine."]
    desk.memory.capture([{"speaker": "user", "content": turn} for turn in turns], session_id="call", wait=True)
    found = [each for each in desk.memory.list(status=None, limit=None) if "kavo" in each.content and each.evidence]
    desk.memory.erase([each.id for each in found], "private")
    desk.tick(hours=1)
    again = ["I am at the lake today.", "[erased] Do not tell.", "Fine."]
    assert heard(desk, said(desk, *turns)) == again
    assert heard(desk, said(desk, *turns[:2])) == again[:2]
    assert heard(desk, said(desk, SENTENCE)) == [SENTENCE]
    assert heard(desk, said(desk, "Listen to me now.", SENTENCE, "Fine.")) == ["Listen to me now.", SENTENCE, "Fine."]
    desk.memory.capture([{"speaker": "user", "content": turn} for turn in turns], session_id="call", wait=True)
    assert not any("kavodumbitarozk" in each.content for each in desk.memory.list(status=None, limit=None))


def test_every_scope_of_the_organisation_forgets_and_no_other_does(erased: Desk) -> None:
    words = said(erased, SENTENCE, hours=-1)
    assert heard(erased, words, scope=Scope("org:local:agent:bot")) == ["[erased]"]
    assert heard(erased, words, scope=Scope("org:other")) == [SENTENCE]


def test_what_is_left_of_it_is_read_for_no_statement(erased: Desk) -> None:
    at = erased.clock.at - timedelta(hours=1)
    turns = [{"speaker": "user", "content": each, "at": at} for each in (SENTENCE, "My dog is called Rex.")]
    receipt = erased.memory.capture(turns, session_id="again", wait=True)
    stated = [outcome.atom.content for outcome in receipt.outcomes if not outcome.atom.is_segment]
    assert len(stated) == 1
    assert "Rex" in stated[0]
