"""Over a thousand pairs of sentences: how many changes are noticed, and how often something else is taken for one.

The rules were made with these pairs in view, so they only tell when something gets worse.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lamina.capture.change.link import Earlier
from lamina.capture.change.links import decide
from lamina.capture.change.told import tellings
from lamina.models.sense import alike
from lamina.text.sentences import sentences

PAIRS = Path(__file__).parents[2] / "scripts" / "pairs"
NOTICED, WRONGLY = 0.42, 0.07


def replaces(old: str, new: str) -> bool:
    before = ""
    for start, end in sentences(new):
        sentence = new[start:end]
        earlier = [Earlier(each, 1) for each in tellings(old, guess=True)]
        if any(link.sure for each in tellings(sentence, before=before) for link in decide(each, earlier, alike)):
            return True
        before = sentence
    return False


@pytest.mark.parametrize("name", ["life", "work"])
def test_changes_are_noticed_and_little_else_is_taken_for_one(name: str) -> None:
    lines = (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    noticed = [replaces(each["old"], each["new"]) for each in told if each["same"]]
    wrongly = [replaces(each["old"], each["new"]) for each in told if not each["same"]]
    assert sum(noticed) / len(noticed) >= NOTICED
    assert sum(wrongly) / len(wrongly) <= WRONGLY
