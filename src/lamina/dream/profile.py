"""The profile page of a scope: preferences, habits, interests and rules of its people, with a maximum length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.atom.page import PROFILE
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.dream.entity_card import link, said_by
from lamina.dream.entity_pages import is_stated
from lamina.dream.plan import Plan
from lamina.dream.scene import LIVE, Scene
from lamina.dream.single import kept_up, single_of
from lamina.store.base import Filter, Store
from lamina.text.alike import Form, form_of
from lamina.text.normal import normal_form, one_line
from lamina.text.roles import is_role

MOST_LINES = 300
CONTAINED = 0.6
"""A line contained in another and longer than this share of it is a duplicate."""
_LOOKED_AT = 4 * MOST_LINES
_GROUPS = (
    ("Rules and constraints", frozenset({"rule", "constraint"})),
    ("Preferences", frozenset({"preference"})),
    ("Habits", frozenset({"habit"})),
    ("Interests", frozenset({"interest"})),
)
KINDS = frozenset(kind for _, kinds in _GROUPS for kind in kinds)
"""The kinds of statements on a profile page."""
_RULES = frozenset({"rule", "constraint"})
_HEADINGS = 3 + 2 * len(_GROUPS)


@dataclass(slots=True)
class _Bullet:
    """One line: the longest statement and those that it contains."""

    atom: Atom
    form: Form
    folded: list[Atom] = field(default_factory=list)

    def __str__(self) -> str:
        links = " ".join(map(link, (self.atom, *self.folded)))
        return f"- {links}{said_by(self.atom)} {_said(self.atom)}"


def profile_of(store: Store, scope: Scope) -> Atom | None:
    """Return the profile page of a scope, if there is one."""
    return single_of(store, scope, PROFILE)


def profile(scene: Scene) -> Plan:
    """Plan the profile page from the statements in the scope."""
    statements = _told(scene)
    if not statements and profile_of(scene.store, scene.scope) is None:
        return Plan()
    return kept_up(scene, PROFILE, "\n".join(profile_lines(statements)), f"{len(statements)} statements")


def profile_lines(told: Sequence[Atom]) -> list[str]:
    """Render the profile: grouped, without duplicates, and with at most `MAX_LINES` lines."""
    bullets = _folded(sorted(told, key=lambda atom: not atom.pinned)[:_LOOKED_AT])
    visible = bullets[: MOST_LINES - _HEADINGS]
    lines = ["# Profile"]
    for title, kinds in _GROUPS:
        section = [bullet for bullet in visible if bullet.atom.kind in kinds]
        lines += ["", f"## {title}", *map(str, section)] if section else []
    return [*lines, "", "and older ones"] if len(visible) < len(bullets) or len(told) > _LOOKED_AT else lines


def _told(scene: Scene) -> list[Atom]:
    """Return the statements for the page: the newest, and pinned or core ones of any age."""
    query = Filter(scopes=(scene.scope,), statuses=LIVE, kinds=KINDS, notes=False, valid_at=scene.now)
    newest = scene.store.read(replace(query, limit=_LOOKED_AT + 1))
    core = scene.store.read(replace(query, core=True, limit=_LOOKED_AT))
    by_id = {atom.id: atom for atom in (*newest, *core)}
    return [atom for atom in by_id.values() if is_stated(atom) and _belongs(atom)]


def _belongs(atom: Atom) -> bool:
    """Return whether a statement belongs on the page: rules only from a person, the rest only if stated."""
    return atom.origin is Origin.HUMAN if atom.kind in _RULES else atom.layer is Layer.PROFILE


def _folded(atoms: Sequence[Atom]) -> list[_Bullet]:
    """Return a bullet for each statement with content of its own, in the order of the statements."""
    order = {atom.id: n for n, atom in enumerate(atoms)}
    bullets: list[_Bullet] = []
    by_word: dict[str, list[_Bullet]] = {}
    candidates = [_Bullet(atom, form_of(atom.content)) for atom in atoms]
    for bullet in sorted(candidates, key=lambda bullet: (-len(bullet.form.form), order[bullet.atom.id])):
        words = bullet.form.tokens
        similar = min((by_word.get(word, []) for word in words), key=len, default=[])
        holder = next((other for other in similar if _says(other, bullet)), None)
        if holder is not None:
            holder.folded.append(bullet.atom)
            continue
        bullets.append(bullet)
        for word in words:
            by_word.setdefault(word, []).append(bullet)
    return sorted(bullets, key=lambda bullet: order[bullet.atom.id])


def _says(longer: _Bullet, shorter: _Bullet) -> bool:
    """Return whether one line nearly equals a part of the other: same subject, numbers, negations and hedges."""
    long_form, short_form = longer.form, shorter.form
    if longer.atom.kind != shorter.atom.kind or not _is_of_one(longer.atom, shorter.atom):
        return False
    is_contained = f" {short_form.form} " in f" {long_form.form} " and len(short_form.form) > CONTAINED * len(
        long_form.form
    )
    return is_contained and long_form.signs == short_form.signs


def _is_of_one(one: Atom, other: Atom) -> bool:
    return normal_form(one.subject) == normal_form(other.subject)


def _said(atom: Atom) -> str:
    """Return the text, preceded by its subject if the text does not name it."""
    text, subject = one_line(atom.content), one_line(atom.subject)
    silent = subject and not is_role(subject) and normal_form(subject) not in normal_form(text)
    return f"{subject}: {text}" if silent else text
