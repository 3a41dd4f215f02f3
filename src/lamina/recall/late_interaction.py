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

from lamina.atom.passage import passage_digest, passage_of
from lamina.atom.scope import Scope
from lamina.models.embedder import EncodedQuestion, TokenStates
from lamina.models.recomputed_states import MAX_RECOMPUTED
from lamina.recall.candidate import Candidate
from lamina.recall.model_selection import SelectedModels
from lamina.recall.scoring_profiles import FOLLOWS_QUESTION, WINDOW, ScoringProfile
from lamina.store.base import AtomFilter, Store
from lamina.store.encodings import NearPassage, PackedStates, UnencodedText, to_unencoded_text
from lamina.text.analyser import analyse
from lamina.text.speaker_roles import is_assistant
from lamina.vectors.late_interaction import match_nibbles, match_signs, match_static_tokens
from lamina.vectors.levels import Floats, to_query_vector
from lamina.vectors.packed_states import nibbles_to_signs

NO_STATES = PackedStates(TokenStates.NONE.value, b"")
_WORD = re.compile(r"[\w'’]+")


def add_token_terms(candidates: Sequence[Candidate], question: str, models: SelectedModels, store: Store) -> None:
    """Add the terms of late interaction to the candidates."""
    if models.light is not None and models.light is not models.main:
        _add_light_term(candidates, question, models, store)
    if models.token_state_model is None or not candidates:
        return
    encoded_question = models.token_state_model.encode_question(question)
    ordered = sorted(candidates, key=lambda candidate: (candidate.near.session, candidate.near.position))
    states = store.encodings.states(models.token_state_model.model.id, [candidate.near.digest for candidate in ordered])
    states |= models.recomputed_states.states(
        models.token_state_model, _texts_without_states(candidates, states, store)
    )
    matches = match_tokens(
        encoded_question,
        models.token_state_model.model.states,
        [states.get(candidate.near.digest, NO_STATES) for candidate in ordered],
    )
    weights = _token_weights(
        encoded_question, question, {candidate.near.scope for candidate in ordered}, store, models.profile
    )
    _add_terms(ordered, matches, weights, models.profile)


def _texts_without_states(
    candidates: Sequence[Candidate], states: Mapping[bytes, PackedStates], store: Store
) -> list[UnencodedText]:
    """Return the most promising texts that are stored without token states; without them they would match no word of a
    question."""
    lacking = [candidate for candidate in candidates if candidate.near.digest not in states]
    lacking.sort(key=lambda candidate: (-candidate.near.score, candidate.key))
    texts = dict[bytes, UnencodedText]()
    for start in range(0, len(lacking), MAX_RECOMPUTED):
        texts |= {text.digest: text for text in _read_texts(lacking[start : start + MAX_RECOMPUTED], store)}
        if len(texts) >= MAX_RECOMPUTED:
            break
    return list(texts.values())


def _read_texts(candidates: Sequence[Candidate], store: Store) -> Iterator[UnencodedText]:
    """Yield the texts of candidates that have not changed since they were indexed."""
    scopes, ids = {candidate.near.scope for candidate in candidates}, {candidate.key[0] for candidate in candidates}
    atoms = {atom.id: atom for atom in store.read(AtomFilter(scopes=tuple(scopes), ids=tuple(ids)))}
    for candidate in candidates:
        atom = atoms.get(candidate.key[0])
        passage = passage_of(atom, candidate.key[1]) if atom is not None else None
        if atom is not None and passage is not None and passage_digest(atom, passage) == candidate.near.digest:
            yield to_unencoded_text(atom, passage)


def _add_light_term(candidates: Sequence[Candidate], question: str, models: SelectedModels, store: Store) -> None:
    """Add the term of static vectors."""
    assert models.light is not None
    question_vector = to_query_vector(models.light.encode_question(question).vector)
    cosines = store.encodings.cosines(
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
    encoded: EncodedQuestion, question: str, scopes: set[Scope], store: Store, profile: ScoringProfile
) -> dict[Scope, NDArray[np.float64]]:
    """Return the weight of each token of the question in each scope, by the rarity of its word there; weights add up to
    1."""
    words = [analyse(find_word(question, span)) for span in encoded.spans]
    rarities = store.encodings.token_statistics(sorted(scopes), sorted({token for tokens in words for token in tokens}))
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
