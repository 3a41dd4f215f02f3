"""Late interaction (context MaxSim): each word of a question is matched in the passage, in its neighbours and in its
whole session.

The best match of each word is taken before anything is added up, so that a turn that says "yes, in Lisbon!" gets the
question's other words from the turn before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.atom.passage import is_assistant, passage_digest, passage_of
from lamina.atom.provenance import Scope
from lamina.models.embedder import EncodedQuestion, TokenStates
from lamina.models.encoding_worker import MAX_RECOMPUTED
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.recall_view import RecallView
from lamina.recall.scoring_profiles import FOLLOWS_QUESTION, WINDOW, ScoringProfile
from lamina.recall.selected_models import SelectedModels
from lamina.store.base import Store
from lamina.store.encodings import PackedStates, UnencodedText, to_unencoded_text
from lamina.store.passages import NearPassage
from lamina.text.analyser import analyse
from lamina.vectors.integer_vectors import Floats, LevelRows, to_level_rows, to_query_vector
from lamina.vectors.stored_vectors import LEVELS_PER_SIDE, level_step, nibbles_to_signs

STATE_LEVELS = 1024
"""The levels of a query token's state: sums over signs or half-bytes stay exact integers in float32."""
SIGN_SCALE = 1.25
"""The length of a sign vector relative to its state; it scales the product to a cosine."""
NO_MATCH = np.float32(0)


def match_signs(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """Return, for each query token (row) and passage (column), the best match among the passage's sign states."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([8 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    levels = np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, width // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    # A sum over +1 and -1 is twice the sum over the ones minus the sum over all.
    exact = 2 * (levels @ signs.T) - levels.sum(axis=1, keepdims=True)
    _write_best_matches(exact, sizes, best)
    return np.asarray(best * np.float32(SIGN_SCALE / (STATE_LEVELS * np.sqrt(width))), dtype=np.float32)


def match_nibbles(tokens: Floats, states: Sequence[bytes]) -> Floats:
    """Return the same for states stored as sixteen levels per dimension."""
    width = tokens.shape[1] if tokens.size else 0
    sizes = np.array([2 * len(state) // width if width else 0 for state in states], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    half, levels = width // 2, np.rint(tokens * np.float32(STATE_LEVELS)).astype(np.float32)
    packed = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(-1, half)
    upper, lower = (packed >> 4).astype(np.float32), (packed & 15).astype(np.float32)
    codes = levels[:, :half] @ upper.T + levels[:, half:] @ lower.T
    exact = 2 * codes - np.float32(2 * LEVELS_PER_SIDE - 1) * levels.sum(axis=1, keepdims=True)
    _write_best_matches(exact, sizes, best)
    return np.asarray(best * np.float32(level_step(width) / (2 * STATE_LEVELS)), dtype=np.float32)


def match_static_tokens(
    tokens: Floats, rows: Callable[[NDArray[np.int64]], LevelRows], states: Sequence[bytes]
) -> Floats:
    """Return the same for static vectors: a passage is its token ids, and `rows` returns the unit vectors of ids."""
    pieces = [np.frombuffer(state, dtype="<u2").astype(np.int64) for state in states]
    sizes = np.array([len(piece) for piece in pieces], dtype=np.int64)
    best = np.full((len(tokens), len(states)), NO_MATCH, dtype=np.float32)
    if not sizes.sum() or not len(tokens):
        return best
    ids, positions = np.unique(np.concatenate(pieces), return_inverse=True)
    query, table = to_level_rows(tokens), rows(ids)
    exact = query.levels.astype(np.float32) @ table.levels.astype(np.float32).T
    similarities = exact * table.scale[None, :] * query.scale[:, None]
    _write_best_matches(similarities[:, positions], sizes, best)
    return best


def _write_best_matches(similarities: Floats, sizes: NDArray[np.int64], out: Floats) -> None:
    """Write the best column of each passage's columns to `out`; a passage without columns is left as it is."""
    nonempty = np.flatnonzero(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes[nonempty])[:-1]])
    out[:, nonempty] = np.maximum.reduceat(similarities, offsets, axis=1)


