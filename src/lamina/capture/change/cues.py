"""How strongly a sentence tells that something is no longer as it was."""

from __future__ import annotations

import re
from enum import IntEnum

from lamina.capture.rules.classes import corrects


def _any(*cues: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(cues) + r")(?!\w)", re.IGNORECASE)


STRONG = _any(
    r"now(?! that)", r"now that", r"these days", r"nowadays", r"switch(?:ed|ing)", r"chang(?:ed|ing)",
    r"change of (?:plans?|heart|mind)", r"replac(?:ed|ing|es)", r"swapp(?:ed|ing)", r"trad(?:ed|ing)", r"instead",
    r"no longer", r"any ?more", r"left", r"sold", r"quit", r"gave up", r"given up", r"back to", r"rather than",
    r"(?:from|as of) (?:today|now|tomorrow)", r"from (?:now|here) on", r"t[oa]k(?:es|en|ook|ing)? over", r"took over",
    r"convert(?:ed|ing)", r"done with", r"gone (?:off|over)", r"went (?:off|over|back|with)", r"dropped", r"ditched",
    r"migrat(?:ed|ing)", r"renamed", r"reassigned", r"relocated", r"succeeded", r"succeeds", r"handed (?:over|on|it)",
    r"stopped", r"cleared", r"from then on", r"got rid of", r"gave up", r"turned into", r"became",
    r"(?:has|have) become", r"reverted", r"in place of", r"out of the", r"at present", r"currently",
    r"going forward", r"out of (?!the|my|our|all|it)",
    r"re(?:wrote|written|built|did|cast|named|assigned|scheduled|hired)", r"until recently", r"used to",
    r"(?:an?|another|the|my|our|his|her|their)(?: \w+ly)? different", r"upgraded", r"downgraded", r"retired",
    r"ended up (?:with|going|using|at|in)", r"went (?:for|bust)", r"jumped ship", r"bowed out",
    r"stepped (?:down|in|up)",
    r"redeployed", r"transferred", r"packed (?:off|up|in)", r"pulled out", r"fell through", r"until further notice",
    r"for good", r"as it turns out", r"given to", r"was given", r"has been given",
    r"put (?:me|us|him|her|them|it) (?:on|with|in)",
    r"appointed", r"elected", r"promoted", r"hired", r"chosen", r"nominated",
)  # fmt: skip
_WEAK = _any(
    r"since", r"just", r"new", r"again", r"went (?:up|down)", r"raised", r"lowered", r"moved", r"moving", r"booked",
    r"decided", r"start(?:ed|ing|s)", r"grown", r"grew", r"rose", r"fell", r"shifted",
    r"reissued", r"updated?", r"bumped", r"cut", r"increased", r"decreased", r"extended", r"postponed", r"rescheduled",
    r"pushed", r"brought forward", r"joined", r"bought", r"got", r"reached", r"hit", r"up to",
    r"down to", r"passed", r"next", r"finally", r"at last", r"turns out", r"already",
)  # fmt: skip


class Cue(IntEnum):
    """How strongly a sentence tells that something is no longer as it was."""

    NONE = 0
    WEAK = 1
    STRONG = 2
    CORRECTION = 3


def cue_of(text: str) -> Cue:
    """How strongly a sentence tells of a change."""
    if corrects(text):
        return Cue.CORRECTION
    if STRONG.search(text):
        return Cue.STRONG
    return Cue.WEAK if _WEAK.search(text) else Cue.NONE
