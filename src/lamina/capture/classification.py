"""Classification of a new statement against the existing ones.

It is new, a duplicate, a successor, an older value, or a contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from lamina.atom.atom import Atom, Relation, RelationName, effective_from
from lamina.atom.claim import Claim, claim_of, comparable_value, is_one_of_several
from lamina.atom.proposals_and_pairs import LIKELY_CHANGE_CONFIDENCE, is_uncertain_contradiction
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.existing_statements import ExistingStatements
from lamina.capture.receipt import Result
from lamina.text.normal_form import are_equivalent, normal_form, value_form

CORRECTION = "correction"
"""The tag of a statement that says that an earlier one was wrong."""
SURE, LIKELY, DOUBTFUL, STEP = 0.9, 0.8, 0.5, 0.05
"""The confidence of a relation that rests on a claim, on shared words or on similarity; and what each repetition
adds."""
_MIN_WORDS = 3
"""The fewest words of a statement that a longer one can enrich."""
_MEANINGFUL_SIGNS = re.compile(r"(?<=\w)[+#]+|(?<!\w)[-−](?=\d)|%")
"""Signs that change the meaning: C++ is not C, and −5 is not 5."""


@dataclass(frozen=True, slots=True)
class StatementVerdict:
    """A decision on a statement: how it is written, which other atoms change with it, and why."""

    result: Result
    atom: Atom
    other_changes: tuple[Atom, ...]
    reason: str

    @property
    def is_written(self) -> bool:
        """Return whether the statement becomes an atom of its own."""
        return self.result not in (Result.DUPLICATE, Result.REFUSED)


def classify(atom: Atom, existing: ExistingStatements, now: datetime) -> StatementVerdict:
    """Return the verdict on a statement, compared with the existing ones of its scope."""
    claim = claim_of(atom)
    duplicate = _find_duplicate(atom, existing)
    if duplicate is not None:
        return _confirm_stored(duplicate, atom, now, "the same words are already stored")
    retracted = existing.find_retracted(atom, claim) if atom.evidence else None
    if retracted is not None:
        return StatementVerdict(
            Result.REFUSED, atom, (), f"{retracted[0].id} said this and was retracted on {retracted[1]:%Y-%m-%d}"
        )
    if claim is not None and claim.is_single_valued:
        verdict = _classify_claim(atom, claim, existing, now)
        verdict = _fit_into_history(
            atom, verdict, existing.superseded_values(verdict.atom, claim, is_late=_may_precede_ended(verdict)), claim
        )
    else:
        verdict = _classify_unclaimed(atom, existing, now)
    return _hold_for_review(verdict, atom) if atom.status is Status.CONSTRAINED else verdict


def _find_duplicate(atom: Atom, existing: ExistingStatements) -> Atom | None:
    """Return an existing statement that says the same about the same slot, or None.

    A statement with evidence is also a duplicate of one in nearly the same words.
    """
    for stored in existing.with_same_words(atom):
        if (
            _comparison_key(stored) == _comparison_key(atom)
            and _holds_at_start(stored, atom)
            and _is_as_trusted(stored, atom)
        ):
            return stored
    if not atom.evidence:
        return None
    form = existing.comparison_form(atom)
    similar = (
        stored
        for stored in existing.on_same_subject(atom)
        if _comparison_key(stored) == _comparison_key(atom) and _holds_at_start(stored, atom)
    )
    return next(
        (
            stored
            for stored in similar
            if _is_as_trusted(stored, atom) and are_equivalent(form, existing.comparison_form(stored))
        ),
        None,
    )


def _is_as_trusted(stored: Atom, atom: Atom) -> bool:
    """Return whether the stored statement is not pending, or both are: a pending one makes no trusted one redundant."""
    return stored.status is not Status.CONSTRAINED or atom.status is Status.CONSTRAINED


def _classify_claim(atom: Atom, claim: Claim, existing: ExistingStatements, now: datetime) -> StatementVerdict:
    """Return the verdict on a statement of a single-valued claim."""
    current_values = existing.current_values(atom, claim)
    rivals = [holder for holder in current_values if _holds_at_start(holder, atom)]
    challenged = _find_challenged(atom, rivals, claim, existing) if effective_from(atom) <= now else []
    if not rivals and not challenged:
        if any(holder.validity.overlaps(atom.validity) for holder in current_values):
            atom = atom.with_(valid_from=effective_from(atom))
        return StatementVerdict(
            Result.NEW, atom, (), f"another period of {claim}" if current_values else f"first value of {claim}"
        )
    same_value = next((rival for rival in rivals if comparable_value(rival) == comparable_value(atom)), None)
    if same_value is not None:
        return _confirm_stored(same_value, atom, now, f"{claim} already has this value")
    more_trusted = [rival for rival in rivals if existing.required_trust(rival) > existing.trust_of_new(atom)]
    if more_trusted or atom.status is Status.CONSTRAINED:
        return _challenge(atom, (more_trusted or rivals)[0], f"{claim} has another value; waiting for review")
    if CORRECTION in atom.tags:
        return _correct_rivals(atom, [*rivals, *challenged], claim)
    return classify_against_rivals(atom, [*rivals, *challenged], claim, now)


def _find_challenged(atom: Atom, rivals: Sequence[Atom], claim: Claim, existing: ExistingStatements) -> list[Atom]:
    """Return the challenged values of the claim that began before the current ones and that the statement may settle.

    Those of a more trusted origin are not among them.
    """
    if atom.status is not Status.ACTIVE:
        return []
    earliest = min(effective_from(value) for value in (atom, *rivals))
    return [
        value
        for value in existing.challenged_values(atom, claim)
        if effective_from(value) < earliest and _holds_at_start(value, atom)
        if existing.required_trust(value) <= existing.trust_of_new(atom)
    ]


def _may_precede_ended(verdict: StatementVerdict) -> bool:
    """Return whether ended values may begin after the statement does; none do if a current value began before it."""
    is_only_value = verdict.result is Result.NEW and not is_one_of_several(verdict.atom)
    return is_only_value or verdict.result is Result.SUPERSEDED


def _classify_unclaimed(atom: Atom, existing: ExistingStatements, now: datetime) -> StatementVerdict:
    """Return the verdict on a statement without rivals: new, or more specific than an existing one."""
    stored = _find_less_specific(atom, existing) if atom.evidence else None
    if stored is None:
        return StatementVerdict(Result.NEW, atom, (), "no similar statement is stored")
    relation = Relation(RelationName.ENRICHES, stored.id, LIKELY, now)
    return StatementVerdict(
        Result.ENRICHES, atom.with_(relations=(*atom.relations, relation)), (), f"it adds to {stored.id}"
    )


def _find_less_specific(atom: Atom, existing: ExistingStatements) -> Atom | None:
    """Return an existing statement of the same kind and subject whose words the statement contains, or None."""
    form = existing.comparison_form(atom)
    for stored in existing.on_same_subject(atom):
        stored_form = existing.comparison_form(stored)
        if (
            stored.kind == atom.kind
            and len(stored_form.token_set) > _MIN_WORDS
            and stored_form.token_set < form.token_set
        ):
            return stored
    return None


def _hold_for_review(verdict: StatementVerdict, atom: Atom) -> StatementVerdict:
    """Return the verdict that holds an untrusted statement for review, whatever it would be otherwise."""
    if not verdict.is_written:
        return verdict
    reason = f"{verdict.reason}; waiting for review: the origin is {atom.origin}"
    return StatementVerdict(Result.HELD, atom.with_(relations=verdict.atom.relations), (), reason)


def _challenge(atom: Atom, rival: Atom, reason: str) -> StatementVerdict:
    """Return the verdict that writes a statement as challenged by its contradiction of another."""
    contradiction = Relation(RelationName.CONTRADICTS, rival.id, SURE)
    challenged = atom.with_(status=Status.CHALLENGED, relations=(*atom.relations, contradiction))
    return StatementVerdict(Result.CHALLENGED, challenged, (), reason)


def _correct_rivals(atom: Atom, rivals: Sequence[Atom], claim: Claim) -> StatementVerdict:
    """Return the verdict that invalidates the rivals; the statement then holds from the earliest of their starts."""
    start = min(effective_from(statement) for statement in (atom, *rivals))
    invalidated = tuple(
        rival.with_(status=Status.INVALIDATED, superseded_by=(*rival.superseded_by, atom.id)) for rival in rivals
    )
    correction = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    return StatementVerdict(Result.SUPERSEDES, correction, invalidated, f"{claim} was wrong")


def _fit_into_history(
    statement: Atom, verdict: StatementVerdict, ended: Sequence[Atom], claim: Claim
) -> StatementVerdict:
    """Return the verdict with the ended values of the claim shortened, so that no two of them overlap in time."""
    atom, is_late = verdict.atom, verdict.result is Result.SUPERSEDED
    if verdict.result not in (Result.NEW, Result.SUPERSEDES, Result.SUPERSEDED):
        return verdict
    start, decided_ids = effective_from(atom), {other.id for other in verdict.other_changes}
    overlapping = [value for value in ended if value.id not in decided_ids and _overlap_in_time(value, atom)]
    rival = next(
        (
            value
            for value in overlapping
            if effective_from(value) == start and comparable_value(value) != comparable_value(atom)
        ),
        None,
    )
    if rival is not None and CORRECTION not in statement.tags:
        return _challenge(statement, rival, f"{claim} had another value at the same time; waiting for review")
    successor = (
        min((value for value in overlapping if effective_from(value) > start), key=effective_from, default=None)
        if is_late
        else None
    )
    others = verdict.other_changes
    if successor is not None:
        atom = atom.with_(valid_until=effective_from(successor), superseded_by=(successor.id,))
        others = (successor.with_(supersedes=(*successor.supersedes, atom.id)), *others[1:])
    to_shorten = [value for value in overlapping if _overlap_in_time(value, atom)]
    shortened_atoms = tuple(
        value.with_(valid_until=max(start, effective_from(value)), superseded_by=(*value.superseded_by, atom.id))
        for value in to_shorten
    )
    atom = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(value.id for value in to_shorten)))
    return (
        replace(verdict, atom=atom, other_changes=(*others, *shortened_atoms)) if to_shorten or successor else verdict
    )


def _overlap_in_time(stored: Atom, atom: Atom) -> bool:
    """Return whether both statements hold at some moment."""
    starts, ends = (stored.valid_until, atom.valid_until), (effective_from(atom), effective_from(stored))
    return all(end is None or start < end for end, start in zip(starts, ends, strict=True))


def _comparison_key(atom: Atom) -> tuple[str, ...]:
    """Return what two duplicates must share: kind, subject, attribute, value and meaningful signs."""
    return (
        atom.kind,
        *_comparable_labels(atom.subject, atom.attribute, atom.value),
        *_find_meaningful_signs(atom.content),
    )


@lru_cache(maxsize=4096)
def _comparable_labels(subject: str, attribute: str | None, value: str | None) -> tuple[str, ...]:
    labels = (normal_form(label or "") or label or "" for label in (subject, attribute))
    return *labels, value_form(value or "")


@lru_cache(maxsize=4096)
def _find_meaningful_signs(content: str) -> tuple[str, ...]:
    return tuple(_MEANINGFUL_SIGNS.findall(content))


def _holds_at_start(stored: Atom, atom: Atom) -> bool:
    """Return whether the stored statement still holds when the new one begins, or begins while it holds."""
    still_holds = stored.valid_until is None or stored.valid_until > effective_from(atom)
    return still_holds and stored.validity.overlaps(atom.validity)


def _confirm_stored(stored: Atom, atom: Atom, now: datetime, reason: str) -> StatementVerdict:
    """Return the verdict that adds the evidence of a repetition, and the agents it names, to the stored statement.

    A repetition by a user also makes its relations more confident.
    """
    confirmed = stored.with_evidence(atom.evidence)
    agents = tuple(dict.fromkeys((*stored.agents, *atom.agents)))
    if confirmed is stored and agents == stored.agents:
        return StatementVerdict(Result.DUPLICATE, stored, (), reason)
    relations = (
        tuple(_reinforce_relation(relation, now) for relation in stored.relations)
        if atom.origin is Origin.HUMAN
        else stored.relations
    )
    confirmed = confirmed.with_(relations=relations, agents=agents)
    return StatementVerdict(Result.DUPLICATE, confirmed, (confirmed,), reason)


def _reinforce_relation(relation: Relation, now: datetime) -> Relation:
    """Return a relation that was seen again, more confident. A guessed contradiction stays a guess."""
    if relation.confidence <= LIKELY_CHANGE_CONFIDENCE and is_uncertain_contradiction(relation):
        return replace(relation, last_reinforced_at=now)
    limit = max(relation.confidence, DOUBTFUL) if is_uncertain_contradiction(relation) else 1.0
    return replace(relation, confidence=min(limit, relation.confidence + STEP), last_reinforced_at=now)


def classify_against_rivals(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> StatementVerdict:
    """Return the verdict on a statement of a claim that has other values of overlapping time."""
    start = effective_from(atom)
    # Another writer may have committed since the clock was read; recorded values are not in the future.
    now = max(now, *(value.recorded_at or now for value in rivals))
    rival = next((value for value in rivals if effective_from(value) == start), None)
    if rival is not None:
        return _challenge(atom, rival, f"{claim} has another value at the same time; waiting for review")
    successor = min(
        (value for value in rivals if effective_from(value) > start),
        key=lambda value: (effective_from(value), value.id),
        default=None,
    )
    if successor is None:
        return _supersede_rivals(atom, rivals, claim, now)
    until = min(atom.valid_until or effective_from(successor), effective_from(successor))
    if effective_from(successor) > now:
        return _supersede_rivals(
            atom.with_(valid_until=until), [value for value in rivals if effective_from(value) < start], claim, now
        )
    superseding = _supersede_rivals(atom, [value for value in rivals if effective_from(value) < start], claim, now)
    earlier = superseding.atom.with_(valid_until=until, status=Status.SUPERSEDED, superseded_by=(successor.id,))
    current_value = successor.with_(supersedes=(*successor.supersedes, atom.id))
    return StatementVerdict(
        Result.SUPERSEDED, earlier, (current_value, *superseding.other_changes), f"{claim} already has a later value"
    )


def _supersede_rivals(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> StatementVerdict:
    """Return the verdict that ends the rivals when the statement begins."""
    start = effective_from(atom)
    status = Status.SUPERSEDED if start <= now else Status.ACTIVE
    ended = tuple(
        rival.with_(
            status=status,
            valid_until=min(
                (effective_from(other) for other in rivals if effective_from(other) > effective_from(rival)),
                default=start,
            ),
            superseded_by=(*rival.superseded_by, atom.id),
        )
        for rival in rivals
    )
    successor = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    reason = f"{claim} changed" if start <= now else f"{claim} will change on {start:%Y-%m-%d}"
    return StatementVerdict(Result.SUPERSEDES if ended else Result.NEW, successor, ended, reason)