NO_STATES = PackedStates(TokenStates.NONE.value, b"")
_WORD = re.compile(r"[\w'’]+")


def add_token_terms(candidates: Sequence[Candidate], question: str, models: SelectedModels, view: RecallView) -> None:
    """Add the terms of late interaction to the candidates, in place."""
    if models.light is not None and models.light is not models.main:
        _add_light_term(candidates, question, models, view.store)
    if models.token_state_model is None or not candidates:
        return
    encoded_question = models.token_state_model.encode_question(question)
    ordered = sorted(candidates, key=lambda candidate: (candidate.near.session, candidate.near.position))
    states = view.token_states(models.token_state_model.model.id, (candidate.near.digest for candidate in ordered))
    states |= models.recomputed_states.states(models.token_state_model, _texts_without_states(candidates, states, view))
    matches = match_tokens(
        encoded_question,
        models.token_state_model.model.states,
        [states.get(candidate.near.digest, NO_STATES) for candidate in ordered],
    )
    weights = _token_weights(encoded_question, question, view, models.profile)
    _add_terms(ordered, matches, weights, models.profile)


def _texts_without_states(
    candidates: Sequence[Candidate], states: Mapping[bytes, PackedStates], view: RecallView
) -> list[UnencodedText]:
    """Return the most promising texts that are stored without token states; without them they would match no word of a
    question."""
    lacking = [candidate for candidate in candidates if candidate.near.digest not in states]
    lacking.sort(key=lambda candidate: (-candidate.first_score, candidate.key))
    texts = dict[bytes, UnencodedText]()
    for start in range(0, len(lacking), MAX_RECOMPUTED):
        texts |= {text.digest: text for text in _read_texts(lacking[start : start + MAX_RECOMPUTED], view)}
        if len(texts) >= MAX_RECOMPUTED:
            break
    return list(texts.values())


def _read_texts(candidates: Sequence[Candidate], view: RecallView) -> Iterator[UnencodedText]:
    """Yield the texts of candidates that have not changed since they were indexed."""
    atoms = view.current_atoms({candidate.key[0] for candidate in candidates})
    for candidate in candidates:
        atom = atoms.get(candidate.key[0])
        passage = passage_of(atom, candidate.key[1]) if atom is not None else None
        if atom is not None and passage is not None and passage_digest(atom, passage) == candidate.near.digest:
            yield to_unencoded_text(atom, passage)


def _add_light_term(candidates: Sequence[Candidate], question: str, models: SelectedModels, store: Store) -> None:
    """Add the term of static vectors."""
    assert models.light is not None
    question_vector = to_query_vector(models.light.encode_question(question).vector)
    cosines = store.passages.cosines(
        models.light.model.id, question_vector, [candidate.key for candidate in candidates]
    )
    for candidate, cosine in zip(candidates, cosines, strict=True):
        candidate.terms["light"] = models.profile.light * cosine


def match_tokens(question: EncodedQuestion, packing: TokenStates, states: Sequence[PackedStates]) -> Floats:
    """Return for each token of a question (row) and each passage (column) how well it is matched there."""
    if packing is TokenStates.PIECES:
        assert question.rows is not None
        return match_static_tokens(question.tokens, question.rows, [state.data for state in states])
    if packing is TokenStates.NIBBLES and all(state.packing == packing.value for state in states if state.data):
        return match_nibbles(question.tokens, [state.data for state in states])
    # While some states still have to be recomputed, all are read as signs, so that finer packing gives no advantage.
    return match_signs(question.tokens, [_as_signs(state, question.tokens.shape[1]) for state in states])


def _as_signs(states: PackedStates, width: int) -> bytes:
    return nibbles_to_signs(states.data, width) if states.packing == TokenStates.NIBBLES.value else states.data


