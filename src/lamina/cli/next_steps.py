"""Suggests three commands to run next, depending on the state of the vault."""

from __future__ import annotations

from lamina.cli.output import Json, Line
from lamina.cli.session import Session


def next_steps(session: Session, stats: dict[str, Json] | None, problems: int = 0) -> list[Line]:
    """Return the suggested commands as lines of text."""
    return told(three(session, stats, problems))


def told(commands: list[tuple[str, str]]) -> list[Line]:
    """Return commands with what each does, one per line."""
    width = max(len(command) for command, _ in commands)
    return [Line("next:", "bold"), *(Line(f"  {command:<{width}}  {what}", "cyan") for command, what in commands)]


def three(session: Session, stats: dict[str, Json] | None, problems: int = 0) -> list[tuple[str, str]]:
    """Return three commands for a vault that is missing, has problems, is empty or is in use."""
    if stats is None:
        return [
            (session.shell("tour"), "see what lamina does, in a minute"),
            (session.shell("init"), "create a vault"),
            (session.shell("remember", "I prefer light roast coffee."), "create one and store a first statement"),
        ]
    if problems:
        return [
            (session.shell("doctor"), "see what is wrong and how to fix it"),
            (session.shell("journal"), "list recent commits"),
            (session.shell("undo"), "undo the last commit"),
        ]
    if not stats["atoms"]:
        return [
            (session.shell("try"), "type a sentence and see what is stored"),
            (session.shell("remember", "I prefer light roast coffee."), "store a statement"),
            (session.shell("capture", "notes.md"), "capture a file"),
        ]
    return [
        (session.shell("recall", "what do I prefer?"), "ask a question"),
        (session.shell("diff", "--since", "yesterday"), "see what changed"),
        (session.shell("try"), "type a sentence and see what is stored"),
    ]
