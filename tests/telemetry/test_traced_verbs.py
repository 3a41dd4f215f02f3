"""Where a process has OpenTelemetry loaded, verbs are told by their names, times and counts, and by nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from lamina.memory import Memory
from lamina.review.review import Review
from lamina.telemetry import Operation

HERE = Path(__file__).parent
PIECE = 12

UNTOLD = {
    "memory.delegate_recall",
    "memory.block",
    "memory.close",
    "memory.confirmations",
    "memory.dream_is_due",
    "memory.jobs",
    "memory.journal",
    "memory.models",
    "memory.now",
    "memory.path_of",
    "memory.plot",
    "memory.run",
    "memory.scopes",
    "memory.for_caller",
    "memory.signals",
    "memory.trial",
    "memory.waiting",
    "review.count",
}
"""What is no operation on memories, or costs less than telling of it."""


def _public(kind: type) -> set[str]:
    return {f"{kind.__name__.lower()}.{name}".rstrip("_") for name in dir(kind) if not name.startswith("_")}


def _told(kind: type) -> set[str]:
    return {
        f"{kind.__name__.lower()}.{name}".rstrip("_")
        for name in dir(kind)
        if not name.startswith("_") and hasattr(getattr(kind, name), "__wrapped__") and name != "trial"
    }


def test_every_public_verb_is_told_or_known_not_to_be() -> None:
    told = _told(Memory) | _told(Review)
    assert told | UNTOLD == _public(Memory) | _public(Review)
    assert not told & UNTOLD


@cache
def day() -> dict[str, Any]:
    """What a process of its own was told on a busy day; OpenTelemetry, once set up, stays so for a whole process."""
    paths = os.pathsep.join([str(HERE.parent), str(HERE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    with TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, str(HERE / "traced.py"), folder],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            check=True,
            timeout=120,
        )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def spans(verb: str) -> list[dict[str, Any]]:
    return [each for each in day()["spans"] if each["attributes"].get("lamina.verb") == verb]


def measured(name: str) -> Iterator[dict[str, Any]]:
    for resource in day()["metrics"]["resource_metrics"]:
        for scope in resource["scope_metrics"]:
            assert scope["scope"]["name"] == "lamina"
            yield from (
                point for each in scope["metrics"] if each["name"] == name for point in each["data"]["data_points"]
            )


def test_every_told_verb_has_a_span_on_a_day_that_uses_all_of_them() -> None:
    seen = {each["attributes"].get("lamina.verb") for each in day()["spans"]} - {None}
    assert seen == _told(Memory) | _told(Review)


@pytest.mark.parametrize(
    ("verb", "operation", "records"),
    [
        ("memory.remember_many", "upsert_memory", 3),
        ("memory.propose", "create_memory", 1),
        ("memory.revise", "update_memory", 1),
        ("memory.forget", "delete_memory", 1),
        ("memory.erase", "delete_memory", 1),
        ("memory.recall", "search_memory", 1),
        ("memory.feedback", "update_memory", 1),
        ("memory.get", "read_memory", 1),
        ("review.confirm", "update_memory", 1),
    ],
)
def test_a_span_goes_by_the_conventions_name_and_tells_how_many_memories(
    verb: str, operation: str, records: int
) -> None:
    span = next(each for each in spans(verb) if each["status"] == "UNSET")
    assert (span["name"], span["kind"]) == (operation, "INTERNAL")
    assert span["attributes"] == {
        "gen_ai.operation.name": operation,
        "lamina.verb": verb,
        "gen_ai.memory.record.count": records,
    }


def test_the_manual_names_every_verb_beside_the_operation_it_is_told_as() -> None:
    manual = (HERE.parents[1] / "docs" / "observability.md").read_text(encoding="utf-8")
    rows = {row[1]: row[2] for row in re.finditer(r"^\| `(\w+_memory)`[^|]*\| ([^|]+) \|$", manual, re.MULTILINE)}
    assert set(rows) == set(Operation)
    for span in day()["spans"]:
        room, _, verb = span["attributes"].get("lamina.verb", "").partition(".")
        told = rows.get(span["name"], "")
        if room == "memory":
            assert re.search(rf"`{verb}_?`", told), verb
        elif room == "review" and span["name"] != "update_memory":
            assert f"`review.{verb}`" in told, verb


def test_a_verb_that_calls_others_is_told_once() -> None:
    # remember writes through remember_many, which was called three times less often than it was used
    assert len(spans("memory.remember_many")) == 1
    assert len(spans("memory.remember")) >= 3
    verbs = {each["id"] for each in day()["spans"] if "lamina.verb" in each["attributes"]}
    assert not [each for each in day()["spans"] if "lamina.verb" in each["attributes"] and each["parent"] in verbs]


def test_an_error_is_told_by_its_name_alone() -> None:
    failed = [each for each in day()["spans"] if each["status"] == "ERROR"]
    assert {"Refused", "NotFound", "InvalidInput", "InvalidScope", "ModelError", "StoreError"} <= {
        each["attributes"]["error.type"] for each in failed
    }
    assert not [each for each in day()["spans"] if each["events"] or each["description"]]


def test_steps_of_a_dream_and_calls_of_models_stand_below_their_verb() -> None:
    by_id = {each["id"]: each for each in day()["spans"]}
    steps = [each for each in day()["spans"] if "lamina.dream.step" in each["attributes"]]
    assert {"age", "merge", "prune"} <= {step["attributes"]["lamina.dream.step"] for step in steps}
    assert {by_id[step["parent"]]["attributes"]["lamina.verb"] for step in steps} == {"memory.dream"}
    calls = [each for each in day()["spans"] if each["kind"] == "CLIENT"]
    assert {call["name"] for call in calls} == {"chat talker", "chat teller", "embeddings seer"}
    assert {call["attributes"]["server.address"] for call in calls} == {"127.0.0.1"}
    assert "memory.embed" in {by_id[call["parent"]]["attributes"]["lamina.verb"] for call in calls}


def test_times_and_counts_are_measured_by_operation_verb_and_error() -> None:
    times = [each["attributes"] for each in measured("gen_ai.client.operation.duration")]
    assert {time["gen_ai.operation.name"] for time in times} == {*Operation, "chat", "embeddings"}
    assert {"gen_ai.operation.name": "delete_memory", "lamina.verb": "memory.erase", "error.type": "Refused"} in times
    recalls = next(
        each for each in measured("lamina.memory.records") if each["attributes"]["lamina.verb"] == "memory.recall"
    )
    assert recalls["max"] == 10 and recalls["count"] == len(
        [span for span in spans("memory.recall") if span["status"] == "UNSET"]
    )


def test_no_span_and_no_measurement_holds_a_word_or_an_id() -> None:
    told = json.dumps([day()["spans"], day()["metrics"]]).lower()
    words, ids = day()["words"], day()["ids"]
    assert len(words) > 100 and len(ids) > 20
    assert [word for word in words if word[:PIECE] in told] == []
    assert [atom_id for atom_id in ids if atom_id.lower() in told] == []
    assert "org:local" not in told
