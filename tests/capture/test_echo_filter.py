from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina
from cpu_time import LONG as LONG_SECONDS
from cpu_time import cpu_seconds
from lamina.atom.passage import passages_of
from lamina.capture.echo_filter import remove_recalled_context
from lamina.clock import FixedClock
from lamina.errors import InvalidInput

HEAD = "- [01jc9x2k7m3f5r8t0v2w4y6z8a human active 2026-11-14]"
BLOCK = f"<memories>\n## core\n{HEAD} Ann likes tea\n## workstream\n- [app] user: ship it\n</memories>"
ESCAPED = json.dumps(BLOCK)[1:-1]


@pytest.mark.parametrize(
    ("words", "remaining"),
    [
        (f"Before.\n{BLOCK}\nAfter.", "Before.\nAfter."),
        (f"Before {BLOCK} after.", "Before  after."),
        (BLOCK, ""),
        (f"<system-reminder>\nUserPromptSubmit hook additional context: {BLOCK}\n</system-reminder>\nHi.", "Hi."),
        (f"UserPromptSubmit hook additional context: {BLOCK}\nHi.", "Hi."),
        (f"{BLOCK}\nHi.\n{BLOCK}\nBye.", "Hi.\nBye."),
        (f"Out {ESCAPED} in", "Out  in"),
        (f"Out {json.dumps(ESCAPED)[1:-1]} in", "Out  in"),
        ("Out " + ESCAPED.replace("<", "\\u003c").replace(">", "\\u003e") + " in", "Out  in"),
        ("Out " + BLOCK.replace("<", "&lt;").replace(">", "&gt;") + " in", "Out  in"),
        (BLOCK.upper() + "\nHi.", "Hi."),
        ("<memories>\nnothing known\n</memories>\nHi.", "Hi."),
        ("<memories></memories>Hi.", "Hi."),
        (f"{HEAD} Ann likes tea\nHi.", "Hi."),
        (BLOCK.replace(" ", "\u00a0") + "\nHi.", "Hi."),
        (BLOCK.replace(" ", "\t") + "\nHi.", "Hi."),
        (BLOCK.replace("\n", " ") + "\nHi.", "Hi."),
        (BLOCK.replace("\n", "<br>") + "\nHi.", "Hi."),
        (BLOCK.replace("<", "&#60;").replace(">", "&#x3e;") + "\nHi.", "Hi."),
        (BLOCK.replace("<", "＜").replace(">", "＞") + "\nHi.", "Hi."),
        (BLOCK.replace("<", "< ").replace(">", " >") + "\nHi.", "Hi."),
        (BLOCK.removeprefix("<memories>\n").removesuffix("</memories>") + "Hi.", "Hi."),
        (f"* {HEAD[2:]} Ann likes tea\nHi.", "Hi."),
        (f"1. {HEAD[2:]} Ann likes tea\nHi.", "Hi."),
        (f"> **{HEAD[2:]}** Ann likes tea\nHi.", "Hi."),
        (f"`{HEAD} Ann likes tea`\nHi.", "Hi."),
        (f"It says {HEAD[2:]} Ann likes tea\nHi.", "It says \nHi."),
        (json.dumps(f"{HEAD} Ann\n{HEAD} tea") + "\nHi.", "\\n\nHi."),
    ],
)
def test_recalled_context_is_removed_in_every_host_format(words: str, remaining: str) -> None:
    assert remove_recalled_context(words).text == remaining
    assert remove_recalled_context(words).removed_blocks


def test_a_truncated_block_ends_with_the_last_rendered_line() -> None:
    cut = BLOCK.removesuffix("\n</memories>")
    assert (
        remove_recalled_context(f"{cut}\nI live in Porto.\n- [ ] buy milk").text == "I live in Porto.\n- [ ] buy milk"
    )
    assert "Ann" not in remove_recalled_context(cut[:80]).text


def test_text_between_a_truncated_and_a_whole_block_is_kept() -> None:
    cut = BLOCK.removesuffix("\n</memories>")
    assert remove_recalled_context(f"{cut}\nI live in Porto.\n{BLOCK}\nBye.").text.strip() == "I live in Porto.\nBye."


