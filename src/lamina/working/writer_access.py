"""The context of runs and blocks: access to the store in the name of one writer, and the rules for their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, IdSource
from lamina.capture.caller_input import LABEL_LIMIT, parse_text
from lamina.capture.receipt import Receipt
from lamina.capture.redact import RedactedText, redact
from lamina.capture.statement_commit import Writer
from lamina.errors import InvalidInput
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import normal_form, one_line

LINEAGE_LIMIT = 200
"""The number of atoms that an event or a procedure names as its sources, so that its frontmatter stays short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterAccess:
    """The store as one writer uses it in one scope.

    `read_fresh` reads atoms after syncing their files; `publish` writes files after a commit. `agents` names the agent
    whose notes go to its organisation. With `personal`, personal numbers are redacted as well.
    """

    store: Store
    writer: Writer
    agents: tuple[str, ...]
    ids: IdSource
    now: Callable[[], datetime]
    read_fresh: Callable[[AtomFilter], list[Atom]]
    publish: Callable[[Receipt], Receipt]
    personal: bool = False

    def clean(self, text: str) -> RedactedText:
        """Return the text without secrets; InvalidInput if a file cannot hold it."""
        return redact(parse_text(text), personal=self.personal)


def is_named(name: str, text: str) -> bool:
    """Return whether a text contains the words of a name, one after the other."""
    return f" {normal_form(name)} " in f" {normal_form(text)} "


def parse_name(name: str, noun: str) -> str:
    """Return a name on one line; InvalidInput if it has no letter or digit or is too long."""
    label = one_line(parse_text(name))
    if not normal_form(label):
        raise InvalidInput(f"{noun} needs a name with a letter or digit in it")
    if len(label) > LABEL_LIMIT:
        raise InvalidInput(f"the name of {noun} is longer than {LABEL_LIMIT} characters")
    return label
