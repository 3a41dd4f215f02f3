"""The commands that read: recall, plan, get, list, history, journal and diff.

Covers `lamina.cli.journal_diff`, `lamina.cli.command_options`, `lamina.documents.journal`,
`lamina.documents.json_document` and `lamina.documents.stats`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from command_result import Cli

READING = [
    ("recall", "x"),
    ("top",),
    ("plan", "x"),
    ("feedback", "x"),
    ("get", "abcd"),
    ("list",),
    ("history", "abcd"),
    ("neighbours", "abcd"),
    ("journal",),
    ("diff",),
    ("stats",),
    ("doctor",),
    ("sync",),
    ("rebuild",),
    ("export",),
    ("undo",),
    ("forget", "abcd"),
    ("pin", "abcd"),
]


@pytest.mark.parametrize("words", READING)
def test_a_read_command_makes_no_vault_and_says_what_to_do(cli: Cli, vault: Path, words: tuple[str, ...]) -> None:
    result = cli(*words)
    assert result.code == 3
    assert result.out == ""
    assert "lamina init" in result.err
    assert not vault.exists()


def test_every_hit_shows_rank_score_text_date_file_and_reason(cli: Cli, coffee: str, vault: Path) -> None:
    first, second, third, last = cli("recall", "which coffee?").out.splitlines()
    assert first.startswith("1. 0.0")
    assert first.endswith("Ann prefers light roast coffee.")
    day, kind, ending, file = (part.strip() for part in second.split("·"))
    assert (len(day), kind) == (10, "preference")
    assert coffee.endswith(ending)
    assert (vault / file).is_file()
    assert third.startswith("   why: words 0.")
    assert "(has “coffee”)" in third
    assert last.startswith("give feedback: lamina feedback ")


def test_the_parts_of_an_explained_score_multiply_back(cli: Cli, coffee: str) -> None:
    (hit,) = cli("recall", "light coffee", "-k", "1", "--json").data["hits"]
    assert hit["relevance"] == pytest.approx(sum(hit["terms"].values()))
    assert hit["terms"]["text"] == pytest.approx(sum(hit["words"].values()))
    weights = 1.0
    for weight in hit["weights"].values():
        weights *= weight
    assert hit["score"] == pytest.approx(hit["relevance"] * weights)
    output = cli("recall", "light coffee", "--explain").out
    assert all(
        part in output
        for part in (
            "words      “",
            "text",
            "█",
            "status 1 × layer",
            "relevance",
            "score",
            "found by   text #1",
            "model",
        )
    )


def test_an_x_ray_keeps_to_eighty_columns(cli: Cli, coffee: str, vault: Path) -> None:
    words = "espresso machine repaired Thursday morning Luca workshop Lisbon harbour invoice"
    first = cli("remember", f"{words}.", "--subject", "Luca", "--json").data["outcomes"][0]["atom"]["id"]
    cli("relate", first, "depends_on", coffee)
    cli("relate", first, "supports", coffee)
    for n in range(3):
        cli("remember", f"The {words} number {n}.", "--subject", f"unit {n}")
    lines = cli("recall", words, "-k", "100", "--explain").out.splitlines()
    drawn = [line for line in lines if line.startswith("      ")]
    assert any(line.startswith("      links ") for line in drawn)
    assert any(f"{first[-8:]} depends_on {coffee[-8:]} (1)" in line for line in drawn)
    assert max(map(len, drawn)) <= 80


def test_the_next_steps_after_an_answer_are_printed(cli: Cli, coffee: str) -> None:
    other = cli("remember", "The coffee machine is new.", "--json").data["outcomes"][0]["atom"]["id"]
    recall_id = cli("recall", "coffee", "--json").data["recall_id"]
    looked = cli("feedback", recall_id, "--cited", coffee[-8:], "--dry-run")
    assert "dry run: nothing was changed" in looked.out
    learnt = cli("feedback", recall_id, "--cited", coffee[-8:], "--json").data
    assert (learnt["recall_id"], learnt["verdict"], learnt["dry_run"]) == (recall_id, "up", False)
    assert {item["id"]: (item["quality"], item["uses"]) for item in learnt["learnt"]} == {
        coffee: (1.1, 1),
        other: (0.95, 0),
    }
    assert cli("feedback", recall_id, "--cited", coffee).out == "feedback on this recall was given before\n"
    assert "× quality 1.05" in cli("recall", "light coffee", "-k", "1").out


def test_refused_feedback_gives_the_reason(cli: Cli, coffee: str) -> None:
    recall_id = cli("recall", "coffee", "--json").data["recall_id"]
    assert cli("feedback", recall_id).out == "nothing was cited, so nothing changes\n"
    assert cli("feedback", recall_id, "--cited", coffee, "--verdict", "great").code == 2
    assert cli("feedback", recall_id, "--cited", "zzzz").code == 3
    unknown = cli("feedback", "0123456789abcdef", "--cited", coffee)
    assert (unknown.code, "recall again" in unknown.err) == (3, True)
    worse = cli("feedback", recall_id, "--cited", coffee, "--verdict", "wrong").out.splitlines()
    assert worse[0].split() == ["id", "quality", "uses", "what", "it", "says"]
    assert worse[1].split()[:3] == [coffee[-8:], "0.8", "1"]


def test_pinned_core_memories_are_listed_first(cli: Cli, coffee: str) -> None:
    assert cli("top").out == "no core memories; lamina pin ID adds one\n"
    cli("remember", "Ann is left-handed.", "--durability", "core")
    cli("pin", coffee)
    first, _ = cli("top", "--json").data["atoms"]
    assert first["id"] == coffee
    assert coffee[-8:] in cli("top", "-k", "1").out
    assert len(cli("top", "-k", "1").out.splitlines()) == 2


def test_a_plan_receives_its_context(cli: Cli, coffee: str) -> None:
    cli("remember", "Warm the cups before the coffee.", "--kind", "rule")
    cli("remember", "The coffee tin is empty.")
    plan = cli("plan", "coffee for two", "--json").data
    assert plan["goal"] == "coffee for two"
    assert [[hit["text"] for hit in plan[name]] for name in ("profile", "procedural", "semantic")] == [
        ["Ann prefers light roast coffee."],
        ["Warm the cups before the coffee."],
        ["The coffee tin is empty."],
    ]
    output = cli("plan", "coffee for two").out
    assert output == plan["context"] + "\n"
    assert output.startswith("<memories>\n## profile\n")
    assert len(cli("plan", "coffee for two", "--budget", "60").out) < len(output)
    assert "nothing known" in cli("plan", "a trip to the moon").out


def test_recall_prints_context_for_an_agent(cli: Cli, coffee: str) -> None:
    output = cli("recall", "coffee", "--context", "--budget", "500").out
    assert output.startswith("<memories>\n## profile\n")
    assert coffee in output
    assert (
        cli("recall", "coffee", "--context", "--json").data["context"] + "\n"
        == cli("recall", "coffee", "--context").out
    )


def test_recall_searches_the_requested_statuses(cli: Cli, coffee: str) -> None:
    cli("forget", coffee)
    assert "tombstoned" in cli("recall", "coffee", "--include", "history").out
    assert cli("recall", "coffee", "--include", "nonsense").code == 2
    assert cli("recall", "coffee", "--mode", "nonsense").code == 2
    assert cli("recall", "coffee", "-k", "0").code == 2
    assert cli("recall", " ").code == 2
    assert cli("recall", "coffee", "--mode", "facts_only", "--json").data["hits"] == []


def test_an_edit_of_the_file_takes_effect_immediately(cli: Cli, coffee: str, vault: Path) -> None:
    file = vault / cli("get", coffee, "--json").data["path"]
    file.write_text(file.read_text(encoding="utf-8").replace("light roast coffee", "mint tea"), encoding="utf-8")
    assert "mint tea" in cli("recall", "tea").out


def test_get_shows_an_atom_by_id_suffix_and_reports_a_miss(cli: Cli, coffee: str) -> None:
    output = cli("get", coffee[-6:]).out
    assert output.startswith("Ann prefers light roast coffee.\n")
    assert "quality_score  1.0\nrecall_count   0\n" in output
    assert cli("get", coffee[-6:], "--json").data["id"] == coffee
    missed = cli("get", "zzzz")
    assert (missed.code, missed.out) == (3, "")
    assert missed.err.startswith("error: no atom 'zzzz'\nhint: ")


def test_list_filters_and_reports_how_many_more(cli: Cli, coffee: str) -> None:
    for number in range(3):
        cli("remember", f"Fact number {number}.", "--session", "s", "--subject", "numbers")
    assert len(cli("list", "--json").data["atoms"]) == 4
    assert [atom["id"] for atom in cli("list", "--kind", "preference", "--json").data["atoms"]] == [coffee]
    assert len(cli("list", "--subject", "Numbers", "--session", "s", "--json").data["atoms"]) == 3
    some = cli("list", "--limit", "2", "--json").data
    assert (len(some["atoms"]), some["more"]) == (2, True)
    assert "--offset 2" in cli("list", "--limit", "2").out
    cli("forget", coffee)
    assert coffee[-8:] not in cli("list").out
    assert coffee[-8:] in cli("list", "--all").out
    assert coffee[-8:] in cli("list", "--status", "tombstoned").out
    assert cli("list", "--status", "nonsense").code == 2
    assert cli("list", "--memory-type", "nonsense").code == 2


def test_history_shows_transitions_and_versions(cli: Cli, coffee: str) -> None:
    cli("forget", coffee, "--reason", "moved away")
    result = cli("history", coffee)
    assert "created → active" in result.out
    assert "active → tombstoned" in result.out
    assert "moved away" in result.out
    data = cli("history", coffee, "--json").data
    assert [transition["new"] for transition in data["transitions"]] == ["active", "tombstoned"]


def test_the_journal_shows_who_changed_what_and_why(cli: Cli, coffee: str) -> None:
    cli("pin", coffee)
    assert [entry["verb"] for entry in cli("journal", "--json").data["entries"]] == ["remember", "pin"]
    assert [entry["verb"] for entry in cli("journal", "--limit", "1", "--json").data["entries"]] == ["pin"]
    assert [entry["seq"] for entry in cli("journal", "--since", "1", "--json").data["entries"]] == [2]
    assert len(cli("journal", "--since", "1h").out.splitlines()) == 3
    assert cli("journal", "--since", "2999-01-01").out == "no commits\n"
    assert cli("journal", "--since", "soon").code == 2


def test_diff_groups_new_changed_challenged_and_forgotten_statements(cli: Cli, coffee: str) -> None:
    since = cli("remember", "The bin is blue.", "--json")
    bin_ = since.data["outcomes"][0]["atom"]["id"]
    atom_id = cli("remember", "The lamp is old.", "--json").data["outcomes"][0]["atom"]["id"]
    cli("revise", coffee, "Ann prefers tea.", "--reason", "asked her")
    cli("status", bin_, "challenged", "--reason", "looks green")
    cli("forget", atom_id, "--reason", "sold")
    cli("remember", "Ann is tall.")
    cli("remember", "A slip.")
    cli("undo")
    data = cli("diff", "--since", "1h", "--json").data
    result = {
        name: [item["atom"]["content"] for item in data[name]] for name in ("learnt", "changed", "doubted", "forgotten")
    }
    assert result == {
        "learnt": ["Ann prefers tea.", "Ann is tall."],
        "changed": [],
        "doubted": ["The bin is blue."],
        "forgotten": ["The lamp is old."],
    }
    assert "doubted (1)\n" in cli("diff").out


def test_diff_shows_the_previous_text(cli: Cli, vault: Path) -> None:
    cli("remember", "Ann drinks coffee.", "--at", "2026-01-01")
    cli("sync")
    assert cli("diff", "--since", "2999-01-01").out.startswith("nothing changed since 2999-01-01")
    assert cli("diff", "--since", "soon").code == 2


def test_options_are_accepted_before_and_after_the_command(cli: Cli, tmp_path: Path) -> None:
    place = str(tmp_path / "elsewhere")
    assert cli("--vault", place, "remember", "The bin is blue.").code == 0
    before, after = cli("--vault", place, "--json", "list"), cli("list", "--vault", place, "--json")
    assert before.out == after.out
    assert len(after.data["atoms"]) == 1
    assert f"--vault {place}" in cli("remember", "The bin is red.", "--vault", place).out


def test_the_environment_and_the_nearest_folder_choose_a_vault(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_VAULT", str(tmp_path / "env"))
    cli("remember", "The bin is blue.")
    monkeypatch.delenv("LAMINA_VAULT")
    assert cli("list").code == 3
    monkeypatch.chdir(tmp_path / "env" / "atoms")
    assert "blue" in cli("list").out


def test_an_error_asked_for_in_json_is_json_on_stderr(cli: Cli, coffee: str) -> None:
    import json

    result = cli("get", "zzzz", "--json")
    assert (result.code, result.out) == (3, "")
    error = json.loads(result.err)["error"]
    assert (error["type"], error["message"]) == ("NotFound", "no atom 'zzzz'")
    assert error["hint"]
