"""What a person changed in a file: only the fields that differ from what the file said before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lamina.atom.atom import FIXED_FIELDS, Atom, kind_defaults
from lamina.atom.passage import closed, parse_segment
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


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an atom and of others because a person wrote another status into its file."""

    atom: Atom
    others: tuple[Atom, ...]
    reason: str
    way: Way


Decide = Callable[[Atom, Status], Decision]
"""Tells what another status, written into an atom's file or by deleting it, does to it and to what stands."""

_VERBS = {
    (Status.CONSTRAINED, Status.ACTIVE): "confirm",
    (Status.CHALLENGED, Status.ACTIVE): "confirm",
    (Status.CONSTRAINED, Status.TOMBSTONED): "reject",
}


def verb_of(old: Status, new: Status) -> str:
    """The verb a change of status in a file stands for."""
    if (old, new) in _VERBS:
        return _VERBS[old, new]
    if old in ENDED and new is not old:
        return "restore"
    return "forget" if new is Status.TOMBSTONED and new is not old else "edit"


def human_edit(before: Sheet, after: Sheet, head: Atom, path: str) -> Edit:
    """Put the person's changes on top of the current state; theirs win, what may not change is reported."""
    wanted = dict(_differences(before, after, head))
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
    if "content" in wanted:
        wanted["content"] += _added(before, head, wanted["content"])
    return Edit(head.with_(**wanted), way, tuple(problems))


def brought_back(edit: Edit, sheet: Sheet, head: Atom) -> Edit:
    """A deleted file that is there again takes its deletion back: the atom has the status the file was deleted with."""
    status = sheet.fields["status"]
    if head.status is not Status.TOMBSTONED or Status.TOMBSTONED not in ARROWS[status]:
        return edit
    return Edit(edit.atom.with_(status=status), Way.UNDO, edit.problems)


def _differences(before: Sheet, after: Sheet, head: Atom) -> Iterator[tuple[str, Any]]:
    said = dict(after.fields)
    if "layer" not in after.lines:
        # Where the file is silent the layer follows from the origin: from the true one.
        said["layer"] = kind_defaults(said["kind"], said["confidence"], head.origin)["layer"]
    for name, value in said.items():
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
    if "content" in lost and _added(before, head, ""):
        lost.remove("content")
    if lost:
        fields = ", ".join(sorted(lost))
        yield Problem(
            path,
            "overruled",
            f"your edit of {fields} took the place of a change made meanwhile; "
            f"that one is kept as revision {head.revision}",
            atom_id=head.id,
        )


def _added(before: Sheet, head: Atom, content: str) -> str:
    """A session's turns that came in while the person edited those before; they follow what the person wrote."""
    if not head.is_segment:
        return ""
    known = max((passage.n for passage in parse_segment(str(before.fields["content"]))), default=0)
    later = [passage for passage in parse_segment(head.content) if passage.n > known]
    added = f"\n\n{head.content[min(each.start for each in later) :]}" if later else ""
    if content.endswith(added):
        return ""
    return closed(content, max(each.n for each in later))[len(content) :] + added


def _problem(path: str, after: Sheet, head: Atom, name: str, kind: str, message: str) -> Problem:
    return Problem(path, kind, message, after.lines.get(name, 1), head.id)
