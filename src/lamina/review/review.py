"""`memory.review`: what is pending review, and the decisions there are. Each is one commit that undo reverses."""

from __future__ import annotations

import builtins
import secrets
from collections.abc import Sequence
from typing import Unpack

from lamina.argument_checks import Amount, verb
from lamina.atom.atom import Atom
from lamina.atom.proposals_and_pairs import ProposalType, proposal_type_of
from lamina.capture.caller_input import RevisionFields
from lamina.capture.receipt import Receipt
from lamina.errors import InvalidInput, NotFound, Refused
from lamina.review import pairs, proposals
from lamina.review.confirm import confirm, reject
from lamina.review.pairs import Pair
from lamina.review.pending_items import DecisionType, Item, count_pending, held_statements, list_pending
from lamina.review.proposals import Proposed
from lamina.review.review_context import Reviewer, parse_reason
from lamina.review.revision_fields import apply_revision, parse_revision
from lamina.telemetry import Operation

CONFIRMED, REJECTED = "confirmed", "rejected"


class Review:
    """The verbs of review. A caller without a person's authority may list and not decide."""

    def __init__(self, reviewer: Reviewer) -> None:
        self._reviewer = reviewer

    @verb(Operation.READ)
    def list(
        self,
        source: str | None = None,
        *,
        kind: DecisionType | str | None = None,
        limit: Amount | None = None,
        offset: Amount = 0,
        about: Sequence[str] | None = None,
    ) -> builtins.list[Item]:
        """Return everything that is pending review, with what each verb would do: deletions, statements, pairs.

        `about`: only items about these atoms.
        """
        return list_pending(self._reviewer, source, _parse_type(kind), limit, offset, about)

    @verb()
    def count(self, source: str | None = None, *, kind: DecisionType | str | None = None) -> int:
        """Return how many items are pending review."""
        return count_pending(self._reviewer, source, _parse_type(kind))

    @verb(Operation.READ)
    def held(self, source: str | None = None) -> builtins.list[Atom]:
        """Return the pending statements, newest first; of one source, or of all whose names begin with it."""
        return held_statements(self._reviewer, source)

    @verb(Operation.UPDATE)
    def confirm(self, id: str, reason: str = CONFIRMED) -> Receipt:
        """Activate a pending statement and end what it supersedes."""
        return self._confirm(self._reviewer.find_atom(id), parse_reason(reason), None)

    @verb(Operation.UPDATE, fields=RevisionFields)
    def edit(
        self, id: str, content: str | None = None, *, reason: str = CONFIRMED, **fields: Unpack[RevisionFields]
    ) -> Receipt:
        """Activate a pending statement with another text or other fields."""
        revision = parse_revision(content, fields, redact_personal=self._reviewer.redact_personal)
        atom, parsed_reason = self._reviewer.find_atom(id), parse_reason(reason)
        if proposal_type_of(atom) is ProposalType.FORGET:
            raise Refused(f"{atom.id} is a request to forget: confirm or reject it")
        if proposal_type_of(atom) is ProposalType.FILE_EDIT:
            raise Refused(f"{atom.id} is an edit of a file: confirm or reject it, and edit the file again")
        writer = self._reviewer.authorised_writer(atom.scope)
        done = confirm(
            atom.id,
            writer,
            self._reviewer.store,
            self._reviewer.now(),
            parsed_reason,
            None,
            lambda pending: apply_revision(pending, revision),
        )
        return self._reviewer.publish(done)

    @verb(Operation.UPDATE)
    def reject(self, id: str, reason: str = REJECTED) -> Receipt:
        """Reject a pending statement; the same text is not extracted again."""
        return self._reject(self._reviewer.find_atom(id), parse_reason(reason), None)

    @verb(Operation.UPDATE)
    def approve_source(self, source: str, reason: str = CONFIRMED) -> builtins.list[Receipt]:
        """Confirm every pending statement from one source, oldest first, in one batch."""
        why, batch = parse_reason(reason), secrets.token_hex(8)
        return [self._confirm(atom, why, batch) for atom in self._held_from(source)]

    @verb(Operation.UPDATE)
    def reject_source(self, source: str, reason: str = REJECTED) -> builtins.list[Receipt]:
        """Reject every pending statement from one source, in one batch."""
        why, batch = parse_reason(reason), secrets.token_hex(8)
        return [self._reject(atom, why, batch) for atom in self._held_from(source)]

    @verb(Operation.MAINTAIN)
    def compact(self, *, create_proposals: bool = False) -> Proposed:
        """Group statements with the same text or topic; with `create_proposals`, propose one synthesis for each."""
        return proposals.compact(self._reviewer, create_proposals=create_proposals)

    @verb(Operation.MAINTAIN)
    def dedup(self, *, create_proposals: bool = False) -> Proposed:
        """Group procedures of one workflow; with `create_proposals`, propose the surest of each as canonical."""
        return proposals.dedup(self._reviewer, create_proposals=create_proposals)

    @verb(Operation.READ)
    def pairs(self, *, later: bool = False) -> builtins.list[Pair]:
        """Return statements that contradict each other, the newest pair first.

        With `later` also postponed pairs and likely changes that no answer depends on.
        """
        return pairs.list_pairs(self._reviewer, include_postponed=later)

    @verb(Operation.UPDATE)
    def keep_a(self, a: str, b: str, reason: str = "kept") -> Receipt:
        """Keep the first of a pair; the other is superseded if it is older, else invalidated."""
        return pairs.keep_one(a, b, reason, self._reviewer)

    @verb(Operation.UPDATE)
    def keep_b(self, a: str, b: str, reason: str = "kept") -> Receipt:
        """Keep the second of a pair; otherwise like `keep_a`."""
        return pairs.keep_one(b, a, reason, self._reviewer)

    @verb(Operation.UPDATE)
    def both_valid(self, a: str, b: str, reason: str = "both are so") -> Receipt:
        """Keep both statements of a pair; they do not become a pair again."""
        return pairs.both_valid(a, b, reason, self._reviewer)

    @verb(Operation.UPDATE, fields=RevisionFields)
    def merge(
        self, a: str, b: str, content: str, *, reason: str = "merged", **fields: Unpack[RevisionFields]
    ) -> Receipt:
        """Replace both statements of a pair by one with the given text."""
        return pairs.merge(a, b, content, reason, self._reviewer, **fields)

    @verb(Operation.UPDATE)
    def need_more(self, a: str, b: str, note: str = "more has to be known") -> Receipt:
        """Postpone the decision: both statements stay, and the pair is hidden for 30 days."""
        return pairs.need_more(a, b, note, self._reviewer)

    def _held_from(self, source: str) -> Sequence[Atom]:
        pending = self.held(source)
        if not pending:
            raise NotFound(f"nothing from {source!r} is pending review; `lamina review list` shows what is")
        return pending[::-1]

    def _confirm(self, atom: Atom, reason: str, batch: str | None) -> Receipt:
        writer = self._reviewer.authorised_writer(atom.scope)
        return self._reviewer.publish(
            confirm(atom.id, writer, self._reviewer.store, self._reviewer.now(), reason, batch)
        )

    def _reject(self, atom: Atom, reason: str, batch: str | None) -> Receipt:
        writer = self._reviewer.authorised_writer(atom.scope)
        return self._reviewer.publish(reject(atom.id, writer, self._reviewer.store, reason, batch))


def _parse_type(kind: DecisionType | str | None) -> DecisionType | None:
    if kind is None:
        return None
    try:
        return DecisionType(kind)
    except ValueError as error:
        raise InvalidInput(f"kind: {kind!r} is not one of {', '.join(DecisionType)}") from error
