"""The words in which people ask to be forgotten, and those in which they mean something else.

Patterns for a sentence in lower case with straight apostrophes; `asking` puts them together.
"""

from __future__ import annotations

import re

CUE = re.compile(
    r"\b(?:forg[eo]t|unlearn|remember|eras(?:e|ing)|delet(?:e|ing)|remov(?:e|ing)|wip(?:e|ing)|scrub|purg(?:e|ing)|"
    r"expung|str(?:ike|uck)|drop|scratch|clear|redact|discard|dump|ditch|destroy|g[eo]t(?:ting)? rid|los(?:e|ing)|"
    r"let go|throw|toss|rub out|blot|cross out|take|taken|keep|kept|stor(?:e|ing)|retain|memori[sz]|hold|hang|"
    r"sav(?:e|ing)|record|log|not(?:e|ing) down|writ(?:e|ing) down|gone|file|pretend|act (?:as|like)|know|out of|off|"
    r"vanish|unsav|bin|trash|shred|withdraw|dispose|consider|belong|no place|leave|disappear|fade|slip|memory|notes|"
    r"on record|treat)",
    re.IGNORECASE,
)
"""Without one of these words nobody asks to be forgotten."""

FILLER = (
    r"(?:please|pls|plz|kindly|just|simply|actually|also|now|ok|okay|oh|so|well|hey|hi|and|then|but|maybe|perhaps|"
    r"thanks|sorry|right|alright|listen|look|no|yes|yeah|honestly|seriously|wait|hmm|um|btw|by the way|one more "
    r"thing|first|again|for (?:my |our )?(?:own )?privacy(?: reasons)?|for privacy's sake|i beg you|when you (?:get|"
    r"have) (?:a|the) (?:moment|chance|minute|second)|while you're at it|on second thoughts?|in hindsight|come to "
    r"think of it|from now on|going forward|quickly|completely|permanently|immediately|at once|better|really|safely|"
    r"gladly|only|for good|therefore|hence|quietly|if (?:you (?:can|could|would|please|don't mind|do not mind)|"
    r"possible|it's not too much(?: trouble)?|that's (?:ok|okay|possible)))"
)
"""What may stand before an order without changing it."""
WISH = (
    r"(?:i(?:'d| would) (?:\w+ ){1,4}?if you(?:'d| would| could| can| just)?|i(?:'d| would)(?: really| much)? "
    r"(?:rather|sooner) you(?:'d| would| could| just)?|(?:it|that)(?:'d| would| might) be (?:\w+ ){1,2}if you(?:'d| "
    r"would| could| can| just)?|i(?:'d| would)(?: really)? (?:like|love|prefer|want|need|ask) (?:for )?you(?: to)?|"
    r"i(?:'m| am) asking you to|i (?:really |now |just |hereby |do )?(?:want|need|ask|beg|expect|urge|order|must ask|"
    r"have to ask|prefer) (?:for )?you(?: to)?|i (?:hereby )?(?:request|insist)(?: that)? you)"
)
ASK = (
    rf"(?:(?:could|can|will|would|won't|couldn't|can't) (?:you|u|we)(?: be (?:so kind as to|able to))?|(?:could|can|"
    rf"may|might) i ask you to|(?:would |do )?(?:you )?mind|(?:make|let) yourself|try to|{WISH}|"
    r"(?:do|as) (?:me )?(?:a|one|this) (?:\w+ )?favou?r(?: for me)?(?:[,:])?(?: and)?|be (?:so kind|a dear|an angel|"
    r"a pal|kind enough|so good|nice)(?: and| as to| to)?|(?:make|be) sure (?:to|that you|you)|see to it that you|go "
    r"ahead and|feel free to|you (?:can|may|should|must|could|might as well|ought to|have to|need to)|you(?:'re| "
    r"are) (?:free|welcome) to|you(?:'d| had) better|it(?:'s| is) (?:ok|okay|fine|alright|safe|time)(?: for you)? to|"
    r"time to|any chance you could|i(?:'d| would) (?:like|love) to ask you to|my (?:only )?(?:request|wish)(?: "
    r"is)?(?: to)?|is it possible to|what i(?:'d| would) like is for you to|i have (?:a|one) request)"
)
"""Ways of asking that lead up to the verb."""
OPENS = (
    r"(?:^\W*|(?P<joint>[,;:.()–—]\s*|\s-\s|(?<=\w)\s(?=(?:and|so|but|then|please|therefore|hence)\b)))"
    rf"(?P<lead>(?:(?:{FILLER}|{ASK})[\s,:!]+)*)"
)
"""Where an order may begin: with the sentence, or behind a joint within it."""
COURTEOUS = re.compile(rf"\b(?:please|pls|plz|kindly|i beg you|privacy|favou?r)\b|{ASK}")
"""Somebody asks, and does not merely say."""

