"""The template environment and its filters: how times, numbers and stored text look on every page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lamina.atom.kinds import traits
from lamina.atom.passage import parse_segment
from lamina.text.times import parse_time
from lamina.web.prose import prose, seen, without_marks

HERE = Path(__file__).parent
SHORT, BRIEF = 8, 140


def printed(template: str, told: Mapping[str, object]) -> str:
    """Render a template with this context."""
    return _environment().get_template(template).render(**told)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finally,
    )
    environment.filters.update(
        prose=prose,
        raw=raw,
        short=short,
        gist=gist,
        brief=brief,
        moment=moment,
        day=day,
        clock=clock,
        many=many,
        plain=plain,
        size=size,
        figure=figure,
    )
    return environment


def _finally(value: object) -> object:
    """Reveal hidden characters in every text on a page; HTML has been through that already."""
    return seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def raw(text: str) -> Markup:
    """Escape a text without other changes, for a form field that sends it back."""
    return escape(text)


def short(id_: str) -> str:
    """Return the end of an id, enough to identify it."""
    return id_[-SHORT:]


def brief(text: str, most: int = BRIEF) -> str:
    """Return the text on one line, shortened to `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


class Told(Protocol):
    """An atom or its document."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def segment_id(self) -> str | None: ...


def gist(atom: Told, most: int = BRIEF) -> str:
    """Return an atom's text in one line: of a conversation the first turn, of a generated page the heading."""
    if atom.kind == "narrative" and atom.segment_id is not None:
        first = next(iter(parse_segment(atom.content)), None)
        turn = f"{first.speaker}: {first.text}" if first and first.speaker else first.text if first else ""
        return brief(turn or atom.content, most)
    text = without_marks(atom.content).strip()
    line = text.partition("\n")[0] if traits(atom.kind).lists or text != atom.content.strip() else text
    return brief(line.lstrip("# "), most)


def moment(at: datetime | str | None) -> Markup:
    """Format a time to the minute, in UTC like the files."""
    return _time(at, "%Y-%m-%d %H:%M")


def day(at: datetime | str | None) -> Markup:
    """Format the day of a time."""
    return _time(at, "%Y-%m-%d")


def clock(at: datetime | str | None) -> Markup:
    """Format the time of day of a time."""
    return _time(at, "%H:%M")


def _time(at: datetime | str | None, form: str) -> Markup:
    if at is None or at == "":
        return Markup("")
    time = (parse_time(at) if isinstance(at, str) else at).astimezone(UTC)
    full = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(full, full[:19], time.strftime(form))


def many(number: int, noun: str, more: str | None = None) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun if number == 1 else more or noun + 's'}"


def plain(name: str) -> str:
    """Return an identifier without underscores."""
    return name.replace("_", " ")


def size(many_bytes: int) -> str:
    """Format a number of bytes in a readable unit."""
    left = float(many_bytes)
    for unit in ("B", "kB", "MB"):
        if left < 1000:
            return f"{left:.0f} {unit}" if unit == "B" else f"{left:.1f} {unit}"
        left /= 1000
    return f"{left:.1f} GB"


def figure(value: float) -> str:
    """Format a number with four significant digits."""
    return f"{value:.4g}"
