"""`lamina bench natural`: hits and links are judged as documented, and the command runs over a person's talk."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmark_files import LOCOMO, NATURAL, NATURAL_LINKS, write

import lamina
from benchmarks.natural_data import LinkLabel, TalkCheck, default_files, load_people
from benchmarks.natural_links import GivenLink, given_links, score_links
from benchmarks.natural_scores import RankedHit, TalkRow, TalkSheet, describe_failure, judge
from benchmarks.state_commands import explain_missing_weights
from command_result import Cli
from lamina.clock import FixedClock
from lamina.errors import InvalidInput, LaminaError
from llm_server import completion, scripted

ROME, OSLO, BOTH = (
    RankedHit("I live in Rome"),
    RankedHit("I live in Oslo"),
    RankedHit("I left Oslo, I am in Rome now"),
)
OTHER = RankedHit("The cat sleeps")


def check(kind: str = "changed") -> TalkCheck:
    return TalkCheck(kind, "Where do I live?", ("rome",), ("oslo",), None)


def write_conversations(folder: Path, data: object = NATURAL, links: object = NATURAL_LINKS) -> Path:
    write(folder / "links_t.json", links)
    return write(folder / "natural_t.json", data)


def count_labels(*hits: RankedHit) -> set[str]:
    return {name for name, counts in judge(check(), hits).items() if counts}


def test_the_current_value_is_first_or_in_the_top_three() -> None:
    assert count_labels(ROME, OSLO) == {"first", "top 3"}
    assert count_labels(OTHER, OTHER, ROME) == {"top 3"}
    assert count_labels(OTHER, OTHER, OTHER, ROME) == set()
    assert count_labels(BOTH) == {"first", "top 3"}


def test_an_unmarked_outdated_value_above_or_without_the_current_one_is_counted() -> None:
    marked = RankedHit(OSLO.text, is_marked=True)
    assert count_labels(OSLO, ROME) == {"top 3", "outdated"}
    assert count_labels(marked, ROME) == {"top 3"}
    assert count_labels(marked, OSLO, ROME) == {"top 3", "outdated"}
    assert count_labels(OSLO) == {"outdated", "hidden"}
    assert count_labels(OTHER, OTHER, OTHER, OSLO, ROME) == set()


def test_no_relevant_hit_counts_as_silent_and_no_expected_hit_in_ten_as_hidden() -> None:
    unlikely = RankedHit(ROME.text, is_relevant=False)
    assert count_labels() == {"silent", "hidden"}
    assert count_labels(unlikely) == {"first", "top 3", "silent"}
    assert count_labels(*[OTHER] * 10, ROME) == {"hidden"}


def test_an_unknown_fact_is_answered_by_any_relevant_hit_and_a_forgotten_one_shown_by_any_hit() -> None:
    unlikely = RankedHit(OSLO.text, is_relevant=False)
    assert judge(check("unknown"), [OTHER]) == {"answered": True}
    assert judge(check("unknown"), [unlikely]) == {"answered": False}
    assert judge(check("gone"), [OTHER] * 9 + [unlikely]) == {"shown": True}
    assert judge(check("gone"), [ROME]) == {"shown": False}


def test_people_are_counted_separately_and_together() -> None:
    result = [("a", check(), (OSLO, ROME)), ("a", check("unknown"), ()), ("b", check(), (ROME,))]
    sheet = TalkSheet([TalkRow(person, one, hits, judge(one, hits)) for person, one, hits in result])
    assert sheet.people()["b"] == {"changed": {"n": 1, "first": 1, "top 3": 1, "outdated": 0, "silent": 0, "hidden": 0}}
    assert sheet.overall() == {
        "changed": {"n": 2, "first": 1, "top 3": 2, "outdated": 1, "silent": 0, "hidden": 0},
        "unknown": {"n": 1, "answered": 0},
    }
    (failure,) = sheet.failures()
    assert "[changed: not first, outdated] Where do I live?" in describe_failure(failure)


LABELS = [
    LinkLabel("the crane lifts 12 tonnes", "it lifts 20 tonnes", "replaces", ""),
    LinkLabel("my mooring is at Skagen", "my mooring is at Grenen", "corrects", ""),
    LinkLabel("the crane lifts 12 tonnes", "it lifts 30 tonnes", "replaces", "chain"),
    LinkLabel("the shed is red", "the gate is green", "unrelated", ""),
    LinkLabel("we may buy a saw", "we bought a saw", "coexists", "done"),
]


def test_links_are_right_wrong_neutral_or_unlabelled() -> None:
    initial = [
        GivenLink(("The crane lifts 12 tonnes!",), ("New one: it lifts 20 tonnes.",), "sure"),
        GivenLink(("The shed is red.",), ("The gate is green.",), "likely"),
        GivenLink(("We may buy a saw.",), ("We bought a saw.",), "likely"),
        GivenLink(("Tea is hot.",), ("Coffee is hot.",), "sure"),
        GivenLink(("The crane lifts 12 tonnes.",), ("It lifts 30 tonnes.",), "likely"),
    ]
    figures = score_links(initial, LABELS).figures()
    assert figures["sure links"] == {
        "given": 2,
        "right": 1,
        "wrong": 0,
        "unlabelled": 1,
        "neutral": 0,
        "mixed": 0,
        "precision": 100.0,
        "strict precision": 50.0,
        "wanted": 2,
        "found": 1,
        "recall": 50.0,
    }
    assert figures["likely links"] == {
        "given": 3,
        "right": 1,
        "wrong": 1,
        "unlabelled": 0,
        "neutral": 1,
        "mixed": 0,
        "precision": 50.0,
        "strict precision": 50.0,
        "wanted": 2,
        "found": 0,
        "recall": 0.0,
    }
    assert (figures["all links"]["given"], figures["all links"]["precision"]) == (5, 66.7)


def test_a_partial_quote_matches_from_two_words_and_ten_letters() -> None:
    long_enough, too_short = (
        GivenLink(("crane lifts",), ("lifts 20 t",), "sure"),
        GivenLink(("crane",), ("20",), "sure"),
    )
    assert score_links([long_enough], LABELS).figures()["sure links"]["right"] == 1
    assert score_links([too_short], LABELS).figures()["sure links"]["unlabelled"] == 1


def test_a_link_whose_sentences_also_contain_a_valid_pair_is_mixed() -> None:
    link = GivenLink(
        ("The crane lifts 12 tonnes and the shed is red.",), ("It lifts 20 tonnes and the gate is green.",), "sure"
    )
    figures = score_links([link], LABELS).figures()["sure links"]
    assert (figures["right"], figures["mixed"], figures["given"]) == (1, 1, 1)


def test_without_links_precision_is_undefined() -> None:
    figures = score_links([], LABELS).figures()["all links"]
    assert (figures["precision"], figures["recall"]) == (None, 0.0)


def test_a_superseded_statement_is_a_sure_link_and_a_contradiction_a_likely_one(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as memory:
        memory.remember("Ann lives in Oslo", subject="Ann", attribute="city", value="Oslo")
        tea = memory.remember("Ann drinks tea").atom.id
        clock.at = datetime(2026, 2, 1, tzinfo=UTC)
        memory.remember("Ann lives in Rome", subject="Ann", attribute="city", value="Rome")
        memory.relate(tea, "contradicts", memory.remember("Ann drinks coffee").atom.id, 0.5)
        links = given_links(memory)
    assert set(links) == {
        GivenLink(("Ann lives in Oslo",), ("Ann lives in Rome",), "sure"),
        GivenLink(("Ann drinks tea",), ("Ann drinks coffee",), "likely"),
    }


def test_the_command_counts_each_type_of_question(cli: Cli, tmp_path: Path) -> None:
    document = cli("bench", "natural", str(write_conversations(tmp_path)), "--json").data
    assert document["bench"] == "natural"
    assert document["categories"] == {"t": document["overall"]}
    figures = document["overall"]
    assert figures["changed"]["n"] == figures["history"]["n"] == 1
    assert figures["changed"]["top 3"] == figures["history"]["first"] == figures["stable"]["first"] == 1
    assert figures["unknown"] == {"n": 1, "answered": 0}
    assert figures["gone"] == {"n": 1, "shown": 1}
    assert figures["all links"]["wanted"] == 1
    assert list(document["settings"]["files"]) == ["natural_t.json"]
    assert document["speed"]["items"] == 3
    assert {"ingest_cpu_ms_per_item", "recall_cpu_p50_ms"} <= set(document["speed"])


def test_the_state_model_can_be_left_out_or_compared(cli: Cli, tmp_path: Path) -> None:
    file = str(write_conversations(tmp_path))
    assert cli("bench", "natural", file, "--without-model", "--json").data["settings"]["state_model"] == "off"
    document = cli("bench", "natural", file, "--compare", "--json", "--keep", str(tmp_path / "kept")).data
    assert {name: run["settings"]["state_model"] for name, run in document["runs"].items()} == {
        "with model": "auto",
        "without model": "off",
    }
    assert {folder.name for folder in (tmp_path / "kept").iterdir()} == {"with-model", "without-model"}


def test_a_comparison_is_shown_side_by_side_and_in_a_chart(cli: Cli, tmp_path: Path) -> None:
    chart = tmp_path / "natural.svg"
    result = cli("bench", "natural", str(write_conversations(tmp_path)), "--compare", "--chart", str(chart))
    assert result.code == 0
    assert all(words in result.out for words in ("with model / without model", "1 / 1", "ingest_cpu_ms_per_item"))
    drawn = chart.read_text(encoding="utf-8")
    assert all(words in drawn for words in ("changed", "first, with model", "outdated, without model"))


def test_failed_checks_are_shown_on_request_beside_json(cli: Cli, tmp_path: Path) -> None:
    result = cli("bench", "natural", str(write_conversations(tmp_path)), "--failures", "--json")
    assert "with model: t [gone: shown] mooring" in result.err
    assert result.data["bench"] == "natural"


def test_captured_turns_can_be_read_in_the_background(cli: Cli, tmp_path: Path) -> None:
    document = cli("bench", "natural", str(write_conversations(tmp_path)), "--background", "--json").data
    assert document["settings"]["background"] is True
    assert document["overall"]["stable"]["first"] == 1


def test_only_what_the_first_turns_answer_is_asked(cli: Cli, tmp_path: Path) -> None:
    data = deepcopy(NATURAL)
    data["checks"][0]["answer"] = [{"session": "t2", "turn": 0}]
    data["checks"][1]["answer"] = [{"session": "t1", "turn": 1}]
    [whole] = load_people([write_conversations(tmp_path, data)], turns=3)[0]
    assert len(whole.checks) == len(data["checks"])
    file = str(write_conversations(tmp_path, data))
    figures = cli("bench", "natural", file, "--turns", "2", "--json").data["overall"]
    assert {kind: figures[kind]["n"] for kind in ("stable", "unknown")} == {"stable": 1, "unknown": 1}
    assert not {"changed", "history", "gone"} & set(figures)
    assert figures["all links"]["wanted"] == 0


def test_a_chat_model_reads_too_and_its_statements_are_counted(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")
    statement = {
        "quote": "My mooring is at Skagen",
        "content": "Tove's mooring is at Skagen.",
        "subject": "Tove",
        "attribute": "mooring",
        "value": "Skagen",
        "date": "",
    }
    answers = [completion({"statements": [statement]})] * 4
    with scripted(*answers) as server:
        arguments = ("--turns", "2", "--chat", "openai:m", "--chat-url", f"{server.address}/v1")
        result = cli("bench", "natural", str(write_conversations(tmp_path)), *arguments, "--json")
    counted = result.data["overall"]["chat model"]
    assert counted["calls"] >= 1
    assert counted["statements"] + counted["skipped"] >= 1
    refused = cli("bench", "natural", "--chat-url", "http://127.0.0.1:9/v1")
    assert (refused.code, "--chat-url needs --chat" in refused.err) == (2, True)


def test_a_person_without_labels_has_no_link_figures(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "natural_t.json", NATURAL)
    assert "sure links" not in cli("bench", "natural", str(file), "--limit", "1", "--json").data["overall"]


def test_contradictory_options_are_refused(cli: Cli, tmp_path: Path) -> None:
    both = cli("bench", "natural", str(write_conversations(tmp_path)), "--compare", "--without-model")
    named = cli("bench", "natural", str(write_conversations(tmp_path)), "--held-out")
    assert (both.code, "leave out --without-model" in both.err) == (2, True)
    assert (named.code, "name no files" in named.err) == (2, True)


def test_a_file_of_another_format_is_refused_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    wrong = cli("bench", "natural", str(write(tmp_path / "wrong.json", LOCOMO)))
    assert (wrong.code, "is not a natural talk file" in wrong.err) == (2, True)
    data = deepcopy(NATURAL)
    data["checks"][0]["kind"] = "riddle"
    odd = cli("bench", "natural", str(write_conversations(tmp_path, data)))
    assert (odd.code, "no kind of check called 'riddle'" in odd.err) == (2, True)
    missing = cli("bench", "natural", str(tmp_path / "nowhere.json"))
    assert (missing.code, "nowhere.json" in missing.err) == (2, True)


def test_missing_weights_are_explained_but_not_other_missing_files() -> None:
    with pytest.raises(LaminaError, match=r"state_light\.onnx is missing"), explain_missing_weights():
        raise FileNotFoundError(2, "No such file", "models/weights/state_light.onnx")
    with pytest.raises(FileNotFoundError), explain_missing_weights():
        raise FileNotFoundError(2, "No such file", "somewhere/else.json")


def test_held_out_people_run_only_on_request(tmp_path: Path) -> None:
    for name in ("natural_a.json", "natural_f.json", "links_a.json"):
        write(tmp_path / name, {})
    assert [path.name for path in default_files(held_out=False, folder=tmp_path)] == ["natural_a.json"]
    assert [path.name for path in default_files(held_out=True, folder=tmp_path)] == ["natural_f.json"]
    with pytest.raises(InvalidInput, match="run from a checkout or name files"):
        default_files(held_out=False, folder=tmp_path / "nowhere")


def test_the_conversations_of_the_repository_have_labels_and_every_type_of_check() -> None:
    people, digests = load_people([*default_files(held_out=False), *default_files(held_out=True)])
    assert {"a", "b", "c", "f"} <= {person.id for person in people}
    assert len(digests) == len(people)
    for person in people:
        assert person.labels
        assert {one.kind for one in person.checks} == {"changed", "stable", "near", "history", "unknown", "gone"}
