"""The identity of an agent: what was thought about the agent itself, kept to a length that can be read in one go."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.page import IDENTITY
from lamina.atom.scope import Scope, agent
from lamina.dream.entity_card import SHORT, SUMMARY_OF, Row, digest_of, happened_at, link, summary_in
from lamina.dream.entity_pages import is_stated
from lamina.dream.in_short import MOST_LINES, condensed
from lamina.dream.plan import Plan
from lamina.dream.scene import LIVE, Scene
from lamina.dream.single import kept_up, single_of
from lamina.models.chat import Chat
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form, one_line
from lamina.text.roles import ASSISTANTS
from lamina.text.sentences import sentences

WHOLE_BYTES = 8 * 1024
"""Up to here every reflection stands as it is; beyond, the oldest ones are reduced to a line."""
MOST_CHARS = 15_000
"""A longer page is not written."""
LINE_CHARS = 120
KINDS = frozenset({"insight", "belief"})
"""What an identity is made of."""
ITSELF = ASSISTANTS | {"agent", "identity", "self"}
"""Subjects under which an agent speaks of itself."""


def identity_of(store: Store, scope: Scope) -> Atom | None:
    """The identity of a scope's agent, if there is one."""
    return single_of(store, scope, IDENTITY)


def identity(scene: Scene) -> Plan:
    """The identity page as it shall be, from what is stated in the scope."""
    wanted = Filter(scopes=(scene.scope,), statuses=LIVE, kinds=KINDS, notes=False, valid_at=scene.now)
    told = [each for each in scene.store.read(wanted) if is_stated(each) and _is_reflection(each, scene.scope)]
    before = identity_of(scene.store, scene.scope)
    if not told and before is None:
        return Plan()
    whole, older = divided(told)
    writer = scene.writer
    short = _short(writer, older, before)
    lines = identity_lines(whole, older, short)
    length = sum(len(line) + 1 for line in lines)
    if length > MOST_CHARS:
        advice = "archive or sum up some of the oldest reflections"
        return Plan(notes=(f"identity.md would have {length:,} characters, more than {MOST_CHARS:,}: {advice}",))
    summed_up = {SUMMARY_OF: digest_of(older)} if older and writer is not None else {}
    return kept_up(scene, IDENTITY, "\n".join(lines), f"{len(told)} reflections", summed_up)


def divided(told: Sequence[Atom]) -> tuple[list[Row], list[Row]]:
    """Reflections that stand as they are, and older ones in a line each: as many as it takes to be short enough.

    The youngest one always stands as it is.
    """
    whole = [Row(atom, f"{happened_at(atom):%Y-%m-%d} {one_line(atom.content)}") for atom in told]
    older = [Row(atom, f"{happened_at(atom):%Y-%m-%d} {_first_line(atom.content)}") for atom in told]
    long, size = len(whole), sum(map(_bytes, whole))
    while size > WHOLE_BYTES and long > 1:
        long -= 1
        size += _bytes(older[long]) - _bytes(whole[long])
    return whole[:long], older[long:]


def identity_lines(whole: Sequence[Row], older: Sequence[Row], short: Sequence[str]) -> list[str]:
    """The lines of the page; a reflection that the short text names as its source needs no line of its own."""
    named = "\n".join(short)
    left = [each for each in older if link(each.source) not in named]
    lines = ["# Identity", "", *([SHORT, *short, ""] if short else []), "## Reflections", *map(str, whole)]
    return [*lines, "", "## Earlier, in a line each", *map(str, left)] if left else lines


def _short(writer: Chat | None, older: Sequence[Row], before: Atom | None) -> list[str]:
    """What a model made of the older ones; asked once for the same lines."""
    if before is not None and before.metadata.get(SUMMARY_OF) == digest_of(older):
        return summary_in(before.content)
    return condensed(writer, "the agent", older[:MOST_LINES]) if older and writer is not None else []


def _is_reflection(atom: Atom, scope: Scope) -> bool:
    subject = normal_form(atom.subject)
    return subject in ITSELF or (subject != "" and subject == normal_form(agent(scope) or ""))


def _first_line(content: str) -> str:
    """The first sentence, cut where it is long."""
    text = one_line(content)
    first = next((text[start:end] for start, end in sentences(text)), text)
    return first if len(first) <= LINE_CHARS else f"{first[: LINE_CHARS - 1].rstrip()}…"


def _bytes(told: Row) -> int:
    return len(str(told).encode()) + 1
