"""Confirms or rejects a statement that is pending review, and ends what it supersedes.

A person who confirms is responsible for the text, so it is compared with existing statements as if the person had
stated it; its origin stays the same. A proposal states itself what it replaces: see `lamina.atom.proposals_and_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, Relation, RelationName, effective_from
from lamina.atom.claim import Claim, can_replace, claim_of, comparable_value, is_one_of_several
from lamina.atom.proposals_and_pairs import (
    ARCHIVED_ELSEWHERE_KEY,
    PROCEDURE_PROPOSALS,
    ProposalType,
    edited_values,
    parse_places,
    proposal_type_of,
)
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.capture.change.change_detection import LoadStates, compare_declared
from lamina.capture.change.dependants import DependencyRule, add_dependants
from lamina.capture.classification import CORRECTION, StatementVerdict, classify
from lamina.capture.existing_statements import ExistingStatements
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import Writer, retry_exclusively
from lamina.capture.store_reads import StoreReads
from lamina.errors import NotFound, Refused
from lamina.store.base import AtomFilter, Store
from lamina.sync import StatusDecision
from lamina.text.normal_form import normal_form, value_form

OPEN_STATUSES = frozenset({Status.CONSTRAINED, Status.CHALLENGED})
"""Statuses about which a person can still decide."""
_SAME_CONTENT_PROPOSALS = PROCEDURE_PROPOSALS | {ProposalType.SEMANTIC_COMPACTION, ProposalType.FILE_EDIT}
_ENDABLE_STATUSES = frozenset({Status.ACTIVE, Status.CHALLENGED})


class _SettledStatements(ExistingStatements):
    """Existing statements without pending ones. An earlier retraction does not bind a person who confirms."""

    def with_same_words(self, atom: Atom) -> list[Atom]:
        return [other for other in super().with_same_words(atom) if other.status is not Status.CONSTRAINED]

    def on_same_subject(self, atom: Atom) -> list[Atom]:
        return [other for other in super().on_same_subject(atom) if other.status is not Status.CONSTRAINED]

    def find_retracted(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        return None

    def trust_of_new(self, atom: Atom) -> float:
        return TRUST[Origin.HUMAN]


def confirm(
    atom_id: AtomId,
    writer: Writer,
    store: Store,
    now: datetime,
    reason: str,
    batch: str | None = None,
    revise: Callable[[Atom], Atom] = lambda atom: atom,
) -> Receipt:
    """Activate a pending statement, with `revise` applied, and end what it supersedes, in one commit."""

    def attempt() -> Receipt:
        atom = _load(atom_id, writer, store, "confirm")
        if atom.status is Status.ACTIVE:
            return Receipt(None, (Outcome(Result.DUPLICATE, atom, "it is already active"),))
        pending = revise(atom)
        verdict = _return_to_archive(predict_verdict(pending, store, now))
        return _commit(verdict, pending, writer, store, "confirm", reason, _commit_way(pending, verdict), batch)

    return retry_exclusively(store, attempt)


def _return_to_archive(verdict: StatementVerdict) -> StatementVerdict:
    """Return the verdict with the statement archived, if it was archived in the memory that it was imported from."""
    atom = verdict.atom
    if atom.status is not Status.ACTIVE or ARCHIVED_ELSEWHERE_KEY not in atom.metadata:
        return verdict
    return replace(verdict, atom=atom.with_(status=Status.ARCHIVED))


def apply_file_status(
    atom: Atom, status: Status, store: Store, now: datetime, rules: Sequence[DependencyRule] = ()
) -> StatusDecision:
    """Return what changes when a person writes another status into the file of an atom."""
    if atom.status in OPEN_STATUSES and status is Status.ACTIVE:
        verdict = predict_verdict(atom, store, now)
        changed, reason = _with_dependants(verdict, atom, verdict.reason, store, rules)
        return StatusDecision(changed[0], tuple(changed[1:]), reason, _commit_way(atom, verdict))
    way = TransitionCause.RESTORE if atom.status in ENDED else TransitionCause.ORDINARY
    changed, reason = add_dependants([with_status(atom, status, now)], "", store, Origin.HUMAN, rules)
    return StatusDecision(changed[0], tuple(changed[1:]), reason, way)


def decide_new_file(
    atom: Atom, store: Store, now: datetime, load_states: LoadStates, rules: Sequence[DependencyRule] = ()
) -> StatusDecision:
    """Return what becomes of a statement that a person wrote as a new file, and of those it replaces or continues."""
    reads, claim = StoreReads(store), claim_of(atom)
    if claim is not None and claim.is_single_valued:
        verdict = classify(atom, ExistingStatements([atom], reads), now)
    else:
        new = StatementVerdict(Result.NEW, atom, (), "no similar statement is stored")
        verdict = compare_declared(new, reads, now, load_states)
    if verdict.result is Result.DUPLICATE:
        verdict = _continue_value(atom, verdict.atom)
    changed, reason = _with_dependants(verdict, atom, verdict.reason, store, rules)
    return StatusDecision(changed[0], tuple(changed[1:]), reason, TransitionCause.ADOPT)


def _continue_value(atom: Atom, stored: Atom) -> StatementVerdict:
    """Return the verdict on a file that has the value of a stored statement: its words supersede older words of it."""
    start, reason = effective_from(atom), f"it has the value of {stored.id}"
    is_newer = start > effective_from(stored) and normal_form(atom.content) != normal_form(stored.content)
    if not is_newer or stored.is_episode:
        merged = atom.with_(status=Status.MERGED, superseded_by=(*atom.superseded_by, stored.id))
        successor = stored.with_(supersedes=(*stored.supersedes, atom.id))
        return StatementVerdict(Result.MERGED, merged, (successor,), reason)
    return _supersede_sources(atom, [stored], start, reason)


def with_status(atom: Atom, status: Status, now: datetime) -> Atom:
    """Return the atom with another status; a superseded one is valid until now unless it says otherwise."""
    if status is not Status.SUPERSEDED or atom.status is status:
        return atom.with_(status=status)
    return atom.with_(status=status, valid_until=_end_of_validity(atom, now))


def _commit_way(pending: Atom, verdict: StatementVerdict) -> TransitionCause:
    """Return the way of the commit: a pending statement may be superseded or archived without being active before."""
    is_passed = verdict.atom.status in (Status.SUPERSEDED, Status.ARCHIVED) and pending.status is Status.CONSTRAINED
    return TransitionCause.ADOPT if is_passed else TransitionCause.ORDINARY


def reject(atom_id: AtomId, writer: Writer, store: Store, reason: str, batch: str | None = None) -> Receipt:
    """Reject a pending statement: it stays as a tombstone, and the same text is not extracted again."""

    def attempt() -> Receipt:
        pending = _load(atom_id, writer, store, "reject")
        if pending.status is Status.ACTIVE:
            raise Refused(f"{atom_id} is active; forget it instead")
        verdict = StatementVerdict(Result.REFUSED, pending.with_(status=Status.TOMBSTONED), (), reason)
        return _commit(verdict, pending, writer, store, "reject", reason, TransitionCause.ORDINARY, batch)

    return retry_exclusively(store, attempt)


def _load(atom_id: AtomId, writer: Writer, store: Store, verb: str) -> Atom:
    """Return a statement that can still be decided, or is active already; Refused if it has ended."""
    atoms = store.atoms.read(AtomFilter(scopes=(writer.scope,), ids=(atom_id,)))
    if not atoms:
        raise NotFound(f"no atom {atom_id!r}")
    if atoms[0].status not in (*OPEN_STATUSES, Status.ACTIVE):
        raise Refused(f"{atom_id} is {atoms[0].status}, so there is nothing to {verb}; `status` restores it")
    return atoms[0]


def predict_verdict(pending: Atom, store: Store, now: datetime) -> StatementVerdict:
    """Return what becomes of a pending statement, and of existing ones, if a person confirms it."""
    proposal, claim = proposal_type_of(pending), claim_of(pending)
    if proposal is ProposalType.SEMANTIC_COMPACTION:
        sources, reason = _compacted_sources(pending, store), "it summarises them"
        return _supersede_sources(pending, sources, effective_from(pending), reason)
    if proposal in PROCEDURE_PROPOSALS:
        sources, reason = _procedure_sources(pending, store), "it is the canonical procedure"
        return _supersede_sources(pending, sources, effective_from(pending), reason)
    if proposal is ProposalType.FORGET:
        return _apply_forget(pending, store)
    if proposal is ProposalType.FILE_EDIT and pending.derived_from:
        return _apply_file_edit(pending, store)
    timeless = pending.valid_from is None and pending.valid_until is None
    if proposal is ProposalType.PROFILE_UPDATE and claim and timeless and not claim.is_multi_valued:
        return _supersede_profile_value(pending, claim, store, now)
    if pending.is_segment:
        return StatementVerdict(Result.NEW, pending.with_(status=Status.ACTIVE), (), "it is active")
    return _compare_with_existing(pending, store, now)


def _compare_with_existing(pending: Atom, store: Store, now: datetime) -> StatementVerdict:
    """Compare the statement with existing ones as if a person had stated it."""
    current = _SettledStatements([pending], StoreReads(store))
    as_human = pending.with_(status=Status.ACTIVE, origin=Origin.HUMAN)
    verdict = classify(as_human, current, now)
    if verdict.result is Result.CHALLENGED:  # two values at one time: confirming one rejects the other
        verdict = classify(as_human.with_(tags=(*pending.tags, CORRECTION)), current, now)
    if verdict.result is Result.DUPLICATE:
        duplicate, reason = pending.with_(status=Status.TOMBSTONED), f"{verdict.atom.id} has the same content"
        return StatementVerdict(Result.DUPLICATE, duplicate, verdict.other_changes, reason)
    ended = {other.id for other in verdict.other_changes}
    links = _without_contradictions(verdict.atom, ended)
    confirmed = verdict.atom.with_(origin=pending.origin, tags=pending.tags, relations=links)
    others = (*verdict.other_changes, *_date_later_holders(confirmed, ended, current))
    return StatementVerdict(verdict.result, confirmed, others, verdict.reason)


def _without_contradictions(atom: Atom, ended: Collection[AtomId]) -> tuple[Relation, ...]:
    """Return the links of an atom without those that contradict what it ends."""
    return tuple(
        relation
        for relation in atom.relations
        if relation.name is not RelationName.CONTRADICTS or relation.target not in ended
    )


def _supersede_sources(pending: Atom, sources: Sequence[Atom], since: datetime, reason: str) -> StatementVerdict:
    """Activate the proposal and supersede its sources from its beginning on."""
    ended = tuple(
        source.with_(
            status=Status.SUPERSEDED,
            valid_until=_end_of_validity(source, since),
            superseded_by=(*source.superseded_by, pending.id),
        )
        for source in sources
    )
    source_ids = tuple(source.id for source in sources)
    links = _without_contradictions(pending, source_ids)
    confirmed = pending.with_(status=Status.ACTIVE, supersedes=(*pending.supersedes, *source_ids), relations=links)
    if not ended:
        return StatementVerdict(Result.NEW, confirmed, (), "it is active")
    return StatementVerdict(Result.SUPERSEDES, confirmed, ended, reason)


def _end_of_validity(ended: Atom, since: datetime) -> datetime | None:
    """Return until when an ended statement was valid; unchanged if it began no earlier than its successor."""
    return min(ended.valid_until or since, since) if effective_from(ended) < since else ended.valid_until


def _read_sources(pending: Atom, store: Store) -> list[Atom]:
    return store.atoms.read(AtomFilter(scopes=(pending.scope,), ids=pending.derived_from))


def _can_be_ended(source: Atom) -> bool:
    return source.status in _ENDABLE_STATUSES and not source.is_episode


def _compacted_sources(pending: Atom, store: Store) -> list[Atom]:
    sources = _read_sources(pending, store)
    changed = [source for source in sources if source.status in ENDED]
    if changed:
        states = ", ".join(f"{source.id} is {source.status}" for source in changed)
        raise Refused(f"the sources of {pending.id} have changed: {states}; reject it and compact again")
    return list(filter(_can_be_ended, sources))


def _procedure_sources(pending: Atom, store: Store) -> list[Atom]:
    """Return the sources of the proposal that belong to the same workflow."""
    workflow = value_form(pending.metadata_text("workflow"))
    return [
        source
        for source in _read_sources(pending, store)
        if _can_be_ended(source) and value_form(source.metadata_text("workflow")) == workflow
    ]


def _apply_file_edit(pending: Atom, store: Store) -> StatementVerdict:
    """Apply a file edit to the atom that was edited, and end the proposal."""
    targets = store.atoms.read(AtomFilter(scopes=(pending.scope,), ids=pending.derived_from[:1]))
    if not targets or targets[0].status in ENDED:
        raise Refused(f"{pending.derived_from[0]}, which was edited, has ended; reject {pending.id}")
    edited = targets[0].with_(**edited_values(pending))
    closed = pending.with_(status=Status.TOMBSTONED)
    return StatementVerdict(Result.REVISED, closed, (edited,), f"the edit is applied to {edited.id}")


def _apply_forget(pending: Atom, store: Store) -> StatementVerdict:
    """Tombstone the statements of a forget request; its own evidence covers sentences without a statement."""
    statements = _read_sources(pending, store)
    tombstones = tuple(atom.with_(status=Status.TOMBSTONED) for atom in statements if atom.status not in ENDED)
    places = dict.fromkeys((*pending.evidence, *parse_places(pending)))
    covered = pending.with_(status=Status.TOMBSTONED, evidence=tuple(places), value=pending.value or pending.content)
    return StatementVerdict(Result.TAKEN_BACK, covered, tombstones, "forgotten as requested")


def _supersede_profile_value(pending: Atom, claim: Claim, store: Store, now: datetime) -> StatementVerdict:
    """Supersede the current value of a profile claim from now on."""
    query = AtomFilter(scopes=(pending.scope,), claims=claim.stored_names, statuses=frozenset({Status.ACTIVE}))
    replaceable = (holder for holder in store.atoms.read(query) if can_replace(holder, pending))
    holders = [holder for holder in replaceable if not is_one_of_several(holder)]
    current = [holder for holder in holders if effective_from(holder) <= now and holder.validity.covers(now)]
    if any(comparable_value(holder) == comparable_value(pending) for holder in current):
        return _compare_with_existing(pending, store, now)
    next_start = min((effective_from(holder) for holder in holders if effective_from(holder) > now), default=None)
    return _supersede_sources(pending.with_(valid_from=now, valid_until=next_start), current, now, f"{claim} changed")


def _date_later_holders(confirmed: Atom, ended_ids: Collection[AtomId], current: ExistingStatements) -> Iterator[Atom]:
    """Return later holders of the claim that have no start date, with that date set."""
    claim = claim_of(confirmed)
    if claim is None or not claim.is_single_valued or confirmed.status is not Status.ACTIVE:
        return
    for holder in current.current_values(confirmed, claim):
        if holder.id not in ended_ids and holder.valid_from is None and holder.validity.overlaps(confirmed.validity):
            yield holder.with_(valid_from=holder.observed_at)


def _commit(
    verdict: StatementVerdict,
    pending: Atom,
    writer: Writer,
    store: Store,
    verb: str,
    reason: str,
    way: TransitionCause,
    batch: str | None,
) -> Receipt:
    is_simple = verb == "reject" or (verdict.result is Result.NEW and not verdict.other_changes)
    outcome_reason = reason if is_simple else f"{reason}: {verdict.reason}"
    changed, commit_reason = _with_dependants(verdict, pending, outcome_reason, store, writer.rules)
    committed = store.journal.append(writer.commit(verb, commit_reason, changed, way=way, batch=batch))
    written = {atom.id: atom for atom in committed.atoms}
    others = tuple(
        Outcome(_result_of(atom, verdict, pending), written[atom.id], outcome_reason) for atom in changed[1:]
    )
    return Receipt(committed.id, (Outcome(verdict.result, written[pending.id], outcome_reason), *others))


def _with_dependants(
    verdict: StatementVerdict, pending: Atom, reason: str, store: Store, rules: Sequence[DependencyRule]
) -> tuple[list[Atom], str]:
    """Return all changes; dependants are not challenged if the same content is only stored elsewhere."""
    changed = [verdict.atom, *verdict.other_changes]
    if proposal_type_of(pending) in _SAME_CONTENT_PROPOSALS:
        return changed, reason
    return add_dependants(changed, reason, store, Origin.HUMAN, rules)


def _result_of(other: Atom, verdict: StatementVerdict, pending: Atom) -> Result:
    if other.status is Status.TOMBSTONED and proposal_type_of(pending) is ProposalType.FORGET:
        return Result.TAKEN_BACK
    if pending.id in other.superseded_by:
        return Result.SUPERSEDED
    if other.status is Status.CHALLENGED:
        return Result.CHALLENGED
    return verdict.result if verdict.result in (Result.REVISED, Result.DUPLICATE) else Result.REVISED
