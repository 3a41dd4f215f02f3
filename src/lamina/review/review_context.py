"""The caller of a review and what its decisions need: the store, and functions that read and write files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom, IdSource
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import TransitionCause
from lamina.capture.caller_input import parse_text
from lamina.capture.change.dependants import DependencyRule, find_dependants
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.statement_commit import Writer
from lamina.errors import InvalidInput, Refused
from lamina.store.admin import FileProblem
from lamina.store.base import AtomFilter, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """The authority and tools of the person who reviews.

    `find_atom` returns an atom by its id or the end of the id, `read_synced` reads atoms; both apply file edits first.
    `publish` writes files after a commit; `redact_personal`: personal numbers count as secrets; `rules` say which
    attributes depend on which.
    """

    store: Store
    scope: Scope
    scopes: tuple[Scope, ...]
    actor: str
    ceiling: Origin
    principal: str | None
    ids: IdSource
    now: Callable[[], datetime]
    find_atom: Callable[[str], Atom]
    read_synced: Callable[[AtomFilter], list[Atom]]
    publish: Callable[[Receipt], Receipt]
    list_problems: Callable[[], list[FileProblem]]
    redact_personal: bool = False
    rules: tuple[DependencyRule, ...] = ()

    def authorised_writer(self, scope: Scope | None = None) -> Writer:
        """Return a writer with a person's authority in a scope; Refused for any other origin."""
        if self.ceiling is not Origin.HUMAN:
            raise Refused(f"{self.ceiling} may not make review decisions; a person can, with `lamina review`")
        return Writer(self.actor, self.ceiling, self.principal, scope or self.scope, self.rules)

    def commit_outcomes(
        self, verb: str, reason: str, outcomes: Sequence[Outcome], way: TransitionCause = TransitionCause.ORDINARY
    ) -> Receipt:
        """Commit the outcomes together with the dependants they challenge, and write the files."""
        writer = self.authorised_writer()
        challenged = find_dependants(
            {outcome.atom.id: outcome.atom for outcome in outcomes}, self.store, writer.origin, self.rules
        )
        outcomes = [*outcomes, *(Outcome(Result.CHALLENGED, atom, why) for atom, why in challenged)]
        reason = "; ".join(dict.fromkeys([reason, *(why for _, why in challenged)]))
        changed = [outcome.atom for outcome in outcomes]
        committed = self.store.journal.append(writer.commit(verb, reason, changed, way=way))
        written = {atom.id: atom for atom in committed.atoms}
        stored = tuple(replace(outcome, atom=written.get(outcome.atom.id, outcome.atom)) for outcome in outcomes)
        return self.publish(Receipt(committed.id, stored))


def parse_reason(reason: str) -> str:
    """Return the reason as the journal stores it; InvalidInput if it is empty."""
    if not parse_text(reason).strip():
        raise InvalidInput("a reason is required: it is stored in the journal")
    return redact(reason).text
