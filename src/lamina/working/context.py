"""What a run or a block works with: the store, who writes into which scope, and how files are looked at and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import IdSource
from lamina.capture.draft import LABEL_LIMIT, parse_text
from lamina.capture.receipt import Receipt
from lamina.capture.redact import Redacted, redact
from lamina.capture.write import Writer
from lamina.errors import InvalidInput
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form, one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """One writer's place in one scope. `fresh` reads atoms as their files say; `published` writes files after a commit.

    `agents` names the agent whose words go to its organisation; `personal`: numbers of persons are secrets, too.
    """

    store: Store
    writer: Writer
    agents: tuple[str, ...]
    ids: IdSource
    now: Callable[[], datetime]
    fresh: Callable[[Filter], list[Atom]]
    published: Callable[[Receipt], Receipt]
    personal: bool = False

    def clean(self, text: str) -> Redacted:
        """The text without secrets; refused where no file could hold it."""
        return redact(parse_text(text), personal=self.personal)


def is_named(name: str, text: str) -> bool:
    """Whether the words of a name stand together in a text."""
    return f" {normal_form(name)} " in f" {normal_form(text)} "


def parse_name(name: str, noun: str) -> str:
    """A name for something that is looked up by it, or InvalidInput where it has no letter or digit."""
    label = one_line(parse_text(name))
    if not normal_form(label):
        raise InvalidInput(f"{noun} needs a name with a letter or digit in it")
    if len(label) > LABEL_LIMIT:
        raise InvalidInput(f"the name of {noun} is longer than {LABEL_LIMIT} characters")
    return label
