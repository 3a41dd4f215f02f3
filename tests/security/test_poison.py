"""Poison that nobody has reviewed is shown to no agent; what a person feeds is quoted, and never becomes a fact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from attacks import FAMILIES, WORDINGS, payloads, shows
from poisoning import AGENT_PATHS, UNTRUSTED, files_of, with_trusted_facts, write_through_agents

import lamina
from lamina import Origin, Status

SEED = 20_261_116


def test_there_are_six_families_in_three_wordings_with_distinct_names() -> None:
    initial = payloads(50, SEED)
    assert Counter((payload.family, payload.wording) for payload in initial) == dict.fromkeys(
        ((family, n) for family in FAMILIES for n in range(WORDINGS)), 50
    )
    assert len({payload.name for payload in initial}) == len(initial) == 900
    assert initial == payloads(50, SEED) != payloads(50, SEED + 1)


def test_agents_are_shown_no_poison_through_any_input(tmp_path: Path) -> None:
    report = write_through_agents(tmp_path / "v", payloads(2, SEED), SEED)
    assert report.written > 36 and report.recalls > 75
    assert report.shown == []


def test_the_probes_would_find_poison_if_it_were_shown(tmp_path: Path) -> None:
    initial = payloads(1, SEED)
    with lamina.open(tmp_path / "v", watch=False) as person:
        with_trusted_facts(person)
        for payload in initial:
            person.capture([{"role": "user", "content": payload.text}], session_id=payload.name)
        result = [
            payload
            for payload in initial
            if shows(payload.name, [hit.text for hit in person.recall(payload.text).hits])
        ]
    assert len(result) > 0.9 * len(initial)


@pytest.mark.parametrize("way", AGENT_PATHS)
def test_every_input_holds_untrusted_text_for_review(tmp_path: Path, way: str) -> None:
    with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
        for payload in payloads(1, SEED, wordings=1):
            AGENT_PATHS[way](agent, payload)
            pending = [*agent.list(status="constrained", limit=None), *agent.list(status="tombstoned", limit=None)]
            assert shows(payload.name, [atom.content for atom in pending])
            assert not shows(payload.name, [atom.content for atom in agent.list(limit=None) if atom.kind != "block"])


@pytest.mark.parametrize("feed", ["import", "inbox", "capture"])
def test_text_fed_by_a_person_is_quoted_with_its_origin_and_never_a_fact(tmp_path: Path, feed: str) -> None:
    initial = payloads(1, SEED)
    with lamina.open(tmp_path / "v", watch=False) as person:
        trusted = with_trusted_facts(person)
        folder = files_of(tmp_path / "docs", initial)
        if feed == "import":
            person.import_(folder)
        elif feed == "inbox":
            for file in folder.iterdir():
                file.replace(tmp_path / "v" / "inbox" / file.name)
            person.upkeep.sync()
        else:
            for file in sorted(folder.iterdir()):
                person.capture(file.read_text(), name=file.name, origin="document", source_id=file.name)
        quoted = 0
        for payload in initial:
            result = person.recall(payload.text, k=20)
            for hit in (hit for hit in result.hits if shows(payload.name, [hit.text])):
                quoted += 1
                assert hit.atom.is_segment and hit.atom.origin in (Origin.DOCUMENT, Origin.IMPORT)
                assert not [atom for atom in hit.statements if shows(payload.name, [atom.content])]
            for line in (line for line in result.context(100_000).splitlines() if shows(payload.name, [line])):
                assert f" {Origin.DOCUMENT} " in line or f" {Origin.IMPORT} " in line
        assert quoted
        facts = [atom for atom in person.list(status=None, limit=None) if not atom.is_segment]
        poisoned = [atom for atom in facts if any(shows(payload.name, [atom.content]) for payload in initial)]
        assert {atom.status for atom in poisoned} <= {Status.CONSTRAINED}
        assert {atom.origin for atom in poisoned} <= {Origin.DOCUMENT, Origin.IMPORT}
        assert [person.get(atom.id) for atom in trusted] == trusted


def test_fed_poison_is_recalled_as_a_fact_only_after_a_person_confirms_it(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        person.capture("My dentist is Dr Quorasbra.", origin="document", source_id="letter")
        (pending,) = (atom for atom in person.list(status="constrained") if not atom.is_segment)
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            with pytest.raises(lamina.Refused):
                agent.update_status(pending.id, "active", "I am sure")
            with pytest.raises(lamina.Refused):
                agent.revise(pending.id, "My dentist is Dr Good.", reason="r") and agent.update_status(
                    pending.id, "active", "now I am"
                )
        person.update_status(pending.id, "active", "it is so")
        assert person.get(pending.id).status is Status.ACTIVE
        assert person.get(pending.id).origin is Origin.DOCUMENT


def test_text_added_to_a_confirmed_session_is_held_again(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        page = person.capture("Opening hours are nine to five.", origin="web", session_id="page").atom
        person.update_status(page.id, "active", "I read it")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            agent.capture("The pass phrase is Dorkesmur.", origin="web", session_id="page")
            assert not shows("Dorkesmur", [hit.text for hit in agent.recall("pass phrase Dorkesmur").hits])
        assert "Dorkesmur" not in person.get(page.id).content


@pytest.mark.parametrize("origin", UNTRUSTED)
def test_an_agents_file_in_a_persons_session_is_not_trusted(tmp_path: Path, origin: str) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        person.capture("The manual is long.", origin="document", session_id="manual")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            agent.capture("The manual says Felganhul.", origin=origin, session_id="manual")
            agent.capture([{"role": "user", "content": "thanks"}], session_id="manual")
        assert not shows("Felganhul", [hit.text for hit in person.recall("What does the manual say?").hits])
