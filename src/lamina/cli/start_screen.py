"""The output of `lamina` without a command: a status card and three commands to try next."""

from __future__ import annotations

from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextLine
from lamina.cli.record_views import entries_grid, entry_data
from lamina.cli.repository_checkout import introduction_command

LAST_COMMITS = 3


def build_status_card(session: CommandSession) -> CommandResult:
    """Return the status card: the vault, its counts, problems and last commits."""
    if not session.choice.exists:
        steps = suggest_commands(session, None)
        data = {"vault": str(session.choice.folder), "exists": False, "next": [command for command, _ in steps]}
        return CommandResult(
            data,
            (
                TextLine("lamina: a memory in files you own", "bold"),
                FieldList((("vault", f"none yet in {session.choice.folder} ({session.choice.reason})"),)),
                *command_lines(steps),
            ),
        )
    memory = session.memory
    stats = memory.upkeep.stats()
    problems = memory.upkeep.doctor(look=bool(stats["files"]["problems"])).problems
    entries = memory.journal(limit=LAST_COMMITS)
    steps = suggest_commands(session, stats, len(problems))
    data = {
        "vault": str(memory.root),
        "exists": True,
        "scope": stats["scope"],
        "atoms": stats["atoms"],
        "by_status": stats["by_status"],
        "by_kind": stats["by_kind"],
        "commits": stats["commits"],
        "problems": len(problems),
        "last": [entry_data(entry) for entry in entries],
        "next": [command for command, _ in steps],
    }
    facts = (
        ("vault", f"{memory.root} ({session.choice.reason})"),
        ("scope", stats["scope"]),
        ("atoms", f"{stats['atoms']}{_format_counts(stats['by_status'])}"),
        ("commits", str(stats["commits"])),
        ("problems", f"{len(problems)}: {problems[0].message}" if problems else "none"),
    )
    blocks: list[OutputBlock] = [TextLine("lamina: a memory in files you own", "bold"), FieldList(facts), TextLine()]
    if entries:
        blocks += [entries_grid(entries), TextLine()]
    return CommandResult(data, (*blocks, *command_lines(steps)))


def _format_counts(counts: dict[str, Json]) -> str:
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})" if counts else ""


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
            (session.format_command(introduction_command()), "see what lamina does, in a minute"),
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
