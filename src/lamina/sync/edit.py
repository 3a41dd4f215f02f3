"""What a person changed in a file: only the fields that differ from what the file said before. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lamina.atom.atom import FIXED_FIELDS, Atom
from lamina.atom.status import ARROWS, ENDED, Status, Way, check_transition
from lamina.errors import TransitionRefused
from lamina.store.ledger import Problem
from lamina.vault.codec import Sheet

_OPEN_FIELDS = ("observed_at",)
"""Fields a person may leave out; the store's value stays."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The atom with a person's edit on top, how its status changes, and what could not be taken over."""

    atom: Atom
    way: Way
    problems: tuple[Problem, ...]

    def changes(self, head: Atom) -> bool:
        return self.atom != head


def human_edit(before: Sheet, after: Sheet, head: Atom, path: str) -> Edit:
    """Put the person's changes on top of the current state; theirs win, what may not change is reported."""
    wanted = dict(_differences(before, after))
    problems: list[Problem] = []
    for name in sorted(FIXED_FIELDS & wanted.keys()):
        del wanted[name]
        problems.append(
            _problem(path, after, head, name, "ignored-field", f"{name} never changes; the edit was ignored")
        )
    if after.id is not None and after.id != head.id:
        problems.append(_problem(path, after, head, "id", "ignored-field", "id never changes; the edit was ignored"))
    way = Way.ORDINARY
    if "status" in wanted:
        way = Way.RESTORE if head.status in ENDED else Way.ORDINARY
        refused = _refused(head.status, wanted["status"], way)
        if refused:
            del wanted["status"]
            problems.append(_problem(path, after, head, "status", "refused-status", refused))
    problems += _overruled(before, head, wanted, path)
    return Edit(head.with_(**wanted), way, tuple(problems))


def brought_back(edit: Edit, sheet: Sheet, head: Atom) -> Edit:
    """A deleted file that is there again takes its deletion back: the atom has the status the file was deleted with."""
    status = sheet.fields["status"]
    if head.status is not Status.TOMBSTONED or Status.TOMBSTONED not in ARROWS[status]:
        return edit
    return Edit(edit.atom.with_(status=status), Way.UNDO, edit.problems)


def _differences(before: Sheet, after: Sheet) -> Iterator[tuple[str, Any]]:
    for name, value in after.fields.items():
        if value != before.fields[name] and not (value is None and name in _OPEN_FIELDS) and name != "id":
            yield name, value
    if after.content_key not in (None, before.content_key) and after.fields["content"] == before.fields["content"]:
        yield "content", after.content_key


def _refused(old: Status, new: Status, way: Way) -> str | None:
    try:
        check_transition(old, new, way)
    except TransitionRefused as refusal:
        return str(refusal)
    return None


def _overruled(before: Sheet, head: Atom, wanted: Mapping[str, Any], path: str) -> Iterator[Problem]:
    lost = [name for name, value in wanted.items() if getattr(head, name) not in (before.fields[name], value)]
    if lost:
        fields = ", ".join(sorted(lost))
        yield Problem(path, "overruled", f"your edit of {fields} took the place of a change made meanwhile; "
                      f"that one is kept as revision {head.revision}", atom_id=head.id)  # fmt: skip


def _problem(path: str, after: Sheet, head: Atom, name: str, kind: str, message: str) -> Problem:
    return Problem(path, kind, message, after.lines.get(name, 1), head.id)
