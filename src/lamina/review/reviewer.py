"""Who reviews, and with what: the store, a person's hand on it, and how files are looked at and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import IdSource
from lamina.atom.scope import Scope
from lamina.atom.status import Way
from lamina.atom.trust import Origin
from lamina.capture.change.dependants import DependencyRule, dependants
from lamina.capture.draft import parse_text
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.write import Writer
from lamina.errors import InvalidInput, Refused
from lamina.store.base import Change, Commit, Filter, Store
from lamina.store.ledger import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """One person's place at a memory.

    `find` gives an atom by its id or the id's ending, `fresh` reads atoms, both as their files say; `published` writes
    files after a commit; `personal`: numbers of persons are secrets, too; `rules` say which attributes depend on which.
    """

    store: Store
    scope: Scope
    scopes: tuple[Scope, ...]
    actor: str
    ceiling: Origin
    principal: str | None
    ids: IdSource
    now: Callable[[], datetime]
    find: Callable[[str], Atom]
    fresh: Callable[[Filter], list[Atom]]
    published: Callable[[Receipt], Receipt]
    problems: Callable[[], list[Problem]]
    personal: bool = False
    rules: tuple[DependencyRule, ...] = ()

    def writer(self, scope: Scope | None = None) -> Writer:
        """A person's hand in a scope; nobody else has one here."""
        if self.ceiling is not Origin.HUMAN:
            raise Refused(f"{self.ceiling} may not decide what counts; a person does, with `lamina review`")
        return Writer(self.actor, self.ceiling, self.principal, scope or self.scope, self.rules)

    def carry_out(
        self, verb: str, reason: str, outcomes: Sequence[Outcome], way: Way = Way.ORDINARY, batch: str | None = None
    ) -> Receipt:
        """Commit what was decided with what is doubted because of it, all of it or nothing, and write the files."""
        writer = self.writer()
        doubted = dependants(
            {outcome.atom.id: outcome.atom for outcome in outcomes}, self.store, writer.origin, self.rules
        )
        outcomes = [*outcomes, *(Outcome(Result.CHALLENGED, atom, why) for atom, why in doubted)]
        reason = "; ".join(dict.fromkeys([reason, *(why for _, why in doubted)]))
        done = self.store.commit(
            Commit(
                actor=writer.actor,
                origin=writer.origin,
                verb=verb,
                reason=reason,
                scope=writer.scope,
                way=way,
                batch=batch,
                changes=tuple(Change(outcome.atom) for outcome in outcomes),
            )
        )
        written = {atom.id: atom for atom in done.atoms}
        told = tuple(replace(outcome, atom=written.get(outcome.atom.id, outcome.atom)) for outcome in outcomes)
        return self.published(Receipt(done.id, told))


def with_reason(reason: str) -> str:
    """The reason as the journal keeps it."""
    if not parse_text(reason).strip():
        raise InvalidInput("say why: the reason is kept in the journal")
    return redact(reason).text
