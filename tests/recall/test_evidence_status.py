"""Ended statements yield their slot to their successors at read time, and nothing is rewritten.

Covers `lamina.recall.passage_rendering`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from handwritten_vault import HandwrittenVault, link
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from town_conversations import DAY, NOON, open_memory, texts

from lamina import Atom, Hit
from lamina.atom.atom import RelationName
from lamina.atom.status import Status

OLD, NEW = "My dentist is Dr Reyes.", "From March my dentist is Dr Moss."
WHO = "who is the dentist?"


@pytest.fixture(params=["none", "light"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HandwrittenVault]:
    handwritten_vault = HandwrittenVault(tmp_path / "vault", request.param)
    yield handwritten_vault
    handwritten_vault.memory.close()


def add_change(vault: HandwrittenVault, first: str = OLD, then: str = NEW, **fields: Any) -> tuple[Atom, Atom]:
    """A value and the one that took its place, each with its words."""
    vault.add_session(first, at=NOON - 9 * DAY)
    old = vault.add_statement("Ann's dentist is Dr Reyes.", OLD, attribute="dentist", value="Dr Reyes")
    vault.add_session(then, at=NOON - DAY)
    new = vault.atom("Ann's dentist is Dr Moss.", then, attribute="dentist", value="Dr Moss", observed_at=NOON - DAY)
    return old, vault.replace(old, new, **fields)


def single_hit(hits: tuple[Hit, ...], words: str) -> Hit:
    (hit,) = [hit for hit in hits if words in hit.text]
    return hit


# The slot of what is over


def test_the_successor_inherits_the_slot_and_the_score_of_its_predecessor(vault: HandwrittenVault) -> None:
    vault.add_session("Reyes is my dentist; Dr Reyes pulls teeth.", at=NOON - 9 * DAY)
    vault.add_session("It is Moss who looks after me.", at=NOON - DAY)
    vault.add_session("A Reyes plays the lute.")
    old = vault.add_statement("Ann's dentist is Reyes.", "Reyes is my dentist; Dr Reyes pulls teeth.")
    vault.replace(old, vault.atom("Moss looks after Ann.", "It is Moss who looks after me."))
    before = single_hit(vault.memory.recall("Dr Reyes the dentist", include="history").hits, "teeth")
    hits = vault.memory.recall("Dr Reyes the dentist").hits
    assert hits[0].text == "It is Moss who looks after me."
    assert (hits[0].terms, hits[0].weights) == (before.terms, before.weights)
    assert hits[0].instead_of is not None
    assert hits[0].instead_of.atom_id == before.atom.id
    assert f"in place of …{before.atom.id[-6:]} (superseded)" in hits[0].why
    assert not hits[0].flagged
    assert "teeth" not in " ".join(hit.text for hit in hits)


def test_a_successor_that_is_a_hit_itself_is_shown_once(vault: HandwrittenVault) -> None:
    add_change(vault)
    assert texts(vault.memory.recall(WHO)) == [NEW]
    assert [statement.content for statement in vault.memory.recall(WHO).hits[0].statements] == [
        "Ann's dentist is Dr Moss."
    ]


def test_a_query_for_only_the_old_value_returns_the_end_of_the_chain(vault: HandwrittenVault) -> None:
    _, new = add_change(vault)
    vault.add_session("Dr Okafor took me on.", at=NOON - DAY / 2)
    vault.replace(new, vault.atom("Ann's dentist is Dr Okafor.", "Dr Okafor took me on."), since=NOON - DAY / 2)
    assert texts(vault.memory.recall("Reyes")) == ["Dr Okafor took me on."]
    assert texts(vault.memory.recall("Moss")) == ["Dr Okafor took me on."]


def test_the_end_of_a_chain_of_any_length_inherits_the_slot(vault: HandwrittenVault) -> None:
    names = ["Reyes", "Moss", "Okafor", "Lund", "Petrov", "Sato", "Brandt"]
    for n, name in enumerate(names):
        vault.add_session(f"{name} looks after my teeth.", at=NOON - (9 - n) * DAY)
    result = vault.add_statement("Ann's dentist is Reyes.", "Reyes looks after my teeth.")
    for n, name in enumerate(names[1:], 1):
        new = vault.atom(f"Ann's dentist is {name}.", f"{name} looks after my teeth.")
        result = vault.replace(result, new, since=NOON - (9 - n) * DAY)
    for name in names:
        assert texts(vault.memory.recall(f"is it {name}?")) == ["Brandt looks after my teeth."]
    (hit,) = vault.memory.recall("is it Reyes?", as_of=NOON - 6 * DAY).hits
    assert (hit.text, hit.marks) == ("Lund looks after my teeth.", ("historical",))


def test_a_corrected_statement_is_replaced_like_a_changed_one(vault: HandwrittenVault) -> None:
    add_change(vault, status=Status.INVALIDATED)
    assert texts(vault.memory.recall("Reyes")) == [NEW]


def test_an_assistants_repetition_is_replaced_with_its_source(vault: HandwrittenVault) -> None:
    old, _ = add_change(vault)
    vault.add_session("Reyes, you said.", speaker="assistant")
    old = vault.memory.get(old.id)
    vault.commit(old.with_(evidence=(*old.evidence, vault.find_evidence("Reyes, you said."))))
    assert texts(vault.memory.recall("is it Reyes?")) == [NEW]


def test_a_successor_with_missing_or_changed_evidence_is_shown_itself(vault: HandwrittenVault) -> None:
    add_change(vault, then="He it is.")
    assert texts(vault.memory.recall("Reyes"))[0] == "Ann's dentist is Dr Moss."


def test_a_mode_without_segments_shows_the_statement(vault: HandwrittenVault) -> None:
    add_change(vault)
    assert texts(vault.memory.recall("Reyes", mode="facts_only")) == ["Ann's dentist is Dr Moss."]


def test_a_superseded_statement_without_evidence_leads_to_its_successor(vault: HandwrittenVault) -> None:
    old = vault.add_statement("The boiler is a Vaillant.", subject="boiler", attribute="make", value="Vaillant")
    new = vault.replace(old, vault.atom("The boiler is a Junkers.", subject="boiler"))
    for question in ("where is the Vaillant?", "boiler"):
        (hit,) = vault.memory.recall(question).hits
        assert hit.atom.id == new.id
        assert not hit.flagged
    # On static vectors the successor is found by itself, before the old words lead to it.
    if vault.memory.settings.embedder != "light":
        assert vault.memory.recall("where is the Vaillant?").hits[0].instead_of is not None


def test_the_terms_still_add_and_the_weights_still_multiply(vault: HandwrittenVault) -> None:
    add_change(vault)
    for question in ("Reyes", WHO, "Moss the dentist"):
        for hit in vault.memory.recall(question).hits:
            explanation: Any = hit.explain()
            assert abs(max(0.0, sum(explanation["terms"].values())) - explanation["relevance"]) < 1e-9
            assert abs(explanation["relevance"] * prod(explanation["weights"].values()) - explanation["score"]) < 1e-9
            assert explanation["instead_of"] == ([] if hit.instead_of is None else explanation["instead_of"])
            assert len(hit.why.splitlines()) == 1


def test_undoing_the_change_restores_the_evidence(vault: HandwrittenVault) -> None:
    add_change(vault)
    vault.memory.undo()
    assert OLD in texts(vault.memory.recall("Reyes"))


# Sentences beside others


def test_an_ended_sentence_is_elided_with_a_pointer_while_the_passage_stays(vault: HandwrittenVault) -> None:
    text = f"My sister Ola lives in Bergen. {OLD} She likes it."
    vault.add_session(text)
    old = vault.add_statement("Ann's dentist is Dr Reyes.", OLD)
    vault.add_session(NEW, at=NOON - DAY)
    new = vault.replace(old, vault.atom("Ann's dentist is Dr Moss.", NEW))
    hit = vault.memory.recall("where does Ola live?").hits[0]
    assert hit.text == f"My sister Ola lives in Bergen. [superseded, see …{new.id[-6:]}] She likes it."
    assert hit.passage.text == text
    assert not hit.flagged
    assert "Reyes" not in vault.memory.recall("where does Ola live?").context()
    both = vault.memory.recall("who is Ola's dentist?").hits
    assert {hit.text for hit in both} >= {NEW, hit.text}


def test_retracted_text_is_dropped_or_elided(vault: HandwrittenVault) -> None:
    vault.add_session("My gate number is 4711.", f"My gate number is 4711 too. {OLD}")
    removed = vault.add_statement(
        "Ann's gate number is 4711.", "My gate number is 4711.", "My gate number is 4711 too."
    )
    vault.end(removed, Status.TOMBSTONED)
    assert vault.memory.recall("gate number").hits == ()
    (hit,) = vault.memory.recall("dentist").hits
    assert hit.text == f"[taken back] {OLD}"
    for result in (vault.memory.recall("what was the gate number before?"), vault.memory.recall("4711", as_of=NOON)):
        assert "4711" not in " ".join(hit.text for hit in result.hits)
    assert any("4711" in hit.text and hit.flagged for hit in vault.memory.recall("4711", include="history").hits)


def test_a_partly_valid_sentence_is_represented_by_its_valid_part(vault: HandwrittenVault) -> None:
    both = "My dentist is Dr Reyes and my gym is the Ironworks."
    vault.add_session(both)
    old = vault.add_statement("Ann's dentist is Dr Reyes.", both)
    vault.add_statement("Ann's gym is the Ironworks.", both)
    vault.replace(old, vault.atom("Ann's dentist is Dr Moss."))
    result = texts(vault.memory.recall("gym"))
    assert result[0] == "Ann's gym is the Ironworks."
    assert "Reyes" not in " ".join(result)


def test_a_changed_reason_is_replaced_in_its_sentence(vault: HandwrittenVault) -> None:
    reason = "the boat lies on Lough Derg"
    vault.add_session("The boat lies on Lough Derg.", f"I rent berth 12 because {reason}.")
    old = vault.add_statement("The boat lies on Lough Derg.", "The boat lies on Lough Derg.", reason)
    vault.add_statement(
        "Ann rents berth 12.",
        f"I rent berth 12 because {reason}.",
        status=Status.CHALLENGED,
        relations=link(RelationName.DEPENDS_ON, old),
    )
    vault.add_session("The boat lies on Lake Balaton.", at=NOON - DAY)
    new = vault.atom("The boat lies on Lake Balaton.", "The boat lies on Lake Balaton.")
    vault.replace(old, new)
    hit = single_hit(vault.memory.recall("which berth do I rent?").hits, "berth 12")
    assert hit.text == f"I rent berth 12 because [reason superseded, see …{new.id[-6:]}]."
    assert hit.marks == ("disputed", "rests on something that changed")
    assert "Derg" not in " ".join(texts(vault.memory.recall("where does the boat lie?")))


def test_a_pending_statement_does_not_affect_its_sentence(vault: HandwrittenVault) -> None:
    vault.add_session(OLD)
    vault.add_statement("Ann's dentist is Dr Reyes.", OLD, status=Status.CONSTRAINED)
    (hit,) = vault.memory.recall(WHO).hits
    assert (hit.text, hit.marks) == (OLD, ())


def test_an_expired_statement_is_labelled_and_kept(vault: HandwrittenVault) -> None:
    vault.add_session("I stay in Rome until Friday.")
    vault.add_statement("Ann stays in Rome.", "I stay in Rome until Friday.", valid_until=NOON - DAY)
    (hit,) = vault.memory.recall("Rome").hits
    assert (hit.text, hit.marks, hit.flagged) == ("I stay in Rome until Friday.", ("historical",), True)


def test_evidence_stays_when_its_statement_is_merged_or_compacted(vault: HandwrittenVault) -> None:
    vault.add_session(OLD, "My gym is the Ironworks.")
    one = vault.add_statement("Ann's dentist is Dr Reyes.", OLD)
    vault.replace(one, vault.atom("Ann goes to Dr Reyes."), Status.MERGED)
    other = vault.add_statement("Ann's gym is the Ironworks.", "My gym is the Ironworks.")
    vault.replace(other, vault.atom("Ann trains at the Ironworks.", derived_from=(other.id,)))
    assert OLD in texts(vault.memory.recall("dentist"))
    assert "My gym is the Ironworks." in texts(vault.memory.recall("gym"))


def test_an_announced_value_is_flagged_until_its_day(vault: HandwrittenVault) -> None:
    old, _ = add_change(vault, since=NOON + DAY)
    vault.commit(vault.memory.get(old.id).with_(status=Status.SUPERSEDED))
    pending = {hit.text: hit.marks for hit in vault.memory.recall(WHO).hits}
    assert pending[NEW] == ("announced",)
    assert OLD in pending


# The sentence that makes the change


def test_the_sentence_that_makes_a_change_is_shown_whole_with_both_values(vault: HandwrittenVault) -> None:
    text = "We dropped Dr Reyes, so my dentist is Dr Moss."
    _, new = add_change(vault, then=text)
    result = vault.memory.recall(WHO)
    (hit,) = result.hits
    assert (hit.text, hit.marks, hit.flagged) == (text, ("transition",), False)
    assert [(transition.was, transition.now, transition.since) for transition in hit.transitions] == [
        ("Dr Reyes", "Dr Moss", new.valid_from)
    ]
    assert "was Dr Reyes, now Dr Moss" in hit.why
    assert "transition; was Dr Reyes, now Dr Moss]" in result.context()


def test_a_sentence_with_only_the_new_value_is_no_transition(vault: HandwrittenVault) -> None:
    add_change(vault)
    (hit,) = vault.memory.recall(WHO).hits
    assert (hit.marks, hit.transitions) == ((), ())


# Doubt


def test_a_possibly_contradicted_statement_ranks_behind_and_is_labelled(vault: HandwrittenVault) -> None:
    vault.add_session("The club meets on Tuesday, the club does.", at=NOON - 9 * DAY)
    vault.add_session("The club prefers Friday.", at=NOON - DAY)
    older = vault.add_statement("The club meets on Tuesday.", "The club meets on Tuesday, the club does.")
    assert texts(vault.memory.recall("when does the club meet on Tuesday?"))[0].startswith("The club meets")
    vault.add_statement(
        "The club prefers Friday.", "The club prefers Friday.", relations=link(RelationName.CONTRADICTS, older, 0.5)
    )
    first, second = vault.memory.recall("when does the club meet on Tuesday?").hits
    assert (first.text, first.marks) == ("The club prefers Friday.", ())
    assert (second.marks, second.flagged) == (("possibly outdated",), True)
    assert [item.atom_id for item in first.before] == [older.id]
    assert f"before …{older.id[-6:]}, which it may replace" in first.why
    assert first.score < second.score


def test_a_sure_contradiction_labels_nothing(vault: HandwrittenVault) -> None:
    older = vault.atom("The club meets on Tuesday.")
    vault.commit(older, vault.atom("The club meets on Friday.", relations=link(RelationName.CONTRADICTS, older, 0.9)))
    assert [hit.marks for hit in vault.memory.recall("club").hits] == [(), ()]


@pytest.mark.parametrize(("hops", "marked"), [(1, True), (5, True), (6, False)])
def test_a_changed_dependency_is_marked_over_five_statements(vault: HandwrittenVault, hops: int, marked: bool) -> None:
    first = last = vault.add_statement("Step 0 is so.")
    for n in range(1, hops + 1):
        last = vault.add_statement(f"Step {n} is so.", relations=link(RelationName.DEPENDS_ON, last))
    assert single_hit(vault.memory.recall("step").hits, f"Step {hops} ").marks == ()
    vault.end(first, Status.INVALIDATED)
    hit = single_hit(vault.memory.recall("step").hits, f"Step {hops} ")
    assert hit.marks == (("rests on something that changed",) if marked else ())
    assert hit.flagged == marked


def test_evidence_of_a_challenged_statement_is_shown_as_disputed(vault: HandwrittenVault) -> None:
    vault.add_session(OLD)
    vault.add_statement("Ann's dentist is Dr Reyes.", OLD, status=Status.CHALLENGED)
    result = vault.memory.recall(WHO)
    (hit,) = result.hits
    assert (hit.text, hit.marks, hit.flagged, hit.statements) == (OLD, ("disputed",), True, ())
    assert result.context().splitlines()[1] == "## disputed"


def test_a_challenged_statement_is_shown_where_nothing_better_is_known(vault: HandwrittenVault) -> None:
    vault.add_statement("The bird is a parrot.", status=Status.CHALLENGED)
    (hit,) = vault.memory.recall("the parrot").hits
    assert (hit.marks, hit.flagged) == (("challenged",), True)
    vault.add_statement("The parrot is a parrot.")
    assert texts(vault.memory.recall("the parrot")) == ["The parrot is a parrot."]


def test_a_challenged_statement_against_a_valid_one_is_not_shown(vault: HandwrittenVault) -> None:
    holds = vault.add_statement("The safe is blue.")
    vault.add_statement(
        "The code is 9.", status=Status.CHALLENGED, relations=link(RelationName.CONTRADICTS, holds, 0.9)
    )
    assert "The code is 9." not in texts(vault.memory.recall("code"))


# Order


def test_a_question_ranks_behind_a_persons_claim(vault: HandwrittenVault) -> None:
    vault.add_session(
        "Do we sail on Lake Iseo? Do we sail some day?",
        "On and on.",
        "We sail on Lough Derg, the four of us and the dog, whatever the weather is.",
    )
    hits = vault.memory.recall("where do we sail?").hits
    claims, supposes = (single_hit(hits, lake) for lake in ("Lough Derg", "Lake Iseo"))
    assert hits.index(claims) < hits.index(supposes)


def test_a_guess_covering_more_of_the_question_keeps_its_rank(vault: HandwrittenVault) -> None:
    vault.add_session("Perhaps we will sail on Lake Iseo some day.", "We sail on Lough Derg.")
    assert "Iseo" in vault.memory.recall("do we sail on Lake Iseo?").hits[0].text


@pytest.mark.parametrize("embedder", ["none", "light"])
def test_an_announced_value_ranks_behind_the_one_valid_until_then(tmp_path: Path, embedder: str) -> None:
    vault = HandwrittenVault(tmp_path / "vault", embedder, state_model="off")
    vault.add_session("The library closes at six, I think, or thereabouts.", at=NOON - 9 * DAY)
    vault.add_session("The library closes at eight, the library closes late.", at=NOON - DAY)
    old = vault.add_statement("The library closes at six.", "The library closes at six, I think, or thereabouts.")
    new = vault.atom("The library closes at eight.", "The library closes at eight, the library closes late.")
    new = new.with_(valid_from=NOON + DAY, supersedes=(old.id,))
    vault.commit(new, old.with_(valid_until=NOON + DAY, superseded_by=(new.id,)))
    first, second = vault.memory.recall("when does the library close?").hits
    assert (first.marks, second.marks) == ((), ("announced",))
    assert [(item.atom_id, item.reason) for item in first.before] == [(new.id, "which is only announced")]
    vault.memory.close()


# The past


@pytest.mark.parametrize(("status", "mark"), [(Status.SUPERSEDED, "superseded"), (Status.INVALIDATED, "wrong")])
def test_history_queries_show_ended_statements_flagged(vault: HandwrittenVault, status: Status, mark: str) -> None:
    add_change(vault, status=status)
    for result in (vault.memory.recall(WHO, include="history"), vault.memory.recall("who was the dentist before?")):
        marks = {hit.text: hit.marks for hit in result.hits}
        assert marks[OLD] == (mark,)
        assert marks[NEW] == ()


def test_a_question_about_the_past_finds_superseded_statements_without_evidence(vault: HandwrittenVault) -> None:
    old = vault.add_statement("The boiler is a Vaillant.", subject="boiler")
    vault.replace(old, vault.atom("The boiler is a Junkers.", subject="boiler"))
    marks = {hit.text: hit.marks for hit in vault.memory.recall("what was the original boiler?").hits}
    assert marks == {"The boiler is a Vaillant.": ("superseded",), "The boiler is a Junkers.": ()}


def test_as_of_shows_what_was_valid_then_and_nothing_else(vault: HandwrittenVault) -> None:
    _, new = add_change(vault, since=NOON - 5 * DAY)
    vault.add_session("Dr Okafor took me on.", at=NOON - DAY)
    vault.replace(new, vault.atom("Ann's dentist is Dr Okafor.", "Dr Okafor took me on."))
    then = vault.memory.recall("the dentist", as_of=NOON - 7 * DAY).hits
    assert [(hit.text, hit.marks) for hit in then] == [(OLD, ("historical",))]
    between = " ".join(texts(vault.memory.recall("Reyes the dentist", as_of=NOON - 3 * DAY)))
    assert "Moss" in between
    assert "Reyes" not in between
    assert "Okafor" not in between


# Whatever happens


def test_the_plain_ranking_elides_too(vault: HandwrittenVault) -> None:
    _, new = add_change(vault, first=f"{OLD} I like tea.")
    result = {hit.text for hit in vault.memory.recall("dentist", ranking="plain").hits}
    assert not any("Reyes" in text for text in result)
    assert any(f"[superseded, see …{new.id[-6:]}] I like tea." in text for text in result)


def test_marks_are_rebuilt_from_the_files(tmp_path: Path) -> None:
    vault = HandwrittenVault(tmp_path / "vault")
    add_change(vault, first=f"{OLD} I like tea.", then="We dropped Dr Reyes, so my dentist is Dr Moss.")
    result = ("Reyes", "tea", WHO)
    vault.memory.upkeep.sync()
    before = [[(hit.text, hit.marks, hit.why) for hit in vault.memory.recall(request).hits] for request in result]
    vault.memory.close()
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    with open_memory(tmp_path / "vault", "none", extractor="none") as again:
        again.upkeep.sync()
        assert [[(hit.text, hit.marks, hit.why) for hit in again.recall(request).hits] for request in result] == before


_ENDS = st.sampled_from([None, Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_ENDS, min_size=1, max_size=3), min_size=1, max_size=4), st.booleans())
def test_no_ended_sentence_is_ever_shown(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[Status | None]], heirs: bool
) -> None:
    vault = HandwrittenVault(tmp_path_factory.mktemp("vault") / "vault")
    try:
        other_result = [
            [f"Thing{n} part{m} is word{n}x{m}." for m, _ in enumerate(turn)] for n, turn in enumerate(turns)
        ]
        vault.add_session(*(" ".join(turn) for turn in other_result))
        over = []
        for sentence, end in (
            (item, end) for t, turn in zip(other_result, turns, strict=True) for item, end in zip(t, turn, strict=True)
        ):
            result = vault.add_statement(sentence, sentence, subject="thing")
            if end in (Status.SUPERSEDED, Status.INVALIDATED) and heirs:
                vault.replace(result, vault.atom(sentence.replace("word", "fresh"), subject="thing"), end)
            elif end is not None:
                vault.end(result, end)
            over += [sentence] if end is not None else []
        all_items = [word for turn in other_result for sentence in turn for word in sentence.rstrip(".").split()]
        for question in (*dict.fromkeys(all_items), " ".join(all_items)):
            actual = vault.memory.recall(question, 50)
            for text in (*texts(actual), actual.context(100_000)):
                assert not any(sentence.split()[-1].rstrip(".") in text for sentence in over)
    finally:
        vault.memory.close()


@pytest.mark.parametrize("how", [{}, {"fast": True}, {"ranking": "plain"}])
def test_text_elided_completely_takes_no_slot(vault: HandwrittenVault, how: dict[str, Any]) -> None:
    vault.add_session("The ferry leaves from the north quay at dawn.", "My tattoo is a ferry at dawn.")
    vault.add_session("The ferry goes round the island.", at=NOON - DAY)
    north = vault.add_statement(
        "The ferry leaves from the north quay.", "The ferry leaves from the north quay at dawn."
    )
    vault.end(north, Status.SUPERSEDED)
    vault.end(vault.add_statement("Ann's tattoo is a ferry.", "My tattoo is a ferry at dawn."), Status.TOMBSTONED)
    for k in (1, 5):
        (hit,) = vault.memory.recall("the ferry from the north quay at dawn", k, **how).hits
        assert "goes round the island" in hit.text
    hits = vault.memory.recall("the ferry from the north quay at dawn", include="history", **how).hits
    assert all(hit.flagged == ("island" not in hit.text) for hit in hits)
    assert not any(hit.text.startswith("[") for hit in hits)
