"""The identity page of an agent: its reflections about itself, kept short enough to read."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import IDENTITY_PAGE, Atom
from lamina.atom.passage import ASSISTANT_NAMES
from lamina.atom.provenance import Scope, agent_name
from lamina.dream.entity_page_text import (
    SUMMARY_HEADING,
    SUMMARY_OF,
    PageLine,
    digest_lines,
    extract_summary,
    happened_at,
)
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.page_summary import MAX_LINES, condense_lines
from lamina.dream.scope_pages import find_root_page, plan_root_page
from lamina.dream.step import LIVE, StepContext, StepPlan
from lamina.models.chat import Chat
from lamina.text.normal_form import normal_form, one_line, shorten_line
from lamina.text.sentences import find_sentences
from lamina.vault import layout

MAX_FULL_BYTES = 8 * 1024
"""Up to this size reflections are shown in full; beyond it the oldest become one line each."""
MAX_CHARS = 15_000
"""A longer page is not written."""
LINE_CHARS = 120
IDENTITY_KINDS = frozenset({"insight", "belief"})
"""The kinds of statements on an identity page."""
SELF_SUBJECTS = ASSISTANT_NAMES | {"agent", "identity", "self"}
"""Subjects under which an agent speaks about itself."""


def plan_identity(context: StepContext) -> StepPlan:
    """Plan the identity page from the statements in the scope."""
    stated = context.read(statuses=LIVE, kinds=IDENTITY_KINDS, include_run_notes=False, valid_at=context.now)
    reflections = [atom for atom in stated if is_plain_statement(atom) and _is_reflection(atom, context.scope)]
    before = find_root_page(context.store, context.scope, IDENTITY_PAGE)
    if not reflections and before is None:
        return StepPlan()
    full, older = split_reflections(reflections)
    chat = context.available_chat
    summary = _summarise_older(chat, older, before)
    lines = render_identity(full, older, summary)
    length = sum(len(line) + 1 for line in lines)
    if length > MAX_CHARS:
        advice = "archive or summarise some of the oldest reflections"
        return StepPlan(notes=(f"identity.md would have {length:,} characters, more than {MAX_CHARS:,}: {advice}",))
    metadata = {SUMMARY_OF: digest_lines(older)} if older and chat is not None else {}
    return plan_root_page(context, IDENTITY_PAGE, "\n".join(lines), f"{len(reflections)} reflections", metadata)


def split_reflections(reflections: Sequence[Atom]) -> tuple[list[PageLine], list[PageLine]]:
    """Split reflections into those shown in full and older ones with a line each, so that the page is short enough.

    The newest one is always shown in full.
    """
    full = [PageLine(atom, f"{happened_at(atom):%Y-%m-%d} {one_line(atom.content)}") for atom in reflections]
    older = [PageLine(atom, f"{happened_at(atom):%Y-%m-%d} {_first_sentence(atom.content)}") for atom in reflections]
    full_count, size = len(full), sum(map(_byte_length, full))
    while size > MAX_FULL_BYTES and full_count > 1:
        full_count -= 1
        size += _byte_length(older[full_count]) - _byte_length(full[full_count])
    return full[:full_count], older[full_count:]


def render_identity(full: Sequence[PageLine], older: Sequence[PageLine], summary: Sequence[str]) -> list[str]:
    """Render the page; a reflection that the summary cites needs no line of its own."""
    cited = "\n".join(summary)
    remaining = [line for line in older if layout.wiki_link(line.source) not in cited]
    lines = ["# Identity", "", *([SUMMARY_HEADING, *summary, ""] if summary else []), "## Reflections", *map(str, full)]
    return [*lines, "", "## Earlier, in a line each", *map(str, remaining)] if remaining else lines


def _summarise_older(chat: Chat | None, older: Sequence[PageLine], before: Atom | None) -> list[str]:
    """Return a model's summary of the older reflections; the model is called once for the same lines."""
    if before is not None and before.metadata.get(SUMMARY_OF) == digest_lines(older):
        return extract_summary(before.content)
    return condense_lines(chat, "the agent", older[:MAX_LINES]) if older and chat is not None else []


def _is_reflection(atom: Atom, scope: Scope) -> bool:
    subject = normal_form(atom.subject)
    return subject in SELF_SUBJECTS or (subject != "" and subject == normal_form(agent_name(scope) or ""))


def _first_sentence(content: str) -> str:
    """Return the first sentence, shortened if it is long."""
    text = one_line(content)
    first = next((text[start:end] for start, end in find_sentences(text)), text)
    return shorten_line(first, LINE_CHARS)


def _byte_length(line: PageLine) -> int:
    return len(str(line).encode()) + 1
