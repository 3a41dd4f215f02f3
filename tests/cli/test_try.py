from __future__ import annotations

from pathlib import Path

from terminal import Cli


def test_a_typed_sentence_shows_what_it_became(cli: Cli, vault: Path) -> None:
    told = cli("try", stdin="I moved to Lisbon in May.\n").out
    assert "new: nothing like it was there" in told
    assert "kind     fact" in told
    assert "claim    none" in told
    link = next(line.split()[-1] for line in told.splitlines() if "said in" in line)
    file = next(line.split()[-1] for line in told.splitlines() if line.strip().startswith("file"))
    assert link.removesuffix("]]") in (vault / file).read_text(encoding="utf-8")
    segment = link.removeprefix("[[").partition("#")[0]
    assert "I moved to Lisbon in May. ^p1" in next(vault.rglob(f"{segment}.md")).read_text(encoding="utf-8")


def test_a_question_recalls_and_undo_takes_the_sentence_and_its_words_back(cli: Cli) -> None:
    steps = cli(
        "try",
        "--json",
        stdin="I moved to Lisbon.\n\n?where did I move\nundo\n?where did I move\nundo\nhelp\nquit\nX.\n",
    ).data["steps"]
    assert [step["typed"] for step in steps][-1] == "help"
    _, found, undone, nothing, empty, _ = steps
    assert {hit["kind"] for hit in found["hits"]} == {"fact", "narrative"}
    assert len(undone["commits"]) == 2
    assert nothing["hits"] == []
    assert empty["commits"] == []


def test_a_sentence_that_asks_to_be_remembered_is_remembered_once(cli: Cli) -> None:
    (step,) = cli("try", "--json", stdin="Remember that the bin is blue.\n").data["steps"]
    assert step["atom"]["content"] == "the bin is blue."
    assert len(step["commits"]) == 1
    assert len(cli("list", "--kind", "fact", "--json").data["atoms"]) == 1


def test_a_mistake_does_not_end_the_prompt(cli: Cli) -> None:
    ran = cli("try", stdin="?\nThe bin is blue.\nThe bin is blue.\n")
    assert ran.code == 0
    assert "error: the question is empty" in ran.out
    assert "duplicate: " in ran.out
