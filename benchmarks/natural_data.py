"""Load files of natural talk: months of one person's sessions, questions about them, and labelled
pairs of statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.data_set import BenchSession, BenchTurn, read_data_file, require_any
from lamina.errors import InvalidInput
from lamina.text.timestamps import parse_time

FOLDER = Path(__file__).parents[1] / "training" / "data" / "natural"
HELD_OUT = frozenset({"f"})
"""People that nothing is tuned on: they are run for a final figure only."""

ANSWERED = ("changed", "stable", "near", "history")
KINDS = (*ANSWERED, "unknown", "gone")
VERDICTS = frozenset({"replaces", "corrects", "plan", "coexists", "unrelated"})
_PREFIX = "natural_"


@dataclass(frozen=True, slots=True)
class TalkCheck:
    """A question, the words of a right and of an outdated answer, and the date it asks about, if not now.

    `turns` are the turns that answer it; empty if the file does not name them.
    """

    kind: str
    query: str
    expect: tuple[str, ...]
    reject: tuple[str, ...]
    as_of: str | None
    turns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LinkLabel:
    """Two quotes, the older first, their turns, and whether the newer one replaces the older one."""

    old: str
    new: str
    verdict: str
    note: str
    turns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Person:
    """One person's sessions and what is asked afterwards; `labels` is None where no links file is beside the talk."""

    id: str
    now: datetime
    sessions: tuple[BenchSession, ...]
    checks: tuple[TalkCheck, ...]
    labels: tuple[LinkLabel, ...] | None


def default_files(*, held_out: bool, folder: Path = FOLDER) -> list[Path]:
    """Return the repository's natural talk, the held-out files or all others; InvalidInput if there are none."""
    files = [path for path in sorted(folder.glob(f"{_PREFIX}*.json")) if (_person_id(path) in HELD_OUT) == held_out]
    if not files:
        expected = "held-out natural talk" if held_out else "natural talk"
        raise InvalidInput(f"there is no {expected} in {folder}; run from a checkout or name files")
    return files


def load_people(
    paths: Sequence[Path], limit: int | None = None, turns: int | None = None
) -> tuple[list[Person], dict[str, str]]:
    """Return the people of the files and the SHA-256 of each file.

    `turns` keeps the first turns of each and what can be asked about them, `limit` the first of these questions.
    """
    people: dict[str, Person] = {}
    digests: dict[str, str] = {}
    for path in paths:
        whole, digests[path.name] = _load_person(path)
        shortened = whole if turns is None else keep_first_turns(whole, turns)
        person = replace(shortened, checks=shortened.checks[:limit])
        if person.id in people:
            raise InvalidInput(f"two files hold a person called {person.id!r}; run them one after the other")
        people[person.id] = person
    return list(people.values()), digests


def keep_first_turns(person: Person, most: int) -> Person:
    """Return the person with the first turns only, and with the questions and labels whose turns are all among them.

    What was never said stays unknown. The files do not say when something was to be forgotten, so that is not asked.
    """
    if most >= sum(len(session.turns) for session in person.sessions):
        return person
    sessions: list[BenchSession] = []
    for session in person.sessions:
        turns = session.turns[:most]
        most -= len(turns)
        if turns:
            sessions.append(replace(session, turns=turns))
    spoken = {turn.id for session in sessions for turn in session.turns}
    checks = tuple(
        check for check in person.checks if check.kind == "unknown" or (check.turns and check.turns <= spoken)
    )
    labels = person.labels and tuple(label for label in person.labels if label.turns and label.turns <= spoken)
    return replace(person, sessions=tuple(sessions), checks=checks, labels=labels)


def _load_person(path: Path) -> tuple[Person, str]:
    labels = _load_labels(path)
    return read_data_file(path, "natural talk", lambda data: _parse_person(data, _person_id(path), labels))


def _load_labels(path: Path) -> tuple[LinkLabel, ...] | None:
    """Read `links_X.json` beside `natural_X.json`."""
    links = path.with_name(path.name.replace("natural", "links", 1))
    if links == path or not links.exists():
        return None
    return read_data_file(links, "links", lambda data: tuple(map(_parse_label, data)))[0]


def _person_id(path: Path) -> str:
    return path.name.split(".")[0].removeprefix(_PREFIX)


def _parse_person(data: dict[str, Any], id: str, labels: tuple[LinkLabel, ...] | None) -> Person:
    sessions = require_any(map(_parse_session, data["sessions"]), "sessions")
    checks = require_any(map(_parse_check, data["checks"]), "checks")
    return Person(id, parse_time(data["now"]), tuple(sessions), tuple(checks), labels)


def _parse_session(data: dict[str, Any]) -> BenchSession:
    turns = tuple(
        BenchTurn(
            _turn_id(data["id"], n), turn["content"], turn.get("speaker"), turn.get("role"), parse_time(turn["at"])
        )
        for n, turn in enumerate(data["turns"])
    )
    return BenchSession(data["id"], parse_time(data["turns"][0]["at"]), turns)


def _parse_check(data: dict[str, Any]) -> TalkCheck:
    if data["kind"] not in KINDS:
        raise ValueError(f"there is no kind of check called {data['kind']!r}")
    turns = frozenset(_turn_id(answer["session"], answer["turn"]) for answer in data.get("answer", ()))
    return TalkCheck(data["kind"], data["query"], tuple(data["expect"]), tuple(data["reject"]), data["at"], turns)


def _parse_label(data: dict[str, Any]) -> LinkLabel:
    if data["verdict"] not in VERDICTS:
        raise ValueError(f"there is no verdict called {data['verdict']!r}")
    turns = frozenset(_turn_id(data[side]["session"], data[side]["turn"]) for side in ("old", "new"))
    return LinkLabel(data["old"]["quote"], data["new"]["quote"], data["verdict"], data.get("note", ""), turns)


def _turn_id(session: str, n: int) -> str:
    return f"{session}/{n}"
