"""What led to what, where somebody says so: a statement that follows from the one before it is linked to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from lamina.atom.atom import Atom
from lamina.atom.relation import Relation, RelationName

SAID_SO = 0.7
"""How sure a link is that rests on one word."""

_FOLLOWS = re.compile(
    r"(?:and )?(?:so|therefore|hence|thus|consequently|as a result|that(?:['’]s| is| was) why|which is why|"
    r"because of (?:that|this)|for that reason|that led to|this led to)\b(?! (?:far|much|many|long)\b)",
    re.IGNORECASE,
)


def with_causes(atoms: Sequence[Atom], told: Mapping[tuple[str, int], str], now: datetime) -> list[Atom]:
    """The statements of some turns, those with a stated cause linked to the statement of it in the same turn."""
    linked = list(atoms)
    for n, (before, after) in enumerate(pairwise(atoms)):
        one, other = before.evidence[0], after.evidence[0]
        if (one.segment, one.passage) != (other.segment, other.passage) or one.start == other.start:
            continue
        if _FOLLOWS.match(told[other.segment, other.passage], other.start):
            link = Relation(RelationName.CAUSED_BY, before.id, SAID_SO, now)
            linked[n + 1] = after.with_(relations=(*after.relations, link))
    return linked