def test_a_nested_block_is_removed_with_the_outer_one() -> None:
    assert (
        remove_recalled_context(f"Hi.\n<memories>\n## facts\n{HEAD} a\n{BLOCK}\n</memories>\nBye.").text == "Hi.\nBye."
    )


def test_the_end_of_a_block_without_its_beginning_is_removed() -> None:
    assert remove_recalled_context(f"{HEAD} Ann\n- [app] user: x\n</memories>\nHi.").text == "Hi."


def test_a_block_cut_at_either_end_leaves_no_recognisable_item() -> None:
    block = BLOCK.replace("Ann likes tea", "zq likes zq").replace("ship it", "zq")
    for at in range(1, len(block)):
        head = remove_recalled_context(f"I live in Porto.\n{block[:at]}").text
        assert head.startswith("I live in Porto.")
        assert "zq" not in head
        tail = remove_recalled_context(f"…{block[at:]}\nI live in Porto.").text
        assert tail.endswith("I live in Porto.")
        assert "zq" not in tail
        if "]" in block[at:].split("\n")[0]:  # the rest of an item's head is there
            assert "zq" not in remove_recalled_context(f"{block[at:]}\nI live in Porto.").text


@pytest.mark.parametrize(
    "words",
    [
        "What is `<memories>` for, and where does `</memories>` go?",
        "Lamina puts <memories> around what it tells.",
        "A stray </memories> stood in my prompt.",
        "<memories>my own poem about memories</memories>",
        "- [ ] buy milk\n- [x] pay rent\n- [docs](x.md)\n## facts\n- [1] a footnote",
        "<system-reminder>the host says something</system-reminder>",
        "I moved on 2026-11-14, see [1].\n- [a] first\n- [b] second",
        "…and then I moved to Porto.\n- [x] packed",
        "array[3] is wrong\n## facts about it",
    ],
)
def test_text_that_only_mentions_the_tag_is_kept(words: str) -> None:
    assert remove_recalled_context(words).text == words
    assert not remove_recalled_context(words).removed_blocks


@pytest.mark.parametrize(
    "words",
    [
        "<memories>## core" * 20_000,
        "</memories>\n" * 20_000,
        "- [a] x\n" * 40_000 + "</memories>",
        "\\" * 300_000 + "<memories>" + "\\" * 300_000,
        "<memories>" + " " * 300_000,
        "<system-reminder>" * 20_000 + BLOCK,
        "## facts\n- [a] b\n" * 20_000,
        "\"'*_`1. " * 30_000 + "]",
        "<memories>" + "\\n>" * 50_000,
        (HEAD[2:-1] + " ") * 8_000 + "]",
        "…" * 300_000 + "]",
    ],
)
def test_every_text_is_scanned_in_linear_time(words: str) -> None:
    assert cpu_seconds(lambda: remove_recalled_context(words)) < LONG_SECONDS


def test_a_receipt_reports_the_removal(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, background=False) as memory:
        receipt = memory.capture([{"role": "user", "content": f"{BLOCK}\nI live in Porto."}])
        plain = memory.capture([{"role": "user", "content": "I keep bees."}])
    assert dict(receipt.stages)["context"] == "1 block of recalled context removed"
    assert "context" not in dict(plain.stages)
    assert [passage.text for passage in passages_of(receipt.atom)] == ["I live in Porto."]


def test_a_turn_of_nothing_but_context_gives_no_turn(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, background=False) as memory:
        turns = [{"role": "user", "content": BLOCK}, {"role": "user", "content": "Hi, I am Ann."}]
        assert [passage.text for passage in passages_of(memory.capture(turns).atom)] == ["Hi, I am Ann."]
        with pytest.raises(InvalidInput, match="besides recalled context"):
            memory.capture(BLOCK)


def test_a_statement_is_remembered_without_context_and_context_alone_is_none(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, background=False) as memory:
        atom = memory.remember(f"{BLOCK}\nThe heron is grey.").atom
        assert atom.content == "The heron is grey."
        for words in (BLOCK, f"{HEAD} Ann likes tea"):
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.remember(words)
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.propose(words)
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.revise(atom.id, words, reason="x")
        assert [item.content for item in memory.list(status=None)] == ["The heron is grey."]


