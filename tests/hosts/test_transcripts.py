from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_lines import conversation, transcript_line, write_transcript

from cpu_time import LONG, cpu_seconds
from lamina.hosts.hook_state import HookState
from lamina.hosts.transcript import Transcript, TranscriptTurn
from lamina.hosts.transcript_capture import BATCH_TURNS, TranscriptCapture
from lamina.vault.vault_setup import ensure_vault

StoredTurns = list[dict[str, str]]


def _turns(text: str, tmp_path: Path) -> list[tuple[str, str]]:
    result = Transcript(write_transcript(tmp_path / "t.jsonl", text)).read_turns(0)
    return [(item.role, item.content) for item in result if isinstance(item, TranscriptTurn)]


def test_only_text_of_people_and_assistants_is_a_turn(tmp_path: Path) -> None:
    text = "".join(
        [
            transcript_line("user", "I live in Porto."),
            transcript_line(
                "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}], 1
            ),
            transcript_line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], 2),
            transcript_line("user", [{"type": "tool_result", "content": "secret.txt"}], 3),
            transcript_line("user", [{"type": "text", "text": "And I keep bees."}, {"type": "image", "source": {}}], 4),
            transcript_line("user", "meta", 5, isMeta=True),
            transcript_line("user", "of another agent", 6, isSidechain=True),
            transcript_line("user", "This session is being continued", 7, isCompactSummary=True),
            transcript_line("assistant", [{"type": "text", "text": "API Error"}], 8, isApiErrorMessage=True),
            transcript_line("system", "compacted", 9),
            transcript_line("attachment", "<memories>", 10),
            transcript_line("user", "[Request interrupted by user]", 11),
            transcript_line("user", "<command-name>/clear</command-name>\n<command-args></command-args>", 12),
            transcript_line("user", "<system-reminder>do this</system-reminder>\nReally mine.", 13),
        ]
    )
    assert _turns(text, tmp_path) == [
        ("user", "I live in Porto."),
        ("assistant", "Noted."),
        ("user", "And I keep bees."),
        ("user", "Really mine."),
    ]


def test_text_a_person_sends_while_the_assistant_works_is_a_turn(tmp_path: Path) -> None:
    def queued(prompt: object, **more: object) -> str:
        return transcript_line("attachment", "", 0, attachment={"type": "queued_command", "prompt": prompt, **more})

    text = "".join(
        [
            queued("Use tabs, please.", commandMode="prompt", origin={"kind": "human"}),
            queued([{"type": "text", "text": "Like here."}, {"type": "image", "source": {}}]),
            queued("<task-notification>done</task-notification>", commandMode="task-notification"),
            queued("I am another agent.", origin={"kind": "peer"}),
            transcript_line(
                "attachment", "", 1, attachment={"type": "hook_additional_context", "content": ["<memories>"]}
            ),
            transcript_line("attachment", "", 2, attachment=[1]),
        ]
    )
    assert _turns(text, tmp_path) == [("user", "Use tabs, please."), ("user", "Like here.")]


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("What is <system-reminder> for? I live in Porto.", "What is <system-reminder> for? I live in Porto."),
        ("Hi.\n<system-reminder>\ncut off", "Hi."),
        ("<bash-input>ls</bash-input>\n<bash-stdout>x</bash-stdout>\nMine.", "Mine."),
        ("A <command-args>b</command-args> c", "A  c"),
    ],
)
def test_only_host_wrappers_are_removed(tmp_path: Path, text: str, remaining: str) -> None:
    assert _turns(transcript_line("user", text), tmp_path) == [("user", remaining)]


@pytest.mark.parametrize("text", ["<system-reminder>" * 20_000, "a <bash-input>" * 30_000, "</bash-input>" * 30_000])
def test_every_line_is_parsed_in_linear_time(tmp_path: Path, text: str) -> None:
    line = transcript_line("user", text)
    assert cpu_seconds(lambda: _turns(line, tmp_path)) < LONG


def test_broken_lines_are_skipped(tmp_path: Path) -> None:
    broken = '{"type": "user", oops\n\n[1]\nnull\n"x"\n' + "[" * 5000 + "\n"
    text = broken + transcript_line("user", "Hi\0.") + '{"type": "user", "mess'
    assert _turns(text, tmp_path) == [("user", "Hi\N{REPLACEMENT CHARACTER}.")]


def test_an_unfinished_line_is_left_for_later(tmp_path: Path) -> None:
    whole = conversation(["a", "b"])
    *turns, end = Transcript(write_transcript(tmp_path / "t", whole + conversation(["c"], 2)[:-5])).read_turns(0)
    assert len(turns) == 2
    assert end == len(whole.encode())


