"""The claim grammar: which slot a clause fills, by the shape of the clause and the type of what fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from lamina.capture.rules.dates import Resolved
from lamina.capture.rules.nouns import agent, at_word, by_type, key_of, names_one, relation_of, typed_part
from lamina.capture.rules.occasions import is_event
from lamina.capture.rules.phrases import (
    agrees,
    is_duration,
    is_infinitive,
    is_inner_colon,
    is_second_verb,
    is_verbal,
    joins_names,
)
from lamina.capture.rules.slots import Slot
from lamina.capture.rules.vague import NEUTRAL
from lamina.capture.rules.values import is_sound
from lamina.text.closed import (
    ADVERBS,
    FUNCTION_WORDS,
    KIN,
    NUMBER_WORDS,
    PEOPLE,
    PETS,
    PREPOSITIONS,
    word_set,
)
from lamina.text.frames import Form, Frame, Subject
from lamina.text.normal import one_line
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import KNOWN, base_form, is_past

_HOME = word_set("live reside move relocate settle base dwell")
_JOB = word_set("work join hire employ start")
_TAKEN_AWAY = word_set("sell quit leave drop cancel lose abandon stop")
_TIMED = word_set("be fall move shift change push reschedule postpone happen take set schedule")
_TO_VERBS = word_set("switch change move migrate upgrade convert shift port transfer downgrade rename raise lower swap")
_LIKES = word_set("love like enjoy adore favour favor")
_DISLIKES = word_set("hate dislike avoid detest loathe despise")
_LISTED = {"speak": "language", "own": "owns", "visit": "visited", "play": "hobby", "collect": "hobby", "use": "tool"}
_CONTACTS = {TokenKind.EMAIL: "email", TokenKind.PHONE: "phone", TokenKind.URL: "website"}
_ENDS = word_set(
    "because since but who which that when while as if so where whose though although until unless and from"
)
_TRAILING = ADVERBS | {"instead", "anymore", "days", "these", "again", "nowadays", "any", "more", "from", "right"}
_SUCCEEDS = word_set("replace take succeed become serve act follow work step")
_LONGEST_VALUE = 9
_TRADES = tuple(
    word_set("er or ist ian ant ent man woman nurse chef cook coach clerk judge pilot smith wright yst eon eur")
)
_GATHERINGS = word_set("""
    program programme gym club class group course church forum tournament league band choir workshop community society
    platform challenge team
