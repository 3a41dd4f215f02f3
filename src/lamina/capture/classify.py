"""What a new statement is to those already there: new, the same, its successor, an older value, or a contradiction."""

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
"""The tag of a statement that says an earlier one was wrong."""
SURE, LIKELY, DOUBTFUL, STEP = 0.9, 0.8, 0.5, 0.05
"""How sure a link is that rests on a claim, on shared words or on likeness, and what it gains when seen again."""
_LEAST_WORDS = 3
_SIGNS = re.compile(r"(?<=\w)[+#]+|(?<!\w)[-−](?=\d)|%")
"""Signs that change what the words say: C++ is not C, and −5 is not 5."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the statement is to be written, what else changes with it, and why."""

    result: Result
    atom: Atom
    others: tuple[Atom, ...]
    reason: str

    @property
    def is_written(self) -> bool:
        """Whether the statement becomes an atom of its own."""
        return self.result not in (Result.DUPLICATE, Result.REFUSED)


def classify(atom: Atom, current: Current, now: datetime) -> Verdict:
    """Compare a statement with the current ones of its scope."""
    claim = claim_of(atom)
    same = _same(atom, current)
    if same is not None:
        return _again(same, atom, now, "the same words are there already")
    barred = current.ended(atom, claim) if atom.evidence else None
    if barred is not None:
        return Verdict(Result.REFUSED, atom, (), f"{barred[0].id} said so and was taken back on {barred[1]:%Y-%m-%d}")
    if claim is not None and claim.single_valued:
        verdict = _in_claim(atom, claim, current, now)
        verdict = _fitted(atom, verdict, current.over(verdict.atom, claim, late=_may_be_late(verdict)), claim)
    else:
        verdict = _beside(atom, current, now)
    return _held(verdict, atom) if atom.status is Status.CONSTRAINED else verdict


def _same(atom: Atom, current: Current) -> Atom | None:
    """One that says the same of the same: in the same words or, where it was taken from words, in nearly the same."""
    for word in current.with_words_of(atom):
        if _slot(word) == _slot(atom) and _meets(word, atom) and _counts_as_much(word, atom):
            return word
    if not atom.evidence:
        return None
    form = current.form(atom)
    alike = (each for each in current.beside(atom) if _slot(each) == _slot(atom) and _meets(each, atom))
    return next(
        (each for each in alike if _counts_as_much(each, atom) and say_the_same(form, current.form(each))), None
    )


def _counts_as_much(known: Atom, atom: Atom) -> bool:
    """What waits for review is no reason to leave unsaid what somebody vouches for."""
    return known.status is not Status.CONSTRAINED or atom.status is Status.CONSTRAINED


def _in_claim(atom: Atom, claim: Claim, current: Current, now: datetime) -> Verdict:
    holders = current.holders(atom, claim)
    rivals = [holder for holder in holders if _meets(holder, atom)]
    doubted = _doubted_before(atom, rivals, claim, current) if begins(atom) <= now else []
    if not rivals and not doubted:
        if any(holder.validity.overlaps(atom.validity) for holder in holders):
            atom = atom.with_(valid_from=begins(atom))
        return Verdict(Result.NEW, atom, (), f"another time of {claim}" if holders else f"first value of {claim}")
    agreeing = next((rival for rival in rivals if value_of(rival) == value_of(atom)), None)
    if agreeing is not None:
        return _again(agreeing, atom, now, f"{claim} has that value already")
    trusted = [rival for rival in rivals if current.guard(rival) > current.trust(atom)]
    if trusted or atom.status is Status.CONSTRAINED:
        return _doubted(atom, (trusted or rivals)[0], f"{claim} has another value; a person decides")
    if CORRECTION in atom.tags:
        return _correct(atom, [*rivals, *doubted], claim)
    return _against(atom, [*rivals, *doubted], claim, now)


def _doubted_before(atom: Atom, rivals: Sequence[Atom], claim: Claim, current: Current) -> list[Atom]:
    """What filled the claim before those that fill it now, and is doubted: somebody as trusted says what is so."""
    if atom.status is not Status.ACTIVE:
        return []
    first = min(begins(each) for each in (atom, *rivals))
    return [
        each
        for each in current.doubted(atom, claim)
        if begins(each) < first and _meets(each, atom)
        if current.guard(each) <= current.trust(atom)
    ]


def _may_be_late(verdict: Verdict) -> bool:
    """Whether values that are over may begin after the statement does: where one that holds began before, none do."""
    alone = verdict.result is Result.NEW and verdict.atom.metadata.get(SEVERAL) != "true"
    return alone or verdict.result is Result.SUPERSEDED


def _beside(atom: Atom, current: Current, now: datetime) -> Verdict:
    """A statement without rivals: it may say more than one that stands already."""
    known = _said_with_less(atom, current) if atom.evidence else None
    if known is None:
        return Verdict(Result.NEW, atom, (), "nothing like it was there")
    link = Relation(RelationName.ENRICHES, known.id, LIKELY, now)
    return Verdict(Result.ENRICHES, atom.with_(relations=(*atom.relations, link)), (), f"it says more than {known.id}")


def _said_with_less(atom: Atom, current: Current) -> Atom | None:
    form = current.form(atom)
    for each in current.beside(atom):
        less = current.form(each)
        if each.kind == atom.kind and len(less.members) > _LEAST_WORDS and less.members < form.members:
            return each
    return None


def _held(verdict: Verdict, atom: Atom) -> Verdict:
    """Nobody vouches for it, so it waits for a person as it was said, whatever it would be otherwise."""
    if not verdict.is_written:
        return verdict
    reason = f"{verdict.reason}; waits for review, being the word of {atom.origin}"
    return Verdict(Result.HELD, atom.with_(relations=verdict.atom.relations), (), reason)


