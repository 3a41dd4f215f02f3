"""`--as-of` and `--known-at` on the commands that read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from terminal import Cli

LIVES = ("--subject", "Ann", "--attribute", "city")
EARLY, LATE, BETWEEN = "2020-01-01", "2022-01-01", "2021-06-01"


@pytest.fixture
def moved(cli: Cli) -> tuple[str, str]:
    """Somebody who lived in one place and then in another; the ids of the two statements."""
    ids = []
    for city, since in (("Porto", EARLY), ("Faro", LATE)):
        words = ("remember", f"Ann lives in {city}", *LIVES, "--value", city, "--valid-from", since, "--json")
        ids.append(cli(*words).data["outcomes"][0]["atom"]["id"])
    return ids[0], ids[1]


def recalled(cli: Cli, *options: str) -> list[str]:
    return [hit["text"] for hit in cli("recall", "where does Ann live?", *options, "--json").data["hits"]]


def listed(cli: Cli, *options: str) -> list[str]:
    return [atom["id"] for atom in cli("list", *options, "--json").data["atoms"]]


def test_recall_tells_what_was_true_and_what_was_known(cli: Cli, moved: tuple[str, str]) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert recalled(cli) == recalled(cli, "--known-at", today) == ["Ann lives in Faro"]
    assert recalled(cli, "--as-of", BETWEEN) == ["Ann lives in Porto"]
    assert recalled(cli, "--as-of", BETWEEN, "--known-at", today) == ["Ann lives in Porto"]
    assert recalled(cli, "--as-of", "2019-12-31") == recalled(cli, "--known-at", "2001-01-01") == []


def test_a_list_tells_what_was_true_and_what_was_known(cli: Cli, moved: tuple[str, str]) -> None:
    assert listed(cli) == [moved[1]]
    assert listed(cli, "--as-of", BETWEEN) == [moved[0]]
    assert listed(cli, "--as-of", f"{LATE}T00:00:00+02:00") == [moved[0]]
    assert listed(cli, "--known-at", "2001-01-01", "--all") == []


def test_one_atom_is_shown_if_it_was_true_and_known(cli: Cli, moved: tuple[str, str]) -> None:
    assert cli("get", moved[0], "--as-of", BETWEEN, "--json").data["id"] == moved[0]
    over, unknown = cli("get", moved[0], "--as-of", "2023-01-01"), cli("get", moved[0], "--known-at", "2001-01-01")
    assert (over.code, unknown.code) == (3, 3)
    assert "was not true as of 2023-01-01" in over.err
    assert "was known at 2001-01-01 23:59 UTC" in unknown.err


@pytest.mark.parametrize("words", [("recall", "x"), ("list",), ("get", "abcdef")])
def test_what_is_no_time_is_a_usage_error(cli: Cli, moved: tuple[str, str], words: tuple[str, ...]) -> None:
    given = (moved[0] if word == "abcdef" else word for word in words)
    ran = cli(*given, "--as-of", "the other day")
    assert ran.code == 2
    assert "write a date like 2026-11-15" in ran.err
