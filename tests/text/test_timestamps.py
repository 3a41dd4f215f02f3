"""Moments as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.text.timestamps import format_time, parse_time, to_utc

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)


@given(MOMENTS)
def test_a_time_round_trips_to_the_millisecond(moment: datetime) -> None:
    read = parse_time(format_time(moment))
    assert read == to_utc(moment)
    assert timedelta(0) <= moment - read < timedelta(milliseconds=1)
    assert format_time(read) == format_time(moment)


@given(MOMENTS, MOMENTS)
def test_the_text_order_equals_the_time_order(one: datetime, other: datetime) -> None:
    if one <= other:
        assert parse_time(format_time(one)) <= parse_time(format_time(other))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.600Z"),
        ("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02T03:04:05.000999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00Z"),
        ("  2026-01-02\n", "2026-01-02T00:00:00Z"),
    ],
)
def test_a_time_is_parsed_leniently_and_written_in_one_format(text: str, written: str) -> None:
    assert format_time(parse_time(text)) == written


def test_a_time_without_a_zone_is_utc_in_both_directions() -> None:
    assert parse_time("2026-01-02T03:04:05").tzinfo is UTC
    assert format_time(datetime(2026, 1, 2, 3, 4, 5)) == "2026-01-02T03:04:05Z"


def test_less_than_a_millisecond_is_not_written() -> None:
    assert format_time(datetime(2026, 1, 2, microsecond=999, tzinfo=UTC)) == "2026-01-02T00:00:00Z"


def test_a_bare_date_as_an_end_means_through_that_day() -> None:
    assert parse_time("2024-02-28", end=True) == datetime(2024, 2, 29, tzinfo=UTC)
    assert parse_time("2026-12-31", end=True) == datetime(2027, 1, 1, tzinfo=UTC)
    assert parse_time("2026-12-31") == datetime(2026, 12, 31, tzinfo=UTC)


def test_a_time_as_an_end_is_that_time() -> None:
    assert parse_time("2026-12-31T00:00:00Z", end=True) == datetime(2026, 12, 31, tzinfo=UTC)


def test_the_last_representable_day_is_a_valid_end() -> None:
    assert format_time(parse_time("9999-12-31", end=True)) == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "yesterday",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-02-30T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "NaN",
        "2026-01-01T00:00:00Zx",
        "２０２６-01-01",
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:59:59-05:00",
    ],
)
def test_an_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)
    with pytest.raises(ValueError):
        parse_time(text, end=True)
