"""The template environment and its filters: how times, numbers and stored text look on every page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lamina.atom.kinds import kind_traits
from lamina.atom.passage import parse_segment
from lamina.text.normal_form import escape_unprintable, shorten_line
from lamina.text.timestamps import parse_time
from lamina.web.safe_markdown import render_markdown, strip_page_markers

WEB_FOLDER = Path(__file__).parent
SHORT_ID_LENGTH, SUMMARY_LENGTH = 8, 140


def render_template(template: str, context: Mapping[str, object]) -> str:
    """Render a template with this context."""
    return _environment().get_template(template).render(**context)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(WEB_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        prose=render_markdown,
        raw=escape_raw,
        short=shorten_id,
        gist=summarise_atom,
        brief=shorten,
        moment=partial(_format_time, form="%Y-%m-%d %H:%M"),
        day=partial(_format_time, form="%Y-%m-%d"),
        clock=partial(_format_time, form="%H:%M"),
        many=count_noun,
        plain=humanise_name,
        size=format_bytes,
        figure=format_number,
    )
    return environment


def _finalize(value: object) -> object:
    """Reveal hidden characters in every text on a page; HTML has been through that already."""
    return escape_unprintable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def escape_raw(text: str) -> Markup:
    """Escape a text without other changes, for a form field that sends it back."""
    return escape(text)


def shorten_id(id_: str) -> str:
    """Return the end of an id, enough to identify it."""
    return id_[-SHORT_ID_LENGTH:]


def shorten(text: str, limit: int = SUMMARY_LENGTH) -> str:
    """Return the text on one line, shortened to `limit` characters."""
    return shorten_line(text, limit)


class AtomLike(Protocol):
    """An atom or its document."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def segment_id(self) -> str | None: ...


def summarise_atom(atom: AtomLike, limit: int = SUMMARY_LENGTH) -> str:
    """Return an atom's text in one line: of a conversation the first turn, of a generated page the heading."""
    if atom.kind == "narrative" and atom.segment_id is not None:
        first = next(iter(parse_segment(atom.content)), None)
        turn = f"{first.speaker}: {first.text}" if first and first.speaker else first.text if first else ""
        return shorten(turn or atom.content, limit)
    text = strip_page_markers(atom.content).strip()
    line = text.partition("\n")[0] if kind_traits(atom.kind).is_listing or text != atom.content.strip() else text
    return shorten(line.lstrip("# "), limit)


def _format_time(at: datetime | str | None, form: str) -> Markup:
    """Format a time in UTC, like the files; empty for None."""
    if at is None or at == "":
        return Markup("")
    time = (parse_time(at) if isinstance(at, str) else at).astimezone(UTC)
    full = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(full, full[:19], time.strftime(form))


def count_noun(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def humanise_name(name: str) -> str:
    """Return an identifier without underscores."""
    return name.replace("_", " ")


def format_bytes(count: int) -> str:
    """Format a number of bytes in a readable unit."""
    left = float(count)
    for unit in ("B", "kB", "MB"):
        if left < 1000:
            return f"{left:.0f} {unit}" if unit == "B" else f"{left:.1f} {unit}"
        left /= 1000
    return f"{left:.1f} GB"


def format_number(value: float) -> str:
    """Format a number with four significant digits."""
    return f"{value:.4g}"
