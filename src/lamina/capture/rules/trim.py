"""What leads into a statement and trails after it without being part of it: greetings, names called, asides."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lamina.text.closed import ADVERBS, AUXILIARIES, PREPOSITIONS, word_set
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form

_OPENING = word_set("""
    hey hi hello wow yeah yes yep yup yea nope no nah thanks oh ooh ah aw aww well so anyway anyways anyhow actually
    honestly btw plus also haha hahaha lol omg man dude ok okay sure and but or right cool awesome absolutely
    totally definitely exactly agreed congrats hmm hm um uh er anywho fyi ps besides frankly luckily unfortunately
    sadly thankfully obviously clearly basically true still ugh woah whoa woohoo yay great nice sorry oops phew
    first second finally lately gosh god gotcha indeed correction today's
""")
_KEPT_ADVERBS = frozenset({"lately", "first", "second"})
_OPENING_PHRASES = tuple(
    tuple(phrase.split())
    for phrase in (
        "by the way", "after all", "keep in mind that", "bear in mind that", "remember that", "just remember that",
        "for your information", "in case it matters", "just noting that", "before that", "after that",
        "on top of that", "because of that", "since then", "not only that", "for the record", "just so you know",
        "guess what", "in fact", "to be honest", "you know", "i have to say", "not any more", "not anymore",
        "of course", "as you know", "turns out", "it turns out", "believe it or not", "good morning", "good evening",
        "funny enough", "in other news", "long story short", "as i said", "like i said", "as mentioned", "i must say",
        "i should mention", "i forgot to mention", "i should say", "let me tell you", "to answer your question",
        "speaking of which", "on another note", "on a side note", "as for me", "for me", "personally", "in my case",
        "thank you", "the thing is", "the truth is", "just to let you know", "you see", "small update",
        "quick update", "heads up", "quick note", "as it happens", "that said", "having said that", "at least",
        "since we last spoke", "since we last talked", "since we last chatted", "since we talked last",
        "since we spoke last", "since we last caught up", "since we caught up", "last time we talked",
        "since our last chat", "especially", "since we last met",
        "i can confirm", "no worries", "no problem", "just a heads up", "and yes", "good to know", "oh and",
        "one more thing", "another thing", "scratch that", "strike that", "hang on", "hold on", "never mind",
        "my mistake", "my bad", "i just realised", "i just realized", "remember", "please note", "note that",
        "please remember", "note to self", "important", "in the meantime", "meanwhile", "on a different note",
        "specifically", "however", "in particular",
    )
)  # fmt: skip
_PHRASES_BY_WORD = {
    phrase[0]: tuple(each for each in _OPENING_PHRASES if each[0] == phrase[0]) for phrase in _OPENING_PHRASES
}
_CLOSING = word_set(
    "too though lol haha hahaha btw yay man dude ok okay right actually honestly anyway thanks please mate wow"
)
_JOINING = word_set("and but or so then because which where when as")
_QUOTES = frozenset("\"'’”“‘")
_ASIDES = frozenset(
    {
        "therefore",
        "even",
        "also",
        "actually",
        "honestly",
        "basically",
        "literally",
        "definitely",
        "really",
        "just",
        "super",
        "totally",
    }
)


def trimmed(found: Sequence[Token], called: Collection[str]) -> tuple[Token, ...]:
    """The tokens without greetings, asides and the names of those spoken to."""
    kept = _from_front(list(found), called)
    return tuple(_without_asides(_from_back(kept, called)))


def tidied(found: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens without what a cut has left hanging at the end."""
    return tuple(_from_back(list(found), ()))


def _from_front(found: list[Token], called: Collection[str]) -> list[Token]:
    while found:
        step = _opening(found, called)
        if not step:
            return found
        found = found[step:]
    return found


