"""What reads a whole scope is not done every night."""

from __future__ import annotations

import pytest

from desk import Desk
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.dream.throttle import throttle_step
from lamina.errors import StoreError


class Looks:
    """A step that counts how often it was taken."""

    def __init__(self) -> None:
        self.many = 0
        self.fails = False

    def __call__(self, scene: StepContext) -> StepPlan:
        self.many += 1
        if self.fails:
            raise StoreError("no")
        return StepPlan()


@pytest.fixture
def looks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Looks:
    found = Looks()
    monkeypatch.setattr("lamina.memory.NIGHTLY", {"look": throttle_step("look", found)})
    desk.memory.remember_many([{"content": f"Shelf {n} holds jars."} for n in range(250)])
    desk.memory.dream()
    assert found.many == 1
    return found


def test_a_few_changes_in_a_large_scope_wait(desk: Desk, looks: Looks) -> None:
    desk.memory.remember("The cellar is dry.")
    desk.memory.dream()
    assert looks.many == 1
    for n in range(3):
        desk.memory.remember(f"Barrel {n} holds vinegar.")
    desk.memory.dream()
    assert looks.many == 2
    desk.memory.dream()
    assert looks.many == 2


def test_after_a_week_one_change_is_enough_and_none_is_not(desk: Desk, looks: Looks) -> None:
    desk.tick(days=8)
    desk.memory.dream()
    assert looks.many == 1
    desk.memory.remember("The cellar is dry.")
    desk.memory.dream()
    assert looks.many == 2
    desk.memory.remember("The loft is damp.")
    desk.memory.dream()
    assert looks.many == 2


def test_one_that_failed_is_tried_again(desk: Desk, looks: Looks) -> None:
    looks.fails = True
    for n in range(5):
        desk.memory.remember(f"Barrel {n} holds vinegar.")
    assert desk.memory.dream().failed
    looks.fails = False
    assert not desk.memory.dream().failed
    assert looks.many == 3