def _doubted(atom: Atom, rival: Atom, reason: str) -> Verdict:
    doubt = Relation(RelationName.CONTRADICTS, rival.id, SURE)
    doubted = atom.with_(status=Status.CHALLENGED, relations=(*atom.relations, doubt))
    return Verdict(Result.CHALLENGED, doubted, (), reason)


def _correct(atom: Atom, rivals: Sequence[Atom], claim: Claim) -> Verdict:
    """What stood was never so: the statement takes its place from when it was thought to begin."""
    start = min(begins(each) for each in (atom, *rivals))
    wrong = tuple(
        rival.with_(status=Status.INVALIDATED, superseded_by=(*rival.superseded_by, atom.id)) for rival in rivals
    )
    right = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    return Verdict(Result.SUPERSEDES, right, wrong, f"{claim} was wrong")


def _fitted(said: Atom, verdict: Verdict, over: Sequence[Atom], claim: Claim) -> Verdict:
    """With room made among what is over already: at no moment has a claim two values."""
    atom, late = verdict.atom, verdict.result is Result.SUPERSEDED
    if verdict.result not in (Result.NEW, Result.SUPERSEDES, Result.SUPERSEDED):
        return verdict
    start, decided = begins(atom), {other.id for other in verdict.others}
    meeting = [each for each in over if each.id not in decided and _shares(each, atom)]
    rival = next((each for each in meeting if begins(each) == start and value_of(each) != value_of(atom)), None)
    if rival is not None and CORRECTION not in said.tags:
        return _doubted(said, rival, f"{claim} had another value of the same time; a person decides")
    heir = min((each for each in meeting if begins(each) > start), key=begins, default=None) if late else None
    others = verdict.others
    if heir is not None:
        atom = atom.with_(valid_until=begins(heir), superseded_by=(heir.id,))
        others = (heir.with_(supersedes=(*heir.supersedes, atom.id)), *others[1:])
    cut = [each for each in meeting if _shares(each, atom)]
    shortened = tuple(
        each.with_(valid_until=max(start, begins(each)), superseded_by=(*each.superseded_by, atom.id)) for each in cut
    )
    atom = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(each.id for each in cut)))
    return replace(verdict, atom=atom, others=(*others, *shortened)) if cut or heir else verdict


def _shares(known: Atom, atom: Atom) -> bool:
    """Whether two statements hold at some moment both."""
    starts, ends = (known.valid_until, atom.valid_until), (begins(atom), begins(known))
    return all(end is None or start < end for end, start in zip(starts, ends, strict=True))


def _slot(atom: Atom) -> tuple[str, ...]:
    labels = (normal_form(each or "") or each or "" for each in (atom.subject, atom.attribute))
    return atom.kind, *labels, value_form(atom.value or ""), *_SIGNS.findall(atom.content)


def _meets(known: Atom, atom: Atom) -> bool:
    """Whether what is known still holds when the statement begins, or begins while it holds."""
    lasts = known.valid_until is None or known.valid_until > begins(atom)
    return lasts and known.validity.overlaps(atom.validity)


def _again(known: Atom, atom: Atom, now: datetime, reason: str) -> Verdict:
    """Said once more: what it rests on is added to what the known one rests on, and a person makes its links surer."""
    fresh = tuple(each for each in atom.evidence if each not in known.evidence)
    if not fresh:
        return Verdict(Result.DUPLICATE, known, (), reason)
    links = (
        tuple(_surer(relation, now) for relation in known.relations) if atom.origin is Origin.HUMAN else known.relations
    )
    backed = known.with_(evidence=(*known.evidence, *fresh), relations=links)
    return Verdict(Result.DUPLICATE, backed, (backed,), reason)


def _surer(link: Relation, now: datetime) -> Relation:
    """A link seen again. A contradiction guessed from likeness stays a guess, however often one side is repeated."""
    if link.confidence <= LIKELY_CHANGE and is_guess(link):
        return replace(link, last_reinforced_at=now)
    most = max(link.confidence, DOUBTFUL) if is_guess(link) else 1.0
    return replace(link, confidence=min(most, link.confidence + STEP), last_reinforced_at=now)


def _against(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
    start = begins(atom)
    # Somebody quicker may have written since the clock was read: what is recorded is not in the future.
    now = max(now, *(each.recorded_at or now for each in rivals))
    rival = next((each for each in rivals if begins(each) == start), None)
    if rival is not None:
        return _doubted(atom, rival, f"{claim} has another value of the same time; a person decides")
    heir = min(
        (each for each in rivals if begins(each) > start), key=lambda each: (begins(each), each.id), default=None
    )
    if heir is None:
        return _succeed(atom, rivals, claim, now)
    until = min(atom.valid_until or begins(heir), begins(heir))
    if begins(heir) > now:
        return _succeed(atom.with_(valid_until=until), [each for each in rivals if begins(each) < start], claim, now)
    made_way = _succeed(atom, [each for each in rivals if begins(each) < start], claim, now)
    late = made_way.atom.with_(valid_until=until, status=Status.SUPERSEDED, superseded_by=(heir.id,))
    known = heir.with_(supersedes=(*heir.supersedes, atom.id))
    return Verdict(Result.SUPERSEDED, late, (known, *made_way.others), f"{claim} already has a later value")


def _succeed(atom: Atom, rivals: Sequence[Atom], claim: Claim, now: datetime) -> Verdict:
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
    heir = atom.with_(valid_from=start, supersedes=(*atom.supersedes, *(rival.id for rival in rivals)))
    reason = f"{claim} changed" if start <= now else f"{claim} will change on {start:%Y-%m-%d}"
    return Verdict(Result.SUPERSEDES if ended else Result.NEW, heir, ended, reason)
