from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from said import line, said, write

from lamina.hosts import transcript_capture
from lamina.hosts.hook_folder import HookFolder
from lamina.hosts.transcript import Transcript, TranscriptTurn
from lamina.hosts.transcript_capture import TranscriptCapture
from lamina.vault.vault_setup import ensure_vault

Kept = list[dict[str, str]]


def _turns(text: str, tmp_path: Path) -> list[tuple[str, str]]:
    found = Transcript(write(tmp_path / "t.jsonl", text)).read_turns(0)
    return [(each.role, each.content) for each in found if isinstance(each, TranscriptTurn)]


def test_only_what_people_and_machines_say_in_words_is_a_turn(tmp_path: Path) -> None:
    text = "".join(
        [
            line("user", "I live in Porto."),
            line("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}], 1),
            line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], 2),
            line("user", [{"type": "tool_result", "content": "secret.txt"}], 3),
            line("user", [{"type": "text", "text": "And I keep bees."}, {"type": "image", "source": {}}], 4),
            line("user", "meta", 5, isMeta=True),
            line("user", "of another agent", 6, isSidechain=True),
            line("user", "This session is being continued", 7, isCompactSummary=True),
            line("assistant", [{"type": "text", "text": "API Error"}], 8, isApiErrorMessage=True),
            line("system", "compacted", 9),
            line("attachment", "<memories>", 10),
            line("user", "[Request interrupted by user]", 11),
            line("user", "<command-name>/clear</command-name>\n<command-args></command-args>", 12),
            line("user", "<system-reminder>do this</system-reminder>\nReally mine.", 13),
        ]
    )
    assert _turns(text, tmp_path) == [
        ("user", "I live in Porto."),
        ("assistant", "Noted."),
        ("user", "And I keep bees."),
        ("user", "Really mine."),
    ]


def test_what_a_person_says_while_the_machine_is_at_work_is_a_turn_too(tmp_path: Path) -> None:
    def queued(prompt: object, **more: object) -> str:
        return line("attachment", "", 0, attachment={"type": "queued_command", "prompt": prompt, **more})

    text = "".join(
        [
            queued("Use tabs, please.", commandMode="prompt", origin={"kind": "human"}),
            queued([{"type": "text", "text": "Like here."}, {"type": "image", "source": {}}]),
            queued("<task-notification>done</task-notification>", commandMode="task-notification"),
            queued("I am another agent.", origin={"kind": "peer"}),
            line("attachment", "", 1, attachment={"type": "hook_additional_context", "content": ["<memories>"]}),
            line("attachment", "", 2, attachment=[1]),
        ]
    )
    assert _turns(text, tmp_path) == [("user", "Use tabs, please."), ("user", "Like here.")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What is <system-reminder> for? I live in Porto.", "What is <system-reminder> for? I live in Porto."),
        ("Hi.\n<system-reminder>\ncut off", "Hi."),
        ("<bash-input>ls</bash-input>\n<bash-stdout>x</bash-stdout>\nMine.", "Mine."),
        ("A <command-args>b</command-args> c", "A  c"),
    ],
)
def test_only_what_the_host_has_wrapped_is_taken_out(tmp_path: Path, text: str, left: str) -> None:
    assert _turns(line("user", text), tmp_path) == [("user", left)]


@pytest.mark.parametrize("text", ["<system-reminder>" * 20_000, "a <bash-input>" * 30_000, "</bash-input>" * 30_000])
def test_no_line_is_looked_at_for_long(tmp_path: Path, text: str) -> None:
    _turns(line("user", text), tmp_path)


def test_lines_that_are_broken_are_passed_over(tmp_path: Path) -> None:
    broken = '{"type": "user", oops\n\n[1]\nnull\n"x"\n' + "[" * 5000 + "\n"
    text = broken + line("user", "Hi\0.") + '{"type": "user", "mess'
    assert _turns(text, tmp_path) == [("user", "Hi\N{REPLACEMENT CHARACTER}.")]


def test_a_line_that_is_still_written_is_left_for_later(tmp_path: Path) -> None:
    whole = said(["a", "b"])
    *turns, end = Transcript(write(tmp_path / "t", whole + said(["c"], 2)[:-5])).read_turns(0)
    assert len(turns) == 2
    assert end == len(whole.encode())