def test_a_document_with_context_is_stored_without_it(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, background=False) as memory:
        memory.capture(f"# Notes\n\nI keep bees.\n\n{BLOCK}\n\nThe hives stand in Porto.\n", name="notes.md")
        text = "\n".join(atom.content for atom in memory.list(status=None))
    assert "bees" in text
    assert "hives" in text
    assert "memories" not in text
    assert "tea" not in text


PLACES = ("Porto", "Cork", "Galway", "Lima", "Oslo", "Turin", "Basel", "Delft")
ANIMALS = ("otter", "heron", "lynx", "marten", "badger", "stoat", "osprey", "newt")
STATEMENTS = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(ANIMALS)).map(
        lambda pair: f"Remember that the {pair[1]} of {pair[0]} is called zq{pair[1]}{pair[0].lower()}."
    ),
    min_size=1,
    max_size=5,
    unique=True,
)
WORDS = st.sampled_from(
    [
        "I moved to Bergen in May.",
        "Use `<memories>` as the tag.",
        "- [ ] call the dentist",
        "ok",
        "see </memories>?",
        "## facts\nare what I want",
        "We decided to use Postgres.",
        "<b>bold</b>",
        "日本語も話します。",
    ]
)
WRAPS = st.sampled_from(
    [
        "{c}\n{w}",
        "{w}\n{c}",
        "{w}\n<system-reminder>\nUserPromptSubmit hook additional context: {c}\n</system-reminder>",
        "{w}\n\n{c}\n\n{w}",
        "SessionStart hook additional context: {c}\n{w}",
        "{w}\n{e}",
        "{w}\n{h}",
    ]
)


def _wrapped(wrap: str, context: str, words: str) -> str:
    escaped = context.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return wrap.format(c=context, w=words, e=json.dumps(context)[1:-1], h=escaped)


@settings(max_examples=25)
@given(known=STATEMENTS, phrases=st.lists(st.tuples(WORDS, WRAPS), min_size=1, max_size=4), budget=st.integers(40, 900))
def test_injected_context_is_never_captured_again(
    known: list[str], phrases: list[tuple[str, str]], budget: int
) -> None:
    """Marker words stand in what is injected and nowhere else: not one of them may come from the conversation."""
    clock = FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with (
        TemporaryDirectory() as folder,
        lamina.open(Path(folder), clock=clock, watch=False, background=False) as memory,
    ):
        memory.capture([{"speaker": "Ann", "content": text} for text in known], session_id="before")
        before = {atom.id: (atom.content, atom.evidence) for atom in memory.list(status=None, limit=200)}
        context = memory.recall(known[0]).context(budget)
        turns = [{"role": "user", "content": _wrapped(wrap, context, words)} for words, wrap in phrases]
        receipt = memory.capture(turns, session_id="after")
        after = memory.list(status=None, limit=200)
    segments = [atom for atom in after if atom.session_id == "after" and atom.is_segment]
    atoms = [atom for atom in after if atom.id not in before and not atom.is_segment]
    assert not [atom for atom in atoms if "zq" in atom.content]
    assert not [segment for segment in segments if "zq" in segment.content]
    grown = [atom for atom in after if atom.id in before and (atom.content, atom.evidence) != before[atom.id]]
    assert not [atom for atom in grown if {e.segment for e in atom.evidence} & {s.id for s in segments}]
    texts = [passage.text for segment in sorted(segments, key=lambda item: item.id) for passage in passages_of(segment)]
    assert [_text_alone(text) for text in texts] == [_text_alone(_wrapped(wrap, "", words)) for words, wrap in phrases]
    assert "context" in dict(receipt.stages)


def _text_alone(text: str) -> str:
    """The words with their line ends, without what the host writes around context."""
    for item in (
        "<system-reminder>",
        "</system-reminder>",
        "UserPromptSubmit hook additional context: ",
        "SessionStart hook additional context: ",
    ):
        text = text.replace(item, "")
    return "\n".join(line for line in text.split("\n") if line.strip())