""")
_AMOUNTS = word_set("lot bunch ton couple few bit feeling chance blast")
_NO_CLAIMS = word_set("go get take pass have make come move feel seem start keep give do bring put say know think")
_CONTACT_NOUNS = word_set("phone number email e-mail mail address mailbox mobile cell telephone line")


def slot_of(sentence: str, frame: Frame, speaker: str, days: Sequence[Resolved]) -> Slot | None:
    """The slot a clause fills, if its grammar tells one."""
    if frame.negated:
        return None
    reader = _Reader(sentence, frame, speaker, days)
    slots = [slot for part in _predicates(frame) if (slot := reader.slot(part))]
    return next((slot for slot in reversed(slots) if slot.value and is_sound(slot)), None)


@dataclass(frozen=True, slots=True)
class _Predicate:
    """A verb and what follows it, up to the next verb of the same subject."""

    verb: str
    past: bool
    passive: bool
    rest: tuple[Token, ...]


def _predicates(frame: Frame) -> list[_Predicate]:
    found: list[_Predicate] = []
    verb, past, passive = frame.verb, frame.form is Form.PAST, frame.passive
    start = 0
    for at, token in enumerate(frame.rest[:-1]):
        after = frame.rest[at + 1]
        joined = token.lower in ("and", "but") and after.kind is TokenKind.WORD and agrees(after.lower, frame.form)
        if joined and is_second_verb(after.lower):
            found.append(_Predicate(verb, past, passive, frame.rest[start:at]))
            verb, past, passive = base_form(after.lower) or after.lower, is_past(after.lower), False
            start = at + 2
    return [*found, _Predicate(verb, past, passive, frame.rest[start:])]


class _Reader:
    """Reads the slot of one predicate after another of the same clause."""

    def __init__(self, sentence: str, frame: Frame, speaker: str, days: Sequence[Resolved]) -> None:
        self._sentence = sentence
        self._frame = frame
        self._speaker = speaker
        self._days = days

    def slot(self, part: _Predicate) -> Slot | None:
        rest = [token for token in part.rest if not any(days.start <= token.start < days.end for days in self._days)]
        contact = next((token for token in rest if token.kind in _CONTACTS), None)
        if (
            self._days
            and not part.past
            and not any(token.kind is not TokenKind.MARK and token.lower not in PREPOSITIONS for token in rest)
        ):
            return self._on_a_day(part)
        if contact is not None:
            return self._contact(contact)
        if self._frame.kind is Subject.SPEAKER:
            return self._of_speaker(part, rest)
        return self._of_thing(part, rest)

    def _on_a_day(self, part: _Predicate) -> Slot | None:
        """ "My passport expires on 3 May": the day itself is the value."""
        first = self._days[0]
        said = self._sentence[first.start : first.end]
        value = said.partition(" ")[2] if said.lower().startswith(("on ", "in ", "at ")) else said
        if self._frame.kind is Subject.SPEAKER:
            return None
        return (
            Slot(self._thing(), "date" if part.verb in _TIMED else f"{part.verb} date", one_line(value))
            if value
            else None
        )

    def _contact(self, contact: Token) -> Slot:
        words = [word for word in key_of(self._frame.subject).split() if word not in _CONTACT_NOUNS]
        owned = self._frame.kind in (Subject.SPEAKER, Subject.OWNED) and not words
        told_of_me = any(token.lower in ("me", "us") for token in self._frame.rest)
        return Slot(
            self._speaker if owned or told_of_me or not words else " ".join(words),
            _CONTACTS[contact.kind],
            contact.text,
        )

    def _of_speaker(self, part: _Predicate, rest: Sequence[Token]) -> Slot | None:
        verb, first = part.verb, rest[0].lower if rest else ""
        me = self._speaker
        if verb in _HOME and first in ("in", "to", "at", "near", "on") and (verb != "base" or part.passive):
            return self._filled(me, "home", rest[1:])
        if verb in _JOB and (first in ("at", "for", "by") or verb == "join") and not (part.past and verb == "work"):
            return self._employed(verb, rest)
        if verb == "work" and first == "as":
            return self._filled(me, "job", rest[1:])
        if verb == "bear" and part.passive:
            return self._filled(me, "birthplace", rest[1:]) if first == "in" else None
        if verb == "be":
            return self._being(rest)
        if verb == "report" and first == "to":
            return self._filled(me, "manager", rest[1:])
        if verb in _LIKES | _DISLIKES and not part.past:
            return self._filled(me, "like" if verb in _LIKES else "dislike", rest)
        if verb == "prefer":
            return self._preferred(rest)
        if verb in _LISTED and not part.past and self._frame.form is not Form.PERFECT and rest:
            return self._filled(me, _LISTED[verb], rest)
        if verb in ("have", "get") and first in ("a", "an") and not part.past:
            return self._having(rest)
        if verb in _TAKEN_AWAY:
            return None
        if verb in _TO_VERBS and (to := at_word(rest, "to")):
            return self._switched(rest, to)
        return self._counted(part, rest) or self._placed(part, rest)

    def _employed(self, verb: str, rest: Sequence[Token]) -> Slot | None:
        """ "I joined Acme Tiles", "I joined the team at Acme Tiles"; a club or a course one joins employs nobody."""
        if verb != "join":
            lasting = at_word(rest[1:], "for")
            return self._filled(self._speaker, "employer", rest[1:] if lasting is None else rest[1 : lasting + 1])
        at = at_word(rest[:5], "at")
        if at is not None and rest[at + 1].kind is TokenKind.NAME:
            return self._filled(self._speaker, "employer", rest[at + 1 :])
        firm = rest[0].kind is TokenKind.NAME or (rest[0].lower == "the" and rest[1:2] and rest[1].is_typed)
        gathers = any(token.lower in _GATHERINGS for token in self._span(rest))
        return self._filled(self._speaker, "employer", rest) if firm and not gathers else None

    def _being(self, rest: Sequence[Token]) -> Slot | None:
        words = [token.lower for token in rest]
        me = self._speaker
        if not words:
            return None
        if rest[0].kind is TokenKind.NUMBER and (len(words) == 1 or words[1] == "years"):
            return self._filled(me, "age", rest[:1])
        if words[0] in ("called", "named"):
            return self._filled(me, "name", rest[1:])
        if words[:2] == ["allergic", "to"]:
            return self._filled(me, "allergy", rest[2:])
        if words[0] == "from":
            return self._filled(me, "origin", rest[1:])
        if words[:2] in (["married", "to"], ["engaged", "to"]):
            return self._filled(me, "partner", rest[2:])
        if words[0] in ("married", "single", "divorced", "engaged", "widowed"):
            return self._filled(me, "marital status", rest[:1])
        if words[0] in ("vegan", "vegetarian", "pescatarian"):
            return self._filled(me, "diet", rest[:1])
        if words[0] in ("a", "an") and len(words) > 1:
            noun = self._span(rest[1:])
            return self._filled(me, "job", rest) if noun and noun[-1].lower.endswith(_TRADES) else None
        if words[0] == "on" and len(words) > 1:
            return self._filled(me, f"on {words[-1]}", rest)
        return None

    def _preferred(self, rest: Sequence[Token]) -> Slot | None:
        if rest and rest[0].lower.endswith("ing") and len(rest) > 1 and rest[1].lower in PREPOSITIONS:
            return self._filled(self._speaker, f"preferred {rest[0].lower}", rest[1:])
        return self._filled(self._speaker, "like", rest)

    def _having(self, rest: Sequence[Token]) -> Slot | None:
        noun = self._span(rest)
        if self._days or is_event(noun) or rest[1].lower in _AMOUNTS:
            return None
        if noun and any(token.lower in PETS for token in noun):
            return self._filled(self._speaker, "pet", rest)
        return self._filled(self._speaker, "owns", rest)

    def _switched(self, rest: Sequence[Token], to: int) -> Slot | None:
        """ "I switched the south plot to sweet peas": what was switched is the subject."""
        thing = key_of(rest[:to])
        value = self._span(rest[to + 1 :])
        if not value:
            return None
        if not thing or len(thing.split()) > 4:
            return self._filled(self._speaker, "use", rest[to + 1 :])
        return self._filled(thing, by_type(value) or "run on", rest[to + 1 :])

    def _counted(self, part: _Predicate, rest: Sequence[Token]) -> Slot | None:
        """ "We bake 120 loaves a day": the noun counted is the key."""
        if part.past:
            return None
        for at, token in enumerate(rest[:3]):
            if token.kind in (TokenKind.NUMBER, TokenKind.MONEY) or (
                token.lower in NUMBER_WORDS and token.lower != "one"
            ):
                following = takewhile(lambda each: each.lower not in FUNCTION_WORDS, rest[at + 1 : at + 4])
                nouns = [
                    (step, each.lower)
                    for step, each in enumerate(following)
                    if each.kind is TokenKind.WORD and each.lower not in NEUTRAL
                ]
                if token.kind is TokenKind.MONEY:
                    return self._filled(self._speaker, f"{part.verb} amount", rest[at : at + 1])
                if nouns:
                    step, noun = nouns[0]
                    return self._filled(self._speaker, f"{part.verb} {noun}", rest[at : at + 2 + step])
        return None

    def _placed(self, part: _Predicate, rest: Sequence[Token]) -> Slot | None:
        """ "I train at Northside", "I buy my twine at Corner Cycles": verb or object and preposition are the key."""
        if part.past:
            return None
        for at, token in enumerate(rest[:6]):
            if token.lower in ("at", "in", "from", "with", "for", "on", "under") and at + 1 < len(rest):
                named = rest[at + 1].is_typed or (at + 2 < len(rest) and rest[at + 2].is_typed)
                thing = key_of(rest[:at]).rpartition(" and ")[2]
                led = any(each.lower in PREPOSITIONS for each in rest[:at])
                plain = self._frame.form is Form.PRESENT and len(thing.split()) <= 2 and not led
                if named or (thing and at >= 2 and plain):
                    return self._filled(self._speaker, f"{thing or part.verb} {token.lower}", rest[at + 1 :])
        return None

    def _of_thing(self, part: _Predicate, rest: Sequence[Token]) -> Slot | None:
        if not rest:
            return None
        value = self._span(rest)
        subject = self._frame.subject
        if (part.verb == "be" and not part.passive) or (part.verb in ("call", "name") and part.passive):
            return self._copula(rest, value)
        if part.passive:
            return self._passive(part, rest)
        if key := by_type(value):
            if part.verb == "cost":
                key = "price"
            elif part.verb == "get" and base_form(rest[0].lower) not in _TIMED:
                return None
            elif key in ("time", "date") and part.verb not in _TIMED | {"get"}:
                key = f"{part.verb} {key}"
            return self._filled(self._thing(), key, typed_part(rest))
        if self._is_person() and part.verb in _HOME and rest[0].lower in ("in", "to", "at"):
            return self._filled(self._thing(), "home", rest[1:])
        if self._is_person() and part.verb in _JOB and rest[0].lower in ("at", "for"):
            return self._filled(self._thing(), "employer", rest[1:])
        if rest[0].lower in PREPOSITIONS:
            return self._filled(self._thing(), f"{part.verb} {rest[0].lower}", rest[1:])
        if names_one(subject) and (role := self._role(rest)):
            return Slot(self._speaker, role, self._text(subject))
        does = names_one(subject) and self._frame.kind is not Subject.OWNED and part.verb not in _LISTED
        if does and rest[0].lower in ("the", "our", "my") and key_of(value):
            return Slot(key_of(value), agent(part.verb), self._text(subject))
        indefinite = rest[0].lower in ("a", "an")
        weak = part.verb in _NO_CLAIMS and not any(token.is_typed for token in value)
        weak = (weak and not (part.verb == "have" and indefinite)) or (indefinite and (part.past or is_event(value)))
        return None if weak else self._filled(self._thing(), part.verb, rest)

    def _role(self, rest: Sequence[Token]) -> str | None:
        """The post somebody takes: "Hugo replaced Marta as stage manager"."""
        at = at_word(rest, "as")
        if at is None or self._frame.verb not in _SUCCEEDS:
            return None
        return key_of(self._span(rest[at + 1 :])) or None

    def _copula(self, rest: Sequence[Token], value: Sequence[Token]) -> Slot | None:
        subject, kind = self._frame.subject, self._frame.kind
        words = [token.lower for token in rest]
        if words[:1] == ["where"] and "live" in words:
            return Slot(self._speaker, "home", self._text(subject))
        if len(words) > 2 and words[0] in ("where", "who", "what", "how", "when") and words[1] in ("i", "we"):
            end = f" {words[-1]}" if words[-1] in PREPOSITIONS else ""
            return Slot(self._speaker, f"{base_form(words[2]) or words[2]}{end}", self._text(subject))
        if words[0] in ("my", "our") and kind is Subject.DEFINITE and not names_one(subject):
            return self._filled(self._speaker, key_of(subject), rest)
        if words[0] in ("my", "our") or (names_one(subject) and words[0] == "the" and kind is not Subject.OWNED):
            key = relation_of(key_of(value))
            return Slot(self._speaker, key, self._text(subject)) if key and len(key.split()) <= 4 else None
        if typed := by_type(value):
            return self._filled(self._thing(), typed, typed_part(rest))
        if words[0] == "to" and len(words) > 1 and words[1] in KNOWN:
            return None
        if rest[0].lower in PREPOSITIONS or rest[0].lower in ADVERBS:
            return self._filled(self._thing(), "status", rest)
        named = any(token.kind is TokenKind.NAME for token in value)
        if kind is Subject.OWNED and not self._kin_named() and (named or not self._is_person()):
            key = relation_of(key_of(subject))
            return self._filled(self._speaker, key, rest) if key else None
        if named and kind in (Subject.DEFINITE, Subject.BARE):
            return self._filled(self._speaker, key_of(subject), rest)
        if names_one(subject) and kind is Subject.BARE and value and not any(token.is_typed for token in value):
            return (
                Slot(self._speaker, key_of(value), self._text(subject))
                if " our " in f" {' '.join(words)} "
                else self._filled(self._thing(), "is", rest)
            )
        return self._filled(self._thing(), "is" if words[0] in ("a", "an") else "status", rest)

    def _passive(self, part: _Predicate, rest: Sequence[Token]) -> Slot | None:
        by = at_word(rest, "by")
        if by is not None and by <= 1 and rest[by + 1].lower in ("a", "an"):
            return None
        if by is not None and by <= 1:
            return self._filled(self._thing(), agent(part.verb), rest[by + 1 :])
        prep = rest[0].lower
        value = self._span(rest[1:])
        if part.verb in _NO_CLAIMS - {"take", "move", "put"} and not any(token.is_typed for token in value):
            return None
        if prep in PREPOSITIONS and value:
            key = by_type(value)
            return self._filled(
                self._thing(),
                key if key in ("date", "time", "price") and part.verb in _TO_VERBS | _TIMED else f"{part.verb} {prep}",
                rest[1:],
            )
        return None

    def _thing(self) -> str:
        names = [token.text for token in self._frame.subject if token.kind is TokenKind.NAME]
        if names and (self._frame.kind is Subject.NAMED or self._kin_named()):
            return " ".join(names)
        if (
            self._frame.kind is Subject.BARE
            and len(self._frame.subject) == 1
            and self._frame.subject[0].text[0].isupper()
        ):
            return key_of(self._frame.subject)
        key = key_of(self._frame.subject)
        kin = self._frame.kind is Subject.OWNED and any(word in PEOPLE or word in PETS for word in key.split())
        return f"{self._speaker}'s {key}" if kin else key or self._speaker

    def _is_person(self) -> bool:
        words = key_of(self._frame.subject).split()
        return (
            self._frame.kind is Subject.NAMED or any(word in PEOPLE for word in words) or names_one(self._frame.subject)
        )

    def _kin_named(self) -> bool:
        return any(token.lower in KIN or token.lower in PEOPLE for token in self._frame.subject) and any(
            token.kind is TokenKind.NAME for token in self._frame.subject
        )

    def _filled(self, subject: str, attribute: str, rest: Sequence[Token], *, typed: bool = False) -> Slot | None:
        span = self._span(rest)
        if all(token.lower in FUNCTION_WORDS for token in span) or self._is_cut(rest, span):
            return None
        while span[0].lower in ("my", "our") and len(span) > 1:
            span = span[1:]
        if not attribute or not subject or (typed and not any(token.is_typed for token in span)):
            return None
        return Slot(one_line(subject), attribute, self._text(span))

    def _is_cut(self, rest: Sequence[Token], span: Sequence[Token]) -> bool:
        """Whether the value goes on after the words taken: it was too long, a list, or told by a clause of its own."""
        after = [token for token in rest if token.start > span[-1].start]
        if len(span) >= _LONGEST_VALUE and after and not after[0].is_mark:
            return True
        if after and after[0].lower == "of":
            return True
        if not after or self._frame.kind is not Subject.SPEAKER:
            return False
        if after[0].lower in ("from", "who", "which", "that", "when", "where", "if", "while"):
            return True
        return after[0].text == "," and any(token.lower in ("and", "or") for token in after[2:])

    def _span(self, rest: Sequence[Token]) -> list[Token]:
        """The words of a value: up to a stop, a joining word or a day, without adverbs at the end."""
        span: list[Token] = []
        for at, token in enumerate(rest):
            if span and is_infinitive(rest, at) and not is_verbal(span[0]):
                break
            if span and is_duration(rest, at):
                break
            if (token.is_mark and token.text not in "-/&'+%#\"“”" and not is_inner_colon(rest, at)) or (
                span and token.lower in _ENDS and not joins_names(rest, token, self._frame.form)
            ):
                break
            if any(days.start <= token.start < days.end for days in self._days):
                break
            span.append(token)
            if len(span) >= _LONGEST_VALUE:
                break
        if [token.lower for token in span[-3:]] == ["at", "the", "moment"]:
            span = span[:-3]
        denied = next((at for at, token in enumerate(rest[: len(span) + 1]) if token.lower == "n't"), None)
        if denied is not None:
            span = span[: max(0, denied - 1)]
        while span and (
            span[-1].lower in _TRAILING
            or (span[-1].is_mark and span[-1].text not in "+%#")
            or span[-1].lower in PREPOSITIONS
        ):
            span.pop()
        while span and span[0].is_mark and span[0].text not in "#+-":
            span.pop(0)
        return span

    def _text(self, span: Sequence[Token]) -> str:
        return one_line(self._sentence[span[0].start : span[-1].end])
