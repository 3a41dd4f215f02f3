"""Proposals: statements that are submitted for review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina.atom.atom import IdSource
from lamina.atom.decisions import PROPOSAL_TYPE_KEY, ProposalType
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.caller_input import Draft
from lamina.capture.metadata_contracts import complete_metadata
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
from lamina.store.base import Store


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


def complete_proposal(fields: Mapping[str, Any], reason: str | None, origin: Origin) -> dict[str, Any]:
    """Return a proposal's fields with its metadata completed; InvalidInput if a key is missing, such as the reason."""
    completed = complete_metadata(fields, reason, origin)
    if "profile_key" in (completed.get("metadata") or {}):
        completed["metadata"] = {PROPOSAL_TYPE_KEY: ProposalType.PROFILE_UPDATE.value, **completed["metadata"]}
    return completed
