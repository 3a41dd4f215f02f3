"""Context MaxSim: each word of a question is looked for in the passage, beside it and in its whole session.

The best match is taken for each word before anything is added up, so that a turn that says "yes, in Lisbon!" gets the
question's other words from the turn before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.atom.passage import digest_of, passage_of
from lamina.atom.scope import Scope
from lamina.models.embedder import Probe, TokenStates
from lamina.models.thaw import MOST
from lamina.recall.candidate import Candidate
from lamina.recall.lens import Lens
from lamina.recall.recipe import ANSWERS, WINDOW, Recipe
from lamina.store.base import Filter, Store
from lamina.store.encodings import Near, States, Unencoded, unencoded
from lamina.text.analyse import analyse
from lamina.text.roles import is_assistant
from lamina.vectors.late import met_by_nibbles, met_by_pieces, met_by_signs
from lamina.vectors.levels import Floats, to_asked
from lamina.vectors.packed import signs_of

NO_STATES = States(TokenStates.NONE.value, b"")
_WORD = re.compile(r"[\w'’]+")


def rerank(candidates: Sequence[Candidate], meant: str, lens: Lens, store: Store) -> None:
    """Add what a closer look says to the terms of the candidates."""
    if lens.light is not None and lens.light is not lens.main:
        _add_light(candidates, meant, lens, store)
    if lens.states is None or not candidates:
        return
    probe = lens.states.question(meant)
    placed = sorted(candidates, key=lambda each: (each.near.session, each.near.position))
    states = store.encodings.states(lens.states.model.id, [candidate.near.digest for candidate in placed])
    states |= lens.thawed.states(lens.states, _cold(candidates, states, store))
    met = meeting(
        probe, lens.states.model.states, [states.get(candidate.near.digest, NO_STATES) for candidate in placed]
    )
    weights = _weights(probe, meant, {candidate.near.scope for candidate in placed}, store, lens.recipe)
    _add(placed, met, weights, lens.recipe)


def _cold(candidates: Sequence[Candidate], states: Mapping[bytes, States], store: Store) -> list[Unencoded]:
    """The most promising texts kept without token states: without, they would meet no word of a question."""
    without = [candidate for candidate in candidates if candidate.near.digest not in states]
    without.sort(key=lambda each: (-each.near.score, each.key))
    found = dict[bytes, Unencoded]()
    for start in range(0, len(without), MOST):
        found |= {text.digest: text for text in _texts(without[start : start + MOST], store)}
        if len(found) >= MOST:
            break
    return list(found.values())


def _texts(candidates: Sequence[Candidate], store: Store) -> Iterator[Unencoded]:
    """What candidates say, so far as they still do."""
    scopes, ids = {candidate.near.scope for candidate in candidates}, {candidate.key[0] for candidate in candidates}
    atoms = {each.id: each for each in store.read(Filter(scopes=tuple(scopes), ids=tuple(ids)))}
    for candidate in candidates:
        atom = atoms.get(candidate.key[0])
        passage = passage_of(atom, candidate.key[1]) if atom is not None else None
        if atom is not None and passage is not None and digest_of(atom, passage) == candidate.near.digest:
            yield unencoded(atom, passage)


def _add_light(candidates: Sequence[Candidate], meant: str, lens: Lens, store: Store) -> None:
    assert lens.light is not None
    asked = to_asked(lens.light.question(meant).vector)
    near = store.encodings.cosines(lens.light.model.id, asked, [candidate.key for candidate in candidates])
    for each, cosine in zip(candidates, near, strict=True):
        each.terms["light"] = lens.recipe.light * cosine


def meeting(probe: Probe, packing: TokenStates, states: Sequence[States]) -> Floats:
    """For each token of a question (row) and each passage (column) how well it is met there."""
    if packing is TokenStates.PIECES:
        assert probe.rows is not None
        return met_by_pieces(probe.tokens, probe.rows, [state.data for state in states])
    if packing is TokenStates.NIBBLES and all(state.packing == packing.value for state in states if state.data):
        return met_by_nibbles(probe.tokens, [state.data for state in states])
    # While some are still to be made anew, all are read as signs: no passage is met better for being packed finer.
    return met_by_signs(probe.tokens, [_signs(state, probe.tokens.shape[1]) for state in states])


def _signs(states: States, width: int) -> bytes:
    return signs_of(states.data, width) if states.packing == TokenStates.NIBBLES.value else states.data


def _weights(
    probe: Probe, meant: str, scopes: set[Scope], store: Store, recipe: Recipe
) -> dict[Scope, NDArray[np.float64]]:
    """How much each token of the question counts in each scope: the rarer its word there, the more. They add to 1."""
    words = [analyse(word_at(meant, span)) for span in probe.spans]
    known = store.encodings.rarity(sorted(scopes), sorted({token for tokens in words for token in tokens}))
    found = {}
    for scope, (passages, holding) in known.items():
        rarity = np.array([_rarity(tokens, passages, holding) for tokens in words], dtype=np.float64)
        weight = np.sqrt(rarity) if recipe.root_rarity else rarity
        found[scope] = weight / max(weight.sum(), 1e-9)
    return found


def _rarity(tokens: Sequence[str], passages: int, holding: Mapping[str, int]) -> float:
    return max((idf(passages, holding.get(token, 0)) for token in tokens), default=0.0)


def idf(passages: int, holding: int) -> float:
    """How rare a word is that so many of the passages hold."""
    return float(np.log(1 + (passages - holding + 0.5) / (holding + 0.5)))


def word_at(text: str, span: tuple[int, int]) -> str:
    """The whole word a piece of one belongs to."""
    start, end = span
    for match in _WORD.finditer(text):
        if match.start() < end and start < match.end():
            return match.group()
    return text[start:end]


def _add(
    placed: Sequence[Candidate], met: Floats, weights: Mapping[Scope, NDArray[np.float64]], recipe: Recipe
) -> None:
    """Add the three sums. The candidates come session by session, in the order of each."""
    names = np.unique([candidate.near.session for candidate in placed], return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(names, prepend=-1))
    session = np.maximum.reduceat(met, starts, axis=1)[:, names]
    window = _windows(met, names, np.array([candidate.near.position for candidate in placed]))
    for scope, weight in weights.items():
        here = [n for n, each in enumerate(placed) if each.near.scope == scope]
        sums = [(weight[:, None] * each[:, here]).sum(axis=0).tolist() for each in (met, window, session)]
        own = dict(zip(here, sums[0], strict=True))
        for n, beside, whole in zip(here, *sums[1:], strict=True):
            terms = placed[n].terms
            terms["passage"], terms["window"] = recipe.passage * own[n], recipe.window * beside
            terms["session"] = recipe.session * whole
            if n and _answers(placed[n - 1].near, placed[n].near):
                terms["answer"] = ANSWERS * own[n - 1]


def _answers(before: Near, near: Near) -> bool:
    """Whether a passage follows a question that one person put to another; a machine asks for form's sake."""
    return (
        before.asks
        and before.session == near.session
        and before.position + 1 == near.position
        and before.speaker != near.speaker
        and not is_assistant(before.speaker)
        and not is_assistant(near.speaker)
    )


def _windows(met: Floats, names: NDArray[np.int64], positions: NDArray[np.int64]) -> Floats:
    """The best match of each token in a passage and those around it, so far as they are candidates themselves."""
    best, (before, after) = met.copy(), WINDOW
    for step in range(1, max(before, after) + 1):
        for shift, reach in ((-step, before), (step, after)):
            if step <= reach:
                _raise(best, met, names, positions, shift)
    return best


def _raise(best: Floats, met: Floats, names: NDArray[np.int64], positions: NDArray[np.int64], shift: int) -> None:
    """Let each passage have what stands `shift` places on in its session; who stands there is at most as far away."""
    for apart in range(1, abs(shift) + 1):
        towards = apart if shift > 0 else -apart
        one, other = (
            (slice(None, -apart), slice(apart, None)) if towards > 0 else (slice(apart, None), slice(None, -apart))
        )
        there = (names[one] == names[other]) & (positions[other] - positions[one] == shift)
        best[:, one] = np.where(there, np.maximum(best[:, one], met[:, other]), best[:, one])
