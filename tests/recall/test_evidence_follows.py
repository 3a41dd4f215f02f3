"""Evidence follows its facts: what is over gives its slot to what took its place, and nothing is rewritten."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledge import Ledge, link
from town import DAY, NOON, opened, texts

from lamina import Atom, Hit
from lamina.atom.relation import RelationName
from lamina.atom.status import Status

OLD, NEW = "My dentist is Dr Reyes.", "From March my dentist is Dr Moss."
WHO = "who is the dentist?"


@pytest.fixture(params=["none", "light"])
def ledge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledge]:
    made = Ledge(tmp_path / "vault", request.param)
    yield made
    made.memory.close()


def changed(ledge: Ledge, first: str = OLD, then: str = NEW, **fields: Any) -> tuple[Atom, Atom]:
    """A value and the one that took its place, each with its words."""
    ledge.say(first, at=NOON - 9 * DAY)
    old = ledge.states("Ann's dentist is Dr Reyes.", OLD, attribute="dentist", value="Dr Reyes")
    ledge.say(then, at=NOON - DAY)
    new = ledge.atom("Ann's dentist is Dr Moss.", then, attribute="dentist", value="Dr Moss", observed_at=NOON - DAY)
    return old, ledge.replace(old, new, **fields)


def only(found: tuple[Hit, ...], words: str) -> Hit:
    (hit,) = [each for each in found if words in each.text]
    return hit


# The slot of what is over


def test_the_successor_takes_the_slot_and_the_score_of_what_is_over(ledge: Ledge) -> None:
    ledge.say("Reyes is my dentist; Dr Reyes pulls teeth.", at=NOON - 9 * DAY)
    ledge.say("It is Moss who looks after me.", at=NOON - DAY)
    ledge.say("A Reyes plays the lute.")
    old = ledge.states("Ann's dentist is Reyes.", "Reyes is my dentist; Dr Reyes pulls teeth.")
    ledge.replace(old, ledge.atom("Moss looks after Ann.", "It is Moss who looks after me."))
    before = only(ledge.memory.recall("Dr Reyes the dentist", include="history").hits, "teeth")
    hits = ledge.memory.recall("Dr Reyes the dentist").hits
    assert hits[0].text == "It is Moss who looks after me."
    assert (hits[0].terms, hits[0].weights) == (before.terms, before.weights)
    assert hits[0].instead_of is not None
    assert hits[0].instead_of.atom_id == before.atom.id
    assert f"in place of …{before.atom.id[-6:]} (superseded)" in hits[0].why
    assert not hits[0].flagged
    assert "teeth" not in " ".join(hit.text for hit in hits)


def test_a_successor_that_is_found_anyway_is_shown_once(ledge: Ledge) -> None:
    changed(ledge)
    assert texts(ledge.memory.recall(WHO)) == [NEW]
    assert [statement.content for statement in ledge.memory.recall(WHO).hits[0].statements] == [
        "Ann's dentist is Dr Moss."
    ]


def test_a_question_that_names_only_the_old_value_leads_to_the_end_of_the_chain(ledge: Ledge) -> None:
    _, new = changed(ledge)
    ledge.say("Dr Okafor took me on.", at=NOON - DAY / 2)
    ledge.replace(new, ledge.atom("Ann's dentist is Dr Okafor.", "Dr Okafor took me on."), since=NOON - DAY / 2)
    assert texts(ledge.memory.recall("Reyes")) == ["Dr Okafor took me on."]
    assert texts(ledge.memory.recall("Moss")) == ["Dr Okafor took me on."]


def test_however_long_a_chain_is_its_end_takes_the_slot(ledge: Ledge) -> None:
    names = ["Reyes", "Moss", "Okafor", "Lund", "Petrov", "Sato", "Brandt"]
    for n, name in enumerate(names):
        ledge.say(f"{name} looks after my teeth.", at=NOON - (9 - n) * DAY)
    made = ledge.states("Ann's dentist is Reyes.", "Reyes looks after my teeth.")
    for n, name in enumerate(names[1:], 1):
        new = ledge.atom(f"Ann's dentist is {name}.", f"{name} looks after my teeth.")
        made = ledge.replace(made, new, since=NOON - (9 - n) * DAY)
    for name in names:
        assert texts(ledge.memory.recall(f"is it {name}?")) == ["Brandt looks after my teeth."]
    (hit,) = ledge.memory.recall("is it Reyes?", as_of=NOON - 6 * DAY).hits
    assert (hit.text, hit.marks) == ("Lund looks after my teeth.", ("historical",))


def test_what_was_wrong_gives_way_like_what_changed(ledge: Ledge) -> None:
    changed(ledge, status=Status.INVALIDATED)
    assert texts(ledge.memory.recall("Reyes")) == [NEW]


def test_an_assistants_echo_goes_with_what_it_echoed(ledge: Ledge) -> None:
    old, _ = changed(ledge)
    ledge.say("Reyes, you said.", speaker="assistant")
    old = ledge.memory.get(old.id)
    ledge.put(old.with_(evidence=(*old.evidence, ledge.place("Reyes, you said."))))
    assert texts(ledge.memory.recall("is it Reyes?")) == [NEW]


def test_a_successor_whose_words_are_gone_or_say_something_else_stands_for_itself(ledge: Ledge) -> None:
    changed(ledge, then="He it is.")
    assert texts(ledge.memory.recall("Reyes"))[0] == "Ann's dentist is Dr Moss."


def test_a_mode_without_words_shows_the_statement(ledge: Ledge) -> None:
    changed(ledge)
    assert texts(ledge.memory.recall("Reyes", mode="facts_only")) == ["Ann's dentist is Dr Moss."]


def test_a_statement_without_words_that_was_replaced_leads_to_its_successor(ledge: Ledge) -> None:
    old = ledge.states("The boiler is a Vaillant.", subject="boiler", attribute="make", value="Vaillant")
    new = ledge.replace(old, ledge.atom("The boiler is a Junkers.", subject="boiler"))
    for question in ("where is the Vaillant?", "boiler"):
        (hit,) = ledge.memory.recall(question).hits
        assert hit.atom.id == new.id
        assert not hit.flagged
    # On static vectors the successor is found by itself, before the old words lead to it.
    if ledge.memory.settings.embedder != "light":
        assert ledge.memory.recall("where is the Vaillant?").hits[0].instead_of is not None


def test_the_terms_still_add_and_the_weights_still_multiply(ledge: Ledge) -> None:
    changed(ledge)
    for question in ("Reyes", WHO, "Moss the dentist"):
        for hit in ledge.memory.recall(question).hits:
            told: Any = hit.explain()
            assert abs(max(0.0, sum(told["terms"].values())) - told["relevance"]) < 1e-9
            assert abs(told["relevance"] * prod(told["weights"].values()) - told["score"]) < 1e-9
            assert told["instead_of"] == ([] if hit.instead_of is None else told["instead_of"])
            assert len(hit.why.splitlines()) == 1


def test_undoing_the_change_restores_the_words(ledge: Ledge) -> None:
    changed(ledge)
    ledge.memory.undo()
    assert OLD in texts(ledge.memory.recall("Reyes"))


# Sentences beside others


def test_a_sentence_that_is_over_is_elided_and_points_on_while_the_passage_stays(ledge: Ledge) -> None:
    said = f"My sister Ola lives in Bergen. {OLD} She likes it."
    ledge.say(said)
    old = ledge.states("Ann's dentist is Dr Reyes.", OLD)
    ledge.say(NEW, at=NOON - DAY)
    new = ledge.replace(old, ledge.atom("Ann's dentist is Dr Moss.", NEW))
    hit = ledge.memory.recall("where does Ola live?").hits[0]
    assert hit.text == f"My sister Ola lives in Bergen. [superseded, see …{new.id[-6:]}] She likes it."
    assert hit.passage.text == said
    assert not hit.flagged
    assert "Reyes" not in ledge.memory.recall("where does Ola live?").context()
    both = ledge.memory.recall("who is Ola's dentist?").hits
    assert {hit.text for hit in both} >= {NEW, hit.text}


def test_what_was_taken_back_is_dropped_or_elided(ledge: Ledge) -> None:
    ledge.say("My gate code is 4711.", f"My gate code is 4711 too. {OLD}")
    gone = ledge.states("Ann's gate code is 4711.", "My gate code is 4711.", "My gate code is 4711 too.")
    ledge.end(gone, Status.TOMBSTONED)
    assert ledge.memory.recall("gate code").hits == ()
    (hit,) = ledge.memory.recall("dentist").hits
    assert hit.text == f"[taken back] {OLD}"
    for asked in (ledge.memory.recall("what was the gate code before?"), ledge.memory.recall("4711", as_of=NOON)):
        assert "4711" not in " ".join(hit.text for hit in asked.hits)
    assert any("4711" in hit.text and hit.flagged for hit in ledge.memory.recall("4711", include="history").hits)


def test_a_sentence_of_which_one_part_holds_is_told_by_that_part(ledge: Ledge) -> None:
    both = "My dentist is Dr Reyes and my gym is the Ironworks."
    ledge.say(both)
    old = ledge.states("Ann's dentist is Dr Reyes.", both)
    ledge.states("Ann's gym is the Ironworks.", both)
    ledge.replace(old, ledge.atom("Ann's dentist is Dr Moss."))
    found = texts(ledge.memory.recall("gym"))
    assert found[0] == "Ann's gym is the Ironworks."
    assert "Reyes" not in " ".join(found)


def test_a_reason_that_changed_is_replaced_in_its_sentence(ledge: Ledge) -> None:
    reason = "the boat lies on Lough Derg"
    ledge.say("The boat lies on Lough Derg.", f"I rent berth 12 because {reason}.")
    old = ledge.states("The boat lies on Lough Derg.", "The boat lies on Lough Derg.", reason)
    ledge.states(
        "Ann rents berth 12.",
        f"I rent berth 12 because {reason}.",
        status=Status.CHALLENGED,
        relations=link(RelationName.DEPENDS_ON, old),
    )
    ledge.say("The boat lies on Lake Balaton.", at=NOON - DAY)
    new = ledge.atom("The boat lies on Lake Balaton.", "The boat lies on Lake Balaton.")
    ledge.replace(old, new)
    hit = only(ledge.memory.recall("which berth do I rent?").hits, "berth 12")
    assert hit.text == f"I rent berth 12 because [reason superseded, see …{new.id[-6:]}]."
    assert hit.marks == ("disputed", "rests on something that changed")
    assert "Derg" not in " ".join(texts(ledge.memory.recall("where does the boat lie?")))


def test_what_waits_for_review_says_nothing_of_its_sentence(ledge: Ledge) -> None:
    ledge.say(OLD)
    ledge.states("Ann's dentist is Dr Reyes.", OLD, status=Status.CONSTRAINED)
    (hit,) = ledge.memory.recall(WHO).hits
    assert (hit.text, hit.marks) == (OLD, ())


def test_what_ran_out_by_itself_is_labelled_and_kept(ledge: Ledge) -> None:
    ledge.say("I stay in Rome until Friday.")
    ledge.states("Ann stays in Rome.", "I stay in Rome until Friday.", valid_until=NOON - DAY)
    (hit,) = ledge.memory.recall("Rome").hits
    assert (hit.text, hit.marks, hit.flagged) == ("I stay in Rome until Friday.", ("historical",), True)


def test_words_stay_when_their_statement_is_merged_into_another_or_compacted(ledge: Ledge) -> None:
    ledge.say(OLD, "My gym is the Ironworks.")
    one = ledge.states("Ann's dentist is Dr Reyes.", OLD)
    ledge.replace(one, ledge.atom("Ann goes to Dr Reyes."), Status.MERGED)
    other = ledge.states("Ann's gym is the Ironworks.", "My gym is the Ironworks.")
    ledge.replace(other, ledge.atom("Ann trains at the Ironworks.", derived_from=(other.id,)))
    assert OLD in texts(ledge.memory.recall("dentist"))
    assert "My gym is the Ironworks." in texts(ledge.memory.recall("gym"))


def test_what_is_announced_is_flagged_until_its_day(ledge: Ledge) -> None:
    old, _ = changed(ledge, since=NOON + DAY)
    ledge.put(ledge.memory.get(old.id).with_(status=Status.SUPERSEDED))
    held = {hit.text: hit.marks for hit in ledge.memory.recall(WHO).hits}
    assert held[NEW] == ("announced",)
    assert OLD in held


# The sentence that makes the change


def test_the_sentence_that_makes_a_change_is_shown_whole_with_both_values(ledge: Ledge) -> None:
    said = "We dropped Dr Reyes, so my dentist is Dr Moss."
    _, new = changed(ledge, then=said)
    found = ledge.memory.recall(WHO)
    (hit,) = found.hits
    assert (hit.text, hit.marks, hit.flagged) == (said, ("transition",), False)
    assert [(transition.was, transition.now, transition.since) for transition in hit.transitions] == [
        ("Dr Reyes", "Dr Moss", new.valid_from)
    ]
    assert "was Dr Reyes, now Dr Moss" in hit.why
    assert "transition; was Dr Reyes, now Dr Moss]" in found.context()


def test_a_sentence_that_names_only_the_new_value_is_no_transition(ledge: Ledge) -> None:
    changed(ledge)
    (hit,) = ledge.memory.recall(WHO).hits
    assert (hit.marks, hit.transitions) == ((), ())


# Doubt


def test_what_a_later_statement_may_contradict_stands_behind_it_and_is_labelled(ledge: Ledge) -> None:
    ledge.say("The club meets on Tuesday, the club does.", at=NOON - 9 * DAY)
    ledge.say("The club prefers Friday.", at=NOON - DAY)
    older = ledge.states("The club meets on Tuesday.", "The club meets on Tuesday, the club does.")
    assert texts(ledge.memory.recall("when does the club meet on Tuesday?"))[0].startswith("The club meets")
    ledge.states(
        "The club prefers Friday.", "The club prefers Friday.", relations=link(RelationName.CONTRADICTS, older, 0.5)
    )
    first, second = ledge.memory.recall("when does the club meet on Tuesday?").hits
    assert (first.text, first.marks) == ("The club prefers Friday.", ())
    assert (second.marks, second.flagged) == (("possibly outdated",), True)
    assert [each.atom_id for each in first.before] == [older.id]
    assert f"before …{older.id[-6:]}, which it may replace" in first.why
    assert first.score < second.score


def test_a_sure_contradiction_labels_nothing(ledge: Ledge) -> None:
    older = ledge.states("The club meets on Tuesday.")
    ledge.states("The club meets on Friday.", relations=link(RelationName.CONTRADICTS, older, 0.9))
    assert [hit.marks for hit in ledge.memory.recall("club").hits] == [(), ()]


@pytest.mark.parametrize(("hops", "marked"), [(1, True), (5, True), (6, False)])
def test_what_rests_on_a_change_is_marked_over_five_statements(ledge: Ledge, hops: int, marked: bool) -> None:
    first = last = ledge.states("Step 0 is so.")
    for n in range(1, hops + 1):
        last = ledge.states(f"Step {n} is so.", relations=link(RelationName.DEPENDS_ON, last))
    assert only(ledge.memory.recall("step").hits, f"Step {hops} ").marks == ()
    ledge.end(first, Status.INVALIDATED)
    hit = only(ledge.memory.recall("step").hits, f"Step {hops} ")
    assert hit.marks == (("rests on something that changed",) if marked else ())
    assert hit.flagged == marked


def test_the_words_of_a_doubted_statement_are_shown_as_disputed(ledge: Ledge) -> None:
    ledge.say(OLD)
    ledge.states("Ann's dentist is Dr Reyes.", OLD, status=Status.CHALLENGED)
    found = ledge.memory.recall(WHO)
    (hit,) = found.hits
    assert (hit.text, hit.marks, hit.flagged, hit.statements) == (OLD, ("disputed",), True, ())
    assert found.context().splitlines()[1] == "## disputed"


def test_a_doubted_statement_is_shown_where_nothing_better_is_known(ledge: Ledge) -> None:
    ledge.states("The bird is a parrot.", status=Status.CHALLENGED)
    (hit,) = ledge.memory.recall("the parrot").hits
    assert (hit.marks, hit.flagged) == (("challenged",), True)
    ledge.states("The parrot is a parrot.")
    assert texts(ledge.memory.recall("the parrot")) == ["The parrot is a parrot."]


def test_a_doubted_statement_that_speaks_against_one_that_holds_is_not_shown(ledge: Ledge) -> None:
    holds = ledge.states("The safe is blue.")
    ledge.states("The code is 9.", status=Status.CHALLENGED, relations=link(RelationName.CONTRADICTS, holds, 0.9))
    assert "The code is 9." not in texts(ledge.memory.recall("code"))


# Order


def test_a_question_stands_behind_what_a_person_claims(ledge: Ledge) -> None:
    ledge.say(
        "Do we sail on Lake Iseo? Do we sail some day?",
        "On and on.",
        "We sail on Lough Derg, the four of us and the dog, whatever the weather is.",
    )
    found = ledge.memory.recall("where do we sail?").hits
    claims, supposes = (only(found, lake) for lake in ("Lough Derg", "Lake Iseo"))
    assert found.index(claims) < found.index(supposes)


def test_a_guess_that_speaks_of_more_of_the_question_keeps_its_place(ledge: Ledge) -> None:
    ledge.say("Perhaps we will sail on Lake Iseo some day.", "We sail on Lough Derg.")
    assert "Iseo" in ledge.memory.recall("do we sail on Lake Iseo?").hits[0].text


def test_what_is_announced_stands_behind_what_holds_until_then(ledge: Ledge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["lamina.recall.recall"], "add_state_terms", lambda *given, **named: None)
    ledge.say("The library closes at six, I think, or thereabouts.", at=NOON - 9 * DAY)
    ledge.say("The library closes at eight, the library closes late.", at=NOON - DAY)
    old = ledge.states("The library closes at six.", "The library closes at six, I think, or thereabouts.")
    new = ledge.atom("The library closes at eight.", "The library closes at eight, the library closes late.")
    new = new.with_(valid_from=NOON + DAY, supersedes=(old.id,))
    ledge.put(new, old.with_(valid_until=NOON + DAY, superseded_by=(new.id,)))
    first, second = ledge.memory.recall("when does the library close?").hits
    assert (first.marks, second.marks) == ((), ("announced",))
    assert [(each.atom_id, each.reason) for each in first.before] == [(new.id, "which is only announced")]


# The past


@pytest.mark.parametrize(("status", "mark"), [(Status.SUPERSEDED, "superseded"), (Status.INVALIDATED, "wrong")])
def test_asked_for_history_what_is_over_is_shown_flagged(ledge: Ledge, status: Status, mark: str) -> None:
    changed(ledge, status=status)
    for found in (ledge.memory.recall(WHO, include="history"), ledge.memory.recall("who was the dentist before?")):
        marks = {hit.text: hit.marks for hit in found.hits}
        assert marks[OLD] == (mark,)
        assert marks[NEW] == ()


def test_a_question_about_the_past_finds_replaced_statements_without_words(ledge: Ledge) -> None:
    old = ledge.states("The boiler is a Vaillant.", subject="boiler")
    ledge.replace(old, ledge.atom("The boiler is a Junkers.", subject="boiler"))
    marks = {hit.text: hit.marks for hit in ledge.memory.recall("what was the original boiler?").hits}
    assert marks == {"The boiler is a Vaillant.": ("superseded",), "The boiler is a Junkers.": ()}


def test_as_of_a_moment_what_held_then_is_shown_and_what_did_not_is_not(ledge: Ledge) -> None:
    _, new = changed(ledge, since=NOON - 5 * DAY)
    ledge.say("Dr Okafor took me on.", at=NOON - DAY)
    ledge.replace(new, ledge.atom("Ann's dentist is Dr Okafor.", "Dr Okafor took me on."))
    then = ledge.memory.recall("the dentist", as_of=NOON - 7 * DAY).hits
    assert [(hit.text, hit.marks) for hit in then] == [(OLD, ("historical",))]
    between = " ".join(texts(ledge.memory.recall("Reyes the dentist", as_of=NOON - 3 * DAY)))
    assert "Moss" in between
    assert "Reyes" not in between
    assert "Okafor" not in between


# Whatever happens


def test_the_plain_ranking_elides_too(ledge: Ledge) -> None:
    _, new = changed(ledge, first=f"{OLD} I like tea.")
    shown = {hit.text for hit in ledge.memory.recall("dentist", ranking="plain").hits}
    assert not any("Reyes" in text for text in shown)
    assert any(f"[superseded, see …{new.id[-6:]}] I like tea." in text for text in shown)


def test_the_marks_come_back_from_the_files(tmp_path: Path) -> None:
    ledge = Ledge(tmp_path / "vault")
    changed(ledge, first=f"{OLD} I like tea.", then="We dropped Dr Reyes, so my dentist is Dr Moss.")
    asked = ("Reyes", "tea", WHO)
    ledge.memory.sync()
    before = [[(hit.text, hit.marks, hit.why) for hit in ledge.memory.recall(each).hits] for each in asked]
    ledge.memory.close()
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    with opened(tmp_path / "vault", "none", extractor="none") as again:
        again.sync()
        assert [[(hit.text, hit.marks, hit.why) for hit in again.recall(each).hits] for each in asked] == before


_ENDS = st.sampled_from([None, Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_ENDS, min_size=1, max_size=3), min_size=1, max_size=4), st.booleans())
def test_no_sentence_that_is_over_is_ever_shown(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[Status | None]], heirs: bool
) -> None:
    ledge = Ledge(tmp_path_factory.mktemp("vault") / "vault")
    try:
        told = [[f"Thing{n} part{m} is word{n}x{m}." for m, _ in enumerate(turn)] for n, turn in enumerate(turns)]
        ledge.say(*(" ".join(turn) for turn in told))
        over = []
        for sentence, end in (
            (each, end) for t, turn in zip(told, turns, strict=True) for each, end in zip(t, turn, strict=True)
        ):
            made = ledge.states(sentence, sentence, subject="thing")
            if end in (Status.SUPERSEDED, Status.INVALIDATED) and heirs:
                ledge.replace(made, ledge.atom(sentence.replace("word", "fresh"), subject="thing"), end)
            elif end is not None:
                ledge.end(made, end)
            over += [sentence] if end is not None else []
        every = [word for turn in told for sentence in turn for word in sentence.rstrip(".").split()]
        for question in (*dict.fromkeys(every), " ".join(every)):
            shown = ledge.memory.recall(question, 50)
            for text in (*texts(shown), shown.context(100_000)):
                assert not any(sentence.split()[-1].rstrip(".") in text for sentence in over)
    finally:
        ledge.memory.close()


@pytest.mark.parametrize("how", [{}, {"fast": True}, {"ranking": "plain"}])
def test_words_of_which_nothing_is_left_take_no_slot(ledge: Ledge, how: dict[str, Any]) -> None:
    ledge.say("The ferry leaves from the north quay at dawn.", "My tattoo is a ferry at dawn.")
    ledge.say("The ferry goes round the island.", at=NOON - DAY)
    north = ledge.states("The ferry leaves from the north quay.", "The ferry leaves from the north quay at dawn.")
    ledge.end(north, Status.SUPERSEDED)
    ledge.end(ledge.states("Ann's tattoo is a ferry.", "My tattoo is a ferry at dawn."), Status.TOMBSTONED)
    for k in (1, 5):
        (hit,) = ledge.memory.recall("the ferry from the north quay at dawn", k, **how).hits
        assert "goes round the island" in hit.text
    told = ledge.memory.recall("the ferry from the north quay at dawn", include="history", **how).hits
    assert all(hit.flagged == ("island" not in hit.text) for hit in told)
    assert not any(hit.text.startswith("[") for hit in told)
