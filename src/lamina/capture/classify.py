"""Classification of a new statement against the existing ones.

It is new, a duplicate, a successor, an older value, or a contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import SEVERAL, Claim, claim_of, value_of
from lamina.atom.pair import LIKELY_CHANGE, is_guess
from lamina.atom.relation import Relation, RelationName
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.current import Current
from lamina.capture.receipt import Result
from lamina.text.alike import say_the_same
from lamina.text.normal import normal_form, value_form

CORRECTION = "correction"
"""The tag of a statement that says that an earlier one was wrong."""
SURE, LIKELY, DOUBTFUL, STEP = 0.9, 0.8, 0.5, 0.05
"""The confidence of a relation that rests on a claim, on shared words or on similarity; and what each repetition
adds."""
_LEAST_WORDS = 3
"""The fewest words of a statement that a longer one can enrich."""
_SIGNS = re.compile(r"(?<=\w)[+#]+|(?<!\w)[-−](?=\d)|%")
"""Signs that change the meaning: C++ is not C, and −5 is not 5."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a statement is to be written, which other atoms change with it, and why."""

    result: Result
    atom: Atom
    others: tuple[Atom, ...]
    reason: str

    @property
    def is_written(self) -> bool:
        """Whether the statement becomes an atom of its own."""
        return self.result not in (Result.DUPLICATE, Result.REFUSED)


def classify(atom: Atom, current: Current, now: datetime) -> Verdict:
    """Return the verdict on a statement, compared with the existing ones of its scope."""
    claim = claim_of(atom)
    duplicate = _same(atom, current)
    if duplicate is not None:
        return _again(duplicate, atom, now, "the same words are already stored")
    retracted = current.ended(atom, claim) if atom.evidence else None
    if retracted is not None:
        return Verdict(
            Result.REFUSED, atom, (), f"{retracted[0].id} said this and was retracted on {retracted[1]:%Y-%m-%d}"
        )
    if claim is not None and claim.single_valued:
        verdict = _in_claim(atom, claim, current, now)
        verdict = _fitted(atom, verdict, current.over(verdict.atom, claim, late=_may_be_late(verdict)), claim)
    else:
        verdict = _beside(atom, current, now)
    return _held(verdict, atom) if atom.status is Status.CONSTRAINED else verdict


def _same(atom: Atom, current: Current) -> Atom | None:
    """Return an existing statement that says the same about the same slot, or None.

    A statement with evidence is also a duplicate of one in nearly the same words.
    """
    for known in current.with_words_of(atom):
        if _slot(known) == _slot(atom) and _meets(known, atom) and _counts_as_much(known, atom):
            return known
    if not atom.evidence:
        return None
    form = current.form(atom)
    similar = (known for known in current.beside(atom) if _slot(known) == _slot(atom) and _meets(known, atom))
    return next(
        (known for known in similar if _counts_as_much(known, atom) and say_the_same(form, current.form(known))), None
    )


def _counts_as_much(known: Atom, atom: Atom) -> bool:
    """Return whether the known statement is not pending, or both are: a pending one makes no trusted one redundant."""
    return known.status is not Status.CONSTRAINED or atom.status is Status.CONSTRAINED


def _in_claim(atom: Atom, claim: Claim, current: Current, now: datetime) -> Verdict:
    """Return the verdict on a statement of a single-valued claim."""
    current_values = current.holders(atom, claim)
    rivals = [holder for holder in current_values if _meets(holder, atom)]
    challenged = _doubted_before(atom, rivals, claim, current) if begins(atom) <= now else []
    if not rivals and not challenged:
        if any(holder.validity.overlaps(atom.validity) for holder in current_values):
            atom = atom.with_(valid_from=begins(atom))
        return Verdict(
            Result.NEW, atom, (), f"another period of {claim}" if current_values else f"first value of {claim}"
        )
    same_value = next((rival for rival in rivals if value_of(rival) == value_of(atom)), None)
    if same_value is not None:
        return _again(same_value, atom, now, f"{claim} already has this value")
    more_trusted = [rival for rival in rivals if current.guard(rival) > current.trust(atom)]
    if more_trusted or atom.status is Status.CONSTRAINED:
        return _doubted(atom, (more_trusted or rivals)[0], f"{claim} has another value; waiting for review")
    if CORRECTION in atom.tags:
        return _correct(atom, [*rivals, *challenged], claim)
    return _against(atom, [*rivals, *challenged], claim, now)


