"""`lamina review` and related commands: what they print, and that their changes can be previewed and undone.

Covers `lamina.cli.proposals_and_quarantine`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from command_result import Cli


def remember_id(cli: Cli, text: str, *options: str) -> str:
    return str(cli("remember", text, *options, "--json").data["outcomes"][0]["atom"]["id"])


def status(cli: Cli, atom_id: str) -> str:
    return str(cli("get", atom_id, "--json").data["status"])


@pytest.fixture
def pending_home(cli: Cli) -> str:
    """A home that waits, beside one that counts."""
    home = ("--subject", "Ann", "--attribute", "home")
    remember_id(cli, "Ann lives in Rome.", *home, "--value", "Rome", "--at", "2026-01-01")
    return remember_id(cli, "Ann lives in Oslo.", *home, "--value", "Oslo", "--at", "2026-02-01", "--origin", "import")


@pytest.fixture
def pair(cli: Cli) -> tuple[str, str]:
    old = remember_id(cli, "Ann trains at Northside.", "--at", "2026-01-01")
    new = remember_id(cli, "She swims in the river now and then.", "--at", "2026-02-01")
    assert cli("relate", new, "contradicts", old, "--confidence", "0.5").code == 0
    return old, new


def test_review_alone_lists_pending_items_and_their_effects(cli: Cli, pending_home: str) -> None:
    output = cli("review").out
    assert pending_home[-8:] in output
    assert "supersedes" in output
    (item,) = cli("review", "--json").data["items"]
    assert (item["kind"], item["ids"]) == ("statement", [pending_home])
    assert [item["verb"] for item in item["verbs"]] == ["confirm", "reject", "edit"]
    assert item["atoms"][0]["content"] == "Ann lives in Oslo."


def test_the_list_is_filtered_by_type_of_item(cli: Cli, pending_home: str, pair: tuple[str, str]) -> None:
    assert [item["kind"] for item in cli("review", "list", "--json").data["items"]] == ["statement", "pair"]
    assert [item["kind"] for item in cli("review", "list", "--kind", "pair", "--json").data["items"]] == ["pair"]
    assert cli("review", "list", "--kind", "nonsense").code == 2
    assert "lamina review keep" in cli("review").out


def test_a_statement_is_confirmed_with_another_wording(cli: Cli, pending_home: str) -> None:
    tried = cli("review", "edit", pending_home, "Ann lives in Bern.", "--value", "Bern", "--dry-run", "--json").data
    assert tried["decisions"][0]["commit"] is None
    assert status(cli, pending_home) == "constrained"
    decision = cli("review", "edit", pending_home, "Ann lives in Bern.", "--value", "Bern", "--json").data["decisions"][
        0
    ]
    assert [outcome["result"] for outcome in decision["outcomes"]] == ["supersedes", "superseded"]
    assert cli("get", pending_home, "--json").data["content"] == "Ann lives in Bern."
    assert cli("undo", decision["commit"]).code == 0
    assert status(cli, pending_home) == "constrained"


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        (("keep", "{new}", "--over", "{old}"), ("superseded", "active")),
        (("keep", "{old}", "--over", "{new}"), ("active", "invalidated")),
        (("both", "{old}", "{new}"), ("active", "active")),
        (("merge", "{old}", "{new}", "Ann trains somewhere."), ("merged", "merged")),
        (("later", "{old}", "{new}", "--note", "ask her"), ("active", "active")),
    ],
)
def test_a_pair_is_decided_previewed_and_undone(
    cli: Cli, pair: tuple[str, str], words: tuple[str, ...], statuses: tuple[str, str]
) -> None:
    (result,) = cli("review", "pairs", "--json").data
    assert (result["a"]["id"], result["b"]["id"]) == pair
    command = ["review", *(word.format(old=pair[0], new=pair[1]) for word in words)]
    assert cli(*command, "--dry-run").code == 0
    assert len(cli("review", "pairs", "--json").data) == 1
    commit = cli(*command, "--json").data["decisions"][0]["commit"]
    assert cli("review", "pairs", "--json").data == []
    assert (status(cli, pair[0]), status(cli, pair[1])) == statuses
    assert cli("undo", commit).code == 0
    assert len(cli("review", "pairs", "--json").data) == 1


def test_a_postponed_pair_is_shown_with_its_note_on_request(cli: Cli, pair: tuple[str, str]) -> None:
    cli("review", "later", *pair, "--note", "ask her")
    assert cli("review", "pairs").out == "no two statements contradict each other\n"
    assert "ask her" in cli("review", "pairs", "--all").out


def test_a_profile_value_is_proposed_confirmed_and_rolled_back(cli: Cli) -> None:
    first = cli("profile", "propose", "theme", "dark", "--reason", "asked", "--json").data["outcomes"][0]["atom"]
    assert (first["status"], first["metadata"]["profile_key"]) == ("constrained", "theme")
    cli("review", "confirm", first["id"])
    second = cli("profile", "propose", "theme", "light", "--reason", "asked", "--json").data["outcomes"][0]["atom"]
    cli("review", "confirm", second["id"])
    assert (status(cli, first["id"]), status(cli, second["id"])) == ("superseded", "active")
    decision = cli("rollback", second["id"], "--reason", "too bright", "--json").data["decisions"][0]
    assert [outcome["result"] for outcome in decision["outcomes"]] == ["taken back", "restored"]
    assert (status(cli, first["id"]), status(cli, second["id"])) == ("active", "tombstoned")
    assert cli("rollback", second["id"]).code == 4
    assert cli("profile", "propose", "theme", "dark").code == 2


def test_compaction_and_dedup_show_groups_and_propose_only_on_request(cli: Cli) -> None:
    for text in ("The spade hangs in the shed.", "Marta borrowed a rake last autumn."):
        remember_id(cli, text, "--tag", "garden")
    assert "nothing was proposed" in cli("semantic", "compact").out
    assert "nothing is pending" in cli("review").out
    assert cli("semantic", "compact", "--create-proposals", "--dry-run", "--json").data["commit"] is None
    data = cli("semantic", "compact", "--create-proposals", "--json").data
    (group,) = data["groups"]
    assert (group["basis"], len(group["members"]), group["proposal"]["status"]) == ("topic garden", 2, "constrained")
    assert cli("semantic", "compact", "--create-proposals", "--json").data["groups"] == []
    assert "no groups found" in cli("procedural", "dedup", "--create-proposals").out
    assert cli("review", "list", "--kind", "proposal", "--json").data["items"][0]["ids"] == [group["proposal"]["id"]]


def test_a_quarantine_is_previewed_confirmed_and_undone(cli: Cli, vault: Path) -> None:
    good = remember_id(cli, "Tea is green.", "--session", "good")
    bad = remember_id(cli, "Milk is black.", "--session", "bad")
    tried = cli("quarantine", "--session", "bad", "--dry-run", "--json").data["decisions"][0]
    assert [outcome["atom"]["id"] for outcome in tried["outcomes"]] == [bad]
    assert status(cli, bad) == "active"
    refused = cli("quarantine", "--session", "bad")
    assert refused.code == 4
    assert "--yes" in refused.err
    files = {path: path.read_bytes() for path in vault.rglob("*.md")}
    decision = cli("quarantine", "--session", "bad", "--yes", "--json").data["decisions"][0]
    assert (status(cli, good), status(cli, bad)) == ("active", "constrained")
    cli("undo", decision["commit"])
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == files
    assert cli("quarantine").code == 2
    assert cli("quarantine", "--source", "nowhere").code == 3
