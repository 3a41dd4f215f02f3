"""New files become atoms: dropped in by a person, brought back, or all of them when the journal was deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin, bound
from lamina.sync.sight import Found
from lamina.vault import layout
from lamina.vault.codec import Sheet

_LINKS = ("supersedes", "superseded_by", "derived_from")


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A readable file whose id nobody knows yet, or that has none."""

    found: Found
    sheet: Sheet

    @property
    def path(self) -> str:
        return self.found.path


def elect(newcomers: Sequence[Newcomer]) -> tuple[list[Newcomer], list[tuple[Newcomer, Newcomer]]]:
    """Of several files with one id one counts: that at the place we would give it, else the first by name."""
    chosen: dict[AtomId, Newcomer] = {}
    losers: list[Newcomer] = []
    nameless: list[Newcomer] = []
    for newcomer in sorted(
        newcomers, key=lambda each: (each.sheet.id is None or each.sheet.id not in each.path, each.path)
    ):
        if newcomer.sheet.id is None:
            nameless.append(newcomer)
        elif newcomer.sheet.id in chosen:
            losers.append(newcomer)
        else:
            chosen[newcomer.sheet.id] = newcomer
    return [*chosen.values(), *nameless], [(loser, chosen[AtomId(str(loser.sheet.id))]) for loser in losers]


def obstacle(newcomer: Newcomer) -> str | None:
    """Why a file cannot become an atom as it is."""
    if layout.scope_of(newcomer.path) is None:
        return "lies in a folder that is no scope's; scopes/NAME/atoms/ is, in lower case"
    if not str(newcomer.sheet.fields["content"]).strip():
        return "has no words yet"
    return None


def to_atoms(
    newcomers: Sequence[Newcomer], ids: IdSource, now: datetime, known: Callable[[str], AtomId | None]
) -> list[tuple[Newcomer, Atom]]:
    """The atoms of new files. Links by a foreign id or a file's name are resolved to ids of ours."""
    named = [(newcomer, newcomer.sheet.id or ids.new(now)) for newcomer in newcomers]
    names = {each.sheet.foreign_id: atom_id for each, atom_id in named if each.sheet.foreign_id}
    names |= {layout.stem(each.path): atom_id for each, atom_id in named}

    def resolve(target: str) -> str:
        return target if is_atom_id(target) else names.get(target) or known(target) or target

    return [(each, _atom(each, atom_id, now, resolve)) for each, atom_id in named]


def _atom(newcomer: Newcomer, atom_id: AtomId, now: datetime, resolve: Callable[[str], str]) -> Atom:
    sheet = newcomer.sheet
    fields: dict[str, Any] = {name: value for name, value in sheet.fields.items() if name != "id"}
    fields |= _links(fields, resolve)
    fields["origin"] = bound(Origin.HUMAN, fields["origin"])
    fields["observed_at"] = fields["observed_at"] or min(now, _saved_at(newcomer.found))
    fields["source_ref"] = fields["source_ref"] or sheet.foreign_id
    scope = layout.scope_of(newcomer.path)
    assert scope is not None
    return Atom(id=atom_id, scope=Scope(scope), **fields)


def resolved(sheet: Sheet, known: Callable[[str], AtomId | None]) -> Sheet:
    """The sheet with every link that names a known file or a foreign id pointing at the atom."""

    def resolve(target: str) -> str:
        return target if is_atom_id(target) else known(target) or target

    return replace(sheet, fields={**sheet.fields, **_links(sheet.fields, resolve)})


def _links(fields: Mapping[str, Any], resolve: Callable[[str], str]) -> dict[str, Any]:
    return {
        **{name: tuple(AtomId(resolve(field)) for field in fields[name]) for name in _LINKS},
        "relations": tuple(replace(field, target=AtomId(resolve(field.target))) for field in fields["relations"]),
        "evidence": tuple(replace(field, segment=resolve(field.segment)) for field in fields["evidence"]),
    }


def _saved_at(found: Found) -> datetime:
    millis = found.stamp.mtime_ns // 1_000_000
    return datetime.fromtimestamp(millis // 1000, UTC).replace(microsecond=millis % 1000 * 1000)
