"""What hangs at the end of a clause and may be left off: reasons, asides, and "and it was so much fun"."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.concrete import concrete, praises
from lamina.capture.rules.trim import tidied
from lamina.capture.rules.vague import EMPTY, MENTAL
from lamina.text.closed import AUXILIARIES, word_set
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import looks_finite

_CUT_WORDS = word_set("because so which when while as since though although but and where until before after if")
_BOUND = word_set("if when until before after unless")
_AS_OFTEN = word_set("long soon well much far many such same often")
_PARTS = word_set("""
    i we it he she they you that this there which who because so but and especially even then my the our not to like
    with for at in
""")
_ASKING = word_set("need want hoping wondering")
_WANTED = word_set("wanted needed tried hoped felt")
_MOST_CUTS = 4


def tail_cuts(said: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The clause whole but for an end that only praises, then without its last dependent part, and so on inwards.

    A condition is never left off: what holds only then must not be told without it.
    """
    cuts = [at for at in range(3, len(said)) if _may_cut(said, at)]
    whole = said
    while cuts and whole[cuts[-1]].lower not in _BOUND and _tells_nothing(whole[cuts[-1] + 1 :]):
        whole = whole[: cuts.pop()]
    pieces = [whole]
    for at in reversed(cuts[-_MOST_CUTS:]):
        if whole[at].lower in _BOUND:
            break
        pieces.append(whole[:at])
    return [tidied(piece) for piece in pieces]


def _may_cut(said: Sequence[Token], at: int) -> bool:
    """Whether what follows is a part of its own: a clause, a verb or a phrase, and not one more noun of a list."""
    token = said[at]
    if token.text == "(" or (token.lower == "on" and at + 2 < len(said) and said[at + 1].lower == "top"):
        return True
    if (token.text != "," and token.lower not in _CUT_WORDS) or at + 1 >= len(said):
        return False
    after = said[at + 1]
    if token.lower == "as" and (after.lower in _AS_OFTEN or said[at - 1].lower in _AS_OFTEN):
        return False
    listing = at + 1 if token.text == "," and after.lower == "and" else at
    if (
        said[listing].lower == "and"
        and said[listing - 1].text == ","
        and any(each.text == "," for each in said[: listing - 1])
    ):
        return False
    if token.text != "," and token.lower not in ("and", "but", "as", "since"):
        return True
    if after.lower in _PARTS or after.lower in AUXILIARIES:
        return True
    if after.lower.endswith("ing"):
        return token.text == ","
    return after.kind is TokenKind.WORD and looks_finite(after.lower) and not after.lower.endswith("s")


def _tells_nothing(tail: Sequence[Token]) -> bool:
    words = [token for token in tail if not token.is_mark]
    if not words or praises(words) or words[0].lower in _ASKING:
        return True
    if words[0].lower in _WANTED and concrete(words) < 1:
        return True
    idle = any(token.lower in AUXILIARIES or token.lower in MENTAL or token.lower in EMPTY for token in words)
    return idle and concrete(words) < 1
