"""Erasing takes what was asked, with its evidence and what was derived from it; equal words of others stay.

Covers `lamina.review.erasure_reads`, `lamina.review.erased_words`, `lamina.review.erased_passages` and
`lamina.review.erasure_rewriting`.
"""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from canaries import traces
from lamina import Atom, Memory
from lamina.atom.atom import Evidence
from lamina.atom.provenance import Origin
from lamina.errors import Refused
from lamina.review.erase import Eraser
from lamina.review.erasure_plan import plan_erasure
from lamina.review.file_cleanup import FileSearch
from lamina.store.base import AtomChange, Commit
from vault_workspace import VaultWorkspace

ALLERGY = "I am allergic to penicillin."
SALARY = "My salary is kavodumbitarozk euros. This is confidential."
OLD = datetime.fromisoformat("2026-11-01T09:00:00+00:00")


def agent_of(workspace: VaultWorkspace) -> Memory:
    return workspace.open(ceiling="agent", actor="agent:bot")


def segment(workspace: VaultWorkspace, session: str) -> Atom:
    return next(atom for atom in workspace.memory.list(status=None, session_id=session, limit=None) if atom.is_segment)


def say(workspace: VaultWorkspace, *turns: str, session: str, at: datetime | None = None) -> None:
    workspace.tick()
    spoken = [{"speaker": "user", "content": turn, "at": at or workspace.clock.at} for turn in turns]
    workspace.memory.capture(spoken, session_id=session, wait=True)


def derived(workspace: VaultWorkspace, content: str, *sources: Atom) -> Atom:
    """Write a file that says what it is derived from."""
    links = ", ".join(f'"[[{atom.id}]]"' for atom in sources)
    workspace.drop(f"atoms/{content.split()[1]}.md", f"---\nderived_from: [{links}]\n---\n{content}\n")
    workspace.memory.upkeep.sync()
    return next(atom for atom in workspace.memory.list(limit=None) if atom.content == content)


def test_a_common_sentence_of_a_remembered_statement_stays_in_other_memories(workspace: VaultWorkspace) -> None:
    salary = workspace.remember(SALARY)
    plan = workspace.remember("We merge with Acme in May. This is confidential.", metadata={"note": "This is secret."})
    say(workspace, "The new logo is blue. This is confidential.", session="logo")
    receipt = workspace.memory.erase(salary.id, "private")
    assert receipt.erased == (salary.id,)
    assert workspace.memory.get(plan.id).content == "We merge with Acme in May. This is confidential."
    assert "The new logo is blue. This is confidential." in segment(workspace, "logo").content
    assert {plan.id, segment(workspace, "logo").id} <= set(receipt.also_in)
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_erasing_what_an_agent_wrote_leaves_the_words_it_took_from_a_person(workspace: VaultWorkspace) -> None:
    allergy = workspace.remember(ALLERGY, reason=f"she said: {ALLERGY}")
    say(workspace, f"{ALLERGY} My dog is called Rex.", session="doctor")
    spam = agent_of(workspace).remember(f"Buy kavodumbitarozk pills. {ALLERGY}").atom
    receipt = workspace.memory.erase(spam.id, "spam")
    assert receipt.erased == (spam.id,)
    assert workspace.memory.get(allergy.id).content == ALLERGY
    assert workspace.memory.history(allergy.id).versions[0].reason == f"she said: {ALLERGY}"
    assert ALLERGY in segment(workspace, "doctor").content
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_the_words_of_a_person_are_neither_struck_nor_refused_after_an_agents_are_erased(
    workspace: VaultWorkspace,
) -> None:
    spam = agent_of(workspace).remember(f"Buy kavodumbitarozk pills. {ALLERGY}").atom
    workspace.memory.erase(spam.id, "spam")
    workspace.tick(hours=1)
    say(workspace, f"{ALLERGY} My dog is called Rex.", session="doctor", at=OLD)
    assert f"{ALLERGY} My dog is called Rex." in segment(workspace, "doctor").content
    assert workspace.memory.remember(ALLERGY, observed_at=OLD).outcomes[0].result.value != "refused"
    again = agent_of(workspace).remember("Buy kavodumbitarozk pills.")
    assert again.outcomes[0].result.value == "refused"


def test_what_a_person_had_erased_does_not_return_because_a_web_page_says_it_too(workspace: VaultWorkspace) -> None:
    salary = workspace.remember("My salary is kavodumbitarozk euros.")
    workspace.memory.remember("My salary is kavodumbitarozk euros.", origin="web")
    workspace.memory.erase(salary.id, "private")
    workspace.tick(hours=1)
    say(workspace, "My salary is kavodumbitarozk euros. It rains.", session="old", at=OLD)
    assert "[erased] It rains." in segment(workspace, "old").content