STRONG = (
    r"(?:eras(?:e|ed|ing)|delet(?:e|ed|ing)|wip(?:e|ed|ing)|scrub(?:bed|bing)?|expung(?:e|ed|ing)|purg(?:e|ed|ing)|"
    r"unsav(?:e|ed|ing))"
)
"""Verbs of erasing that may do without a word of memory."""
WEAK = (
    r"(?:remov(?:e|ed|ing)|str(?:ike|uck|iking)|drop(?:ped|ping)?|scratch(?:ed|ing)?|clear(?:ed|ing)?|redact(?:ed|"
    r"ing)?|discard(?:ed|ing)?|dump(?:ed|ing)?|scrap(?:ped|ping)?|ditch(?:ed|ing)?|destroy(?:ed|ing)?|bin(?:ned)?|"
    r"trash(?:ed)?|g[eo]t(?:ting)? rid of|los(?:e|ing)|lost|let(?:ting)? go of|throw(?:ing)? (?:away|out)|"
    r"toss(?:ing)?|rub out|blot out|cross out|eliminat(?:e|ed|ing)|shred|withdraw|dispose of|clean)"
)
"""Verbs of erasing that mean anything unless memory is named."""
FORGETS = r"(?:forget|forgot|forgetting|unlearn(?:ed|ing)?|un-?remember|disremember)"
"""Verbs that can only mean memory."""
MEMORY_VERB = (
    r"(?:remember(?:ing|ed)?|memori[sz](?:e|ing|ed)|retain(?:ing|ed)?|stor(?:e|ing|ed)|(?:hold|hang)(?:ing)? (?:on "
    r"to|onto)|(?:held|hung) (?:on to|onto)|recall(?:ing|ed)?|preserv(?:e|ing|ed))"
)
HOLDS = (
    rf"(?:(?P<memory>{MEMORY_VERB})|(?:keep|keeping|kept|save|saving|saved|record|recording|recorded|log|logging|"
    rf"logged|not(?:e|ing|ed) down|"
    r"writ(?:e|ing) down|wrote down|jot(?:ting|ted)? down|have|having|had|know|knowing|knew|file|filing|filed|put|"
    r"putting|carry|carrying))"
)
"""Verbs of keeping; behind a NO they ask to forget."""
NO = (
    r"(?:do not(?: you)?(?: dare)?|don't(?: you)?(?: dare| ever)?|dont|never(?: ever)?|stop|quit|cease|stopped|could "
    r"stop|refrain from|avoid|not to|not|did not|didn't|wouldn't|would not|no longer|(?:there(?:'s| is) )?no (?:need|"
    r"reason|point)(?: for you)? (?:to|in)|i (?:do not|don't) (?:think|believe) you (?:should|need to|ought to|have "
    r"to))"
)
HELD = r"(?:kept|stored|remembered|saved|recorded|retained|logged|held|memori[sz]ed|written down|noted down)"
GONE = (
    r"(?:gone|erased|deleted|removed|wiped|forgotten|scrubbed|purged|expunged|out|off|struck|cleared|dropped|"
    r"unlearned|discarded)"
)

STORED = (
    r"(?:memory|memories|memory banks?|notes?|notebook|records?|files?|profile|logs?|database|storage|knowledge(?: "
    r"base)?|head|mind|brain|books|archives?|dossier|systems?)"
)
YOURS = rf"your (?:own |long-term |internal |entire |personal |permanent |little )?{STORED}"
PLACE = rf"(?:{YOURS}|(?:the|any) records?(?! (?:store|shop|label))|memory|file)\b"
MARKER = re.compile(
    rf"\b(?:from|off|out of|in|into|of|on|to|leave) {YOURS}\b|\b(?:off|from) the records?\b|\bon (?:file|record)\b|"
    rf"\bin memory\b"
    r"|\b(?:what|whatever|everything|anything|all|the things|stuff)(?: that)? you(?:'ve| have)?(?: currently| still| "
    r"already| ever)? (?:know|have|remember|stored|saved|kept|noted|recorded|wrote|written|got|learn(?:ed|t)|hold|"
    r"heard|keep|store)(?: down)?\b"
    r"|\byou(?:'ve| have) (?:stored|saved|kept|noted|recorded|on (?:me|file|record)|memori[sz]ed)\b"
    r"|\byou (?:stored|saved|noted|recorded|keep|store) (?:about|on|of)\b"
    r"|\b(?:a|any) (?:records?|notes?|trace|memory) (?:of|on|about)\b"
    r"|\b(?:what|whatever|everything|anything|all|the (?:thing|things|part|bit|story|stuff))(?: that)? i(?:'ve| have|"
    r"'d| had)?(?: just| once| ever| previously| already)? (?:said|told|mentioned|wrote|shared|gave|given|confided|"
    r"let slip|revealed|disclosed)\b"
    r"|\bi(?:'ve| have|'d| had)?(?: just| once| ever| previously| already)? (?:gave|given|told|mentioned to|shared "
    r"with|confided in) you\b"
)
"""Words that tell that memory is spoken of."""
FROM_MEMORY = re.compile(r"\b(?:from|out of|in) memory\b")

