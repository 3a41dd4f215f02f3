"""Nobody is told anything of a scope they may not read: no id, no word, no count."""

from __future__ import annotations

from pathlib import Path

import pytest
from tenants import SCOPES, VERBS, Vault, call_by_chance, public_verbs

import lamina
from lamina import InvalidInput, InvalidScope, Memory

SEED = 20_261_116


def test_every_public_verb_is_called_here() -> None:
    assert public_verbs() == set(VERBS)


def test_unauthorised_callers_see_nothing_of_a_scope_through_any_verb(tmp_path: Path) -> None:
    calls = call_by_chance(tmp_path, len(VERBS), SEED)
    assert calls.failures == []
    assert len(SCOPES) == 20 and len(calls.counts) == len(VERBS)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path, SEED)


def test_activity_in_other_scopes_changes_no_count_and_no_score(vault: Vault) -> None:
    def sight(memory: Memory) -> dict[str, object]:
        stats = {name: value for name, value in memory.upkeep.stats().items() if name != "bytes"}
        hits = memory.recall("What is the meeting word?", k=20).hits
        return {
            "stats": stats,
            "scores": [(hit.atom.id, hit.score) for hit in hits],
            "waiting": memory.waiting(),
            "listed": [atom.id for atom in memory.list(status=None, limit=None)],
            "held": memory.review.count(),
            "journal": [entry.id for entry in memory.journal()],
            "synced": repr(memory.upkeep.sync()),
            "problems": memory.upkeep.doctor().problems,
            "rebuilt": memory.upkeep.rebuild(),
            "jobs": memory.upkeep.jobs(),
        }

    mine, theirs = vault.memories["org:acme"], vault.memories["org:bolt"]
    before = sight(mine)
    theirs.capture([{"speaker": "Eve", "content": "The meeting word is tea."}], session_id="more")
    theirs.remember_many([{"content": f"Fact {n} on the meeting word."} for n in range(30)])
    theirs.forget(theirs.list()[0].id, "gone")
    (vault.root / "v" / "scopes" / "bolt" / "atoms" / "x.md").write_text("---\nbroken: [\n---\nwords")
    assert sight(mine) == before
    vault.close()


@pytest.mark.parametrize(
    "scope",
    [
        "",
        " ",
        "*",
        "org:*",
        "org:",
        "org",
        "None",
        "local",
        "org:local:*",
        "org:local:agent:",
        "org:local:agent:*",
        "ORG:local",
        "org:Local",
        "org:lоcal",
        "org:ｌocal",
        "org:local\n",
        " org:local",
        "org:local ",
        "org:../acme",
        "org:acme/../local",
        "org:local\0",
        "org:local:agent:../bot",
        "org:local:agent:bot:agent:bot",
        "org:%6cocal",
        "org:l\u200bocal",
        "org:local:Agent:bot",
        "org:lo%",
        "org:lo_al'--",
        "org:ﬁrm",
        "org:ı",
    ],
)
def test_an_invalid_scope_is_refused_everywhere(tmp_path: Path, scope: str) -> None:
    with pytest.raises(InvalidScope):
        lamina.open(tmp_path / "v", scope, watch=False)
    with lamina.open(tmp_path / "v", watch=False) as memory:
        memory.remember("Tea.")
        for scopes in ([scope], scope, ["org:local", scope]):
            with pytest.raises(InvalidScope):
                memory.recall("tea", scopes=scopes)


def test_an_invalid_list_of_scopes_is_refused(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as memory:
        for scopes in ([], (), [None], [3], ["org:acme"], ["org:local", "org:local:agent:bot"]):
            with pytest.raises(InvalidInput):
                memory.recall("tea", scopes=scopes)  # type: ignore[arg-type]


def test_an_agent_reads_its_organisation_and_no_sibling(vault: Vault) -> None:
    agent, org = vault.memories["org:fern:agent:bot"], vault.memories["org:fern"]
    assert {hit.atom.scope for hit in agent.recall("meeting word", k=50).hits} == {"org:fern", "org:fern:agent:bot"}
    assert {hit.atom.scope for hit in org.recall("meeting word", k=50).hits} == {"org:fern"}
    vault.close()
