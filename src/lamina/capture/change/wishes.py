"""Wishes to forget that are no orders: what somebody would rather, what is not needed, what others asked for."""

from __future__ import annotations

import re

from lamina.capture.change.matter import has_clause, is_knowable, is_somebodys
from lamina.capture.change.order import Asked
from lamina.capture.change.wordings import (
    FORGETS,
    FROM_MEMORY,
    GLAD,
    GONE,
    HELD,
    HOLDS,
    LASTS,
    MARKER,
    NO,
    OPENS,
    OURS,
    PHYSICAL,
    PLACE,
    POSSESSED,
    PRIVATE,
    SELF,
    STRONG,
    UNASKED,
    UNDO_NEGATION,
    VAGUE,
    WEAK,
    WONDERS,
    YOURS,
)

_BEGGED = re.compile(
    rf"\byou(?:'d|'ll)?(?P<gap>(?: [\w']+){{0,6}}?) (?:{FORGETS}|forgotten)(?: about)?(?P<about> .+)"
    r"|\byou (?:don't|do not|didn't|did not|no longer|not|never)(?: \w+ly)? (?:remember|memori[sz]e|retain|"
    r"recall)(?P<unheld> .+)"
    rf"|\byou(?:'d)?(?: to)? (?:{STRONG}|{WEAK})(?P<erased> .+)"
)
_SOMETHING = re.compile(
    r"^(?P<about>.+?) (?:is|are|was)(?: \w+)? (?:something|things|details|what|a thing|one thing|a detail|a "
    r"subject)(?: that)? .*\byou(?:'d)?(?: to)?(?: now)? "
    rf"(?:{FORGETS}|{NO} {HOLDS})\W*$"
)


def begged(said: str) -> Asked | None:
    """Whatever leads up to it: you, forgetting, something that is known, and a word that it would be welcome."""
    if (found := _SOMETHING.match(said)) and (PRIVATE.match(said) or is_somebodys(said)):
        return Asked(*found.span("about"), True)
    found = _BEGGED.search(said)
    if found is None:
        return None
    name = next(each for each in ("about", "unheld", "erased") if found[each] is not None)
    about, lead = found[name].lstrip(), said[: found.start(name)]
    told = MARKER.search(about) if name == "erased" else PRIVATE.match(about) or is_somebodys(about)
    if (
        not told
        or UNASKED.search(lead)
        or WONDERS.search(found["gap"] or "")
        or _WONDERED.search(lead)
        or not GLAD.search(said)
    ):
        return None
    return None if has_clause(about, reasoned=True) else Asked(*found.span(name), True)


_WONDERED = re.compile(
    r"\b(?:how|why|when|whether|because|tell|explain|know|did|have|has|hope|unless|that) you(?!r)\b(?<!ask that "
    r"you)(?<!prefer that you)(?<!wish that you)(?<!best that you)(?<!insist that you)(?<!request that you)"
)
_PASSED_ON = re.compile(
    r"(?:^|[:;–—])\W*(?!(?:i|we|you|it|who|what|everyone|people|nobody|a|an|some|any|users|customers|no one)\b)"
    r"(?P<who>[\w'.-]+?(?: [\w'.-]+){0,4}?)(?: would|'d| has| have| had)?(?: really| also| now| kindly)* "
    r"(?:(?P<not>(?:does|do|did|would)(?:n't| not) (?:want|like|wish)|no longer wants?)|like|rather|sooner|wants?|"
    r"wanted|asks?|asked|"
    r"prefers?|wish(?:es)?|requests?|requested|insists?|begs?)(?: me| us)? (?:(?:to|for|that) )?"
    rf"(?P<you>you (?:to |should )?(?:please )?(?:(?P<forgets>{FORGETS})|(?P<erases>{STRONG}|{WEAK})|(?P<never>not |"
    r"never |didn't |did not "
    rf")?(?:to )?{HOLDS}) )?"
    r"(?:have |see )?(?P<about>(?:his|her|their|him|them|it|that|this|my|our)\b.*)"
)
_TO_BE_GONE = re.compile(
    r"^\W*(?!(?:i|we|you|it|who|what|a|an|some|any|he|she|they)\b)(?P<who>[\w'.-]+?(?: [\w'.-]+){0,3}?)(?: has| have|"
    r" had| would|'d)? "
    rf"(?:asked|asks|wants|wanted|like|wishes|prefers?|requested|requests) to be (?:{GONE}|taken)\b.*\b(?:from|off|"
    rf"out of|in) {YOURS}"
)
_YOUR_PLACE = re.compile(rf"\b(?:from|off|out of|in|on) {YOURS}\b|\bon (?:file|record)\b")
_PRONOUN = re.compile(r"(?:he|she|they)\b")


