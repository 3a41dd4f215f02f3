"""The ageing state of a memory changes its rank slightly and visibly, and hides it only on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from math import prod
from pathlib import Path
from typing import Any

import pytest
from handwritten_vault import HandwrittenVault
from hypothesis import given, settings
from hypothesis import strategies as st
from town_conversations import DAY, NOON, answers, open_memory, populate, questions, remember_facts, texts

from command_result import Cli
from lamina import Atom, FixedClock, Memory
from lamina.atom.atom import AtomId, Signals
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin, parse_scope
from lamina.atom.status import Status
from lamina.lifecycle.standing import LifecycleState
from lamina.recall import Recall
from lamina.recall.candidate_scoring import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NEUTRAL_WEIGHTS,
    compute_weights,
    multiply_weights,
    status_weight,
)
from lamina.store.passages import NearPassage
from lamina.store.signals_and_ageing import AgeingState

STATES = [item.value for item in LifecycleState]
PART = st.floats(0, 1)
AGEING_STATES = st.builds(
    AgeingState, st.just(1), retention=PART, importance=PART, recency=PART, state=st.sampled_from(STATES)
)
YEARS = 730 * DAY
SENTENCES = "what does Ann keep in the shed?"


def near_passage(status: Status = Status.ACTIVE) -> NearPassage:
    """Where an atom stands that is like any other."""
    scope = parse_scope("org:local")
    return NearPassage(
        (AtomId("0" * 26), 1), scope, 0.5, status, Layer.SEMANTIC, Origin.HUMAN, 0, "", 0, None, False, "s", 0, b""
    )


def weights(ageing_state: AgeingState | None, status: Status = Status.ACTIVE) -> dict[str, float]:
    return dict(compute_weights(near_passage(status), Signals(), ageing_state))


def set_lifecycle(memory: Memory, states: dict[str, str], **known: Any) -> None:
    """A dream has seen these, each in a state."""
    atoms = [memory.get(state) for state in states]
    memory.engine.store.signals.put_ageing(
        {atom.id: AgeingState(atom.revision, state=states[atom.id], **known) for atom in atoms}
    )


def is_explained(result: Recall) -> bool:
    actual: list[dict[str, Any]] = [hit.explain() for hit in result.hits]
    return bool(actual) and all(abs(e["relevance"] * prod(e["weights"].values()) - e["score"]) < 1e-9 for e in actual)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with open_memory(tmp_path / "vault", "light", clock=clock) as fields:
        yield fields


@pytest.fixture
def handwritten(tmp_path: Path) -> Iterator[HandwrittenVault]:
    handwritten_vault = HandwrittenVault(tmp_path / "vault", "light")
    yield handwritten_vault
    handwritten_vault.memory.close()


@given(AGEING_STATES, st.sampled_from(Status), st.floats(0.1, 2.0))
def test_weights_stay_between_a_half_and_one_and_a_half(
    ageing_state: AgeingState, status: Status, quality: float
) -> None:
    result = compute_weights(near_passage(status), Signals(quality_score=quality), ageing_state)
    assert all(MIN_WEIGHT <= value <= MAX_WEIGHT for _, value in result)
    assert multiply_weights(result) == pytest.approx(prod(value for _, value in result), rel=1e-12)
    of_life = prod(value for name, value in result if name in dict(NEUTRAL_WEIGHTS))
    assert 0.8 < of_life < 1.1


@given(AGEING_STATES, PART, st.sampled_from(["retention", "importance", "recency"]))
def test_more_of_any_factor_never_lowers_the_weight(ageing_state: AgeingState, other: float, name: str) -> None:
    less, more = sorted([getattr(ageing_state, name), other])
    low, high = (weights(replace(ageing_state, **{name: item}))[name] for item in (less, more))
    assert low <= high
    assert low < high or more - less < 0.01 + 1e-9


def test_the_ends_of_each_scale_have_the_documented_weights() -> None:
    nothing = weights(AgeingState(1, retention=0.0, importance=0.0, recency=0.0))
    everything = weights(AgeingState(1, retention=1.0, importance=1.0, recency=1.0))
    assert [nothing[name] for name in ("retention", "importance", "recency")] == [0.94, 0.97, 0.97]
    assert [everything[name] for name in ("retention", "importance", "recency")] == [1.0, 1.03, 1.0]
    assert weights(AgeingState(1, importance=0.5))["importance"] == 1.0


@pytest.mark.parametrize(
    ("state", "weight"),
    [("active", 1.05), ("validated", 1.03), ("candidate", 0.99), ("stale", 0.94), ("archived", 0.92)],
)
def test_each_lifecycle_state_has_its_weight(state: str, weight: float) -> None:
    assert weights(AgeingState(1, state=state))["lifecycle"] == weight


@pytest.mark.parametrize("status", [item for item in Status if item is not Status.ACTIVE])
def test_the_status_is_not_counted_twice(status: Status) -> None:
    result = weights(AgeingState(1, state="archived" if status is Status.ARCHIVED else "stale"), status)
    assert result["status"] == status_weight(status)
    assert result["lifecycle"] == 1.0


def test_without_dreams_scores_are_unaffected_by_the_ageing_state(memory: Memory) -> None:
    populate(memory, sessions=5)
    result = 0
    for question in questions(count=12):
        for hit in memory.recall(question, 20).hits:
            result += 1
            assert hit.weights[4:] == NEUTRAL_WEIGHTS
            assert [name for name, _ in hit.weights[:4]] == ["status", "layer", "trust", "quality"]
            assert hit.score.hex() == (hit.relevance * prod(value for _, value in hit.weights[:4])).hex()
    assert result > 80


def test_after_a_dream_every_score_still_equals_its_terms_and_weights(memory: Memory, clock: FixedClock) -> None:
    populate(memory, sessions=5)
    before = answers(memory, questions(count=8))
    clock.at += 60 * DAY
    remember_facts(memory, "The attic has a new window.")
    memory.upkeep.dream(["age"])
    result = [memory.recall(question, 20) for question in questions(count=8)]
    assert all(is_explained(item) for item in result)
    moved = {name for item in result for hit in item.hits for name, value in hit.weights[4:] if value != 1.0}
    assert moved == dict(NEUTRAL_WEIGHTS).keys()
    assert answers(memory, questions(count=8)) != before


@pytest.mark.parametrize("kind", ["fact", "event"])
def test_a_two_year_old_fact_without_competition_still_ranks_first(
    memory: Memory, clock: FixedClock, kind: str
) -> None:
    old = remember_facts(memory, "The spare key of the boathouse lies under the blue flowerpot.", kind=kind)
    for n in range(24):
        clock.at += 30 * DAY
        remember_facts(memory, f"The ferry number {n + 2} leaves from the north pier.")
    clock.at += 10 * DAY
    memory.capture("We painted the boathouse door and had tea with the neighbours.", session_id="lately")
    assert clock.at == NOON + YEARS
    memory.upkeep.dream()
    for question in ("where is the spare key of the boathouse?", "what lies under the flowerpot?"):
        best = memory.recall(question).hits[0]
        assert best.atom.id == old
        assert best.relevant
        fields = dict(best.weights)
        assert fields["recency"] < 0.99
        assert fields["retention"] * fields["lifecycle"] * fields["status"] < 0.95


@pytest.fixture
def equal_facts(tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Memory, str, str]]:
    """A memory and two facts of it that a question meets equally well, the older one first."""
    with open_memory(tmp_path / "alike", "none", clock=clock) as fields:
        older = remember_facts(fields, "Ann keeps the ladder in the shed.", subject="ladder")
        clock.at += timedelta(seconds=1)
        younger = remember_facts(fields, "Ann keeps the bucket in the shed.", subject="bucket")
        first, second = fields.recall(SENTENCES).hits
        assert (first.atom.id, second.atom.id) == (younger, older)
        assert first.relevance == second.relevance
        yield fields, older, younger


def test_of_equally_relevant_facts_the_used_one_ranks_first(
    equal_facts: tuple[Memory, str, str], clock: FixedClock
) -> None:
    memory, used, idle = equal_facts
    for _ in range(6):
        clock.at += DAY
        memory.cite([used])
    memory.upkeep.dream(["age"])
    first, second = memory.recall(SENTENCES).hits
    assert (first.atom.id, second.atom.id) == (used, idle)
    assert dict(first.weights)["importance"] > dict(second.weights)["importance"]


def test_of_equally_relevant_facts_the_less_faded_one_ranks_first(equal_facts: tuple[Memory, str, str]) -> None:
    memory, *both = equal_facts
    for fresh, faded in (both, both[::-1]):
        set_lifecycle(memory, {faded: "active"}, retention=0.1)
        set_lifecycle(memory, {fresh: "active"}, retention=0.9)
        result = memory.recall(SENTENCES)
        assert [hit.atom.id for hit in result.hits] == [fresh, faded]
        assert [dict(hit.weights)["retention"] for hit in result.hits] == pytest.approx([0.994, 0.946])


def test_relevance_dominates_the_weights(memory: Memory) -> None:
    right = remember_facts(memory, "The dentist of Carla is called Doctor Okafor.")
    wrong = remember_facts(memory, "Carla bought a red bicycle in spring.")
    set_lifecycle(memory, {right: "archived"}, retention=0.0, importance=0.0, recency=0.0)
    set_lifecycle(memory, {wrong: "active"}, retention=1.0, importance=1.0, recency=1.0)
    assert memory.recall("what is the name of Carla's dentist?").hits[0].atom.id == right


def test_the_ageing_state_does_not_apply_to_past_queries(memory: Memory) -> None:
    atom_id = remember_facts(memory, "The boat is called Heron.", valid_from=NOON - 9 * DAY)
    set_lifecycle(memory, {atom_id: "stale"}, retention=0.2)
    (hit,) = memory.recall("what is the boat called?").hits
    assert dict(hit.weights)["lifecycle"] == 0.94
    for moment in ({"as_of": NOON - DAY}, {"known_at": NOON + DAY}):
        (then,) = memory.recall("what is the boat called?", filter_stale=True, **moment).hits  # type: ignore[arg-type]
        assert then.weights[4:] == NEUTRAL_WEIGHTS


def test_a_reason_does_not_name_weights_of_one(memory: Memory) -> None:
    atom_id = remember_facts(memory, "The boat is called Heron.")
    assert "lifecycle" not in memory.recall("what is the boat called?").hits[0].why
    set_lifecycle(memory, {atom_id: "active"}, importance=0.5)
    why = memory.recall("what is the boat called?").hits[0].why
    assert "(has “boat”, “called”)" in why
    assert why.endswith(" × layer 1.1 × lifecycle 1.05")
    assert "importance" not in why


@pytest.mark.parametrize("way", [{}, {"fast": True}, {"ranking": "plain"}], ids=["closely", "fast", "plain"])
def test_filter_stale_removes_stale_and_archived_hits_and_reports_how_many(memory: Memory, way: dict[str, Any]) -> None:
    words = ("stale", "archived", "active", "candidate", "validated", "laid aside", "unseen")
    ids = {word: remember_facts(memory, f"The {word} lantern stands on the quay.") for word in words}
    set_lifecycle(memory, {ids[word]: word for word in words[:5]})
    memory.update_status(ids["laid aside"], "archived", "a test")
    question = "where does the lantern stand?"
    everything = memory.recall(question, **way)
    assert {hit.atom.id for hit in everything.hits} == set(ids.values())
    assert not {"stale", "archived"} & dict(everything.filtered).keys()
    result = memory.recall(question, filter_stale=True, **way)
    assert {hit.atom.id for hit in result.hits} == {
        ids[name] for name in ("active", "candidate", "validated", "unseen")
    }
    assert dict(result.filtered) == {"archived": 2, "stale": 1}
    scores = {hit.atom.id: hit.score.hex() for hit in everything.hits}
    assert all(hit.score.hex() == scores[hit.atom.id] for hit in result.hits)


@pytest.mark.parametrize("ranking", ["full", "plain"])
def test_only_hits_that_would_have_been_shown_count_as_left_out(memory: Memory, ranking: str) -> None:
    best = remember_facts(memory, "The harbour lantern is lit by Esther at dusk.")
    far = remember_facts(memory, "Esther eats soup.")
    set_lifecycle(memory, {far: "stale"})
    question = "who lit the harbour lantern at dusk?"
    (hit,) = memory.recall(question, 1, filter_stale=True, ranking=ranking).hits
    assert hit.atom.id == best
    assert not memory.recall(question, 1, filter_stale=True, ranking=ranking).filtered
    set_lifecycle(memory, {best: "stale"})
    assert dict(memory.recall(question, 1, filter_stale=True, ranking=ranking).filtered) == {"stale": 2}


def test_without_stale_hits_the_filter_changes_nothing(handwritten: HandwrittenVault) -> None:
    populate(handwritten.memory, sessions=3)
    handwritten.commit(
        *(handwritten.atom(f"Ann went to the market of Oslo, stall {n}.", subject="") for n in range(150))
    )
    for question in (*questions(count=4), "to which stall of the market in Oslo did Ann go?"):
        for k in (3, 100):
            one, other = (handwritten.memory.recall(question, k, filter_stale=number) for number in (False, True))
            assert [(hit, hit.score.hex()) for hit in one.hits] == [(hit, hit.score.hex()) for hit in other.hits]
            assert one.filtered == other.filtered


def test_atoms_written_since_the_dream_are_not_stale(memory: Memory) -> None:
    atom_id = remember_facts(memory, "The boat is called Heron.")
    set_lifecycle(memory, {atom_id: "stale"})
    assert memory.recall("what is the boat called?", filter_stale=True).hits == ()
    memory.revise(atom_id, "The boat is called Grey Heron.", reason="repainted")
    assert texts(memory.recall("what is the boat called?", filter_stale=True)) == ["The boat is called Grey Heron."]


def test_many_stale_hits_do_not_displace_the_others(handwritten: HandwrittenVault) -> None:
    old = handwritten.commit(
        *(handwritten.atom(f"Ann sails the boat {n} on the lake.", subject="") for n in range(300))
    ).atoms
    lone = handwritten.add_statement("Ann sails a borrowed dinghy at weekends.", subject="")
    question = "what boat does Ann sail on the lake?"
    handwritten.memory.engine.store.signals.put_ageing({atom.id: AgeingState(1, state="stale") for atom in old})
    assert lone.id not in {hit.atom.id for hit in handwritten.memory.recall(question, 100).hits}
    result = handwritten.memory.recall(question, 10, filter_stale=True)
    assert [hit.atom.id for hit in result.hits] == [lone.id]
    assert dict(result.filtered)["stale"] >= 10


def add_statement(handwritten: HandwrittenVault, *words: str) -> Callable[[str], Atom]:
    handwritten.add_session(*words)

    def of(part: str) -> Atom:
        return handwritten.memory.get(handwritten.find_evidence(part).segment)

    return of


def test_a_current_statement_is_shown_itself_where_its_evidence_is_stale(handwritten: HandwrittenVault) -> None:
    words = add_statement(handwritten, "I keep bees behind the mill.")("bees")
    fact = handwritten.add_statement("Ann keeps bees behind the mill.", "I keep bees behind the mill.")
    question = "who keeps bees behind the mill?"
    assert [hit.atom.id for hit in handwritten.memory.recall(question).hits] == [words.id]
    handwritten.memory.engine.store.signals.put_ageing(
        {words.id: AgeingState(words.revision, state="stale"), fact.id: AgeingState(1, state="active")}
    )
    result = handwritten.memory.recall(question, filter_stale=True)
    assert [(hit.atom.id, hit.text) for hit in result.hits] == [(fact.id, "Ann keeps bees behind the mill.")]
    assert is_explained(result)
    assert dict(result.filtered) == {"stale": 1}


def test_a_stale_statement_is_not_shown_with_current_evidence(handwritten: HandwrittenVault) -> None:
    words = add_statement(handwritten, "I keep bees behind the mill.")("bees")
    fact = handwritten.add_statement("Ann keeps bees behind the mill.", "I keep bees behind the mill.")
    question = "who keeps bees behind the mill?"
    assert handwritten.memory.recall(question).hits[0].statements == (fact,)
    handwritten.memory.engine.store.signals.put_ageing({fact.id: AgeingState(1, state="stale")})
    (hit,) = handwritten.memory.recall(question, filter_stale=True).hits
    assert (hit.atom.id, hit.statements) == (words.id, ())


def test_stale_evidence_still_leads_to_the_successor(handwritten: HandwrittenVault) -> None:
    old_words = add_statement(handwritten, "My dog is called Biscuit.")("Biscuit")
    handwritten.add_session("The puppy answers to Pepper.", at=NOON - DAY)
    old = handwritten.add_statement("Ann's dog is called Biscuit.", "My dog is called Biscuit.")
    handwritten.replace(old, handwritten.atom("Ann's dog is called Pepper.", "The puppy answers to Pepper."))
    handwritten.memory.engine.store.signals.put_ageing({old_words.id: AgeingState(old_words.revision, state="stale")})
    result = handwritten.memory.recall("where does Biscuit sleep?", filter_stale=True)
    assert "Pepper" in result.hits[0].text
    assert all("Biscuit" not in hit.text for hit in result.hits)


def test_the_command_line_leaves_out_stale_hits(cli: Cli, coffee: str, vault: Path) -> None:
    result = ("recall", "how does Ann take her coffee?", "--filter-stale")
    assert [hit["id"] for hit in cli(*result, "--json").data["hits"]] == [coffee]
    with open_memory(vault, "none") as fields:
        fields.update_status(coffee, "archived", "a test")
    data = cli(*result, "--json").data
    assert (data["hits"], data["filtered"]) == ([], {"archived": 1})
    assert "left out: archived" in cli(*result, "--explain").out
    assert len(cli(*result[:2], "--json").data["hits"]) == 1


@settings(max_examples=30)
@given(st.dictionaries(st.integers(0, 11), st.sampled_from(STATES), max_size=12))
def test_filtered_hits_are_the_remaining_ones_in_order(twelve_facts: Memory, states: dict[int, str]) -> None:
    ids = sorted(atom.id for atom in twelve_facts.list(limit=None))
    twelve_facts.engine.store.signals.put_ageing(
        {atom_id: AgeingState(1, state=states.get(n, "candidate")) for n, atom_id in enumerate(ids)}
    )
    stale = {atom_id for n, atom_id in enumerate(ids) if states.get(n) in ("stale", "archived")}
    everything = [hit.atom.id for hit in twelve_facts.recall("who cooks fish on Sunday?", 20).hits]
    result = twelve_facts.recall("who cooks fish on Sunday?", 20, filter_stale=True)
    assert [hit.atom.id for hit in result.hits] == [atom_id for atom_id in everything if atom_id not in stale]
    assert sum(dict(result.filtered).values()) == len(stale)


@pytest.fixture(scope="module")
def twelve_facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of twelve facts about the same."""
    names = ["Ann", "Bob", "Carla", "Dmitri", "Esther", "Farid", "Gita", "Hugo", "Ines", "Jonas", "Kira", "Lev"]
    with open_memory(tmp_path_factory.mktemp("twelve") / "vault", "light") as fields:
        for name in names:
            remember_facts(fields, f"{name} cooks fish on Sunday.", subject=name)
        fields.embed()
        yield fields
