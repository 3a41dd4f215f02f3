"""The identity page of an agent: its reflections about itself, kept short enough to read."""

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
"""Up to this size reflections are shown in full; beyond it the oldest become one line each."""
MOST_CHARS = 15_000
"""A longer page is not written."""
LINE_CHARS = 120
KINDS = frozenset({"insight", "belief"})
"""The kinds of statements on an identity page."""
ITSELF = ASSISTANTS | {"agent", "identity", "self"}
"""Subjects under which an agent speaks about itself."""


def identity_of(store: Store, scope: Scope) -> Atom | None:
    """Return the identity page of a scope's agent, if there is one."""
    return single_of(store, scope, IDENTITY)


def identity(scene: Scene) -> Plan:
    """Plan the identity page from the statements in the scope."""
    query = Filter(scopes=(scene.scope,), statuses=LIVE, kinds=KINDS, notes=False, valid_at=scene.now)
    reflections = [atom for atom in scene.store.read(query) if is_stated(atom) and _is_reflection(atom, scene.scope)]
    before = identity_of(scene.store, scene.scope)
    if not reflections and before is None:
        return Plan()
    full, older = divided(reflections)
    chat = scene.writer
    summary = _short(chat, older, before)
    lines = identity_lines(full, older, summary)
    length = sum(len(line) + 1 for line in lines)
    if length > MOST_CHARS:
        advice = "archive or summarise some of the oldest reflections"
        return Plan(notes=(f"identity.md would have {length:,} characters, more than {MOST_CHARS:,}: {advice}",))
    metadata = {SUMMARY_OF: digest_of(older)} if older and chat is not None else {}
    return kept_up(scene, IDENTITY, "\n".join(lines), f"{len(reflections)} reflections", metadata)


def divided(told: Sequence[Atom]) -> tuple[list[Row], list[Row]]:
    """Split reflections into those shown in full and older ones with a line each, so that the page is short enough.

    The newest one is always shown in full.
    """
    full = [Row(atom, f"{happened_at(atom):%Y-%m-%d} {one_line(atom.content)}") for atom in told]
    older = [Row(atom, f"{happened_at(atom):%Y-%m-%d} {_first_line(atom.content)}") for atom in told]
    full_count, size = len(full), sum(map(_bytes, full))
    while size > WHOLE_BYTES and full_count > 1:
        full_count -= 1
        size += _bytes(older[full_count]) - _bytes(full[full_count])
    return full[:full_count], older[full_count:]


def identity_lines(whole: Sequence[Row], older: Sequence[Row], short: Sequence[str]) -> list[str]:
    """Render the page; a reflection that the summary cites needs no line of its own."""
    cited = "\n".join(short)
    remaining = [line for line in older if link(line.source) not in cited]
    lines = ["# Identity", "", *([SHORT, *short, ""] if short else []), "## Reflections", *map(str, whole)]
    return [*lines, "", "## Earlier, in a line each", *map(str, remaining)] if remaining else lines


def _short(writer: Chat | None, older: Sequence[Row], before: Atom | None) -> list[str]:
    """Return a model's summary of the older reflections; the model is called once for the same lines."""
    if before is not None and before.metadata.get(SUMMARY_OF) == digest_of(older):
        return summary_in(before.content)
    return condensed(writer, "the agent", older[:MOST_LINES]) if older and writer is not None else []


def _is_reflection(atom: Atom, scope: Scope) -> bool:
    subject = normal_form(atom.subject)
    return subject in ITSELF or (subject != "" and subject == normal_form(agent(scope) or ""))


def _first_line(content: str) -> str:
    """Return the first sentence, shortened if it is long."""
    text = one_line(content)
    first = next((text[start:end] for start, end in sentences(text)), text)
    return first if len(first) <= LINE_CHARS else f"{first[: LINE_CHARS - 1].rstrip()}…"


def _bytes(told: Row) -> int:
    return len(str(told).encode()) + 1
