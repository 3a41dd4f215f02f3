"""Step 1, age: apply what time and use have done to atoms. Only atoms whose state can have changed are read.

Between two events only an atom's age changes, and each ageing rule flips at most once with age. So the hour of the next
change can be computed in advance, and the atom is not read before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer, traits
from lamina.atom.lineage import trust
from lamina.atom.scope import visible_from
from lamina.atom.status import Status
from lamina.dream.edges import loosened, loosens_at, why_loosened
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.lifecycle.ageing import age as aged
from lamina.lifecycle.decision import Action, StorageTier
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.lifecycle_state import lifecycle_state
from lamina.lifecycle.moment import Moment, days_since, later
from lamina.lifecycle.precision import WHOLE, bits_for
from lamina.lifecycle.promotion import WORKING_FOR
from lamina.lifecycle.retention import retention
from lamina.lifecycle.signals import Signals, from_counted, recorded
from lamina.review.confirmations import confirmations_of
from lamina.store.base import Filter, Version
from lamina.store.lives import Life
from lamina.text.normal import one_line

AT_ONCE = 500
"""The number of atoms that are read together."""
_TOLD_CHARS = 80
AN_HOUR = timedelta(hours=1)
FRESH_FOR = timedelta(days=30)
"""The shortest time after which the stored ageing state of an atom is computed again."""
_TOLD_TIERS = {Action.COOL: "cooled down", Action.WARM: "warmed up"}
_TIERS = frozenset(_TOLD_TIERS)
_UNASKED = frozenset({"capture", "remember", "extract", "import", "inbox", "adopt", "settle", "box", "entity", "dream"})
"""Verbs that are not a person's decision about an existing atom; all others are."""
_REVISED = frozenset({"content", "resolved"})
"""Fields whose change makes an atom young again: a commitment that was kept is as young as that day."""


