"""Suggests three commands to run next, depending on the state of the vault."""

from __future__ import annotations

from lamina.cli.command_session import CommandSession
from lamina.cli.output import Json, TextLine


def next_step_lines(session: CommandSession, stats: dict[str, Json] | None, problems: int = 0) -> list[TextLine]:
    """Return the suggested commands as lines of text."""
    return command_lines(suggest_commands(session, stats, problems))


def command_lines(commands: list[tuple[str, str]]) -> list[TextLine]:
    """Return commands with what each does, one per line."""
    width = max(len(command) for command, _ in commands)
    return [
        TextLine("next:", "bold"),
        *(TextLine(f"  {command:<{width}}  {what}", "cyan") for command, what in commands),
    ]


def suggest_commands(
    session: CommandSession, stats: dict[str, Json] | None, problems: int = 0
) -> list[tuple[str, str]]:
    """Return three commands for a vault that is missing, has problems, is empty or is in use."""
    if stats is None:
        return [
            (session.format_command("tour"), "see what lamina does, in a minute"),
            (session.format_command("init"), "create a vault"),
            (
                session.format_command("remember", "I prefer light roast coffee."),
                "create one and store a first statement",
            ),
        ]
    if problems:
        return [
            (session.format_command("doctor"), "see what is wrong and how to fix it"),
            (session.format_command("journal"), "list recent commits"),
            (session.format_command("undo"), "undo the last commit"),
        ]
    if not stats["atoms"]:
        return [
            (session.format_command("try"), "type a sentence and see what is stored"),
            (session.format_command("remember", "I prefer light roast coffee."), "store a statement"),
            (session.format_command("capture", "notes.md"), "capture a file"),
        ]
    return [
        (session.format_command("recall", "what do I prefer?"), "ask a question"),
        (session.format_command("diff", "--since", "yesterday"), "see what changed"),
        (session.format_command("try"), "type a sentence and see what is stored"),
    ]
