"""What a statement is said to rest on: "I rent berth 12 because the boat is kept on the lake".

The condition is a statement too, with a sentence of its own or a part of the same one; the claim is linked to it, so
that it is doubted when the condition no longer holds. A reason that happened once ("Dr Hale retired, so …") is a cause
and no condition: it cannot cease to hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.atom.trust import statements_wait
from lamina.capture.change.items import ME, Item, items
from lamina.capture.change.known import STANDS, Known
from lamina.capture.found import Said
from lamina.capture.rules.classes import is_pasted, sort_of
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.closed import word_set
from lamina.text.frames import Form, Frame, Subject, frame
from lamina.text.normal import one_line
from lamina.text.roles import is_assistant, is_role
from lamina.text.sentences import sentences
from lamina.text.tokens import TokenKind, tokens

SAID_SO = 0.9
"""How sure a link is that somebody states."""
SHARED = 0.6
"""A statement states a condition if it holds so much of its words, by weight."""
LOOKED_AT = 40
LATE = 0.85
LONGEST = 400

Span = tuple[int, int]

_LINK = (
    r"because(?! of)|(?:and )?the reason(?: for that)? is(?: that)?|as long as|so long as|for as long as|"
    r"given(?: that)?|provided(?: that)?|on condition that|"
    r"seeing that|on the grounds that|only while|only as long as|inasmuch as"
)
_NOUN_LINK = r"because of|due to|owing to|thanks to|on account of"
_RESTS = (
    r"(?:depends?|hinges?|relies|rely|rests?|is based|are based|is conditional|are conditional|is contingent|"
    r"counts?) (?:up)?on|holds? (?:only )?(?:while|as long as|so long as|if)|stands? or falls? with|is tied to|are "
    r"tied to|is down to|presupposes?"
)
_FORWARD = re.compile(rf"[\s,;–—(]+(?P<link>{_LINK}|{_NOUN_LINK})\s+", re.IGNORECASE)
_SINCE = re.compile(r"[\s,;–—]+(?P<link>since|as)\s+(?=(?:the|my|our|we|i|it|they|he|she|there|[A-Z])\b)")
_THAT_RESTS = re.compile(
    rf"[\s,;–—(]+(?:and |but |all of )?(?:that|which|this|it)(?: all| really| only| just)? (?:{_RESTS})\s+"
    r"(?:the fact that )?",
    re.IGNORECASE,
)
_ITSELF_RESTS = re.compile(rf"\s(?:{_RESTS})\s+(?:the fact that )?", re.IGNORECASE)
_FRONTED = re.compile(
    rf"^\W*(?:{_LINK}|{_NOUN_LINK}|since|while|as)\s+(?P<condition>[^,;]+),\s*(?P<claim>.+)$", re.IGNORECASE
)
_BACKWARD = re.compile(
    r"(?:[,;–—]\s*|\.\s+)(?:and )?(?:so(?! that| far| much| many)|that['’]s why|that is why|which is why|hence|"
    r"therefore|thus|for that reason)\s+(?:that\s+)?",
    re.IGNORECASE,
)
_NEXT_WHY = re.compile(
    r"^\W*(?:that['’]s why|that is why|this is why|which is why|hence|therefore|so|because of that|for that "
    r"reason)[\s,]+",
    re.IGNORECASE,
)
_NEXT_RESTS = re.compile(
    rf"^\W*(?:that|this|it|all of that)(?: all| really| only| just)? (?:{_RESTS})\s+(?:the fact that )?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Condition:
    """Where a claim stands and what it rests on, as characters of a text. `stated`: as a clause of its own."""

    claim: Span
    condition: Span
    stated: bool


def conditions(text: str) -> list[Condition]:
    """The conditions that a turn states, within its sentences and from one to the next."""
    found: list[Condition] = []
    spans = [each for each in sentences(text) if each[1] - each[0] <= LONGEST]
    for at, (start, end) in enumerate(spans):
        own = _across(text, spans[at - 1], (start, end)) if at else None
        own = own or _within(text, start, end)
        if own is not None and _stands(text, own):
            found.append(own)
    return found


def _within(text: str, start: int, end: int) -> Condition | None:
    said = text[start:end]
    if fronted := _FRONTED.match(said):
        claim, condition = fronted.span("claim"), fronted.span("condition")
        return _condition(text, start, claim, condition) if _clause(said, condition) else None
    for pattern in (_THAT_RESTS, _FORWARD):
        if found := pattern.search(said):
            return _condition(text, start, (0, found.start()), (found.end(), len(said)))
    if (found := _SINCE.search(said)) and _clause(said, (found.end(), len(said))):
        return _condition(text, start, (0, found.start()), (found.end(), len(said)))
    if found := _BACKWARD.search(said):
        if _clause(said, (0, found.start())):
            return _condition(text, start, (found.end(), len(said)), (0, found.start()))
        return None
    if found := _ITSELF_RESTS.search(said):
        return _condition(text, start, (0, found.start()), (found.end(), len(said)))
    return None


def _across(text: str, before: Span, here: Span) -> Condition | None:
    """What a sentence and the one before it state together: "The van is Ottavia's. That's why we load at four."."""
    said = text[here[0] : here[1]]
    if found := _NEXT_RESTS.match(said):
        return _condition(text, 0, before, (here[0] + found.end(), here[1]))
    if (found := _NEXT_WHY.match(said)) and _clause(text, before):
        return _condition(text, 0, (here[0] + found.end(), here[1]), before)
    return None


def _condition(text: str, offset: int, claim: Span, condition: Span) -> Condition:
    ends = text[offset + condition[0] : offset + condition[1]].rstrip(" .!,;)")
    own = (offset + condition[0], offset + condition[0] + len(ends))
    clause = _clause(text, own)
    return Condition((offset + claim[0], offset + claim[1]), own, clause is not None and not clause.negated)


def _clause(text: str, span: Span) -> Frame | None:
    return frame(tokens(text[span[0] : span[1]]))


def _stands(text: str, found: Condition) -> bool:
    """Whether both parts are said to hold: a question, a guess and something that happened once are left out."""
    claim, condition = (text[a:b] for a, b in (found.claim, found.condition))
    if not sort_of(claim).asserts or not sort_of(condition).asserts or text[found.claim[1] : found.claim[1] + 1] == "?":
        return False
    told = _clause(text, found.condition)
    happened = told is not None and told.form in (Form.PAST, Form.PERFECT) and told.verb != "be" and not told.passive
    done = told is not None and told.form is Form.PAST and told.passive
    ahead = told is not None and told.form in (Form.FUTURE, Form.MODAL)
    felt = told is not None and (told.verb in _FELT or told.kind is Subject.PRONOUN)
    felt = felt or _MINDED.search(claim) is not None or _MINDED.search(condition) is not None
    return not (happened or done or ahead or felt) and bool(_words(condition)) and bool(_words(claim))


_MINDED = re.compile(
    r"\b(?:interested|concerned|excited|curious|worried|looking (?:for|to|into|forward)|planning|thinking|"
    r"considering|hoping|trying|wondering|perfect for|convenient|great|amazing)\b",
    re.IGNORECASE,
)
_FELT = word_set("""
    feel think want love like enjoy know believe hope need find mean see seem guess prefer wish hate understand
    appreciate try remember hear wonder look sound help