def _token_weights(
    encoded: EncodedQuestion, question: str, view: RecallView, profile: ScoringProfile
) -> dict[Scope, NDArray[np.float64]]:
    """Return the weight of each token of the question in each scope, by the rarity of its word there; weights add up to
    1."""
    words = [analyse(find_word(question, span)) for span in encoded.spans]
    rarities = view.token_statistics({token for tokens in words for token in tokens})
    weights_by_scope = {}
    for scope, (passages, holding) in rarities.items():
        rarity = np.array([_rarity(tokens, passages, holding) for tokens in words], dtype=np.float64)
        weight = np.sqrt(rarity) if profile.uses_root_rarity else rarity
        weights_by_scope[scope] = weight / max(weight.sum(), 1e-9)
    return weights_by_scope


def _rarity(tokens: Sequence[str], passages: int, holding: Mapping[str, int]) -> float:
    return max((idf(passages, holding.get(token, 0)) for token in tokens), default=0.0)


def idf(passages: int, holding: int) -> float:
    """Return the rarity of a word that `holding` of the passages contain."""
    return float(np.log(1 + (passages - holding + 0.5) / (holding + 0.5)))


def find_word(text: str, span: tuple[int, int]) -> str:
    """Return the whole word that a word piece belongs to."""
    start, end = span
    for match in _WORD.finditer(text):
        if match.start() < end and start < match.end():
            return match.group()
    return text[start:end]


def _add_terms(
    candidates: Sequence[Candidate],
    matches: Floats,
    weights: Mapping[Scope, NDArray[np.float64]],
    profile: ScoringProfile,
) -> None:
    """Add the three sums. The candidates are ordered by session and position."""
    sessions = np.unique([candidate.near.session for candidate in candidates], return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(sessions, prepend=-1))
    session = np.maximum.reduceat(matches, starts, axis=1)[:, sessions]
    window = _best_in_windows(matches, sessions, np.array([candidate.near.position for candidate in candidates]))
    for scope, weight in weights.items():
        rows = [n for n, part in enumerate(candidates) if part.near.scope == scope]
        sums = [(weight[:, None] * part[:, rows]).sum(axis=0).tolist() for part in (matches, window, session)]
        passage_sums = dict(zip(rows, sums[0], strict=True))
        for n, window_sum, session_sum in zip(rows, *sums[1:], strict=True):
            terms = candidates[n].terms
            terms["passage"], terms["window"] = profile.passage * passage_sums[n], profile.window * window_sum
            terms["session"] = profile.session * session_sum
            if n and _answers_previous(candidates[n - 1].near, candidates[n].near):
                terms["answer"] = FOLLOWS_QUESTION * passage_sums[n - 1]


def _answers_previous(previous: NearPassage, near: NearPassage) -> bool:
    """Return whether a passage follows a question that one person asked another; an assistant's questions do not
    count."""
    return (
        previous.is_question
        and previous.session == near.session
        and previous.position + 1 == near.position
        and previous.speaker != near.speaker
        and not is_assistant(previous.speaker)
        and not is_assistant(near.speaker)
    )


def _best_in_windows(matches: Floats, sessions: NDArray[np.int64], positions: NDArray[np.int64]) -> Floats:
    """Return the best match of each token in a passage and its neighbours, as far as those are candidates
    themselves."""
    best, (before, after) = matches.copy(), WINDOW
    for step in range(1, max(before, after) + 1):
        for shift, limit in ((-step, before), (step, after)):
            if step <= limit:
                _raise_from_neighbour(best, matches, sessions, positions, shift)
    return best


def _raise_from_neighbour(
    best: Floats, matches: Floats, sessions: NDArray[np.int64], positions: NDArray[np.int64], shift: int
) -> None:
    """Raise the matches of each passage to those of the passage `shift` positions on in its session; that one is at
    most as many columns away."""
    for distance in range(1, abs(shift) + 1):
        direction = distance if shift > 0 else -distance
        left, right = (
            (slice(None, -distance), slice(distance, None))
            if direction > 0
            else (slice(distance, None), slice(None, -distance))
        )
        is_neighbour = (sessions[left] == sessions[right]) & (positions[right] - positions[left] == shift)
        best[:, left] = np.where(is_neighbour, np.maximum(best[:, left], matches[:, right]), best[:, left])
