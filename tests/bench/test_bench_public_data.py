"""Against the public files, where they are: in the folder LAMINA_BENCH_DATA names, or beside the checkout."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from lamina.bench import beam, factconsolidation, locomo, longmemeval, scifact
from lamina.bench.checks import READINGS, Sheet, Shown, Verdict
from lamina.bench.collection import Collection
from lamina.bench.script import Ask, load
from terminal import Cli

FOLDER = Path(os.environ.get("LAMINA_BENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
LOCOMO = "locomo/locomo_dev7.json.gz"
ORACLE = "longmemeval/longmemeval_oracle_dev.json.gz"

Load = Callable[[Path], tuple[list[Collection], str]]


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
def test_the_public_files_give_as_many_questions_as_are_known(
    name: str, load: Load, vaults: int, questions: int
) -> None:
    found, _ = load(public(name))
    assert (len(found), sum(len(each.questions) for each in found)) == (vaults, questions)


def test_the_pool_holds_each_session_once() -> None:
    (pool,), _ = longmemeval.load(public(ORACLE))
    assert len(pool.sessions) == 473


def test_the_questions_of_locomo_but_the_adversarial_are_those_of_the_published_split() -> None:
    found, _ = locomo.load(public(LOCOMO))
    assert sum(asked.category not in locomo.APART for each in found for asked in each.questions) == 1033


def test_the_lists_of_facts_are_two_asked_two_hundred_questions_each() -> None:
    lists, _ = factconsolidation.load(public("memoryagentbench/fact_consolidation_6k_32k.json.gz"))
    assert [(len(each.told), len(each.questions)) for each in lists] == [(455, 200), (2310, 200)]


def test_a_conversation_of_locomo_is_recalled_no_worse_than_by_words_alone(cli: Cli) -> None:
    told = cli("bench", "locomo", "--data", str(public(LOCOMO)), "--limit", "1", "--json").data
    assert told["overall"]["turn"]["n"] == 150
    assert told["overall"]["turn"]["R@10"] > 55
    assert told["overall"]["session"]["R@10"] > 85


@pytest.mark.parametrize("name", ["change/change30_dev.json", "change/change60_extra.json"])
def test_checks_are_judged_as_the_reference_scorer_judges_them(name: str) -> None:
    file, reference = public(name), _scorer(public("change/score_change.py"))
    rng, shown = random.Random(7), []

    class Shuffled(reference.BM25):  # type: ignore[misc, name-defined]
        def recall(self, *given: object) -> list[dict[str, object]]:
            hits: list[dict[str, object]] = super().recall(*given)
            rng.shuffle(hits)
            shown.append([{**hit, "flagged": rng.random() < 0.3} for hit in hits])
            return shown[-1]

    rows = reference.run(json.loads(file.read_text(encoding="utf-8")), Shuffled())
    sheet, hits = Sheet(), iter(shown)
    for script in load(file)[0]:
        before: dict[str, Verdict] = {}
        for step in script.steps:
            if isinstance(step, Ask):
                seen = [Shown(str(hit["text"]), bool(hit["flagged"])) for hit in next(hits)]
                before[step.check.id] = sheet.add(script.id, step.check, seen, before)
    verdicts = [(row.verdict.strict, row.verdict.primary, row.verdict.lenient) for row in sheet.rows]
    assert verdicts == [row[3] for row in rows]
    told, wanted = sheet.overall(), reference.report(rows)
    for reading in READINGS:
        assert {each: told[each][reading] for each in ("macro", "micro", "scenarios")} == {
            each: wanted[reading][each] for each in ("macro", "micro", "scenarios")
        }


def _scorer(path: Path) -> ModuleType:
    spec = spec_from_file_location("score_change", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
