"""Three commands worth typing next, whatever state a vault is in."""

from __future__ import annotations

from lamina.cli.output import Json, Line
from lamina.cli.session import Session


def next_steps(session: Session, stats: dict[str, Json] | None, problems: int = 0) -> list[Line]:
    """Three commands and what each does, for people."""
    return told(three(session, stats, problems))


def told(commands: list[tuple[str, str]]) -> list[Line]:
    """Commands and what each does, one a line."""
    width = max(len(command) for command, _ in commands)
    return [Line("next:", "bold"), *(Line(f"  {command:<{width}}  {what}", "cyan") for command, what in commands)]


def three(session: Session, stats: dict[str, Json] | None, problems: int = 0) -> list[tuple[str, str]]:
    """The commands for a vault that is missing, ailing, empty or in use."""
    if stats is None:
        return [
            (session.shell("tour"), "see in a minute what it does"),
            (session.shell("init"), "make a vault"),
            (session.shell("remember", "I prefer light roast coffee."), "make one and remember the first thing"),
        ]
    if problems:
        return [
            (session.shell("doctor"), "what is wrong and how to mend it"),
            (session.shell("journal"), "what happened lately"),
            (session.shell("undo"), "take back the last change"),
        ]
    if not stats["atoms"]:
        return [
            (session.shell("try"), "type a sentence, see what it becomes"),
            (session.shell("remember", "I prefer light roast coffee."), "remember a statement"),
            (session.shell("capture", "notes.md"), "keep a file word for word"),
        ]
    return [
        (session.shell("recall", "what do I prefer?"), "ask"),
        (session.shell("diff", "--since", "yesterday"), "what changed"),
        (session.shell("try"), "type a sentence, see what it becomes"),
    ]
