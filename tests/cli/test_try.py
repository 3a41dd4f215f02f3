from __future__ import annotations

from pathlib import Path

from command_result import Cli


def test_a_typed_sentence_shows_its_statement(cli: Cli, vault: Path) -> None:
    output = cli("try", stdin="My dentist is Dr Reyes.\n").out
    assert "new: no similar statement is stored" in output
    assert "kind     fact" in output
    link = next(line.split()[-1] for line in output.splitlines() if "said in" in line)
    file = next(line.split()[-1] for line in output.splitlines() if line.strip().startswith("file"))
    assert link.removesuffix("]]") in (vault / file).read_text(encoding="utf-8")
    segment = link.removeprefix("[[").partition("#")[0]
    assert "My dentist is Dr Reyes. ^p1" in next(vault.rglob(f"{segment}.md")).read_text(encoding="utf-8")


def test_a_question_recalls_and_undo_withdraws_the_sentence_and_its_statement(cli: Cli) -> None:
    steps = cli(
        "try",
        "--json",
        stdin="My dentist is Dr Reyes.\n\n?who is the dentist\nundo\n?who is the dentist\nundo\nhelp\nquit\nX.\n",
    ).data["steps"]
    assert [step["typed"] for step in steps][-1] == "help"
    _, result, undone, nothing, empty, _ = steps
    (hit,) = result["hits"]
    assert [hit["kind"], *(text for _, text in hit["statements"])] == ["narrative", "My dentist is Dr Reyes."]
    assert len(undone["commits"]) == 1
    assert nothing["hits"] == []
    assert empty["commits"] == []


def test_a_sentence_with_a_request_to_remember_is_remembered_once(cli: Cli) -> None:
    (step,) = cli("try", "--json", stdin="Remember that the bin is blue.\n").data["steps"]
    assert step["atom"]["content"] == "the bin is blue."
    assert len(step["commits"]) == 1
    assert len(cli("list", "--kind", "fact", "--json").data["atoms"]) == 1


def test_a_sentence_that_states_nothing_is_remembered_verbatim(cli: Cli) -> None:
    (step,) = cli("try", "--json", stdin="Maybe some day.\n").data["steps"]
    assert (step["atom"]["content"], step["atom"]["kind"], len(step["commits"])) == ("Maybe some day.", "fact", 2)


def test_an_error_does_not_end_the_prompt(cli: Cli) -> None:
    result = cli("try", stdin="?\nThe bin is blue.\nThe bin is blue.\n")
    assert result.code == 0
    assert "error: the question is empty" in result.out
    assert "duplicate: " in result.out