def _opening(found: list[Token], called: Collection[str]) -> int:
    first = found[0]
    if (
        first.is_mark
        and first.text not in "$£€#+"
        and not (first.text in "\"“'‘" and any(token.text in "\"”'’" for token in found[1:]))
    ):
        return 1
    for phrase in _PHRASES_BY_WORD.get(first.lower, ()):
        if len(found) > len(phrase) and all(token.lower == word for token, word in zip(found, phrase, strict=False)):
            return len(phrase)
    if first.lower == "not" and (
        stop := next((at for at in range(1, min(5, len(found) - 1)) if found[at].text == ","), 0)
    ):
        return stop + 1
    if first.lower == "speaking" and found[1:2] and found[1].lower == "of":
        return next((at + 1 for at in range(2, min(8, len(found))) if found[at].text == ","), 0)
    if _is_called(first, called) and len(found) > 1 and (found[1].is_mark or not _goes_on(found[1])):
        return 1
    if first.lower in _OPENING and len(found) > 1 and first.lower not in _KEPT_ADVERBS:
        after = found[1]
        if first.lower in (
            "great",
            "nice",
            "cool",
            "awesome",
            "right",
            "true",
            "man",
            "still",
            "no",
            "sure",
            "second",
            "sorry",
            "correction",
        ):
            return 1 if after.is_mark or _is_called(after, called) else 0
        return 1
    return 0


def _goes_on(token: Token) -> bool:
    """Whether a name is the subject of what follows, and so is not called."""
    return (
        token.lower in AUXILIARIES
        or token.lower == "and"
        or token.lower in PREPOSITIONS
        or (token.kind is TokenKind.WORD and token.lower.endswith(("s", "ed")))
    )


def _is_called(token: Token, called: Collection[str]) -> bool:
    return (
        len(token.text) > 2
        and token.text[0].isupper()
        and any(name.startswith(token.lower[:3]) for name in called if token.lower[:4] in (name[:4], name[:3]))
    )


def _without_opening(found: list[Token]) -> list[Token]:
    """Without the phrase that opens the clause after: "..., and in my spare time"."""
    for at in range(len(found) - 3, max(1, len(found) - 8), -1):
        joined = found[at].lower in ("and", "but") and found[at - 1].text == ","
        if joined and found[at + 1].lower in ("in", "at", "on", "for", "with", "after", "since"):
            return found[: at - 1]
    return found


def _from_back(found: list[Token], called: Collection[str]) -> list[Token]:
    found = _without_opening(found)
    while len(found) > 1 and (count := _closing(found, called)):
        found = found[:-count]
    return found


def _closing(found: list[Token], called: Collection[str]) -> int:
    """How many tokens at the end belong to nothing before them."""
    last = found[-1]
    if last.text in _QUOTES:
        return int(sum(token.text in _QUOTES for token in found) == 1)
    if last.lower == "so" and base_form(found[-2].lower) == "do":
        return 0
    if (last.is_mark and last.text not in "%)]+#") or last.lower in _JOINING:
        return 1
    if tuple(token.lower for token in found[-3:]) == ("by", "the", "way"):
        return 3
    if tuple(token.lower for token in found[-2:]) in (
        ("of", "course"),
        ("as", "well"),
        ("speaking", "of"),
        ("in", "case"),
    ):
        return 2
    if last.lower in ("a", "an", "the") and last.text.islower():
        return 2 if found[-2].lower in PREPOSITIONS else 1
    if last.lower in ("me", "us") and found[-2].lower == "and":
        return 2
    aside = last.lower in _CLOSING and last.text.islower()
    return int(aside or (_is_called(last, called) and found[-2].text == ","))


def _without_asides(found: list[Token]) -> list[Token]:
    """Without adverbs that only colour, and without what stands in square brackets."""
    kept: list[Token] = []
    depth = 0
    for token in found:
        if token.text == "[":
            depth += 1
        limits = token.lower == "just" and bool(kept) and kept[-1].text == ","
        aside = token.lower in _ASIDES and token.lower in ADVERBS | {"super", "therefore"} and not limits
        if not depth and not aside:
            kept.append(token)
        if token.text == "]" and depth:
            depth -= 1
    return kept
