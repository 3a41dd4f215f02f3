"""Talk is full of sentences that share words; hardly any of them overtakes another."""

from __future__ import annotations

import pytest

from desk import Desk
from lamina.capture.change.link import Earlier, Link
from lamina.capture.change.links import decide
from lamina.capture.change.plain import is_exclaimed, is_fragment, is_state, is_unnamed
from lamina.capture.change.sentence import told_by
from lamina.capture.change.told import told


def links(old: str, new: str) -> list[Link[int]]:
    was, now = told(old, guess=True), told(new)
    return decide(now, [Earlier(was, 1)]) if was is not None and now is not None else []


def surely(old: str, new: str) -> bool:
    return any(each.sure for each in links(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("Keep rowing!", "Keep that steady rhythm and keep rowing!", id="calls"),
        pytest.param("Greta sails on Lake Como!", "Greta sails on Lake Garda!", id="a call is never overtaken"),
        pytest.param("Her name is Biscuit.", "Her name is Pepper.", id="nobody knows whose"),
        pytest.param("Here's a Mastodon draft for the fair:", "Here's a Bluesky draft for the fair:", id="shown"),
        pytest.param("We can open a stall together.", "We can open a library together.", id="possible"),
        pytest.param("I keep my kayak in Dover.", "I got my kayak on a whim these days.", id="no name for a name"),
        pytest.param(
            "My pottery is about showing my island roots.",
            "Pottery lets me look at my craft and my changing taste.",
            id="whose it is is no place",
        ),
        pytest.param(
            "I'm thinking about going sailing.",
            "Actually, I just went sailing with my uncle, it was a calm trip.",
            id="a story that begins with actually",
        ),
        pytest.param(
            "I still cook at the harbour canteen.", "I cook at the canteen at the long counter.", id="describes a noun"
        ),
        pytest.param("I'm a rowing fan.", "Nope, not a new rowing boat.", id="an answer"),
        pytest.param("Two are Lab mixes, two are Pugs.", "Two are Lab mixes, two are Pugs.", id="again"),
        pytest.param("I use Quill and Blotter.", "I currently use a small press for Inkwell.", id="several tools"),
        pytest.param("6 porters", "3 days off for all porters", id="fragments"),
        pytest.param("Never mind, the choir keeps me calm.", "I won't quit the choir.", id="no giving up"),
        pytest.param("I love rowing.", "Rowing gloves help avoid blisters.", id="something else is avoided"),
        pytest.param("Our fair is on May 3.", "I moved a call with Bruno from May 3 to May 9.", id="a day they share"),
    ],
)
def test_talk_overtakes_nothing_surely(old: str, new: str) -> None:
    assert not surely(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The kayaks are kept in the barn.", "The kayaks are kept in the boathouse now."),
        ("I take the early shift at the mill.", "The plan is new: I take the late shift at the mill."),
        ("The ferry stops beside the chapel.", "From next week the ferry stops at the lighthouse."),
        ("I prefer apricots.", "Apricots make me sneeze; I prefer plums."),
        ("Our choir leader is Greta.", "Our choir leader is Bruno now."),
        ("Our florist is Fernleaf.", "We swapped the florist, it's Petalworks."),
        ("The rowing club has 41 boats.", "The rowing club has 44 boats now!"),
        ("Bruno has the number 0340 1188.", "Bruno's number changed, it's 0340 2299."),
        ("I'm a fan of brass bands.", "I'm over brass bands, they are too loud."),
        ("I adore liquorice.", "I can't stand liquorice any more."),
        ("I keep a kiln in the shed behind Rowan House.", "I sold the kiln."),
    ],
)
def test_states_that_changed_are_overtaken_surely(old: str, new: str) -> None:
    assert surely(old, new)


@pytest.mark.parametrize(
    "text",
    [
        "## Second section",
        "**Closing remarks 2**",
        "| port | 8080 |",
        "timeout = 30",
        "const limit = 40;",
        "rows: list[tuple[int, int]]",
        "// The port is 8080",
        "client.connect(host)",
    ],
)
def test_what_is_set_down_and_not_said_tells_nothing(text: str) -> None:
    assert told(text) is None


@pytest.mark.parametrize("text", ["Rent: 900 -> 950", "The class is held in Leeds."])
def test_notes_with_signs_in_them_are_told(text: str) -> None:
    assert told(text) is not None


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("The mill closes at six.", True),
        ("Staging runs on Debian.", True),
        ("Rowing is held in the bay.", True),
        ("We will meet in the bay.", True),
        ("Remember the oars.", False),
        ("Been rowing in the bay all week.", False),
        ("Sharing the bay with seals makes my week.", False),
        ("We could row in the bay.", False),
        ("The bay suits your boat.", False),
    ],
)
def test_a_state_has_a_subject_and_holds(text: str, state: bool) -> None:
    found = told(text)
    assert found is not None
    assert is_state(found) is state


def test_a_sentence_may_leave_open_what_it_is_about() -> None:
    alone, named = told("Her boat is the Gull."), told("Her boat is the Gull.", before="I sailed with Greta.")
    call, piece = told("The boat is the Gull!"), told("12 oars")
    assert alone is not None and named is not None and call is not None and piece is not None
    assert is_unnamed(alone) and not is_unnamed(named)
    assert is_exclaimed(call) and not is_exclaimed(alone)
    assert is_fragment(piece) and not is_fragment(call)


def test_a_name_of_something_in_code_is_no_code() -> None:
    assert told("We deploy with `make ship` now.") is not None
    assert told("`const port = 8080`; `let host`; {") is None


def test_what_stands_between_fences_is_not_said() -> None:
    turn = "The cache is on port 6379.\n```yaml\nThe cache is on port 7000.\n```\nThe mill is in Leeds."
    said = [each.text for each in told_by(turn, None) if each.tellings]
    assert said == ["The cache is on port 6379.", "The mill is in Leeds."]


def test_a_no_to_what_somebody_asked_corrects_nothing(desk: Desk) -> None:
    desk.memory.capture([{"speaker": "Ole", "content": "My favourite thing is Finnish rye."}], session_id="a")
    answer = "Nope, not a new boat. We put together a race for our favourite lake, Inari."
    desk.memory.capture([{"speaker": "Ole", "content": answer}], session_id="b")
    assert not [each for each in desk.memory.list(status=None, limit=None) if each.superseded_by]


def test_a_no_that_names_what_was_said_still_does(desk: Desk) -> None:
    desk.memory.capture([{"speaker": "Ole", "content": "The raft race is on Thursday."}], session_id="a")
    desk.memory.capture(
        [{"speaker": "Ole", "content": "No, not Thursday. The raft race is on Friday."}], session_id="a"
    )
    assert [each.content for each in desk.memory.list(status="invalidated") if "Thursday" in each.content]
