"""The closed word classes of English: the small words that carry grammar and say nothing by themselves."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(words.split())


BE = word_set("am is are was were be been being 'm 're 's")
AUXILIARIES = BE | word_set("""
    gonna gotta have has had do does did will would can could may might must shall should 've 'll 'd wo ca
""")
MODALS = word_set("gonna gotta will would can could may might must shall should 'll 'd wo ca")
DETERMINERS = word_set("""
    a an the my our your his her its their this that these those some any every each no another
""")
POSSESSIVES = word_set("my our")
PREPOSITIONS = word_set("""
    in on at for from with by to of as into onto over under near about after before since until till during through
    without within around between among against across behind beside along off up down out per via like than past
    towards toward despite throughout outside inside upon
""")
CONJUNCTIONS = word_set("and or but nor yet so")
SUBORDINATORS = word_set("""
    because since as if unless when while whereas although though until before after that which who where whenever
""")
FIRST_PERSON = word_set("i me my mine myself we us our ours ourselves")
SECOND_PERSON = word_set("you your yours yourself yourselves ya u ur y'all")
THIRD_PERSON = word_set("""
    he she it they him her them his its their hers theirs himself herself itself themselves
""")
DEMONSTRATIVES = word_set("this that these those")
PRONOUN_SUBJECTS = word_set("""
    i we you he she it they there that this these those what who everyone everything nobody someone
""")
ADVERBS = word_set("""
    also just still already now then even really only once ever never always often sometimes recently currently
    actually finally mostly usually generally normally typically rarely seldom hardly almost nearly probably not n't
    definitely totally basically honestly literally truly simply originally previously officially both all today
    yesterday soon later again too first rather sort kind kinda lately sadly longer
""")
NEGATIONS = word_set("not n't never no nor neither none nobody nothing without cannot")
KIN = word_set("""
    mother father mom mum dad mommy daddy mama papa parent parents brother sister son daughter child kid kids
    children wife husband spouse partner girlfriend boyfriend fiance fiancee fiancé fiancée grandmother grandfather
    grandma grandpa granny gran nan aunt auntie uncle cousin niece nephew twin sibling siblings stepmother
    stepfather stepson stepdaughter stepsister stepbrother brother-in-law sister-in-law mother-in-law father-in-law
    son-in-law daughter-in-law godmother godfather godson goddaughter grandson granddaughter grandchild grandparents
    ex
""")
PEOPLE = KIN | word_set("""
    friend friends colleague boss manager neighbour neighbor roommate flatmate housemate teacher coach mentor doctor
    dentist therapist landlord landlady tenant teammate classmate coworker co-worker supervisor client tutor trainer
    assistant intern apprentice pal buddy bestie nanny babysitter vet lawyer accountant
""")
PETS = word_set("""
    dog cat puppy kitten pup hamster rabbit parrot horse pony turtle tortoise goldfish snake lizard hedgehog guinea
    gecko
""")
FUNCTION_WORDS = (
    AUXILIARIES | DETERMINERS | PREPOSITIONS | CONJUNCTIONS | SUBORDINATORS | FIRST_PERSON | SECOND_PERSON
    | THIRD_PERSON | DEMONSTRATIVES | PRONOUN_SUBJECTS | ADVERBS | NEGATIONS
    | word_set("how why much many more most less least very so such own same other others one ones there here let lets")
)  # fmt: skip
WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
WEEKDAY_PLURALS = frozenset(day + "s" for day in WEEKDAYS)
MONTHS = word_set("january february march april may june july august september october november december")
NUMBER_WORDS = word_set("""
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand dozen half
""")
_FOREIGN = (
    "der die das und ist nicht ein eine ich wir mein meine mit auf für el los las que de por una uno está es mi y con "
    "le les des est et je nous mon ma dans pour avec il lo gli che di non sono è io mio mia del della o os um uma "
    "eu não meu minha com para het een en ik wij mijn niet jag och är inte mitt på til ikke på jeg og"
)
_FOREIGN_WORDS = word_set(_FOREIGN)


def is_english(words: list[str]) -> bool:
    """Whether the small words of a text are English ones; a text without any passes."""
    english = sum(1 for word in words if word in FUNCTION_WORDS)
    foreign = sum(1 for word in words if word in _FOREIGN_WORDS)
    strange = sum(1 for word in words if not word.isascii())
    return foreign <= english // 2 and strange * 3 <= len(words) + 2
