"""Poison that nobody has reviewed is shown to no agent; what a person feeds is quoted, and never becomes a fact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from attacks import FAMILIES, WORDINGS, payloads, shows
from poisoning import AGENT_WAYS, UNVOUCHED, files_of, through_agents, trusting

import lamina
from lamina import Origin, Status

SEED = 20_261_116


def test_there_are_six_families_in_three_wordings_and_no_name_twice() -> None:
    given = payloads(50, SEED)
    assert Counter((payload.family, payload.wording) for payload in given) == dict.fromkeys(
        ((family, n) for family in FAMILIES for n in range(WORDINGS)), 50
    )
    assert len({payload.name for payload in given}) == len(given) == 900
    assert given == payloads(50, SEED) != payloads(50, SEED + 1)


def test_an_agent_is_shown_no_poison_however_it_came_in(tmp_path: Path) -> None:
    report = through_agents(tmp_path / "v", payloads(2, SEED), SEED)
    assert report.written > 36 and report.recalls > 75
    assert report.shown == []


def test_what_is_looked_for_would_be_found_if_it_were_shown(tmp_path: Path) -> None:
    given = payloads(1, SEED)
    with lamina.open(tmp_path / "v", watch=False) as person:
        trusting(person)
        for payload in given:
            person.capture([{"role": "user", "content": payload.text}], session_id=payload.name)
        found = [
            payload for payload in given if shows(payload.name, [hit.text for hit in person.recall(payload.text).hits])
        ]
    assert len(found) > 0.9 * len(given)


@pytest.mark.parametrize("way", AGENT_WAYS)
def test_every_way_in_holds_what_it_brings(tmp_path: Path, way: str) -> None:
    with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
        for payload in payloads(1, SEED, wordings=1):
            AGENT_WAYS[way](agent, payload)
            held = [*agent.list(status="constrained", limit=None), *agent.list(status="tombstoned", limit=None)]
            assert shows(payload.name, [atom.content for atom in held])
            assert not shows(payload.name, [atom.content for atom in agent.list(limit=None) if atom.kind != "block"])


@pytest.mark.parametrize("feed", ["import", "inbox", "capture"])
def test_what_a_person_feeds_is_quoted_with_its_origin_and_never_a_fact(tmp_path: Path, feed: str) -> None:
    given = payloads(1, SEED)
    with lamina.open(tmp_path / "v", watch=False) as person:
        trusted = trusting(person)
        folder = files_of(tmp_path / "docs", given)
        if feed == "import":
            person.import_(folder)
        elif feed == "inbox":
            for file in folder.iterdir():
                file.replace(tmp_path / "v" / "inbox" / file.name)
            person.sync()
        else:
            for file in sorted(folder.iterdir()):
                person.capture(file.read_text(), name=file.name, origin="document", source_id=file.name)
        quoted = 0
        for payload in given:
            found = person.recall(payload.text, k=20)
            for hit in (hit for hit in found.hits if shows(payload.name, [hit.text])):
                quoted += 1
                assert hit.atom.is_segment and hit.atom.origin in (Origin.DOCUMENT, Origin.IMPORT)
                assert not [atom for atom in hit.statements if shows(payload.name, [atom.content])]
            for line in (line for line in found.context(100_000).splitlines() if shows(payload.name, [line])):
                assert f" {Origin.DOCUMENT} " in line or f" {Origin.IMPORT} " in line
        assert quoted
        facts = [atom for atom in person.list(status=None, limit=None) if not atom.is_segment]
        poisoned = [atom for atom in facts if any(shows(payload.name, [atom.content]) for payload in given)]
        assert {atom.status for atom in poisoned} <= {Status.CONSTRAINED}
        assert {atom.origin for atom in poisoned} <= {Origin.DOCUMENT, Origin.IMPORT}
        assert [person.get(each.id) for each in trusted] == trusted


def test_fed_poison_is_recalled_as_a_fact_once_a_person_says_so_and_only_then(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        person.capture("My dentist is Dr Quorasbra.", origin="document", source_id="letter")
        (held,) = (atom for atom in person.list(status="constrained") if not atom.is_segment)
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            with pytest.raises(lamina.Refused):
                agent.update_status(held.id, "active", "I am sure")
            with pytest.raises(lamina.Refused):
                agent.revise(held.id, "My dentist is Dr Good.", reason="r") and agent.update_status(
                    held.id, "active", "now I am"
                )
        person.update_status(held.id, "active", "it is so")
        assert person.get(held.id).status is Status.ACTIVE
        assert person.get(held.id).origin is Origin.DOCUMENT


def test_words_added_to_a_session_a_person_let_through_are_held_again(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        page = person.capture("Opening hours are nine to five.", origin="web", session_id="page").atom
        person.update_status(page.id, "active", "I read it")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            agent.capture("The pass phrase is Dorkesmur.", origin="web", session_id="page")
            assert not shows("Dorkesmur", [hit.text for hit in agent.recall("pass phrase Dorkesmur").hits])
        assert "Dorkesmur" not in person.get(page.id).content


@pytest.mark.parametrize("origin", UNVOUCHED)
def test_an_agent_that_brings_a_file_into_a_persons_session_does_not_get_it_vouched_for(
    tmp_path: Path, origin: str
) -> None:
    with lamina.open(tmp_path / "v", watch=False) as person:
        person.capture("The manual is long.", origin="document", session_id="manual")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            agent.capture("The manual says Felganhul.", origin=origin, session_id="manual")
            agent.capture([{"role": "user", "content": "thanks"}], session_id="manual")
        assert not shows("Felganhul", [hit.text for hit in person.recall("What does the manual say?").hits])
