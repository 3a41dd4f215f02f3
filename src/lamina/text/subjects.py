"""Where the subject of a clause begins and ends: after what leads up to it, before its finite verb."""

from __future__ import annotations

from lamina.text.closed import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    PREPOSITIONS,
    PRONOUN_SUBJECTS,
    SUBORDINATORS,
    WEEKDAYS,
    word_set,
)
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import is_gerund, is_ly_adverb, is_participle, is_past, looks_finite

_LEAD_LIMIT = 9
_LONGEST_SUBJECT = 12
_LEAD_WORDS = WEEKDAYS | word_set("""
    last next this these ten two three a an one every four five six few years back some each when once while seven
    eight
""")
_COUNTING = word_set("a an every each some one two three four five six seven eight ten few")
_NAMING = word_set("a an one")
_SPELLS = word_set("""
    week weeks day days month months year years night morning evening afternoon weekend time ago later back while hour
    hours minute minutes moment summer spring winter autumn fall season term
""")
_CLAUSE_OR_PHRASE = word_set("since after before until as")


def subject_start(words: tuple[Token, ...]) -> int | None:
    """Where the subject begins: at once, or after adverbs, a phrase of time or place, or a short opening phrase."""
    at = 0
    while at < len(words) and (words[at].is_mark or is_adverb(words[at])):
        at += 1
    if at >= len(words):
        return None
    first = words[at]
    if first.lower in ("i", "we", "my", "our", "the"):
        return at
    if first.lower in _BINDERS and at + 1 < len(words) and _opens_noun(words[at + 1]):
        bound = _after_comma(words, at)
        phrase = first.lower in _CLAUSE_OR_PHRASE and words[at + 1].lower in DETERMINERS
        if phrase and not _has_finite(words[at + 2 : bound or at + 6]):
            return _after_lead(words, at)
        if bound is not None or first.lower not in PREPOSITIONS or words[at + 1].lower in PRONOUN_SUBJECTS:
            return bound
    leads = first.lower in PREPOSITIONS or first.lower in _LEAD_WORDS or first.kind is TokenKind.NUMBER
    return _after_lead(words, at) if leads else at


_BINDERS = word_set("when while after before since as once until although though because if whenever unless")


def _opens_noun(token: Token) -> bool:
    return token.lower in PRONOUN_SUBJECTS or token.lower in DETERMINERS or token.kind is TokenKind.NAME


def _has_finite(words: tuple[Token, ...]) -> bool:
    return any(word.lower in AUXILIARIES or is_past(word.lower) for word in words)


def _after_comma(words: tuple[Token, ...], at: int) -> int | None:
    """The subject of the main clause after one that only leads up to it."""
    for step in range(at, min(len(words) - 1, at + 16)):
        if words[step].text == ",":
            nxt = step + 1
            while nxt < len(words) - 1 and is_adverb(words[nxt]):
                nxt += 1
            return nxt
    return None


def is_adverb(token: Token) -> bool:
    """Whether a word only says how, when or how surely."""
    return token.lower in _FREE_ADVERBS or is_ly_adverb(token.lower)


_FREE_ADVERBS = ADVERBS - {"n't", "not", "no", "both", "all", "kind", "sort"}


def _after_lead(words: tuple[Token, ...], at: int) -> int | None:
    """The subject after a leading phrase: what follows its comma, or the first I, we, my, our."""
    for step in range(at, min(len(words), at + _LEAD_LIMIT)):
        if words[step].lower in ("i", "we") and step > at:
            timed = words[at].lower not in _NAMING or any(word.lower in _SPELLS for word in words[at:step])
            return _with_partner(words, at, step) if timed or words[step - 1].lower == "and" else at
        if words[step].text == "," and step + 1 < len(words):
            nxt = step + 1
            while nxt < len(words) and (is_adverb(words[nxt]) or words[nxt].lower in CONJUNCTIONS):
                nxt += 1
            return nxt if nxt < len(words) else None
    if words[at].lower in _COUNTING:
        return at
    if words[at].lower in ("this", "these"):
        return _after_two(words, at)
    for step in range(at + 1, min(len(words), at + _LEAD_LIMIT)):
        if words[step].lower in ("my", "our", "the") and step > at + 1 and words[step - 1].lower not in PREPOSITIONS:
            return step
    return _after_two(words, at)


def _with_partner(words: tuple[Token, ...], at: int, step: int) -> int:
    """Where "my wife and I" begins."""
    if words[step - 1].lower != "and":
        return step
    return next(
        (back for back in range(step - 2, at, -1) if words[back].lower in ("my", "our") or words[back - 1].is_mark),
        step,
    )


def _after_two(words: tuple[Token, ...], at: int) -> int | None:
    """After a phrase of a preposition, a determiner and a noun: "In this shop stock-taking is ..."."""
    nxt = at + 1
    if nxt < len(words) and words[nxt].lower in PREPOSITIONS:
        nxt += 1
    if nxt < len(words) and words[nxt].lower in DETERMINERS | {"last", "next"}:
        nxt += 1
    nxt += 1
    return nxt if nxt + 1 < len(words) else None


