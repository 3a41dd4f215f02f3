"""The words in which people ask to be forgotten, and those in which they mean something else.

Patterns for a sentence in lower case with straight apostrophes; `asking` puts them together.
"""

from __future__ import annotations

import re

from lamina.text.closed import word_set

CUE = re.compile(
    r"\b(?:forg[eo]t|4get|unlearn|un-?remember|disremember|remember|eras(?:e|ing)|delet(?:e|ing)|remov(?:e|ing)|"
    r"wip(?:e|ing)|scrub|purg(?:e|ing)|"
    r"expung|str(?:ike|uck)|drop|scratch|clear|redact|discard|dump|ditch|destroy|g[eo]t(?:ting)? rid|los(?:e|ing)|"
    r"let go|throw|toss|rub out|blot|cross out|take|taken|keep|kept|stor(?:e|ing)|retain|memori[sz]|hold|hang|"
    r"sav(?:e|ing)|record|log|not(?:e|ing) down|writ(?:e|ing) down|gone|file|pretend|act (?:as|like)|know|out\b|off|"
    r"vanish|unsav|bin|trash|shred|withdraw|dispose|consider|belong|no place|leave|disappear|fade|slip|memory|notes|"
    r"on record|treat|eradicat|obliterat|banish|unhear|rid\b|rid |cleans|burn|bur(?:y|ied)|scrap|pull|do (?:that|so|"
    r"it)\b|"
    r"do away|eliminat|unknow|nuke|zap)",
    re.IGNORECASE,
)
"""Without one of these words nobody asks to be forgotten."""

