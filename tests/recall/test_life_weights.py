"""What time and use have left of a memory moves its rank a little, in the open, and never hides it unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledge import Ledge
from town import DAY, NOON, answers, opened, populate, questions, remembered, texts

from lamina import Atom, FixedClock, Memory
from lamina.atom.atom import Signals
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.scope import parse_scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.lifecycle.lifecycle_state import LifecycleState
from lamina.recall import Recall
from lamina.recall.hit_weights import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NEUTRAL_WEIGHTS,
    compute_weights,
    multiply_weights,
    status_weight,
)
from lamina.store.ageing_state import AgeingState
from lamina.store.encodings import NearPassage
from terminal import Cli

STATES = [each.value for each in LifecycleState]
PART = st.floats(0, 1)
LIVES = st.builds(AgeingState, st.just(1), retention=PART, importance=PART, recency=PART, state=st.sampled_from(STATES))
YEARS = 730 * DAY
SHED = "what does Ann keep in the shed?"


def near(status: Status = Status.ACTIVE) -> NearPassage:
    """Where an atom stands that is like any other."""
    scope = parse_scope("org:local")
    return NearPassage(
        (AtomId("0" * 26), 1),
        scope,
        0.5,
        0.5,
        status,
        Layer.SEMANTIC,
        Origin.HUMAN,
        0,
        "",
        0,
        False,
        False,
        False,
        False,
        "s",
        0,
        b"",
    )


def weights(life: AgeingState | None, status: Status = Status.ACTIVE) -> dict[str, float]:
    return dict(compute_weights(near(status), Signals(), life))


def lives(memory: Memory, states: dict[str, str], **known: Any) -> None:
    """A dream has seen these, each in a state."""
    atoms = [memory.get(state) for state in states]
    memory._store.ageing_states.put(
        {atom.id: AgeingState(atom.revision, state=states[atom.id], **known) for atom in atoms}
    )


def is_explained(found: Recall) -> bool:
    told: list[dict[str, Any]] = [hit.explain() for hit in found.hits]
    return bool(told) and all(abs(e["relevance"] * prod(e["weights"].values()) - e["score"]) < 1e-9 for e in told)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with opened(tmp_path / "vault", "light", clock=clock) as own:
        yield own


@pytest.fixture
def ledge(tmp_path: Path) -> Iterator[Ledge]:
    made = Ledge(tmp_path / "vault", "light")
    yield made
    made.memory.close()


@given(LIVES, st.sampled_from(Status), st.floats(0.1, 2.0))
def test_no_weight_silences_and_none_shouts(life: AgeingState, status: Status, quality: float) -> None:
    told = compute_weights(near(status), Signals(quality_score=quality), life)
    assert all(MIN_WEIGHT <= value <= MAX_WEIGHT for _, value in told)
    assert multiply_weights(told) == pytest.approx(prod(value for _, value in told), rel=1e-12)
    of_life = prod(value for name, value in told if name in dict(NEUTRAL_WEIGHTS))
    assert 0.8 < of_life < 1.1


@given(LIVES, PART, st.sampled_from(["retention", "importance", "recency"]))
def test_more_of_anything_never_weighs_less(life: AgeingState, other: float, name: str) -> None:
    less, more = sorted([getattr(life, name), other])
    low, high = (weights(replace(life, **{name: each}))[name] for each in (less, more))
    assert low <= high
    assert low < high or more - less < 0.01 + 1e-9


def test_the_ends_of_each_scale() -> None:
    nothing = weights(AgeingState(1, retention=0.0, importance=0.0, recency=0.0))
    everything = weights(AgeingState(1, retention=1.0, importance=1.0, recency=1.0))
    assert [nothing[name] for name in ("retention", "importance", "recency")] == [0.94, 0.97, 0.97]
    assert [everything[name] for name in ("retention", "importance", "recency")] == [1.0, 1.03, 1.0]
    assert weights(AgeingState(1, importance=0.5))["importance"] == 1.0


@pytest.mark.parametrize(
    ("state", "weight"),
    [("active", 1.05), ("validated", 1.03), ("candidate", 0.99), ("stale", 0.94), ("archived", 0.92)],
)
def test_each_state_of_life_has_its_weight(state: str, weight: float) -> None:
    assert weights(AgeingState(1, state=state))["lifecycle"] == weight


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.ACTIVE])
def test_what_the_status_says_is_not_counted_again(status: Status) -> None:
    told = weights(AgeingState(1, state="archived" if status is Status.ARCHIVED else "stale"), status)
    assert told["status"] == status_weight(status)
    assert told["lifecycle"] == 1.0


def test_a_store_that_never_dreams_has_the_scores_it_would_have_without_lives(memory: Memory) -> None:
    populate(memory, sessions=5)
    seen = 0
    for question in questions(count=12):
        for hit in memory.recall(question, 20).hits:
            seen += 1
            assert hit.weights[4:] == NEUTRAL_WEIGHTS
            assert [name for name, _ in hit.weights[:4]] == ["status", "layer", "trust", "quality"]
            assert hit.score.hex() == (hit.relevance * prod(value for _, value in hit.weights[:4])).hex()
    assert seen > 80


def test_after_a_dream_every_score_is_still_what_its_terms_and_weights_say(memory: Memory, clock: FixedClock) -> None:
    populate(memory, sessions=5)
    before = answers(memory, questions(count=8))
    clock.at += 60 * DAY
    remembered(memory, "The attic has a new window.")
    memory.dream(["age"])
    found = [memory.recall(question, 20) for question in questions(count=8)]
    assert all(is_explained(each) for each in found)
    moved = {name for each in found for hit in each.hits for name, value in hit.weights[4:] if value != 1.0}
    assert moved == dict(NEUTRAL_WEIGHTS).keys()
    assert answers(memory, questions(count=8)) != before


@pytest.mark.parametrize("kind", ["fact", "event"])
def test_what_is_two_years_old_is_still_first_where_nothing_competes_with_it(
    memory: Memory, clock: FixedClock, kind: str
) -> None:
    old = remembered(memory, "The spare key of the boathouse lies under the blue flowerpot.", kind=kind)
    for n in range(24):
        clock.at += 30 * DAY
        remembered(memory, f"The ferry number {n + 2} leaves from the north pier.")
    clock.at += 10 * DAY
    memory.capture("We painted the boathouse door and had tea with the neighbours.", session_id="lately")
    assert clock.at == NOON + YEARS
    memory.dream()
    for question in ("where is the spare key of the boathouse?", "what lies under the flowerpot?"):
        best = memory.recall(question).hits[0]
        assert best.atom.id == old
        assert best.relevant
        told = dict(best.weights)
        assert told["recency"] < 0.99
        assert told["retention"] * told["lifecycle"] * told["status"] < 0.95


@pytest.fixture
def alike(tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Memory, str, str]]:
    """A memory and two facts of it that a question meets equally well, the older one first."""
    with opened(tmp_path / "alike", "none", clock=clock) as own:
        older = remembered(own, "Ann keeps the ladder in the shed.", subject="ladder")
        clock.at += timedelta(seconds=1)
        younger = remembered(own, "Ann keeps the bucket in the shed.", subject="bucket")
        first, second = own.recall(SHED).hits
        assert (first.atom.id, second.atom.id) == (younger, older)
        assert first.relevance == second.relevance
        yield own, older, younger


def test_of_two_facts_as_relevant_the_one_that_is_used_comes_first(
    alike: tuple[Memory, str, str], clock: FixedClock
) -> None:
    memory, used, idle = alike
    for _ in range(6):
        clock.at += DAY
        memory.cite([used])
    memory.dream(["age"])
    first, second = memory.recall(SHED).hits
    assert (first.atom.id, second.atom.id) == (used, idle)
    assert dict(first.weights)["importance"] > dict(second.weights)["importance"]


def test_of_two_facts_as_relevant_the_one_that_faded_less_comes_first(alike: tuple[Memory, str, str]) -> None:
    memory, *both = alike
    for fresh, faded in (both, both[::-1]):
        lives(memory, {faded: "active"}, retention=0.1)
        lives(memory, {fresh: "active"}, retention=0.9)
        found = memory.recall(SHED)
        assert [hit.atom.id for hit in found.hits] == [fresh, faded]
        assert [dict(hit.weights)["retention"] for hit in found.hits] == pytest.approx([0.994, 0.946])


def test_relevance_stays_king(memory: Memory) -> None:
    right = remembered(memory, "The dentist of Carla is called Doctor Okafor.")
    wrong = remembered(memory, "Carla bought a red bicycle in spring.")
    lives(memory, {right: "archived"}, retention=0.0, importance=0.0, recency=0.0)
    lives(memory, {wrong: "active"}, retention=1.0, importance=1.0, recency=1.0)
    assert memory.recall("what is the name of Carla's dentist?").hits[0].atom.id == right


def test_life_says_nothing_of_another_time(memory: Memory) -> None:
    atom_id = remembered(memory, "The boat is called Heron.", valid_from=NOON - 9 * DAY)
    lives(memory, {atom_id: "stale"}, retention=0.2)
    (hit,) = memory.recall("what is the boat called?").hits
    assert dict(hit.weights)["lifecycle"] == 0.94
    for moment in ({"as_of": NOON - DAY}, {"known_at": NOON + DAY}):
        (then,) = memory.recall("what is the boat called?", filter_stale=True, **moment).hits  # type: ignore[arg-type]
        assert then.weights[4:] == NEUTRAL_WEIGHTS


def test_a_reason_does_not_name_weights_that_moved_nothing(memory: Memory) -> None:
    atom_id = remembered(memory, "The boat is called Heron.")
    assert "lifecycle" not in memory.recall("what is the boat called?").hits[0].why
    lives(memory, {atom_id: "active"}, importance=0.5)
    why = memory.recall("what is the boat called?").hits[0].why
    assert "(has “boat”, “called”)" in why
    assert why.endswith(" × layer 1.1 × lifecycle 1.05")
    assert "importance" not in why


@pytest.mark.parametrize("way", [{}, {"fast": True}, {"ranking": "plain"}], ids=["closely", "fast", "plain"])
def test_filter_stale_removes_stale_and_archived_and_tells_how_many(memory: Memory, way: dict[str, Any]) -> None:
    words = ("stale", "archived", "active", "candidate", "validated", "laid aside", "unseen")
    ids = {word: remembered(memory, f"The {word} lantern stands on the quay.") for word in words}
    lives(memory, {ids[word]: word for word in words[:5]})
    memory.update_status(ids["laid aside"], "archived", "a test")
    question = "where does the lantern stand?"
    everything = memory.recall(question, **way)
    assert {hit.atom.id for hit in everything.hits} == set(ids.values())
    assert not {"stale", "archived"} & dict(everything.filtered).keys()
    found = memory.recall(question, filter_stale=True, **way)
    assert {hit.atom.id for hit in found.hits} == {ids[each] for each in ("active", "candidate", "validated", "unseen")}
    assert dict(found.filtered) == {"archived": 2, "stale": 1}
    scores = {hit.atom.id: hit.score.hex() for hit in everything.hits}
    assert all(hit.score.hex() == scores[hit.atom.id] for hit in found.hits)


@pytest.mark.parametrize("ranking", ["full", "plain"])
def test_only_what_would_have_been_shown_counts_as_left_out(memory: Memory, ranking: str) -> None:
    best = remembered(memory, "The harbour lantern is lit by Esther at dusk.")
    far = remembered(memory, "Esther eats soup.")
    lives(memory, {far: "stale"})
    question = "who lit the harbour lantern at dusk?"
    (hit,) = memory.recall(question, 1, filter_stale=True, ranking=ranking).hits
    assert hit.atom.id == best
    assert not memory.recall(question, 1, filter_stale=True, ranking=ranking).filtered
    lives(memory, {best: "stale"})
    assert dict(memory.recall(question, 1, filter_stale=True, ranking=ranking).filtered) == {"stale": 2}


def test_where_nothing_is_stale_the_filter_changes_no_bit(ledge: Ledge) -> None:
    populate(ledge.memory, sessions=3)
    ledge.put(*(ledge.atom(f"Ann went to the market of Oslo, stall {n}.", subject="") for n in range(150)))
    for question in (*questions(count=4), "to which stall of the market in Oslo did Ann go?"):
        for k in (3, 100):
            one, other = (ledge.memory.recall(question, k, filter_stale=each) for each in (False, True))
            assert [(hit, hit.score.hex()) for hit in one.hits] == [(hit, hit.score.hex()) for hit in other.hits]
            assert one.filtered == other.filtered


def test_what_was_written_since_the_dream_is_not_known_to_be_stale(memory: Memory) -> None:
    atom_id = remembered(memory, "The boat is called Heron.")
    lives(memory, {atom_id: "stale"})
    assert memory.recall("what is the boat called?", filter_stale=True).hits == ()
    memory.revise(atom_id, "The boat is called Grey Heron.", reason="repainted")
    assert texts(memory.recall("what is the boat called?", filter_stale=True)) == ["The boat is called Grey Heron."]


def test_a_crowd_of_stale_memories_does_not_keep_the_others_out(ledge: Ledge) -> None:
    old = ledge.put(*(ledge.atom(f"Ann sails the boat {n} on the lake.", subject="") for n in range(300))).atoms
    lone = ledge.states("Ann sails a borrowed dinghy at weekends.", subject="")
    question = "what boat does Ann sail on the lake?"
    ledge.memory._store.ageing_states.put({each.id: AgeingState(1, state="stale") for each in old})
    assert lone.id not in {hit.atom.id for hit in ledge.memory.recall(question, 100).hits}
    found = ledge.memory.recall(question, 10, filter_stale=True)
    assert [hit.atom.id for hit in found.hits] == [lone.id]
    assert dict(found.filtered)["stale"] >= 10


def said(ledge: Ledge, *words: str) -> Callable[[str], Atom]:
    ledge.say(*words)

    def of(part: str) -> Atom:
        return ledge.memory.get(ledge.place(part).segment)

    return of


def test_a_living_statement_stands_by_itself_where_its_words_are_stale(ledge: Ledge) -> None:
    words = said(ledge, "I keep bees behind the mill.")("bees")
    fact = ledge.states("Ann keeps bees behind the mill.", "I keep bees behind the mill.")
    question = "who keeps bees behind the mill?"
    assert [hit.atom.id for hit in ledge.memory.recall(question).hits] == [words.id]
    ledge.memory._store.ageing_states.put(
        {words.id: AgeingState(words.revision, state="stale"), fact.id: AgeingState(1, state="active")}
    )
    found = ledge.memory.recall(question, filter_stale=True)
    assert [(hit.atom.id, hit.text) for hit in found.hits] == [(fact.id, "Ann keeps bees behind the mill.")]
    assert is_explained(found)
    assert dict(found.filtered) == {"stale": 1}


def test_a_stale_statement_does_not_come_along_with_living_words(ledge: Ledge) -> None:
    words = said(ledge, "I keep bees behind the mill.")("bees")
    fact = ledge.states("Ann keeps bees behind the mill.", "I keep bees behind the mill.")
    question = "who keeps bees behind the mill?"
    assert ledge.memory.recall(question).hits[0].statements == (fact,)
    ledge.memory._store.ageing_states.put({fact.id: AgeingState(1, state="stale")})
    (hit,) = ledge.memory.recall(question, filter_stale=True).hits
    assert (hit.atom.id, hit.statements) == (words.id, ())


def test_stale_words_still_lead_on_to_what_took_their_place(ledge: Ledge) -> None:
    old_words = said(ledge, "My dog is called Biscuit.")("Biscuit")
    ledge.say("The puppy answers to Pepper.", at=NOON - DAY)
    old = ledge.states("Ann's dog is called Biscuit.", "My dog is called Biscuit.")
    ledge.replace(old, ledge.atom("Ann's dog is called Pepper.", "The puppy answers to Pepper."))
    ledge.memory._store.ageing_states.put({old_words.id: AgeingState(old_words.revision, state="stale")})
    found = ledge.memory.recall("where does Biscuit sleep?", filter_stale=True)
    assert "Pepper" in found.hits[0].text
    assert all("Biscuit" not in hit.text for hit in found.hits)


def test_the_command_line_leaves_out_what_is_stale(cli: Cli, coffee: str, vault: Path) -> None:
    asked = ("recall", "how does Ann take her coffee?", "--filter-stale")
    assert [hit["id"] for hit in cli(*asked, "--json").data["hits"]] == [coffee]
    with opened(vault, "none") as own:
        own.update_status(coffee, "archived", "a test")
    told = cli(*asked, "--json").data
    assert (told["hits"], told["filtered"]) == ([], {"archived": 1})
    assert "left out: archived" in cli(*asked, "--explain").out
    assert len(cli(*asked[:2], "--json").data["hits"]) == 1


@settings(max_examples=30)
@given(st.dictionaries(st.integers(0, 11), st.sampled_from(STATES), max_size=12))
def test_filtered_hits_are_the_others_in_their_order(twelve: Memory, states: dict[int, str]) -> None:
    ids = sorted(atom.id for atom in twelve.list(limit=None))
    twelve._store.ageing_states.put(
        {each: AgeingState(1, state=states.get(n, "candidate")) for n, each in enumerate(ids)}
    )
    stale = {each for n, each in enumerate(ids) if states.get(n) in ("stale", "archived")}
    everything = [hit.atom.id for hit in twelve.recall("who cooks fish on Sunday?", 20).hits]
    found = twelve.recall("who cooks fish on Sunday?", 20, filter_stale=True)
    assert [hit.atom.id for hit in found.hits] == [each for each in everything if each not in stale]
    assert sum(dict(found.filtered).values()) == len(stale)


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of twelve facts about the same."""
    names = ["Ann", "Bob", "Carla", "Dmitri", "Esther", "Farid", "Gita", "Hugo", "Ines", "Jonas", "Kira", "Lev"]
    with opened(tmp_path_factory.mktemp("twelve") / "vault", "light") as own:
        for name in names:
            remembered(own, f"{name} cooks fish on Sunday.", subject=name)
        own.embed()
        yield own
