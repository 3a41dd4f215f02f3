"""English verbs: which words may be one, their base form and the form they take after he, she or a name."""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR = """
    be:was,were:been have:had:had do:did:done go:went:gone get:got:gotten,got make:made:made take:took:taken
    come:came:come see:saw:seen know:knew:known give:gave:given find:found:found think:thought:thought
    tell:told:told become:became:become leave:left:left feel:felt:felt put:put:put bring:brought:brought
    begin:began:begun keep:kept:kept hold:held:held write:wrote:written stand:stood:stood hear:heard:heard
    let:let:let mean:meant:meant set:set:set meet:met:met run:ran:run pay:paid:paid sit:sat:sat speak:spoke:spoken
    lie:lay:lain lead:led:led read:read:read grow:grew:grown lose:lost:lost fall:fell:fallen send:sent:sent
    build:built:built understand:understood:understood draw:drew:drawn break:broke:broken spend:spent:spent
    cut:cut:cut rise:rose:risen drive:drove:driven buy:bought:bought wear:wore:worn choose:chose:chosen
    throw:threw:thrown catch:caught:caught win:won:won teach:taught:taught sell:sold:sold fight:fought:fought
    hit:hit:hit hurt:hurt:hurt eat:ate:eaten drink:drank:drunk sing:sang:sung swim:swam:swum fly:flew:flown
    ride:rode:ridden sleep:slept:slept wake:woke:woken steal:stole:stolen hide:hid:hidden shake:shook:shaken
    bite:bit:bitten blow:blew:blown feed:fed:fed lend:lent:lent bend:bent:bent dig:dug:dug hang:hung:hung
    light:lit:lit quit:quit:quit shut:shut:shut split:split:split spread:spread:spread cost:cost:cost bet:bet:bet
    beat:beat:beaten shoot:shot:shot stick:stuck:stuck strike:struck:struck swear:swore:sworn tear:tore:torn
    forget:forgot:forgotten forgive:forgave:forgiven freeze:froze:frozen ring:rang:rung sink:sank:sunk
    sweep:swept:swept weave:wove:woven wind:wound:wound bind:bound:bound breed:bred:bred deal:dealt:dealt
    lay:laid:laid seek:sought:sought show:showed:shown sew:sewed:sewn sow:sowed:sown shrink:shrank:shrunk
    spin:spun:spun spring:sprang:sprung undergo:underwent:undergone withdraw:withdrew:withdrawn
    overcome:overcame:overcome learn:learnt:learnt dream:dreamt:dreamt burn:burnt:burnt spill:spilt:spilt
    spell:spelt:spelt leap:leapt:leapt kneel:knelt:knelt say:said:said bear:bore:born arise:arose:arisen
    rebuild:rebuilt:rebuilt reset:reset:reset withhold:withheld:withheld bleed:bled:bled grind:ground:ground
    cling:clung:clung swing:swung:swung fit:fit:fit overtake:overtook:overtaken
"""
_REGULAR = """
    accept achieve act adapt add admire adopt adore advise agree aim allow answer appear apply appoint appreciate
    approve argue arrange arrive ask assign assist attach attend avoid award bake ban base believe belong book
    borrow brew call camp cancel care carry change charge chat check clean clear climb close coach collect combine
    compete complete compose conduct confirm connect consider contact contain continue contribute control cook copy
    count cover craft create cross cycle dance date decide decorate dedicate delay deliver demand depend deploy
    design develop die discover discuss dislike divorce donate double download dress drop dry earn edit embrace
    employ empty encourage end enjoy enroll enter establish exercise exhibit expand expect experience explain
    explore express fail farm favour fear fill film finish fish fix focus follow form foster found freelance fund
    gain garden gather graduate greet guide handle happen harvest hate head heal help hike hire hope host identify
    imagine improve include increase injure inspire install instruct interview introduce invest invite involve jog
    join journal journey judge jump kayak kick knit label land launch lift like limit link list listen live load
    locate log look love lower maintain manage march mark marry master match matter measure meditate melt mention
    mentor merge migrate miss mix move name need notice nurse offer open operate order organise organize owe own
    pack paint park participate pass pause perform photograph pick plan plant play post pour practice practise
    prefer prepare present press print produce program promise promote propose provide publish pull purchase push
    qualify race raise reach realise realize receive recommend record recover recycle reduce refer refuse register
    rehearse relate relax release relocate rely remain remember remind remove rename renovate rent repair repeat
    replace reply report represent request require rescue research reserve resign respond rest restart restore
    retire return review reward roast roll rule sail save schedule score search seem select separate serve settle
    sew share shift ship shop sign skate skip slow smell smile smoke solve sort sound sponsor sprain staff start
    stay stop store stretch struggle study submit subscribe succeed suffer suggest comply multiply suit supervise
    supply support suppose surf surprise switch talk taste tend test text thank tie touch tour trade train transfer
    transform translate travel treat trust try tutor turn type update upgrade use value visit volunteer vote wait
    walk want warm wash waste watch water weigh welcome wish wonder work worry wrap yell adhere ski audit bank board
    bottle bill coordinate captain chair dine ferment forage moor patrol swap oversee stock tune weave distribute
    face cope figure bother deserve cherish treasure hug congratulate apologize apologise assure guarantee strive
    laugh cry motivate mind regret doubt respect grill graze sprout bloom mow rake trim polish assemble inspect
    sculpt sketch draft rank spot seat lock
"""