def _doubted_before(atom: Atom, rivals: Sequence[Atom], claim: Claim, current: Current) -> list[Atom]:
    """Return the challenged values of the claim that began before the current ones and that the statement may settle.

    Those of a more trusted origin are not among them.
    """
    if atom.status is not Status.ACTIVE:
        return []
    earliest = min(begins(value) for value in (atom, *rivals))
    return [
        value
        for value in current.doubted(atom, claim)
        if begins(value) < earliest and _meets(value, atom)
        if current.guard(value) <= current.trust(atom)
    ]


def _may_be_late(verdict: Verdict) -> bool:
    """Return whether ended values may begin after the statement does; none do if a current value began before it."""
    is_only_value = verdict.result is Result.NEW and verdict.atom.metadata.get(SEVERAL) != "true"
    return is_only_value or verdict.result is Result.SUPERSEDED


def _beside(atom: Atom, current: Current, now: datetime) -> Verdict:
    """Return the verdict on a statement without rivals: new, or more specific than an existing one."""
    known = _said_with_less(atom, current) if atom.evidence else None
    if known is None:
        return Verdict(Result.NEW, atom, (), "no similar statement is stored")
    relation = Relation(RelationName.ENRICHES, known.id, LIKELY, now)
    return Verdict(Result.ENRICHES, atom.with_(relations=(*atom.relations, relation)), (), f"it adds to {known.id}")


def _said_with_less(atom: Atom, current: Current) -> Atom | None:
    """Return an existing statement of the same kind and subject whose words the statement contains, or None."""
    form = current.form(atom)
    for known in current.beside(atom):
        known_form = current.form(known)
        if known.kind == atom.kind and len(known_form.members) > _LEAST_WORDS and known_form.members < form.members:
            return known
    return None


def _held(verdict: Verdict, atom: Atom) -> Verdict:
    """Return the verdict that holds an untrusted statement for review, whatever it would be otherwise."""
    if not verdict.is_written:
        return verdict
    reason = f"{verdict.reason}; waiting for review: the origin is {atom.origin}"
    return Verdict(Result.HELD, atom.with_(relations=verdict.atom.relations), (), reason)


def _doubted(atom: Atom, rival: Atom, reason: str) -> Verdict:
    """Return the verdict that writes a statement as challenged by its contradiction of another."""
    contradiction = Relation(RelationName.CONTRADICTS, rival.id, SURE)
    challenged = atom.with_(status=Status.CHALLENGED, relations=(*atom.relations, contradiction))
    return Verdict(Result.CHALLENGED, challenged, (), reason)


def _correct(atom: Atom, rivals: Sequence[Atom], claim: Claim) -> Verdict:
    """Return the verdict that invalidates the rivals; the statement then holds from the earliest of their starts."""
    start = min(begins(statement) for statement in (atom, *rivals))
    invalidated = tuple(
        rival.with_(status=Status.INVALIDATED, superseded_by=(*rival.superseded_by, atom.id)) for rival in rivals
    )
    correction = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    return Verdict(Result.SUPERSEDES, correction, invalidated, f"{claim} was wrong")


def _fitted(said: Atom, verdict: Verdict, over: Sequence[Atom], claim: Claim) -> Verdict:
    """Return the verdict with the ended values of the claim shortened, so that no two of them overlap in time."""
    atom, is_late = verdict.atom, verdict.result is Result.SUPERSEDED
    if verdict.result not in (Result.NEW, Result.SUPERSEDES, Result.SUPERSEDED):
        return verdict
    start, decided_ids = begins(atom), {other.id for other in verdict.others}
    overlapping = [value for value in over if value.id not in decided_ids and _shares(value, atom)]
    rival = next((value for value in overlapping if begins(value) == start and value_of(value) != value_of(atom)), None)
    if rival is not None and CORRECTION not in said.tags:
        return _doubted(said, rival, f"{claim} had another value at the same time; waiting for review")
    successor = (
        min((value for value in overlapping if begins(value) > start), key=begins, default=None) if is_late else None
    )
    others = verdict.others
    if successor is not None:
        atom = atom.with_(valid_until=begins(successor), superseded_by=(successor.id,))
        others = (successor.with_(supersedes=(*successor.supersedes, atom.id)), *others[1:])
    to_shorten = [value for value in overlapping if _shares(value, atom)]
    shortened_atoms = tuple(
        value.with_(valid_until=max(start, begins(value)), superseded_by=(*value.superseded_by, atom.id))
        for value in to_shorten
    )
    atom = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(value.id for value in to_shorten)))
    return replace(verdict, atom=atom, others=(*others, *shortened_atoms)) if to_shorten or successor else verdict


