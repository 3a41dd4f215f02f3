"""Decide which actions a machine may take on a memory without a person.

The rules: nothing important is discarded, nothing archived or disputed is built on, and low confidence defers. They are
applied where machines act: to new statements of extraction, to every step of a dream, and to what an agent asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.lifecycle.signals import AgeingSignals, Verification, verification
from lamina.lifecycle.standing import LifecycleState

IMPORTANT = 0.8
"""From this importance on, nothing is discarded."""
MIN_CONFIDENCE = 0.35
"""Below this confidence an action is deferred."""


class PolicyAction(StrEnum):
    """An action on a memory."""

    STORE_EPISODE = "store_episode"
    STORE_NOTE = "store_note"
    UPDATE_NOTE = "update_note"
    CREATE_ARTIFACT = "create_artifact"
    SUMMARIZE_NODE = "summarize_node"
    DISCARD = "discard"
    LINK_GRAPH = "link_graph"


class PolicyRuling(StrEnum):
    """The policy's answer: do it, do it later, or never."""

    ALLOW = "allow"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """The facts by which an action is judged; the defaults apply where nothing is known."""

    confidence: float = 0.0
    lifecycle_state: LifecycleState = LifecycleState.CANDIDATE
    importance: float = 0.0


_INACTIVE_STATES = frozenset({LifecycleState.STALE, LifecycleState.ARCHIVED})
_BUILDING_ACTIONS = frozenset({PolicyAction.UPDATE_NOTE, PolicyAction.CREATE_ARTIFACT, PolicyAction.LINK_GRAPH})
_SUMMARY_KINDS = frozenset({"synthesis", "summary", "entity"})
_CONTENT_FIELDS = tuple(name for name in DATA_FIELDS if name not in ("status", "relations"))


def decide(action: PolicyAction, context: PolicyContext) -> PolicyRuling:
    """Return whether an action is allowed, deferred or denied."""
    # The comparisons are written so that NaN gives the safe result.
    if action is PolicyAction.DISCARD and not context.importance < IMPORTANT:
        return PolicyRuling.DENY
    if action in _BUILDING_ACTIONS and context.lifecycle_state in _INACTIVE_STATES:
        return PolicyRuling.DENY
    return PolicyRuling.ALLOW if context.confidence >= MIN_CONFIDENCE else PolicyRuling.DEFER


def classify_change(before: Atom | None, after: Atom) -> tuple[PolicyAction, ...]:
    """Return the actions that a change of an atom amounts to; none if its links only weaken, which is ageing."""
    if before is None:
        return (_creation_action(after),)
    actions = list[PolicyAction]()
    if after.status is not before.status:
        actions.append(_status_action(before, after))
    old_links, new_links = ({(link.name, link.target) for link in atom.relations} for atom in (before, after))
    if new_links - old_links:
        actions.append(PolicyAction.LINK_GRAPH)
    # Fields that change with a status change, such as the layer of a revived atom, are part of it.
    if not actions and any(getattr(before, name) != getattr(after, name) for name in _CONTENT_FIELDS):
        actions.append(PolicyAction.SUMMARIZE_NODE if after.kind in _SUMMARY_KINDS else PolicyAction.UPDATE_NOTE)
    return tuple(actions)


def find_objection(actions: Iterable[PolicyAction], context: PolicyContext) -> str | None:
    """Return why one of these actions is deferred or denied; None if all are allowed."""
    for action in actions:
        match decide(action, context):
            case PolicyRuling.ALLOW:
                continue
            case PolicyRuling.DEFER:
                return f"{action} is deferred: confidence {context.confidence:.2f} is below {MIN_CONFIDENCE:.2f}"
            case PolicyRuling.DENY if action is PolicyAction.DISCARD:
                return f"{action} is denied: importance {context.importance:.2f}; only a person may discard it"
            case PolicyRuling.DENY:
                return f"{action} is denied: the atom is {context.lifecycle_state}"
    return None


def lifecycle_stage(atom: Atom) -> LifecycleState:
    """Return the lifecycle state that counts for the policy: by the status alone, however long ago it was used."""
    if atom.status is Status.ARCHIVED:
        return LifecycleState.ARCHIVED
    if atom.status is Status.CHALLENGED or atom.status in ENDED:
        return LifecycleState.STALE
    is_verified = verification(atom, AgeingSignals()) in (Verification.USER_CONFIRMED, Verification.SYSTEM_INFERRED)
    return LifecycleState.ACTIVE if is_verified else LifecycleState.CANDIDATE


def _creation_action(atom: Atom) -> PolicyAction:
    if atom.kind in _SUMMARY_KINDS:
        return PolicyAction.SUMMARIZE_NODE
    return PolicyAction.CREATE_ARTIFACT if atom.derived_from else storing_action(atom)


def storing_action(atom: Atom) -> PolicyAction:
    """Return the action of storing a statement."""
    return PolicyAction.STORE_EPISODE if atom.memory_kind == "episode" else PolicyAction.STORE_NOTE


def _status_action(before: Atom, after: Atom) -> PolicyAction:
    """Return the action of a status change: a superseded atom lives on in its successor, a revived one is stored."""
    if before.status is Status.ARCHIVED and after.status is Status.ACTIVE:
        return storing_action(after)
    is_lost = after.status is Status.ARCHIVED or after.status in ENDED
    is_replaced = after.status in REPLACED and bool(after.superseded_by)
    return PolicyAction.DISCARD if is_lost and not is_replaced else PolicyAction.UPDATE_NOTE
