"""Whether a sentence tells how things stand, and not how somebody feels about it."""

from __future__ import annotations

import re
from functools import lru_cache

from lamina.capture.change.told import Told

_PLAIN_WORDS = 20
_FEELING = re.compile(
    r"\b(?:i think|i guess|excit\w+|awesome|amazing|great|glad|thank(?:s|ful)?(?! to)|sounds?|gonna|wanna|gotta|hope|"
    r"by the way|feel\w*|felt|can't wait|thinking|considering|interested|so (?:much|good|happy)|agree\w*|proud|"
    r"passion\w*|check out|wish|super|special|blast|fun|cool|lovely|luck|incredible|inspir\w+|appreciate|dream\w*|"
    r"worth|love(?:ly|d)?|beautiful|nice|perfect|cute|wow|aww|yum|yep|yeah|sorry|tough|keen|huge|stuff|a lot|"
    r"happen\w*|important|interesting)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_plain(told: Told) -> bool:
    """Whether a sentence tells how things stand, and not how somebody feels about it."""
    return told.whole.words <= _PLAIN_WORDS and not _FEELING.search(told.text) and told.text[0] not in "\"'"
