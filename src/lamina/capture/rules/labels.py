"""Lists of labels: "Bed A: leeks." says what a label stands for without a verb."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.slots import Slot, Told
from lamina.capture.rules.vague import EVALUATIVE
from lamina.text.closed import AUXILIARIES, FIRST_PERSON, PRONOUN_SUBJECTS, SECOND_PERSON, word_set
from lamina.text.normal import one_line
from lamina.text.tokens import Token
from lamina.text.verbs import looks_finite

_LONGEST_LABEL = 4
_LONGEST_VALUE = 6
_ASIDES = word_set("""
    note fact question update answer ps edit tip reminder fyi news important example warning caution record summary
""")
_TALK = AUXILIARIES | FIRST_PERSON | SECOND_PERSON | EVALUATIVE | PRONOUN_SUBJECTS


def labels(sentence: str, found: Sequence[Token], speaker: str) -> Told | None:
    """What a sentence of the form label, colon, value states."""
    colons = [at for at, token in enumerate(found) if token.text == ":"]
    if len(colons) != 1 or not 0 < colons[0] < len(found) - 1:
        return None
    label = [token for token in found[: colons[0]] if not token.is_mark]
    value = list(found[colons[0] + 1 :])
    while value and value[-1].is_mark and value[-1].text not in ")%":
        value.pop()
    if not _plain(label, _LONGEST_LABEL) or not _plain(value, _LONGEST_VALUE):
        return None
    if label[-1].lower in _ASIDES or any(token.text in "\"'“‘[" for token in value):
        return None
    name = one_line(sentence[label[0].start : label[-1].end])
    said = one_line(sentence[value[0].start : value[-1].end])
    return Told(f"{speaker} lists {said} for {name}.", Slot(name.lower(), "entry", said), "fact")


def _plain(words: Sequence[Token], longest: int) -> bool:
    if not words or len(words) > longest or any(token.lower in _TALK for token in words):
        return False
    return not (looks_finite(words[0].lower) and words[0].text[0].islower())
