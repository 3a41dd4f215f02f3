"""`lamina tour`: shows what lamina does, with real results on a temporary vault."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.exits import ERROR
from lamina.cli.next_steps import three, told
from lamina.cli.output import Block, Json, Line, View
from lamina.cli.session import Session
from lamina.errors import LaminaError

if TYPE_CHECKING:
    from lamina.cli.scene import Scene

app = typer.Typer()


@command(app, "tour", panel="Start", example="lamina tour --keep")
def tour(
    session: Session,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the vault of the tour.")] = False,
    pause: Annotated[float, typer.Option(help="Seconds to wait after each step.", min=0, max=60)] = 0.0,
) -> View:
    """Show in a minute what lamina does, on a temporary vault; every result is real and checked."""
    from lamina.cli.story import Story

    folder = Path(tempfile.mkdtemp(prefix="lamina-tour-"))
    is_live = not session.output.as_json
    steps: list[Scene] = []
    try:
        plan = Story(folder / "vault")
        if is_live:
            session.output.blocks([Line(f"a temporary vault in {plan.vault}", "dim")])
        for number, run_step in enumerate(plan.scenes(), 1):
            step = _played(run_step)
            steps.append(step)
            if is_live:
                session.output.blocks(_told(number, step))
                time.sleep(pause)
            if not step.passed:
                break
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return _ending(session, steps, plan.vault if keep else None)


def _played(play: Callable[[], Scene]) -> Scene:
    """Run a step; an error becomes a failed check."""
    from lamina.cli.scene import Scene

    try:
        return play()
    except LaminaError as error:
        return Scene(play.__name__, "", View({}), [(f"it runs without an error: {error}", False)])


def _told(number: int, scene: Scene) -> list[Block]:
    marks: list[Block] = [
        Line(f"{'✓' if passed else '✗ FAILED:'} {claim}", "green" if passed else "bold red")
        for claim, passed in scene.checks
    ]
    return [
        Line(),
        Line(f"{number}. {scene.title}", "bold"),
        Line(f"$ {scene.command}", "cyan"),
        *scene.view.blocks,
        *marks,
    ]


def _ending(session: Session, scenes: list[Scene], kept: Path | None) -> View:
    passed = all(scene.passed for scene in scenes)
    steps: list[Json] = [
        {
            "step": number,
            "title": scene.title,
            "command": scene.command.replace("\n$ ", "\n"),
            "seconds": round(scene.seconds, 3),
            "checks": [{"claim": claim, "passed": is_ok} for claim, is_ok in scene.checks],
            "result": scene.view.data,
        }
        for number, scene in enumerate(scenes, 1)
    ]
    _, *following = three(session, None)
    following.append((session.shell("try"), "type a sentence and see what is stored"))
    data = {
        "passed": passed,
        "vault": str(kept) if kept else None,
        "steps": steps,
        "next": [command for command, _ in following],
    }
    check_count = sum(len(scene.checks) for scene in scenes)
    summary = f"{check_count} checks, all of them passed" if passed else "some checks failed; please report it"
    blocks: list[Block] = [Line(), Line(summary, "bold green" if passed else "bold red")]
    if kept:
        blocks.append(Line(f"the vault is kept in {kept}"))
    blocks += told(following)
    return View(data, tuple(blocks), 0 if passed else ERROR)
