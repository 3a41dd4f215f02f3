"""What a person decides: proposals, compactions, canonical procedures, rollback. Each is one commit.

Covers `lamina.review.proposals` and `lamina.review.proposals`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from store_snapshot import store_snapshot

import lamina
from lamina import Atom, FixedClock, InvalidInput, Memory, Origin, Refused, Result, Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def theme(memory: Memory, value: str, **fields: Any) -> Atom:
    result = {"profile_key": "theme", "value": value, "reason": "asked twice"}
    return memory.propose(f"Profile, theme: {value}", metadata=result, **fields).atom


GARDEN = {
    "spade": "The spade hangs in the shed.",
    "rake": "Marta borrowed a rake last autumn.",
    "hose": "Twenty metres of hose lie behind the barrel.",
}


def add_garden_facts(memory: Memory, *names: str, **fields: Any) -> list[Atom]:
    return [memory.remember(GARDEN[name], tags=["garden"], **fields).atom for name in names]


def procedure_fields(
    memory: Memory, text: str, workflow: str = "deploy", confidence: float = 1.0, **fields: Any
) -> Atom:
    result = {"workflow": workflow, "canonical": "false"}
    return memory.remember(text, kind="procedure", metadata=result, confidence=confidence, **fields).atom


def statuses(memory: Memory, *atoms: Atom) -> list[Status]:
    return [memory.get(atom.id).status for atom in atoms]


def test_every_proposal_is_pending_whoever_makes_it(memory: Memory, tmp_path: Path) -> None:
    mine = theme(memory, "dark")
    assert (mine.status, mine.origin) == (Status.CONSTRAINED, Origin.HUMAN)
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent") as agent:
        theirs = agent.propose("Tea is green.").atom
    assert (theirs.status, theirs.origin) == (Status.CONSTRAINED, Origin.AGENT)
    assert memory.recall("theme").hits == ()


@pytest.mark.parametrize("missing", ["value", "reason"])
def test_a_proposal_for_the_profile_names_its_value_and_reason(memory: Memory, missing: str) -> None:
    fields = {"profile_key": "theme", "value": "dark", "reason": "asked twice"} | {missing: " "}
    with pytest.raises(InvalidInput, match=missing):
        memory.propose("Profile, theme: dark", metadata=fields)


@pytest.mark.parametrize("key", ["theme", "language"])
def test_a_confirmed_profile_value_supersedes_the_one_before(memory: Memory, clock: FixedClock, key: str) -> None:
    def value(text: str) -> Atom:
        fields = {"profile_key": key, "value": text, "reason": "r"}
        return memory.propose(f"{key}: {text}", metadata=fields).atom

    first = value("one")
    memory.review.confirm(first.id)
    second = value("two")
    clock.at += DAY
    receipt = memory.review.confirm(second.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED]
    old, new = memory.get(first.id), memory.get(second.id)
    assert (old.status, old.superseded_by, old.valid_until) == (Status.SUPERSEDED, (new.id,), clock.at)
    assert (new.status, new.supersedes, new.valid_from) == (Status.ACTIVE, (old.id,), clock.at)


def test_a_profile_value_stated_after_the_proposal_yields_to_the_confirmation(
    memory: Memory, clock: FixedClock
) -> None:
    dark = theme(memory, "dark")
    clock.at += DAY
    fields = {"profile_key": "theme", "value": "light", "reason": "said so"}
    light = memory.remember("Profile, theme: light", kind="preference", value="light", metadata=fields).atom
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
    atom = memory.remember(
        "Ann lives in Osloo.", subject="Ann", attribute="home", value="Osloo", origin="import", observed_at=NOON + DAY
    ).atom
    before = len(memory.journal())
    result = memory.review.edit(atom.id, "Ann lives in Oslo.", value="Oslo", reason="a slip")
    assert len(memory.journal()) == before + 1
    assert (result.atom.content, result.atom.value, result.atom.status) == ("Ann lives in Oslo.", "Oslo", Status.ACTIVE)
    assert memory.get(rome.id).superseded_by == (atom.id,)
    assert memory.journal()[-1].reason.startswith("a slip")


def test_facts_of_one_topic_become_one_pending_cited_synthesis(memory: Memory) -> None:
    sources = add_garden_facts(memory, "spade", "rake") + add_garden_facts(memory, "hose", origin="agent")
    assert memory.review.compact().receipt.commit is None
    (group,) = memory.review.compact(create_proposals=True).groups
    atom = memory.get(group.proposal.id)
    assert (atom.kind, atom.status, atom.origin) == ("synthesis", Status.CONSTRAINED, Origin.AGENT)
    assert set(atom.derived_from) == {source.id for source in sources}
    assert atom.metadata["compacted_from"] == atom.derived_from
    for source in sources:
        assert source.content in atom.content
        assert source.id in atom.content
    assert statuses(memory, *sources) == [Status.ACTIVE] * 3


def test_a_confirmed_synthesis_replaces_its_sources_and_rollback_restores_them(
    memory: Memory, clock: FixedClock
) -> None:
    sources = add_garden_facts(memory, "spade", "rake", "hose")
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
    assert {item: memory.get(item) for item in before} == before
    assert memory.get(group.proposal.id).status is Status.TOMBSTONED
    assert "they were clearer" in memory.journal()[-1].reason


def test_the_same_text_about_two_subjects_is_grouped_once(memory: Memory) -> None:
    for subject in ("shed", "barn"):
        memory.remember("The door sticks.", subject=subject, tags=["doors"])
    memory.remember("The window sticks.", tags=["doors"])
    (group,) = memory.review.compact(create_proposals=True).groups
    assert (group.basis, len(group.members)) == ("the same words", 2)
    assert group.proposal.content == "The door sticks."


def test_no_statement_is_in_two_open_proposals(memory: Memory) -> None:
    for name in ("spade", "rake"):
        memory.remember(f"The {name} is new.", tags=["garden", "tools"])
    groups = memory.review.compact(create_proposals=True).groups
    assert [len(group.members) for group in groups] == [2]


@pytest.mark.parametrize("stored", ["pinned", "claim", "event", "constrained", "ends"])
def test_pinned_claimed_event_pending_and_expiring_statements_are_not_compacted(memory: Memory, stored: str) -> None:
    add_garden_facts(memory, "spade")
    fields: dict[str, dict[str, Any]] = {
        "pinned": {"pinned": True},
        "claim": {"subject": "rake", "attribute": "place"},
        "event": {"kind": "event"},
        "constrained": {"origin": "import"},
        "ends": {"valid_until": NOON + DAY},
    }
    add_garden_facts(memory, "rake", **fields[stored])
    assert memory.review.compact(create_proposals=True).groups == ()


def test_a_synthesis_whose_source_changed_meanwhile_cannot_be_confirmed(memory: Memory) -> None:
    spade, _ = add_garden_facts(memory, "spade", "rake")
    (group,) = memory.review.compact(create_proposals=True).groups
    memory.forget(spade.id, "sold")
    with pytest.raises(Refused, match="compact again"):
        memory.review.confirm(group.proposal.id)
    (item,) = memory.review.list(kind="proposal")
    assert "is refused" in dict(item.verbs)["confirm"]


def test_the_most_confident_then_oldest_procedure_of_a_workflow_becomes_canonical(
    memory: Memory, clock: FixedClock
) -> None:
    weak = procedure_fields(memory, "Copy the files over by hand.", confidence=0.6)
    clock.at += DAY
    old = procedure_fields(memory, "Run the tests, tag the commit, then push.", confidence=0.9)
    clock.at += DAY
    young = procedure_fields(memory, "Ask Marta to press the green button.", confidence=0.9)
    procedure_fields(memory, "Boil water first.", workflow="tea")
    (group,) = memory.review.dedup(create_proposals=True).groups
    assert [member.id for member in group.members] == [old.id, young.id, weak.id]
    memory.review.confirm(group.proposal.id)
    assert statuses(memory, weak, old, young) == [Status.SUPERSEDED] * 3
    one = memory.get(group.proposal.id)
    assert (one.status, one.content, one.metadata["canonical"]) == (Status.ACTIVE, old.content, True)
    memory.rollback(one.id)
    assert statuses(memory, weak, old, young) == [Status.ACTIVE] * 3


def test_confirming_a_proposed_canonical_procedure_ends_its_origin(memory: Memory) -> None:
    for n in range(3):
        memory.run(f"release-{n}").close("success", "Test, tag, push.", workflow="deploy")
    (proposal,) = memory.review.held()
    base = memory.get(proposal.derived_from[0])
    assert base.status is Status.ACTIVE
    memory.review.confirm(proposal.id)
    assert (memory.get(base.id).status, memory.get(base.id).superseded_by) == (Status.SUPERSEDED, (proposal.id,))
    assert {atom.status for atom in memory.list(kind="event", status=None)} == {Status.ACTIVE}


@pytest.mark.parametrize("verb", ["compact", "dedup"])
def test_a_repeated_pass_changes_no_byte_and_rejected_proposals_are_not_repeated(memory: Memory, verb: str) -> None:
    add_garden_facts(memory, "spade", "rake")
    procedure_fields(memory, "Test, tag, push.")
    procedure_fields(memory, "Push, then pray.")
    propose = getattr(memory.review, verb)
    (group,) = propose(create_proposals=True).groups
    before, position = store_snapshot(memory), memory.engine.store.journal.position()
    assert propose(create_proposals=True).groups == ()
    assert (store_snapshot(memory), memory.engine.store.journal.position()) == (before, position)
    memory.review.reject(group.proposal.id, "they differ")
    assert propose(create_proposals=True).groups == ()
    memory.undo()
    memory.undo()
    assert len(propose(create_proposals=True).groups) == 1


def test_rollback_of_a_plain_statement_restores_what_it_superseded(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    assert memory.get(oslo.id).status is Status.SUPERSEDED
    memory.rollback(rome.id)
    assert memory.get(oslo.id) == oslo
    assert memory.get(rome.id).supersedes == ()


def test_a_challenged_dependant_is_restored_when_the_change_is_rolled_back(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    walk = memory.remember("Ann walks to the office in ten minutes.", subject="commute").atom
    memory.relate(walk.id, "depends_on", oslo.id)
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    assert statuses(memory, oslo, walk) == [Status.SUPERSEDED, Status.CHALLENGED]
    memory.rollback(rome.id)
    assert statuses(memory, oslo, walk) == [Status.ACTIVE, Status.ACTIVE]


def test_a_confirmation_challenges_dependants_of_the_superseded_value(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    walk = memory.remember("Ann walks to the office in ten minutes.", subject="commute").atom
    memory.relate(walk.id, "depends_on", oslo.id)
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", origin="import", **home).atom
    receipt = memory.review.confirm(rome.id)
    assert [outcome.result for outcome in receipt.outcomes] == [Result.SUPERSEDES, Result.SUPERSEDED, Result.CHALLENGED]
    assert statuses(memory, oslo, walk) == [Status.SUPERSEDED, Status.CHALLENGED]


def test_rollback_is_refused_with_the_holder_where_the_claim_is_taken(memory: Memory, clock: FixedClock) -> None:
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


def test_ended_statements_are_not_rolled_back_and_the_alternative_is_named(memory: Memory, clock: FixedClock) -> None:
    home: dict[str, Any] = {"subject": "Ann", "attribute": "home"}
    oslo = memory.remember("Ann lives in Oslo.", value="Oslo", **home).atom
    clock.at += DAY
    rome = memory.remember("Ann lives in Rome.", value="Rome", **home).atom
    with pytest.raises(Refused, match=f"{rome.id}; roll that back first"):
        memory.rollback(oslo.id)
    memory.rollback(rome.id)
    with pytest.raises(Refused, match="lamina undo"):
        memory.rollback(rome.id)


def test_only_a_person_decides(memory: Memory, tmp_path: Path) -> None:
    one, other = add_garden_facts(memory, "spade", "rake")
    memory.relate(one.id, "contradicts", other.id, 0.5)
    atom = memory.propose("Tea is green.").atom
    before = store_snapshot(memory)
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent", actor="bot") as agent:
        for decide in (
            lambda: agent.review.confirm(atom.id),
            lambda: agent.review.edit(atom.id, "Tea is black."),
            lambda: agent.review.reject(atom.id),
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
    assert store_snapshot(memory) == before


def test_a_reason_is_required_and_stored_without_secrets(memory: Memory) -> None:
    atom = memory.propose("Tea is green.").atom
    for blank in ("", " "):
        with pytest.raises(InvalidInput, match="a reason is required"):
            memory.review.reject(atom.id, blank)
        with pytest.raises(InvalidInput, match="a reason is required"):
            memory.rollback(atom.id, blank)
    secret = "ghp_" + "k3Vb9Qw7Rt2Yp5Ls8Zx1Mn4Cd6Fg0Hj3Bv7N"
    memory.review.reject(atom.id, f"it has {secret} in it")
    assert secret not in memory.journal()[-1].reason
