"""Convert texts to the forms in which they are compared, and decide whether two texts say the same.

Hidden characters carry text or reverse it without being visible. They are marked, never dropped. Joiners inside an
emoji or a script that needs them, the tags of a flag, and direction marks beside right-to-left letters count as
visible.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.text.analyser import analyse, to_nfkc

_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_SIGNS = re.compile(r".*\w([+#]+)\W*")


def normal_form(text: str) -> str:
    """Return letters and digits of any script, case folded and in NFKC, words joined by single spaces."""
    if text.isascii():
        return " ".join(text.translate(_ASCII_WORDS).split())
    folded = to_nfkc(to_nfkc(text).casefold())
    return " ".join("".join(char if _is_word_char(char) else " " for char in folded).split())


def name_form(name: str) -> str:
    """Return the normal form of a name in which signs right after a word count: C++, C# and C are different."""
    if "+" not in (composed := to_nfkc(name)) and "#" not in composed:
        return normal_form(name)
    return " ".join(filter(None, map(_normalise_name_word, composed.split())))


def _normalise_name_word(word: str) -> str:
    signs, form = _SIGNS.fullmatch(word), normal_form(word)
    # After a mark that joins no letter they could not be found again.
    return form + signs[1] if signs and re.fullmatch(r".*\w", form) else form


def value_form(text: str) -> str:
    """Return the form in which two values are compared: case, spaces and surrounding punctuation do not count."""
    return one_line(to_nfkc(to_nfkc(text).casefold())).strip(" .,;:!?\"'“”‘’")


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same words; texts without words are never the same."""
    form = normal_form(one)
    return bool(form) and form == normal_form(other)


def one_line(text: str) -> str:
    """Return the text on one line with white space collapsed, for labels such as a subject."""
    return " ".join(text.split())


def shorten_line(text: str, length: int) -> str:
    """Return the text on one line, cut to a length with an ellipsis if it is longer."""
    line = one_line(text)
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


MIN_OVERLAP_TENTHS = 9
"""The overlap of two word sets (Jaccard), in tenths, from which they may say the same."""


@dataclass(frozen=True, slots=True)
class ComparisonForm:
    """A text in a form for comparison: its normal form, the signs that must match in order, and its tokens."""

    normal_form: str
    signs: tuple[str, ...]
    tokens: tuple[str, ...]
    token_set: frozenset[str]


def comparison_form(text: str) -> ComparisonForm:
    """Return the text in a form for comparison."""
    form = normal_form(text)
    tokens = tuple(dict.fromkeys(token for word in form.split() for token in _word_tokens(word)))
    return ComparisonForm(form, _find_signs(text), tokens, frozenset(tokens))


def are_equivalent(one: ComparisonForm, other: ComparisonForm) -> bool:
    """Return whether two texts have the same or nearly the same words, and the same numbers, dates, negations and
    hedges.

    A text without words is not equivalent to any other.
    """
    return (
        bool(one.normal_form)
        and one.signs == other.signs
        and (one.normal_form == other.normal_form or are_nearly_equal(one, other))
    )


def are_nearly_equal(one: ComparisonForm, other: ComparisonForm) -> bool:
    """Return whether the words overlap by 0.9, one side has no word that the other lacks, and the shared words are in
    the same order.

    A word in place of another may be a changed value, so a replaced word is a difference.
    """
    shared = one.token_set & other.token_set
    if 10 * len(shared) < MIN_OVERLAP_TENTHS * len(one.token_set | other.token_set):
        return False
    if len(shared) < min(len(one.token_set), len(other.token_set)):
        return False
    first, second = ([token for token in form.tokens if token in shared] for form in (one, other))
    return first == second


_NEGATIONS = """
    no none never nobody nothing nowhere neither nor without hardly barely except stop stopped quit
    nicht nichts nie niemals kein keine keinen keinem keiner keines ohne
    ne pas jamais rien aucun aucune sans nunca jamás nada sin ni não nem sem non mai senza niet geen nooit zonder
    inte aldrig ikke aldri bez не нет ни никогда без
"""
_HEDGES = """
    if unless would could might may maybe perhaps probably possibly almost nearly only but instead until before after
    since used former formerly previous previously ex old was were had will
"""
_NUMBER_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    half once twice first second third last next
"""
_DATE_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    today tonight yesterday tomorrow morning noon afternoon evening midnight weekend spring summer autumn fall winter
"""
_SIGN_WORDS = frozenset(f"{_NEGATIONS} {_HEDGES} {_NUMBER_WORDS} {_DATE_WORDS}".split())
_NOT_WORDS = """
    not cannot aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shant shouldnt wasnt
    werent wont wouldnt
"""
_NOT = frozenset(_NOT_WORDS.split())
_SIGN = re.compile(
    r"(?:(?<!\w)[-+±~<>≤≥])?[$€£¥₹#]?\d+(?:[.,:/-]\d+)*+(?:\s?[%‰°$€£¥₹])?|[?؟]+|[^\W\d_]+(?:'[^\W\d_]+)?"
)
_UNSPACED_NEGATION = re.compile(r"[不没沒無无非未別别勿否않없]|아니|ない|なかっ|ません")


def _word_tokens(word: str) -> Sequence[str]:
    """Return the word itself, unstemmed because "lived" is not "lives"; its parts if its script has no spaces."""
    return (word,) if word.isascii() else analyse(word)


def _find_signs(text: str) -> tuple[str, ...]:
    """Return the signs that must be the same in the same order."""
    folded = to_nfkc(text).casefold().replace("’", "'")
    signs = filter(None, map(_normalise_sign, _SIGN.findall(folded)))
    return (*signs, *_UNSPACED_NEGATION.findall(folded))


def _normalise_sign(text: str) -> str:
    if text[0] in "?؟":
        return "?"
    if not text[0].isalpha():
        return text.replace(" ", "")
    word = text.replace("'", "")
    return "not" if word in _NOT else word if word in _SIGN_WORDS else ""


HIDDEN_TEXT_TAG = "hidden text"
"""The tag of a text that contains hidden characters."""

_VISIBLE_USES = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
    "|(?<=[^\x00-\x7f\u200b-\u200f\ufe0f])[\u200c\u200d](?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=\ufe0f)\u200d(?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=[\u0590-\u08ff])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[\u0590-\u08ff])"
)
_HIDDEN_CHARACTERS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def has_hidden_text(text: str) -> bool:
    """Return whether a text contains hidden characters."""
    return not text.isascii() and bool(_find_hidden(text))


def escape_hidden(text: str) -> str:
    """Return the text with every hidden character written out, as `<U+200B>`."""
    if text.isascii():
        return text
    for position in reversed(_find_hidden(text)):
        text = f"{text[:position]}<U+{ord(text[position]):04X}>{text[position + 1 :]}"
    return text


def escape_unprintable(text: str) -> str:
    """Return the text with its control characters replaced, and its hidden characters written out."""
    return escape_hidden(_CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text))


def remove_hidden(text: str) -> str:
    """Return the text without its hidden characters."""
    positions = frozenset(_find_hidden(text)) if not text.isascii() else frozenset()
    return "".join(char for position, char in enumerate(text) if position not in positions) if positions else text


def _find_hidden(text: str) -> list[int]:
    visible = {position for match in _VISIBLE_USES.finditer(text) for position in range(*match.span())}
    return [match.start() for match in _HIDDEN_CHARACTERS.finditer(text) if match.start() not in visible]