def _table() -> tuple[dict[str, str], frozenset[str], frozenset[str], frozenset[str]]:
    bases: dict[str, str] = {}
    pasts: set[str] = set()
    participles: set[str] = set()
    for entry in _IRREGULAR.split():
        base, past, participle = entry.split(":")
        for form in past.split(","):
            bases[form] = base
            pasts.add(form)
        for form in participle.split(","):
            bases.setdefault(form, base)
            participles.add(form)
        bases[base] = base
    bases.update({word: word for word in _REGULAR.split()})
    known = frozenset(bases.values())
    return bases, frozenset(pasts), frozenset(participles), known


_BASES, PASTS, PARTICIPLES, KNOWN = _table()
UNCHANGED = frozenset(
    {"put", "let", "set", "read", "cut", "hit", "hurt", "quit", "shut", "split", "spread", "cost", "bet"}
)
_ENDING_IN_EED = "need feed succeed exceed proceed bleed speed weed breed heed embed shed wed"
_E_D = frozenset(_ENDING_IN_EED.split())
_BE = {"am": "be", "is": "be", "are": "be", "'m": "be", "'re": "be", "was": "be", "were": "be", "been": "be"}
_HAVE = {"has": "have", "had": "have", "'ve": "have", "does": "do", "did": "do", "being": "be", "having": "have"}
_BE.update(_HAVE)
_VOWELS = "aeiou"
_PLAIN_WORDS = frozenset({"underground", "outside", "outset", "reset", "unfit", "overt"})


@lru_cache(maxsize=8192)
def base_form(word: str) -> str | None:
    """The base of a word that may be a verb, if it is one we know or its ending tells."""
    if word in _BE:
        return _BE[word]
    if word in _BASES:
        return _BASES[word]
    if word not in _PLAIN_WORDS and (stem := _unprefixed(word)) in PASTS:
        return word[: len(word) - len(stem)] + _BASES[stem]
    for ending, cuts in (("ing", 3), ("ed", 2), ("es", 2)):
        if word.endswith(ending) and len(word) > cuts + 1 and (found := _stem(word[:-cuts])):
            return found
    return word[:-1] if word.endswith("s") and _BASES.get(word[:-1]) == word[:-1] else None


def _stem(stem: str) -> str | None:
    for form in (
        stem,
        stem + "e",
        stem[:-1] if stem[-1:] == stem[-2:-1] else "",
        stem[:-1] + "y" if stem[-1:] == "i" else "",
    ):
        if form and _BASES.get(form) == form:
            return form
    return None


@lru_cache(maxsize=8192)
def is_past(word: str) -> bool:
    """Whether a word after a subject is a past tense; forms that are also present count as past."""
    if word in PASTS or word in UNCHANGED or _unprefixed(word) in PASTS:
        return True
    return word.endswith("ed") and word not in _E_D and len(word) > 3


@lru_cache(maxsize=8192)
def is_participle(word: str) -> bool:
    """Whether a word may follow have or be as a participle."""
    return word in PARTICIPLES or (word.endswith("ed") and word not in _E_D and len(word) > 3)


def _unprefixed(word: str) -> str:
    """A past such as retook or outgrew without what was put before it."""
    return next((word[len(each) :] for each in ("re", "out", "over", "under", "un") if word.startswith(each)), "")


def is_ly_adverb(word: str) -> bool:
    """Whether a word is an adverb by its ending."""
    return word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERBS and base_form(word) is None


_NOT_ADVERBS = frozenset(
    ["family", "emily", "italy", "sally", "july", "lily", "molly", "apply", "reply", "supply", "rely", "comply"]
)


def is_gerund(word: str) -> bool:
    """Whether a word is the -ing form of some verb."""
    return word.endswith("ing") and len(word) > 4 and word not in _NOT_GERUNDS


_ENDING_IN_ING = "thing nothing something anything everything morning evening spring string king ring wedding during"
_NOT_GERUNDS = frozenset(_ENDING_IN_ING.split())


@lru_cache(maxsize=8192)
def third_person(base: str) -> str:
    """The present form a base verb takes after a name: bakes, goes, carries, is, has."""
    if base in _THIRD:
        return _THIRD[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


_THIRD = {
    "am": "is",
    "are": "is",
    "be": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "'m": "is",
    "'re": "is",
    "'ve": "has",
}


def looks_finite(word: str) -> bool:
    """Whether a word could be the finite verb of a clause whose subject stands before it."""
    return (base_form(word) is not None and not is_gerund(word)) or (is_past(word) and not word.endswith("eed"))
