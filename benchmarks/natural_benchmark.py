"""Natural talk: capture months of a person's sessions, then ask about current and past values.

All sessions are captured at the file's `now`, as an import would do, and their turns keep their own times.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.natural_data import Person
from benchmarks.natural_links import given_links, score_links
from benchmarks.natural_scores import DEPTH, RankedHit, TalkRow, TalkSheet, judge
from benchmarks.turn_lookup import capture_turns


def run(people: Sequence[Person], vaults: BenchVaults, progress: Progress) -> TalkSheet:
    """Capture each person's talk into a vault of its own, ask every check and score the links."""
    sheet, session_counter, question_counter = TalkSheet(), count(1), count(1)
    sessions, checks = sum(len(entry.sessions) for entry in people), sum(len(entry.checks) for entry in people)
    vaults.warm_up()
    for person in people:
        with vaults.fresh(person.id, person.now) as vault:
            with vault.filling(sum(len(session.turns) for session in person.sessions), progress):
                for session in person.sessions:
                    receipt = vault.memory.capture(capture_turns(session), session_id=session.id)
                    sheet.count_chat([receipt])
                    progress("capturing sessions", next(session_counter), sessions)
                sheet.count_chat(vault.read_all())
            for check in person.checks:
                hits = _ask(vault, check.query, check.as_of, person)
                sheet.rows.append(TalkRow(person.id, check, hits, judge(check, hits)))
                progress("asking questions", next(question_counter), checks)
            if person.labels is not None:
                sheet.links[person.id] = score_links(given_links(vault.memory), person.labels)
    return sheet


def _ask(vault: BenchVault, query: str, as_of: str | None, person: Person) -> tuple[RankedHit, ...]:
    hits = vault.ask(query, DEPTH, person.now, as_of=as_of)
    return tuple(RankedHit(hit.text, bool(hit.marks), hit.relevant) for hit in hits)
