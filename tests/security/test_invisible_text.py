"""Text that nobody sees is flagged when it is written and written out when it is shown."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lamina
from lamina.text.normal_form import HIDDEN_TEXT_TAG, escape_hidden, escape_unprintable, has_hidden_text

SEED = 20_261_116
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u061c\u180e\u3164"
_SENTENCES = ("The meeting is at nine.", "Send the report to Ann.", "The kettle is in the kitchen.", "Pay the invoice.")


def samples(count: int, seed: int) -> list[str]:
    """Sentences with a message in tag characters, a zero-width mark or a turned direction somewhere inside."""
    chance = random.Random(seed)
    return [_sample(chance, n) for n in range(count)]


def _sample(chance: random.Random, n: int) -> str:
    text = chance.choice(_SENTENCES)
    at = chance.randrange(1, len(text))
    if n % 4 == 0:
        hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
    elif n % 4 == 1:
        hidden = chr(0xE0100 + chance.randrange(0xEF)) * 3
    else:
        hidden = chance.choice(_UNSEEN)
    return text[:at] + hidden + text[at:]


def test_invisible_characters_are_found_and_escaped() -> None:
    for text in samples(200, SEED):
        assert has_hidden_text(text), ascii(text)
        escaped = escape_unprintable(text)
        assert escaped.isprintable() and not has_hidden_text(escaped), ascii(text)
        assert "<U+" in escaped, ascii(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "naïve café",
        "👩\u200d👩\u200d👧 family",
        "❤️\u200d🔥",
        "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng\x7f"),
        "می\u200cخواهم",
        "क्\u200dष",
        "שלום\u200f!",
        "中文字",
        "½ — “quoted”",
    ],
)
def test_characters_of_the_script_are_left_alone(text: str) -> None:
    assert not has_hidden_text(text)
    assert escape_hidden(text) == text


def test_writers_and_readers_are_warned(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=False) as memory:
        for n, text in enumerate(samples(20, SEED)):
            atom = memory.capture([{"speaker": "Ann", "content": text}], session_id=f"s{n}").atom
            assert HIDDEN_TEXT_TAG in atom.tags
            sentence = memory.remember(f"{n}: {text}").atom
            assert HIDDEN_TEXT_TAG in sentence.tags and sentence.content == f"{n}: {text}"
        context = memory.recall("Where is the kettle and when is the meeting?", k=50).context(50_000)
        lines = [line for line in context.splitlines() if line.startswith("- [")]
        assert lines and all(HIDDEN_TEXT_TAG in line.partition("] ")[0] for line in lines)
        assert not has_hidden_text(context)
        assert HIDDEN_TEXT_TAG not in memory.remember("Nothing is hidden here.").atom.tags
