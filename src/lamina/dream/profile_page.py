"""The profile page of a scope: preferences, habits, interests and rules of its people, with a maximum length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from lamina.atom.atom import PROFILE_PAGE, Atom
from lamina.atom.kinds import Layer
from lamina.atom.passage import is_role
from lamina.atom.provenance import Origin
from lamina.dream.entity_page_text import origin_note
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.scope_pages import find_root_page, plan_root_page
from lamina.dream.step import LIVE, StepContext, StepPlan
from lamina.text.normal_form import ComparisonForm, comparison_form, normal_form, one_line
from lamina.vault import layout

MAX_LINES = 300
MIN_CONTAINED_SHARE = 0.6
"""A line contained in another and longer than this share of it is a duplicate."""
_MAX_STATEMENTS = 4 * MAX_LINES
_GROUPS = (
    ("Rules and constraints", frozenset({"rule", "constraint"})),
    ("Preferences", frozenset({"preference"})),
    ("Habits", frozenset({"habit"})),
    ("Interests", frozenset({"interest"})),
)
PROFILE_KINDS = frozenset(kind for _, kinds in _GROUPS for kind in kinds)
"""The kinds of statements on a profile page."""
_RULE_KINDS = frozenset({"rule", "constraint"})
_HEADING_LINES = 3 + 2 * len(_GROUPS)


@dataclass(slots=True)
class _Bullet:
    """One line: the longest statement and those that it contains."""

    atom: Atom
    form: ComparisonForm
    duplicates: list[Atom] = field(default_factory=list)

    def __str__(self) -> str:
        links = " ".join(map(layout.wiki_link, (self.atom, *self.duplicates)))
        return f"- {links}{origin_note(self.atom)} {_bullet_text(self.atom)}"


def plan_profile(context: StepContext) -> StepPlan:
    """Plan the profile page from the statements in the scope."""
    statements = _load_statements(context)
    if not statements and find_root_page(context.store, context.scope, PROFILE_PAGE) is None:
        return StepPlan()
    return plan_root_page(context, PROFILE_PAGE, "\n".join(render_profile(statements)), f"{len(statements)} statements")


def render_profile(statements: Sequence[Atom]) -> list[str]:
    """Render the profile: grouped, without duplicates, and with at most `MAX_LINES` lines."""
    bullets = _fold_duplicates(sorted(statements, key=lambda atom: not atom.pinned)[:_MAX_STATEMENTS])
    visible = bullets[: MAX_LINES - _HEADING_LINES]
    lines = ["# Profile"]
    for title, kinds in _GROUPS:
        section = [bullet for bullet in visible if bullet.atom.kind in kinds]
        lines += ["", f"## {title}", *map(str, section)] if section else []
    return [*lines, "", "and older ones"] if len(visible) < len(bullets) or len(statements) > _MAX_STATEMENTS else lines


def _load_statements(context: StepContext) -> list[Atom]:
    """Return the statements for the page: the newest, and pinned or core ones of any age."""
    read = partial(context.read, statuses=LIVE, kinds=PROFILE_KINDS, include_run_notes=False, valid_at=context.now)
    newest, core = read(limit=_MAX_STATEMENTS + 1), read(core_only=True, limit=_MAX_STATEMENTS)
    by_id = {atom.id: atom for atom in (*newest, *core)}
    return [atom for atom in by_id.values() if is_plain_statement(atom) and _is_profile_statement(atom)]


def _is_profile_statement(atom: Atom) -> bool:
    """Return whether a statement belongs on the page: rules only from a person, the rest only if stated."""
    return atom.origin is Origin.HUMAN if atom.kind in _RULE_KINDS else atom.layer is Layer.PROFILE


def _fold_duplicates(atoms: Sequence[Atom]) -> list[_Bullet]:
    """Return a bullet for each statement with content of its own, in the order of the statements."""
    order = {atom.id: n for n, atom in enumerate(atoms)}
    bullets: list[_Bullet] = []
    by_word: dict[str, list[_Bullet]] = {}
    candidates = [_Bullet(atom, comparison_form(atom.content)) for atom in atoms]
    for bullet in sorted(candidates, key=lambda bullet: (-len(bullet.form.normal_form), order[bullet.atom.id])):
        words = bullet.form.tokens
        similar = min((by_word.get(word, []) for word in words), key=len, default=[])
        holder = next((other for other in similar if _contains(other, bullet)), None)
        if holder is not None:
            holder.duplicates.append(bullet.atom)
            continue
        bullets.append(bullet)
        for word in words:
            by_word.setdefault(word, []).append(bullet)
    return sorted(bullets, key=lambda bullet: order[bullet.atom.id])


def _contains(longer: _Bullet, shorter: _Bullet) -> bool:
    """Return whether one line nearly equals a part of the other: same subject, numbers, negations and hedges."""
    long_form, short_form = longer.form, shorter.form
    if longer.atom.kind != shorter.atom.kind or not _have_same_subject(longer.atom, shorter.atom):
        return False
    is_contained = f" {short_form.normal_form} " in f" {long_form.normal_form} " and len(
        short_form.normal_form
    ) > MIN_CONTAINED_SHARE * len(long_form.normal_form)
    return is_contained and long_form.signs == short_form.signs


def _have_same_subject(first: Atom, second: Atom) -> bool:
    return normal_form(first.subject) == normal_form(second.subject)


def _bullet_text(atom: Atom) -> str:
    """Return the text, preceded by its subject if the text does not name it."""
    text, subject = one_line(atom.content), one_line(atom.subject)
    silent = subject and not is_role(subject) and normal_form(subject) not in normal_form(text)
    return f"{subject}: {text}" if silent else text
