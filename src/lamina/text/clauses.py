"""Where a sentence falls into clauses that can stand alone, and which word joins each to the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.text.closed import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUN_SUBJECTS,
    THIRD_PERSON,
)
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form, is_gerund, is_past, looks_finite

_BREAKS = frozenset(";–—")
_CONTRACTED = frozenset({"'m", "'s", "'re", "'ve", "'ll", "'d", "n't"})
_REASONS = frozenset(
    {"because", "cuz", "cause", "coz", "though", "although", "which", "whereas", "hence", "cos", "while"}
)
_RELATIVE = frozenset({"who", "which", "that", "where", "whose", "whom", "when", "while", "if", "how", "what", "than"})
_SUBJECTS = frozenset({"i", "we", "he", "she", "it", "they", "you", "there", "that", "this", "everyone", "everything"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A run of tokens that says one thing, and the word or mark that joins it to what stands before."""

    tokens: tuple[Token, ...]
    joiner: str = ""


def clauses(found: Sequence[Token]) -> list[Clause]:
    """The clauses of a sentence, in order; none is empty, and joining words stand outside them."""
    parts: list[Clause] = []
    current: list[Token] = []
    joiner = ""
    depth = 0
    at = 0
    while at < len(found):
        token = found[at]
        depth = _depth(depth, token)
        cut = 0 if depth else _cut(found, at, current)
        if not cut:
            current.append(token)
            at += 1
            continue
        if any(not each.is_mark for each in current):
            parts.append(Clause(tuple(current), joiner))
        joiner = " ".join(each.lower for each in found[at : at + cut])
        current = []
        at += cut
    if any(not each.is_mark for each in current):
        parts.append(Clause(tuple(current), joiner))
    return parts


def _depth(depth: int, token: Token) -> int:
    if token.text in "([":
        return depth + 1
    return max(0, depth - 1) if token.text in ")]" else depth


def _cut(found: Sequence[Token], at: int, current: Sequence[Token]) -> int:
    """How many tokens, from here, part the clause before from one that follows; none where nothing parts."""
    token = found[at]
    if not current or (token.lower == "cause" and _is_noun_here(found, at)):
        return 0
    if token.is_mark and (token.text in _BREAKS or (token.text == "-" and _spaced(found, at))):
        return 1
    if token.text == ":" and at + 1 < len(found) and token.end < found[at + 1].start:
        after = found[at + 1 :]
        named = after[0].is_typed and (len(after) <= 4 or found[at - 1].kind is TokenKind.NAME)
        return 0 if _has_verb(current) and (named or (len(after) <= 9 and not _has_verb(after))) else 1
    if token.text == ",":
        return _cut_at_comma(found, at, current)
    if at + 1 < len(found) and (
        token.lower in CONJUNCTIONS or token.lower in _REASONS or token.lower in ("since", "as")
    ):
        named = (
            token.lower in ("and", "but")
            and found[at - 1].kind is not TokenKind.NAME
            and at + 2 < len(found)
            and found[at + 1].kind is TokenKind.NAME
            and found[at + 2].lower in ("is", "are", "was", "has")
        )
        owned = (
            token.lower in ("and", "but", "so")
            and at + 1 < len(found)
            and found[at + 1].lower in ("my", "our", "the")
            and _noun_and_verb(found, at + 1)
        )
        if token.lower == "and" and found[at + 1].lower in ("i", "we") and not _has_verb(_since_mark(current)):
            return 0
        return 1 if _has_verb(current) and (named or owned or _opens_clause(found, at + 1)) else 0
    return 0


def _is_noun_here(found: Sequence[Token], at: int) -> bool:
    """Whether a noun phrase has begun before this word: "a good cause"."""
    return any(token.lower in DETERMINERS for token in found[max(0, at - 2) : at])


def _since_mark(current: Sequence[Token]) -> Sequence[Token]:
    """The words since the last mark: where they hold no verb, "and I" goes on with them."""
    marks = [at for at, token in enumerate(current) if token.is_mark]
    return current[marks[-1] + 1 :] if marks else current


def _spaced(found: Sequence[Token], at: int) -> bool:
    return 0 < at < len(found) - 1 and found[at].end < found[at + 1].start


def _cut_at_comma(found: Sequence[Token], at: int, current: Sequence[Token]) -> int:
    if not _has_verb(current):
        return 0
    joined = 1
    while at + joined < len(found) and found[at + joined].lower in CONJUNCTIONS | _REASONS | {"since", "as", "then"}:
        joined += 1
    if current[0].lower in (
        "when",
        "if",
        "while",
        "after",
        "before",
        "since",
        "as",
        "once",
        "until",
        "although",
        "though",
        "whenever",
        "because",
    ):
        return 0
    if _opens_clause(found, at + joined) or _noun_and_verb(found, at + joined):
        return joined
    return 0


def _has_verb(current: Sequence[Token]) -> bool:
    return any(
        token.lower in AUXILIARIES or (token.kind is TokenKind.WORD and looks_finite(token.lower)) for token in current
    )


def _opens_clause(found: Sequence[Token], at: int) -> bool:
    """Whether a pronoun with its verb stands here."""
    if at >= len(found) - 1:
        return False
    word, after = found[at].lower, found[at + 1]
    if word in ("is", "was", "are", "were", "makes", "made") and found[at - 1].lower == "which":
        return True
    if word in ("that", "this") and after.lower not in AUXILIARIES:
        return after.lower in _CONTRACTED or after.lower in (
            "makes",
            "means",
            "made",
            "meant",
            "helps",
            "really",
            "gives",
        )
    return (
        word in ("i", "we")
        or (word == "let" and after.lower in ("'s", "us", "me"))
        or (word in _SUBJECTS and after.lower not in PREPOSITIONS)
    )


def _noun_and_verb(found: Sequence[Token], at: int) -> bool:
    """Whether a noun of a few words and a finite verb stand here, as after a comma that could be a full stop."""
    if at >= len(found) or found[at].is_mark:
        return False
    first = found[at]
    if first.lower in PREPOSITIONS or first.lower in _RELATIVE or is_gerund(first.lower) or first.lower in THIRD_PERSON:
        return False
    determined = first.lower in DETERMINERS
    if any(
        found[step].lower == "and" and found[step + 1].lower in ("i", "we") and not found[step - 1].is_mark
        for step in range(at + 1, min(at + 4, len(found) - 1))
    ):
        return True
    if not determined and first.kind is not TokenKind.NAME and looks_finite(first.lower):
        return False
    for step in range(1, 6):
        if at + step >= len(found) or found[at + step].is_mark:
            return False
        word = found[at + step]
        if word.lower in ("who", "that", "which", "and", "or", "to", "of") or word.lower in PREPOSITIONS:
            return False
        if word.lower in AUXILIARIES and word.lower != "'s":
            return found[at + step - 1].lower not in PRONOUN_SUBJECTS or True
        finite = word.lower.endswith("s") or (is_past(word.lower) and (determined or first.kind is TokenKind.NAME))
        if finite and step > determined and word.kind is TokenKind.WORD and base_form(word.lower):
            return True
    return False
