"""What pages are printed on: the templates, and how a moment, a number or somebody's words look in all of them."""

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
    """A template with what it is told."""
    return _environment().get_template(template).render(**told)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finally,
    )
    made.filters.update(
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
    return made


def _finally(value: object) -> object:
    """Every text that is put on a page shows what it hides; what is HTML already has been through that."""
    return seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def raw(text: str) -> Markup:
    """A text as it is, for a field that sends it back unchanged."""
    return escape(text)


def short(id_: str) -> str:
    """The ending of an id, enough to name it by."""
    return id_[-SHORT:]


def brief(text: str, most: int = BRIEF) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


class Told(Protocol):
    """An atom, or the document of one."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def segment_id(self) -> str | None: ...


def gist(atom: Told, most: int = BRIEF) -> str:
    """What an atom says, in a line: of a conversation its first turn, of a page that lamina keeps its heading."""
    if atom.kind == "narrative" and atom.segment_id is not None:
        first = next(iter(parse_segment(atom.content)), None)
        told = f"{first.speaker}: {first.text}" if first and first.speaker else first.text if first else ""
        return brief(told or atom.content, most)
    words = without_marks(atom.content).strip()
    whole = words.partition("\n")[0] if traits(atom.kind).lists or words != atom.content.strip() else words
    return brief(whole.lstrip("# "), most)


def moment(at: datetime | str | None) -> Markup:
    """A moment to the minute, in UTC like the files."""
    return _time(at, "%Y-%m-%d %H:%M")


def day(at: datetime | str | None) -> Markup:
    """The day of a moment."""
    return _time(at, "%Y-%m-%d")


def clock(at: datetime | str | None) -> Markup:
    """The time of day of a moment."""
    return _time(at, "%H:%M")


def _time(at: datetime | str | None, form: str) -> Markup:
    if at is None or at == "":
        return Markup("")
    known = (parse_time(at) if isinstance(at, str) else at).astimezone(UTC)
    full = known.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(full, full[:19], known.strftime(form))


def many(number: int, noun: str, more: str | None = None) -> str:
    """So many of a thing."""
    return f"{number:,} {noun if number == 1 else more or noun + 's'}"


def plain(name: str) -> str:
    """A name of ours without its underscores."""
    return name.replace("_", " ")


def size(many_bytes: int) -> str:
    """So many bytes, in the unit they are read best in."""
    left = float(many_bytes)
    for unit in ("B", "kB", "MB"):
        if left < 1000:
            return f"{left:.0f} {unit}" if unit == "B" else f"{left:.1f} {unit}"
        left /= 1000
    return f"{left:.1f} GB"


def figure(value: float) -> str:
    """A number with as many digits as tell something."""
    return f"{value:.4g}"