""")


def _words(text: str) -> list[Item]:
    return [each for each in items(text) if each.root != ME]


class Conditions:
    """Links claims to what they are said to rest on."""

    def __init__(self, known: Known, ids: Iterator[AtomId], now: datetime) -> None:
        self._known, self._ids, self._now = known, ids, now

    def read(self, turns: Sequence[Said]) -> None:
        """Link what people say in these turns."""
        for turn in turns:
            segment = self._known.get(AtomId(turn.segment))
            if segment is None or is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text):
                continue
            for each in conditions(turn.text):
                self._link(each, turn, segment)

    def _link(self, found: Condition, turn: Said, segment: Atom) -> None:
        claim = self._claim(found, turn, segment)
        if claim is None:
            return
        here = Evidence(turn.segment, turn.n, *found.condition)
        grounds = [self._resting(each, here) for each in self._grounds(found, turn) if each.id != claim.id]
        if not grounds and found.stated and (claim.revision or claim.value or _is_particular(claim.content)):
            grounds = [self._made(found.condition, turn, segment)]
        own = {each.target for each in claim.relations} | set(claim.supersedes) | set(claim.superseded_by)
        fresh = [
            each for each in grounds if each.id not in own and claim.id not in {link.target for link in each.relations}
        ]
        links = (Relation(RelationName.DEPENDS_ON, each.id, SAID_SO, self._now) for each in fresh)
        if fresh:
            self._known.put(claim.with_(relations=(*claim.relations, *links)))

    def _resting(self, ground: Atom, here: Evidence) -> Atom:
        """A statement that is said again as a condition rests on that too."""
        last = self._known.get(ground.id) or ground
        if here in last.evidence or not last.evidence:
            return last
        backed = last.with_(evidence=(*last.evidence, here))
        self._known.put(backed)
        return backed

    def _claim(self, found: Condition, turn: Said, segment: Atom) -> Atom | None:
        """The statement of the claim; made of its words where there is none."""
        claim, condition = ({each.root for each in _words(turn.text[a:b])} for a, b in (found.claim, found.condition))
        place = Evidence(turn.segment, turn.n, *found.claim)
        resting = [each for each in self._known.on(place) if each.status in STANDS and not each.is_episode]

        def share(atom: Atom) -> float:
            said = {each.root for each in _words(atom.content)}
            return len(said & claim) / (len(claim) or 1) - (
                0.5 * len(said & (condition - claim)) / (len(condition - claim) or 1)
            )

        best = max(resting, key=lambda each: (share(each), each.id), default=None)
        if best is not None and share(best) > 0:
            return best
        own = turn.text[found.claim[0] : found.claim[1]]
        return self._made(found.claim, turn, segment) if len(claim) > 1 and _is_particular(own) else None

    def _grounds(self, found: Condition, turn: Said) -> Iterator[Atom]:
        """The statements that state a condition: they hold most of its words, or its name and its verb."""
        text = turn.text[found.condition[0] : found.condition[1]]
        wanted = _words(text)
        tokens_ = [each for each in analyse(text) if each not in QUESTION_STOP]
        claim = Evidence(turn.segment, turn.n, *found.claim)
        for atom, passage in self._known.search(tokens_, STANDS, LOOKED_AT):
            if not atom.is_segment:
                if not atom.evidence and _states(atom.content, wanted) and not atom.is_episode and atom.is_searched:
                    yield atom
                continue
            if is_assistant(passage.speaker) or statements_wait(atom.origin) or is_pasted(passage.text):
                continue
            said = Said(atom.id, passage.n, passage.text, passage.speaker, passage.at or atom.observed_at)
            yield from self._stating(said, atom, wanted, claim)
        segment = self._known.get(AtomId(turn.segment))
        if segment is not None:
            yield from self._stating(turn, segment, wanted, claim)

    def _stating(self, said: Said, segment: Atom, wanted: Sequence[Item], claim: Evidence) -> Iterator[Atom]:
        for start, end in sentences(said.text):
            at = Evidence(said.segment, said.n, start, end)
            own = (
                (at.segment, at.passage) == (claim.segment, claim.passage)
                and at.start < claim.end
                and claim.start < at.end
            )
            if own or not _states(said.text[start:end], wanted) or not self._known.holds(at):
                continue
            if not sort_of(said.text[start:end]).asserts:
                continue
            stated = [each for each in self._known.on(at) if each.status in STANDS and not each.is_episode]
            best = [each for each in stated if _states(each.content, wanted)]
            yield from best or ([] if stated else [self._made((start, end), said, segment)])

    def _made(self, span: Span, turn: Said, segment: Atom) -> Atom:
        """A statement in the very words of a part of a turn."""
        text = one_line(turn.text[span[0] : span[1]]).rstrip(" .,;")
        speaker = turn.speaker if turn.speaker and not is_role(turn.speaker) else "user"
        made = Atom(
            id=next(self._ids), scope=segment.scope, kind="fact", content=f"{text[:1].upper()}{text[1:]}.",
            observed_at=turn.at, subject=speaker, evidence=(Evidence(turn.segment, turn.n, *span),),
            origin=segment.origin, principal=segment.principal, session_id=segment.session_id,
            source_id=segment.source_id, agents=segment.agents, confidence=LATE,
            **kind_defaults("fact", LATE, segment.origin),
        )  # fmt: skip
        self._known.put(made)
        return made


def _is_particular(text: str) -> bool:
    """Whether a clause is about something of its own and names a number, a place or a person."""
    told = frame(tokens(text))
    if (
        told is None
        or told.kind is Subject.PRONOUN
        or told.verb in _FELT
        or told.form not in (Form.PRESENT, Form.PROGRESSIVE)
    ):
        return False
    return any(each.is_typed for each in _words(text))


def _states(text: str, wanted: Sequence[Item]) -> bool:
    said = {each.root for each in _words(text)}
    whole = sum(each.weight for each in wanted)
    shared = [each for each in wanted if each.root in said]
    if not shared or not any(each.is_key for each in shared):
        return False
    typed = [each for each in wanted if each.kind is not TokenKind.WORD]
    if typed and not any(each.root in said for each in typed):
        return False
    return sum(each.weight for each in shared) >= SHARED * whole
