"""Read what the importance, the ageing and the standing of an atom depend on besides its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, Signals
from lamina.atom.provenance import TRUST, Origin, lineage_trust, readable_scopes
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.signals import AgeingSignals, from_counters
from lamina.lifecycle.standing import Standing, compute_standing
from lamina.store.base import AtomFilter, AtomVersion, Store


def count_confirmations(atom: Atom, store: Store) -> int:
    """Return how many sessions of people the evidence comes from, without the first of them.

    The writer names the session, so only sessions of people count as separate sources: a program that repeats a
    statement under a hundred session names confirms nothing.
    """

    def load_atoms(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        atoms = store.atoms.read(AtomFilter(scopes=readable_scopes(atom.scope), ids=tuple(ids)))
        return {source.id: source for source in atoms}

    segments_by_id = (
        load_atoms(dict.fromkeys(AtomId(evidence.segment) for evidence in atom.evidence)) if atom.evidence else {}
    )
    segments = [
        segments_by_id[AtomId(evidence.segment)] for evidence in atom.evidence if evidence.segment in segments_by_id
    ]
    trusted_sources = {
        _source_key(segment)
        for segment in {segment.id: segment for segment in segments}.values()
        if segment.status in RECALL_WEIGHT and lineage_trust(segment, load_atoms) >= TRUST[Origin.HUMAN]
    }
    return len(trusted_sources - {_source_key(segment) for segment in segments[:1]})


def _source_key(segment: Atom) -> tuple[str | None, str | None]:
    return segment.session_id, segment.source_id


_MACHINE_VERBS = frozenset(
    {"capture", "remember", "extract", "import", "inbox", "adopt", "settle", "box", "entity", "dream"}
)
"""Verbs that are not a person's decision about an existing atom; all others are."""
_REVISION_FIELDS = frozenset({"content", "resolved"})
"""Fields whose change makes an atom young again: a commitment that was kept is as young as that day."""


def load_signals(atoms: Sequence[Atom], store: Store) -> dict[AtomId, AgeingSignals]:
    """Return the signals of each atom that are known without reading the journal."""
    counters = store.signals.get([atom.id for atom in atoms]).signals
    return {atom.id: current_signals(atom, counters.get(atom.id, Signals()), store) for atom in atoms}


def load_signals_with_history(atom: Atom, store: Store) -> AgeingSignals:
    """Return everything that the ageing of an atom depends on."""
    return add_history(load_signals([atom], store)[atom.id], store.journal.versions(atom.id))


def current_signals(atom: Atom, counters: Signals, store: Store) -> AgeingSignals:
    """Return the signals of an atom with these counters that are known without reading the journal."""
    signals = from_counters(counters)
    if atom.status is Status.CHALLENGED:
        signals = replace(signals, is_disputed=True)
    if len({evidence.segment for evidence in atom.evidence}) > 1:
        signals = replace(signals, confirmations=count_confirmations(atom, store))
    if atom.derived_from:

        def read_readable(ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
            sources = store.atoms.read(AtomFilter(scopes=readable_scopes(atom.scope), ids=tuple(ids)))
            return {source.id: source for source in sources}

        signals = replace(signals, trust=lineage_trust(atom, read_readable))
    return signals


def add_history(signals: AgeingSignals, versions: Sequence[AtomVersion]) -> AgeingSignals:
    """Add to signals what the journal knows: the last review, the last revision, and when a dream archived it."""
    reviewed = [version.at for version in versions[1:] if version.verb not in _MACHINE_VERBS]
    revised = [version.at for version in versions[1:] if version.fields & _REVISION_FIELDS]
    archivals = [version for version in versions if version.atom.status is Status.ARCHIVED is not version.old_status]
    archived_by_dream = archivals[-1] if archivals and archivals[-1].verb == "dream" else None
    return replace(
        signals,
        reviewed_at=max(reviewed, default=None),
        revised_at=max(revised, default=None),
        archived_at=archived_by_dream.at if archived_by_dream else None,
    )


def load_standings(atoms: Sequence[Atom], store: Store, now: datetime) -> dict[AtomId, Standing]:
    """Return the standing of each of these atoms; the tier of one that no dream has seen is hot."""
    counters, ageing_states = store.signals.get([atom.id for atom in atoms])
    standings: dict[AtomId, Standing] = {}
    for atom in atoms:
        signals = current_signals(atom, counters.get(atom.id, Signals()), store)
        if atom.revision > 1:
            signals = add_history(signals, store.journal.versions(atom.id))
        ageing_state = ageing_states.get(atom.id)
        tier = StorageTier(ageing_state.tier) if ageing_state else StorageTier.HOT
        standings[atom.id] = compute_standing(atom, signals, tier, now)
    return standings
