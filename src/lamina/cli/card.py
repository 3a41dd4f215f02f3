"""The output of `lamina` without a command: a status card and three commands to try next."""

from __future__ import annotations

from lamina.cli.next_steps import next_steps, three
from lamina.cli.output import Block, Facts, Json, Line, View
from lamina.cli.session import Session
from lamina.cli.told import entries_grid, entry_data

LAST = 3


def card(session: Session) -> View:
    """Return the status card: the vault, its counts, problems and last commits."""
    if not session.choice.exists:
        data = {
            "vault": str(session.choice.folder),
            "exists": False,
            "next": [command for command, _ in three(session, None)],
        }
        return View(
            data,
            (
                Line("lamina: a memory in files you own", "bold"),
                Facts((("vault", f"none yet in {session.choice.folder} ({session.choice.way})"),)),
                *next_steps(session, None),
            ),
        )
    memory = session.memory
    stats = memory.stats()
    problems = memory.doctor().problems if stats["files"]["problems"] else ()
    entries = memory.journal(limit=LAST)
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
        "next": [command for command, _ in three(session, stats, len(problems))],
    }
    facts = (
        ("vault", f"{memory.root} ({session.choice.way})"),
        ("scope", stats["scope"]),
        ("atoms", f"{stats['atoms']}{_inside(stats['by_status'])}"),
        ("commits", str(stats["commits"])),
        ("problems", f"{len(problems)}: {problems[0].message}" if problems else "none"),
    )
    blocks: list[Block] = [Line("lamina: a memory in files you own", "bold"), Facts(facts), Line()]
    if entries:
        blocks += [entries_grid(entries), Line()]
    return View(data, (*blocks, *next_steps(session, stats, len(problems))))


def _inside(counts: dict[str, Json]) -> str:
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})" if counts else ""
