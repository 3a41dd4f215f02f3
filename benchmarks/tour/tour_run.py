"""Run the tour: print each step with its result and checks, and summarise them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.tour.tour_chapter import TourStep
from benchmarks.tour.tour_plan import TourPlan
from lamina.cli.command_session import CommandSession
from lamina.cli.exit_codes import ERROR
from lamina.cli.output import CommandResult, Json, OutputBlock, TextLine
from lamina.cli.start_screen import command_lines, suggest_commands
from lamina.errors import LaminaError


def run_tour(session: CommandSession, *, keep: bool, pause: float) -> CommandResult:
    """Run all steps on a temporary vault until a check fails, and return their results."""
    folder = Path(tempfile.mkdtemp(prefix="lamina-tour-"))
    is_live = not session.output.as_json
    steps: list[TourStep] = []
    try:
        plan = TourPlan(folder / "vault")
        if is_live:
            session.output.print_blocks([TextLine(f"a temporary vault in {plan.vault}", "dim")])
        for number, run_step in enumerate(plan.steps(), 1):
            step = _run_step(run_step)
            steps.append(step)
            if is_live:
                session.output.print_blocks(_step_blocks(number, step))
                time.sleep(pause)
            if not step.has_passed:
                break
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return _render_summary(session, steps, plan.vault if keep else None)


def _run_step(step: Callable[[], TourStep]) -> TourStep:
    """Run a step; an error becomes a failed check."""
    try:
        return step()
    except LaminaError as error:
        return TourStep(step.__name__, "", CommandResult({}), [(f"it runs without an error: {error}", False)])


def _step_blocks(number: int, step: TourStep) -> list[OutputBlock]:
    marks: list[OutputBlock] = [
        TextLine(f"{'✓' if passed else '✗ FAILED:'} {claim}", "green" if passed else "bold red")
        for claim, passed in step.checks
    ]
    return [
        TextLine(),
        TextLine(f"{number}. {step.title}", "bold"),
        TextLine(f"$ {step.command}", "cyan"),
        *step.view.blocks,
        *marks,
    ]


def _render_summary(session: CommandSession, tour_steps: list[TourStep], kept_vault: Path | None) -> CommandResult:
    passed = all(scene.has_passed for scene in tour_steps)
    steps: list[Json] = [
        {
            "step": number,
            "title": scene.title,
            "command": scene.command.replace("\n$ ", "\n"),
            "seconds": round(scene.seconds, 3),
            "checks": [{"claim": claim, "passed": is_ok} for claim, is_ok in scene.checks],
            "result": scene.view.data,
        }
        for number, scene in enumerate(tour_steps, 1)
    ]
    _, *following = suggest_commands(session, None)
    following.append((session.format_command("try"), "type a sentence and see what is stored"))
    data = {
        "passed": passed,
        "vault": str(kept_vault) if kept_vault else None,
        "steps": steps,
        "next": [command for command, _ in following],
    }
    check_count = sum(len(scene.checks) for scene in tour_steps)
    summary = f"{check_count} checks, all of them passed" if passed else "some checks failed; please report it"
    blocks: list[OutputBlock] = [TextLine(), TextLine(summary, "bold green" if passed else "bold red")]
    if kept_vault:
        blocks.append(TextLine(f"the vault is kept in {kept_vault}"))
    blocks += command_lines(following)
    return CommandResult(data, tuple(blocks), 0 if passed else ERROR)
