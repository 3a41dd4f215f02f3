"""The profile of a scope: what people there prefer, do, care for and ask to be kept to, in one page that has an end."""

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
"""A line that stands in another and is more than so much of its length says nothing else."""
_LOOKED_AT = 4 * MOST_LINES
_GROUPS = (
    ("Rules and constraints", frozenset({"rule", "constraint"})),
    ("Preferences", frozenset({"preference"})),
    ("Habits", frozenset({"habit"})),
    ("Interests", frozenset({"interest"})),
)
KINDS = frozenset(kind for _, kinds in _GROUPS for kind in kinds)
"""What a profile is made of."""
_RULES = frozenset({"rule", "constraint"})
_HEADINGS = 3 + 2 * len(_GROUPS)


@dataclass(slots=True)
class _Bullet:
    """One line: the statement that says most, and those it says as well."""

    atom: Atom
    form: Form
    folded: list[Atom] = field(default_factory=list)

    def __str__(self) -> str:
        links = " ".join(map(link, (self.atom, *self.folded)))
        return f"- {links}{said_by(self.atom)} {_said(self.atom)}"


def profile_of(store: Store, scope: Scope) -> Atom | None:
    """The profile of a scope, if there is one."""
    return single_of(store, scope, PROFILE)


def profile(scene: Scene) -> Plan:
    """The profile as it shall be, from what is stated in the scope."""
    told = _told(scene)
    if not told and profile_of(scene.store, scene.scope) is None:
        return Plan()
    return kept_up(scene, PROFILE, "\n".join(profile_lines(told)), f"{len(told)} statements")


def profile_lines(told: Sequence[Atom]) -> list[str]:
    """The lines of a profile: grouped, those that say the same folded, and never more than there is room for."""
    bullets = _folded(sorted(told, key=lambda each: not each.pinned)[:_LOOKED_AT])
    shown = bullets[: MOST_LINES - _HEADINGS]
    lines = ["# Profile"]
    for title, kinds in _GROUPS:
        own = [each for each in shown if each.atom.kind in kinds]
        lines += ["", f"## {title}", *map(str, own)] if own else []
    return [*lines, "", "and older ones"] if len(shown) < len(bullets) or len(told) > _LOOKED_AT else lines


def _told(scene: Scene) -> list[Atom]:
    """What may be on the page: the youngest, and what is pinned or never ages, however old."""
    wanted = Filter(scopes=(scene.scope,), statuses=LIVE, kinds=KINDS, notes=False, valid_at=scene.now)
    newest = scene.store.read(replace(wanted, limit=_LOOKED_AT + 1))
    lasting = scene.store.read(replace(wanted, core=True, limit=_LOOKED_AT))
    found = {each.id: each for each in (*newest, *lasting)}
    return [each for each in found.values() if is_stated(each) and _belongs(each)]


def _belongs(atom: Atom) -> bool:
    """Rules are obeyed, so only a person's own are on the page; of the rest, what was stated and not guessed."""
    return atom.origin is Origin.HUMAN if atom.kind in _RULES else atom.layer is Layer.PROFILE


def _folded(atoms: Sequence[Atom]) -> list[_Bullet]:
    """A bullet for each statement that says something of its own, in the order of the statements."""
    place = {each.id: n for n, each in enumerate(atoms)}
    bullets: list[_Bullet] = []
    by_word: dict[str, list[_Bullet]] = {}
    every = [_Bullet(atom, form_of(atom.content)) for atom in atoms]
    for bullet in sorted(every, key=lambda each: (-len(each.form.form), place[each.atom.id])):
        words = bullet.form.tokens
        near = min((by_word.get(word, []) for word in words), key=len, default=[])
        holder = next((each for each in near if _says(each, bullet)), None)
        if holder is not None:
            holder.folded.append(bullet.atom)
            continue
        bullets.append(bullet)
        for word in words:
            by_word.setdefault(word, []).append(bullet)
    return sorted(bullets, key=lambda each: place[each.atom.id])


def _says(longer: _Bullet, shorter: _Bullet) -> bool:
    """Whether one line holds the other nearly whole, of the same subject, with the same numbers, denials and hedges."""
    one, other = longer.form, shorter.form
    if longer.atom.kind != shorter.atom.kind or not _is_of_one(longer.atom, shorter.atom):
        return False
    within = f" {other.form} " in f" {one.form} " and len(other.form) > CONTAINED * len(one.form)
    return within and one.signs == other.signs


def _is_of_one(one: Atom, other: Atom) -> bool:
    return normal_form(one.subject) == normal_form(other.subject)


def _said(atom: Atom) -> str:
    """The words, with who they are about where they do not say it."""
    text, subject = one_line(atom.content), one_line(atom.subject)
    silent = subject and not is_role(subject) and normal_form(subject) not in normal_form(text)
    return f"{subject}: {text}" if silent else text
