"""Statements that a caller gives: they are redacted, completed and checked, then written or proposed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lamina.atom.provenance import Origin
from lamina.capture.caller_input import Draft, parse_draft, parse_text, redact_fields, require_object
from lamina.capture.capture import remember
from lamina.capture.metadata_contracts import complete_metadata
from lamina.capture.receipt import Receipt
from lamina.capture.redact import redact
from lamina.engine.caller_access import CallerAccess
from lamina.errors import InvalidInput
from lamina.review.proposals import complete_proposal, propose
from lamina.review.review_context import parse_reason

DEFAULT_REMEMBER_REASON, DEFAULT_PROPOSE_REASON = "asked to remember", "proposed"
"""Reasons of callers who give none. They are no reason for a value of the profile."""


@dataclass(frozen=True, slots=True)
class StatementInput:
    """Holds how statements are given: by whom, whether privately, why, and under which idempotency key."""

    origin: Origin | str | None
    private: bool
    reason: str
    key: str | None


class StatementWriting:
    """Writes and proposes statements in the name of one caller."""

    def __init__(self, access: CallerAccess) -> None:
        self._access = access

    def remember(self, statements: Iterable[Mapping[str, Any]], given: StatementInput) -> Receipt:
        """Write statements in one commit; InvalidInput, and nothing is written, if one is invalid."""
        access, engine = self._access, self._access.engine
        reason, writer = redact(parse_text(given.reason)).text, access.writer(given.origin, given.private)
        given_reason = None if reason == DEFAULT_REMEMBER_REASON else reason
        completed = [
            complete_metadata(require_object(statement, n), given_reason, writer.origin)
            for n, statement in enumerate(statements)
        ]
        cleaned = [redact_fields(statement, personal=engine.settings.redact_personal) for statement in completed]
        drafts = [self._with_agents(parse_draft(**fields), given.private) for fields, _ in cleaned]
        if not drafts:
            raise InvalidInput("there is nothing to remember")
        models = engine.models
        receipt = remember(
            drafts,
            writer,
            engine.store,
            engine.ids,
            access.write_time(),
            reason,
            given.key,
            lambda: models.state_reader,
            models.light_embedder(),
        )
        redacted_names = dict.fromkeys(name for _, names in cleaned for name in names)
        return access.publish(replace(receipt, redacted=tuple(redacted_names)))

    def propose(self, statement: Mapping[str, Any], given: StatementInput) -> Receipt:
        """Write a statement that stays pending until a person confirms it; InvalidInput if it is invalid."""
        access, engine = self._access, self._access.engine
        reason, writer = parse_reason(given.reason), access.writer(given.origin, given.private)
        given_reason = None if reason == DEFAULT_PROPOSE_REASON else reason
        fields = complete_proposal(statement, given_reason, writer.origin)
        clean, redacted_names = redact_fields(fields, personal=engine.settings.redact_personal)
        draft = self._with_agents(parse_draft(**clean), given.private)
        receipt = propose([draft], writer, engine.store, engine.ids, access.write_time(), reason, given.key)
        return access.publish(replace(receipt, redacted=redacted_names))

    def _with_agents(self, draft: Draft, private: bool) -> Draft:
        """Return the draft with the calling agent among the agents it names."""
        return draft.model_copy(update={"agents": self._access.caller.agents(private, draft.agents)})