SELF = r"(?:my|our|i|i'm|i've|i'd|we|we're)\b"
PRIVATE = re.compile(
    rf"\W*(?:about )?(?:the fact )?(?:(?:that|everything|anything|all|any|whatever|what|who|where|how|when|both|"
    rf"each) )*(?:about |of |to do with )?{SELF}"
)
"""What is named is the speaker's own."""
VAGUE = re.compile(
    r"\W*(?:about |of )?(?:it|that|this|them|these|those|him|her|all (?:of )?(?:that|this|it)|any of (?:that|this|"
    r"it)|it all|(?:that|the|this) last (?:bit|part|one|thing|sentence|message))(?: all)?(?=\W*$|\s*[,;:.!?–—]| "
    r"(?:please|for me|again|now|from|in|on|off|out of|any)\b)"
)
"""Nothing is named: it is what was said before."""
IT = re.compile(r"\W*(?:about )?it\b")
IDIOM = re.compile(
    r"(?:that )?i(?: ever| even)? (?:asked|spoke|mentioned it|said (?:anything|that|it|so)|brought|was here|exist)|"
    r"to\b|not\b|yourself|myself|ourselves|about (?:\w+ing)\b|who you are|(?:all )?(?:about )?(?:the|your|my|our) "
    r"(?:past|worries|troubles|problems|cares|rest|nonsense|haters)\b|-me-not|me not|"
    rf"(?:what|how|where|when|why|who|which|whether|if)\b(?! (?:{SELF}|you(?:'ve| have)? (?:know|have|remember|"
    rf"stored|heard)))"
)
"""What follows *forget* in turns of phrase."""
FOR_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|for (?:now|once|today|a (?:moment|while|second|minute|bit|day|week))|this (?:time|"
    r"week|weekend|year|month|morning|evening))\b"
)
PROMPT = re.compile(
    r"\b(?:instructions?|prompts?|questions?|requests?|tasks?|messages?|conversations?|context|suggestions?|approach|"
    r"ideas?|plans?|steps?|rules?|constraints?|answers?|responses?|examples?|assumptions?|premise|topic|outline)\b"
)
"""Things of the conversation itself, which nobody wants out of memory."""
THINGS = re.compile(
    r"\b(?:accounts?|files?|e-?mails?|photos?|pictures?|images?|posts?|messages?|apps?|folders?|documents?|"
    r"branch(?:es)?|caches?|cookies|history|drafts?|comments?|playlists?|rows?|columns?|tables?|subscriptions?|"
    r"tasks?|events?|reminders?|alarms?|lists?|lines?|paragraphs?|sentences?|functions?|characters?|cells?|servers?|"
    r"disks?|drives?|phones?|browser|tweets?|videos?|contacts?|data|profiles?|containers?|repositor(?:y|ies)|repos?|"
    r"commits?|partitions?|counters?|boards?|slides?|scripts?|variables?|keys?|objects?|arrays?|floors?|windows?|"
    r"nose|face|hands?|feet|shoes|glasses|tears|makeup|surfaces?|desks?|blog|notes|records?|progress|changes|work|"
    r"instances?|tab|tabs|database|install\w*|version)\b"
)
"""Things that are erased elsewhere than in memory."""
ELSEWHERE = re.compile(r"\b(?:from|off|out of|on|in|into|inside|within|with|using|before) (?!(?:file|memory|me)\b)\w+")
BECAUSE = re.compile(
    r"(?:\s*[,;–—(-]+\s*|\s+)(?=(?:because|since|cause|cos|as (?:i|it|we|she|he|they|that)\b|now that|so (?:that|"
    r"nobody|no one)|in case))"
    r"|\s*[,;–—(]+\s*(?=(?:it|that|this|they|she|he|those|these|too|nobody|which|none|for)\b(?!'ll)|(?:i|we)(?:'ve| "
    r"have| am|'m|'re|'d| do)?(?: not|n't| no longer)? (?:want|moved|changed|should|shouldn|regret|sold|left|quit|"
    r"embarrass\w*|switch\w*|uncomfortable|feel|need|like|share|thought|trust)\b)|\s-\s"
)
"""Where a reason begins."""
CLAUSE = re.compile(r"\s*[;:–—(]\s*|,\s*|\s(?=(?:and|but|so|then|instead)\s)")
COURTESY = re.compile(
    r"(?:and |but |so )?(?:will|would|could|can|won't) (?:you|ya)\W*$|(?:and )?(?:please|thanks|thank you|thx|ok|"
    r"okay|alright|if you (?:would|please|can|don't mind|could)|for me|right|yes|cheers|will you|would you|can you|"
    r"could you|i mean it|both|all of it|too|as well|for good|forever|completely)\b"
)
TAG = re.compile(
    r"(?:,\s*)(?:(?:will|would|could|can|won't) (?:you|ya)|please|thanks|ok(?:ay)?|alright|if you (?:would|please|"
    r"can|don't mind)|right|yes)\W*$"
)

