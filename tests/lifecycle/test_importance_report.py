"""The report of why an atom matters, and its document: the same numbers, rounded, and no infinity in JSON."""

from __future__ import annotations

import json
from math import inf

import pytest
from random_atoms import NOON, make_event, make_signals

from lamina.atom.kinds import Layer
from lamina.documents.importance import importance_document
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.importance import WEIGHTS, effective_importance
from lamina.lifecycle.importance_report import report_importance
from lamina.lifecycle.retention import DEFAULT_MODE
from lamina.lifecycle.signals import AgeingSignals


def test_the_report_says_what_ageing_does_and_why() -> None:
    event, signals = make_event(400, importance=0.5), AgeingSignals()
    report = report_importance(event, signals, AgeingTime(NOON), DEFAULT_MODE)
    assert report.importance == effective_importance(event, signals, NOON)
    assert [factor.name for factor in report.factors] == list(WEIGHTS)
    assert dict(report.ageing)["archival"] == "archive: 400 days without use, importance 0.28, used 0 times"
    assert (report.retention, report.half_life_days) == (0.0, 30.0)


def test_the_report_is_of_one_moment_and_ageing_of_the_last_activity() -> None:
    event = make_event(400, importance=0.5)
    report = report_importance(event, AgeingSignals(), AgeingTime(NOON, make_event(395).observed_at), DEFAULT_MODE)
    assert report.retention == 0.0 and dict(report.ageing)["archival"] == "keep: recent enough"


def test_the_document_adds_up_and_is_valid_json() -> None:
    lasting = make_event(5, layer=Layer.SEMANTIC)
    report = report_importance(lasting, make_signals(1, 2), AgeingTime(NOON), DEFAULT_MODE)
    document = importance_document(report)
    assert report.half_life_days == inf and document.half_life_days is None
    assert sum(factor.contribution for factor in document.factors) == pytest.approx(document.importance, abs=1e-3)
    assert json.loads(json.dumps(document.data(), allow_nan=False))["state"] == report.state
