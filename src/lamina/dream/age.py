"""Step 1, age: what time and use have done to memories. Only those are looked at to which something can have happened.

Between two events nothing about an atom but its age changes, and every rule of ageing turns only once with age. So the
hour in which something will happen can be found beforehand, and nobody need look before it comes.
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
"""So many atoms are read at a time."""
_TOLD_CHARS = 80
AN_HOUR = timedelta(hours=1)
FRESH_FOR = timedelta(days=30)
"""What is noted of an atom is noted anew after that, at the earliest."""
_TOLD_TIERS = {Action.COOL: "cooled down", Action.WARM: "warmed up"}
_TIERS = frozenset(_TOLD_TIERS)
_UNASKED = frozenset({"capture", "remember", "extract", "import", "inbox", "adopt", "settle", "box", "entity", "dream"})
"""Verbs by which nobody looks back at an atom; all others are a person's decision about it."""
_REVISED = frozenset({"content", "resolved"})
"""Fields that say something else of the world when they change: a promise kept is as young as the day it was kept."""


@dataclass(slots=True)
class _Aged:
    """What one look at many atoms comes to."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    lives: dict[AtomId, Life] = field(default_factory=dict)
    tiers: Counter[Action] = field(default_factory=Counter)


def age(scene: Scene) -> Plan:
    """Promote, archive, revive and expire what is due, loosen links nobody uses, and note what is kept at hand."""
    found, store = _Aged(), scene.store
    due = store.lives.due(scene.scope, scene.now)
    for start in range(0, len(due), AT_ONCE):
        batch = tuple(due[start : start + AT_ONCE])
        atoms = store.read(Filter(scopes=(scene.scope,), ids=batch))
        counted, known = store.ledger.signals_of(batch), store.lives.of(batch)
        for atom in sorted(atoms, key=lambda each: (recorded(each), each.id)):
            _look(atom, counted.get(atom.id, Counted()), known.get(atom.id), scene, found)
    notes = tuple(f"{many} {_TOLD_TIERS[action]}" for action, many in sorted(found.tiers.items()))
    return Plan(
        tuple(found.changes.values()),
        tuple(found.moves),
        notes,
        after=lambda: store.lives.put(found.lives),
        in_trial=True,
    )


def _look(atom: Atom, counted: Counted, life: Life | None, scene: Scene, found: _Aged) -> None:
    signals = _known_of(atom, counted, scene)
    tier, taken_back = StorageTier(life.tier) if life else StorageTier.HOT, False
    has_history = atom.revision > 1 or atom.status is Status.ARCHIVED
    decisions = () if has_history else aged(atom, signals, scene.moment, tier, scene.mode)
    if has_history or decisions:
        versions = scene.store.versions(atom.id)
        signals = _with_history(signals, versions)
        decisions = aged(atom, signals, scene.moment, tier, scene.mode)
        taken_back = _was_taken_back(versions, signals)
        if taken_back:
            decisions = tuple(decision for decision in decisions if decision.action in _TIERS)
    after = atom
    for decision in decisions:
        after, tier = decision.applied(after), decision.tier or tier
        if decision.action in _TIERS:
            found.tiers[decision.action] += 1
        else:
            found.moves.append(Move(decision.action, atom.id, one_line(atom.content)[:_TOLD_CHARS], decision.why))
    looser = after if after.pinned or taken_back else loosened(after, scene.moment.lived)
    if looser != after:
        found.moves.append(Move("loosen", atom.id, one_line(atom.content)[:_TOLD_CHARS], why_loosened(after, looser)))
        after = looser
    if after != atom:
        found.changes[atom.id] = after
    found.lives[atom.id] = _life(after, signals, tier, scene, after != atom, life.bits if life else WHOLE)


def _life(atom: Atom, signals: Signals, tier: StorageTier, scene: Scene, changed: bool, bits: int) -> Life:
    """What is noted of an atom as it is after the look."""
    now, lived = scene.now, scene.moment.lived
    event, loosens = _next_event(atom, signals, tier, scene), loosens_at(atom)
    again = min(event, loosens) if loosens is not None else event
    return Life(
        revision=atom.revision + changed,
        tier=tier.value,
        look_at=max(again, now),
        retention=round(retention(atom, signals, now, scene.mode), 4),
        bits=bits_for(retention(atom, signals, lived, scene.mode), bits),
        importance=round(effective_importance(atom, signals, now), 4),
        recency=round(2.0 ** (-days_since(atom.observed_at, now) / traits(atom.kind).half_life_days), 4),
        state=lifecycle_state(atom, signals, now).value,
    )


def _known_of(atom: Atom, counted: Counted, scene: Scene) -> Signals:
    """What is known of an atom without asking the journal."""
    signals = from_counted(counted)
    if atom.status is Status.CHALLENGED:
        signals = replace(signals, disputed=True)
    if len({each.segment for each in atom.evidence}) > 1:
        signals = replace(signals, confirmations=confirmations_of(atom, scene.store))
    if atom.derived_from:
        signals = replace(signals, trust=trust(atom, lambda ids: _read(ids, scene)))
    return signals


def _read(ids: Iterable[AtomId], scene: Scene) -> dict[AtomId, Atom]:
    found = scene.store.read(Filter(scopes=visible_from(scene.scope), ids=tuple(ids)))
    return {each.id: each for each in found}


def _with_history(signals: Signals, versions: Sequence[Version]) -> Signals:
    """With what the journal tells: when a person last decided on it, when it was written or done, who archived it."""
    reviewed = [version.at for version in versions[1:] if version.verb not in _UNASKED]
    revised = [version.at for version in versions[1:] if version.fields & _REVISED]
    laid_aside = [version for version in versions if version.atom.status is Status.ARCHIVED is not version.old_status]
    by_us = laid_aside[-1] if laid_aside and laid_aside[-1].verb == "dream" else None
    return replace(
        signals,
        reviewed_at=max(reviewed, default=None),
        revised_at=max(revised, default=None),
        archived_at=by_us.at if by_us else None,
    )


def _was_taken_back(versions: Sequence[Version], signals: Signals) -> bool:
    """Whether a person undid the last thing a dream did to it, and nothing new is known of it since."""
    last = versions[-1]
    if last.verb != "undo" or not any(version.verb == "dream" for version in versions):
        return False
    return signals.last_use is None or signals.last_use <= last.at


def _next_event(atom: Atom, signals: Signals, tier: StorageTier, scene: Scene) -> datetime:
    """The last hour before something happens to it if nobody touches it, or when what is noted of it is too old."""
    if atom.layer is Layer.WORKING and not atom.run_id:
        return recorded(atom) + WORKING_FOR

    def happens(hours: int) -> bool:
        then = Moment(later(scene.now, hours * AN_HOUR))
        return bool(aged(atom, signals, then, tier, scene.mode))

    low, high = 0, int(_fresh_for(atom, scene.now) / AN_HOUR)
    if not happens(high):
        return later(scene.now, high * AN_HOUR)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if happens(middle) else (middle, high)
    return later(scene.now, low * AN_HOUR)


def _fresh_for(atom: Atom, now: datetime) -> timedelta:
    """How long what is noted of it will do: longer and longer, as less and less changes."""
    return max(FRESH_FOR, (now - recorded(atom)) / 2)