def test_a_pipe_is_no_transcript(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        list(Transcript(tmp_path / "pipe").read_turns(0))


@pytest.fixture
def hook_state(tmp_path: Path) -> HookState:
    ensure_vault(tmp_path / "vault")
    return HookState(tmp_path / "vault", {})


def _store(place: HookState, path: Path, session: str = "s") -> TranscriptCapture:
    return TranscriptCapture(place, {"session_id": session, "transcript_path": str(path)})


def _stored_turns(place: HookState, path: Path, session: str = "s") -> list[str]:
    stored_turns = StoredTurns()
    _store(place, path, session).capture_new_turns(lambda turns, session, key: stored_turns.extend(turns))
    return [item["content"] for item in stored_turns]


def test_each_turn_is_sent_once(hook_state: HookState, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t", conversation(["a", "b"]))
    assert _stored_turns(hook_state, path) == ["a", "b"]
    assert _stored_turns(hook_state, path) == []
    assert _store(hook_state, path).pending_bytes() == 0
    with path.open("a", encoding="utf-8") as file:
        file.write(conversation(["c"], 2))
    assert _stored_turns(hook_state, path) == ["c"]


def test_a_rewritten_transcript_gives_only_new_turns(hook_state: HookState, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t", conversation(["a", "b", "c", "d"]))
    _stored_turns(hook_state, path)
    write_transcript(
        path, transcript_line("user", "summary", 9, isCompactSummary=True) + conversation(["c", "d", "e"], 2)
    )
    assert _stored_turns(hook_state, path) == ["e"]


def test_a_session_continued_in_another_file_gives_only_new_turns(hook_state: HookState, tmp_path: Path) -> None:
    _stored_turns(hook_state, write_transcript(tmp_path / "t", conversation(["a", "b"])))
    assert _stored_turns(hook_state, write_transcript(tmp_path / "u", conversation(["a", "b", "c"])), "another") == [
        "c"
    ]


def test_turns_that_were_not_stored_are_sent_again(hook_state: HookState, tmp_path: Path) -> None:
    texts = [f"turn {n}" for n in range(BATCH_TURNS + 3)]
    path, stored_turns = write_transcript(tmp_path / "t", conversation(texts)), StoredTurns()

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        if stored_turns:
            raise OSError("the disk is gone")
        stored_turns.extend(turns)

    with pytest.raises(OSError, match="gone"):
        _store(hook_state, path).capture_new_turns(keep)
    assert [turn["content"] for turn in stored_turns] == texts[:BATCH_TURNS]
    assert _stored_turns(hook_state, path) == texts[BATCH_TURNS:]


def test_the_key_is_the_same_for_the_same_turns(hook_state: HookState, tmp_path: Path) -> None:
    path, keys = write_transcript(tmp_path / "t", conversation(["a", "b"])), list[str]()

    def fail(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        keys.append(key)
        raise OSError

    for _ in range(2):
        with pytest.raises(OSError):
            _store(hook_state, path).capture_new_turns(fail)
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_huge_transcript_is_read_from_the_last_position(hook_state: HookState, tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "t", transcript_line("user", [{"type": "tool_result", "content": "x" * 1000}]) * 20_000
    )
    assert _stored_turns(hook_state, path) == []
    with path.open("a", encoding="utf-8") as file:
        file.write(conversation(["a"], 1))
    assert _store(hook_state, path).pending_bytes() < 1000
    assert _stored_turns(hook_state, path) == ["a"]


def test_a_long_turn_comes_in_parts_and_a_damaged_bookmark_restarts(hook_state: HookState, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "t", conversation(["é" * 150_000]))
    assert [len(text) for text in _stored_turns(hook_state, path)] == [60_000, 60_000, 30_000]
    hook_state.file_path("s", "json").write_text("{oops", encoding="utf-8")
    assert _stored_turns(hook_state, path) == []


def test_a_call_without_a_session_is_refused(hook_state: HookState) -> None:
    for arguments in ({}, {"session_id": "s"}, {"session_id": "a b", "transcript_path": "x"}):
        with pytest.raises(ValueError, match="no valid session_id"):
            TranscriptCapture(hook_state, arguments)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.sampled_from(["text", "user", "<system-reminder>"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "content", "x"]), inner)
    ),
    max_leaves=8,
)


@given(ANYTHING, ANYTHING, st.sampled_from(["user", "assistant"]))
def test_any_line_gives_non_empty_encodable_turns(content: object, at: object, role: str) -> None:
    entry = {"type": role, "message": {"content": content}, "timestamp": at, "uuid": content}
    with TemporaryDirectory() as folder:
        for role_, text in _turns(json.dumps(entry) + "\n", Path(folder)):
            assert (role_, bool(text.strip())) == (role, True)
            assert text.encode()


STEPS = st.lists(
    st.tuples(st.just("say"), st.integers(1, 4)) | st.tuples(st.sampled_from(["cut", "copy", "half"]), st.just(0)),
    max_size=12,
)


@settings(max_examples=40)
@given(STEPS)
def test_every_turn_is_stored_once_through_any_changes_of_a_transcript(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("hosts")
    ensure_vault(folder / "vault")
    place, path, atoms = HookState(folder / "vault", {}), folder / "t", list[str]()
    path.touch()
    count = 0
    for what, much in steps:
        if what == "say":
            with path.open("a", encoding="utf-8") as file:
                file.write(conversation([f"turn {n}" for n in range(count, count + much)], count))
            count += much
        elif what == "cut":
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            write_transcript(
                path,
                transcript_line("user", "summary", 3599, isCompactSummary=True) + "".join(lines[len(lines) // 2 :]),
            )
        elif what == "copy":
            path = write_transcript(path.with_suffix(f".{len(atoms)}x{count}"), path.read_text(encoding="utf-8"))
        else:
            with path.open("a", encoding="utf-8") as file:
                file.write('{"type": "user", "half": "a li\n')
        atoms += _stored_turns(place, path, path.name)
    assert atoms == [f"turn {n}" for n in range(count)]