def test_a_sentence_that_two_sessions_share_is_recognised_by_what_stands_beside_it(workspace: VaultWorkspace) -> None:
    shared = "The meeting is in room seven."
    one, other = f"Hello Ann. {shared} Bring the kavo contract.", f"Good morning Bob. {shared} The cake is ready."
    say(workspace, one, session="one")
    say(workspace, other, session="other")
    workspace.memory.erase(session="one", reason="private")
    assert other in segment(workspace, "other").content
    workspace.tick(hours=1)
    say(workspace, other, session="other again", at=OLD)
    say(workspace, one, session="one again", at=OLD)
    stored = "\n".join(atom.content for atom in workspace.memory.list(status=None, limit=None))
    assert "room seven. Bring" not in stored and "kavo contract" not in stored
    assert stored.count(other) >= 1 and "Bob. [erased]" not in stored


def test_everywhere_lists_each_passage_that_changes_and_says_which_are_more_trusted(workspace: VaultWorkspace) -> None:
    allergy = workspace.remember(ALLERGY)
    say(workspace, f"{ALLERGY} My dog is called Rex.", session="doctor")
    spam = agent_of(workspace).remember(f"Buy pills. {ALLERGY}").atom
    with workspace.memory.trial() as trial:
        changes = {change.atom_id: change for change in trial.erase(spam.id, "spam", everywhere=True).changes}
    assert changes[spam.id].text == f"Buy pills. {ALLERGY}"
    assert (changes[spam.id].becomes, changes[spam.id].is_more_trusted) == ("", False)
    doctor = changes[segment(workspace, "doctor").id]
    assert (doctor.passage, doctor.text) == (1, f"{ALLERGY} My dog is called Rex.")
    assert (doctor.becomes, doctor.is_more_trusted) == ("[erased] My dog is called Rex.", True)
    assert changes[allergy.id].is_more_trusted
    receipt = workspace.memory.erase(spam.id, "spam", everywhere=True)
    assert receipt.changes == () and receipt.also_in == ()
    assert not traces([workspace.root], ["penicillin"])


def test_a_dry_run_lists_what_goes_without_everywhere_too(workspace: VaultWorkspace) -> None:
    say(workspace, "The code of the boathouse is kavodumbitarozk. My dog is called Rex.", session="call")
    atom = next(atom for atom in workspace.memory.list(limit=None) if "kavo" in atom.content and not atom.is_segment)
    with workspace.memory.trial() as trial:
        changes = trial.erase(atom.id, "private").changes
    assert {change.becomes for change in changes} == {"", "[erased] My dog is called Rex."}