@dataclass(slots=True)
class _Aged:
    """What ageing a batch of atoms results in."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    lives: dict[AtomId, Life] = field(default_factory=dict)
    tiers: Counter[Action] = field(default_factory=Counter)


def age(scene: Scene) -> Plan:
    """Promote, archive, revive and expire what is due, weaken unused links, and store the new ageing states."""
    result, store = _Aged(), scene.store
    due = store.lives.due(scene.scope, scene.now)
    for start in range(0, len(due), AT_ONCE):
        batch = tuple(due[start : start + AT_ONCE])
        atoms = store.read(Filter(scopes=(scene.scope,), ids=batch))
        counters, ageing_states = store.ledger.signals_of(batch), store.lives.of(batch)
        for atom in sorted(atoms, key=lambda atom: (recorded(atom), atom.id)):
            _look(atom, counters.get(atom.id, Counted()), ageing_states.get(atom.id), scene, result)
    notes = tuple(f"{count} {_TOLD_TIERS[action]}" for action, count in sorted(result.tiers.items()))
    return Plan(
        tuple(result.changes.values()),
        tuple(result.moves),
        notes,
        after=lambda: store.lives.put(result.lives),
        in_trial=True,
    )


def _look(atom: Atom, counted: Counted, life: Life | None, scene: Scene, found: _Aged) -> None:
    signals = _known_of(atom, counted, scene)
    tier, was_undone = StorageTier(life.tier) if life else StorageTier.HOT, False
    has_history = atom.revision > 1 or atom.status is Status.ARCHIVED
    decisions = () if has_history else aged(atom, signals, scene.moment, tier, scene.mode)
    if has_history or decisions:
        versions = scene.store.versions(atom.id)
        signals = _with_history(signals, versions)
        decisions = aged(atom, signals, scene.moment, tier, scene.mode)
        was_undone = _was_taken_back(versions, signals)
        if was_undone:
            decisions = tuple(decision for decision in decisions if decision.action in _TIERS)
    after = atom
    for decision in decisions:
        after, tier = decision.applied(after), decision.tier or tier
        if decision.action in _TIERS:
            found.tiers[decision.action] += 1
        else:
            found.moves.append(Move(decision.action, atom.id, one_line(atom.content)[:_TOLD_CHARS], decision.why))
    weakened = after if after.pinned or was_undone else loosened(after, scene.moment.lived)
    if weakened != after:
        found.moves.append(Move("loosen", atom.id, one_line(atom.content)[:_TOLD_CHARS], why_loosened(after, weakened)))
        after = weakened
    if after != atom:
        found.changes[atom.id] = after
    found.lives[atom.id] = _life(after, signals, tier, scene, after != atom, life.bits if life else WHOLE)


def _life(atom: Atom, signals: Signals, tier: StorageTier, scene: Scene, changed: bool, bits: int) -> Life:
    """Return the ageing state of an atom after its step."""
    now, lived = scene.now, scene.moment.lived
    event, loosens = _next_event(atom, signals, tier, scene), loosens_at(atom)
    next_look = min(event, loosens) if loosens is not None else event
    return Life(
        revision=atom.revision + changed,
        tier=tier.value,
        look_at=max(next_look, now),
        retention=round(retention(atom, signals, now, scene.mode), 4),
        bits=bits_for(retention(atom, signals, lived, scene.mode), bits),
        importance=round(effective_importance(atom, signals, now), 4),
        recency=round(2.0 ** (-days_since(atom.observed_at, now) / traits(atom.kind).half_life_days), 4),
        state=lifecycle_state(atom, signals, now).value,
    )


def _known_of(atom: Atom, counted: Counted, scene: Scene) -> Signals:
    """Return the signals of an atom that are known without reading the journal."""
    signals = from_counted(counted)
    if atom.status is Status.CHALLENGED:
        signals = replace(signals, disputed=True)
    if len({evidence.segment for evidence in atom.evidence}) > 1:
        signals = replace(signals, confirmations=confirmations_of(atom, scene.store))
    if atom.derived_from:
        signals = replace(signals, trust=trust(atom, lambda ids: _read(ids, scene)))
    return signals


def _read(ids: Iterable[AtomId], scene: Scene) -> dict[AtomId, Atom]:
    atoms = scene.store.read(Filter(scopes=visible_from(scene.scope), ids=tuple(ids)))
    return {atom.id: atom for atom in atoms}


def _with_history(signals: Signals, versions: Sequence[Version]) -> Signals:
    """Add to signals what the journal knows: the last review, the last revision, and when a dream archived it."""
    reviewed = [version.at for version in versions[1:] if version.verb not in _UNASKED]
    revised = [version.at for version in versions[1:] if version.fields & _REVISED]
    archivals = [version for version in versions if version.atom.status is Status.ARCHIVED is not version.old_status]
    archived_by_dream = archivals[-1] if archivals and archivals[-1].verb == "dream" else None
    return replace(
        signals,
        reviewed_at=max(reviewed, default=None),
        revised_at=max(revised, default=None),
        archived_at=archived_by_dream.at if archived_by_dream else None,
    )


def _was_taken_back(versions: Sequence[Version], signals: Signals) -> bool:
    """Return whether a person undid the last thing a dream did to the atom and it was not used since."""
    last = versions[-1]
    if last.verb != "undo" or not any(version.verb == "dream" for version in versions):
        return False
    return signals.last_use is None or signals.last_use <= last.at


def _next_event(atom: Atom, signals: Signals, tier: StorageTier, scene: Scene) -> datetime:
    """Return the last hour before ageing changes the atom if it stays unused, or when its state needs a refresh."""
    if atom.layer is Layer.WORKING and not atom.run_id:
        return recorded(atom) + WORKING_FOR

    def is_changed_after(hours: int) -> bool:
        future = Moment(later(scene.now, hours * AN_HOUR))
        return bool(aged(atom, signals, future, tier, scene.mode))

    low, high = 0, int(_fresh_for(atom, scene.now) / AN_HOUR)
    if not is_changed_after(high):
        return later(scene.now, high * AN_HOUR)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_changed_after(middle) else (middle, high)
    return later(scene.now, low * AN_HOUR)


def _fresh_for(atom: Atom, now: datetime) -> timedelta:
    """Return how long the stored ageing state stays accurate: longer for older atoms, which change less."""
    return max(FRESH_FOR, (now - recorded(atom)) / 2)
