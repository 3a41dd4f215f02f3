"""Proposals: statements somebody puts before a person, who decides whether they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina.atom.identity import IdSource
from lamina.atom.kinds import Layer
from lamina.atom.proposal import TYPE, Proposal
from lamina.atom.status import Status
from lamina.capture.draft import Draft
from lamina.capture.receipt import Receipt
from lamina.capture.write import Words, Writer, fresh_ids, unhurried, verdicts_on, write
from lamina.clock import Clock
from lamina.errors import InvalidInput
from lamina.store.base import Store

PROFILE = ("profile_key", "value", "reason")
"""What the proposal of a profile value says in its metadata."""


def propose(
    drafts: Sequence[Draft], writer: Writer, store: Store, ids: IdSource, clock: Clock, reason: str, key: str | None
) -> Receipt:
    """Write statements that wait for a person, whoever says them; what is there already is not proposed."""

    def written() -> Receipt:
        now = clock.now()
        fresh = fresh_ids(ids, now)
        made = (draft.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for draft in drafts)
        atoms = [each.with_(status=Status.CONSTRAINED) for each in made]
        return write(Words(), verdicts_on(atoms, store, now), writer, store, "propose", reason, key)

    return unhurried(store, written)


def with_contract(fields: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The fields of a proposal; one of a profile value names its key, the value and why."""
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, Mapping) or "profile_key" not in metadata:
        return dict(fields)
    told = {"value": fields.get("value") or "", "reason": reason, **metadata}
    missing = [name for name in PROFILE if not str(told.get(name) or "").strip()]
    if missing:
        raise InvalidInput(f"a proposal for the profile needs {' and '.join(missing)} in its metadata")
    own = {"kind": "preference", "value": told["value"], "layer": Layer.PROFILE}
    return {**own, **fields, "metadata": {TYPE: Proposal.PROFILE_UPDATE.value, **told}}
