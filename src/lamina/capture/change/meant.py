"""What a request to forget means among all that is known: the sentences that say best what it names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from math import log

from lamina.atom.atom import Atom, Evidence
from lamina.capture.change.forgetting import Request
from lamina.capture.change.items import ME, Item, items, root_of
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.clauses import clauses
from lamina.text.closed import word_set
from lamina.text.frames import Subject, frame
from lamina.text.roles import is_assistant
from lamina.text.tokens import TokenKind, plain, tokens

LOOKED_AT = 100
"""How many passages that share words with a request are looked at."""
ENOUGH = 0.45
"""So much of what a request names must be in a sentence, by weight."""
WITH_UNKNOWN = 0.6
"""The same where some of its words were never said."""
_LEAST = 0.25
_TIE = 0.02
_COMMON = word_set("""
    number numbers name names code codes detail details info information data date dates figure figures fact facts id
    story situation issue thing things matter case status result results
""")
_COMMON_ROOTS = frozenset(root_of(each) for each in _COMMON)
_GOES_ON = re.compile(r"\W*(?:(?:and|but|also|so),? )?(?:she|he|they|her|his|their)\b", re.IGNORECASE)
_QUESTION = re.compile(r"\?[\"'”’)!.* ]*$")


def spelt(text: str) -> str:
    """The text as identifiers are compared: case, hyphens and underscores do not tell them apart."""
    return unicodedata.normalize("NFKC", text).replace("_", "-")


def terms(text: str) -> frozenset[str]:
    """What the words of a text are compared by; identifiers are whole."""
    found = [each for each in items(spelt(text)) if each.root != ME]
    return frozenset(_root(each) for each in found) | frozenset(_implied(found, text))


def is_question(text: str) -> bool:
    """Whether a sentence asks something."""
    return _QUESTION.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether a sentence speaks of whoever the one before it names, and of nobody else."""
    return _GOES_ON.match(text) is not None and not any(each.kind is TokenKind.NAME for each in items(text)[:1])


def _root(item: Item) -> str:
    return re.sub(r"[^\w]|_", "", item.root) or item.root if any(char.isdigit() for char in item.root) else item.root


_IMPLIED = (
    (TokenKind.PHONE, ("phone", "number", "mobile", "telephone", "cell")),
    (TokenKind.EMAIL, ("email", "e-mail", "mail", "address")),
)
_SAID_SO = (
    (re.compile(r"\b(?:liv(?:e|es|ing) (?:at|in|on)|moved (?:to|into)|resid\w+ (?:at|in))\b", re.I), ("address",)),
    (re.compile(r"\b(?:called|named|goes by)\b", re.I), ("name",)),
    (re.compile(r"\b(?:born|birthday)\b", re.I), ("birthday", "born", "age")),
    (re.compile(r"\byears old\b|\bturned \d", re.I), ("age",)),
    (re.compile(r"\b(?:earn|make|paid|get)\b.*(?:[£$€]|\b(?:euros?|dollars|pounds)\b)", re.I), ("salary", "pay")),
    (re.compile(r"\b(?:work(?:s|ing)? (?:at|for)|employed)\b", re.I), ("job", "employer", "work")),
    (re.compile(r"\bpregnan\w+|\bexpecting\b", re.I), ("pregnancy",)),
    (re.compile(r"\bdiagnos\w+", re.I), ("diagnosis",)),
    (re.compile(r"\bdivorc\w+", re.I), ("divorce",)),
    (re.compile(r"\ballerg\w+", re.I), ("allergy",)),
    (re.compile(r"\b(?:married|wedding|wedded)\b", re.I), ("marriage", "wedding")),
    (re.compile(r"\bweigh(?:s|ed)?\b", re.I), ("weight",)),
    (re.compile(r"\b(?:tall|cm high)\b", re.I), ("height",)),
    (re.compile(r"\b(?:operat(?:ed|ion)|surgery|surgeon)\b", re.I), ("operation", "surgery")),
    (re.compile(r"\bow(?:e|es|ed|ing)\b", re.I), ("debt",)),
    (re.compile(r"\barrested\b", re.I), ("arrest",)),
)  # fmt: skip


