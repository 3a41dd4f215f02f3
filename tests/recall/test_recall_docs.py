"""docs/recall.md says what is so: every constant by its value, every term and weight by its name."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from town_conversations import needs_minilm, open_memory, populate, questions

from lamina import Settings
from lamina.recall import scoring_profiles
from lamina.recall.scoring_profiles import ScoringProfile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "recall.md").read_text(encoding="utf-8")
RECIPES = {name: value for name, value in vars(scoring_profiles).items() if isinstance(value, ScoringProfile)}
CONSTANTS = {name: value for name, value in vars(scoring_profiles).items() if name.isupper() and name not in RECIPES}


def cells(first: str, section: str = "Constants") -> list[str]:
    """The other cells of the row in a section that begins so."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    (row,) = re.findall(rf"^\| {re.escape(first)} \| (.*) \|$", text, re.MULTILINE)
    return [cell.strip() for cell in row.split(" | ")]


def documented_form(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(documented_form(item) for item in value)
    return f"{value:g}".replace("-", "−")


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_every_constant_is_documented(name: str) -> None:
    assert cells(f"`{name}`")[0] == documented_form(CONSTANTS[name])


@pytest.mark.parametrize("name", [field.name for field in fields(ScoringProfile) if field.name != "name"])
def test_every_profile_is_documented(name: str) -> None:
    assert [cell.strip("`") for cell in cells("recipe")] == list(RECIPES)
    assert cells(f"`{name}`") == [documented_form(getattr(value, name)) for value in RECIPES.values()]


@needs_minilm
def test_every_term_and_weight_is_explained(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "minilm") as memory:
        populate(memory, sessions=8)
        hits = [hit for question in questions(count=20) for hit in memory.recall(question, 50).hits]
        hits += memory.recall("when did Ann go to Oslo?", 50).hits
    matches = set(re.findall(r"`([a-z ]+)`", PAGE))
    assert {name for hit in hits for name, _ in (*hit.terms, *hit.weights)} <= matches


def test_the_recall_settings_are_documented() -> None:
    assert cells("`assistant_prior`", "Settings")[0] == documented_form(
        Settings.model_fields["assistant_prior"].default
    )


def test_every_link_of_the_page_is_valid() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
    for file in re.findall(r"`(\w+\.py)`", PAGE):
        assert (ROOT / "src" / "lamina" / "recall" / file).exists(), file