REPORTED = re.compile(
    r"\b(?:told|asks|asked|tells|wants|said|says|begged|advised|urged|taught|reminded|ordered) (?:me|us|him|her|them|"
    r"everyone|people|my \w+|the \w+|to)\b|\b(?:made|makes|lets|helped|helps|help|let) (?:me|us|him|her|them)\b|"
    r"\b(?:he|she|they|who|everyone|everybody|people|someone|somebody|nobody) (?:\w+ )?(?:said|says|wrote|thinks?|"
    r"tells|told|keeps? (?:saying|telling))\b|\baccording to\b"
)
FICTION = re.compile(
    r"\bin (?:my|the|our|a|this|that|his|her) (?:\w+ )?(?:novel|story|game|movie|film|play|script|dream|scene|song|"
    r"book|episode|poem|series|show)\b"
    r"|\b(?:characters?|protagonist|villain|hero|heroine|narrator|lyrics?|chorus|slogan|proverb|motto|translat\w+|"
    r"role-?play\w*|fictional|for example|for instance|e\.g|hypothetically|theoretically|in theory)\b"
    r"|\b(?:write|draft|compose|rephrase|rewrite|proofread|summari[sz]e|paraphrase|generate)\b(?! down)"
)
_ERASE = r"(?:forg[eo]t(?:ten)?|delete[sd]?|erase[sd]?|removed?|wiped?)\b"
_EVER = r" always| never| often| sometimes| nearly| almost| totally| completely| just| did| do| had|'d|'ve| have"
UNREAL = re.compile(
    r"^\W*(?:if (?!you (?:can|could|would|don't|do not|please)|possible|that's|it's)|suppose|supposing|imagine|what "
    r"if|whenever|when (?!you (?:get|have))|unless|had i|i wish|(?:and |but |so |oh |sorry,? )?(?:i|we|he|she|they|"
    r"people)(?:'ll| will| won't| could| can| can't| cannot| might| "
    rf"may{_EVER})* {_ERASE}|you(?:'ll| will| won't| can't| cannot{_EVER})* {_ERASE}|"
    r"(?:how|why|where|who|which|does|did|is|are|was|were|has|have|had)\b(?! it possible))"
)
"""Sentences in which nobody is asked: suppositions, reports about oneself, questions."""
LETS = re.compile(r"^\W*(?:let's|let us)\b")
QUOTE = re.compile(r"[\"“”«»]|(?<!\w)['‘][^'’‘]{2,80}['’](?!\w)")
ASKS_YOU = re.compile(
    rf"^\W*(?:{FILLER}[\s,]+)*(?:(?:could|can|will|would|won't|couldn't|can't|do) (?:you|u|we)\b|(?:can|could|may) "
    rf"(?:i|my|our|all|everything|the|what)\b|"
    r"any chance|is it possible|mind |(?:can|could|may|might) i ask you)"
)
UNDO_NEGATION = re.compile(
    r"\b(?:do not|don't|dont|never|nobody|no one|shouldn't|can't|cannot|won't)\b[\w\s']{0,20},[^,]*,?\s*$|\b(?:do "
    r"not|don't|never|not)(?: ever| just| simply| you dare)?\s*$"
)
