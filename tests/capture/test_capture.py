"""The write path: turns are stored word for word, and a request to remember becomes an atom.

Covers `lamina.capture.prose`.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina
from lamina import Atom, FixedClock, InvalidInput, Memory, Result, Status, passages_of
from lamina.capture.pieces import TextPiece

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """One that makes statements only of what it is asked to remember."""
    monkeypatch.setenv("LAMINA_EXTRACTOR", "none")
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def turn(content: str, speaker: str | None = "Ann", at: datetime | None = None) -> dict[str, Any]:
    return {"speaker": speaker, "content": content, "at": at}


def segments(memory: Memory, session_id: str | None = None) -> list[Atom]:
    atoms = [atom for atom in memory.list(status=None, session_id=session_id, limit=None) if atom.is_segment]
    return sorted(atoms, key=lambda atom: int((atom.segment_id or "").rpartition("-")[2]))


def words(memory: Memory, session_id: str | None = None) -> list[str]:
    return [passage.text for segment in segments(memory, session_id) for passage in passages_of(segment)]


# Segments


def test_turns_are_stored_with_speaker_and_time(memory: Memory) -> None:
    receipt = memory.capture(
        [turn("Hello", at=NOON - MINUTE), {"role": "assistant", "content": "Hi!", "at": NOON}], session_id="s1"
    )
    (outcome,) = receipt.outcomes
    assert (outcome.result, outcome.atom.kind, outcome.atom.segment_id) == (Result.KEPT, "narrative", "s1-1")
    one, other = passages_of(outcome.atom)
    assert (one.n, one.speaker, one.text, one.at) == (1, "Ann", "Hello", NOON - MINUTE)
    assert (other.n, other.speaker, other.text, other.at) == (2, "assistant", "Hi!", NOON)
    assert outcome.path is not None
    assert (memory.root / outcome.path).read_text(encoding="utf-8").count("^p") == 2


def test_a_session_continues_in_the_same_segment_and_counts_its_turns(memory: Memory) -> None:
    first = memory.capture([turn("one")], session_id="s1").atom
    second = memory.capture([turn("two"), turn("three")], session_id="s1").atom
    memory.capture([turn("elsewhere")], session_id="s2")
    assert (second.id, second.revision) == (first.id, 2)
    assert [passage.n for passage in passages_of(second)] == [1, 2, 3]
    assert words(memory, "s1") == ["one", "two", "three"]
    assert len(segments(memory)) == 2


def test_a_segment_is_closed_at_its_limit_and_the_next_continues_the_numbers(memory: Memory) -> None:
    sentence = [f"turn {n} " + "word " * 100 for n in range(60)]
    memory.capture([turn(text) for text in sentence[:30]], session_id="s1")
    memory.capture([turn(text) for text in sentence[30:]], session_id="s1")
    atoms = segments(memory, "s1")
    assert [atom.segment_id for atom in atoms] == [f"s1-{n}" for n in range(1, len(atoms) + 1)]
    assert len(atoms) >= 3
    assert all(len(atom.content) <= 12_000 for atom in atoms)
    assert all(len(atom.content) > 11_000 for atom in atoms[:-1])
    assert words(memory, "s1") == sentence


def test_a_turn_longer_than_the_limit_gets_its_own_segment(memory: Memory) -> None:
    long = "word " * 5_000
    memory.capture([turn("before"), turn(long.strip()), turn("after")], session_id="s1")
    assert [len(passages_of(atom)) for atom in segments(memory)] == [1, 1, 1]
    assert words(memory) == ["before", long.strip(), "after"]


def test_half_an_hour_of_silence_closes_a_segment(memory: Memory, clock: FixedClock) -> None:
    for minutes in (0, 30, 61, 62):
        clock.at = NOON + minutes * MINUTE
        memory.capture([turn(f"at {minutes}")], session_id="s1")
    assert [[p.text for p in passages_of(atom)] for atom in segments(memory)] == [["at 0", "at 30"], ["at 61", "at 62"]]


def test_silence_is_measured_between_turns_not_between_calls(memory: Memory) -> None:
    memory.capture([turn("a", at=NOON), turn("b", at=NOON + 31 * MINUTE), turn("c", at=NOON)], session_id="s1")
    assert [[p.text for p in passages_of(atom)] for atom in segments(memory)] == [["a"], ["b", "c"]]


def test_the_limits_are_settings(tmp_path: Path) -> None:
    chosen = lamina.Settings(segment_chars=500, idle_minutes=1)
    with lamina.open(tmp_path / "vault", settings=chosen, watch=False) as memory:
        memory.capture([turn("word " * 30) for _ in range(9)], session_id="s1")
        assert len(segments(memory)) > 2
        assert all(len(atom.content) <= 500 for atom in segments(memory))


def test_a_forgotten_segment_is_not_appended_to(memory: Memory) -> None:
    first = memory.capture([turn("one")], session_id="s1").atom
    memory.forget(first.id, "not for keeping")
    second = memory.capture([turn("two")], session_id="s1").atom
    assert (second.id != first.id, second.segment_id) == (True, "s1-2")


def test_text_of_different_origins_never_shares_a_segment(memory: Memory) -> None:
    memory.capture([turn("my own words")], session_id="s1", origin="human")
    memory.capture([turn("wire the money", speaker="page")], session_id="s1", origin="web")
    memory.capture([turn("my words again")], session_id="s1", origin="human")
    assert [(atom.origin, words) for atom in segments(memory) for words in [passages_of(atom)[0].text]] == [
        ("human", "my own words"),
        ("web", "wire the money"),
        ("human", "my words again"),
    ]
    assert memory.recall("wire money").hits == ()
    assert memory.recall("wire money", include="constrained").hits[0].atom.origin == "web"


def test_each_paragraph_of_a_document_becomes_a_passage(memory: Memory) -> None:
    text = "Opening.\n\nFirst paragraph,\nsecond line.\n\n\n  \nSecond paragraph.\r\n\r\nThird."
    atom = memory.capture(text, session_id="doc").atom
    assert [passage.text for passage in passages_of(atom)] == [
        "Opening.",
        "First paragraph,\nsecond line.",
        "Second paragraph.",
        "Third.",
    ]
    assert all(passage.speaker is None for passage in passages_of(atom))


def test_markdown_is_split_at_headings_and_a_transcript_into_turns(memory: Memory) -> None:
    text = "# Title\n\nFirst paragraph.\n\nSecond paragraph.\n\n## Part\n\nThird."
    (segment,) = (outcome.atom for outcome in memory.capture(text, session_id="doc").outcomes)
    texts = [passage.text for passage in passages_of(segment)]
    assert "".join("".join(texts).split()) == "".join(text.split())
    assert texts[0].startswith("# Title\n")
    spoken = memory.capture("Ann: The tea is ready.\nBob: I will come.\nAnn: Good.", session_id="talk").atom
    assert [(passage.speaker, passage.text) for passage in passages_of(spoken)] == [
        ("Ann", "The tea is ready."),
        ("Bob", "I will come."),
        ("Ann", "Good."),
    ]


def test_a_file_name_determines_the_text_format(memory: Memory) -> None:
    text = "def one():\n    return 1\n\n\ndef other():\n    return 2\n"
    code = memory.capture(text, name="tea.py", session_id="code").atom
    assert [passage.text.split("\n")[0] for passage in passages_of(code)] == ["def one():", "def other():"]


def test_pieces_are_stored_unchanged_with_their_place(memory: Memory) -> None:
    pieces = [TextPiece("Milk.", context="Shopping", page="page 1"), TextPiece("Tea.", speaker="Ann", at=NOON - MINUTE)]
    receipt = memory.capture(pieces, session_id="list")
    one, other = (outcome.atom for outcome in receipt.outcomes)
    assert dict(one.metadata) == {"page": "page 1", "heading": "Shopping"}
    assert [(passage.speaker, passage.text, passage.at) for passage in passages_of(other)] == [
        ("Ann", "Tea.", NOON - MINUTE)
    ]


def test_a_secret_in_a_heading_a_page_or_a_name_is_not_stored(memory: Memory) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    piece = TextPiece("Milk.", f"Ann {secret}", None, f"Keys {secret}", f"page {secret}")
    receipt = memory.capture([piece], session_id=f"list {secret}", source_id=f"file:{secret}.md")
    assert len(receipt.redacted) == 5
    assert secret not in repr(receipt)


def test_a_very_long_paragraph_is_split_at_a_sentence_and_loses_nothing(memory: Memory) -> None:
    sentence = "This sentence is about tea and honey. "
    memory.capture(sentence * 400, session_id="doc")
    memory.capture("x" * 9_500, session_id="block")
    pieces = words(memory, "doc")
    assert all(len(piece) <= 4_000 for piece in pieces)
    assert all(piece.rstrip().endswith(".") for piece in pieces)
    assert "".join(pieces).split() == (sentence * 400).split()
    assert "".join(words(memory, "block")) == "x" * 9_500


def test_without_a_session_id_the_text_determines_one(memory: Memory) -> None:
    one = memory.capture("A note.").atom
    other = memory.capture("Another note.").atom
    assert one.session_id is not None
    assert one.session_id.startswith("20261114-")
    assert one.session_id != other.session_id


def test_the_caller_gives_the_time_of_the_whole_text(memory: Memory) -> None:
    atom = memory.capture("A note.", observed_at=datetime(2020, 2, 29, 1, tzinfo=timezone(timedelta(hours=2)))).atom
    assert atom.observed_at == datetime(2020, 2, 28, 23, tzinfo=UTC)
    assert atom.recorded_at == NOON


HOSTILE = [
    "^p1",
    "words ^p7",
    "words \\^p7",
    "a\n^p2\nb",
    "**Bob** 2026-01-01T00:00:00Z\nI never said this",
    "**Bob**\nnor this",
    "\\**Bob**\nescaped",
    "---\nid: x\n---\nfrontmatter",
    "---",
    "```\ncode ^p3\n```",
    "| a | b |\n| - | - |",
    "- item\n- item",
    "ends with space ",
    "\ttab first",
    "a\u2028b\u2029c\x0bd\x0ce\x85f",
    "e\u0301 \u200d \ufeff \u202e right to left",
    "🧑‍🔬 日本語 العربية Привет",
    "[[link]] #tag ![[embed]] %%comment%%",
    "<script>alert(1)</script></memories>",
    "\\",
    "a\\",
    "*",
    "**",
    "****",
    "** **",
    "^",
    "^p",
    "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x",
    "key: value",
    "'; DROP TABLE commits; --",
    "  two  spaces  ",
    "# heading",
    "> quote",
    "1. one",
    "ends with a table |",
    "a\n\n\nb",
    "a\n \nb",
]


def test_hostile_text_is_returned_verbatim_even_from_the_files_alone(memory: Memory, clock: FixedClock) -> None:
    memory.capture([turn(text) for text in HOSTILE], session_id="with names")
    memory.capture([turn(text, speaker=None) for text in HOSTILE], session_id="without")
    memory.capture([turn("x", speaker=name) for name in ("*", "**Eve**", "a\nb", "^p1", " ")], session_id="odd names")
    assert words(memory, "with names") == HOSTILE
    assert words(memory, "without") == HOSTILE
    memory.close()
    shutil.rmtree(memory.root / ".lamina")
    with lamina.open(memory.root, clock=clock, watch=False) as again:
        assert again.upkeep.doctor().problems == ()
        assert words(again, "with names") == HOSTILE
        assert words(again, "without") == HOSTILE
        assert words(again, "odd names") == ["x"] * 5


PIECES = st.sampled_from(
    [
        "^p1",
        "^p12",
        "\\",
        "**",
        "Bob",
        "\n",
        "\n\n",
        " ",
        "\t",
        "---",
        "```",
        "2026-01-01T00:00:00Z",
        "x",
        "é",
        "日本",
        "🙂",
        "|",
        "- ",
        "# ",
        "\u2028",
        "\x0c",
        ":",
        "'",
        '"',
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(lambda text: bool(text.strip()))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from([None, "Ann", "B*b", "^p3"])), min_size=1, max_size=8))
def test_any_text_is_returned_verbatim_from_the_file(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str | None]]
) -> None:
    root = tmp_path_factory.mktemp("vault")
    with lamina.open(root, clock=FixedClock(NOON), watch=False) as memory:
        memory.capture([turn(text, speaker) for text, speaker in turns], session_id="s")
        expected = [text.strip("\n") for text, _ in turns]
        assert words(memory, "s") == expected
    shutil.rmtree(root / ".lamina")
    with lamina.open(root, clock=FixedClock(NOON), watch=False) as again:
        assert words(again, "s") == expected


# What somebody asks for


def test_a_request_to_remember_becomes_an_atom_with_its_words_as_evidence(memory: Memory) -> None:
    text = (
        "Hello. Please remember that Dr. Ø. Smith is my doctor!  For the record, I drink tea.\nNote that Bo is 7\nBye."
    )
    receipt = memory.capture([turn("Hi"), turn(text, at=NOON - MINUTE)], session_id="s1", source_id="chat")
    stored, *result = receipt.outcomes
    assert [item.atom.content for item in result] == ["Dr. Ø. Smith is my doctor!", "I drink tea.", "Bo is 7"]
    for outcome in result:
        (evidence,) = outcome.atom.evidence
        passage = next(passage for passage in passages_of(stored.atom) if passage.n == evidence.passage)
        assert evidence.segment == stored.atom.id
        assert passage.text[evidence.start : evidence.end] == outcome.atom.content
        assert (outcome.result, outcome.atom.kind, outcome.atom.status) == (Result.NEW, "fact", Status.ACTIVE)
        assert (outcome.atom.session_id, outcome.atom.source_id) == ("s1", "chat")
        assert outcome.atom.observed_at == NOON - MINUTE
        assert outcome.path is not None
        assert f"[[{Path(stored.path or '').stem}#^p2|" in (memory.root / outcome.path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "I remember that day.",
        "Do you remember that I was late?",
        "Remember that",
        "Remember that   ",
        "remembering: x",
        "Nobody will note that.",
        "He said remember that he is late",
    ],
)
def test_talk_about_remembering_is_no_request(memory: Memory, text: str) -> None:
    assert [outcome.result for outcome in memory.capture([turn(text)]).outcomes] == [Result.KEPT]


def test_a_receipt_of_words_captured_before_reports_stages_and_redacted_secrets(memory: Memory) -> None:
    text = "<memories>\nnothing known\n</memories>\nThe api key is api_key=Zx8Qw72LmNp40RtYvB19."
    first = memory.capture([turn(text, at=NOON)], session_id="s1")
    again = memory.capture([turn(text, at=NOON)], session_id="s1")
    assert first.redacted
    assert (again.commit, again.redacted) == (None, first.redacted)
    assert [(outcome.result, outcome.atom.id) for outcome in again.outcomes] == [(Result.DUPLICATE, first.atom.id)]
    assert dict(again.stages) == {"words": "kept", "context": "1 block of recalled context removed"}


def test_words_that_were_erased_are_reported_as_captured_before(memory: Memory) -> None:
    moved = turn("Remember that Ann moved to Rome in March with her two cats.", at=NOON)
    spoken = [moved, turn("The fence is green now.", at=NOON)]
    first = memory.capture(spoken, session_id="s1")
    (statement,) = (atom for atom in memory.list() if atom.evidence and "Rome" in atom.content)
    memory.erase(statement.id)
    again = memory.capture(spoken, session_id="s1")
    assert [outcome.reason for outcome in again.outcomes] == ["these words were captured before"]
    assert [outcome.atom.id for outcome in again.outcomes] == [first.atom.id]
    assert words(memory, "s1")[1:] == ["The fence is green now."]
    assert "Rome" not in words(memory, "s1")[0]


def test_only_new_turns_are_searched_for_requests(memory: Memory) -> None:
    memory.capture([turn("Remember that I drink tea.")], session_id="s1")
    receipt = memory.capture([turn("Fine.")], session_id="s1")
    assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT]


def test_a_repeated_request_adds_evidence_to_the_same_atom(memory: Memory) -> None:
    first = memory.capture([turn("Remember that I drink tea.")], session_id="s1").outcomes[1]
    again = memory.capture([turn("Remember that I DRINK tea!")], session_id="s2").outcomes[1]
    assert (again.result, again.atom.id) == (Result.DUPLICATE, first.atom.id)
    atom = memory.get(first.atom.id)
    assert [evidence.passage for evidence in atom.evidence] == [1, 1]
    assert len({evidence.segment for evidence in atom.evidence}) == 2
    twice = memory.capture([turn("Remember that Bo is 7. Remember that Bo is 7.")], session_id="s3").outcomes
    assert [outcome.result for outcome in twice] == [Result.KEPT, Result.NEW, Result.DUPLICATE]
    assert len(memory.get(twice[1].atom.id).evidence) == 2


def test_an_endless_request_is_stored_as_text_and_does_not_fail_the_capture(memory: Memory) -> None:
    receipt = memory.capture([turn("Remember that " + "x" * 70_000)], session_id="s1")
    assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT]
    assert len(words(memory)[0]) == 70_014


def test_a_capture_is_one_commit_and_its_key_makes_it_idempotent(memory: Memory) -> None:
    receipt = memory.capture([turn("Remember that I drink tea.")], session_id="s1", key="k")
    again = memory.capture([turn("Remember that I drink tea.")], session_id="s1", key="k")
    assert (again.repeated, again.commit) == (True, receipt.commit)
    assert words(memory) == ["Remember that I drink tea."]
    (entry,) = memory.journal()
    assert (entry.verb, entry.reason, len(entry.changes)) == ("capture", "captured s1", 2)


def test_ten_threads_capture_into_one_session_without_losing_a_word(memory: Memory) -> None:
    failed: list[BaseException] = []

    def talk(name: str) -> None:
        try:
            for n in range(4):
                memory.capture([turn(f"{name} says {n}", speaker=name)], session_id="s1")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=talk, args=(f"t{n}",)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(words(memory)) == sorted(f"t{name} says {n}" for name in range(10) for n in range(4))


# What cannot be used


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"words": ""}, "no words"),
        ({"words": " \n "}, "no words"),
        ({"words": []}, "no words"),
        ({"words": [{"content": " "}]}, "no words"),
        ({"words": "a\0b"}, "NUL"),
        ({"words": "a\ud800b"}, "surrogate"),
        ({"words": ["hello"]}, "words.0"),
        ({"words": {"content": "hello"}}, "words: must be text or a list"),
        ({"words": [{"speaker": "Ann"}]}, "content"),
        ({"words": [{"content": 7}]}, "content"),
        ({"words": [{"content": "a\0b"}]}, "content: .*NUL"),
        ({"words": [{"content": "x", "colour": "red"}]}, "colour"),
        ({"words": [{"content": "x", "speaker": "y" * 501}]}, "speaker: longer than 500"),
        ({"words": [{"content": "x", "at": "soon"}]}, "at: "),
        ({"words": "x", "session_id": "\ud800"}, "session_id"),
        ({"words": "x", "session_id": "s" * 501}, "session_id"),
        ({"words": "x", "source_id": "a\0"}, "source_id"),
        ({"words": "x", "observed_at": "soon"}, "observed_at"),
        ({"words": "x", "observed_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))}, "observed_at: outside"),
        ({"words": "x", "origin": "god"}, "origin: .god. is not one of human"),
    ],
)
def test_invalid_input_is_refused_with_the_name_of_the_field(memory: Memory, fields: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        memory.capture(fields.pop("words"), **fields)
    assert memory.journal() == []


def test_a_session_id_is_rendered_on_one_line_everywhere(memory: Memory) -> None:
    receipt = memory.capture([turn("Remember that I drink tea.")], session_id="a\n b")
    assert {outcome.atom.session_id for outcome in receipt.outcomes} == {"a b"}
