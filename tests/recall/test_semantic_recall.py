"""What recall uses beyond words: meaning, speakers, time, roles, languages, near duplicates and a relevance floor.

Covers `lamina.recall.candidate_search`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from town_conversations import (
    DAY,
    EMBEDDERS,
    NOON,
    capture_session,
    needs_minilm,
    open_memory,
    populate,
    remember_facts,
    texts,
)

from lamina import InvalidScope, Memory
from lamina.recall.scoring_profiles import NAMED_SPEAKER, SAID_AT_TIME, SAID_BY_ASSISTANT

MODELS = ["light", pytest.param("minilm", marks=needs_minilm)]


@pytest.fixture(params=MODELS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "vault", request.param) as result:
        yield result


def small_talk(memory: Memory, sessions: int = 6, at: datetime = NOON - 9 * DAY) -> None:
    """Turns about other things."""
    for n in range(sessions):
        capture_session(
            memory,
            ("Carla", f"The printer on floor {n} is out of paper again."),
            ("Dmitri", f"I will order {n + 2} boxes this afternoon."),
            ("Carla", "Please ask for the recycled kind."),
            ("Dmitri", "Will do, they deliver on Mondays."),
            session=f"office {n}",
            at=at,
        )


def test_a_question_finds_an_answer_without_a_shared_word(memory: Memory) -> None:
    small_talk(memory)
    capture_session(memory, ("Ann", "We adopted a greyhound from the shelter."), session="walk")
    assert texts(memory.recall("do they have a dog?"))[0] == "We adopted a greyhound from the shelter."


def test_an_answer_is_found_through_the_question_before_it(memory: Memory) -> None:
    small_talk(memory)
    capture_session(
        memory,
        ("Bob", "Did you spend your holiday by the sea again?"),
        ("Ann", "Yes, in Lisbon!"),
        ("Bob", "How nice."),
        ("Ann", "The parking garage was full."),
        session="phone",
    )
    capture_session(memory, ("Ann", "The tram in Lisbon was full."), session="tram")
    result = memory.recall("where did Ann spend her holiday by the sea?")
    assert "Yes, in Lisbon!" in texts(result)[:2]
    terms = dict(next(hit for hit in result.hits if hit.text == "Yes, in Lisbon!").terms)
    assert terms["window"] > 2 * terms["passage"]
    fast = memory.recall("where did Ann spend her holiday by the sea?", fast=True)
    assert texts(fast).index("Yes, in Lisbon!") >= texts(result).index("Yes, in Lisbon!")


def test_the_speaker_a_question_names_is_preferred(memory: Memory) -> None:
    capture_session(memory, ("Ann", "I bought a kayak."), session="one")
    capture_session(memory, ("Bob", "I bought a kayak."), session="other")
    small_talk(memory)
    for name in ("Ann", "Bob"):
        result = memory.recall(f"what did {name} buy?")
        assert (result.hits[0].passage.speaker, result.hits[0].text) == (name, "I bought a kayak.")
        assert dict(result.hits[0].terms)["speaker"] == pytest.approx(NAMED_SPEAKER)
        assert "speaker" not in dict(result.hits[1].terms)
    assert "speaker" not in dict(memory.recall("who bought a kayak?").hits[0].terms)


def test_the_time_a_question_names_is_preferred(memory: Memory) -> None:
    for n, day in enumerate((3, 12, 21, 30)):
        capture_session(
            memory,
            ("Ann", f"I went swimming, lane {n}."),
            session=f"swim {n}",
            at=datetime(2026, 10, day, 9, tzinfo=NOON.tzinfo),
        )
    small_talk(memory)
    result = memory.recall("where did Ann swim on 12 October 2026?")
    assert result.hits[0].text == "I went swimming, lane 1."
    assert dict(result.hits[0].terms)["time"] == pytest.approx(SAID_AT_TIME)
    assert dict(result.understood)["time"] == "12 October 2026"
    assert all("time" not in dict(hit.terms) for hit in memory.recall("where did Ann swim?").hits)


def test_assistant_turns_rank_first_on_request_and_last_otherwise(memory: Memory) -> None:
    capture_session(
        memory,
        ("user", "I would like to read a novel set at sea."),
        ("assistant", "A novel set at sea: try Moby-Dick."),
        session="books",
    )
    small_talk(memory)
    result = memory.recall("which novel set at sea did you recommend?")
    assert result.hits[0].passage.speaker == "assistant"
    assert dict(result.hits[0].terms)["speaker"] == pytest.approx(SAID_BY_ASSISTANT)
    other = memory.recall("a novel set at sea")
    machine = next(hit for hit in other.hits if hit.passage.speaker == "assistant")
    assert dict(machine.terms)["speaker"] == pytest.approx(memory.settings.assistant_prior) == pytest.approx(-0.12)
    assert other.hits[0].passage.speaker == "user"


def test_the_weight_of_assistant_turns_is_a_setting(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "light", assistant_prior=0.0) as memory:
        capture_session(memory, ("user", "I like the sea."), ("assistant", "The sea is large and blue."))
        assert all("speaker" not in dict(hit.terms) for hit in memory.recall("the blue sea").hits)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Wir haben einen Windhund aus dem Tierheim.", "Was für einen Hund aus dem Tierheim habt ihr?"),
        ("Nous avons adopté un lévrier au refuge.", "Quel chien du refuge avons-nous adopté ?"),
        ("我们从收容所领养了一只狗。", "我们领养了什么？"),
    ],
)
def test_another_language_is_neutral(memory: Memory, text: str, question: str) -> None:
    small_talk(memory)
    capture_session(memory, ("Ann", text), session="other")
    result = memory.recall(question)
    assert result.hits[0].text == text
    assert not {"speaker", "time"} & set(dict(result.hits[0].terms))
    assert dict(result.understood) == {"shape": "factual"}


def test_a_name_of_another_script_is_a_speaker_too(memory: Memory) -> None:
    capture_session(memory, ("Дмитрий", "I bought a kayak."), ("Ann", "I bought a canoe."))
    assert dict(memory.recall("what did Дмитрий buy?").understood)["speakers"] == "Дмитрий"


def test_the_plain_ranking_is_the_same_with_every_model(tmp_path: Path) -> None:
    actual = []
    with open_memory(tmp_path / "vault", "light") as memory:
        populate(memory, sessions=4)
    for embedder in ("none", "light"):
        with open_memory(tmp_path / "vault", embedder) as memory:
            result = memory.recall("Ann lives in", ranking="plain")
            assert result.model == "plain"
            assert dict(result.hits[0].terms)["exact"] == 100
            actual.append([(hit.atom.id, hit.score) for hit in result.hits])
    assert actual[0] == actual[1]


def test_only_the_requested_scopes_answer(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "light", "org:local:agent:ann") as memory:
        shared, text = (
            remember_facts(memory, "The dog is a greyhound."),
            remember_facts(memory, "A parrot.", private=True),
        )
        question = "which animal is it?"
        assert {hit.atom.id for hit in memory.recall(question).hits} == {shared, text}
        assert [hit.atom.id for hit in memory.recall(question, scopes=["org:local"]).hits] == [shared]
        assert {hit.atom.id for hit in memory.recall(question, scopes=["org:local:agent:ann"]).hits} == {shared, text}
        with pytest.raises(InvalidScope):
            memory.recall(question, scopes=["org:other"])


def test_ended_and_challenged_memories_match_semantically_only_on_request(memory: Memory) -> None:
    text = remember_facts(memory, "The dog is a greyhound.")
    doubted = remember_facts(memory, "The bird is a parrot.")
    memory.forget(text, "sold")
    memory.update_status(doubted, "challenged", "who says so?")
    question = "which animals do we keep?"
    assert memory.recall(question).hits == ()
    assert [hit.marks for hit in memory.recall(question, include="history").hits] == [("tombstoned",)]
    assert [hit.marks for hit in memory.recall(question, include=["challenged"]).hits] == [("challenged",)]
    assert len(memory.recall(question, include=("history", "challenged")).hits) == 2


def test_a_mode_applies_to_semantic_matches_too(memory: Memory) -> None:
    remember_facts(memory, "The dog is a greyhound.")
    remember_facts(memory, "Walk the greyhound twice a day.", kind="rule")
    capture_session(memory, ("Ann", "Oh, what a lovely greyhound!"))
    assert texts(memory.recall("the pet", mode="facts_only")) == ["The dog is a greyhound."]
    assert len(memory.recall("the pet", mode="facts_plus_rules").hits) == 2
    assert len(memory.recall("the pet").hits) == 3


@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_near_duplicates_share_one_slot_and_the_fold_is_reported(tmp_path: Path, embedder: str) -> None:
    with open_memory(tmp_path / "vault", embedder) as memory:
        for n in range(3):
            capture_session(memory, ("Ann", "The meeting room is on the second floor."), session=f"s{n}")
        capture_session(memory, ("Ann", "The meeting room is not on the second floor."), session="not")
        capture_session(memory, ("Bob", "The meeting room is on the second floor."), session="bob")
        hits = memory.recall("where is the meeting room on the floor?").hits
        assert len(hits) == 3
        folding = [hit for hit in hits if hit.folded]
        assert [len(hit.folded) for hit in folding] == [2]
        folded = folding[0].explain()["folded"]
        assert isinstance(folded, list)
        places = {(memory.get(id_).session_id, n) for id_, n in [*folded, (folding[0].atom.id, folding[0].passage.n)]}
        assert places == {("s0", 1), ("s1", 1), ("s2", 1)}


def test_a_hundred_hits_can_be_requested(memory: Memory) -> None:
    populate(memory, sessions=12)
    result = memory.recall("what happened in the town?", 100)
    assert len(result.hits) > 60
    by_score = [hit.score for hit in result.hits if not hit.before]
    assert len(by_score) > 50
    assert by_score == sorted(by_score, reverse=True)


@pytest.mark.parametrize(
    "question",
    [
        "what is the boiling point of tungsten?",
        "who won the chess final in Baku?",
        "which instrument does her grandmother play?",
        "how was the weather on the mountain?",
    ],
)
def test_an_unrelated_question_has_no_relevant_hit(memory: Memory, question: str) -> None:
    small_talk(memory, sessions=50, at=NOON - timedelta(days=60))
    assert sum(atom.is_segment for atom in memory.list(limit=None)) == 50
    result = memory.recall(question)
    assert result.hits
    assert result.relevant == ()
    assert "nothing known" in result.context()


def test_a_question_about_a_stored_fact_has_a_relevant_hit(memory: Memory) -> None:
    small_talk(memory, sessions=20)
    assert memory.recall("which printer is out of paper?").relevant