def passed_on(said: str) -> Asked | None:
    """ "Agatha would like her address removed from your notes": somebody's own wish about what is theirs."""
    if gone := _TO_BE_GONE.match(said):
        return Asked(*gone.span("who"), True)
    found = _PASSED_ON.search(said)
    if found is None:
        return None
    about = found["about"]
    placed, named = _YOUR_PLACE.search(about) is not None, not _PRONOUN.match(found["who"])
    if found["forgets"]:
        asks = not found["not"] and (placed or (named and not has_clause(about)))
    elif found["erases"]:
        asks = not found["not"] and placed
    elif found["you"]:
        asks = bool(found["not"]) != bool(found["never"]) and (placed or (named and is_somebodys(about)))
    else:
        asks = placed and bool(found["not"] or re.search(rf"\b(?:{GONE}|taken|not be {HELD})\b", about))
    return Asked(*found.span("about"), placed) if asks else None


_NOT_WANTED = re.compile(
    r"\b(?:i|we)(?: really| definitely)? (?:do not|don't|no longer|never|would not|wouldn't)(?: really| actually| "
    r"ever)? "
    r"(?:want|like|wish|wanted|need) "
    rf"(?:you (?:to )?(?:\w+ly )?{HOLDS}(?P<yours>.*)|(?P<about>.+?) (?:to be |being |to stay |to remain )?(?:{HELD}|"
    r"on "
    rf"(?:file|record)|in {YOURS}))"
    rf"|\b(?:i|we)(?:'d| would) (?:rather|prefer|sooner|(?:\w+ ){{1,4}}?if)(?: it)?(?: if)?(?: that)? "
    r"(?P<theirs>.+?) (?:was|were|is|be|did|"
    rf"does)?(?:n't| not)(?: be| being| get| stay)? (?:{HELD}|on (?:file|record)|in {YOURS})"
    rf"|\b(?:i|we)(?:'d| would) (?:rather|prefer) not (?:to )?(?:have|see) (?P<mine>.+?) (?:{HELD}|on (?:file|"
    r"record)|in "
    rf"{YOURS})"
)
_WANTED_GONE = re.compile(
    r"\b(?:i|we)(?:'d| would)?(?: really| just)? (?:want|need|like|prefer|wish|love|rather|sooner)(?: to have| to "
    r"see)?(?: that| it if)? (?P<about>.+?) "
    rf"(?:to be |were |was |be )?(?P<gone>{GONE})\b"
    rf"|\b(?:can (?:i|we)|let's|let us|please|kindly) (?:please )?(?:have|get|see) (?P<ours>.+?) (?P<went>{GONE})\b"
    r"|\b(?:can|could|may) "
    rf"(?P<passive>(?:my|our|all|everything|the|what) .+?) (?:please )?be (?P<were>{GONE})\b"
)


def _wished(said: str) -> Asked | None:
    """ "I don't want my salary kept", "I want it gone from your memory"."""
    marked = bool(MARKER.search(said))
    if found := _NOT_WANTED.search(said):
        name = next(name for name in ("yours", "about", "theirs", "mine") if found[name] is not None)
        start, end = found.span(name)
        told = PRIVATE.match(said, start) or VAGUE.match(said, start)
        about = said[start:end].lstrip()
        verb = found.group()[: -len(about) or None] if name == "yours" else found.group()
        if not marked and PHYSICAL.search(verb) and not (is_knowable(about) or VAGUE.match(about)):
            return None
        if name == "yours" and not (marked or (found["memory"] and told)):
            return Asked(start, end, False) if told and not about.startswith("i") else None
        return Asked(start, end, bool(marked or told or name == "about"))
    if found := _WANTED_GONE.search(said):
        name, verb = next(
            (a, b) for a, b in (("about", "gone"), ("ours", "went"), ("passive", "were")) if found[a] is not None
        )
        if marked or FROM_MEMORY.search(said) or found[verb] in ("forgotten", "unlearned"):
            return Asked(*found.span(name), True)
    return None


_KEPT_OUT = re.compile(
    rf"{OPENS}(?:keep|keeping|kept|leave|leaving|left|take|taking|took|get|have|strike|pull|cut|cross|put|kick|omit|"
    r"exclude|blot|banish|chuck|boot|yank|hide|lift|rip|tear|rub|edit|weed|scrub|wash|burn|shake)(?! back\b) "
    r"(?P<about>.+?) "
    rf"(?P<way>out of|off|away from|from) (?:of )?{PLACE}"
)
_EMPTIED = re.compile(
    rf"{OPENS}(?:(?:take|pull|strike|get|leave|keep)(?: back)? (?:out of|off) {YOURS}|(?:clear|rid|cleanse|clean|"
    rf"free|purge|scrub|wipe|empty|relieve)(?: out)? {YOURS} of) (?P<about>.+)"
)