def subject_end(words: tuple[Token, ...], start: int) -> int | None:
    """Where the subject ends and its verb begins."""
    first = words[start].lower
    if first in ("i", "we"):
        if words[start + 1 : start + 2] and words[start + 1].lower == "and":
            return None
        return start + 1
    if first in PRONOUN_SUBJECTS:
        return start + 1
    determined = first in DETERMINERS or words[start].kind is TokenKind.NUMBER
    at = start + 1
    bracket = 0
    while at < len(words):
        word = words[at]
        if word.text in "([":
            bracket += 1
        if word.text in ")]":
            bracket -= 1
        elif not bracket and word.is_mark and word.text not in "'\"“”’‘&/#-,":
            return None
        elif not bracket and word.lower in ("i", "we") and words[at - 1].lower == "and":
            return at + 1
        elif not bracket and word.lower in ("who", "which", "that", "i", "we", "you"):
            skipped = _relative_end(words, at)
            if skipped is None:
                return None
            at = skipped
            continue
        elif not bracket and _is_verb_here(words, start, at, determined):
            return at
        if at - start > _LONGEST_SUBJECT:
            return None
        at += 1
    return None


def _relative_end(words: tuple[Token, ...], at: int) -> int | None:
    """The finite verb after a relative clause inside the subject: the second verb met."""
    seen = 0
    for step in range(at + 1, min(len(words), at + 10)):
        if words[step].lower in AUXILIARIES or words[step].lower.endswith("ed") or is_past(words[step].lower):
            seen += 1
            if seen == 2 or (seen == 1 and words[step].lower in ("is", "are", "was") and step >= at + 2):
                return step
    return None


def _is_verb_here(words: tuple[Token, ...], start: int, at: int, determined: bool) -> bool:
    word = words[at]
    before = words[at - 1]
    after = words[at + 1] if at + 1 < len(words) else None
    if word.lower == "'s":
        return _is_is(words, at)
    if word.lower in AUXILIARIES:
        return word.lower not in ("being", "been", "be")
    if word.kind is not TokenKind.WORD or (determined and at == start + 1):
        return False
    if before.lower in PREPOSITIONS or before.lower in DETERMINERS or before.lower == "'s":
        return False
    if before.lower == "," and (at - start < 2 or not (determined or words[at - 2].kind is TokenKind.NAME)):
        return False
    if after is not None and after.lower in AUXILIARIES and after.lower != "'s":
        return False
    if not looks_finite(word.lower):
        return after is not None and _unknown_verb(words, start, at, determined)
    if is_participle(word.lower) and _copula_follows(words, at):
        return False
    if after is None or after.is_mark:
        return is_past(word.lower) or word.lower.endswith("s")
    plural = before.lower.endswith("s") or before.lower in ("children", "kids", "people", "parents")
    if word.lower.endswith("s"):
        return after.lower not in AUXILIARIES
    return plural or is_past(word.lower)


def _unknown_verb(words: tuple[Token, ...], start: int, at: int, determined: bool) -> bool:
    """Whether a word we do not know is the verb, by its ending and by what stands around it."""
    word, before, after = words[at].lower, words[at - 1], words[at + 1]
    plural = before.lower.endswith("s") and len(before.lower) > 3
    if plural and after.lower in PREPOSITIONS and not word.endswith(("s", "ing", "ly")):
        return word not in FUNCTION_WORDS
    plain = before.kind is TokenKind.WORD and before.lower not in FUNCTION_WORDS and (determined or at == start + 1)
    if not word.endswith("s") or not _starts_complement(after) or not (plain or before.kind is TokenKind.NAME):
        return False
    return not any(each.lower in AUXILIARIES or looks_finite(each.lower) for each in words[at + 1 : at + 8])


def _copula_follows(words: tuple[Token, ...], at: int) -> bool:
    """Whether a plain is or are follows before anything else could begin: "the tune stuck in my head is ..."."""
    for word in words[at + 1 : at + 9]:
        if word.is_mark or word.lower in CONJUNCTIONS or word.lower in SUBORDINATORS or word.lower in PRONOUN_SUBJECTS:
            return False
        if word.lower in ("is", "are"):
            return True
    return False


def _starts_complement(token: Token) -> bool:
    return token.lower in DETERMINERS or token.lower in PREPOSITIONS or token.is_typed


def _is_is(words: tuple[Token, ...], at: int) -> bool:
    """Whether 's after a noun is the verb and not the possessive."""
    after = words[at + 1] if at + 1 < len(words) else None
    if after is None or after.is_mark:
        return False
    if words[at - 1].lower in PRONOUN_SUBJECTS or words[at - 1].lower in ("here", "where", "name"):
        return True
    return (
        after.lower in DETERMINERS
        or after.lower in PREPOSITIONS
        or after.lower in ADVERBS
        or after.lower in ("been", "got", "getting", "going", "called", "named")
        or (is_gerund(after.lower) and not any(word.lower in AUXILIARIES for word in words[at + 1 :]))
    )
