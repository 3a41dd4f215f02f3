"""The output of `lamina` without a command: a status card and three commands to try next."""

from __future__ import annotations

from lamina.cli.command_session import CommandSession
from lamina.cli.next_steps import next_step_lines, suggest_commands
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextLine
from lamina.cli.record_views import entries_grid, entry_data

LAST_COMMITS = 3


def build_status_card(session: CommandSession) -> CommandResult:
    """Return the status card: the vault, its counts, problems and last commits."""
    if not session.choice.exists:
        data = {
            "vault": str(session.choice.folder),
            "exists": False,
            "next": [command for command, _ in suggest_commands(session, None)],
        }
        return CommandResult(
            data,
            (
                TextLine("lamina: a memory in files you own", "bold"),
                FieldList((("vault", f"none yet in {session.choice.folder} ({session.choice.reason})"),)),
                *next_step_lines(session, None),
            ),
        )
    memory = session.memory
    stats = memory.stats()
    problems = memory.doctor().problems if stats["files"]["problems"] else ()
    entries = memory.journal(limit=LAST_COMMITS)
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
        "next": [command for command, _ in suggest_commands(session, stats, len(problems))],
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
    return CommandResult(data, (*blocks, *next_step_lines(session, stats, len(problems))))


def _format_counts(counts: dict[str, Json]) -> str:
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})" if counts else ""
