"""What a clause says in grammar: what leads up to it, its subject, its verb and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from lamina.text.closed import (
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    KIN,
    MODALS,
    NEGATIONS,
    PREPOSITIONS,
    PRONOUN_SUBJECTS,
    SUBORDINATORS,
)
from lamina.text.subjects import is_adverb, subject_end, subject_start
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form, is_gerund, is_participle, is_past


class Subject(StrEnum):
    """Whose clause it is."""

    SPEAKER = "speaker"
    OWNED = "owned"
    NAMED = "named"
    DEFINITE = "definite"
    BARE = "bare"
    PRONOUN = "pronoun"


class Form(StrEnum):
    """How the verb stands in time and mood."""

    PRESENT = "present"
    PAST = "past"
    PERFECT = "perfect"
    PROGRESSIVE = "progressive"
    BEEN_DOING = "been doing"
    FUTURE = "future"
    MODAL = "modal"


@dataclass(frozen=True, slots=True)
class Frame:
    """One clause taken apart; `verb` is the base form of its main verb."""

    tokens: tuple[Token, ...]
    lead: tuple[Token, ...]
    subject: tuple[Token, ...]
    kind: Subject
    helpers: tuple[Token, ...]
    verb: str
    verb_at: int
    form: Form
    passive: bool
    negated: bool
    rest: tuple[Token, ...]


def frame(found: Sequence[Token]) -> Frame | None:
    """The clause taken apart, if a subject and a finite verb can be told."""
    words = tuple(found)
    start = subject_start(words)
    if start is None:
        return None
    end = subject_end(words, start)
    if end is None:
        return None
    while end - 1 > start and is_adverb(words[end - 1]):
        end -= 1
    subject = words[start:end]
    return _with_verb(words, start, end, _kind(subject))


_PARTITIVE = frozenset({"me", "one", "two", "three", "both", "some", "all", "half", "most", "the"})


def _kind(subject: tuple[Token, ...]) -> Subject:
    first = subject[0].lower
    if first in ("i", "we") or subject[-1].lower in ("i", "we"):
        return Subject.SPEAKER
    if first in PRONOUN_SUBJECTS and len(subject) == 1 and subject[0].kind is not TokenKind.NAME:
        return Subject.PRONOUN
    if first in ("my", "our") or (first in _PARTITIVE and any(token.lower in ("my", "our") for token in subject)):
        return Subject.OWNED
    if first == "the":
        return Subject.DEFINITE
    if first in KIN or all(
        token.kind is TokenKind.NAME or token.text in "&'s’" or token.lower in ("and", "of", "the") for token in subject
    ):
        return Subject.NAMED
    if first in DETERMINERS:
        return Subject.DEFINITE if first in ("this", "that", "these", "those") else Subject.BARE
    return Subject.BARE


_NEVER_FINITE = frozenset({"being", "been", "be"})


def _with_verb(words: tuple[Token, ...], start: int, end: int, kind: Subject) -> Frame | None:
    at = end
    helpers: list[Token] = []
    while at < len(words) and (
        words[at].lower in AUXILIARIES or words[at].lower in ADVERBS or is_adverb(words[at]) or _no_longer(words, at)
    ):
        if words[at].lower in ("all", "both") and helpers and helpers[-1].lower in BE:
            break
        helpers.append(words[at])
        at += 1
    if at + 1 < len(words) and _is_slip(words[at], words[at + 1]):
        at += 1
    names = [token.lower for token in helpers if token.lower in AUXILIARIES]
    negated = any(token.lower in NEGATIONS for token in helpers)
    if names and names[0] in _NEVER_FINITE:
        return None
    if at < len(words) and not words[at].is_mark:
        word = words[at].lower
        main = _main(words[at], names, negated) or _unknown_passive(words, at, names, kind)
        if main is not None:
            base, form, passive = main
            return Frame(
                words,
                words[:start],
                words[start:end],
                kind,
                tuple(helpers),
                base,
                at,
                form,
                passive,
                negated,
                words[at + 1 :],
            )
        if not names and word in SUBORDINATORS | CONJUNCTIONS:
            return None
    if not names:
        return None
    last = max(step for step in range(end, at) if words[step].lower in AUXILIARIES)
    form, base = _of_helper(words[last].lower, names)
    negated = negated or (at < len(words) and words[at].lower == "no" and base in ("have", "be"))
    return Frame(
        words,
        words[:start],
        words[start:end],
        kind,
        tuple(helpers),
        base,
        last,
        form,
        False,
        negated,
        words[last + 1 :],
    )


def _no_longer(words: tuple[Token, ...], at: int) -> bool:
    pair = [token.lower for token in words[max(0, at - 1) : at + 2]]
    return ["no", "longer"] in (pair[:2], pair[1:])


def _is_slip(word: Token, after: Token) -> bool:
    """Whether a word we do not know stands before a verb we do: an adverb, or one misspelt."""
    if word.lower == "last":
        return is_past(after.lower)
    if word.lower == "wanna":
        return False
    return (
        word.kind is TokenKind.WORD
        and base_form(word.lower) is None
        and base_form(after.lower) == after.lower
        and not is_past(word.lower)
    )


def _of_helper(word: str, names: list[str]) -> tuple[Form, str]:
    """The form and base of a clause whose main verb is itself be, have or do."""
    base = "be" if word == "'s" else base_form(word) or word
    if names[0] in ("will", "'ll", "wo", "shall"):
        return Form.FUTURE, base
    if names[0] in MODALS:
        return Form.MODAL, base
    if len(names) > 1 and word == "been":
        return Form.PERFECT, base
    return (Form.PAST if word in ("was", "were", "had", "did") else Form.PRESENT), base


_WILL = frozenset({"will", "'ll", "wo", "shall", "gonna"})


def _main(token: Token, names: list[str], negated: bool) -> tuple[str, Form, bool] | None:
    """The base form, form and voice of a main verb after its helpers; none where it is no verb."""
    word = token.lower
    if token.kind is not TokenKind.WORD:
        return None
    base = base_form(word)
    if not names:
        if is_past(word):
            return base or word, Form.PAST, False
        return base or _unsure(word), Form.PRESENT, False
    if names[0] in MODALS and len(names) == 1:
        future = names[0] in ("will", "'ll", "wo", "shall", "gonna")
        if names[0] == "'d" and is_participle(word):
            return base or word, Form.PAST, False
        return (base or word, Form.FUTURE if future else Form.MODAL, False) if word not in DETERMINERS else None
    last = names[-1]
    if "gotta" in names:
        return base or word, Form.MODAL, False
    if "gonna" in names:
        return base or word, Form.FUTURE, False
    if last in ("do", "does", "did"):
        if word in DETERMINERS or (base != word and len(names) == 1 and not negated):
            return None
        return base or word, Form.PAST if last == "did" else Form.PRESENT, False
    if last in BE and is_gerund(word):
        ahead = names[0] in ("will", "'ll", "shall")
        return (
            base or word[:-3],
            Form.FUTURE if ahead else Form.BEEN_DOING if last == "been" else Form.PROGRESSIVE,
            False,
        )
    if last in BE and is_participle(word) and base and names[0] in MODALS and names[0] not in _WILL:
        return base, Form.MODAL, True
    if last in BE and is_participle(word) and base:
        past = names[0] in ("was", "were", "had", "have", "has", "'ve")
        return base, Form.FUTURE if names[0] in ("will", "'ll") else Form.PAST if past else Form.PRESENT, True
    if last in ("have", "has", "had", "'ve", "'d", "'s") and is_participle(word):
        return base or word, Form.PAST if last == "had" else Form.PERFECT, False
    return None


def _unknown_passive(
    words: tuple[Token, ...], at: int, names: list[str], kind: Subject
) -> tuple[str, Form, bool] | None:
    """A participle of a verb we do not know, told by what follows: "is serviced by"."""
    after = words[at + 1].lower if at + 1 < len(words) else ""
    if kind is Subject.SPEAKER or not names or names[-1] not in BE or not words[at].lower.endswith("ed"):
        return None
    if after not in PREPOSITIONS or words[at].kind is not TokenKind.WORD:
        return None
    return words[at].lower, Form.PAST if names[0] in ("was", "were", "had") else Form.PRESENT, True


def _unsure(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
