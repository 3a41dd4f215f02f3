"""The story of a dream: step by step, each planned from what stands, held where it would change too much, committed
once, and told. A dream broken off has done whole steps and no half ones; the next one does the rest."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.status import Way
from lamina.atom.trust import Origin
from lamina.dream.plan import Plan
from lamina.dream.policy import gated
from lamina.dream.report import DreamReport, StepReport, reason_of
from lamina.dream.scene import Scene
from lamina.errors import InvalidInput, LaminaError, StaleRevision
from lamina.lifecycle.guard import FEW, held
from lamina.logs import wordless
from lamina.review.waiting import HELD_DREAM
from lamina.store.base import Change, Commit, Store
from lamina.store.jobs import Jobs
from lamina.store.ledger import Problem
from lamina.telemetry import STEP, part
from lamina.vault import layout

logger = logging.getLogger("lamina")

JOB = "dream"
VERB = "dream"
BATCH = "dream-"
"""How the name of a dream begins."""
LEASE_SECONDS = 1800.0
_TRIES = 3

_HERE = f"{socket.gethostname()}:"

Step = Callable[[Scene], Plan]
Progress = Callable[[int, int], None]
"""How many steps are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class _Night:
    """One dream: the name of its commits, whether a person has said yes to everything, and whether it is only tried."""

    batch: str
    anyway: bool
    dry: bool


def dream(
    scenes: Sequence[Scene],
    steps: Mapping[str, Step],
    store: Store,
    at: datetime,
    *,
    anyway: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> DreamReport:
    """Take every scope through the steps. `anyway`: a person has said yes to whatever would be held."""
    night = _Night(f"{BATCH}{secrets.token_hex(6)}", anyway, dry_run)
    if dry_run:
        return DreamReport(night.batch, at, tuple(_taken(scenes, steps, night, lambda n, of: True)), dry_run=True)
    holder = f"{_HERE}{os.getpid()}-{secrets.token_hex(4)}"
    if not _taken_up(store.jobs, holder):
        return DreamReport(night.batch, at, (), asleep="somebody else is dreaming; `lamina jobs` tells who")
    error = ""

    def goes_on(done: int, total: int) -> bool:
        if progress is not None:
            progress(done, total)
        return store.jobs.renew(JOB, holder, LEASE_SECONDS, done, total)

    try:
        told = tuple(_taken(scenes, steps, night, goes_on))
        error = "; ".join(each.told for each in told if each.failed)
        return DreamReport(night.batch, at, told)
    except LaminaError as problem:
        error = str(problem)
        raise
    finally:
        store.jobs.release(JOB, holder, error)


def chosen(steps: Mapping[str, Step], names: Iterable[str]) -> dict[str, Step]:
    """The steps by these names, in their own order."""
    wanted = set(names)
    unknown = sorted(wanted - set(steps))
    if unknown:
        raise InvalidInput(f"there is no step {', '.join(unknown)}; choose from {', '.join(steps)}")
    return {name: step for name, step in steps.items() if name in wanted}


def _taken_up(jobs: Jobs, holder: str) -> bool:
    """Lease the dream; what a process of this machine left when it died is taken over at once."""
    if jobs.take(JOB, holder, LEASE_SECONDS):
        return True
    left = next((each.holder for each in jobs.list() if each.name == JOB), "")
    if not left.startswith(_HERE) or _is_alive(left.removeprefix(_HERE).partition("-")[0]):
        return False
    jobs.release(JOB, left, "its process died")
    return jobs.take(JOB, holder, LEASE_SECONDS)


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _taken(
    scenes: Sequence[Scene], steps: Mapping[str, Step], night: _Night, goes_on: Callable[[int, int], bool]
) -> list[StepReport]:
    told: list[StepReport] = []
    total = len(scenes) * len(steps)
    for scene in scenes:
        for name, step in steps.items():
            if scene.stop() or not goes_on(len(told), total):
                return told
            with part(VERB, {STEP: name}):
                told.append(_step(name, step, scene, night))
    goes_on(len(told), total)
    return told


def _step(name: str, step: Step, scene: Scene, night: _Night) -> StepReport:
    """One step in one scope. Whoever wrote meanwhile was quicker: then it is planned again from what stands now."""
    for left in reversed(range(_TRIES)):
        try:
            return _done(name, _planned(name, step, scene), scene, night)
        except StaleRevision:
            if not left:
                return StepReport(name, scene.scope, failed="others wrote all the while; the next dream tries again")
        except LaminaError as error:
            return StepReport(name, scene.scope, failed=f"nothing was changed: {error}")
    raise AssertionError("unreachable")


def _planned(name: str, step: Step, scene: Scene) -> Plan:
    """What a step wants and policy lets through. What one stumbles over must not keep the others from their work."""
    try:
        return gated(step(scene), scene)
    except LaminaError:
        raise
    except Exception as error:
        logger.error("the step %s of a dream failed: %s", name, wordless(error))
        raise LaminaError(wordless(error)) from error


def _done(name: str, plan: Plan, scene: Scene, night: _Night) -> StepReport:
    path = f"{layout.folder_of(scene.scope)}dream:{name}"
    why = None if night.anyway else _held(plan, scene)
    if why is not None:
        message = f"dream {name}: {why}: `lamina dream --step {name} --dry-run` shows it, `--yes` does it"
        scene.store.ledger.report(Problem(path, HELD_DREAM, message, at=scene.now))
        return StepReport(name, scene.scope, moves=plan.moves, notes=plan.notes, held=why)
    commit = None
    if plan.changes:
        done = scene.store.commit(
            Commit(
                actor="lamina",
                origin=Origin.DREAM,
                verb=VERB,
                reason=reason_of(name, plan.moves),
                scope=scene.scope,
                changes=tuple(map(Change, plan.changes)),
                way=Way.UPKEEP,
                batch=night.batch,
            )
        )
        commit = done.id
    lost = () if night.dry and not plan.in_trial else _noted(plan)
    scene.store.ledger.clear(path)
    return StepReport(name, scene.scope, commit, plan.moves, (*plan.notes, *lost))


def _held(plan: Plan, scene: Scene) -> str | None:
    if plan.touched <= FEW:  # never too much, and then nobody need count the store
        return None
    return held(plan.touched, sum(scene.store.counts((scene.scope,), "status").values()))


def _noted(plan: Plan) -> tuple[str, ...]:
    """Set the counters of a plan whose changes stand, whatever becomes of them."""
    try:
        plan.after()
    except LaminaError as error:
        return (f"done, but what it noted for the next dream is lost: {error}",)
    return ()