def _emptied(said: str) -> Asked | None:
    """ "Clear your memory of my shoe size"."""
    found = _EMPTIED.search(said)
    return Asked(*found.span("about"), True) if found and not UNDO_NEGATION.search(said[: found.start()]) else None


_LISTED = re.compile(
    rf"{OPENS}(?:take|strike|cross|scratch|remove|delete|get|leave|keep|drop|wipe|erase|scrub) (?P<about>.+?) (?:off|"
    rf"from|out of) {OURS}\b"
)


def _kept_out(said: str) -> Asked | None:
    """ "Keep it out of your notes", "take my age off the record"."""
    if (
        (found := _LISTED.search(said))
        and is_somebodys(found["about"])
        and not UNDO_NEGATION.search(said[: found.start()])
    ):
        return Asked(*found.span("about"), False)
    found = _KEPT_OUT.search(said)
    if (
        found is None
        or UNDO_NEGATION.search(said[: found.start()])
        or re.search(NO + r"\s*$", said[: found.start("about")])
    ):
        return None
    about = found["about"]
    if found["way"] == "from" and _FETCHES.match(said, found.end("lead")):
        return None
    named = PRIVATE.match(about) or POSSESSED.match(about) or is_knowable(about) or VAGUE.match(f"{about} ")
    if _THE_RECORD.search(said, found.end("about")) and not (named or MARKER.search(about)):
        return None
    return Asked(*found.span("about"), bool(MARKER.search(said)))


_FETCHES = re.compile(r"(?:get|have|pull|lift|take|put|taking|took)\b")
_THE_RECORD = re.compile(r"\s*(?:off|from|out of) the records?\b")
_UNNEEDED = re.compile(
    r"\b(?:you (?:(?:really )?(?:(?:do not|don't|no longer|never) (?:really )?(?:need|have|ought) to|need(?:n't| "
    r"not)|"
    r"(?:are|'re) not (?:supposed |allowed )?to|aren't (?:supposed |"
    r"allowed )?to|should(?:n't| not)|must(?:n't| not)|may not|have no (?:\w+ )?(?:reason|business|need|right|call) "
    r"to))"
    r"|no (?:\w+ )?(?:reason|need|point|call|cause|use|sense|grounds|excuse)(?: for you to| in you(?:r)?| why you "
    r"should)"
    r"|(?:is not|isn't|not|no longer) (?:necessary|needed|required) for you to)"
    rf"(?: still)?(?: \w+ly)? {HOLDS}(?P<about>.*)"
)


def _unneeded(said: str) -> Asked | None:
    """ "You don't need to remember my old address"."""
    found = _UNNEEDED.search(said)
    if found is None:
        return None
    start, about = found.start("about"), found["about"]
    marked = bool(MARKER.search(said))
    told = bool(PRIVATE.match(about) or VAGUE.match(about) or is_somebodys(about))
    lasts = told and bool(LASTS.search(said))
    if (
        not marked
        and PHYSICAL.search(found.group()[: -len(about) or None])
        and not (is_knowable(about) or VAGUE.match(about))
    ):
        return None
    if not (marked or lasts) and (not told or re.search(r"\b(?:have|know|having|knowing)$", said[:start])):
        return None
    return Asked(*found.span("about"), bool(marked or (told and found["memory"]) or (lasts and is_somebodys(about))))


