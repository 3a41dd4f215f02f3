"""What commonly hangs on what: who moves house has another commute. A small table; settings add to it.

A rule speaks of one person or one project. Where something of the kind it names has changed, statements of the same
owner about what hangs on it, and older than the change, are doubted. It tells nothing about anybody else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.standing import begins
from lamina.capture.rules.rewrite import USER
from lamina.text.closed import PREPOSITIONS, word_set
from lamina.text.normal import normal_form


@dataclass(frozen=True, slots=True)
class Rule:
    """Where one of the things in `when` has changed, those in `doubts` may no longer hold; `name` tells what it was."""

    name: str
    when: frozenset[str]
    doubts: frozenset[str]


def rule(name: str, when: Sequence[str], doubts: Sequence[str]) -> Rule:
    """A rule as it is compared."""
    return Rule(name, frozenset(map(normal_form, when)), frozenset(map(normal_form, doubts)))


def _rule(name: str, when: str, doubts: str) -> Rule:
    return rule(name, when.split(","), doubts.split(","))


LIFE: tuple[Rule, ...] = (
    _rule(
        "moved house",
        "home, city, home town, address, home address, flat, apartment, house, place of residence, country",
        "commute, gym, dentist, doctor, gp, family doctor, pharmacy, vet, hairdresser, nursery, daycare, school, "
        "kindergarten, library, library card, parking permit, parking space, parking spot, landlord, landlady, "
        "neighbour, neighbor, local club, local pub, broadband provider, internet provider, electricity provider, "
        "council tax, bin day, travel card, bus pass, nearest station, supermarket, way to work, rent, flatmate, "
        "housemate, roommate, postcode",
    ),
    _rule(
        "changed employer",
        "employer, job, company, workplace",
        "work address, office, office address, work email, work phone, work number, manager, boss, line manager, "
        "team, team lead, supervisor, badge, badge number, desk, desk number, commute, way to work, payroll "
        "number, staff number, employee number, employee id, extension, work laptop, office hours, working hours, "
        "salary, company car, dress code, parking space",
    ),
    _rule(
        "changed school",
        "school, university, college",
        "teacher, class teacher, tutor, timetable, dormitory, student id",
    ),
    _rule(
        "has another car",
        "car, vehicle",
        "car insurance, licence plate, license plate, number plate, car key, garage, mechanic, tyre size",
    ),
    _rule(
        "has another phone",
        "phone model, handset, mobile",
        "phone case, charger, sim card",
    ),
    _rule(
        "changed bank",
        "bank",
        "bank account, account number, iban, sort code, bank card, branch, standing order",
    ),
    _rule(
        "changed language",
        "programming language, main language",
        "build command, test command, build tool, test runner, linter, package manager, framework, orm",
    ),
    _rule(
        "changed framework",
        "framework, web framework",
        "build command, test command, dev server, template engine, router",
    ),
    _rule(
        "changed database",
        "database, db",
        "orm, migration tool, connection string, backup command, database port, driver, database host",
    ),
    _rule(
        "changed cloud",
        "cloud, cloud provider, hosting, hosting provider",
        "deploy command, deploy target, deployment target, region, bucket, registry, staging url",
    ),
    _rule(
        "changed build tool",
        "build tool, build system, package manager",
        "build command, install command, lock file, test command",
    ),
    _rule(
        "changed tech lead",
        "tech lead, team lead",
        "code reviewer, code review rule, approver",
    ),
)  # fmt: skip
"""What commonly hangs on what."""


def doubted(was: Atom, heir: Atom, others: Sequence[Atom], rules: Sequence[Rule] = LIFE) -> list[tuple[Atom, str]]:
    """Those of the other statements that a change makes doubtful, and why."""
    owner, key = _owner(was), _key(was)
    applied = [each for each in rules if key in each.when]
    if not owner or not applied:
        return []
    found: list[tuple[Atom, str]] = []
    for other in others:
        if other.id in (was.id, heir.id) or begins(other) >= begins(heir) or _owner(other) != owner:
            continue
        hit = next((each for each in applied if _hangs_on(other, each)), None)
        if hit is not None:
            found.append((other, f"{hit.name}: may no longer hold"))
    return found


def words_doubted(was: Atom, rules: Sequence[Rule] = LIFE) -> list[str]:
    """Words by which to look for what may hang on a statement; none where no rule speaks of it."""
    key = _key(was)
    return sorted({word for each in rules if key in each.when for phrase in each.doubts for word in phrase.split()})


def _hangs_on(atom: Atom, rule: Rule) -> bool:
    key = _key(atom)
    if any(key == phrase or key.endswith(f" {phrase}") for phrase in rule.doubts):
        return True
    going = _GOES.match(normal_form(atom.content)) if not atom.attribute else None
    return going is not None and any(re.search(rf"\b{re.escape(each)}\b", going["where"]) for each in rule.doubts)


_GOES = re.compile(
    r"\S+(?: s)? (?:goes to|trains at|works out at|swims at|attends|visits|sees|parks (?:at|in|on)|commutes?|shops "
    r"at|is a member of|belongs to) "
    r"(?P<where>(?:\S+ ?){1,6})"
)
_NEUTRAL = PREPOSITIONS | word_set("number status name date time is go goes work works current new main")


def _key(atom: Atom) -> str:
    """What a statement fills, as rules name it: "work email", "parking permit"."""
    owner = _owner(atom)
    thing = normal_form(atom.subject)
    words = [] if thing == owner else thing.removeprefix(f"{owner} s ").split()
    told = normal_form(atom.attribute or "").split()
    while told and told[-1] in _NEUTRAL and (words or len(told) > 1):
        told.pop()
    return " ".join([*words, *told])


def _owner(atom: Atom) -> str:
    """Whose statement it is: whoever it begins with."""
    owned = _OWNED.match(atom.content) or _OWNED_LATER.search(atom.content)
    if owned:
        more = _OWNS_TOO.match(atom.content, owned.end())
        return normal_form(owned["owner"] + (more.group() if more else "")).removeprefix("the ")
    subject, content = normal_form(atom.subject), normal_form(atom.content).removeprefix("the ")
    return subject if subject and content.startswith(f"{subject} ") else ""


_OWNED = re.compile(rf"(?P<owner>{re.escape(USER)}|[A-Z][\w-]*(?: [A-Z][\w-]*)?)['’]s\b")
_OWNS_TOO = re.compile(r" [\w-]+['’]s\b")
_OWNED_LATER = re.compile(rf"\b(?:is|are) (?P<owner>{re.escape(USER)}|the user|[A-Z][\w-]*)['’]s\b")
