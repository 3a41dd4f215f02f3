"""Write what another memory knew about several memories together: the links between them, and its boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, IdSource, Relation, kind_defaults
from lamina.capture.redact import redact
from lamina.capture.statement_commit import Writer
from lamina.importers.import_items import ImportedBox, ImportedLinks
from lamina.store.base import AtomFilter, Store
from lamina.store.commit_rules import find_refusal_reason
from lamina.text.normal_form import one_line
from lamina.vault import layout

FindAtom = Callable[[str], AtomId | None]
"""Returns the id of the atom that a foreign id became; None if that was not imported."""


def write_links(item: ImportedLinks, writer: Writer, store: Store, find: FindAtom) -> tuple[int, int]:
    """Add the links to the atoms they start from, in one commit; return how many were added and how many could not."""
    wanted: dict[AtomId, list[Relation]] = defaultdict(list)
    missing = 0
    for link in item.links:
        source, target = find(link.source), find(link.target)
        if source is None or target is None or source == target:
            missing += 1
        else:
            wanted[source].append(Relation(link.name, target, link.confidence, link.last_reinforced_at))
    changed: list[Atom] = []
    for atom in store.atoms.read(AtomFilter(scopes=(writer.scope,), ids=tuple(wanted))):
        existing = {(relation.name, relation.target) for relation in atom.relations}
        added = {(relation.name, relation.target): relation for relation in wanted[atom.id]}
        linked = atom.with_(
            relations=(*atom.relations, *(relation for key, relation in added.items() if key not in existing))
        )
        if find_refusal_reason(linked, writer.origin, store.atoms) is None:
            changed.append(linked)
        else:
            missing += len(added)
    count = sum(len(item_relations) for item_relations in wanted.values())
    changes = [atom for atom in changed if atom.relations]
    if changes:
        reason = f"imported {redact(f'links of {item.path}').text}"
        store.journal.append(writer.commit("import", reason, changes, key=item.key))
    return min(count, sum(len(wanted[atom.id]) for atom in changed)), missing


def write_box(
    item: ImportedBox, writer: Writer, store: Store, ids: IdSource, now: datetime, find: FindAtom
) -> tuple[Atom | None, int]:
    """Write a box with the members that were imported, in one commit; return it and how many members are missing.

    None if no member was imported.
    """
    ids_by_member = {member: find(member) for member in item.members}
    wanted = tuple(dict.fromkeys(atom_id for atom_id in ids_by_member.values() if atom_id is not None))
    atoms = {atom.id: atom for atom in store.atoms.read(AtomFilter(scopes=(writer.scope,), ids=wanted))}
    members = [atoms[atom_id] for atom_id in wanted if atom_id in atoms]
    missing = len(item.members) - sum(atom_id in atoms for atom_id in ids_by_member.values())
    if not members:
        return None, missing
    box = _build_box(item, members, writer, ids.new(now), now)
    boxed = [member.with_(box_id=box.id, trace_id=box.trace_id) for member in members]
    writable = [member for member in boxed if find_refusal_reason(member, writer.origin, store.atoms) is None]
    reason = f"imported {redact(f'box {box.source_ref}').text}"
    store.journal.append(writer.commit("import", reason, [box, *writable], key=item.key))
    return box, missing


def _build_box(item: ImportedBox, members: list[Atom], writer: Writer, atom_id: AtomId, now: datetime) -> Atom:
    topics = [redact(topic).text for topic in item.topics]
    lines = (f"- {layout.wiki_link(member)} {one_line(member.content)}" for member in members)
    return Atom(
        id=atom_id,
        scope=writer.scope,
        kind="box",
        content="\n".join([f"# {', '.join(topics)}", "", *lines]),
        observed_at=item.observed_at or now,
        session_id=redact(item.session_id).text if item.session_id else None,
        tags=tuple(topics),
        metadata={name: redact(value).text for name, value in item.metadata.items()},
        origin=writer.origin,
        principal=writer.principal,
        source_ref=redact(item.foreign_id).text,
        derived_from=tuple(member.id for member in members),
        trace_id=item.trace_id,
        **kind_defaults("box", 1.0, writer.origin),
    )
