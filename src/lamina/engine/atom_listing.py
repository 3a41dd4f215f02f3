"""Lists atoms by what is computed about them: their topic and their standing."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.argument_checks import parse_enum
from lamina.atom.atom import Atom
from lamina.atom.status import Status
from lamina.dream.topics import group_by_topic
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.signals import Verification
from lamina.lifecycle.standing import LifecycleState, PolicyClass, Standing
from lamina.review.ageing_signals import load_standings
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import name_form

PAGE_SIZE = 500
"""How many atoms are read together while the standing of each is checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFilter:
    """A selection of atoms by their standing; None selects any value."""

    verification: Verification | None = None
    policy_class: PolicyClass | None = None
    lifecycle_state: LifecycleState | None = None
    tier: StorageTier | None = None

    def selects(self, standing: Standing) -> bool:
        """Return whether every given value is the one of the standing."""
        return (
            self.verification in (None, standing.verification)
            and self.policy_class in (None, standing.policy_class)
            and self.lifecycle_state in (None, standing.lifecycle_state)
            and self.tier in (None, standing.tier)
        )


def parse_standing_filter(
    verification: str | None, policy_class: str | None, lifecycle_state: str | None, tier: str | None
) -> StandingFilter:
    """Return the filter of these names; InvalidInput with the choices for an unknown one."""
    return StandingFilter(
        verification=parse_enum(Verification, verification, "verification") if verification else None,
        policy_class=parse_enum(PolicyClass, policy_class, "policy_class") if policy_class else None,
        lifecycle_state=parse_enum(LifecycleState, lifecycle_state, "lifecycle_state") if lifecycle_state else None,
        tier=parse_enum(StorageTier, tier, "tier") if tier else None,
    )


def list_by_standing(
    query: AtomFilter,
    standing_filter: StandingFilter,
    read: Callable[[AtomFilter], builtins.list[Atom]],
    store: Store,
    now: datetime,
) -> builtins.list[Atom]:
    """Return the atoms that a filter selects and whose standing is selected too, in the order of `read`."""
    if standing_filter == StandingFilter():
        return read(query)
    selected: list[Atom] = []
    end = None if query.limit is None else query.offset + query.limit
    offset = 0
    while end is None or len(selected) < end:
        page = read(replace(query, limit=PAGE_SIZE, offset=offset))
        standings = load_standings(page, store, now)
        selected += [atom for atom in page if standing_filter.selects(standings[atom.id])]
        offset += PAGE_SIZE
        if len(page) < PAGE_SIZE:
            break
    return selected[query.offset : end]


def narrow_to_topic(query: AtomFilter, topic: str, store: Store) -> AtomFilter:
    """Return the filter limited to the active statements on a topic."""
    active = AtomFilter(scopes=query.scopes, statuses=frozenset({Status.ACTIVE}), include_run_notes=False)
    members = group_by_topic(store.atoms.read(active)).get(name_form(topic), ())
    return replace(query, ids=tuple(atom.id for atom in members))
