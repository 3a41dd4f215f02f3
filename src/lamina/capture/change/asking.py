"""How people ask to be forgotten: orders, wishes and duties that speak of erasing and of memory, told from idioms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.capture.change.wordings import (
    ASKS_YOU,
    BECAUSE,
    CLAUSE,
    COURTEOUS,
    COURTESY,
    CUE,
    ELSEWHERE,
    FICTION,
    FOR_NOW,
    FORGETS,
    FROM_MEMORY,
    GONE,
    HELD,
    HOLDS,
    IDIOM,
    IT,
    LETS,
    MARKER,
    NO,
    OPENS,
    PLACE,
    PRIVATE,
    PROMPT,
    QUOTE,
    REPORTED,
    SELF,
    STRONG,
    TAG,
    THINGS,
    UNDO_NEGATION,
    UNREAL,
    VAGUE,
    WEAK,
    YOURS,
)
from lamina.text.closed import word_set
from lamina.text.verbs import KNOWN


@dataclass(frozen=True, slots=True)
class Asked:
    """Where in the sentence it says what is to be forgotten; unless `sure` it may mean something else."""

    start: int
    end: int
    sure: bool


def asked(said: str) -> Asked | None:
    """The request to forget that a sentence, in lower case with straight apostrophes, makes; None if it makes none."""
    if not CUE.search(said) or _is_unreal(said) or not _may_ask(said):
        return None
    shapes = (_wished, _kept_out, _unneeded, _duty, _pretended, _ordered)
    return next((found for shape in shapes if (found := shape(said)) is not None), None)


def _is_unreal(said: str) -> bool:
    """Whether somebody else says it, or nobody does: reported, quoted, invented, or only supposed."""
    if LETS.match(said) and not MARKER.search(said):
        return True
    return any(told.search(said) for told in (UNREAL, FICTION, QUOTE, REPORTED))


def _may_ask(said: str) -> bool:
    """A question asks for nothing to be done, unless it asks whether somebody would."""
    return not said.rstrip("\"')!.* ").endswith("?") or bool(ASKS_YOU.match(said) or TAG.search(said))


_NOT_WANTED = re.compile(
    r"\bi(?: really| definitely)? (?:do not|don't|no longer|never|would not|wouldn't)(?: really| actually| ever)? "
    r"(?:want|like|wish|wanted|need) "
    rf"(?:you to (?:\w+ly )?{HOLDS}(?P<yours>.*)|(?P<about>.+?) (?:to be |being |to stay |to remain )?(?:{HELD}|on "
    rf"(?:file|record)|in {YOURS}))"
    rf"|\bi(?:'d| would) (?:rather|prefer|sooner)(?: it)?(?: if)?(?: that)? (?P<theirs>.+?) (?:was|were|is|be|did|"
    rf"does)?(?:n't| not)(?: be| being| get| stay)? (?:{HELD}|on (?:file|record)|in {YOURS})"
    rf"|\bi(?:'d| would) (?:rather|prefer) not (?:to )?(?:have|see) (?P<mine>.+?) (?:{HELD}|on (?:file|record)|in "
    rf"{YOURS})"
)
_WANTED_GONE = re.compile(
    rf"\bi(?:'d| would)?(?: really| just)? (?:want|need|like|prefer|wish|love)(?: to have| to see)? (?P<about>.+?) "
    rf"(?:to be )?(?P<gone>{GONE})\b"
    rf"|\b(?:can (?:i|we)|let's|let us) (?:please )?(?:have|get|see) (?P<ours>.+?) (?P<went>{GONE})\b"
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
        if name == "yours" and not (marked or (found["memory"] and told)):
            return Asked(start, end, False) if told and not said[start:].lstrip().startswith("i") else None
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
    rf"exclude|blot|banish|chuck|boot|yank|hide|lift|rip|tear|rub|edit|weed|scrub|wash|burn|shake) (?P<about>.+?) "
    rf"(?P<way>out of|off|away from|from) (?:of )?{PLACE}"
)


def _kept_out(said: str) -> Asked | None:
    """ "Keep it out of your notes", "take my age off the record"."""
    found = _KEPT_OUT.search(said)
    if (
        found is None
        or UNDO_NEGATION.search(said[: found.start()])
        or re.search(NO + r"\s*$", said[: found.start("about")])
    ):
        return None
    return Asked(*found.span("about"), bool(MARKER.search(said)))


_UNNEEDED = re.compile(
    r"\byou (?:(?:really )?(?:(?:do not|don't|no longer|never) (?:really )?(?:need|have|ought) to|need(?:n't| not)|"
    r"(?:are|'re) not (?:supposed |allowed )?to|aren't (?:supposed |"
    rf"allowed )?to|should(?:n't| not)|must(?:n't| not)|may not|have no (?:reason|business|need|right) to))(?: "
    rf"\w+ly)? {HOLDS}(?P<about>.*)"
)


def _unneeded(said: str) -> Asked | None:
    """ "You don't need to remember my old address"."""
    found = _UNNEEDED.search(said)
    if found is None:
        return None
    marked, told = (
        MARKER.search(said),
        PRIVATE.match(said, found.start("about")) or VAGUE.match(said, found.start("about")),
    )
    if not marked and not told and not found["memory"]:
        return None
    return Asked(*found.span("about"), bool(marked or (told and found["memory"])))


_MUST = (
    r"(?:should|must|needs? to|ha(?:s|ve) to|ought to|can|may|could|(?:is|are) to|'s to)(?: just| now| please| "
    r"really| all| also)*"
)
_DUTY = re.compile(
    r"\bnothing (?:at all )?(?:about|on|of|regarding|to do with|concerning|related to) (?P<nothing>.+?) (?:should|"
    r"must|may|can|is to|ought to|stays?|remains?|be|is|gets?|left|kept|ends up|in)\b"
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
    r"|\b(?:want|need|keep|make|leave|have) no (?:records?|trace|memory|memories|mention|notes?) of (?P<traceless>.+)"
    r"|\b(?:revok|withdraw|retract|tak)\w*(?: back)? (?:my |the |your |any |all )?(?:permission|consent|approval)(?: "
    r"for you)? (?:to|for)(?: \w+ly)? (?:keep|keeping|store|storing|remember|remembering|hold|holding|retain|"
    r"retaining|save|saving|have|having)(?P<revoked>.*)"
    r"|\bconsider (?P<considered>.+?) (?:forgotten|deleted|erased|gone)\b"
    rf"|\b(?:let|make|have) (?P<slips>.+?) (?:slip|fade|go|vanish|disappear|drop)(?: away)? from {PLACE}"
)
_DUTIES = (
    "about", "unheld", "nothing", "unplaced", "leaves", "seen", "traceless", "revoked", "considered", "slips",
)  # fmt: skip
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
            return Asked(*span, marked or own) if marked or (known and len(said[start:end].split()) <= 10) else None
        case "unheld":
            return (
                Asked(*span, marked or own)
                if _NOT.search(found.group()) and (marked or own) and not _is_you(said, start)
                else None
            )
        case "traceless":
            return Asked(*span, own or marked) if not _is_you(said, 0) else None
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


_ORDERED = re.compile(
    rf"{OPENS}(?:(?P<forgets>{FORGETS})|(?P<strong>{STRONG})|(?P<weak>{WEAK})|{NO} (?:\w+ly )?{HOLDS})(?: (?:out|off|"
    rf"away|up))?(?P<about>\b.*)"
)


def _ordered(said: str) -> Asked | None:
    """ "Please forget my address", "delete it from your notes", "don't keep my number"."""
    at = 0
    while found := _ORDERED.search(said, at):
        known = _order(said, found)
        if known is not None and not UNDO_NEGATION.search(said[: found.start()]):
            return known
        at = found.start("about")
    return None


def _order(said: str, found: re.Match[str]) -> Asked | None:
    start, end = found.span("about")
    about = said[start:end].lstrip()
    marked = bool(MARKER.search(said))
    courteous = bool(
        COURTEOUS.search(found["lead"]) or re.search(r"\b(?:please|thanks|thank you|will you|would you)\W*$", said)
    )
    loose = found["joint"] is not None and found["joint"].strip() in ("", ",")
    if (
        loose
        and not (marked or courteous or found["lead"].startswith("so "))
        and not _is_preamble(said[: found.start()])
    ):
        return None
    verb = found["forgets"] or found["strong"] or found["weak"] or ""
    if (verb.endswith("ing") and "mind" not in found["lead"]) or (verb == "forgot" and "you" not in found["lead"]):
        return None
    if found["forgets"]:
        return _forget(said, start, end, about, marked=marked, courteous=courteous)
    private, vague = bool(PRIVATE.match(about)), bool(VAGUE.match(about))
    if found["strong"] or found["weak"]:
        if marked:
            return Asked(start, end, True)
        if FROM_MEMORY.search(about):
            return Asked(start, end, private)
        if _ALL_ABOUT.match(about):
            return Asked(start, end, False)
        if found["weak"] or _has_clause(about):
            return None
        if vague:
            return Asked(start, end, True) if courteous else None
        return Asked(start, end, False) if private and not (_is_thing(about) or ELSEWHERE.search(about)) else None
    if marked:
        return Asked(start, end, True)
    if _has_clause(about) or ELSEWHERE.search(about):
        return None
    if vague and courteous and len(said[: found.start()].split()) > 2:
        return Asked(start, end, bool(found["memory"]))
    if found["memory"]:
        return Asked(start, end, courteous or "stop" in found.group()) if private or (vague and courteous) else None
    return Asked(start, end, False) if private and not _is_thing(about) else None


def _forget(said: str, start: int, end: int, about: str, *, marked: bool, courteous: bool) -> Asked | None:
    vague = bool(VAGUE.match(about))
    if not marked and (IDIOM.match(about) or PROMPT.search(about) or FOR_NOW.search(about) or _has_clause(about)):
        return None
    if not (marked or courteous or PRIVATE.match(about)) and BECAUSE.search(about):
        return None
    if vague and not marked:
        topic = len(said[:start].split()) > 3 and not _NEVER_MIND.search(said)
        return Asked(start, end, True) if courteous and (topic or not IT.match(about)) else None
    return Asked(start, end, marked or courteous or bool(PRIVATE.match(about)))


def _is_thing(about: str) -> bool:
    """Whether what is named lies somewhere else than in memory: a file, a photo, a list."""
    head = re.split(r"\b(?:of|from|in|on|at|about|for|with|that|please)\b|[,;.!?–—]", about, maxsplit=1)[0].split()
    return bool(head) and THINGS.fullmatch(head[-1]) is not None


_ALL_ABOUT = re.compile(
    r"(?:everything|anything|all|whatever)(?: there is)? (?:about|regarding|concerning|to do with|related to)\b"
)
_NEVER_MIND = re.compile(r"\bnever ?mind\b|\bwhatever\b")


def _is_preamble(before: str) -> bool:
    """Whether what stands before a comma only leads up to an order."""
    return (
        len(before.split()) <= 3
        or re.search(
            r"\b(?:told you|private|secret|mistake|moved|changed|shouldn't have|no longer|sold|over|business)\b", before
        )
        is not None
    )


def _has_clause(about: str) -> bool:
    """Whether something else is asked or said behind what is to be forgotten: then it was only a turn of phrase."""
    for piece in CLAUSE.split(BECAUSE.split(about, maxsplit=1)[0])[1:]:
        words = re.findall(r"[\w'’]+", re.sub(r"^(?:and|but|so|then|instead)\s", "", piece))
        if not words or COURTESY.match(piece):
            continue
        joined = piece.startswith(("and ", "or "))
        if (
            words[0] in _SUBJECTS
            or (words[0] in KNOWN and not (joined and len(words) == 1))
            or (not joined and len(words) > 4)
        ):
            return True
    return False


_SUBJECTS = word_set("""
    i i'm i'd i'll i've we we're let's let you it it's that's what how why when where who is are do does can could would
    should there they he she
""")
