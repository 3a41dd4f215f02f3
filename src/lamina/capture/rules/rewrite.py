"""What a person says of themselves, said of them: I becomes their name, the verb agrees, and days become absolute."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.capture.rules.dates import Resolved
from lamina.capture.rules.occasions import is_people
from lamina.text.closed import ADVERBS, AUXILIARIES, DETERMINERS, FIRST_PERSON, PREPOSITIONS, word_set
from lamina.text.frames import Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import KNOWN, UNCHANGED, base_form, is_ly_adverb, is_participle, is_past, third_person

USER = "The user"
_AFTER_NAME = {
    "'m": "is",
    "am": "is",
    "'re": "is",
    "are": "is",
    "'ve": "has",
    "have": "has",
    "do": "does",
    "were": "was",
}
_AFTER_THEY = {"'m": "are", "am": "are", "was": "were", "'ve": "have", "'re": "are", "is": "are", "'s": "are"}
_EXPANDED = {"'ll": "will", "'re": "are", "'ve": "have", "'m": "am"}
_SPOKEN = {"gonna": "going to", "wanna": "want to", "gotta": "have to", "bday": "birthday", "cuz": "because"}
_OFTEN = frozenset({"usually", "always", "often", "sometimes", "every", "never", "normally"})
_SHARED = word_set("""
    planet world country society military environment ecosystem ecosystems ecological government nation troops veterans
    oceans climate