_MUST = (
    r"(?:should|must|needs? to|ha(?:s|ve) to|ought to|can|may|could|(?:is|are) to|'s to)(?: just| now| please| "
    r"really| all| also)*"
)
_DUTY = re.compile(
    r"\bnothing (?:at all )?(?:about|on|of|regarding|to do with|concerning|related to) (?P<nothing>.+?) (?:should|"
    r"must|may|can|is to|ought to|stays?|remains?|be|is|was|were|gets?|left|kept|ends up|in)\b"
    rf"|(?P<about>.+?) {_MUST} (?:be|get) (?P<gone>{GONE})\b"
    rf"|(?P<unheld>.+?) (?:should|must|may|can|need|ought|(?:is|are) (?:not )?(?:meant|supposed|allowed))(?:n't| not|"
    rf")(?: to)? (?:never )?(?:be |stay |remain )(?:{HELD}|on (?:file|record)|in {YOURS})"
    rf"|(?P<unplaced>.+?) (?:ha(?:s|ve) no (?:place|business)(?: being)?|do(?:es)?(?:n't| not) belong) (?:in|on) "
    rf"{PLACE}"
    rf"|(?P<leaves>.+?) {_MUST} (?:leave|go|vanish|disappear|come off|come out of|get out of|be out of|be off|fade)\b"
    rf"|\b(?:see to it|make sure|ensure|be sure)(?: that)? (?P<seen>.+?) (?:vanish\w*|disappears?|leaves?|goes|(?:is|"
    rf"are|gets?|be) {GONE}|(?:is|are|gets?|does)(?:n't| not) (?:be )?{HELD}|"
    r"(?:do not|don't|does not|doesn't|never|no longer) (?:stay|stays|remain|remains|"
    rf"end up|ends up|appear|appears|exist))\b"
    r"|\b(?:want|need|keep|make|leave|have|had|hold|held) no (?:records?|trace|memory|memories|mention|notes?) of "
    r"(?P<traceless>.+)"
    r"|\b(?:revok|withdraw|retract|tak)\w*(?: back)? (?:my |the |your |any |all )?(?:permission|consent|approval)(?: "
    r"for you)? (?:to|for)(?: \w+ly)? (?:keep|keeping|store|storing|remember|remembering|hold|holding|retain|"
    r"retaining|save|saving|have|having)(?P<revoked>.*)"
    r"|\bconsider (?P<considered>.+?) (?:forgotten|deleted|erased|gone)\b"
    rf"|\b(?:let|make|have) (?P<slips>.+?) (?:slip|fade|go|vanish|disappear|drop)(?: away)? (?:from|out of) {PLACE}"
)
_DUTIES = (
    "about", "unheld", "nothing", "unplaced", "leaves", "seen", "traceless", "revoked", "considered", "slips",
)  # fmt: skip
_LONG = 60
_NOT = re.compile(r"\b(?:not|never)\b|n't\b")


def _duty(said: str) -> Asked | None:
    """ "My age should be forgotten", "nothing about it should stay on file"."""
    found = _DUTY.search(said)
    if found is None:
        return None
    name = next(each for each in _DUTIES if found[each] is not None)
    span = start, end = found.span(name)
    marked = bool(MARKER.search(said))
    own = bool(re.search(rf"\b{SELF}", said[start:end]))
    match name:
        case "about" if _NOT.search(found.group()):
            return None
        case "about":
            known = found["gone"] in ("forgotten", "unlearned")
            named = own or is_somebodys(said[start:end])
            return Asked(*span, marked or own) if marked or (known and named and end - start < _LONG) else None
        case "unheld":
            return (
                Asked(*span, marked or own)
                if _NOT.search(found.group()) and (marked or own) and not _is_you(said, start)
                else None
            )
        case "traceless":
            return Asked(*span, own or marked) if not _is_you(said, 0) else None
        case "nothing" if own and re.search(rf"\b{HELD}\b", said[end:]):
            return Asked(*span, True)
        case "nothing" | "leaves" | "seen":
            return Asked(*span, True) if marked and not _is_you(said, start) else None
        case "considered":
            return Asked(*span, marked) if marked or own else None
        case _:
            return Asked(*span, True)


def _is_you(said: str, start: int) -> bool:
    return re.match(r"\W*(?:(?:and|so|but|please|then) )*you\b", said[start:]) is not None


_PRETENDED = re.compile(
    rf"{OPENS}(?:pretend|act|behave|carry on)(?: (?:as if|as though|like))?(?: that)? (?:i|we)(?:'d| had| have|'ve)? "
    rf"never (?:told you|told|said|mentioned|shared|gave you|brought up|"
    r"spoke of|spoke about|wrote|let slip)(?P<about>.*)"
    r"|\btreat (?P<treated>.+?) (?:as if|as though|like) (?:i|we)(?:'d| had| have|'ve)? never (?:told|said|mentioned|"
    r"shared|brought)"
)


def _pretended(said: str) -> Asked | None:
    """ "Pretend I never told you about my knee"."""
    found = _PRETENDED.search(said)
    return Asked(*found.span("about" if found["treated"] is None else "treated"), True) if found else None


_SHAPES = (_wished, _kept_out, _emptied, _unneeded, _duty, _pretended)


def wished(said: str) -> Asked | None:
    """The wish to have something forgotten that a sentence makes in one of many shapes."""
    return next((found for shape in _SHAPES if (found := shape(said)) is not None), None)
