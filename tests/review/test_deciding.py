"""What a person decides: proposals, compactions, canonical procedures, rollback. Each is one commit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from standing_store import stands

import lamina
from lamina import Atom, FixedClock, InvalidInput, Memory, Origin, Refused, Result, Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened:
        yield opened


def theme(memory: Memory, value: str, **fields: Any) -> Atom:
    told = {"profile_key": "theme", "value": value, "reason": "asked twice"}
    return memory.propose(f"Profile, theme: {value}", metadata=told, **fields).atom


GARDEN = {
    "spade": "The spade hangs in the shed.",
    "rake": "Marta borrowed a rake last autumn.",
    "hose": "Twenty metres of hose lie behind the barrel.",
}


def shed(memory: Memory, *names: str, **fields: Any) -> list[Atom]:
    return [memory.remember(GARDEN[name], tags=["garden"], **fields).atom for name in names]


def how(memory: Memory, text: str, workflow: str = "deploy", confidence: float = 1.0, **fields: Any) -> Atom:
    told = {"workflow": workflow, "canonical": "false"}
    return memory.remember(text, kind="procedure", metadata=told, confidence=confidence, **fields).atom


def statuses(memory: Memory, *atoms: Atom) -> list[Status]:
    return [memory.get(atom.id).status for atom in atoms]


def test_what_is_proposed_waits_whoever_proposes_it(memory: Memory, tmp_path: Path) -> None:
    mine = theme(memory, "dark")
    assert (mine.status, mine.origin) == (Status.CONSTRAINED, Origin.HUMAN)
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent") as agent:
        theirs = agent.propose("Tea is green.").atom
    assert (theirs.status, theirs.origin) == (Status.CONSTRAINED, Origin.AGENT)
    assert memory.recall("theme").hits == ()


@pytest.mark.parametrize("missing", ["value", "reason"])
def test_a_proposal_for_the_profile_names_its_value_and_why(memory: Memory, missing: str) -> None:
    told = {"profile_key": "theme", "value": "dark", "reason": "asked twice"} | {missing: " "}
    with pytest.raises(InvalidInput, match=missing):
        memory.propose("Profile, theme: dark", metadata=told)


@pytest.mark.parametrize("key", ["theme", "language"])
def test_a_confirmed_profile_value_takes_the_place_of_the_one_before(
    memory: Memory, clock: FixedClock, key: str
) -> None:
    def value(text: str) -> Atom:
        told = {"profile_key": key, "value": text, "reason": "r"}
        return memory.propose(f"{key}: {text}", metadata=told).atom

    first = value("one")
    memory.review.confirm(first.id)
    second = value("two")
    clock.at += DAY
    receipt = memory.review.confirm(second.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED]
    old, new = memory.get(first.id), memory.get(second.id)
    assert (old.status, old.superseded_by, old.valid_until) == (Status.SUPERSEDED, (new.id,), clock.at)
    assert (new.status, new.supersedes, new.valid_from) == (Status.ACTIVE, (old.id,), clock.at)


def test_a_profile_value_said_after_the_proposal_gives_way_to_the_confirmation(
    memory: Memory, clock: FixedClock
) -> None:
    dark = theme(memory, "dark")
    clock.at += DAY
    told = {"profile_key": "theme", "value": "light"}
    light = memory.remember("Profile, theme: light", kind="preference", value="light", metadata=told).atom
    clock.at += DAY
    memory.review.confirm(dark.id)
    assert statuses(memory, dark, light) == [Status.ACTIVE, Status.SUPERSEDED]


def test_the_same_profile_value_again_is_no_proposal(memory: Memory) -> None:
    dark = theme(memory, "dark")
    memory.review.confirm(dark.id)
    again = memory.propose("It is dark.", metadata={"profile_key": "theme", "value": "dark", "reason": "r"})
    assert again.outcomes[0].result is Result.DUPLICATE


def test_a_statement_is_edited_and_confirmed_in_one_commit(memory: Memory) -> None:
    rome = memory.remember("Ann lives in Rome.", subject="Ann", attribute="home", value="Rome").atom
    memory.now()
    held = memory.remember(
        "Ann lives in Osloo.", subject="Ann", attribute="home", value="Osloo", origin="import", observed_at=NOON + DAY
    ).atom
    before = len(memory.journal())
    done = memory.review.edit(held.id, "Ann lives in Oslo.", value="Oslo", reason="a slip")
    assert len(memory.journal()) == before + 1
    assert (done.atom.content, done.atom.value, done.atom.status) == ("Ann lives in Oslo.", "Oslo", Status.ACTIVE)
    assert memory.get(rome.id).superseded_by == (held.id,)
    assert memory.journal()[-1].reason.startswith("a slip")


def test_facts_of_one_topic_become_one_cited_synthesis_that_waits(memory: Memory) -> None:
    sources = shed(memory, "spade", "rake") + shed(memory, "hose", origin="agent")
    assert memory.review.compact().receipt.commit is None
    (group,) = memory.review.compact(create_proposals=True).groups
    made = memory.get(group.proposal.id)
    assert (made.kind, made.status, made.origin) == ("synthesis", Status.CONSTRAINED, Origin.AGENT)
    assert set(made.derived_from) == {source.id for source in sources}
    assert set(made.metadata["compacted_from"].split()) == set(made.derived_from)
    for source in sources:
        assert source.content in made.content
        assert source.id in made.content
    assert statuses(memory, *sources) == [Status.ACTIVE] * 3


def test_a_confirmed_synthesis_takes_the_place_of_its_sources_and_rollback_brings_them_back(
    memory: Memory, clock: FixedClock
) -> None:
    sources = shed(memory, "spade", "rake", "hose")
    clock.at += DAY
    (group,) = memory.review.compact(create_proposals=True).groups
    before = {source.id: memory.get(source.id) for source in sources}
    memory.review.confirm(group.proposal.id)
    assert statuses(memory, *sources) == [Status.SUPERSEDED] * 3
    assert {memory.get(source.id).superseded_by for source in sources} == {(group.proposal.id,)}
    assert set(memory.get(group.proposal.id).supersedes) == before.keys()
    position = len(memory.journal())
    memory.rollback(group.proposal.id, "they were clearer")
    assert len(memory.journal()) == position + 1
    assert {each: memory.get(each) for each in before} == before
    assert memory.get(group.proposal.id).status is Status.TOMBSTONED
    assert "they were clearer" in memory.journal()[-1].reason


def test_the_same_words_of_two_subjects_are_put_together_once(memory: Memory) -> None:
    for subject in ("shed", "barn"):
        memory.remember("The door sticks.", subject=subject, tags=["doors"])
    memory.remember("The window sticks.", tags=["doors"])
    (group,) = memory.review.compact(create_proposals=True).groups
    assert (group.basis, len(group.members)) == ("the same words", 2)
    assert group.proposal.content == "The door sticks."


def test_no_statement_sits_in_two_open_proposals(memory: Memory) -> None:
    for name in ("spade", "rake"):
        memory.remember(f"The {name} is new.", tags=["garden", "tools"])
    groups = memory.review.compact(create_proposals=True).groups
    assert [len(group.members) for group in groups] == [2]


@pytest.mark.parametrize("kept", ["pinned", "claim", "event", "constrained", "ends"])
def test_what_is_pinned_claims_happened_waits_or_ends_by_itself_is_not_compacted(memory: Memory, kept: str) -> None:
    shed(memory, "spade")
    told: dict[str, dict[str, Any]] = {
        "pinned": {"pinned": True},
        "claim": {"subject": "rake", "attribute": "place"},
        "event": {"kind": "event"},
        "constrained": {"origin": "import"},
        "ends": {"valid_until": NOON + DAY},
    }
    shed(memory, "rake", **told[kept])
    assert memory.review.compact(create_proposals=True).groups == ()


def test_a_synthesis_whose_source_has_changed_meanwhile_cannot_be_confirmed(memory: Memory) -> None:
    spade, _ = shed(memory, "spade", "rake")
    (group,) = memory.review.compact(create_proposals=True).groups
    memory.forget(spade.id, "sold")
    with pytest.raises(Refused, match="compact again"):
        memory.review.confirm(group.proposal.id)
    (item,) = memory.review.list(kind="proposal")
    assert "is refused" in dict(item.verbs)["confirm"]


def test_the_surest_then_oldest_procedure_of_a_workflow_becomes_canonical(memory: Memory, clock: FixedClock) -> None:
    weak = how(memory, "Copy the files over by hand.", confidence=0.6)
    clock.at += DAY
    old = how(memory, "Run the tests, tag the commit, then push.", confidence=0.9)
    clock.at += DAY
    young = how(memory, "Ask Marta to press the green button.", confidence=0.9)
    how(memory, "Boil water first.", workflow="tea")
    (group,) = memory.review.dedup(create_proposals=True).groups
    assert [member.id for member in group.members] == [old.id, young.id, weak.id]
    memory.review.confirm(group.proposal.id)
    assert statuses(memory, weak, old, young) == [Status.SUPERSEDED] * 3
    one = memory.get(group.proposal.id)
    assert (one.status, one.content, one.metadata["canonical"]) == (Status.ACTIVE, old.content, "true")
    memory.rollback(one.id)
    assert statuses(memory, weak, old, young) == [Status.ACTIVE] * 3


def test_confirming_the_canonical_procedure_that_successes_proposed_ends_the_one_it_came_from(memory: Memory) -> None:
    for n in range(3):
        memory.run(f"release-{n}").close("success", "Test, tag, push.", workflow="deploy")
    (held,) = memory.review.held()
    base = memory.get(held.derived_from[0])
    assert base.status is Status.ACTIVE
    memory.review.confirm(held.id)
    assert (memory.get(base.id).status, memory.get(base.id).superseded_by) == (Status.SUPERSEDED, (held.id,))
    assert {each.status for each in memory.list(kind="event", status=None)} == {Status.ACTIVE}


@pytest.mark.parametrize("verb", ["compact", "dedup"])
def test_a_pass_run_twice_changes_no_byte_and_what_was_rejected_is_not_proposed_again(
    memory: Memory, verb: str
) -> None:
    shed(memory, "spade", "rake")
    how(memory, "Test, tag, push.")
    how(memory, "Push, then pray.")
    propose = getattr(memory.review, verb)
    (group,) = propose(create_proposals=True).groups
    before, position = stands(memory), memory._store.position()
    assert propose(create_proposals=True).groups == ()
    assert (stands(memory), memory._store.position()) == (before, position)
    memory.review.reject(group.proposal.id, "they differ")
    assert propose(create_proposals=True).groups == ()
    memory.undo()
    memory.undo()
    assert len(propose(create_proposals=True).groups) == 1


def test_rollback_of_a_plain_statement_restores_what_it_had_ended_as_it_was(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    assert memory.get(oslo.id).status is Status.SUPERSEDED
    memory.rollback(rome.id)
    assert memory.get(oslo.id) == oslo
    assert memory.get(rome.id).supersedes == ()


def test_what_was_doubted_for_a_change_is_believed_again_when_the_change_is_rolled_back(
    memory: Memory, clock: FixedClock
) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    walk = memory.remember("Ann walks to the office in ten minutes.", subject="commute").atom
    memory.relate(walk.id, "depends_on", oslo.id)
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    assert statuses(memory, oslo, walk) == [Status.SUPERSEDED, Status.CHALLENGED]
    memory.rollback(rome.id)
    assert statuses(memory, oslo, walk) == [Status.ACTIVE, Status.ACTIVE]


def test_a_confirmation_doubts_what_rests_on_what_gives_way(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    walk = memory.remember("Ann walks to the office in ten minutes.", subject="commute").atom
    memory.relate(walk.id, "depends_on", oslo.id)
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", origin="import", **home).atom
    receipt = memory.review.confirm(rome.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED, Result.CHALLENGED]
    assert statuses(memory, oslo, walk) == [Status.SUPERSEDED, Status.CHALLENGED]


def test_rollback_is_refused_where_the_place_is_taken_and_says_by_whom(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    memory.update_status(rome.id, "challenged", "who says so?")
    clock.at += DAY
    bern = memory.remember("Ann lives in Bern.", value="Bern", origin="agent", **home).atom
    assert statuses(memory, oslo, rome, bern) == [Status.SUPERSEDED, Status.CHALLENGED, Status.ACTIVE]
    with pytest.raises(Refused, match=f"{oslo.id} by {bern.id}"):
        memory.rollback(rome.id)
    assert statuses(memory, oslo, rome, bern) == [Status.SUPERSEDED, Status.CHALLENGED, Status.ACTIVE]


def test_what_is_over_is_not_rolled_back_and_the_way_is_named(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    with pytest.raises(Refused, match=f"{rome.id}; roll that back first"):
        memory.rollback(oslo.id)
    memory.rollback(rome.id)
    with pytest.raises(Refused, match="lamina undo"):
        memory.rollback(rome.id)


def test_nobody_but_a_person_decides(memory: Memory, tmp_path: Path) -> None:
    one, other = shed(memory, "spade", "rake")
    memory.relate(one.id, "contradicts", other.id, 0.5)
    held = memory.propose("Tea is green.").atom
    before = stands(memory)
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent", actor="bot") as agent:
        for decide in (
            lambda: agent.review.confirm(held.id),
            lambda: agent.review.edit(held.id, "Tea is black."),
            lambda: agent.review.reject(held.id),
            lambda: agent.review.compact(create_proposals=True),
            lambda: agent.review.keep_a(one.id, other.id),
            lambda: agent.review.both_valid(one.id, other.id),
            lambda: agent.review.merge(one.id, other.id, "Both hang there."),
            lambda: agent.review.need_more(one.id, other.id),
            lambda: agent.rollback(one.id),
            lambda: agent.quarantine(origin="human", yes=True),
        ):
            with pytest.raises(Refused):
                decide()
    assert stands(memory) == before


def test_a_reason_is_asked_for_and_kept_without_secrets(memory: Memory) -> None:
    held = memory.propose("Tea is green.").atom
    for blank in ("", " "):
        with pytest.raises(InvalidInput, match="a reason is required"):
            memory.review.reject(held.id, blank)
        with pytest.raises(InvalidInput, match="a reason is required"):
            memory.rollback(held.id, blank)
    secret = "ghp_" + "k3Vb9Qw7Rt2Yp5Ls8Zx1Mn4Cd6Fg0Hj3Bv7N"
    memory.review.reject(held.id, f"it has {secret} in it")
    assert secret not in memory.journal()[-1].reason
