"""Words that tell little: praise, moods, and nouns and verbs under which anything fits."""

from __future__ import annotations

from lamina.text.closed import word_set

EVALUATIVE = word_set("""
    great good nice awesome amazing cool wonderful fantastic lovely beautiful gorgeous incredible perfect best
    better worse worst bad terrible horrible awful fun funny exciting excited happy glad sad proud thankful grateful
    blessed lucky special important essential crucial vital key powerful inspiring inspired rewarding meaningful
    interesting fascinating impressive stunning breathtaking peaceful calming relaxing soothing therapeutic magical
    epic intense tough hard difficult challenging crazy wild insane unreal surreal weird strange sweet kind
    thoughtful helpful supportive encouraging motivating uplifting heartwarming touching delicious tasty yummy
    adorable cute precious priceless valuable worth worthwhile satisfying fulfilling enjoyable pleasant cozy comfy
    comfortable scary frustrating annoying stressful overwhelming exhausting tiring busy swamped stressed tired
    exhausted nervous anxious worried scared afraid upset angry sorry ok okay fine well alright ready sure certain
    right wrong true memorable unforgettable classic remarkable outstanding excellent brilliant superb neat rad sick
    dope lit legit super solid hopeful optimistic confident determined motivated thrilled stoked pumped delighted
    pleased psyched hyped amazed impressed surprised shocked speechless honored honoured humbled content relieved
    relaxed refreshed rejuvenated energized calm bored lonely heartbroken devastated disappointed frustrated
    overwhelmed stuck torn confused curious eager keen restless fortunate invaluable effective successful creative
    unique vibrant colorful colourful hilarious entertaining engaging thrilling captivating mesmerizing spectacular
    picturesque serene tranquil majestic full able tons roller like-minded talented passionate dedicated welcoming
    friendly caring loving genuine appreciative aware intrigued prepared concerned
""")
NEUTRAL = word_set("""
    unexpected big huge massive major small little long short rich deep new old young different same similar common
    rare free open close bright warm cold hot quick slow fast strong weak lost real simple easy possible impossible
    necessary useful livin
""")
VAGUE = word_set("""
    thing things stuff time times fun lot lots bit way ways something anything everything nothing someone anyone
    everyone everybody people person life lives moment moments day days week weeks month months year years
    experience experiences journey journeys world dream dreams goal goals idea ideas feeling feelings emotion
    emotions memory memories support love joy joys passion passions motivation growth strength confidence courage
    power energy inspiration happiness peace hope faith kindness compassion empathy challenge challenges obstacle
    obstacles success failure progress change changes difference impact effort efforts step steps part parts kind
    sort type side point reason reasons place places spot chance opportunity opportunities adventure adventures
    blast treat pleasure honor relief stress pressure balance mind heart soul body self feedback advice tips help
    care comfort escape break connection connections bond bonds relationship relationships community team others
    folks guys man dude buddy pal thought thoughts word words story stories question questions answer news update
    updates info information detail details while rest end start beginning future past present now weekend morning
    evening night tonight today yesterday tomorrow ever much many more most enough plenty couple few several whole
    entire total look looking mess plan plans option options situation issue issues problem problems result results
    reminder sense meaning purpose perspective understanding knowledge skill skills ability abilities creativity
    expression outlet vibe vibes atmosphere environment beauty magic wonder wonders nature self-care self-expression
    minute minutes hour hours second seconds ride rush mood touch hand hands eye eyes head face smile smiles laugh
    laughs tear tears sign fan big huge bunch ton tons loads top bottom level matter fact case example instance pic
    pics photo photos picture pictures image video screenshot glimpse link message chat talk conversation
    conversations thanks reaction reactions shoot piece pieces item items set group groups session sessions event
    events activity activities project projects work job busy good great focus attention process cause causes value
    values individuals family families loved ones guidance resources benefits positivity resilience legacy
    appreciation gratitude respect trust freedom truth reality risk risks mistakes lesson lessons insight insights
    hobby hobbies milestone setback win wins letdown input usual rookie incident copy offer hunt lookout snag far
    difficulties mix roll recommendation recommendations fingers backseat coaster
""")
MENTAL = word_set("""
    think believe guess hope wish feel know mean agree understand suppose bet imagine wonder realize realise
    appreciate thank see hear look seem sound doubt remember forget care mind admire relate promise say tell ask
    notice figure expect bother matter worry regret miss trust deserve respect value cherish treasure welcome hug
    congratulate apologize apologise assure guarantee let keep stay hang get-to enjoy-it send show share follow
    recommend suggest mention talk chat call-it help support push try struggle manage deal cope handle focus face
    embrace find itch inspire motivate encourage remind strive aim grow smile laugh cry gain
""")
LIGHT = word_set("be have do make take get go come give put keep stay let feel become seem need want try help bring")
FEELINGS = word_set("feel love like enjoy adore hate dislike prefer appreciate")
EMPTY = word_set("""
    blast fun ball time turn look break chance idea doubt clue feeling hope problem trouble luck say word
""")
IMPRESSIONS = word_set("""
    matter help show push keep let encourage motivate grow deserve allow mean feel seem look sound inspire remind
    make love enjoy like think want need give bring
""")
