"""The graph port in SQLite: relations, evidence, successors, and what atoms share."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from lamina.atom.atom import AtomId, RelationName
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, Status
from lamina.store.graph import Edge, EvidenceLinks, EvidenceSpan
from lamina.store.sqlite.current_index import CurrentIndex

_SCOPES = "own(id) AS MATERIALIZED (SELECT id FROM scopes WHERE scope IN (SELECT value FROM json_each(?1)))"
_FROM_NODE = (
    "FROM nodes{hop} n CROSS JOIN edges e ON e.{end}=n.id CROSS JOIN atoms a ON a.atom_id=e.source "
    "LEFT JOIN atoms t ON t.atom_id=e.target WHERE 1"
)
_ENDED = ",".join(f"'{status.value}'" for status in sorted(ENDED))
_SUCCESSORS = f"""
WITH RECURSIVE {_SCOPES}, walk(start, id) AS (
  SELECT value, value FROM json_each(?2) UNION
  SELECT w.start, e.source FROM walk w JOIN atoms a ON a.atom_id=w.id JOIN edges e ON e.target=w.id
  WHERE e.name='supersedes' AND e.scope IN own AND a.status IN ({_ENDED}))
SELECT w.start, w.id FROM walk w JOIN atoms a ON a.atom_id=w.id
WHERE a.status NOT IN ({_ENDED}) AND a.scope IN own ORDER BY 1, 2
"""
_EVIDENCE = f"""
WITH {_SCOPES}, resting AS MATERIALIZED (
  SELECT r.segment, r.n, r.start, r.end, r.atom_id FROM json_each(?2) k CROSS JOIN rests r
  ON r.segment=k.value->>0 AND r.n=k.value->>1 WHERE r.scope IN own)
SELECT atom_id, segment, n, start, end, NULL FROM resting UNION ALL
SELECT e.source, e.target, NULL, NULL, NULL, e.confidence FROM edges e
CROSS JOIN atoms a ON a.atom_id=e.source CROSS JOIN atoms t ON t.atom_id=e.target
WHERE e.name='{RelationName.CONTRADICTS.value}' AND e.scope IN own AND t.scope IN own
AND a.status='{Status.ACTIVE.value}'
AND e.target IN (SELECT value FROM json_each(?3) UNION SELECT atom_id FROM resting) ORDER BY 2, 3, 4, 5, 1
"""


class SqliteGraph:
    """Reads links from index.db."""

    def __init__(self, index: CurrentIndex) -> None:
        self._index = index

    def edges(
        self,
        ids: Iterable[str] | None,
        scopes: Sequence[Scope],
        statuses: Collection[Status] | None = None,
        name: RelationName | None = None,
    ) -> list[Edge]:
        touches = "(e.source IN (SELECT value FROM json_each(?2)) OR e.target IN (SELECT value FROM json_each(?2)))"
        # The name is part of the SQL text, because SQLite uses a partial index only then.
        sql = (
            f"WITH {_SCOPES} SELECT e.source, e.name, e.target, e.confidence FROM edges e "
            "JOIN atoms a ON a.atom_id=e.source LEFT JOIN atoms t ON t.atom_id=e.target "
            f"WHERE {_is_visible(statuses)}"
            f"{'' if ids is None else f' AND {touches}'}{'' if name is None else f' AND e.name={name.value!r}'}"
        )
        return self._read_edges(sql, ids or (), scopes)

    def neighbourhood(
        self,
        ids: Iterable[str],
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        hops: int,
        max_links: int,
        without: Collection[str],
    ) -> list[Edge]:
        parts, left_out = [_SCOPES], ",".join(f"'{name}'" for name in sorted(without))
        for hop in range(hops):
            link = f"AND e.name NOT IN ({left_out}) AND {_is_visible(statuses)}"
            parts += [
                f"nodes{hop}(id) AS MATERIALIZED ({_nodes_of(hop)})",
                # A link is here once for each end that the hop starts from, so that the links of a node can be counted.
                f"ends{hop} AS (SELECT n.id, e.* {_FROM_NODE.format(hop=hop, end='source')} {link} "
                f"UNION ALL SELECT n.id, e.* {_FROM_NODE.format(hop=hop, end='target')} {link})",
                f"followed{hop} AS MATERIALIZED (SELECT source, name, target, confidence "
                f"FROM (SELECT *, count(*) OVER (PARTITION BY id) AS links FROM ends{hop}) "
                f"GROUP BY 1, 2, 3 HAVING max(links)<={max_links})",
            ]
        followed = " UNION ".join(f"SELECT * FROM followed{hop}" for hop in range(hops))
        return self._read_edges(f"WITH {', '.join(parts)} {followed}", ids, scopes)

    def find_successors(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        successors: dict[AtomId, list[AtomId]] = {}
        for start, successor in self._index.run(lambda index: index.db.rows(_SUCCESSORS, _to_json(scopes, ids))):
            successors.setdefault(AtomId(start), []).append(AtomId(successor))
        return successors

    def find_evidence(
        self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope], statements: Collection[AtomId] = ()
    ) -> EvidenceLinks:
        if not keys and not statements:
            return EvidenceLinks([], [])
        values = _to_json(scopes, set(keys), statements)
        rows = self._index.run(lambda index: index.db.rows(_EVIDENCE, values))
        spans = [row for row in rows if row[2] is not None]
        return EvidenceLinks(
            [
                EvidenceSpan(AtomId(atom_id), AtomId(segment), n, start, end)
                for atom_id, segment, n, start, end, _ in spans
            ],
            [
                Edge(AtomId(source), RelationName.CONTRADICTS.value, target, confidence)
                for source, target, n, _, _, confidence in rows
                if n is None
            ],
        )

    def _read_edges(self, sql: str, ids: Iterable[str], scopes: Sequence[Scope]) -> list[Edge]:
        values = _to_json(scopes, set(ids))
        rows = self._index.run(lambda index: index.db.rows(f"{sql} ORDER BY 1, 2, 3", values[: 1 + sql.count("?2")]))
        return [Edge(AtomId(source), name, target, confidence) for source, name, target, confidence in rows]


def _nodes_of(hop: int) -> str:
    """Return the SQL of the nodes that a hop starts from: those that the hop before has reached for the first time."""
    if hop == 0:
        return "SELECT value FROM json_each(?2)"
    visited = " ".join(f"EXCEPT SELECT id FROM nodes{earlier}" for earlier in range(hop))
    return f"SELECT source FROM followed{hop - 1} UNION SELECT target FROM followed{hop - 1} {visited}"


def _is_visible(statuses: Collection[Status] | None) -> str:
    """Return the SQL condition of links within the scopes, from atoms with these statuses."""
    return f"e.scope IN own AND (t.id IS NULL OR t.scope IN own) AND {_has_status(statuses)}"


def _has_status(statuses: Collection[Status] | None) -> str:
    values = ",".join(f"'{status.value}'" for status in sorted(statuses or ()))
    return "1" if statuses is None else f"a.status IN ({values})"


def _to_json(*collections: Iterable[object]) -> tuple[str, ...]:
    return tuple(json.dumps(list(values)) for values in collections)
