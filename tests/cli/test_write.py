"""The commands that write, and what their receipts print.

Covers `lamina.cli.receipts` and `lamina.documents.receipt`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_result import Cli


def test_the_first_write_makes_the_vault_and_reports_it(cli: Cli, vault: Path) -> None:
    result = cli("remember", "The bin is emptied on Monday.")
    assert result.code == 0
    assert f"created a vault in {vault}" in result.err
    assert (vault / ".lamina" / "vault.toml").is_file()
    assert "created a vault" not in cli("remember", "The bin is blue.").err


def test_every_write_prints_its_file_and_how_to_undo_it(cli: Cli, vault: Path) -> None:
    lines = cli("remember", "The bin is emptied on Monday.").out.splitlines()
    file = next(line.split()[-1] for line in lines if line.strip().startswith("file"))
    assert (vault / file).read_text(encoding="utf-8").endswith("The bin is emptied on Monday.\n")
    undo = next(line for line in lines if line.startswith("undo: "))
    words = undo.removeprefix("undo: lamina ").split()
    assert cli(*words).code == 0
    assert cli("list").out == "no such atoms\n"


def test_remember_accepts_every_field(cli: Cli) -> None:
    result = cli(
        "remember",
        "Ann lives in Lisbon.",
        "--kind",
        "fact",
        "--subject",
        "Ann",
        "--attribute",
        "city",
        "--value",
        "Lisbon",
        "--tag",
        "home",
        "--tag",
        "move",
        "--entity",
        "Ann",
        "--valid-from",
        "2026-05-01",
        "--valid-until",
        "2027-05-01",
        "--expires-at",
        "2028-01-01",
        "--at",
        "2026-05-02T10:00Z",
        "--pinned",
        "--confidence",
        "0.9",
        "--importance",
        "0.8",
        "--durability",
        "core",
        "--memory-type",
        "fact",
        "--session",
        "s",
        "--source",
        "t",
        "--origin",
        "agent",
        "--reason",
        "she said so",
        "--key",
        "k1",
        "--json",
    )
    (outcome,) = result.data["outcomes"]
    atom = outcome["atom"]
    expected = {
        "subject": "Ann",
        "attribute": "city",
        "value": "Lisbon",
        "tags": ["home", "move"],
        "entities": ["Ann"],
        "valid_from": "2026-05-01T00:00:00Z",
        "valid_until": "2027-05-02T00:00:00Z",
        "observed_at": "2026-05-02T10:00:00Z",
        "pinned": True,
        "confidence": 0.9,
        "importance": 0.8,
        "durability": "core",
        "memory_type": "fact",
        "session_id": "s",
        "source_id": "t",
        "origin": "agent",
        "claim": "ann::city",
    }
    assert {name: atom[name] for name in expected} == expected
    assert cli("journal", "--json").data["entries"][0]["reason"] == "she said so"
    again = cli("remember", "Whatever.", "--key", "k1", "--json").data
    assert again["repeated"] is True


def test_remember_reads_a_pipe(cli: Cli) -> None:
    assert "The lamp is in the attic." in cli("remember", "-", stdin="The lamp is in the attic.\n").out


def test_a_new_value_supersedes_and_a_repeated_one_changes_nothing(cli: Cli) -> None:
    claim = ("--kind", "preference", "--subject", "Ann", "--attribute", "roast")
    first = cli("remember", "Ann prefers light roast coffee.", *claim, "--json").data["outcomes"][0]["atom"]
    words = ("remember", "Ann prefers dark roast coffee.", *claim)
    assert cli(*words).out.startswith("supersedes: preference")
    again = cli(*words)
    assert again.out.startswith("duplicate: ")
    assert "nothing had to be changed" in again.out
    shown = cli("get", first["id"], "--json").data
    assert (shown["status"], shown["claim"]) == ("superseded", "ann::roast")


def test_capture_stores_the_words_and_remembers_requests(cli: Cli, vault: Path) -> None:
    words = ("capture", "Remember that I fly on Friday.", "--speaker", "Ann", "--session", "call", "--at", "2026-11-01")
    result = cli(*words, "--json")
    stored, outcome = result.data["outcomes"]
    assert (stored["result"], outcome["result"], outcome["atom"]["content"]) == ("kept", "new", "I fly on Friday.")
    text = (vault / stored["atom"]["path"]).read_text(encoding="utf-8")
    assert "**Ann** 2026-11-01T00:00:00Z\nRemember that I fly on Friday. ^p1" in text
    output = cli("get", outcome["atom"]["id"][-6:]).out
    assert "#^p1]]: “I fly on Friday.”" in output


def test_capture_accepts_a_file_a_pipe_and_json_turns(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("One.\n\nTwo.\n", encoding="utf-8")
    from_file = cli("capture", str(tmp_path / "notes.md"), "--json").data["outcomes"][0]["atom"]
    assert from_file["source_id"] == "notes.md"
    assert "Two. ^p2" in from_file["content"]
    assert cli("capture", "-", stdin="Three.").code == 0
    assert cli("capture", stdin="Four.").code == 0
    turns = "\n".join(json.dumps({"role": who, "content": f"I am {who}."}) for who in ("user", "assistant"))
    from_turns = cli("capture", "-", "--jsonl", "--source", "chat", "--json", stdin=turns).data["outcomes"][0]["atom"]
    assert from_turns["source_id"] == "chat"
    assert "**assistant**" in from_turns["content"]


def test_capture_refuses_invalid_input(cli: Cli) -> None:
    assert cli("capture", "nowhere.md").code == 3
    assert "pipe it in" in cli("capture", "nowhere.md").err
    assert cli("capture", "-", stdin=b"\xff\xfe").code == 2
    assert cli("capture", "-", stdin="").code == 2
    assert cli("capture", "-", "--turns", stdin="not json").code == 2
    assert cli("capture", "x", "--at", "noon").code == 2
    assert cli("capture", "a\0b").code == 2


def test_revise_writes_a_new_version(cli: Cli, coffee: str) -> None:
    result = cli("revise", coffee[-6:], "Ann prefers tea.", "--reason", "asked her", "--tag", "drink", "--json")
    assert result.data["atom"]["content"] == "Ann prefers tea."
    assert result.data["atom"]["tags"] == ["drink"]
    assert cli("revise", coffee, "--importance", "0.9", "--json").data["atom"]["tags"] == ["drink"]
    versions = cli("history", coffee, "--json").data["versions"]
    assert [version["revision"] for version in versions] == [1, 2, 3]
    assert versions[1]["reason"] == "asked her"
    assert cli("revise", coffee, "--confidence", "7").code == 2


def test_status_changes_follow_the_transition_table(cli: Cli, coffee: str) -> None:
    assert cli("status", coffee, "challenged", "--reason", "not sure").out.startswith("challenged: preference")
    assert cli("status", coffee, "merged", "--reason", "x").code == 4
    assert cli("status", coffee, "nonsense", "--reason", "x").code == 2
    assert cli("status", coffee, "active").code == 2
    assert cli("status", coffee, "active", "--reason", " ").code == 2


def test_forget_is_reversed_by_undo(cli: Cli, coffee: str, vault: Path) -> None:
    result = cli("forget", coffee, "--reason", "moved", "--json")
    assert result.data["atom"]["status"] == "tombstoned"
    assert (vault / result.data["atom"]["path"]).is_file()
    assert cli("recall", "coffee").out == "nothing known\n"
    assert cli("undo", result.data["commit"][-8:]).code == 0
    assert "light roast" in cli("recall", "coffee").out


def test_pin_is_reversed_by_unpin(cli: Cli, coffee: str) -> None:
    assert cli("pin", coffee, "--json").data["atom"]["pinned"] is True
    again = cli("pin", coffee)
    assert again.out.startswith("unchanged: ")
    assert "nothing had to be changed" in again.out
    assert "preference *" in cli("list").out
    assert cli("unpin", coffee, "--json").data["atom"]["pinned"] is False


def test_a_reason_names_other_atoms_by_their_text(cli: Cli, coffee: str) -> None:
    other = cli("remember", "The cafe opens at nine.", "--json").data["outcomes"][0]["atom"]["id"]
    printed = cli("relate", other, "supports", coffee).out
    why = next(line for line in printed.splitlines() if line.startswith("  why"))
    text = cli("get", coffee, "--json").data["content"]
    assert why == f"  why   supports “{text}” ({coffee[-8:]})"
    assert coffee not in cli("history", other).out


def test_related_atoms_are_neighbours(cli: Cli, coffee: str) -> None:
    other = cli("remember", "The grinder broke.", "--json").data["outcomes"][0]["atom"]["id"]
    result = cli("relate", other, "depends_on", coffee[-8:], "--confidence", "0.5", "--json")
    assert result.data["atom"]["relations"] == [{"name": "depends_on", "target": coffee, "confidence": 0.5}]
    (near,) = cli("neighbours", coffee, "--json").data["neighbours"]
    assert (near["direction"], near["relation"], near["atom"]["id"]) == ("in", "depends_on", other)
    assert "depends_on →" in cli("neighbours", other).out
    assert cli("relate", other, "likes", coffee).code == 2
    assert cli("relate", other, "supports", other).code == 2


def test_undo_is_refused_after_later_commits_and_cascades_on_request(cli: Cli, coffee: str) -> None:
    commit = cli("journal", "--json").data["entries"][0]["commit"]
    cli("revise", coffee, "Ann prefers tea.")
    refused = cli("undo", commit)
    assert refused.code == 4
    assert "--cascade" in refused.err
    assert len(cli("undo", commit, "--cascade", "--json").data["commits"]) == 2
    assert cli("undo").code == 3
    assert cli("undo", "01m7gmcnz2sbr5zw6dghygmg6w").code == 3


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "Ann prefers dark roast coffee.", "--kind", "preference", "--subject", "Ann"),
        ("capture", "Remember that the tea is green."),
        ("revise", "ID", "Ann prefers tea."),
        ("status", "ID", "challenged", "--reason", "x"),
        ("forget", "ID"),
        ("pin", "ID"),
        ("relate", "ID", "supports", "OTHER"),
        ("undo",),
        ("undo", "COMMIT", "--cascade"),
    ],
)
def test_a_dry_run_reports_the_changes_and_makes_none(
    cli: Cli, coffee: str, vault: Path, words: tuple[str, ...]
) -> None:
    other = cli("remember", "The grinder broke.", "--json").data
    named = {"ID": coffee, "OTHER": other["outcomes"][0]["atom"]["id"], "COMMIT": other["commit"]}
    before = _file_texts(vault), cli("list", "--all", "--json").out, cli("journal", "--json").out
    result = cli(*(named.get(word, word) for word in words), "--dry-run")
    assert result.code == 0, result.err
    assert "dry run: nothing was changed" in result.out
    assert "file" in result.out
    assert (_file_texts(vault), cli("list", "--all", "--json").out, cli("journal", "--json").out) == before
    assert cli("doctor", "--deep").code == 0


def test_a_dry_run_makes_no_vault(cli: Cli, vault: Path) -> None:
    assert cli("remember", "x y z", "--dry-run").code == 3
    assert not vault.exists()


def test_an_agents_private_atoms_stay_private(cli: Cli) -> None:
    cli("--scope", "org:local:agent:a", "remember", "The secret is blue.", "--private")
    assert "blue" in cli("recall", "secret", "--scope", "org:local:agent:a").out
    assert cli("recall", "secret").out == "nothing known\n"
    assert cli("recall", "secret", "--only", "org:local:agent:b").code == 2
    assert cli("recall", "secret", "--scope", "nobody").code == 2


def _file_texts(vault: Path) -> dict[str, bytes]:
    files = (path for path in vault.rglob("*.md") if path.is_file())
    return {str(file): file.read_bytes() for file in files}


def test_text_is_stored_although_no_model_is_available(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "minilm")
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(tmp_path / "no models"))
    actual = cli("capture", "Remember that the key is under the pot.")
    assert (actual.code, "under the pot" in actual.out) == (0, True)
    assert "the words are stored, but have no vectors yet: " in actual.err
    assert "lamina models download" in actual.err
    result = cli("recall", "key")
    assert (result.code, "lamina models" in result.err) == (1, True)
    monkeypatch.setenv("LAMINA_EMBEDDER", "auto")
    first, second = cli("recall", "key"), cli("recall", "key")
    assert "under the pot" in first.out
    assert "finds more with it" in first.err
    assert second.err == ""
