"""Late interaction (context MaxSim): each word of a question is matched in the passage, in its neighbours and in its
whole session.

The best match of each word is taken before anything is added up, so that a turn that says "yes, in Lisbon!" gets the
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
    """Add the terms of late interaction to the candidates."""
    if lens.light is not None and lens.light is not lens.main:
        _add_light(candidates, meant, lens, store)
    if lens.states is None or not candidates:
        return
    encoded_question = lens.states.question(meant)
    ordered = sorted(candidates, key=lambda candidate: (candidate.near.session, candidate.near.position))
    states = store.encodings.states(lens.states.model.id, [candidate.near.digest for candidate in ordered])
    states |= lens.thawed.states(lens.states, _cold(candidates, states, store))
    matches = meeting(
        encoded_question,
        lens.states.model.states,
        [states.get(candidate.near.digest, NO_STATES) for candidate in ordered],
    )
    weights = _weights(encoded_question, meant, {candidate.near.scope for candidate in ordered}, store, lens.recipe)
    _add(ordered, matches, weights, lens.recipe)


def _cold(candidates: Sequence[Candidate], states: Mapping[bytes, States], store: Store) -> list[Unencoded]:
    """Return the most promising texts that are stored without token states; without them they would match no word of a
    question."""
    lacking = [candidate for candidate in candidates if candidate.near.digest not in states]
    lacking.sort(key=lambda candidate: (-candidate.near.score, candidate.key))
    texts = dict[bytes, Unencoded]()
    for start in range(0, len(lacking), MOST):
        texts |= {text.digest: text for text in _texts(lacking[start : start + MOST], store)}
        if len(texts) >= MOST:
            break
    return list(texts.values())


def _texts(candidates: Sequence[Candidate], store: Store) -> Iterator[Unencoded]:
    """Yield the texts of candidates that have not changed since they were indexed."""
    scopes, ids = {candidate.near.scope for candidate in candidates}, {candidate.key[0] for candidate in candidates}
    atoms = {atom.id: atom for atom in store.read(Filter(scopes=tuple(scopes), ids=tuple(ids)))}
    for candidate in candidates:
        atom = atoms.get(candidate.key[0])
        passage = passage_of(atom, candidate.key[1]) if atom is not None else None
        if atom is not None and passage is not None and digest_of(atom, passage) == candidate.near.digest:
            yield unencoded(atom, passage)


def _add_light(candidates: Sequence[Candidate], meant: str, lens: Lens, store: Store) -> None:
    """Add the term of static vectors."""
    assert lens.light is not None
    question_vector = to_asked(lens.light.question(meant).vector)
    cosines = store.encodings.cosines(lens.light.model.id, question_vector, [candidate.key for candidate in candidates])
    for candidate, cosine in zip(candidates, cosines, strict=True):
        candidate.terms["light"] = lens.recipe.light * cosine


def meeting(probe: Probe, packing: TokenStates, states: Sequence[States]) -> Floats:
    """Return for each token of a question (row) and each passage (column) how well it is matched there."""
    if packing is TokenStates.PIECES:
        assert probe.rows is not None
        return met_by_pieces(probe.tokens, probe.rows, [state.data for state in states])
    if packing is TokenStates.NIBBLES and all(state.packing == packing.value for state in states if state.data):
        return met_by_nibbles(probe.tokens, [state.data for state in states])
    # While some states still have to be recomputed, all are read as signs, so that finer packing gives no advantage.
    return met_by_signs(probe.tokens, [_signs(state, probe.tokens.shape[1]) for state in states])


def _signs(states: States, width: int) -> bytes:
    return signs_of(states.data, width) if states.packing == TokenStates.NIBBLES.value else states.data


def _weights(
    probe: Probe, meant: str, scopes: set[Scope], store: Store, recipe: Recipe
) -> dict[Scope, NDArray[np.float64]]:
    """Return the weight of each token of the question in each scope, by the rarity of its word there; weights add up to
    1."""
    words = [analyse(word_at(meant, span)) for span in probe.spans]
    rarities = store.encodings.rarity(sorted(scopes), sorted({token for tokens in words for token in tokens}))
    weights_by_scope = {}
    for scope, (passages, holding) in rarities.items():
        rarity = np.array([_rarity(tokens, passages, holding) for tokens in words], dtype=np.float64)
        weight = np.sqrt(rarity) if recipe.root_rarity else rarity
        weights_by_scope[scope] = weight / max(weight.sum(), 1e-9)
    return weights_by_scope


def _rarity(tokens: Sequence[str], passages: int, holding: Mapping[str, int]) -> float:
    return max((idf(passages, holding.get(token, 0)) for token in tokens), default=0.0)


def idf(passages: int, holding: int) -> float:
    """Return the rarity of a word that `holding` of the passages contain."""
    return float(np.log(1 + (passages - holding + 0.5) / (holding + 0.5)))


def word_at(text: str, span: tuple[int, int]) -> str:
    """Return the whole word that a word piece belongs to."""
    start, end = span
    for match in _WORD.finditer(text):
        if match.start() < end and start < match.end():
            return match.group()
    return text[start:end]


def _add(
    placed: Sequence[Candidate], met: Floats, weights: Mapping[Scope, NDArray[np.float64]], recipe: Recipe
) -> None:
    """Add the three sums. The candidates are ordered by session and position."""
    sessions = np.unique([candidate.near.session for candidate in placed], return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(sessions, prepend=-1))
    session = np.maximum.reduceat(met, starts, axis=1)[:, sessions]
    window = _windows(met, sessions, np.array([candidate.near.position for candidate in placed]))
    for scope, weight in weights.items():
        rows = [n for n, part in enumerate(placed) if part.near.scope == scope]
        sums = [(weight[:, None] * part[:, rows]).sum(axis=0).tolist() for part in (met, window, session)]
        passage_sums = dict(zip(rows, sums[0], strict=True))
        for n, window_sum, session_sum in zip(rows, *sums[1:], strict=True):
            terms = placed[n].terms
            terms["passage"], terms["window"] = recipe.passage * passage_sums[n], recipe.window * window_sum
            terms["session"] = recipe.session * session_sum
            if n and _answers(placed[n - 1].near, placed[n].near):
                terms["answer"] = ANSWERS * passage_sums[n - 1]


def _answers(before: Near, near: Near) -> bool:
    """Return whether a passage follows a question that one person asked another; an assistant's questions do not
    count."""
    return (
        before.asks
        and before.session == near.session
        and before.position + 1 == near.position
        and before.speaker != near.speaker
        and not is_assistant(before.speaker)
        and not is_assistant(near.speaker)
    )


def _windows(met: Floats, names: NDArray[np.int64], positions: NDArray[np.int64]) -> Floats:
    """Return the best match of each token in a passage and its neighbours, as far as those are candidates
    themselves."""
    best, (before, after) = met.copy(), WINDOW
    for step in range(1, max(before, after) + 1):
        for shift, limit in ((-step, before), (step, after)):
            if step <= limit:
                _raise(best, met, names, positions, shift)
    return best


def _raise(best: Floats, met: Floats, names: NDArray[np.int64], positions: NDArray[np.int64], shift: int) -> None:
    """Raise the matches of each passage to those of the passage `shift` positions on in its session; that one is at
    most as many columns away."""
    for distance in range(1, abs(shift) + 1):
        direction = distance if shift > 0 else -distance
        left, right = (
            (slice(None, -distance), slice(distance, None))
            if direction > 0
            else (slice(distance, None), slice(None, -distance))
        )
        is_neighbour = (names[left] == names[right]) & (positions[right] - positions[left] == shift)
        best[:, left] = np.where(is_neighbour, np.maximum(best[:, left], met[:, right]), best[:, left])
