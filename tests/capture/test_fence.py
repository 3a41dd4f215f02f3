from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.passage import passages_of
from lamina.capture.recalled_context import remove_recalled_context
from lamina.clock import FixedClock
from lamina.errors import InvalidInput
from lamina.memory import Memory

HEAD = "- [01jc9x2k7m3f5r8t0v2w4y6z8a human active 2026-11-14]"
BLOCK = f"<memories>\n## core\n{HEAD} Ann likes tea\n## workstream\n- [app] user: ship it\n</memories>"
ESCAPED = json.dumps(BLOCK)[1:-1]


@pytest.mark.parametrize(
    ("words", "left"),
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
def test_recalled_context_is_taken_out_however_a_host_writes_it(words: str, left: str) -> None:
    assert remove_recalled_context(words).text == left
    assert remove_recalled_context(words).removed_blocks


def test_a_block_that_was_cut_short_ends_where_our_lines_end() -> None:
    cut = BLOCK.removesuffix("\n</memories>")
    assert (
        remove_recalled_context(f"{cut}\nI live in Porto.\n- [ ] buy milk").text == "I live in Porto.\n- [ ] buy milk"
    )
    assert "Ann" not in remove_recalled_context(cut[:80]).text


def test_words_between_a_block_cut_short_and_a_whole_one_are_kept() -> None:
    cut = BLOCK.removesuffix("\n</memories>")
    assert remove_recalled_context(f"{cut}\nI live in Porto.\n{BLOCK}\nBye.").text.strip() == "I live in Porto.\nBye."


def test_a_block_inside_another_goes_with_it() -> None:
    assert (
        remove_recalled_context(f"Hi.\n<memories>\n## facts\n{HEAD} a\n{BLOCK}\n</memories>\nBye.").text == "Hi.\nBye."
    )


def test_the_end_of_a_block_whose_beginning_is_gone_is_taken_out() -> None:
    assert remove_recalled_context(f"{HEAD} Ann\n- [app] user: x\n</memories>\nHi.").text == "Hi."


def test_whichever_end_of_a_block_is_gone_nothing_of_an_item_that_can_be_told_is_left() -> None:
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
def test_who_only_writes_about_the_tag_is_heard(words: str) -> None:
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
def test_no_text_is_looked_at_for_long(words: str) -> None:
    remove_recalled_context(words)


def test_a_receipt_tells_that_something_was_taken_out(tmp_path: Path) -> None:
    with Memory(tmp_path / "vault", watch=False, background=False) as memory:
        receipt = memory.capture([{"role": "user", "content": f"{BLOCK}\nI live in Porto."}])
        plain = memory.capture([{"role": "user", "content": "I keep bees."}])
    assert dict(receipt.stages)["context"] == "1 block of recalled context removed"
    assert "context" not in dict(plain.stages)
    assert [passage.text for passage in passages_of(receipt.atom)] == ["I live in Porto."]


def test_a_turn_that_was_nothing_but_context_leaves_no_turn(tmp_path: Path) -> None:
    with Memory(tmp_path / "vault", watch=False, background=False) as memory:
        said = [{"role": "user", "content": BLOCK}, {"role": "user", "content": "Hi, I am Ann."}]
        assert [passage.text for passage in passages_of(memory.capture(said).atom)] == ["Hi, I am Ann."]
        with pytest.raises(InvalidInput, match="besides recalled context"):
            memory.capture(BLOCK)


def test_a_statement_is_remembered_without_context_and_context_alone_is_none(tmp_path: Path) -> None:
    with Memory(tmp_path / "vault", watch=False, background=False) as memory:
        kept = memory.remember(f"{BLOCK}\nThe heron is grey.").atom
        assert kept.content == "The heron is grey."
        for words in (BLOCK, f"{HEAD} Ann likes tea"):
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.remember(words)
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.propose(words)
            with pytest.raises(InvalidInput, match="besides recalled context"):
                memory.revise(kept.id, words, reason="x")
        assert [each.content for each in memory.list(status=None)] == ["The heron is grey."]


def test_a_document_that_holds_context_is_kept_without_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "vault", watch=False, background=False) as memory:
        memory.capture(f"# Notes\n\nI keep bees.\n\n{BLOCK}\n\nThe hives stand in Porto.\n", name="notes.md")
        kept = "\n".join(each.content for each in memory.list(status=None))
    assert "bees" in kept
    assert "hives" in kept
    assert "memories" not in kept
    assert "tea" not in kept


PLACES = ("Porto", "Cork", "Galway", "Lima", "Oslo", "Turin", "Basel", "Delft")
ANIMALS = ("otter", "heron", "lynx", "marten", "badger", "stoat", "osprey", "newt")
KNOWN = st.lists(
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
@given(known=KNOWN, said=st.lists(st.tuples(WORDS, WRAPS), min_size=1, max_size=4), budget=st.integers(40, 900))
def test_nothing_that_was_injected_is_ever_captured_again(
    known: list[str], said: list[tuple[str, str]], budget: int
) -> None:
    """Marker words stand in what is injected and nowhere else: not one of them may come from the conversation."""
    clock = FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with TemporaryDirectory() as folder, Memory(Path(folder), clock=clock, watch=False, background=False) as memory:
        memory.capture([{"speaker": "Ann", "content": each} for each in known], session_id="before")
        before = {each.id: (each.content, each.evidence) for each in memory.list(status=None, limit=200)}
        context = memory.recall(known[0]).context(budget)
        turns = [{"role": "user", "content": _wrapped(wrap, context, words)} for words, wrap in said]
        receipt = memory.capture(turns, session_id="after")
        after = memory.list(status=None, limit=200)
    segments = [each for each in after if each.session_id == "after" and each.is_segment]
    made = [each for each in after if each.id not in before and not each.is_segment]
    assert not [each for each in made if "zq" in each.content]
    assert not [segment for segment in segments if "zq" in segment.content]
    grown = [each for each in after if each.id in before and (each.content, each.evidence) != before[each.id]]
    assert not [each for each in grown if {e.segment for e in each.evidence} & {s.id for s in segments}]
    kept = [passage.text for segment in sorted(segments, key=lambda each: each.id) for passage in passages_of(segment)]
    assert [_own(each) for each in kept] == [_own(_wrapped(wrap, "", words)) for words, wrap in said]
    assert "context" in dict(receipt.stages)


def _own(text: str) -> str:
    """The words with their line ends, without what the host writes around context."""
    for each in (
        "<system-reminder>",
        "</system-reminder>",
        "UserPromptSubmit hook additional context: ",
        "SessionStart hook additional context: ",
    ):
        text = text.replace(each, "")
    return "\n".join(line for line in text.split("\n") if line.strip())
