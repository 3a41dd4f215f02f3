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
from lamina.upkeep import Upkeep

HERE = Path(__file__).parent
PIECE = 12

UNTRACED = {
    "memory.block",
    "memory.close",
    "memory.confirmations",
    "memory.journal",
    "memory.now",
    "memory.path_of",
    "memory.run",
    "memory.for_caller",
    "memory.signals",
    "memory.trial",
    "memory.waiting",
    "review.count",
    "upkeep.dream_is_due",
    "upkeep.jobs",
    "upkeep.plot",
}
"""What is no operation on memories, or costs less than telling of it."""


def _public(kind: type) -> set[str]:
    return {f"{kind.__name__.lower()}.{name}".rstrip("_") for name in dir(kind) if not name.startswith("_")}


def _traced_verbs(kind: type) -> set[str]:
    """Return the verbs in two wrappers: `traced`, and the check of the arguments inside it."""
    return {
        f"{kind.__name__.lower()}.{name}".rstrip("_")
        for name in dir(kind)
        if not name.startswith("_") and hasattr(getattr(getattr(kind, name), "__wrapped__", None), "__wrapped__")
    }


def test_every_public_verb_is_traced_or_listed_as_untraced() -> None:
    texts = _traced_verbs(Memory) | _traced_verbs(Review) | _traced_verbs(Upkeep)
    assert texts | UNTRACED == _public(Memory) | _public(Review) | _public(Upkeep)
    assert not texts & UNTRACED


@cache
def traced_day() -> dict[str, Any]:
    """What a process of its own was told on a busy day; OpenTelemetry, once set up, stays so for a whole process."""
    paths = os.pathsep.join([str(HERE.parent), str(HERE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    with TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, str(HERE / "traced_process.py"), folder],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            check=True,
            timeout=120,
        )
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def spans(verb: str) -> list[dict[str, Any]]:
    return [span for span in traced_day()["spans"] if span["attributes"].get("lamina.verb") == verb]


def measured(name: str) -> Iterator[dict[str, Any]]:
    for resource in traced_day()["metrics"]["resource_metrics"]:
        for scope in resource["scope_metrics"]:
            assert scope["scope"]["name"] == "lamina"
            yield from (
                point for item in scope["metrics"] if item["name"] == name for point in item["data"]["data_points"]
            )


def test_every_traced_verb_has_a_span_on_a_day_that_uses_all_of_them() -> None:
    result = {span["attributes"].get("lamina.verb") for span in traced_day()["spans"]} - {None}
    assert result == _traced_verbs(Memory) | _traced_verbs(Review) | _traced_verbs(Upkeep)


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
def test_a_span_follows_the_conventions_and_counts_memories(verb: str, operation: str, records: int) -> None:
    span = next(span for span in spans(verb) if span["status"] == "UNSET")
    assert (span["name"], span["kind"]) == (operation, "INTERNAL")
    assert span["attributes"] == {
        "gen_ai.operation.name": operation,
        "lamina.verb": verb,
        "gen_ai.memory.record.count": records,
    }


def test_the_manual_names_every_verb_beside_its_operation() -> None:
    manual = (HERE.parents[1] / "docs" / "observability.md").read_text(encoding="utf-8")
    rows = {row[1]: row[2] for row in re.finditer(r"^\| `(\w+_memory)`[^|]*\| ([^|]+) \|$", manual, re.MULTILINE)}
    assert set(rows) == set(Operation)
    for span in traced_day()["spans"]:
        room, _, verb = span["attributes"].get("lamina.verb", "").partition(".")
        atom = rows.get(span["name"], "")
        if room == "memory":
            assert re.search(rf"`{verb}_?`", atom), verb
        elif room == "upkeep" or (room == "review" and span["name"] != "update_memory"):
            assert f"`{room}.{verb}`" in atom, verb


def test_a_verb_that_calls_others_is_traced_once() -> None:
    # remember writes through remember_many, which was called three times less often than it was used
    assert len(spans("memory.remember_many")) == 1
    assert len(spans("memory.remember")) >= 3
    verbs = {span["id"] for span in traced_day()["spans"] if "lamina.verb" in span["attributes"]}
    assert not [
        span for span in traced_day()["spans"] if "lamina.verb" in span["attributes"] and span["parent"] in verbs
    ]


def test_an_error_is_traced_by_its_name_alone() -> None:
    failed = [span for span in traced_day()["spans"] if span["status"] == "ERROR"]
    assert {"Refused", "NotFound", "InvalidInput", "InvalidScope", "ModelError", "StoreError"} <= {
        failure["attributes"]["error.type"] for failure in failed
    }
    assert not [span for span in traced_day()["spans"] if span["events"] or span["description"]]


def test_dream_steps_and_model_calls_are_child_spans_of_their_verb() -> None:
    by_id = {span["id"]: span for span in traced_day()["spans"]}
    steps = [span for span in traced_day()["spans"] if "lamina.dream.step" in span["attributes"]]
    assert {"age", "merge", "prune"} <= {step["attributes"]["lamina.dream.step"] for step in steps}
    assert {by_id[step["parent"]]["attributes"]["lamina.verb"] for step in steps} == {"upkeep.dream"}
    calls = [span for span in traced_day()["spans"] if span["kind"] == "CLIENT"]
    assert {call["name"] for call in calls} == {"chat talker", "chat teller", "embeddings seer"}
    assert {call["attributes"]["server.address"] for call in calls} == {"127.0.0.1"}
    parents = [by_id[call["parent"]]["attributes"] for call in calls]
    assert "memory.embed" in {parent.get("lamina.verb") for parent in parents}
    assert all("lamina.verb" in parent or "lamina.dream.step" in parent for parent in parents)


def test_times_and_counts_are_measured_by_operation_verb_and_error() -> None:
    times = [item["attributes"] for item in measured("gen_ai.client.operation.duration")]
    assert {time["gen_ai.operation.name"] for time in times} == {*Operation, "chat", "embeddings"}
    assert {"gen_ai.operation.name": "delete_memory", "lamina.verb": "memory.erase", "error.type": "Refused"} in times
    recalls = next(
        item for item in measured("lamina.memory.records") if item["attributes"]["lamina.verb"] == "memory.recall"
    )
    assert recalls["max"] == 10 and recalls["count"] == len(
        [span for span in spans("memory.recall") if span["status"] == "UNSET"]
    )


def test_no_span_and_no_measurement_contains_text_or_an_id() -> None:
    result = json.dumps([traced_day()["spans"], traced_day()["metrics"]]).lower()
    words, ids = traced_day()["words"], traced_day()["ids"]
    assert len(words) > 100 and len(ids) > 20
    assert [word for word in words if word[:PIECE] in result] == []
    assert [atom_id for atom_id in ids if atom_id.lower() in result] == []
    assert "org:local" not in result
