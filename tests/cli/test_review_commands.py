"""`lamina review` and its neighbours: what they print, and that what they change can be tried first and undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from terminal import Cli


def remembered(cli: Cli, text: str, *options: str) -> str:
    return str(cli("remember", text, *options, "--json").data["outcomes"][0]["atom"]["id"])


def status(cli: Cli, atom_id: str) -> str:
    return str(cli("get", atom_id, "--json").data["status"])


@pytest.fixture
def held(cli: Cli) -> str:
    """A home that waits, beside one that counts."""
    home = ("--subject", "Ann", "--attribute", "home")
    remembered(cli, "Ann lives in Rome.", *home, "--value", "Rome", "--at", "2026-01-01")
    return remembered(cli, "Ann lives in Oslo.", *home, "--value", "Oslo", "--at", "2026-02-01", "--origin", "import")


@pytest.fixture
def pair(cli: Cli) -> tuple[str, str]:
    old = remembered(cli, "Ann trains at Northside.", "--at", "2026-01-01")
    new = remembered(cli, "She swims in the river now and then.", "--at", "2026-02-01")
    assert cli("relate", new, "contradicts", old, "--confidence", "0.5").code == 0
    return old, new


def test_review_alone_lists_what_waits_and_what_a_word_would_do(cli: Cli, held: str) -> None:
    told = cli("review").out
    assert held[-8:] in told
    assert "supersedes" in told
    (item,) = cli("review", "--json").data["items"]
    assert (item["kind"], item["ids"]) == ("statement", [held])
    assert [each["verb"] for each in item["verbs"]] == ["confirm", "reject", "edit"]
    assert item["atoms"][0]["content"] == "Ann lives in Oslo."


def test_the_list_is_narrowed_by_what_waits(cli: Cli, held: str, pair: tuple[str, str]) -> None:
    assert [each["kind"] for each in cli("review", "list", "--json").data["items"]] == ["statement", "pair"]
    assert [each["kind"] for each in cli("review", "list", "--kind", "pair", "--json").data["items"]] == ["pair"]
    assert cli("review", "list", "--kind", "nonsense").code == 2
    assert "lamina review keep" in cli("review").out


def test_a_statement_is_confirmed_in_other_words(cli: Cli, held: str) -> None:
    tried = cli("review", "edit", held, "Ann lives in Bern.", "--value", "Bern", "--dry-run", "--json").data
    assert tried["decisions"][0]["commit"] is None
    assert status(cli, held) == "constrained"
    done = cli("review", "edit", held, "Ann lives in Bern.", "--value", "Bern", "--json").data["decisions"][0]
    assert [each["result"] for each in done["outcomes"]] == ["supersedes", "superseded"]
    assert cli("get", held, "--json").data["content"] == "Ann lives in Bern."
    assert cli("undo", done["commit"]).code == 0
    assert status(cli, held) == "constrained"


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
def test_a_pair_is_decided_tried_and_undone(
    cli: Cli, pair: tuple[str, str], words: tuple[str, ...], statuses: tuple[str, str]
) -> None:
    (found,) = cli("review", "pairs", "--json").data
    assert (found["a"]["id"], found["b"]["id"]) == pair
    command = ["review", *(word.format(old=pair[0], new=pair[1]) for word in words)]
    assert cli(*command, "--dry-run").code == 0
    assert len(cli("review", "pairs", "--json").data) == 1
    commit = cli(*command, "--json").data["decisions"][0]["commit"]
    assert cli("review", "pairs", "--json").data == []
    assert (status(cli, pair[0]), status(cli, pair[1])) == statuses
    assert cli("undo", commit).code == 0
    assert len(cli("review", "pairs", "--json").data) == 1


def test_a_pair_that_was_put_off_is_shown_with_its_note_if_asked_for(cli: Cli, pair: tuple[str, str]) -> None:
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
    told = cli("rollback", second["id"], "--reason", "too bright", "--json").data["decisions"][0]
    assert [each["result"] for each in told["outcomes"]] == ["taken back", "restored"]
    assert (status(cli, first["id"]), status(cli, second["id"])) == ("active", "tombstoned")
    assert cli("rollback", second["id"]).code == 4
    assert cli("profile", "propose", "theme", "dark").code == 2


def test_compaction_and_dedup_show_groups_and_propose_only_when_told_to(cli: Cli) -> None:
    for text in ("The spade hangs in the shed.", "Marta borrowed a rake last autumn."):
        remembered(cli, text, "--tag", "garden")
    assert "nothing was proposed" in cli("semantic", "compact").out
    assert "nothing is pending" in cli("review").out
    assert cli("semantic", "compact", "--create-proposals", "--dry-run", "--json").data["commit"] is None
    made = cli("semantic", "compact", "--create-proposals", "--json").data
    (group,) = made["groups"]
    assert (group["basis"], len(group["members"]), group["proposal"]["status"]) == ("topic garden", 2, "constrained")
    assert cli("semantic", "compact", "--create-proposals", "--json").data["groups"] == []
    assert "no groups found" in cli("procedural", "dedup", "--create-proposals").out
    assert cli("review", "list", "--kind", "proposal", "--json").data["items"][0]["ids"] == [group["proposal"]["id"]]


def test_a_quarantine_is_tried_asked_about_and_undone(cli: Cli, vault: Path) -> None:
    good = remembered(cli, "Tea is green.", "--session", "good")
    bad = remembered(cli, "Milk is black.", "--session", "bad")
    tried = cli("quarantine", "--session", "bad", "--dry-run", "--json").data["decisions"][0]
    assert [each["atom"]["id"] for each in tried["outcomes"]] == [bad]
    assert status(cli, bad) == "active"
    refused = cli("quarantine", "--session", "bad")
    assert refused.code == 4
    assert "--yes" in refused.err
    files = {path: path.read_bytes() for path in vault.rglob("*.md")}
    done = cli("quarantine", "--session", "bad", "--yes", "--json").data["decisions"][0]
    assert (status(cli, good), status(cli, bad)) == ("active", "constrained")
    cli("undo", done["commit"])
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == files
    assert cli("quarantine").code == 2
    assert cli("quarantine", "--source", "nowhere").code == 3