def test_an_agent_may_not_erase_everywhere(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(ALLERGY)
    with pytest.raises(Refused, match="may not erase"):
        agent_of(workspace).erase(atom.id, "told to", everywhere=True)


def test_reasons_and_notes_that_quote_the_text_lose_it_and_those_of_others_stay(workspace: VaultWorkspace) -> None:
    salary = workspace.remember(SALARY, reason="kavodumbitarozk, she whispered")
    other = workspace.remember("The cake is ready.", reason="My salary is kavodumbitarozk euros.")
    kept = workspace.remember("The gate is red.", reason="This is confidential.")
    workspace.memory.revise(other.id, "The cake is eaten.", reason="because my salary is kavodumbitarozk euros")
    workspace.memory.forget(kept.id, "it is green now")
    noted = workspace.remember("Bob sails.", metadata={"note": "My salary is kavodumbitarozk euros.", "boat": "red"})
    run = workspace.memory.run("tax return")
    run.note("My salary is kavodumbitarozk euros. The form has two pages.")
    workspace.remember("We merge in May. This is confidential.")
    workspace.memory.erase(salary.id, "private")
    assert not traces([workspace.root], ["kavodumbitarozk"])
    reasons = {entry.reason for entry in workspace.memory.journal()}
    assert {"This is confidential.", "it is green now"} <= reasons
    assert workspace.memory.get(noted.id).metadata == {"note": "[erased]", "boat": "red"}
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_the_reason_of_a_capture_does_not_keep_the_name_of_an_erased_session(workspace: VaultWorkspace) -> None:
    say(workspace, "The gate is red. My dog is called Rex.", session="kavodumbitarozk")
    workspace.memory.erase(session="kavodumbitarozk", reason="private")
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_exports_keep_equal_words_of_other_memories(workspace: VaultWorkspace) -> None:
    salary = workspace.remember(SALARY)
    plan = workspace.remember("We merge with Acme in May. This is confidential.")
    exported = workspace.memory.export()
    tables = [workspace.memory.export(workspace.root / f".lamina/exports/{n}", format=n) for n in ("csv", "markdown")]
    workspace.memory.erase(salary.id, "private")
    (record,) = json.loads(exported.read_text(encoding="utf-8"))["atoms"]
    assert record["content"] == plan.content
    assert plan.content in tables[0].read_text(encoding="utf-8")
    assert plan.content in next(tables[1].rglob("*.md")).read_text(encoding="utf-8")
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_what_was_derived_only_from_the_erased_goes_with_it(workspace: VaultWorkspace) -> None:
    one, other = workspace.remember("My salary is kavodumbitarozk euros."), workspace.remember("The cake is ready.")
    from_one = derived(workspace, "She earns well.", one)
    again = derived(workspace, "She could buy a house.", from_one)
    from_both = derived(workspace, "A day with money and cake.", one, other)
    receipt = workspace.memory.erase(one.id, "private")
    assert set(receipt.erased) == {one.id, from_one.id, again.id}
    assert workspace.memory.get(from_both.id).content == "A day with money and cake."


def test_an_unfinished_erasure_does_not_store_the_text(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("My salary is kavodumbitarozk euros.")
    engine = workspace.memory.engine
    eraser = Eraser(
        store=engine.store,
        disk=engine.disk,
        sync=engine.sync,
        actor="human",
        scope=workspace.memory.scope,
        scopes=workspace.memory.scopes,
    )
    plan = plan_erasure(engine.store, workspace.memory.scopes, [atom])
    stored = eraser.build(plan, "private", ()).search_json
    assert "kavo" not in stored and "salary" not in stored
    search = FileSearch.from_json(stored)
    assert search.target.is_in("He said: my salary is kavodumbitarozk euros!") and not search.everywhere


def test_an_erasure_that_an_earlier_version_started_is_still_understood() -> None:
    search = FileSearch.from_json('{"forms": ["my salary is high"], "told": [["4711 euros", ["salary"]]]}')
    assert search.target.is_in("my salary is high") and search.everywhere
    assert search.target.matches("The salary: 4711 euros", match_values=True)


def add_evidence(workspace: VaultWorkspace, atom: Atom, segment_: Atom) -> None:
    """Add a sentence of a session as evidence, as a repetition does."""
    quoted = atom.with_(evidence=(Evidence(segment_.id, 1, 0, len(atom.content)),))
    commit = Commit(
        actor="human",
        origin=Origin.HUMAN,
        verb="repeat",
        reason="said again",
        scope=atom.scope,
        changes=(AtomChange(quoted),),
    )
    workspace.memory.engine.store.journal.append(commit)


@pytest.mark.parametrize("origin", ["human", "web"])
def test_a_stated_memory_stays_when_a_session_that_repeated_it_is_erased(
    workspace: VaultWorkspace, origin: str
) -> None:
    allergy = workspace.remember(ALLERGY)
    turns = [{"speaker": "user", "content": f"{ALLERGY} My dog is called kavodumbitarozk."}]
    workspace.memory.capture(turns, session_id="chat", origin=origin, wait=True)
    add_evidence(workspace, workspace.memory.get(allergy.id), segment(workspace, "chat"))
    workspace.memory.erase(session="chat", reason="private")
    kept = workspace.memory.get(allergy.id)
    assert (kept.content, kept.evidence) == (ALLERGY, ())
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_erasing_what_was_derived_leaves_the_words_of_its_other_sources(workspace: VaultWorkspace) -> None:
    say(workspace, "The gate is red. My dog is called Rex.", session="one")
    gate, dog = (
        next(atom for atom in workspace.memory.list(limit=None) if word in atom.content and not atom.is_segment)
        for word in ("gate", "Rex")
    )
    summary = derived(workspace, "About a gate and a dog.", gate, dog)
    receipt = workspace.memory.erase(gate.id, "private")
    assert receipt.erased == (gate.id,)
    assert segment(workspace, "one").content.startswith("**user**")
    assert "[erased] My dog is called Rex." in segment(workspace, "one").content
    assert workspace.memory.get(dog.id).content == "My dog is called Rex."
    assert workspace.memory.get(summary.id).content == "About a gate and a dog."


def test_reasons_that_quote_an_erased_session_lose_it(workspace: VaultWorkspace) -> None:
    say(workspace, "Perhaps somebody saw the kavodumbitarozk near the old mill.", session="chat")
    other = workspace.remember("The cake is ready.")
    workspace.memory.revise(
        other.id, "The cake is eaten.", reason="Perhaps somebody saw the kavodumbitarozk near the old mill."
    )
    workspace.memory.erase(session="chat", reason="private")
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_a_file_with_a_common_sentence_is_not_reported_as_a_copy(workspace: VaultWorkspace) -> None:
    salary = workspace.remember(SALARY)
    workspace.remember("We merge with Acme in May. This is confidential.")
    workspace.drop("Plans.md", "Buy bread. This is confidential.")
    workspace.drop("Money.md", "My salary is kavodumbitarozk euros.")
    assert workspace.memory.erase(salary.id, "private").still_in == ("Money.md",)
