"""Find what a person changed in a file: only the fields that differ from the previous version. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lamina.atom.atom import FIXED_FIELDS, Atom, Evidence, kind_defaults
from lamina.atom.passage import close_segment, parse_segment
from lamina.atom.status import ENDED, TRANSITIONS, Status, TransitionCause, check_transition
from lamina.errors import TransitionRefused
from lamina.store.admin import FileProblem
from lamina.vault.atom_file import ParsedFile
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS

_OPTIONAL_FIELDS = ("observed_at",)
"""Fields a person may leave out; the stored value stays."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The atom with a person's edit applied, the cause of its status change, and what could not be applied."""

    atom: Atom
    way: TransitionCause
    problems: tuple[FileProblem, ...]

    def differs_from(self, head: Atom) -> bool:
        """Return whether the edit changes the atom."""
        return self.atom != head


@dataclass(frozen=True, slots=True)
class StatusDecision:
    """The effect of a status that a person wrote into a file, on the atom and on others."""

    atom: Atom
    other_atoms: tuple[Atom, ...]
    reason: str
    way: TransitionCause


DecideStatus = Callable[[Atom, Status], StatusDecision]
"""Decides what a new status, written into an atom's file or set by deleting it, does to the atom and to others."""

DecideNew = Callable[[Atom], StatusDecision]
"""Decides what a statement that a person wrote as a new file does to itself and to others."""

_STATUS_VERBS = {
    (Status.CONSTRAINED, Status.ACTIVE): "confirm",
    (Status.CHALLENGED, Status.ACTIVE): "confirm",
    (Status.CONSTRAINED, Status.TOMBSTONED): "reject",
}


def verb_of(old: Status, new: Status) -> str:
    """Return the verb of the commit for a status change in a file."""
    if (old, new) in _STATUS_VERBS:
        return _STATUS_VERBS[old, new]
    if old in ENDED and new is not old:
        return "restore"
    return "forget" if new is Status.TOMBSTONED and new is not old else "edit"


def merge_edit(before: ParsedFile, after: ParsedFile, head: Atom, path: str) -> FileEdit:
    """Apply a person's changes to the current state; they win over other changes.

    What may not change is reported as a problem.
    """
    changes = dict(_changed_fields(before, after, head))
    problems: list[FileProblem] = []
    for name in sorted(FIXED_FIELDS & changes.keys()):
        del changes[name]
        problems.append(_fixed_field_problem(path, after, head, name))
    if after.id is not None and after.id != head.id:
        problems.append(_fixed_field_problem(path, after, head, "id"))
    way = TransitionCause.ORDINARY
    if "status" in changes:
        way = TransitionCause.RESTORE if head.status in ENDED else TransitionCause.ORDINARY
        refusal = _refusal_reason(head.status, changes["status"], way)
        if refusal:
            del changes["status"]
            problems.append(FileProblem(path, "refused-status", refusal, after.lines.get("status", 1), head.id))
    problems += _overruled_changes(before, head, changes, path)
    if "content" in changes:
        changes["content"] += _later_turns(before, head, changes["content"])
    return FileEdit(head.with_(**changes), way, tuple(problems))


def edited_counters(before: ParsedFile, after: ParsedFile) -> dict[str, Any]:
    """Return the counters of use that a person changed in a file, with their new values."""
    return {
        name: value
        for name in SIGNAL_FIELDS
        if (value := getattr(after.signals, name)) != getattr(before.signals, name)
    }


def undo_deletion(edit: FileEdit, sheet: ParsedFile, head: Atom) -> FileEdit:
    """Undo the deletion if a deleted file is there again: the atom gets the status in the file."""
    status = sheet.fields["status"]
    if head.status is not Status.TOMBSTONED or Status.TOMBSTONED not in TRANSITIONS[status]:
        return edit
    return FileEdit(edit.atom.with_(status=status), TransitionCause.UNDO, edit.problems)


def _changed_fields(before: ParsedFile, after: ParsedFile, head: Atom) -> Iterator[tuple[str, Any]]:
    """Yield the fields that differ between two versions of a file, with their new values."""
    new_fields = dict(after.fields)
    if "layer" not in after.lines:
        # A file without a layer gets the default of the stored origin, which an edit cannot change.
        new_fields["layer"] = kind_defaults(new_fields["kind"], new_fields["confidence"], head.origin)["layer"]
    for name, value in new_fields.items():
        if value != before.fields[name] and not (value is None and name in _OPTIONAL_FIELDS) and name != "id":
            yield name, _merge_evidence(before.fields[name], value, head.evidence) if name == "evidence" else value
    if after.content_key not in (None, before.content_key) and after.fields["content"] == before.fields["content"]:
        yield "content", after.content_key


def _merge_evidence(
    before: Sequence[Evidence], after: Sequence[Evidence], stored: Sequence[Evidence]
) -> tuple[Evidence, ...]:
    """Return the stored evidence with what a person added to the file, and without what they removed from it.

    A file shows only the first and last pieces of much evidence.
    """
    removed = set(before).difference(after)
    return tuple(dict.fromkeys((*(item for item in stored if item not in removed), *after)))


def _refusal_reason(old: Status, new: Status, way: TransitionCause) -> str | None:
    """Return why a status may not change like this; None if it may."""
    try:
        check_transition(old, new, way)
    except TransitionRefused as refusal:
        return str(refusal)
    return None


def _overruled_changes(before: ParsedFile, head: Atom, changes: Mapping[str, Any], path: str) -> Iterator[FileProblem]:
    """Yield a problem if the edit replaces changes that were committed after the file was written."""
    replaced = [
        name
        for name, value in changes.items()
        if name != "evidence" and getattr(head, name) not in (before.fields[name], value)
    ]
    if "content" in replaced and _later_turns(before, head, ""):
        replaced.remove("content")
    if replaced:
        edit = f"your edit of {', '.join(sorted(replaced))} replaced a change made in the meantime"
        message = f"{edit}; the replaced version is revision {head.revision}"
        yield FileProblem(path, "overruled", message, atom_id=head.id)


def _later_turns(before: ParsedFile, head: Atom, content: str) -> str:
    """Return the turns of a session that arrived during the edit; they follow what the person wrote."""
    if not head.is_segment:
        return ""
    last_known = max((passage.n for passage in parse_segment(str(before.fields["content"]))), default=0)
    later_turns = [passage for passage in parse_segment(head.content) if passage.n > last_known]
    added = f"\n\n{head.content[min(turn.start for turn in later_turns) :]}" if later_turns else ""
    if content.endswith(added):
        return ""
    return close_segment(content, max(turn.n for turn in later_turns))[len(content) :] + added


def _fixed_field_problem(path: str, after: ParsedFile, head: Atom, name: str) -> FileProblem:
    message = f"{name} never changes; the edit was ignored"
    return FileProblem(path, "ignored-field", message, after.lines.get(name, 1), head.id)