FILLER = (
    r"(?:please|pls|plz|kindly|do|just|simply|actually|also|now|ok|okay|oh|so|well|hey|hi|and|then|but|maybe|perhaps|"
    r"thanks|sorry|right|alright|listen|look|no|yes|yeah|honestly|seriously|wait|hmm|um|btw|by the way|one more "
    r"thing|first|again|for (?:my |our )?(?:own )?privacy(?: reasons)?|for privacy's sake|for the sake of (?:\w+ "
    r")?privacy|i beg you|when you (?:get|"
    r"have) (?:a|the) (?:moment|chance|minute|second)|while you're at it|on second thoughts?|in hindsight|come to "
    r"think of it|from now on|going forward|quickly|completely|permanently|immediately|at once|better|really|safely|"
    r"gladly|only|for good|therefore|hence|quietly|if (?:you (?:can|could|would|please|don't mind|do not mind)|it's "
    r"(?:all the same|ok|okay|fine|alright)(?: (?:to|with|by) you)?|"
    r"possible|it's not too much(?: trouble)?|that's (?:ok|okay|possible)))"
)
"""What may stand before an order without changing it."""
WISH = (
    r"(?:(?:i|we)(?:'d| would) (?:\w+ ){1,4}?if you(?:'d| would| could| can| just)?|(?:i|we)(?:'d| would)(?: really| "
    r"much)? "
    r"(?:rather|sooner) you(?:'d| would| could| just)?|(?:it|that)(?:'d| would| might) (?:\w+ ){1,6}?if you(?:'d| "
    r"would| could| can| just)?|(?:i|we)(?:'d| would)(?: really)? (?:like|love|prefer|want|need|ask|appreciate) "
    r"(?:for |that |it if )?you(?: to)?|"
    r"(?:i'm|i am|we're|we are) asking you(?: \w+ly)? to|(?:i|we) (?:really |now |just |hereby |do )?(?:want|need|"
    r"ask|beg|expect|urge|order|must ask|"
    r"have to ask|prefer|think|suggest|propose|wish) (?:for |that )?you(?:'d| had)?(?: better| should| ought to| "
    r"to)?|"
    r"i give you (?:leave|permission|my blessing) to|(?:how|what) about you|why (?:don't|do not) you|i (?:hereby "
    r")?(?:request|insist)(?: that)? you)"
)
ASK = (
    r"(?:let's|let us|(?:could|can|will|would|won't|couldn't|can't) (?:you|u|we)(?: be (?:so kind as to|able to))?|"
    r"(?:could|can|"
    r"may|might) (?:i|we) (?:ask|trouble|bother|get|persuade) you(?: to)?|(?:would |do )?(?:you )?mind(?: if you)?|"
    rf"(?:make|let) yourself|try to|{WISH}|"
    r"(?:do|as) (?:me )?(?:a|one|this) (?:\w+ )?favou?r(?: for me)?(?:[,:])?(?: and)?|be (?:so kind|(?:a|an) \w+|"
    r"kind enough|so good|good enough|nice)(?: and| as to| as| to)?|(?:make|be) sure (?:to|that you|you)|see to it "
    r"that you|make a point of|go "
    r"ahead and|feel free to|you (?:can|may|should|must|could|(?:might|may) as well|ought to|have to|need to)|"
    r"you(?:'re| "
    r"are) (?:free|welcome) to|you(?:'d| had) better|it(?:'s| is) (?:ok|okay|fine|alright|safe|time)(?: for you)? to|"
    r"time to|(?:it(?:'d| would) be|it's|it is) (?:best|better|wise|kind|good)(?: for you)? to|(?:is there )?any "
    r"(?:chance|way)(?: that| of)? you(?: could| can| might)?|i(?:'d| would) (?:like|love) to ask you to|my (?:only "
    r")?(?:request|wish)(?: "
    r"is)?(?: to| that you| for you to)?|is it possible to|what i(?:'d| would) like is for you to|i have (?:a|one) "
    r"request|if so|if (?:you do|yes))"
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
    r"toss(?:ing)?|rub out|blot out|cross out|eliminat(?:e|ed|ing)|shred|withdraw|dispose of|clean|eradicat(?:e|ed|"
    r"ing)|obliterat(?:e|ed|ing)|banish(?:ed|ing)?|unhear|unknow|burn(?:ed|ing)?|bur(?:y|ied|ying)|"
    r"(?:do|doing|did|done) away with|rid yourself of|(?:take|pull|cut|cross|throw|rub)(?= (?:it|that|this|them|"
    r"those|him|her) "
    r"(?:out|off|away|down))|nuke|zap|take (?:away|down)|blank out)"
)
"""Verbs of erasing that mean anything unless memory is named."""
FORGETS = r"(?:forget|forgot|forgetting|unlearn(?:ed|ing)?|un-?remember|disremember)"
"""Verbs that can only mean memory."""
MEMORY_VERB = (
    r"(?:remember(?:ing|ed)?|memori[sz](?:e|ing|ed)|retain(?:ing|ed)?|stor(?:e|ing|ed)|(?:hold|hang)(?:ing)? (?:on "
    r"to|onto)|(?:held|hung) (?:on to|onto)|recall(?:ing|ed)?|preserv(?:e|ing|ed))"
)
HOLDS = (
    rf"(?:(?P<memory>{MEMORY_VERB}|keep(?:ing)? (?:track|tabs|a note|notes?|a record|records?) (?:of|on))|(?:keep|"
    r"keeping|kept|save|saving|saved|record|recording|recorded|log|logging|"
    rf"logged|not(?:e|ing|ed) down|"
    r"writ(?:e|ing) down|wrote down|jot(?:ting|ted)? down|have|having|had|know|knowing|knew|hold|holding|file|filing|"
    r"filed|put|"
    r"putting|carry|carrying))"
)
"""Verbs of keeping; behind a NO they ask to forget."""
NO = (
    r"(?:do not(?: you)?(?: dare)?|don't(?: you)?(?: dare| ever)?|dont|never(?: ever)?|stop|quit|cease|stopped|could "
    r"stop|refrain from|avoid|not to|not|did not|didn't|wouldn't|would not|no longer|(?:there(?:'s| is) )?no "
    r"(?:longer (?:any|a) )?(?:need|"
    r"reason|point|call|cause|use)(?: for you)? (?:to|in(?: you)?)|i (?:do not|don't) (?:think|believe) you "
    r"(?:should|need to|ought to|have "
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
PLACE = rf"(?:{YOURS}|(?:the|any) records?(?! (?:store|shop|label|player|deck|collection|button|sleeve))|memory|file)\b"
MARKER = re.compile(
    rf"\b(?:from|off|out of|in|into|of|on|to|leave) {YOURS}\b|\b(?:off|from) the records?\b|\bon (?:file|record)\b"
    r"|\b(?:what|whatever|everything|anything|all|the things|stuff)(?: that)? you(?:'ve| have)?(?: currently| still| "
    r"already| ever)? (?:know|have|remember|stored|saved|kept|noted|recorded|wrote|written|got|learn(?:ed|t)|hold|"
    r"heard|keep|store)(?: down)?\b"
    r"|\byou(?:'ve| have) (?:stored|saved|kept|noted|recorded|on (?:me|file|record)|memori[sz]ed)\b"
    r"|\byou (?:stored|saved|noted|recorded|keep|store) (?:about|on|of)\b"
    r"|\b(?:a|any) (?:records?|notes?|trace|memory) (?:of|on|about)\b"
    r"|\b(?:notes?|entry|entries|memory|record) (?:that )?you (?:made|took|have|keep|kept|wrote|hold)\b"
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
    r"(?:please|for me|again|now|from|in|on|off|out|any|gone|removed|taken|deleted|erased|wiped|away|down)\b)"
)
"""Nothing is named: it is what was said before."""
POINTS = re.compile(
    rf"{VAGUE.pattern}|\W*(?:about )?(?:what|everything|all|anything|the things?)(?: that)? i(?:'ve| have)?(?: only| "
    r"have| just)* "
    r"(?:said|told|mentioned|shared|confided)(?: to| with)?(?: you)?(?: about (?:it|that|this|them|him|her))?(?: "
    r"just)?(?: now)?(?: here| today)?(?=\W*$|\s*[,;:.!?–—]| (?:from|"
    r"please)\b)|\W*(?:so|do)?\W*$"
)
IT = re.compile(r"\W*(?:about )?it\b")
IDIOM = re.compile(
    r"(?:that )?i(?: ever| even)? (?:asked|spoke|mentioned it|said (?:anything|that|it|so)|brought|was (?:here|ever|"
    r"so|this|that|being)|exist)|"
    r"to\b|not\b|yourself|myself|ourselves|about (?:\w+ing)\b|who you are|(?:all )?(?:about )?(?:the|your|my|our) "
    r"(?:\w+ )?(?:past|worries|troubles|problems|cares|rest|nonsense|haters|tone|outburst|rudeness|manners|mistakes?|"
    r"attitude|mood|typos?|rambling\w*|reply|joke|comment|behaviou?r|rant|english|grammar|spelling|feelings)\b|"
    r"-me-not|me not|"
    rf"(?:what|how|where|when|why|who|which|whether|if)\b(?! (?:(?:\w+ )?{SELF}|you(?:'ve| have)? (?:know|have|"
    r"remember|"
    rf"stored|heard)))"
)
"""What follows *forget* in turns of phrase."""
FOR_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|for (?:now|once|today|a (?:moment|while|second|minute|bit|day|week))|this (?:time|"
    r"week|weekend|year|month|morning|evening)|for this \w+)\b"
)
PROMPT = re.compile(
    r"\b(?:instructions?|prompts?|questions?|requests?|tasks?|messages?|conversations?|context|suggestions?|approach|"
    r"ideas?|plans?|steps?|rules?|constraints?|answers?|responses?|examples?|assumptions?|premise|topic|outline|"
    r"references?|paragraphs?|lines?|drafts?|versions?|letters?|headings?)\b"
)
"""Things of the conversation itself, which nobody wants out of memory."""
THINGS = re.compile(
    r"\b(?:accounts?|files?|e-?mails?|photos?|pictures?|images?|posts?|messages?|apps?|folders?|documents?|"
    r"branch(?:es)?|caches?|cookies|history|drafts?|comments?|playlists?|rows?|columns?|tables?|subscriptions?|"
    r"tasks?|events?|reminders?|alarms?|lists?|lines?|paragraphs?|sentences?|functions?|characters?|cells?|servers?|"
    r"disks?|drives?|phones?|browser|tweets?|videos?|contacts?|data|profiles?|containers?|repositor(?:y|ies)|repos?|"
    r"commits?|partitions?|counters?|boards?|slides?|scripts?|variables?|keys?|objects?|arrays?|floors?|windows?|"
    r"nose|face|hands?|feet|shoes|glasses|tears|makeup|surfaces?|desks?|blog|notes|records?|progress|changes|work|"
    r"instances?|tab|tabs|database|install\w*|version|pointers?|buffers?|references?|tensors?|models?|nodes?|"
    r"process(?:es)?|threads?|structs?|elements?|items?|strings?|vectors?|pages?|"
    r"intro(?:duction)?s?|essays?|titles?|chapters?|sections?|conclusion|abstract|headers?|footers?|logos?|"
    r"banners?)\b"
)
"""Things that are erased elsewhere than in memory."""
ELSEWHERE = re.compile(r"\b(?:from|off|out of|on|in|into|inside|within|with|using|before) (?!(?:file|memory|me)\b)\w+")
BECAUSE = re.compile(
    r"(?:\s*[,;–—(-]+\s*|\s+)(?=(?:because|since|cause|cos|as (?:i|it|we|she|he|they|that)\b|now that|so (?:that|"
    r"nobody|no one)|in case))"
    r"|\s*[,;–—(]+\s*(?=(?:it|that|this|they|she|he|those|these|too|nobody|which|none|for)\b(?!'ll)|(?:i|we)(?:'ve| "
    r"have| am|'m|'re|'d| do)?(?: not|n't| no longer)? (?:want|moved|changed|should|shouldn|regret|sold|left|quit|"
    r"embarrass\w*|cancel\w*|closed|lost|broke|split|switch\w*|uncomfortable|feel|need|like|share|thought|trust)\b)|"
    r"\s-\s"
)
"""Where a reason begins."""
CLAUSE = re.compile(r"\s*[;:–—(]\s*|,\s*|\s(?=(?:and|but|so|then|instead)\s)")
COURTESY = re.compile(
    r"(?:and |but |so )?(?:will|would|could|can|won't) (?:you|ya)\W*$|(?:and )?(?:please|thanks|thank you|thx|ok|"
    r"okay|alright|if you (?:would|please|can|don't mind|could)|for me|right|yes|cheers|will you|would you|can you|"
    r"could you|i mean it|both|all of it|too|as well|for good|forever|completely)\b"
)
TAG = re.compile(
    r"\s(?:ok|okay|please|thanks|alright)\W*$|[:;–—,]\s*(?:please )?(?:would|could|can|will) you(?: please| kindly)? "
    r"\w+|(?:,\s*)(?:(?:will|would|could|can|won't) (?:you|ya)|please|thanks|ok(?:ay)?|alright|if you (?:would|"
    r"please|"
    r"can|don't mind)|right|yes)\W*$"
)

REPORTED = re.compile(
    r"\b(?:told|asks|asked|tells|wants|said|says|begged|advised|urged|taught|reminded|ordered) (?:me|us|him|her|them|"
    r"everyone|people|my \w+|the \w+|to)\b|\b(?:made|makes|lets|helped|helps|help|let) (?:me|us|him|her|them)\b|"
    r"\b(?:he|she|they|who|everyone|everybody|people|someone|somebody|nobody) (?:\w+ )?(?:said|says|wrote|thinks?|"
    r"tells|told|keeps? (?:saying|telling))\b|\baccording to\b"
    r"|\b(?:my|the|our|his|her|a|their) [\w-]+ (?:says|goes|reads|ends|writes|runs|begins)\b|\boften (?:say|write|"
    r"ask)\b"
    r"|\bif (?:i|we|someone|somebody|anybody|a \w+|they|he|she) (?:asked|ask|asks|told|wanted|said)\b|\bwhen i "
    r"(?:close|leave|log|quit)\b"
)
FICTION = re.compile(
    r"\bin (?:my|the|our|a|this|that|his|her) (?:\w+ )?(?:novel|story|game|movie|film|play|script|dream|scene|song|"
    r"book|episode|poem|series|show)\b"
    r"|\b(?:characters?|protagonist|villain|hero|heroine|narrator|lyrics?|chorus|slogan|proverb|motto|translat\w+|"
    r"role-?play\w*|fictional|for example|for instance|e\.g|hypothetically|theoretically|in theory)\b"
    r"|\bforgive and forget\b|^\W*(?:example|sample|test|quote|prompt|command|input|usage|syntax|title|subject)\s*:|"
    r"^\W*(?:please )?(?:say|repeat|type|spell|sing|recite)\b"
    r"|\b(?:write|draft|compose|rephrase|rewrite|proofread|summari[sz]e|paraphrase|generate)\b(?! down)"
)
_ERASE = r"(?:forg[eo]t(?:ten)?|delete[sd]?|erase[sd]?|removed?|wiped?)\b"
_EVER = r" always| never| often| sometimes| nearly| almost| totally| completely| just| did| do| had|'d|'ve| have"
UNREAL = re.compile(
    r"^\W*(?:if (?!you (?:can|could|would|do\b|don't|do not|please|(?:still |happen to )?(?:have|know|remember|"
    r"keep)\b)|possible|that's|it's|so\b|yes\b)|suppose|supposing|imagine|what "
    r"if|whenever|when (?!you (?:get|have))|unless|had i|i wish|(?:and |but |so |oh |sorry,? )?(?:i|we|he|she|they|"
    r"people)(?:'ll| will| won't| could| can| can't| cannot| might| "
    rf"may{_EVER})* {_ERASE}|you(?:'ll| will| won't| can't| cannot{_EVER})* {_ERASE}|"
    r"(?:how|why|where|who|which|does|did|is|are|was|were|has|have|had)\b(?! it possible| there any (?:way|chance) "
    r"you| "
    r"about you| don't you| do not you))"
)
"""Sentences in which nobody is asked: suppositions, reports about oneself, questions."""
LETS = re.compile(r"^\W*(?:let's|let us)\b")
QUOTE = re.compile(r"[\"“”«»]|(?<!\w)['‘][^'’‘]{2,80}['’](?!\w)")
ASKS_YOU = re.compile(
    rf"^\W*(?:{FILLER}[\s,]+)*(?:(?:could|can|will|would|won't|couldn't|can't|do|might) (?:you|u|we)\b|[\w "
    r"]*favou?r\b|(?:can|could|may) "
    rf"(?:i|my|our|all|everything|the|what)\b|"
    r"any (?:chance|way)|is it possible|would it|is there any|mind |(?:can|could|may|might) (?:i|we) |how about|why "
    r"don't)"
)
UNDO_NEGATION = re.compile(
    r"\b(?:do not|don't|dont|never|nobody|no one|shouldn't|can't|cannot|won't)\b[\w\s']{0,20},[^,]*,?\s*$|\b(?:do "
    r"not|don't|never|not)(?: ever| just| simply| you dare)?\s*$"
)

KNOWABLE = word_set("""
    address addresses postcode postcodes zip street hometown whereabouts location route name names surname surnames
    nickname nicknames username usernames handle alias initials number numbers code codes pin pins password passwords
    passcode passphrase combination login logins credentials birthday birthdays birthdate anniversary date dates age
    ages weight height size sizes measurements waist bmi pulse salary salaries income wage wages earnings bonus
    overdraft debt debts mortgage loan loans savings balance bracket iban finances rent diagnosis diagnoses prognosis
    illness illnesses disease disorder allergy allergies intolerance medication dosage dose prescription symptoms rash
    surgery operation pregnancy miscarriage therapy treatment rehab grades grade marks score scores religion faith
    politics orientation sexuality conviction convictions arrest bail parole trial lawsuit divorce affair marriage
    infertility addiction drinking gambling stammer depression phobia details detail plate passport visa ssn landline
    mobile extension roster timetable commute habits group pressure rate rates cholesterol genome mileage recipe
    secret secrets fertility maiden ethnicity nationality citizenship figure figures type times email emails phone
    history
""")
"""Nouns for what is known of somebody, and never for what lies about."""
POSSESSED = re.compile(
    r"\W*(?:about )?(?:the fact )?(?:that )?(?:my|our|his|her|their|(?!(?:the|a|an|any|each|every|"
    r"users?|customers?|clients?|this|that|all)\b)(?:[\w.-]+ ){0,2}[\w-]+(?:'s|s'))\s+(?=\w)"
)
"""What is named is somebody's."""
NP_END = re.compile(
    r"\s*[,;:.!?()–—]|\s(?:of|from|off|in|on|at|about|for|to|with|that|which|who|please|pls|lying|sitting|hanging|"
    r"around|any|"
    r"now|again|because|since|as|and|or|but|so|if|i|you|we|she|he|they|was|is|are|were|isn't|aren't|wasn't|has|have|"
    r"had|will|can|should|must|be|being|anymore|anywhere|out|up)\b"
)
"""Where a noun with what stands before it ends."""
NOTED = re.compile(
    r"\b(?:the|that|your|this|all|every|each) (?:note|notes|entry|entries|memory|memories|records?|mention)s? "
    r"(?:of|on|about|regarding|concerning) (?=(?:my|our|his|her|their|[\w-]+'s)\b)"
)
"""A note of something of somebody's."""
OURS = r"(?:our (?:books?|records?|files?|notes)|your lists?(?! of))"
LASTS = re.compile(r"\b(?:any ?more|any longer|no longer|lying around|hanging around|sitting around|further)\b")
_HAVE = r"(?:have|has|having|had|keep|keeping|hold|holding|store|storing|got)"
_KNOW = r"(?:know|knows|knowing|remember|remembering)"
_STILL = r"(?:'ve|'re| have| are)?(?: still| already| currently| also| got)*"
_WHOSE = r"(?=(?:my|our|his|her|their|[\w-]+'s)\b)"
_ANYBODY = r"(?:anyone|anybody|nobody|no one|people|others|strangers)(?: else)?(?: \w+)?(?: to)?"
KEEPING = re.compile(
    rf"\byou{_STILL} {_KNOW} {_WHOSE}|\bfor you to (?:still )?{_KNOW}\b|\b{_ANYBODY} {_KNOW}\b"
    rf"|\b(?:on|off|from|out of|in) (?:{YOURS}|{OURS})|\b{YOURS} (?:should|must|ought)"
    r"|\b(?:i|we)(?:'ve| have|'d| had)?(?: just| once| also)? (?:told you|mentioned|confided|confessed|overshared|"
    r"let slip|gave you|"
    r"shared)\b|\b(?:telling|giving|tell|give) you\b"
    r"|\b(?:should|ought)(?: not|n't| never)?(?: to)? have (?:told|said|mentioned|shared|given|brought)\b"
    r"|\b(?:in confidence|confidential(?:ly)?|private|off the record|none of your business|secret|between (?:us|you "
    r"and me))\b"
)
"""What a sentence speaks of that is known, or was told, where it should not be."""
HAVING = re.compile(
    rf"\byou{_STILL} {_HAVE}(?: on to| onto)? {_WHOSE}|\byou(?:'ve| have) got {_WHOSE}|\bfor you to (?:still "
    rf")?{_HAVE}\b"
    rf"|\b{_ANYBODY} {_HAVE}\b|\byou{_STILL} {_WHOSE}"
    r"|\byou(?:'ve| have)(?: got)? no (?:\w+ )?(?:use|need|reason|business)\b"
    r"|(?:n't|\bnot|\bno longer) (?:needed|necessary|relevant|required|current|in use|valid)\b"
)
"""The same of what somebody has, which may be a thing as well."""
CONFIDED = re.compile(
    r"(?:\b(?:that|this|it)(?:'s| was| is)|\btold you .* (?:was|is))(?: \w+)? (?:private|personal|confidential|"
    r"secret|told in confidence|in confidence|off the record|"
    r"between (?:us|you and me)|none of your business|nobody's business|not (?:for|meant for) you)\b"
)
"""What was just said should not have been."""
KEPT_ELSEWHERE = re.compile(
    rf"\b(?:in|on|from|off|into|out of|at) (?!{YOURS}|{OURS})(?:the|this|that|my|our|your|his|her|their|a) "
    r"(?!record\b|past\b|first\b|end\b|"
    r"moment\b|phone\b)\w+"
)
SPARED = re.compile(
    r"(?:\s*[,;:.–—-]+\s*|\s)(?:(?:but|and|though|only) )?(?:except(?:ing| for| that)?|apart from|aside from|other "
    r"than|"
    r"with the exception of|save for|all but|but not)\s(?=\w)"
    r"|(?:\s*[,;:–—-]+\s*(?:(?:but|and|though|only|just|please|however) )*|\s(?:but|and|though) (?:please |do |only |"
    r"just )*)(?:you (?:can|may|"
    r"could|should) (?:still |well )?|do |feel free to )?(?:keep|leave|hold on to|hang on to|retain)\b(?! (?:it|that|"
    r"this|them)\b)"
    r"(?!.*\b(?:out of|off|from)\b)"
    r"|\s*[,;–—]+\s*(?:but )?not (?=(?:my|the|her|his|our|their)\b)"
    r"|\s*[,;–—]+\s*(?:but |though |only )?(?=(?:the |my |her |his |our |their )?(?:[\w']+ ){1,4}?(?:(?:can|may|"
    r"should|could) "
    r"(?:stay|remain|be kept)|(?:is|are) (?:fine|ok|okay|alright|no problem)|stays?|remains?)\b)"
)
"""Where it is said what may stay."""

SORRY = re.compile(
    r"\b(?:sad|shame|hate|awful|terrible|forgive|angry|upset|hurt|pity|worse|worst|silly|rude|disappoint\w*|annoy\w*|"
    r"mad|horrible|cry|"
    r"insult\w*|sorry)\b.*\bif (?:you|we|they)\b"
)
"""What would be bad is not asked for."""
GLAD = re.compile(
    r"\b(?:please|like|love|want|wish|ask|better|best|happy|happier|thankful|grateful|glad|relieved|kind\w*|favou?r|"
    r"rather|sooner|prefer|"
    r"appreciate|insist|request|beg|time (?:to|you|for)|as well|(?:could|would|can|might) you|help)\b"
)
"""Words by which somebody says that something would be welcome."""
UNASKED = re.compile(
    r"(?:n't|\bnot|\bnever)(?: \w+){0,2} (?:ask|asked|asking|want|wanted|like|wish|need|request|prefer|tell|told)\b"
)
WONDERS = re.compile(
    r"\b(?:how|why|when|whether|tell|explain|believe|check|know|i|he|she|they|we|people|who|everyone|everybody|not|"
    r"never|afraid|worry|worried|stop|quit|keep|avoid)\b|n't\b"
)
"""Words between somebody who is asked and the verb that make it something else."""
TOLD = re.compile(
    r"\W*(?:about )?(?:(?:all|any|both) (?:of )?)?(?:what|whatever|everything|anything|all|the (?:thing|part|bit|"
    r"story|stuff)s?)(?: that)? "
    r"(?:i|we|[\w']+(?: [\w']+)?)(?:'ve|'d| have| had)?(?: just| once| ever| previously| already)? (?:said|told|"
    r"mentioned|shared|confided|let "
    r"slip|revealed|disclosed|wrote|gave)\b(?! (?:down|into|above|below))"
    r"(?:(?: to| with| in)? (?:you|me|us))?(?: \w+)? (?:about|on|of|regarding|concerning|to do with)\b(?!.*\b(?:into|"
    r"down to|to one|to a)\b)"
    r"|\W*(?:the|that|this|my|our|his|her|their|[\w-]+'s) (?P<known>[\w' -]+?)(?: that)? (?:i|we)(?:'ve|'d| have| "
    r"had)?(?: just| once)? (?:gave|told|"
    r"given|sent) you(?= (?:please|earlier|before|yesterday|last|from your|in your)|\W*$|\s*[,;.!?])"
)
"""What is named is something that was told."""
PLACED = re.compile(
    rf"\b(?:from|off|out of|in|into|of|on|to|leave) {YOURS}\b|\b(?:off|from) the records?\b|\bon (?:file|record)\b"
    r"|(?<!\bfrom )(?<!\bin )(?<!\bon )(?<!\boff )\b(?:what|whatever|everything|anything|all|the things|stuff)(?: "
    r"that)? you(?:'ve| have)?(?: currently| "
    r"still| already| ever)? (?:know|have|remember|stored|saved|kept|noted|recorded|got|learn(?:ed|t)|hold|heard|"
    r"keep|store|wrote down|"
    r"written down)\b"
    r"|\b(?:from|out of) (?:what|whatever|everything|all)(?: that)? you(?:'ve| have)?(?: \w+)? (?:know|remember|"
    r"stored|saved|kept|noted|recorded|"
    r"learn(?:ed|t)|hold|keep|store)\b"
    r"|\byou(?:'ve| have) (?:stored|saved|kept|noted|recorded|on (?:me|file|record)|memori[sz]ed)\b"
    r"|\byou (?:stored|saved|noted|recorded|keep|store) (?:about|on|of)\b"
    r"|\b(?:a|any) (?:records?|notes?|trace|memory) (?:of|on|about)\b"
    r"|\b(?:notes?|entry|entries|memory|record) (?:that )?you (?:made|took|have|keep|kept|wrote|hold)\b"
)
"""Words that tell that it is memory something is to go from."""
DATA = word_set("""
    number numbers address addresses code codes pin pins password passwords name names surname details email emails
    date dates login logins iban combination plate username nickname postcode birthday phone mobile landline handle
""")
"""What nobody can get rid of but by forgetting it."""
PHYSICAL = re.compile(
    r"\b(?:keep|keeping|kept|stor(?:e|ing|ed)|sav(?:e|ing|ed)|hold(?:ing)?|held|hang(?:ing)? on|hung on|have|having|"
    r"had|put|"
    r"putting|carry|carrying|preserv(?:e|ing|ed)|leave)\b(?! (?:track|tabs|a note|notes?|a record|records?))"
)
"""Verbs of keeping that are said of things as well."""