def _implied(found: Sequence[Item], text: str) -> list[str]:
    """Words that a sentence says without them: a number that can be called is a phone number."""
    words = [word for kind, said in _IMPLIED if any(each.kind is kind for each in found) for word in said]
    words += [word for pattern, said in _SAID_SO if pattern.search(text) for word in said]
    return [root_of(each) for each in words]


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence that may be meant: where it stands, who said it when; `more` is said of it elsewhere."""

    at: Evidence
    text: str
    speaker: str | None
    time: datetime
    more: str = field(default="", compare=False)

    def valued(self, target: Target) -> str:
        """What the sentence says of what is to be forgotten: its names, numbers and addresses, else the words named."""
        said = [each for each in items(spelt(self.text)) if each.root != ME]
        typed = [each for each in said if each.is_typed and _root(each) not in target.roots]
        chosen = typed or [each for each in said if _root(each) in target.roots]
        text = spelt(self.text)
        return " ".join(text[each.start : each.end] for each in chosen)

    def narrowed(self, target: Target) -> Place:
        """The part of a sentence that is meant, where the rest of it says something else by itself."""
        parts = [each.tokens for each in clauses(tokens(self.text))]
        own = [each for each in parts if terms(plain(each, self.text)) & target.roots]
        others = [frame(each) for each in parts if each not in own]
        stand = all(each is not None and each.kind is not Subject.PRONOUN for each in others)
        if len(own) != 1 or not others or not stand or not any(each.is_typed for each in own[0]):
            return self
        start, end = own[0][0].start, own[0][-1].end
        at = replace(self.at, start=self.at.start + start, end=self.at.start + end)
        return replace(self, at=at, text=self.text[start:end])


class Target:
    """What a request names, and how well a sentence says it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        found = [each for each in items(spelt(request.target)) if each.root != ME]
        self._exact = frozenset(_root(each) for each in found if any(char.isdigit() for char in each.root))
        self._names = frozenset(_root(each) for each in found if each.kind is TokenKind.NAME) | frozenset(
            root_of(word.lower()) for word in request.target.split() if word[:1].isupper() and word.isalpha()
        )
        self.roots = frozenset(_root(each) for each in found) or frozenset(analyse(request.target))
        self._names &= self.roots
        self._spared = terms(request.spared) - self.roots
        self.words = [each for each in analyse(request.target) if each not in QUESTION_STOP]
        if self.words:
            self.words += _asked_for(self.roots)

    @property
    def is_name(self) -> bool:
        """Whether it names somebody, and nothing else of them."""
        return bool(self._names) and self._names == self.roots

    def is_only_name_in(self, text: str) -> bool:
        """Whether a sentence names nobody else, so that a pronoun behind it can only mean whoever is named."""
        return {_root(each) for each in items(spelt(text)) if each.kind is TokenKind.NAME} <= self._names

    def share(self, atom: Atom) -> float:
        """How much of it a statement speaks of."""
        wanted = self.roots - _COMMON_ROOTS or self.roots
        return len(wanted & terms(f"{atom.content} {atom.attribute or ''}")) / (len(wanted) or 1)

    def weighed(self, places: Sequence[Place]) -> list[tuple[float, Place]]:
        """How much of what is named each sentence says, rare words counting more."""
        said = {each.at: terms(f"{each.text} {each.more}") for each in places}
        holding = {root: sum(root in roots for roots in said.values()) for root in self.roots}
        most = log(1 + len(places))
        weight = {
            root: (_LEAST if root in _COMMON_ROOTS else 1.0) * (log(1 + len(places) / n) if n else most)
            for root, n in holding.items()
        }
        whole = sum(weight.values())
        return [
            (sum(weight[root] for root in self.roots & said[each.at]) / whole if whole else 0.0, each)
            for each in places
            if self._exact <= said[each.at] and not self._is_anothers(each)
        ]

    def best(self, weighed: Sequence[tuple[float, Place]], speaker: str | None) -> list[Place]:
        """The sentences that are meant; none where nothing says enough of it."""
        every = frozenset[str]().union(*(terms(f"{each.text} {each.more}") for _, each in weighed))
        floor = 1.0 - _TIE if not self.request.sure else ENOUGH if self.roots <= every else WITH_UNKNOWN
        own = [(share, each) for share, each in weighed if share >= floor and self._counts(each, speaker)]
        if not own or not self._names <= every:
            return []
        told = [pair for pair in own if not is_question(pair[1].text)]
        first = max(share for share, _ in told or own)
        if self.request.everything:
            names = self._names or self.roots - _COMMON_ROOTS
            said = [(share, each, terms(f"{each.text} {each.more}")) for share, each in weighed]
            chosen = [(each, roots) for share, each, roots in said if share >= 0.8 * first or names <= roots]
            return [each for each, roots in chosen if not (self._spared and self._spared <= roots)]
        return [each for share, each in told or own if share >= first - _TIE]

    def _counts(self, place: Place, speaker: str | None) -> bool:
        """A machine's words are no statement of anybody; what is the asker's own was said by nobody else."""
        if is_assistant(place.speaker):
            return False
        return place.speaker == speaker or (self.request.sure and not self.request.own)

    def _is_anothers(self, place: Place) -> bool:
        """Whether a sentence says it of somebody else: "my sister's address" where "my address" is meant."""
        if not self.request.own:
            return False
        words = re.findall(r"[\w'’-]+", place.text)
        for owner, owned in pairwise(words):
            theirs = owner.lower() in ("his", "her", "their") or re.search(r"['’]s$", owner)
            named = {owner.lower()[:-2]} & {*(place.speaker or "").lower().split()} or root_of(
                owner.lower()[:-2]
            ) in self.roots
            if theirs and root_of(owned.lower()) in self.roots and not named:
                return True
        return False


def _asked_for(roots: frozenset[str]) -> list[str]:
    """Words by which a search finds what says it without the word itself."""
    return [token for word, more in _SAID_AS.items() if root_of(word) in roots for token in analyse(more)]


_SAID_AS = {
    "address": "live moved", "phone": "call reach", "birthday": "born", "salary": "earn paid", "job": "work",
    "pregnancy": "pregnant expecting", "diagnosis": "diagnosed", "divorce": "divorced", "allergy": "allergic",
    "marriage": "married wedding", "weight": "weigh weighs", "height": "tall", "operation": "operated surgery",
    "surgery": "operation operated", "debt": "owe owes", "arrest": "arrested", "age": "old turned born",
}  # fmt: skip
