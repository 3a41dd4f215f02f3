"""What asserts nothing, and what is worth nothing, yields nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.found import Finding, Said
from lamina.capture.rules.extractor import RulesExtractor

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)


def found(text: str, speaker: str | None = "user") -> list[Finding]:
    return RulesExtractor().extract([Said("seg", 0, text, speaker, NOON)])


@pytest.mark.parametrize(
    "said",
    [
        # hypothetical
        "If I lived in Turin I'd cycle.",
        "Suppose our office were in Malta.",
        "I wish I had a harp.",
        "I almost bought a scooter.",
        "I could have joined Globex.",
        # hedged
        "Maybe I'll join Globex.",
        "We're thinking of moving to Ghent.",
        "I might switch to another bank.",
        "I'm half tempted to get a parrot.",
        "We may hire Olaf.",
        # in jest
        "Yeah right, my salary is two million pounds.",
        "I'm basically an owl before ten, just kidding.",
        "Ha, sure, and I'm the king of Narnia.",
        # fiction, examples, translation
        "In my novel the detective lives in Bergen.",
        "For example, my name is Zed.",
        "Translate 'my dog is called Rex' into Danish.",
        # quoted or reported
        'He said "I work at Initech".',
        "My cousin reckons the shop is in Leeds.",
        "The poster says entry is £9.",
        "According to Bob the ferry leaves at 9:00.",
        # questions and requests
        "Is the meeting at 14:00?",
        "Write a haiku about Kyoto.",
        "Tell me a joke about Glasgow.",
        "Let's meet at Joe's.",
        # pasted
        "Pasting from the old chat log: I live in Leith.",
        # memory talk
        "Please forget my old address.",
        "Nothing about the boat should be kept in your memory.",
    ],
)
def test_what_is_not_asserted_yields_nothing(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Thanks, that means a lot!",
        "Wow, that's amazing!",
        "I'm so happy for you.",
        "I'm really proud of it.",
        "Nature is great.",
        "Kindness is key.",
        "It was a great experience.",
        "I had a great time.",
        "I think so too.",
        "I agree with you.",
        "We had so much fun together!",
        "The colors are so bold.",
        "Can't wait to see it!",
        "Good luck with the exam!",
        "I'm going to make it happen!",
        "Something awesome happened.",
        "I love it!",
        "You did a good job with the garden.",
        "That park looks lovely.",
    ],
)
@pytest.mark.parametrize("speaker", ["user", "Ana"])
def test_small_talk_and_praise_yield_nothing(said: str, speaker: str) -> None:
    assert found(said, speaker) == []


@pytest.mark.parametrize(
    "said", ["It opens at nine.", "They live in Oslo.", "I bought one there.", "I painted that last year.", "He is 34."]
)
def test_what_points_outside_itself_yields_nothing(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Mein Hund heißt Waldi und wohnt bei mir.",
        "Mi hermano vive en Sevilla.",
        "Je travaille à Lyon depuis mars.",
        "Я живу в Москве.",
        "我住在北京。",
        "Ik woon in Gent en werk in Brussel.",
    ],
)
def test_other_languages_yield_nothing(said: str) -> None:
    assert found(said) == []


def test_the_assistant_states_nothing() -> None:
    assert found("I live in the cloud and my name is Bot.", "assistant") == []


def test_a_denied_value_is_told_as_denied_and_claims_nothing() -> None:
    (finding,) = found("I no longer eat meat.")
    assert finding.content == "The user no longer eats meat."
    assert finding.attribute is None


def test_a_past_state_is_told_as_past_and_claims_nothing() -> None:
    (finding,) = found("I used to live in Rome.")
    assert finding.content == "The user used to live in Rome."
    assert (finding.attribute, finding.value) == (None, None)


def test_what_is_told_of_somebody_else_is_theirs() -> None:
    statement, _ = found("My colleague Ingrid moved to Odense.")
    assert statement.subject == "Ingrid"


def test_a_condition_is_not_left_off() -> None:
    for finding in found("I take the tram to work when the river floods."):
        assert "when the river floods" in finding.content


@pytest.mark.parametrize(
    "said",
    [
        "### Week 4: Training and Documentation",
        "- **Groceries**: $300",
        "- Groceries: $300",
        "| Bed A | leeks |",
        "> I live in Leith.",
        "this.state = { hasError: false };",
        "The port is `8080`.",
        '"Our plumber is Lubna."',
        "I am free on Friday and can be reached at [your phone number].",
        "```\nport: 8080\nMy dog is called Rex.\n```",
    ],
)
def test_what_is_set_and_not_said_yields_nothing(said: str) -> None:
    assert found(said) == []


def test_a_list_item_in_which_somebody_speaks_is_read() -> None:
    (finding,) = found("- My plumber is Lubna Haddad.")
    assert finding.content == "The user's plumber is Lubna Haddad."


@pytest.mark.parametrize("said", ["I'm gonna order some sushi tonight.", "I have the day off today."])
def test_what_holds_for_this_very_day_only_yields_nothing(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize("year", [1, 9999])
def test_at_the_edge_of_the_calendar_nothing_is_read_and_nothing_fails(year: int) -> None:
    at = datetime(year, 12, 31, 23, 59, tzinfo=UTC) if year > 1 else datetime(1, 1, 1, tzinfo=UTC)
    assert RulesExtractor().extract([Said("seg", 0, "I moved to Turin yesterday.", "Ana", at)]) == []
