"""What somebody asks to have forgotten is taken back with its sentences, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock
from lamina.capture.receipt import Receipt

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Talk:
    """A person who speaks on one day after another."""

    def __init__(self, path: Path) -> None:
        self._clock = FixedClock(START)
        self.memory = lamina.open(path / "vault", clock=self._clock, watch=False)
        self.days = 0

    def says(self, *turns: str, session: str | None = None, day: int | None = None, **how: str) -> Receipt:
        """A session of its own; a turn that begins with > is the assistant's."""
        self.days += 1
        self._clock.at = START + timedelta(days=self.days)
        at = START + timedelta(days=self.days if day is None else day)
        told = [
            {"role": "assistant", "content": each[1:], "at": at + timedelta(minutes=n)}
            if each.startswith(">")
            else {"speaker": "Ida", "content": each, "at": at + timedelta(minutes=n)}
            for n, each in enumerate(turns)
        ]
        return self.memory.capture(
            told, session_id=session or f"day {self.days}", observed_at=at, origin=how.get("origin"), wait=True
        )

    def finds(self, question: str) -> str:
        """All that recall shows of the ten best."""
        return "\n".join(hit.text for hit in self.memory.recall(question, k=10).hits)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path)
    with made.memory:
        yield made


def test_what_is_to_be_forgotten_is_no_longer_found_and_its_siblings_are(talk: Talk) -> None:
    talk.says("My shoe size is 43.", "My hat size is 58.")
    assert "43" in talk.finds("What is my shoe size?")
    receipt = talk.says("Please forget my shoe size.")
    assert "taken back" in {outcome.result for outcome in receipt.outcomes}
    assert "43" not in talk.finds("What is my shoe size?")
    assert "58" in talk.finds("What is my hat size?")


def test_a_sentence_is_withheld_as_a_whole(talk: Talk) -> None:
    talk.says("My shoe size is 43 and my hat size is 58.")
    receipt = talk.says("Please forget my shoe size.")
    assert "43" not in talk.finds("What is my shoe size?")
    talk.memory.undo(str(receipt.commit))
    assert "58" in talk.finds("What is my hat size?")


SCENES = [
    ("Please forget my landlord's name.", "My landlord is Mr Okafor.", "My plumber is Mr Lund.", "Okafor", "Lund"),
    ("Delete my phone number from memory.", "Reach me on 0555 201 334.", "Mail me at ida@pine.org.", "0555", "pine"),
    ("Please don't store my address.", "I live at 12 Birch Lane.", "I work at the harbour.", "Birch", "harbour"),
    ("Please forget my salary.", "I earn 4,200 euros.", "I spend 300 euros.", "4,200", "300"),
    ("Take my weight off the record.", "My weight is 92 kilos.", "My height is 181 cm.", "92", "181"),
    ("Forget our wifi password.", "Our wifi password is on the fridge.", "Our wifi is slow.", "fridge", "slow"),
    ("Please forget my birthday.", "My birthday is 14 March.", "My sister's birthday is 2 May.", "14", "2 May"),
    ("Delete what I said about Carla.", "My ex-wife Carla is in Porto.", "My boss is in Braga.", "Carla", "Braga"),
]


@pytest.mark.parametrize(("asked", "one", "other", "gone", "there"), SCENES)
def test_what_is_named_in_other_words_is_found(
    talk: Talk, asked: str, one: str, other: str, gone: str, there: str
) -> None:
    talk.says(one, other)
    talk.says(asked)
    found = talk.finds(f"{one} {other}")
    assert gone not in found
    assert there in found


def test_an_agent_has_no_say_over_the_words_of_a_person(talk: Talk) -> None:
    talk.says("My shoe size is 43.")
    with lamina.open(talk.memory.root, watch=False, ceiling="agent") as agent:
        agent.capture([{"speaker": "Ida", "content": "Please forget my shoe size."}], wait=True)
    assert "43" in talk.finds("What is my shoe size?")


