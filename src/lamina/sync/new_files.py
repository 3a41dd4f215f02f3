"""New files become atoms: added by a person, restored, or all of them after the journal was deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from lamina.atom.atom import Atom, AtomId, IdSource, effective_from, is_atom_id
from lamina.atom.claim import claim_of
from lamina.atom.provenance import Origin, Scope, limit_origin
from lamina.atom.status import Status
from lamina.sync.disk_diff import ReadFile
from lamina.text.normal_form import normal_form
from lamina.vault import layout
from lamina.vault.atom_file import ParsedFile

_LINK_FIELDS = ("supersedes", "superseded_by", "derived_from")


@dataclass(frozen=True, slots=True)
class NewFile:
    """A readable file whose id is unknown, or that has none."""

    file: ReadFile
    sheet: ParsedFile

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return self.file.path


def choose_by_id(new_files: Sequence[NewFile]) -> tuple[list[NewFile], list[tuple[NewFile, NewFile]]]:
    """Choose one of several new files with the same id; return the chosen and the others, each with its winner.

    The file at the path that lamina would give it is chosen, else the first by name.
    """
    chosen: dict[AtomId, NewFile] = {}
    losers: list[NewFile] = []
    without_id: list[NewFile] = []
    for candidate in sorted(
        new_files, key=lambda file: (file.sheet.id is None or file.sheet.id not in file.path, file.path)
    ):
        if candidate.sheet.id is None:
            without_id.append(candidate)
        elif candidate.sheet.id in chosen:
            losers.append(candidate)
        else:
            chosen[candidate.sheet.id] = candidate
    return [*chosen.values(), *without_id], [(loser, chosen[AtomId(str(loser.sheet.id))]) for loser in losers]


def find_obstacle(new_file: NewFile) -> str | None:
    """Return why a file cannot become an atom as it is; None if it can."""
    if layout.scope_of_path(new_file.path) is None:
        return "is in a folder that belongs to no scope; move it to scopes/NAME/atoms/, in lower case"
    if not str(new_file.sheet.fields["content"]).strip():
        return "has no text yet; write some below the frontmatter"
    return None


def to_atoms(
    new_files: Sequence[NewFile], ids: IdSource, now: datetime, find_atom: Callable[[str], Atom | None]
) -> list[tuple[NewFile, Atom]]:
    """Return the atoms of new files. Links by a foreign id or a file name are resolved to atom ids."""
    with_ids = [(candidate, candidate.sheet.id or ids.new(now)) for candidate in new_files]
    names = {new_file.sheet.foreign_id: atom_id for new_file, atom_id in with_ids if new_file.sheet.foreign_id}
    names |= {layout.file_stem(new_file.path): atom_id for new_file, atom_id in with_ids}

    def resolve(target: str) -> str:
        return target if is_atom_id(target) else names.get(target) or _find_id(target, find_atom)

    return [(new_file, _to_atom(new_file, atom_id, now, resolve)) for new_file, atom_id in with_ids]


def _to_atom(new_file: NewFile, atom_id: AtomId, now: datetime, resolve: Callable[[str], str]) -> Atom:
    sheet = new_file.sheet
    fields: dict[str, Any] = {name: value for name, value in sheet.fields.items() if name != "id"}
    fields |= _resolve_fields(fields, resolve)
    fields["origin"] = limit_origin(Origin.HUMAN, fields["origin"])
    fields["observed_at"] = fields["observed_at"] or min(now, _saved_at(new_file.file))
    fields["source_ref"] = fields["source_ref"] or sheet.foreign_id
    scope = layout.scope_of_path(new_file.path)
    assert scope is not None
    return Atom(id=atom_id, scope=Scope(scope), **fields)


def split_competing(
    members: Sequence[tuple[NewFile, Atom]], has_rival: Callable[[Atom], bool]
) -> tuple[list[tuple[NewFile, Atom]], list[tuple[NewFile, Atom]]]:
    """Return the new files that can be adopted together, and those to compare with a rival, in the order they hold.

    A file is compared if a person wrote it and another active statement has its subject and kind. The files of a vault
    whose journal was deleted have ids: they are what they were before.
    """
    together: list[tuple[NewFile, Atom]] = []
    compared: list[tuple[NewFile, Atom]] = []
    topics: set[tuple[str, str, str]] = set()
    for new_file, atom in sorted(members, key=lambda member: (member[1].scope, effective_from(member[1]))):
        topic = atom.scope, normal_form(atom.subject), atom.kind
        is_written_by_hand = new_file.sheet.id is None and atom.status is Status.ACTIVE and claim_of(atom) is None
        if not is_written_by_hand or not topic[1] or atom.is_episode:
            together.append((new_file, atom))
        elif topic in topics or has_rival(atom):
            compared.append((new_file, atom))
        else:
            topics.add(topic)
            together.append((new_file, atom))
    return together, compared


def resolve_links(sheet: ParsedFile, find_atom: Callable[[str], Atom | None]) -> ParsedFile:
    """Return the parsed file with every link to a known file name or foreign id resolved to the atom id."""

    def resolve(target: str) -> str:
        return target if is_atom_id(target) else _find_id(target, find_atom)

    return replace(sheet, fields={**sheet.fields, **_resolve_fields(sheet.fields, resolve)})


def _find_id(name: str, find_atom: Callable[[str], Atom | None]) -> str:
    """Return the id of the atom with a name; the name itself if there is none."""
    atom = find_atom(name)
    return atom.id if atom is not None else name


def _resolve_fields(fields: Mapping[str, Any], resolve: Callable[[str], str]) -> dict[str, Any]:
    return {
        **{name: tuple(AtomId(resolve(target)) for target in fields[name]) for name in _LINK_FIELDS},
        "relations": tuple(
            replace(relation, target=AtomId(resolve(relation.target))) for relation in fields["relations"]
        ),
        "evidence": tuple(replace(evidence, segment=resolve(evidence.segment)) for evidence in fields["evidence"]),
    }


def _saved_at(file: ReadFile) -> datetime:
    millis = file.stamp.mtime_ns // 1_000_000
    return datetime.fromtimestamp(millis // 1000, UTC).replace(microsecond=millis % 1000 * 1000)
