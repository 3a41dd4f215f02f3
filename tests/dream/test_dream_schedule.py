"""What reads a whole scope is not done every night."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from lamina.atom.atom import IdSource
from lamina.capture.store_reads import new_ids
from lamina.dream.dream import dream
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext, StepPlan
from lamina.dream.steps import throttle_step
from lamina.errors import StoreError
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.testing import LOCAL, StoreHarness


class CountingStep:
    """A step that counts how often it was run."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False

    def __call__(self, context: StepContext) -> StepPlan:
        self.count += 1
        if self.fails:
            raise StoreError("no")
        return StepPlan()


def run_dream(harness: StoreHarness, step: CountingStep) -> DreamReport:
    now = harness.clock.now()
    context = StepContext(
        store=harness.store, scope=LOCAL, moment=AgeingTime(now), ids=new_ids(IdSource(os.urandom), now)
    )
    return dream([context], {"count": throttle_step("count", step)}, harness.store, now)


@pytest.fixture
def counting_step(harness: StoreHarness) -> CountingStep:
    step = CountingStep()
    harness.commit(*(harness.new_atom(f"Shelf {n} holds jars.") for n in range(250)))
    run_dream(harness, step)
    assert step.count == 1
    return step


def test_few_changes_in_a_large_scope_do_not_start_the_step(harness: StoreHarness, counting_step: CountingStep) -> None:
    harness.add("The cellar is dry.")
    run_dream(harness, counting_step)
    assert counting_step.count == 1
    for n in range(3):
        harness.add(f"Barrel {n} holds vinegar.")
    run_dream(harness, counting_step)
    assert counting_step.count == 2
    run_dream(harness, counting_step)
    assert counting_step.count == 2


def test_after_a_week_one_change_is_enough_and_none_is_not(harness: StoreHarness, counting_step: CountingStep) -> None:
    harness.clock.at += timedelta(days=8)
    run_dream(harness, counting_step)
    assert counting_step.count == 1
    harness.add("The cellar is dry.")
    run_dream(harness, counting_step)
    assert counting_step.count == 2
    harness.add("The loft is damp.")
    run_dream(harness, counting_step)
    assert counting_step.count == 2


def test_a_failed_step_is_tried_again(harness: StoreHarness, counting_step: CountingStep) -> None:
    counting_step.fails = True
    for n in range(5):
        harness.add(f"Barrel {n} holds vinegar.")
    assert run_dream(harness, counting_step).failed
    counting_step.fails = False
    assert not run_dream(harness, counting_step).failed
    assert counting_step.count == 3