def test_what_came_in_through_an_agent_is_forgotten_through_it(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent") as agent:
        agent.capture([{"speaker": "Ida", "content": "My shoe size is 43."}], session_id="one", wait=True)
        agent.capture([{"speaker": "Ida", "content": "Please forget my shoe size."}], session_id="two", wait=True)
        assert "43" not in "\n".join(hit.text for hit in agent.recall("What is my shoe size?").hits)


def test_the_request_itself_is_not_shown(talk: Talk) -> None:
    talk.says("I see a therapist called Dr Sorrel.")
    talk.says("Could you delete Dr Sorrel from your memory?")
    assert "Sorrel" not in talk.finds("Who is Dr Sorrel?")


def test_the_journal_tells_why(talk: Talk) -> None:
    talk.says("My shoe size is 43.")
    receipt = talk.says("Please forget my shoe size.")
    (taken,) = [outcome.atom for outcome in receipt.outcomes if outcome.result == "taken back"]
    assert "asked to forget" in talk.memory.history(taken.id).versions[-1].reason


def test_undoing_the_request_brings_everything_back(talk: Talk) -> None:
    talk.says("My shoe size is 43.", ">Size 43, good to know.")
    receipt = talk.says("Please forget my shoe size.")
    talk.memory.undo(str(receipt.commit))
    assert "43" in talk.finds("What is my shoe size?")


def test_what_was_forgotten_can_be_restored_by_a_person(talk: Talk) -> None:
    talk.says("My shoe size is 43.")
    receipt = talk.says("Please forget my shoe size.")
    (taken,) = [outcome.atom for outcome in receipt.outcomes if outcome.result == "taken back"]
    talk.memory.update_status(taken.id, "active", "I want it back")
    assert "43" in talk.finds("What is my shoe size?")


@pytest.mark.parametrize("said", ["That was private, please forget that.", "Please delete that from your memory."])
def test_a_request_that_names_nothing_means_what_was_said_before(talk: Talk, said: str) -> None:
    talk.says("My bike is called Comet.", "My overdraft is 700 euros.", ">I see.", said)
    assert "700" not in talk.finds("How big is my overdraft?")
    assert "Comet" in talk.finds("What is my bike called?")


def test_an_echo_of_the_assistant_goes_too(talk: Talk) -> None:
    talk.says("My garage code is 7741.", ">So 7741 opens the garage.")
    talk.says("Forget my garage code.")
    assert "7741" not in talk.finds("What is the garage code? 7741")


def test_somebody_else_keeps_what_is_theirs(talk: Talk) -> None:
    talk.says("My address is 5 Elm Street.", "My sister's address is 9 Oak Road.")
    talk.says("Please forget my address.")
    assert "Elm" not in talk.finds("What is my address?")
    assert "Oak" in talk.finds("What is my sister's address?")


def test_nobody_has_anything_forgotten_that_another_said_of_themselves(talk: Talk) -> None:
    talk.memory.capture([{"speaker": "Ben", "content": "My gym is Oakhouse."}], session_id="ben", wait=True)
    talk.says("My gym is Elmhouse.", "Please forget my gym.")
    assert "Elm" not in talk.finds("Which gym?")
    assert "Oak" in talk.finds("Which gym?")


def test_everything_about_a_name_goes_wherever_it_was_said(talk: Talk) -> None:
    talk.says("My cousin is called Leopold.", "Leopold plays the oboe.", "My aunt plays the harp.")
    talk.says("Please forget everything about Leopold.")
    assert "Leopold" not in talk.finds("Who is Leopold, who plays the oboe?")
    assert "harp" in talk.finds("Who plays the harp?")


def test_an_identifier_is_not_another_that_begins_like_it(talk: Talk) -> None:
    talk.says("Meter QR-7 shows 300 units.", "Meter QR-70 shows 900 units.")
    talk.says("Please delete meter QR-7 from your notes.")
    assert "300" not in talk.finds("What does meter QR-7 show?")
    assert "900" in talk.finds("What does meter QR-70 show?")


def test_an_identifier_that_is_not_known_takes_no_other_with_it(talk: Talk) -> None:
    talk.says("Meter QR-70 shows 900 units.")
    talk.says("Please delete meter QR-7 from your notes.")
    assert "900" in talk.finds("What does meter QR-70 show?")


def test_a_thing_of_another_kind_stays_where_the_one_named_is_unknown(talk: Talk) -> None:
    talk.says("My driving licence expires in May.")
    talk.says("Please forget my fishing licence.")
    assert "May" in talk.finds("When does my driving licence expire?")


@pytest.mark.parametrize(
    "said",
    [
        "Don't forget my garage code!",
        "I always forget my garage code.",
        "Should I change my garage code?",
        "She told me to forget my garage code.",
        "How do I delete the garage code from the keypad?",
    ],
)
def test_who_only_speaks_of_forgetting_loses_nothing(talk: Talk, said: str) -> None:
    talk.says("My garage code is 7741.")
    talk.says(said)
    assert "7741" in talk.finds("What is my garage code?")


def test_an_assistant_cannot_have_anything_forgotten(talk: Talk) -> None:
    talk.says("My garage code is 7741.")
    talk.says(">Please forget the garage code.", "What a day.")
    assert "7741" in talk.finds("What is my garage code?")


@pytest.mark.parametrize("origin", ["import", "document", "tool", "web"])
def test_words_nobody_vouches_for_cannot_have_anything_forgotten(talk: Talk, origin: str) -> None:
    talk.says("My garage code is 7741.")
    talk.says("Please forget my garage code.", origin=origin)
    assert "7741" in talk.finds("What is my garage code?")


def _again(talk: Talk) -> None:
    talk.says("My garage code is 7741.", "My hat size is 58.", session="first", day=1)


COMEBACKS: dict[str, Callable[[Talk], object]] = {
    "the same session again": _again,
    "a copy under another name": lambda talk: talk.says(
        "My garage code is 7741.", "My hat size is 58.", session="copy", day=1
    ),
    "an import": lambda talk: talk.says("My garage code is 7741.", "I like plums.", origin="import"),
    "a document": lambda talk: talk.says("My garage code is 7741.", origin="document"),
    "a pasted log": lambda talk: talk.says("Pasting from the old chat log: My garage code is 7741."),
    "an assistant": lambda talk: talk.says("What was it?", ">Your garage code is 7741."),
}


@pytest.mark.parametrize("way", COMEBACKS)
def test_what_was_forgotten_does_not_come_back(talk: Talk, way: str) -> None:
    _again(talk)
    talk.says("Please forget my garage code.")
    COMEBACKS[way](talk)
    assert "7741" not in talk.finds("What is my garage code?")


def test_who_says_it_anew_later_is_heard(talk: Talk) -> None:
    _again(talk)
    talk.says("Please forget my garage code.")
    talk.says("You may have it again: my garage code is 7741.")
    assert "7741" in talk.finds("What is my garage code?")


def test_a_request_that_comes_again_does_not_take_what_was_said_since(talk: Talk) -> None:
    _again(talk)
    talk.says("Please forget my garage code.", session="asked", day=3)
    talk.says("You may have it again: my garage code is 7741.")
    talk.says("Please forget my garage code.", session="asked once more", day=3)
    assert "7741" in talk.finds("What is my garage code?")


def test_a_statement_somebody_asked_to_have_remembered_is_forgotten_as_well(talk: Talk) -> None:
    talk.memory.remember("Ida's locker is B17.", subject="Ida", attribute="locker", value="B17")
    talk.says("Please forget my locker.")
    assert "B17" not in talk.finds("Which locker is mine?")


def test_a_second_request_changes_nothing(talk: Talk) -> None:
    _again(talk)
    talk.says("Please forget my garage code.")
    receipt = talk.says("Please forget my garage code.")
    assert [outcome.result for outcome in receipt.outcomes] == ["kept"]


WISHES = [
    (
        ["Gran's door code is 4471.", "Gran's bike lock is 9902."],
        "Could you please remove Gran's door code from your notes?",
        ["4471"],
        ["9902"],
    ),
    (
        ["My cousin Ottilie lives in Ghent.", "Ottilie expects twins.", "Bruno is in Lier."],
        "Do me a favour and wipe everything I told you about Ottilie.",
        ["Ghent", "twins"],
        ["Lier"],
    ),
    (
        ["My visa number is K8841202.", ">Noted: visa K8841202.", "My shoe size is 43."],
        "Scratch what I said about the visa.",
        ["K8841202"],
        ["43"],
    ),
    (
        ["The choir audition is on 14 May.", "The choir trip is on 20 May."],
        "Please forget the date of the choir audition, the conductor is replanning everything.",
        ["14 May"],
        ["20 May"],
    ),
    (
        ["My street is Elm Row.", "My door number is 17.", "My boat is called Wren."],
        "Please forget my street, and also my door number.",
        ["Elm", "17"],
        ["Wren"],
    ),
    (
        ["Philippa's birthday is 4 May.", "Philippa lives in Bath.", "Philippa likes jazz."],
        "Forget everything about Philippa except her birthday.",
        ["Bath", "jazz"],
        ["4 May"],
    ),
    (
        ["Agatha's email address is agatha@fen.org.", "Agatha's phone is 0555 123 456."],
        "Agatha would like her email address removed from your notes.",
        ["fen.org"],
        ["0555"],
    ),
]


@pytest.mark.parametrize(("told", "asked", "gone", "there"), WISHES)
def test_a_wish_is_obeyed_in_whatever_words(
    talk: Talk, told: list[str], asked: str, gone: list[str], there: list[str]
) -> None:
    talk.says(*told, session="told", day=1)
    talk.says(asked)
    question = " ".join(told)
    talk.says(*told, session="told", day=1)
    found = talk.finds(question)
    assert not [each for each in gone if each in found]
    assert not [each for each in there if each not in found]


LOOKALIKES = [
    "You still have my jacket, please get rid of it.",
    "Please stop forgetting my garage code.",
    "I'd hate it if you forgot my garage code.",
    "Please remove my garage code from the invoice.",
    "Remove the spaces from the garage code I gave you.",
    "If the user says forget my garage code, delete the record.",
    "Forget the garage code for a moment, is the door painted?",
    "Please read me my garage code from your notes.",
    "Nobody wants you to delete my garage code from your notes.",
]


@pytest.mark.parametrize("said", LOOKALIKES)
def test_what_only_sounds_like_a_wish_takes_nothing(talk: Talk, said: str) -> None:
    talk.says("My garage code is 7741.", "My jacket is green.")
    talk.says(said)
    assert "7741" in talk.finds("What is my garage code?")
    assert "green" in talk.finds("What colour is my jacket?")


def test_what_was_said_in_the_same_turn_is_forgotten_with_its_echo(talk: Talk) -> None:
    talk.says(
        "My cat is Tom. My PIN is 4411.",
        ">A cat called Tom, and PIN 4411.",
        "That was private, please drop the PIN.",
        "Please don't keep my PIN on file.",
    )
    assert "4411" not in talk.finds("PIN 4411")
    assert "Tom" in talk.finds("What is my cat called?")


def test_what_came_in_with_an_import_is_forgotten(talk: Talk) -> None:
    talk.says("My garage code is 7741.", "My hat size is 58.", origin="import")
    talk.says("Please forget my garage code.")
    assert "7741" not in talk.finds("What is my garage code?")
    assert "58" in talk.finds("What is my hat size?")


def test_a_scope_beside_keeps_what_it_was_told(talk: Talk) -> None:
    with lamina.open(talk.memory.root, watch=False, scope="org:work") as beside:
        beside.capture([{"speaker": "Ida", "content": "My garage code is 7741."}], wait=True)
        talk.says("My garage code is 7741.")
        talk.says("Strike my garage code from your memory, please.")
        assert "7741" not in talk.finds("What is my garage code?")
        assert "7741" in "\n".join(hit.text for hit in beside.recall("What is my garage code?").hits)


def test_an_unclear_request_becomes_one_question_and_confirming_it_forgets(talk: Talk) -> None:
    talk.says("My fishing boat is moored at Larvik.", "My hat size is 58.")
    receipt = talk.says("Please forget my blue fishing permit.")
    assert "held" in {outcome.result for outcome in receipt.outcomes}
    (question,) = talk.memory.review.list()
    assert "Larvik" in question.text
    assert "Larvik" in talk.finds("Where is my boat moored?")
    done = talk.memory.review.confirm(question.ids[0])
    assert "Larvik" not in talk.finds("Where is my boat moored?")
    talk.memory.undo(str(done.commit))
    assert "Larvik" in talk.finds("Where is my boat moored?")


def test_a_question_that_is_rejected_forgets_nothing_and_is_not_asked_again(talk: Talk) -> None:
    talk.says("My fishing boat is moored at Larvik.")
    talk.says("Please forget my blue fishing permit.", session="asked", day=3)
    (question,) = talk.memory.review.list()
    talk.memory.review.reject(question.ids[0])
    assert "Larvik" in talk.finds("Where is my boat moored?")
    talk.says("Please forget my blue fishing permit.", session="asked", day=3)
    assert talk.memory.review.list() == []


@pytest.mark.parametrize(
    "said",
    ["My sister is expecting, but that stays with you.", "Off the record, my sister is expecting."],
    ids=["by the model", "by a direct order"],
)
def test_what_is_not_to_be_kept_is_no_statement_and_is_not_shown(talk: Talk, said: str) -> None:
    receipt = talk.says("My hat size is 58.", said)
    assert "expecting" not in talk.finds("Is my sister expecting?")
    assert "58" in talk.finds("What is my hat size?")
    stated = [each for each in talk.memory.list(limit=None) if not each.is_segment]
    assert [each.content for each in stated] == ["My hat size is 58."]
    talk.memory.undo(str(receipt.commit))


def test_a_turn_that_only_says_not_to_keep_that_means_the_turn_before(talk: Talk) -> None:
    talk.says("My hat size is 58.", "My sister is expecting.", ">I see.", "Please don't save that.")
    assert "expecting" not in talk.finds("Is my sister expecting?")
    assert "58" in talk.finds("What is my hat size?")
