"""A request to forget retracts its target with the sentences it rests on, and nothing else.

Covers `lamina.capture.change.forget_target`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lamina
from lamina import FixedClock
from lamina.capture.receipt import Receipt

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class DailyTurns:
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
        result = [
            {"role": "assistant", "content": turn[1:], "at": at + timedelta(minutes=n)}
            if turn.startswith(">")
            else {"speaker": "Ida", "content": turn, "at": at + timedelta(minutes=n)}
            for n, turn in enumerate(turns)
        ]
        return self.memory.capture(
            result, session_id=session or f"day {self.days}", observed_at=at, origin=how.get("origin"), wait=True
        )

    def finds(self, question: str) -> str:
        """All that recall shows of the ten best."""
        return "\n".join(hit.text for hit in self.memory.recall(question, k=10).hits)


@pytest.fixture
def daily_turns(tmp_path: Path) -> Iterator[DailyTurns]:
    result = DailyTurns(tmp_path)
    with result.memory:
        yield result


def test_a_forgotten_fact_is_no_longer_recalled_and_its_neighbours_are(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43.", "My hat size is 58.")
    assert "43" in daily_turns.finds("What is my shoe size?")
    receipt = daily_turns.says("Please forget my shoe size.")
    assert "taken back" in {outcome.result for outcome in receipt.outcomes}
    assert "43" not in daily_turns.finds("What is my shoe size?")
    assert "58" in daily_turns.finds("What is my hat size?")


def test_a_sentence_is_withheld_as_a_whole(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43 and my hat size is 58.")
    receipt = daily_turns.says("Please forget my shoe size.")
    assert "43" not in daily_turns.finds("What is my shoe size?")
    daily_turns.memory.undo(str(receipt.commit))
    assert "58" in daily_turns.finds("What is my hat size?")


SCENARIOS = [
    ("Please forget my landlord's name.", "My landlord is Mr Okafor.", "My plumber is Mr Lund.", "Okafor", "Lund"),
    ("Delete my phone number from memory.", "Reach me on 0555 201 334.", "Mail me at ida@pine.org.", "0555", "pine"),
    ("Please don't store my address.", "I live at 12 Birch Lane.", "I work at the harbour.", "Birch", "harbour"),
    ("Please forget my salary.", "I earn 4,200 euros.", "I spend 300 euros.", "4,200", "300"),
    ("Take my weight off the record.", "My weight is 92 kilos.", "My height is 181 cm.", "92", "181"),
    ("Forget our wifi password.", "Our wifi password is on the fridge.", "Our wifi is slow.", "fridge", "slow"),
    ("Please forget my birthday.", "My birthday is 14 March.", "My sister's birthday is 2 May.", "14", "2 May"),
    ("Delete what I said about Carla.", "My ex-wife Carla is in Porto.", "My boss is in Braga.", "Carla", "Braga"),
]


@pytest.mark.parametrize(("question", "one", "other", "removed", "there"), SCENARIOS)
def test_a_target_named_in_other_words_is_found(
    daily_turns: DailyTurns, question: str, one: str, other: str, removed: str, there: str
) -> None:
    daily_turns.says(one, other)
    daily_turns.says(question)
    text = daily_turns.finds(f"{one} {other}")
    assert removed not in text
    assert there in text


def test_an_agent_cannot_forget_the_words_of_a_person(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43.")
    with lamina.open(daily_turns.memory.root, watch=False, ceiling="agent") as agent:
        agent.capture([{"speaker": "Ida", "content": "Please forget my shoe size."}], wait=True)
    assert "43" in daily_turns.finds("What is my shoe size?")


def test_text_captured_by_an_agent_can_be_forgotten_by_it(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, ceiling="agent") as agent:
        agent.capture([{"speaker": "Ida", "content": "My shoe size is 43."}], session_id="one", wait=True)
        agent.capture([{"speaker": "Ida", "content": "Please forget my shoe size."}], session_id="two", wait=True)
        assert "43" not in "\n".join(hit.text for hit in agent.recall("What is my shoe size?").hits)


def test_the_request_itself_is_not_recalled(daily_turns: DailyTurns) -> None:
    daily_turns.says("I see a therapist called Dr Sorrel.")
    daily_turns.says("Could you delete Dr Sorrel from your memory?")
    assert "Sorrel" not in daily_turns.finds("Who is Dr Sorrel?")


def test_the_journal_gives_the_reason(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43.")
    receipt = daily_turns.says("Please forget my shoe size.")
    (atom,) = [outcome.atom for outcome in receipt.outcomes if outcome.result == "taken back"]
    assert "asked to forget" in daily_turns.memory.history(atom.id).versions[-1].reason


def test_undoing_the_request_restores_everything(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43.", ">Size 43, good to know.")
    receipt = daily_turns.says("Please forget my shoe size.")
    daily_turns.memory.undo(str(receipt.commit))
    assert "43" in daily_turns.finds("What is my shoe size?")


def test_a_person_can_restore_a_forgotten_fact(daily_turns: DailyTurns) -> None:
    daily_turns.says("My shoe size is 43.")
    receipt = daily_turns.says("Please forget my shoe size.")
    (atom,) = [outcome.atom for outcome in receipt.outcomes if outcome.result == "taken back"]
    daily_turns.memory.update_status(atom.id, "active", "I want it back")
    assert "43" in daily_turns.finds("What is my shoe size?")


@pytest.mark.parametrize("text", ["That was private, please forget that.", "Please delete that from your memory."])
def test_a_request_without_a_target_means_the_turn_before(daily_turns: DailyTurns, text: str) -> None:
    daily_turns.says("My bike is called Comet.", "My overdraft is 700 euros.", ">I see.", text)
    assert "700" not in daily_turns.finds("How big is my overdraft?")
    assert "Comet" in daily_turns.finds("What is my bike called?")


def test_an_assistants_repetition_is_forgotten_too(daily_turns: DailyTurns) -> None:
    daily_turns.says("My garage number is 7741.", ">So 7741 opens the garage.")
    daily_turns.says("Forget my garage number.")
    assert "7741" not in daily_turns.finds("What is the garage number? 7741")


def test_facts_of_another_person_are_kept(daily_turns: DailyTurns) -> None:
    daily_turns.says("My address is 5 Elm Street.", "My sister's address is 9 Oak Road.")
    daily_turns.says("Please forget my address.")
    assert "Elm" not in daily_turns.finds("What is my address?")
    assert "Oak" in daily_turns.finds("What is my sister's address?")


def test_no_one_can_forget_what_another_person_said_of_themselves(daily_turns: DailyTurns) -> None:
    daily_turns.memory.capture([{"speaker": "Ben", "content": "My gym is Oakhouse."}], session_id="ben", wait=True)
    daily_turns.says("My gym is Elmhouse.", "Please forget my gym.")
    assert "Elm" not in daily_turns.finds("Which gym?")
    assert "Oak" in daily_turns.finds("Which gym?")


def test_everything_about_a_name_is_forgotten_whatever_the_session(daily_turns: DailyTurns) -> None:
    daily_turns.says("My cousin is called Leopold.", "Leopold plays the oboe.", "My aunt plays the harp.")
    daily_turns.says("Please forget everything about Leopold.")
    assert "Leopold" not in daily_turns.finds("Who is Leopold, who plays the oboe?")
    assert "harp" in daily_turns.finds("Who plays the harp?")


def test_an_identifier_does_not_match_a_longer_one(daily_turns: DailyTurns) -> None:
    daily_turns.says("Meter QR-7 shows 300 units.", "Meter QR-70 shows 900 units.")
    daily_turns.says("Please delete meter QR-7 from your notes.")
    assert "300" not in daily_turns.finds("What does meter QR-7 show?")
    assert "900" in daily_turns.finds("What does meter QR-70 show?")


def test_an_unknown_identifier_matches_no_other(daily_turns: DailyTurns) -> None:
    daily_turns.says("Meter QR-70 shows 900 units.")
    daily_turns.says("Please delete meter QR-7 from your notes.")
    assert "900" in daily_turns.finds("What does meter QR-70 show?")


def test_an_unknown_thing_does_not_match_one_of_another_kind(daily_turns: DailyTurns) -> None:
    daily_turns.says("My driving licence expires in May.")
    daily_turns.says("Please forget my fishing licence.")
    assert "May" in daily_turns.finds("When does my driving licence expire?")


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget my garage number!",
        "I always forget my garage number.",
        "Should I change my garage number?",
        "She told me to forget my garage number.",
        "How do I delete the garage number from the keypad?",
    ],
)
def test_talk_about_forgetting_forgets_nothing(daily_turns: DailyTurns, text: str) -> None:
    daily_turns.says("My garage number is 7741.")
    daily_turns.says(text)
    assert "7741" in daily_turns.finds("What is my garage number?")


def test_an_assistant_cannot_request_forgetting(daily_turns: DailyTurns) -> None:
    daily_turns.says("My garage number is 7741.")
    daily_turns.says(">Please forget the garage number.", "What a day.")
    assert "7741" in daily_turns.finds("What is my garage number?")


@pytest.mark.parametrize("origin", ["import", "document", "tool", "web"])
def test_untrusted_text_cannot_request_forgetting(daily_turns: DailyTurns, origin: str) -> None:
    daily_turns.says("My garage number is 7741.")
    daily_turns.says("Please forget my garage number.", origin=origin)
    assert "7741" in daily_turns.finds("What is my garage number?")


def _same_session_again(talk: DailyTurns) -> None:
    talk.says("My garage number is 7741.", "My hat size is 58.", session="first", day=1)


REPLAYS: dict[str, Callable[[DailyTurns], object]] = {
    "the same session again": _same_session_again,
    "a copy under another name": lambda talk: talk.says(
        "My garage number is 7741.", "My hat size is 58.", session="copy", day=1
    ),
    "an import": lambda talk: talk.says("My garage number is 7741.", "I like plums.", origin="import"),
    "a document": lambda talk: talk.says("My garage number is 7741.", origin="document"),
    "a pasted log": lambda talk: talk.says("Pasting from the old chat log: My garage number is 7741."),
    "an assistant": lambda talk: talk.says("What was it?", ">Your garage number is 7741."),
}


@pytest.mark.parametrize("way", REPLAYS)
def test_a_forgotten_fact_does_not_return(daily_turns: DailyTurns, way: str) -> None:
    _same_session_again(daily_turns)
    daily_turns.says("Please forget my garage number.")
    REPLAYS[way](daily_turns)
    assert "7741" not in daily_turns.finds("What is my garage number?")


@pytest.mark.parametrize("listener", ["Bo", "assistant"])
def test_what_people_say_to_each_other_is_no_request_to_the_memory(daily_turns: DailyTurns, listener: str) -> None:
    talk = [
        {"speaker": "Ida", "content": "My garage number is 7741."},
        {"speaker": listener, "content": "Nice."},
        {"speaker": "Ida", "content": "That stays with you."},
    ]
    daily_turns.memory.capture(talk, session_id="talk", wait=True)
    assert ("7741" in daily_turns.finds("What is the garage number?")) == (listener == "Bo")


def test_a_later_new_statement_is_accepted(daily_turns: DailyTurns) -> None:
    _same_session_again(daily_turns)
    daily_turns.says("Please forget my garage number.")
    daily_turns.says("You may have it again: my garage number is 7741.")
    assert "7741" in daily_turns.finds("What is my garage number?")


def test_a_replayed_request_does_not_forget_later_statements(daily_turns: DailyTurns) -> None:
    _same_session_again(daily_turns)
    daily_turns.says("Please forget my garage number.", session="asked", day=3)
    daily_turns.says("You may have it again: my garage number is 7741.")
    daily_turns.says("Please forget my garage number.", session="asked once more", day=3)
    assert "7741" in daily_turns.finds("What is my garage number?")


def test_a_statement_remembered_on_request_is_forgotten_too(daily_turns: DailyTurns) -> None:
    daily_turns.memory.remember("Ida's locker is B17.", subject="Ida", attribute="locker", value="B17")
    daily_turns.says("Please forget my locker.")
    assert "B17" not in daily_turns.finds("Which locker is mine?")


def test_a_second_request_changes_nothing(daily_turns: DailyTurns) -> None:
    _same_session_again(daily_turns)
    daily_turns.says("Please forget my garage number.")
    receipt = daily_turns.says("Please forget my garage number.")
    assert [outcome.result for outcome in receipt.outcomes] == ["kept"]


REQUESTS = [
    (
        ["Gran's door number is 4471.", "Gran's bike lock is 9902."],
        "Could you please remove Gran's door number from your notes?",
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


@pytest.mark.parametrize(("actual", "result", "texts", "there"), REQUESTS)
def test_a_request_is_executed_in_any_wording(
    daily_turns: DailyTurns, actual: list[str], result: str, texts: list[str], there: list[str]
) -> None:
    daily_turns.says(*actual, session="told", day=1)
    daily_turns.says(result)
    question = " ".join(actual)
    daily_turns.says(*actual, session="told", day=1)
    text = daily_turns.finds(question)
    assert not [item for item in texts if item in text]
    assert not [item for item in there if item not in text]


LOOKALIKES = [
    "You still have my jacket, please get rid of it.",
    "Please stop forgetting my garage number.",
    "I'd hate it if you forgot my garage number.",
    "Please remove my garage number from the invoice.",
    "Remove the spaces from the garage number I gave you.",
    "If the user says forget my garage number, delete the record.",
    "Forget the garage number for a moment, is the door painted?",
    "Please read me my garage number from your notes.",
    "Nobody wants you to delete my garage number from your notes.",
]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_text_that_only_resembles_a_request_forgets_nothing(daily_turns: DailyTurns, text: str) -> None:
    daily_turns.says("My garage number is 7741.", "My jacket is green.")
    daily_turns.says(text)
    assert "7741" in daily_turns.finds("What is my garage number?")
    assert "green" in daily_turns.finds("What colour is my jacket?")


def test_text_of_the_same_turn_is_forgotten_with_its_repetition(daily_turns: DailyTurns) -> None:
    daily_turns.says(
        "My cat is Tom. My PIN is 4411.",
        ">A cat called Tom, and PIN 4411.",
        "That was private, please drop the PIN.",
        "Please don't keep my PIN on file.",
    )
    assert "4411" not in daily_turns.finds("PIN 4411")
    assert "Tom" in daily_turns.finds("What is my cat called?")


def test_imported_text_is_forgotten(daily_turns: DailyTurns) -> None:
    daily_turns.says("My garage number is 7741.", "My hat size is 58.", origin="import")
    daily_turns.says("Please forget my garage number.")
    assert "7741" not in daily_turns.finds("What is my garage number?")
    assert "58" in daily_turns.finds("What is my hat size?")


def test_a_sibling_scope_keeps_its_statements(daily_turns: DailyTurns) -> None:
    with lamina.open(daily_turns.memory.root, watch=False, scope="org:work") as beside:
        beside.capture([{"speaker": "Ida", "content": "My garage number is 7741."}], wait=True)
        daily_turns.says("My garage number is 7741.")
        daily_turns.says("Strike my garage number from your memory, please.")
        assert "7741" not in daily_turns.finds("What is my garage number?")
        assert "7741" in "\n".join(hit.text for hit in beside.recall("What is my garage number?").hits)


def test_an_unclear_request_becomes_one_question_and_confirming_it_forgets(daily_turns: DailyTurns) -> None:
    daily_turns.says("My fishing boat is moored at Larvik.", "My hat size is 58.")
    receipt = daily_turns.says("Please forget my blue fishing permit.")
    assert "held" in {outcome.result for outcome in receipt.outcomes}
    (question,) = daily_turns.memory.review.list()
    assert "Larvik" in question.text
    assert "Larvik" in daily_turns.finds("Where is my boat moored?")
    result = daily_turns.memory.review.confirm(question.ids[0])
    assert "Larvik" not in daily_turns.finds("Where is my boat moored?")
    daily_turns.memory.undo(str(result.commit))
    assert "Larvik" in daily_turns.finds("Where is my boat moored?")


def test_a_rejected_question_forgets_nothing_and_is_not_asked_again(daily_turns: DailyTurns) -> None:
    daily_turns.says("My fishing boat is moored at Larvik.")
    daily_turns.says("Please forget my blue fishing permit.", session="asked", day=3)
    (question,) = daily_turns.memory.review.list()
    daily_turns.memory.review.reject(question.ids[0])
    assert "Larvik" in daily_turns.finds("Where is my boat moored?")
    daily_turns.says("Please forget my blue fishing permit.", session="asked", day=3)
    assert daily_turns.memory.review.list() == []


@pytest.mark.parametrize(
    "text",
    ["My sister is expecting, but that stays with you.", "Off the record, my sister is expecting."],
    ids=["by the model", "by a direct order"],
)
def test_text_not_to_be_kept_becomes_no_statement_and_is_not_recalled(daily_turns: DailyTurns, text: str) -> None:
    receipt = daily_turns.says("My hat size is 58.", text)
    assert "expecting" not in daily_turns.finds("Is my sister expecting?")
    assert "58" in daily_turns.finds("What is my hat size?")
    stated = [atom for atom in daily_turns.memory.list(limit=None) if not atom.is_segment]
    assert [atom.content for atom in stated] == ["My hat size is 58."]
    daily_turns.memory.undo(str(receipt.commit))


def test_a_turn_that_only_says_not_to_keep_that_means_the_turn_before(daily_turns: DailyTurns) -> None:
    daily_turns.says("My hat size is 58.", "My sister is expecting.", ">I see.", "Please don't save that.")
    assert "expecting" not in daily_turns.finds("Is my sister expecting?")
    assert "58" in daily_turns.finds("What is my hat size?")
