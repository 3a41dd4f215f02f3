"""`--as-of` and `--known-at` on the commands that read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from command_result import Cli

CLAIM = ("--subject", "Ann", "--attribute", "city")
EARLY, LATE, BETWEEN = "2020-01-01", "2022-01-01", "2021-06-01"


@pytest.fixture
def two_cities(cli: Cli) -> tuple[str, str]:
    """Somebody who lived in one place and then in another; the ids of the two statements."""
    ids = []
    for city, since in (("Porto", EARLY), ("Faro", LATE)):
        words = ("remember", f"Ann lives in {city}", *CLAIM, "--value", city, "--valid-from", since, "--json")
        ids.append(cli(*words).data["outcomes"][0]["atom"]["id"])
    return ids[0], ids[1]


def recalled(cli: Cli, *options: str) -> list[str]:
    return [hit["text"] for hit in cli("recall", "where does Ann live?", *options, "--json").data["hits"]]


def listed(cli: Cli, *options: str) -> list[str]:
    return [atom["id"] for atom in cli("list", *options, "--json").data["atoms"]]


def test_recall_shows_what_was_true_and_what_was_known(cli: Cli, two_cities: tuple[str, str]) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert recalled(cli) == recalled(cli, "--known-at", today) == ["Ann lives in Faro"]
    assert recalled(cli, "--as-of", BETWEEN) == ["Ann lives in Porto"]
    assert recalled(cli, "--as-of", BETWEEN, "--known-at", today) == ["Ann lives in Porto"]
    assert recalled(cli, "--as-of", "2019-12-31") == recalled(cli, "--known-at", "2001-01-01") == []


def test_a_list_shows_what_was_true_and_what_was_known(cli: Cli, two_cities: tuple[str, str]) -> None:
    assert listed(cli) == [two_cities[1]]
    assert listed(cli, "--as-of", BETWEEN) == [two_cities[0]]
    assert listed(cli, "--as-of", f"{LATE}T00:00:00+02:00") == [two_cities[0]]
    assert listed(cli, "--known-at", "2001-01-01", "--all") == []


def test_one_atom_is_shown_if_it_was_true_and_known(cli: Cli, two_cities: tuple[str, str]) -> None:
    assert cli("get", two_cities[0], "--as-of", BETWEEN, "--json").data["id"] == two_cities[0]
    over, unknown = (
        cli("get", two_cities[0], "--as-of", "2023-01-01"),
        cli("get", two_cities[0], "--known-at", "2001-01-01"),
    )
    assert (over.code, unknown.code) == (3, 3)
    assert "was not true as of 2023-01-01" in over.err
    assert "was known at 2001-01-01 23:59 UTC" in unknown.err


@pytest.mark.parametrize("words", [("recall", "x"), ("list",), ("get", "abcdef")])
def test_an_invalid_time_is_a_usage_error(cli: Cli, two_cities: tuple[str, str], words: tuple[str, ...]) -> None:
    initial = (two_cities[0] if word == "abcdef" else word for word in words)
    result = cli(*initial, "--as-of", "the other day")
    assert result.code == 2
    assert "write a date like 2026-11-15" in result.err