""")
_SECOND_VERBS = frozenset({"have", "need", "want", "love"})
_SEPARATORS = frozenset({"and", "or", "but", "then"})
_INNER_STOP = re.compile(r"[.,!]([\"”’'])\Z")
_TIGHT = re.compile(r"\s+([,.;:!?%)\]])")


def third(
    found: Sequence[Token],
    speaker: str,
    days: Sequence[Resolved] = (),
    frame: Frame | None = None,
    *,
    known: bool = False,
) -> str:
    """The tokens as a sentence about the speaker, who is named once (or is `known` already) and then is they."""
    return _Writer(list(found), speaker, list(days), frame, known).sentence()


class _Writer:
    """Goes through the tokens once and writes each as it must read in the third person."""

    def __init__(
        self, found: list[Token], speaker: str, days: list[Resolved], frame: Frame | None, known: bool
    ) -> None:
        self._found = found
        self._speaker = speaker
        self._days = days
        spoken = frame is not None and frame.kind is Subject.SPEAKER
        self._subject_at = frame.subject[0].start if frame is not None and spoken else 0
        self._partnered = {token.start for token in frame.subject[1:]} if frame is not None and spoken else set()
        self._contracted = (
            {token.start for token in frame.helpers if token.lower == "'s"} if frame is not None else set()
        )
        self._lists = spoken and frame is not None and not any(token.lower in ("to", "can") for token in frame.rest[:2])
        self._pieces: list[str] = []
        self._named = known
        self._agree = ""
        self._leading = known
        self._inflected = False
        self._listing = False

    def sentence(self) -> str:
        at = 0
        while at < len(self._found):
            at = self._step(at)
        return finished("".join(self._pieces))

    def _step(self, at: int) -> int:
        token = self._found[at]
        for days in self._days:
            if days.start <= token.start < days.end:
                self._put(at, days.words, spaced=True)
                while at < len(self._found) and self._found[at].start < days.end:
                    at += 1
                return at
        if token.lower in FIRST_PERSON and token.kind is TokenKind.WORD:
            self._person(at, token)
        elif self._agree and token.kind is TokenKind.WORD:
            self._verb(at, token)
        else:
            self._other(at, token)
        return at + 1

    def _person(self, at: int, token: Token) -> None:
        leads = token.start < self._subject_at
        joined = token.lower in ("i", "we") and token.start in self._partnered
        word, first = token.lower, not (self._named or leads) or joined
        name = self._name()
        match word:
            case "i" | "we":
                self._put(at, name if first else "they")
                self._leading = True
                self._agree = "" if joined else "name" if first else "they"
            case "our" if self._is_everyones(at):
                self._put(at, "the")
                return
            case "my" | "our":
                self._put(at, possessive(name) if first or self._is_anothers(at) else "their")
            case "mine" | "ours":
                self._put(at, possessive(name) if first else "theirs")
            case "me" | "us":
                self._put(at, "them" if self._leading else name)
            case _:
                self._put(at, "themselves")
        self._named = self._named or not leads

    def _is_everyones(self, at: int) -> bool:
        """Whether "our" is of all people: our planet, our military."""
        return any(token.lower in _SHARED for token in self._found[at + 1 : at + 3])

    def _is_anothers(self, at: int) -> bool:
        """Whether "their" would be read of people named since the speaker was."""
        return any(
            is_people(token.lower) and token.start > self._subject_at and token.start not in self._partnered
            for token in self._found[:at]
        )

    def _name(self) -> str:
        return self._speaker if self._speaker != USER or not "".join(self._pieces).strip() else USER.lower()

    def _verb(self, at: int, token: Token) -> None:
        """The verb that a rewritten subject governs, once its adverbs are past."""
        word = token.lower
        if word == "no" or (word in ADVERBS and word not in AUXILIARIES) or is_ly_adverb(word) or self._is_slip(at):
            self._other(at, token)
            return
        plural = self._agree == "they"
        self._agree = ""
        if word == "'d":
            after = next((each.lower for each in self._found[at + 1 :] if each.lower not in ADVERBS), "")
            self._put(at, "had" if is_participle(after) or after == "better" else "would", spaced=True)
        elif plural:
            self._put(at, _AFTER_THEY.get(word, _EXPANDED.get(word, token.text)), spaced=word.startswith("'"))
        elif word == "do" and self._is_emphatic(at):
            self._agree = "name"
        elif word in _AFTER_NAME:
            self._put(at, _AFTER_NAME[word], spaced=word.startswith("'"))
        elif word in _EXPANDED or word in AUXILIARIES:
            self._put(at, _EXPANDED.get(word, token.text), spaced=word.startswith("'"))
        elif word in ("wanna", "gotta"):
            self._put(at, "wants to" if word == "wanna" else "has to")
        elif is_past(word) and not (word in UNCHANGED and any(each.lower in _OFTEN for each in self._found)):
            self._put(at, token.text)
        else:
            self._put(at, third_person(word))
            self._inflected = True

    def _is_emphatic(self, at: int) -> bool:
        after = next((each.lower for each in self._found[at + 1 :] if each.lower not in ADVERBS - {"n't", "not"}), "")
        return after in KNOWN

    def _is_slip(self, at: int) -> bool:
        after = self._found[at + 1].lower if at + 1 < len(self._found) else ""
        word = self._found[at].lower
        return (
            word not in AUXILIARIES
            and word not in ("wanna", "gotta")
            and base_form(word) is None
            and base_form(after) == after
            and not is_past(word)
        )

    def _other(self, at: int, token: Token) -> None:
        word = token.lower
        if token.start in self._contracted:
            after = self._found[at + 1].lower if at + 1 < len(self._found) else ""
            self._put(at, "has" if after == "been" or after == "got" else "is", spaced=True)
            return
        if self._named and word in _SECOND_VERBS and at and self._found[at - 1].lower == "and" and self._lists:
            self._put(at, third_person(word))
            return
        if self._inflected and self._joins_verb(at):
            self._put(at, third_person(word))
            return
        if word in _SPOKEN:
            self._put(at, _SPOKEN[word])
            return
        text = token.text
        if at and text[0].isupper() and token.kind is TokenKind.WORD and text.istitle() and not self._pieces:
            text = text.lower()
        self._put(at, text)

    def _joins_verb(self, at: int) -> bool:
        """Whether a second verb of the same subject stands here: "and sell it"."""
        if (
            not at
            or self._found[at].lower not in KNOWN
            or self._found[at - 1].lower not in _SEPARATORS | {","}
            or not self._lists
        ):
            return False
        after = self._found[at + 1].lower if at + 1 < len(self._found) else ""
        if self._found[at - 1].text == ",":
            self._listing = after == "," and any(token.lower == "and" for token in self._found[at:])
            return after == "," and any(token.lower == "and" for token in self._found[at:])
        return (
            self._listing
            or after in DETERMINERS
            or after in PREPOSITIONS
            or after in FIRST_PERSON
            or after in ("it", "them")
            or after.endswith("s")
        )

    def _put(self, at: int, text: str, *, spaced: bool = False) -> None:
        gap = spaced or (at > 0 and self._found[at - 1].end < self._found[at].start)
        self._pieces.append((" " if gap and self._pieces else "") + text)


def possessive(name: str) -> str:
    """The name as an owner."""
    return f"{name}'s"


def finished(text: str) -> str:
    """The words as one sentence: a capital first, one full stop last."""
    words = _TIGHT.sub(r"\1", " ".join(text.split())).strip(" ,;:-–—!…*_~").rstrip(" .!,;:-–—")
    if not words:
        return ""
    return words[0].upper() + _INNER_STOP.sub(r"\1", words[1:]) + "."
