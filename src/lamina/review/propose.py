"""Proposals: statements that are submitted for review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina.atom.identity import IdSource
from lamina.atom.kinds import Layer
from lamina.atom.proposal import PROPOSAL_TYPE_KEY, ProposalType
from lamina.atom.status import Status
from lamina.capture.draft import Draft
from lamina.capture.receipt import Receipt
from lamina.capture.statement_commit import (
    SegmentBatch,
    Writer,
    classify_statements,
    commit_verdicts,
    retry_exclusively,
)
from lamina.capture.store_reads import StoreReads, new_ids
from lamina.clock import Clock
from lamina.errors import InvalidInput
from lamina.store.base import Store

PROFILE_FIELDS = ("profile_key", "value", "reason")
"""The metadata that a proposal of a profile value needs."""


def propose(
    drafts: Sequence[Draft], writer: Writer, store: Store, ids: IdSource, clock: Clock, reason: str, key: str | None
) -> Receipt:
    """Write statements as pending, for any origin; statements that exist already are not proposed."""

    def attempt() -> Receipt:
        now = clock.now()
        fresh = new_ids(ids, now)
        drafted = (draft.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for draft in drafts)
        atoms = [atom.with_(status=Status.CONSTRAINED) for atom in drafted]
        return commit_verdicts(
            SegmentBatch(), classify_statements(atoms, StoreReads(store), now), writer, store, "propose", reason, key
        )

    return retry_exclusively(store, attempt)


def complete_profile_fields(fields: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return a proposal's fields, completed for a profile value; InvalidInput if a key, value or reason is missing."""
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, Mapping) or "profile_key" not in metadata:
        return dict(fields)
    completed = {"value": fields.get("value") or "", "reason": reason, **metadata}
    missing = [name for name in PROFILE_FIELDS if not str(completed.get(name) or "").strip()]
    if missing:
        raise InvalidInput(f"a proposal of a profile value needs {' and '.join(missing)} in its metadata")
    defaults = {"kind": "preference", "value": completed["value"], "layer": Layer.PROFILE}
    return {**defaults, **fields, "metadata": {PROPOSAL_TYPE_KEY: ProposalType.PROFILE_UPDATE.value, **completed}}
