"""`memory.review`: what waits for a person's word, and the words there are. Each is one commit, undone as one."""

from __future__ import annotations

import builtins
import secrets
from collections.abc import Collection, Sequence
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.proposal import Proposal, proposal_of
from lamina.capture.receipt import Receipt
from lamina.errors import InvalidInput, NotFound, Refused
from lamina.review import groups, pairs
from lamina.review.confirm import confirm, reject
from lamina.review.groups import Proposed
from lamina.review.pairs import Pair
from lamina.review.reviewer import Reviewer, with_reason
from lamina.review.revise import parse_revision, revised
from lamina.review.waiting import Item, Waits, held, how_many, waiting
from lamina.telemetry import Operation, traced

CONFIRMED, REJECTED = "confirmed", "rejected"


class Review:
    """The verbs of review. Whoever opened the memory with less than a person's word may look and not decide."""

    def __init__(self, reviewer: Reviewer) -> None:
        self._by = reviewer

    @traced(Operation.READ)
    def list(
        self,
        source: str | None = None,
        *,
        kind: Waits | str | None = None,
        limit: int | None = None,
        offset: int = 0,
        about: Collection[str] | None = None,
    ) -> builtins.list[Item]:
        """Everything that waits for a person, with what each verb would do: deletions, statements, pairs.

        `about`: only what waits of these atoms.
        """
        return waiting(self._by, source, _sort(kind), limit, offset, about)

    def count(self, source: str | None = None, *, kind: Waits | str | None = None) -> int:
        """How many things wait for a person."""
        return how_many(self._by, source, _sort(kind))

    @traced(Operation.READ)
    def held(self, source: str | None = None) -> builtins.list[Atom]:
        """The statements that wait, newest first; of one source, or of all whose names begin with it."""
        return held(self._by, source)

    @traced(Operation.UPDATE)
    def confirm(self, id: str, reason: str = CONFIRMED) -> Receipt:
        """Let a statement that waits count, and what stands in its place give way."""
        return self._confirm(self._by.find(id), with_reason(reason), None)

    @traced(Operation.UPDATE)
    def edit(self, id: str, content: str | None = None, *, reason: str = CONFIRMED, **fields: Any) -> Receipt:
        """Let a statement that waits count in other words or with other fields."""
        wanted = parse_revision(content, fields, personal=self._by.personal)
        atom, why = self._by.find(id), with_reason(reason)
        if proposal_of(atom) is Proposal.FORGET:
            raise Refused(f"{atom.id} asks what to forget: confirm or reject it")
        if proposal_of(atom) is Proposal.FILE_EDIT:
            raise Refused(f"{atom.id} is an edit of a file: confirm or reject it, and edit the file again")
        writer = self._by.writer(atom.scope)
        done = confirm(atom.id, writer, self._by.store, self._by.now(), why, None, lambda each: revised(each, wanted))
        return self._by.published(done)

    @traced(Operation.UPDATE)
    def reject(self, id: str, reason: str = REJECTED) -> Receipt:
        """Take back a statement that waits; it does not return from the same words."""
        return self._reject(self._by.find(id), with_reason(reason), None)

    @traced(Operation.UPDATE)
    def approve_source(self, source: str, reason: str = CONFIRMED) -> builtins.list[Receipt]:
        """Confirm everything from one source that waits, oldest first, under one batch."""
        why, batch = with_reason(reason), secrets.token_hex(8)
        return [self._confirm(atom, why, batch) for atom in self._of(source)]

    @traced(Operation.UPDATE)
    def reject_source(self, source: str, reason: str = REJECTED) -> builtins.list[Receipt]:
        """Reject everything from one source that waits, under one batch."""
        why, batch = with_reason(reason), secrets.token_hex(8)
        return [self._reject(atom, why, batch) for atom in self._of(source)]

    @traced(Operation.MAINTAIN)
    def compact(self, *, create_proposals: bool = False) -> Proposed:
        """Statements in the same words or of one topic; with `create_proposals`, each group as one that waits."""
        return groups.compact(self._by, create_proposals=create_proposals)

    @traced(Operation.MAINTAIN)
    def dedup(self, *, create_proposals: bool = False) -> Proposed:
        """Procedures of one workflow; with `create_proposals`, the surest of each as the canonical one, which waits."""
        return groups.dedup(self._by, create_proposals=create_proposals)

    @traced(Operation.READ)
    def pairs(self, *, later: bool = False) -> builtins.list[Pair]:
        """Return statements that contradict each other, the newest pair first; `later`: also those put off, and likely
        changes that no answer depends on."""
        return pairs.pairs_of(self._by, later=later)

    @traced(Operation.UPDATE)
    def keep_a(self, a: str, b: str, reason: str = "kept") -> Receipt:
        """Of a pair the first is so: the other was so until then where it is the older, else it never was."""
        return pairs.keep(a, b, reason, self._by)

    @traced(Operation.UPDATE)
    def keep_b(self, a: str, b: str, reason: str = "kept") -> Receipt:
        """Of a pair the second is so."""
        return pairs.keep(b, a, reason, self._by)

    @traced(Operation.UPDATE)
    def both_valid(self, a: str, b: str, reason: str = "both are so") -> Receipt:
        """Both of a pair are so; they are not set against each other again."""
        return pairs.both_valid(a, b, reason, self._by)

    @traced(Operation.UPDATE)
    def merge(self, a: str, b: str, content: str, *, reason: str = "merged", **fields: Any) -> Receipt:
        """One statement in your words takes the place of both."""
        return pairs.merge(a, b, content, reason, self._by, **fields)

    @traced(Operation.UPDATE)
    def need_more(self, a: str, b: str, note: str = "more has to be known") -> Receipt:
        """Nobody can tell yet: both stay, and the pair is not shown for 30 days."""
        return pairs.need_more(a, b, note, self._by)

    def _of(self, source: str) -> Sequence[Atom]:
        found = self.held(source)
        if not found:
            raise NotFound(f"nothing from {source!r} waits for review; `lamina review list` shows what does")
        return found[::-1]

    def _confirm(self, atom: Atom, reason: str, batch: str | None) -> Receipt:
        writer = self._by.writer(atom.scope)
        return self._by.published(confirm(atom.id, writer, self._by.store, self._by.now(), reason, batch))

    def _reject(self, atom: Atom, reason: str, batch: str | None) -> Receipt:
        writer = self._by.writer(atom.scope)
        return self._by.published(reject(atom.id, writer, self._by.store, reason, batch))


def _sort(kind: Waits | str | None) -> Waits | None:
    if kind is None:
        return None
    try:
        return Waits(kind)
    except ValueError as error:
        raise InvalidInput(f"{kind!r} does not wait; choose from {', '.join(Waits)}") from error
