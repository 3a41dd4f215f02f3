"""Against the public files, where they are: in the folder LAMINA_BENCH_DATA names, or beside the checkout."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmark_files import write

import lamina
from benchmarks import beam, factconsolidation, locomo, longmemeval, scifact
from benchmarks.change_checks import READINGS, CheckSheet, CheckVerdict, ShownHit
from benchmarks.change_script import AskStep, load_scripts
from benchmarks.data_set import BenchCollection
from benchmarks.natural_data import ANSWERED, load_people
from benchmarks.natural_links import GROUPS, GivenLink, score_links
from command_result import Cli

FOLDER = Path(os.environ.get("LAMINA_BENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
LOCOMO = "locomo/locomo_dev7.json.gz"
ORACLE = "longmemeval/longmemeval_oracle_dev.json.gz"

Load = Callable[[Path], tuple[list[BenchCollection], str]]


def public(name: str) -> Path:
    if not (FOLDER / name).exists():
        pytest.skip(f"{name} is not there; LAMINA_BENCH_DATA names a folder that has it")
    return FOLDER / name


@pytest.mark.parametrize(
    ("name", "load", "vaults", "questions"),
    [
        (LOCOMO, locomo.load, 7, 1345),
        (ORACLE, longmemeval.load, 1, 236),
        ("longmemeval/lme_s_heads_dev.json.gz", longmemeval.load, 236, 236),
        ("beam/beam_100k_dev.json.gz", beam.load, 12, 215),
        ("scifact/scifact_beir_test.json.gz", scifact.load, 1, 300),
    ],
)
def test_the_public_files_give_the_documented_number_of_questions(
    name: str, load: Load, vaults: int, questions: int
) -> None:
    result, _ = load(public(name))
    assert (len(result), sum(len(item.questions) for item in result)) == (vaults, questions)


def test_the_pool_holds_each_session_once() -> None:
    (pool,), _ = longmemeval.load(public(ORACLE))
    assert len(pool.sessions) == 473


def test_the_questions_of_locomo_without_the_adversarial_match_the_published_split() -> None:
    result, _ = locomo.load(public(LOCOMO))
    assert (
        sum(question.category not in locomo.SEPARATE_CATEGORIES for item in result for question in item.questions)
        == 1033
    )


def test_two_lists_of_facts_have_two_hundred_questions_each() -> None:
    lists, _ = factconsolidation.load(public("memoryagentbench/fact_consolidation_6k_32k.json.gz"))
    assert [(len(values.facts), len(values.questions)) for values in lists] == [(455, 200), (2310, 200)]


def test_recall_on_a_locomo_conversation_is_no_worse_than_text_search_alone(cli: Cli) -> None:
    data = cli("bench", "locomo", "--data", str(public(LOCOMO)), "--limit", "1", "--json").data
    assert data["overall"]["turn"]["n"] == 150
    assert data["overall"]["turn"]["R@10"] > 55
    assert data["overall"]["session"]["R@10"] > 85


@pytest.mark.parametrize("name", ["change/change30_dev.json", "change/change60_extra.json"])
def test_checks_agree_with_the_reference_scorer(name: str) -> None:
    file, reference = public(name), _scorer(public("change/score_change.py"))
    rng, actual = random.Random(7), []

    class Shuffled(reference.BM25):  # type: ignore[misc, name-defined]
        def recall(self, *initial: object) -> list[dict[str, object]]:
            hits: list[dict[str, object]] = super().recall(*initial)
            rng.shuffle(hits)
            actual.append([{**hit, "flagged": rng.random() < 0.3} for hit in hits])
            return actual[-1]

    rows = reference.run(json.loads(file.read_text(encoding="utf-8")), Shuffled())
    sheet, hits = CheckSheet(), iter(actual)
    for script in load_scripts(file)[0]:
        before: dict[str, CheckVerdict] = {}
        for step in script.steps:
            if isinstance(step, AskStep):
                result = [ShownHit(str(hit["text"]), bool(hit["flagged"])) for hit in next(hits)]
                before[step.check.id] = sheet.add(script.id, step.check, result, before)
    verdicts = [(row.verdict.strict, row.verdict.primary, row.verdict.lenient) for row in sheet.rows]
    assert verdicts == [row[3] for row in rows]
    other_result, wanted = sheet.overall(), reference.report(rows)
    for reading in READINGS:
        assert {name: other_result[name][reading] for name in ("macro", "micro", "scenarios")} == {
            name: wanted[reading][name] for name in ("macro", "micro", "scenarios")
        }


def test_natural_conversations_give_the_figures_of_the_reference_scorer(cli: Cli, tmp_path: Path) -> None:
    reference, talk = public("natural/score_natural.py"), _conversation_sample(tmp_path)
    wanted = _run_reference(reference, talk, "--wait")
    figures = cli("bench", "natural", str(talk), "--without-model", "--json").data["overall"]
    names = {"first": "current1", "top 3": "current3", "outdated": "outdated", "silent": "silent", "hidden": "hidden"}
    for kind in ANSWERED:
        assert figures[kind]["n"] == wanted["score"][kind]
        assert {name: figures[kind][name] for name in names} == {
            name: wanted["score"].get(f"{kind}.{key}", 0) for name, key in names.items()
        }
    assert figures["unknown"]["answered"] == wanted["score"].get("unknown.confident", 0)
    assert figures["gone"]["shown"] == wanted["score"].get("gone.confident", 0)
    _assert_same_links(figures, wanted["links"])


def test_links_agree_with_the_reference_scorer(tmp_path: Path) -> None:
    talk, rng = public("natural/natural_dev_b.json"), random.Random(5)
    labels = load_people([talk])[0][0].labels
    assert labels is not None
    initial = [
        GivenLink((label.old,), (f"well, {label.new}.",), rng.choice(["sure", "likely"])) for label in labels[::2]
    ]
    initial += [GivenLink((labels[0].old,), (labels[n].new,), "likely") for n in range(5)]
    rows = [
        {"old": list(link.old), "new": list(link.new), "grade": {"sure": "sure", "likely": "label"}[link.grade]}
        for link in initial
    ]
    file = write(tmp_path / "given.json", rows)
    wanted = _run_reference(public("natural/score_natural.py"), talk, "--engine-links", str(file))
    _assert_same_links(score_links(initial, labels).figures(), wanted["links"])


@pytest.mark.parametrize("name", ["stale_chain_confirm", "wikistate_full_P108"])
def test_chains_give_the_figures_of_the_reference_scorer(cli: Cli, name: str) -> None:
    file, limit = public(f"chains/{name}.json.gz"), ("--limit", "4")
    wanted = _run_reference(public("chains/score_chains.py"), file, "--embedder", "none", *limit)
    figures = cli("bench", "chains", str(file), "--without-model", "--json", *limit).data["overall"]
    current, then = figures["current"], figures["then"]
    assert {
        "n": current["n"],
        "top1": current["first"],
        "top3": current["top 3"],
        "clean": current["clean"],
        "order": current["order"],
        "ended": figures["earlier values"]["linked"],
        "then3": then["top 3"],
        "then_clean": then["clean"],
    } == {key: wanted[key] for key in ("n", "top1", "top3", "clean", "order", "ended", "then3", "then_clean")}


def _conversation_sample(folder: Path) -> Path:
    """The first sessions of a person, up to twelve checks of each kind, and the labels."""
    data = json.loads(public("natural/natural_dev_a.json").read_text(encoding="utf-8"))
    kinds = dict.fromkeys(check["kind"] for check in data["checks"])
    data["checks"] = [check for kind in kinds for check in [one for one in data["checks"] if one["kind"] == kind][:12]]
    data["sessions"] = data["sessions"][:12]
    labels = public("natural/links_dev_a.json").read_bytes()
    (folder / "links_dev_a.json").write_bytes(labels)
    return write(folder / "natural_dev_a.json", data)


def _run_reference(scorer: Path, *words: object) -> Any:
    """Run a reference scorer in a process of its own, on the engine under test and without the state model."""
    source = Path(lamina.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source), "LAMINA_STATE_MODEL": "off"}
    command = [sys.executable, str(scorer), *map(str, words)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def _assert_same_links(figures: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert (figures["all links"]["given"], figures["sure links"]["given"]) == (wanted["given"], wanted["given_sure"])
    assert all(figures[group]["wanted"] == wanted["wanted"] for group in GROUPS)
    for group, key in (("sure links", "sure"), ("all links", "any")):
        counts = ("right", "wrong", "unlabelled", "neutral", "mixed", "found")
        assert {name: figures[group][name] for name in counts} == {name: wanted[key][name] for name in counts}
        for name, share in (("precision", "precision"), ("strict precision", "strict"), ("recall", "recall")):
            percent = None if wanted[key][share] is None else pytest.approx(100 * wanted[key][share])
            assert figures[group][name] == percent


def _scorer(path: Path) -> ModuleType:
    spec = spec_from_file_location("score_change", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
