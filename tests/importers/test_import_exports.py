"""ChatGPT and Claude exports are read with speakers and times, and only the path that counts.

Covers `lamina.importers.chat_formats`.
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from exports import START, chatgpt, claude, claude_message, message, write, zip_bytes
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.provenance import Origin
from lamina.errors import InvalidInput
from lamina.importers import ImportedConversation, ImportProblem, ImportStep, SkippedItem, detect_importer, plan_import
from lamina.importers.chat_export import iter_elements
from lamina.importers.import_plan import FORMATS

TEN_O_CLOCK = datetime(2024, 5, 1, 10, tzinfo=UTC)
CONVERSATION = [message("user", "I like tea."), message("assistant", "Noted.", START + 60)]


def steps(path: Path) -> list[ImportStep]:
    plan = plan_import(path)
    result = list(plan.steps())
    assert len(result) == plan.total
    return result


def single_step(path: Path) -> ImportedConversation:
    (step,) = steps(path)
    assert isinstance(step, ImportedConversation)
    return step


def turns_of(item: ImportStep) -> list[tuple[str | None, str]]:
    assert isinstance(item, ImportedConversation)
    return [(piece.speaker, piece.text) for piece in item.pieces]


# ChatGPT


def test_a_chatgpt_conversation_is_read_with_speakers_and_times(tmp_path: Path) -> None:
    conversation = single_step(write(tmp_path / "conversations.json", [chatgpt("c1", CONVERSATION)]))
    assert turns_of(conversation) == [("user", "I like tea."), ("assistant", "Noted.")]
    assert [piece.at for piece in conversation.pieces] == [TEN_O_CLOCK, TEN_O_CLOCK.replace(minute=1)]
    assert (conversation.title, conversation.session_id, conversation.source_id) == ("Tea", "chatgpt-c1", "chatgpt:c1")
    assert (conversation.origin, conversation.observed_at) == (Origin.IMPORT, TEN_O_CLOCK)


def test_only_the_current_path_of_the_tree_is_imported(tmp_path: Path) -> None:
    tree = chatgpt("c1", CONVERSATION, branch=message("assistant", "A thrown away answer.", START + 900))
    assert turns_of(single_step(write(tmp_path / "conversations.json", [tree]))) == turns_of(
        single_step(write(tmp_path / "plain" / "conversations.json", [chatgpt("c1", CONVERSATION)]))
    )


def test_without_a_current_message_the_latest_leaf_is_taken(tmp_path: Path) -> None:
    tree = chatgpt("c1", CONVERSATION, branch=message("assistant", "The later answer.", START + 900))
    tree["current_node"] = None
    assert turns_of(single_step(write(tmp_path / "conversations.json", [tree])))[-1] == (
        "assistant",
        "The later answer.",
    )


def test_a_cyclic_tree_terminates(tmp_path: Path) -> None:
    tree = chatgpt("c1", CONVERSATION)
    tree["mapping"]["n0"]["parent"] = "n1"
    assert len(turns_of(single_step(write(tmp_path / "conversations.json", [tree])))) == 2


@pytest.mark.parametrize(
    "unsaid",
    [
        message("system", "You are helpful."),
        message("tool", "4"),
        message("user", "About me", metadata={"is_visually_hidden_from_conversation": True}),
        message("assistant", "print(2+2)", recipient="python"),
        message("assistant", "hm", content={"content_type": "thoughts", "thoughts": []}),
        message("assistant", "hm", channel="analysis"),
        message("assistant", "hm", weight=0),
        message("user", "", content={"content_type": "text", "parts": [""]}),
        message("user", "", content={"content_type": "multimodal_text", "parts": [{"asset_pointer": "file"}]}),
    ],
)
def test_hidden_and_system_messages_are_left_out(tmp_path: Path, unsaid: dict[str, object]) -> None:
    talk = [CONVERSATION[0], unsaid, CONVERSATION[1]]
    assert len(turns_of(single_step(write(tmp_path / "conversations.json", [chatgpt("c1", talk)])))) == 2


def test_parts_and_transcribed_speech_are_joined_and_page_marks_removed(tmp_path: Path) -> None:
    parts = ["Look:", {"content_type": "image_asset_pointer"}, {"content_type": "audio_transcription", "text": "aloud"}]
    talk = [
        message("user", "", content={"content_type": "multimodal_text", "parts": parts}),
        message("assistant", "It is so\ue200cite\ue202turn0search1\ue201."),
    ]
    conversation = single_step(write(tmp_path / "conversations.json", [chatgpt("c1", talk)]))
    assert turns_of(conversation) == [("user", "Look:\n\naloud"), ("assistant", "It is so.")]


def test_a_message_without_a_time_has_the_time_of_the_one_before(tmp_path: Path) -> None:
    talk = [message("user", "a", None), message("assistant", "b", START + 60), message("user", "c", None)]
    conversation = single_step(write(tmp_path / "conversations.json", [chatgpt("c1", talk)]))
    assert [piece.at for piece in conversation.pieces] == [
        TEN_O_CLOCK,
        TEN_O_CLOCK.replace(minute=1),
        TEN_O_CLOCK.replace(minute=1),
    ]


def test_unencodable_characters_do_not_stop_an_import(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt("c1", [message("user", "a\u0000b \ud83d c")])]), encoding="utf-8")
    assert turns_of(single_step(path)) == [("user", "a\ufffdb \ufffd c")]


def test_an_export_may_be_a_zip_a_folder_or_split_into_files(tmp_path: Path) -> None:
    one, two = chatgpt("c1", CONVERSATION), chatgpt("c2", CONVERSATION)
    write(tmp_path / "folder" / "conversations-000.json", [one])
    write(tmp_path / "folder" / "conversations-001.json", [two])
    folder = steps(tmp_path / "folder")
    zipped = steps(zip_bytes(tmp_path / "export.zip", conversations=[one, two]))
    assert [_key(step) for step in zipped] == [_key(step) for step in folder]
    inner = steps(zip_bytes(tmp_path / "inner.zip", chats__conversations=[one], user={}))
    assert [turns_of(step) for step in inner] == [turns_of(folder[0])]


def _key(step: ImportStep) -> str:
    assert isinstance(step, ImportedConversation)
    return step.key


# Claude


def test_a_claude_conversation_is_read_with_speakers_and_times(tmp_path: Path) -> None:
    talk = claude("c1", [claude_message("human", "I like tea."), claude_message("assistant", "Noted.")])
    conversation = single_step(write(tmp_path / "conversations.json", [talk]))
    assert turns_of(conversation) == [("user", "I like tea."), ("assistant", "Noted.")]
    assert {piece.at for piece in conversation.pieces} == {TEN_O_CLOCK.replace(microsecond=500_000)}
    assert (conversation.session_id, conversation.source_id, conversation.observed_at) == (
        "claude-c1",
        "claude:c1",
        TEN_O_CLOCK,
    )


def test_thoughts_and_tool_calls_are_left_out(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "name": "x"},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "Second."},
    ]
    talk = claude("c1", [claude_message("human", "Go."), claude_message("assistant", "not this", content=blocks)])
    assert turns_of(single_step(write(tmp_path / "conversations.json", [talk])))[1] == (
        "assistant",
        "First.\n\nSecond.",
    )


def test_an_attachment_is_stored_under_its_name(tmp_path: Path) -> None:
    files = [{"file_name": "notes.txt", "extracted_content": "Tea at four."}, {"file_name": "x.png"}]
    conversation = single_step(
        write(tmp_path / "conversations.json", [claude("c1", [claude_message("human", "See.", attachments=files)])])
    )
    assert [(piece.text, piece.context) for piece in conversation.pieces] == [
        ("See.", ""),
        ("Tea at four.", "notes.txt"),
    ]


def test_of_rewritten_messages_the_last_ones_count(tmp_path: Path) -> None:
    talk = [
        claude_message("human", "question", uuid="a", parent_message_uuid="0"),
        claude_message("assistant", "thrown away", uuid="b", parent_message_uuid="a"),
        claude_message("assistant", "kept", uuid="c", parent_message_uuid="a"),
    ]
    path = write(tmp_path / "conversations.json", [claude("c1", talk)])
    assert turns_of(single_step(path)) == [("user", "question"), ("assistant", "kept")]
    write(path, [claude("c1", talk, current_leaf_message_uuid="b")])
    assert turns_of(single_step(path)) == [("user", "question"), ("assistant", "thrown away")]


# What goes wrong


def test_an_invalid_conversation_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    bad = [
        7,
        {"id": "x", "title": "Broken", "mapping": {"a": 5}, "current_node": "a"},
        {"title": "No id", "mapping": {}},
    ]
    result = steps(
        write(tmp_path / "conversations.json", [chatgpt("c1", CONVERSATION), *bad, chatgpt("c2", CONVERSATION)])
    )
    assert [type(step) for step in result] == [
        ImportedConversation,
        ImportProblem,
        ImportProblem,
        ImportProblem,
        ImportedConversation,
    ]
    assert "Broken" in str(result[2])


def test_an_empty_conversation_is_skipped(tmp_path: Path) -> None:
    (step,) = steps(write(tmp_path / "conversations.json", [chatgpt("c1", [message("system", "hello")])]))
    assert isinstance(step, SkippedItem)


def test_a_truncated_export_gives_the_complete_conversations(tmp_path: Path) -> None:
    path = write(tmp_path / "conversations.json", [chatgpt(f"c{n}", CONVERSATION) for n in range(3)])
    path.write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    result = steps(path)
    assert [type(step) for step in result] == [ImportedConversation, ImportedConversation, ImportProblem]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "contains no conversations"),
        ([{"a": 1}], "unknown format"),
        ("[[[", "cannot be read"),
        ("[" * 99_999, "cannot be read"),
    ],
)
def test_an_unsupported_file_is_refused_with_the_supported_ones(tmp_path: Path, value: object, words: str) -> None:
    path = write(tmp_path / "conversations.json", value)
    if isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"{words}.*ChatGPT"):
        detect_importer(path)


@pytest.mark.parametrize("name", ["memory.db", "data.json", "notes.zip"])
def test_the_error_for_an_unknown_format_lists_every_supported_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)))
    with pytest.raises(InvalidInput) as error:
        detect_importer(path)
    assert name in str(error.value)
    for supported in FORMATS:
        assert supported.name in str(error.value)


def test_a_zip_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="unpack it"):
        detect_importer(zip_bytes(tmp_path / "notes.zip", user={}))


def test_a_damaged_zip_is_refused_or_reported(tmp_path: Path) -> None:
    whole = zip_bytes(
        tmp_path / "export.zip", conversations=[chatgpt(f"c{n}", CONVERSATION) for n in range(50)]
    ).read_bytes()
    at = whole.index(b"conversations.json") + 300
    (tmp_path / "export.zip").write_bytes(whole[:at] + bytes(40) + whole[at + 40 :])
    with pytest.raises(InvalidInput, match="cannot be read"):
        detect_importer(tmp_path / "export.zip")


# Long files

VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=8), st.integers(1, 40), st.sampled_from([None, 2]))
def test_an_array_is_parsed_the_same_in_chunks_of_any_size(
    values: list[object], chunk: int, indent: int | None
) -> None:
    assert list(iter_elements(io.StringIO(json.dumps(values, indent=indent)), chunk)) == values