def _shares(known: Atom, atom: Atom) -> bool:
    """Return whether both statements hold at some moment."""
    starts, ends = (known.valid_until, atom.valid_until), (begins(atom), begins(known))
    return all(end is None or start < end for end, start in zip(starts, ends, strict=True))


def _slot(atom: Atom) -> tuple[str, ...]:
    """Return what two duplicates must share: kind, subject, attribute, value and meaningful signs."""
    labels = (normal_form(label or "") or label or "" for label in (atom.subject, atom.attribute))
    return atom.kind, *labels, value_form(atom.value or ""), *_SIGNS.findall(atom.content)


def _meets(known: Atom, atom: Atom) -> bool:
    """Return whether the known statement still holds when the new one begins, or begins while it holds."""
    still_holds = known.valid_until is None or known.valid_until > begins(atom)
    return still_holds and known.validity.overlaps(atom.validity)


def _again(known: Atom, atom: Atom, now: datetime, reason: str) -> Verdict:
    """Return the verdict that adds the evidence of a repetition to the known statement.

    A repetition by a user also makes its relations more confident.
    """
    new_evidence = tuple(evidence for evidence in atom.evidence if evidence not in known.evidence)
    if not new_evidence:
        return Verdict(Result.DUPLICATE, known, (), reason)
    relations = (
        tuple(_surer(relation, now) for relation in known.relations) if atom.origin is Origin.HUMAN else known.relations
    )
    confirmed = known.with_(evidence=(*known.evidence, *new_evidence), relations=relations)
    return Verdict(Result.DUPLICATE, confirmed, (confirmed,), reason)


def _surer(link: Relation, now: datetime) -> Relation:
    """Return a relation that was seen again, more confident. A guessed contradiction stays a guess."""
    if link.confidence <= LIKELY_CHANGE and is_guess(link):
        return replace(link, last_reinforced_at=now)
    limit = max(link.confidence, DOUBTFUL) if is_guess(link) else 1.0
    return replace(link, confidence=min(limit, link.confidence + STEP), last_reinforced_at=now)


def _against(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    """Return the verdict on a statement of a claim that has other values of overlapping time."""
    start = begins(atom)
    # Another writer may have committed since the clock was read; recorded values are not in the future.
    now = max(now, *(value.recorded_at or now for value in rivals))
    rival = next((value for value in rivals if begins(value) == start), None)
    if rival is not None:
        return _doubted(atom, rival, f"{claim} has another value at the same time; waiting for review")
    successor = min(
        (value for value in rivals if begins(value) > start), key=lambda value: (begins(value), value.id), default=None
    )
    if successor is None:
        return _succeed(atom, rivals, claim, now)
    until = min(atom.valid_until or begins(successor), begins(successor))
    if begins(successor) > now:
        return _succeed(atom.with_(valid_until=until), [value for value in rivals if begins(value) < start], claim, now)
    superseding = _succeed(atom, [value for value in rivals if begins(value) < start], claim, now)
    earlier = superseding.atom.with_(valid_until=until, status=Status.SUPERSEDED, superseded_by=(successor.id,))
    current_value = successor.with_(supersedes=(*successor.supersedes, atom.id))
    return Verdict(
        Result.SUPERSEDED, earlier, (current_value, *superseding.others), f"{claim} already has a later value"
    )


def _succeed(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    """Return the verdict that ends the rivals when the statement begins."""
    start = begins(atom)
    status = Status.SUPERSEDED if start <= now else Status.ACTIVE
    ended = tuple(
        rival.with_(
            status=status,
            valid_until=min((begins(other) for other in rivals if begins(other) > begins(rival)), default=start),
            superseded_by=(*rival.superseded_by, atom.id),
        )
        for rival in rivals
    )
    successor = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    reason = f"{claim} changed" if start <= now else f"{claim} will change on {start:%Y-%m-%d}"
    return Verdict(Result.SUPERSEDES if ended else Result.NEW, successor, ended, reason)
