"""Recalls of one caller, the core memories that accompany them, and the feedback on them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import passages_of
from lamina.atom.provenance import is_summary, is_summary_outdated
from lamina.atom.status import Status
from lamina.engine.caller_access import CallerAccess
from lamina.lifecycle.importance import effective_importance
from lamina.recall import Recall, RecallRequest, recall
from lamina.recall.context_packing import ContextItem
from lamina.recall.feedback import FeedbackEffect, derive_feedback_effects, parse_verdict
from lamina.recall.marks import is_flagged
from lamina.recall.recall_view import RecallView
from lamina.recall.related_memories import find_related
from lamina.recall.result_passages import render_atoms
from lamina.recall.starting_context import NEWEST_READ, SessionContext, build_session_context, select_session_atoms
from lamina.review.ageing_signals import load_signals
from lamina.store.admin import unknown_recall
from lamina.store.base import AtomFilter

if TYPE_CHECKING:
    from lamina.working.block import Block


class CallerRecalls:
    """The read path of one caller."""

    def __init__(self, access: CallerAccess) -> None:
        self._access = access

    def recall(self, request: RecallRequest, options: Mapping[str, Any]) -> Recall:
        """Answer a request, in another process if one is free; `options` are those of the verb, for that process."""
        engine, scope = self._access.engine, self._access.caller.scope
        recalled = engine.effects.recall_elsewhere(scope, request.text, options)
        if recalled is None:
            commit_file_edits = engine.effects.commit_file_edits
            recalled = recall(request, engine.store, engine.models.choice, commit_file_edits, secrets.token_hex(8))
            engine.effects.log_recall(recalled, scope)
        if request.view_time.is_historical:
            return recalled  # the core memories, relations and boxes of today are not those of a past time
        return replace(
            recalled,
            core=self.core_memories,
            find_related=lambda hits: find_related(hits, engine.store, request.scopes, self._access.now()),
            load_boxes=self.load_boxes,
        )

    def load_boxes(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Return the other active statements of the sealed boxes that these atoms are in, box by box."""
        store, scopes = self._access.engine.store, self._access.caller.scopes
        box_ids = tuple(dict.fromkeys(AtomId(atom.box_id) for atom in atoms if atom.box_id))
        boxes = {box.id: box for box in store.atoms.read(AtomFilter(scopes=scopes, ids=box_ids))} if box_ids else {}
        given_ids = {atom.id for atom in atoms}
        members = (member for box_id in box_ids if box_id in boxes for member in boxes[box_id].derived_from)
        ids = tuple(member for member in dict.fromkeys(members) if member not in given_ids)
        active = AtomFilter(scopes=scopes, ids=ids, statuses=frozenset({Status.ACTIVE}), valid_at=self._access.now())
        atoms_by_id = {atom.id: atom for atom in store.atoms.read(active)} if ids else {}
        return [atoms_by_id[member] for member in ids if member in atoms_by_id]

    def core_memories(self) -> list[ContextItem]:
        """Return the core memories: pinned first, then by effective importance, then the newest.

        Outdated summaries are left out, and memories that may not hold any more unless they are pinned: those have
        marks.
        """
        store, scopes, now = self._access.engine.store, self._access.caller.scopes, self._access.now()
        active = frozenset({Status.ACTIVE})
        atoms = store.atoms.read(AtomFilter(scopes=scopes, core_only=True, statuses=active, valid_at=now))
        summaries = {atom.id: atom for atom in atoms if is_summary(atom)}
        sources = tuple({source for atom in summaries.values() for source in atom.derived_from})
        source_atoms = store.atoms.read(AtomFilter(scopes=scopes, ids=sources)) if sources else []
        sources_by_id = {atom.id: atom for atom in source_atoms}
        shown = [
            atom
            for atom in atoms
            if atom.is_searched
            and not atom.is_segment
            and not (atom.id in summaries and is_summary_outdated(atom, sources_by_id))
        ]
        importance = self._importance_of(shown)
        shown.sort(key=lambda atom: (not atom.pinned, -importance[atom.id]))
        rendered = render_atoms(shown, RecallView(store=store, scopes=scopes, at=now))
        return [
            ContextItem(atom, passages_of(atom)[0], passage.text, passage.marks)
            for atom, passage in zip(shown, rendered, strict=True)
            if atom.pinned or not is_flagged(passage.marks)
        ]

    def session_context(self, topic: Recall | None, budget: int, blocks: Sequence[Block]) -> SessionContext:
        """Return what an agent should know when a session starts, with a recall of its topic and notes of blocks.

        If the budget has no room for all of the profile and the newest statements, the most important are included.
        """
        scopes, statuses = self._access.caller.scopes, frozenset({Status.ACTIVE})
        core = self.core_memories()
        active = AtomFilter(scopes=scopes, statuses=statuses, include_run_notes=False)
        newest = self._access.engine.store.atoms.read(replace(active, limit=NEWEST_READ))
        shown = replace(active, ids=tuple(atom.id for atom in select_session_atoms(core, newest)))
        current = self._access.read_synced(shown)
        importance = self._importance_of(current)
        by_importance = sorted(current, key=lambda atom: -importance[atom.id])
        return build_session_context(core, by_importance, topic, budget, blocks)

    def _importance_of(self, atoms: Sequence[Atom]) -> dict[AtomId, float]:
        """Return the effective importance of each atom, rounded so that equal atoms stay in their order."""
        signals, now = load_signals(atoms, self._access.engine.store), self._access.now()
        return {atom.id: round(effective_importance(atom, signals[atom.id], now), 4) for atom in atoms}

    def rate(self, recall_id: str, cited: Sequence[str], verdict: str) -> list[AtomId]:
        """Apply a verdict on the answer made from a recall; NotFound if this scope did not make it."""
        engine, scope = self._access.engine, self._access.caller.scope
        parsed_verdict = parse_verdict(verdict)
        saved = engine.store.admin.recalls.read(scope, recall_id=recall_id)
        if not saved:
            raise unknown_recall(recall_id)
        cited_ids = [self._access.find_atom(atom_id).id for atom_id in cited]
        changes = derive_feedback_effects(saved[0].atom_ids, cited_ids, parsed_verdict)
        if not changes or not engine.effects.mark_answered(recall_id, scope):
            return []
        return self.apply_feedback(changes)

    def apply_feedback(self, changes: Mapping[AtomId, FeedbackEffect]) -> list[AtomId]:
        """Count what feedback changes about atoms; return their ids."""
        now = self._access.now()
        self._access.engine.store.signals.add({id: change.to_increment(now) for id, change in changes.items()})
        return [*changes]