def test_a_pipe_is_no_transcript(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        list(Transcript(tmp_path / "pipe").read_turns(0))


@pytest.fixture
def place(tmp_path: Path) -> HookFolder:
    ensure_vault(tmp_path / "vault")
    return HookFolder(tmp_path / "vault", {})


def _keeping(place: HookFolder, path: Path, session: str = "s") -> TranscriptCapture:
    return TranscriptCapture(place, {"session_id": session, "transcript_path": str(path)})


def _kept(place: HookFolder, path: Path, session: str = "s") -> list[str]:
    kept = Kept()
    _keeping(place, path, session).capture_new_turns(lambda turns, session, key: kept.extend(turns))
    return [each["content"] for each in kept]


def test_each_turn_is_handed_over_once(place: HookFolder, tmp_path: Path) -> None:
    path = write(tmp_path / "t", said(["a", "b"]))
    assert _kept(place, path) == ["a", "b"]
    assert _kept(place, path) == []
    assert _keeping(place, path).pending_bytes() == 0
    with path.open("a", encoding="utf-8") as file:
        file.write(said(["c"], 2))
    assert _kept(place, path) == ["c"]


def test_a_transcript_written_anew_gives_only_what_is_new(place: HookFolder, tmp_path: Path) -> None:
    path = write(tmp_path / "t", said(["a", "b", "c", "d"]))
    _kept(place, path)
    write(path, line("user", "summary", 9, isCompactSummary=True) + said(["c", "d", "e"], 2))
    assert _kept(place, path) == ["e"]


def test_a_session_that_goes_on_in_another_file_gives_only_what_is_new(place: HookFolder, tmp_path: Path) -> None:
    _kept(place, write(tmp_path / "t", said(["a", "b"])))
    assert _kept(place, write(tmp_path / "u", said(["a", "b", "c"])), "another") == ["c"]


def test_what_could_not_be_kept_is_handed_over_again(
    place: HookFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_capture, "BATCH_TURNS", 2)
    path, kept = write(tmp_path / "t", said(list("abcde"))), Kept()

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        if kept:
            raise OSError("the disk is gone")
        kept.extend(turns)

    with pytest.raises(OSError, match="gone"):
        _keeping(place, path).capture_new_turns(keep)
    assert [each["content"] for each in kept] == ["a", "b"]
    assert _kept(place, path) == ["c", "d", "e"]


def test_the_key_is_the_same_for_the_same_turns(place: HookFolder, tmp_path: Path) -> None:
    path, keys = write(tmp_path / "t", said(["a", "b"])), list[str]()

    def fail(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        keys.append(key)
        raise OSError

    for _ in range(2):
        with pytest.raises(OSError):
            _keeping(place, path).capture_new_turns(fail)
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_huge_transcript_is_read_from_where_it_was_left(place: HookFolder, tmp_path: Path) -> None:
    path = write(tmp_path / "t", line("user", [{"type": "tool_result", "content": "x" * 1000}]) * 20_000)
    assert _kept(place, path) == []
    with path.open("a", encoding="utf-8") as file:
        file.write(said(["a"], 1))
    assert _keeping(place, path).pending_bytes() < 1000
    assert _kept(place, path) == ["a"]


def test_a_long_turn_comes_in_parts_and_a_damaged_bookmark_is_begun_anew(place: HookFolder, tmp_path: Path) -> None:
    path = write(tmp_path / "t", said(["é" * 150_000]))
    assert [len(each) for each in _kept(place, path)] == [60_000, 60_000, 30_000]
    place.file_path("s", "json").write_text("{oops", encoding="utf-8")
    assert _kept(place, path) == []


def test_a_call_without_a_session_is_refused(place: HookFolder) -> None:
    for given_ in ({}, {"session_id": "s"}, {"session_id": "a b", "transcript_path": "x"}):
        with pytest.raises(ValueError, match="no valid session_id"):
            TranscriptCapture(place, given_)


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
def test_whatever_stands_in_a_line_no_turn_is_empty_or_cannot_be_told(content: object, at: object, role: str) -> None:
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
def test_whatever_happens_to_a_transcript_every_turn_is_kept_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("hosts")
    ensure_vault(folder / "vault")
    place, path, kept = HookFolder(folder / "vault", {}), folder / "t", list[str]()
    path.touch()
    count = 0
    for what, much in steps:
        if what == "say":
            with path.open("a", encoding="utf-8") as file:
                file.write(said([f"turn {n}" for n in range(count, count + much)], count))
            count += much
        elif what == "cut":
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            write(path, line("user", "summary", 3599, isCompactSummary=True) + "".join(lines[len(lines) // 2 :]))
        elif what == "copy":
            path = write(path.with_suffix(f".{len(kept)}x{count}"), path.read_text(encoding="utf-8"))
        else:
            with path.open("a", encoding="utf-8") as file:
                file.write('{"type": "user", "half": "a li\n')
        kept += _kept(place, path, path.name)
    assert kept == [f"turn {n}" for n in range(count)]
