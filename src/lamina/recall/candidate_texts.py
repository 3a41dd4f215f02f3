"""The candidates' words as the answer model reads them: with their stored token states and what was said before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passage_of
from lamina.models.answer_model import SHORT
from lamina.models.embedder import CONTEXTUAL, TokenStates
from lamina.models.pair_text import PairText
from lamina.recall.lens import Lens
from lamina.store.base import Store
from lamina.store.encodings import Unencoded, unencoded
from lamina.vectors.packed import signs_of


def candidate_texts(
    found: Sequence[tuple[Atom, Passage]], speakers: Collection[str], lens: Lens, store: Store
) -> list[PairText]:
    """Return the text of each passage; `speakers` are those that the question names."""
    own = [unencoded(*each) for each in found]
    before = [_said_before(atom, passage, text.text) for (atom, passage), text in zip(found, own, strict=True)]
    signs = _stored_signs([each for each in (*own, *before) if each is not None], lens, store)
    return [
        PairText(
            text.text,
            is_named=passage.speaker in speakers,
            signs=signs.get(text.digest),
            before=PairText(earlier.text, signs=signs.get(earlier.digest)) if earlier is not None else None,
        )
        for (_, passage), text, earlier in zip(found, own, before, strict=True)
    ]


def _said_before(atom: Atom, passage: Passage, text: str) -> Unencoded | None:
    """The passage before a short one in the same session file: a longer one is understood by itself."""
    if not atom.is_segment or passage.n <= 1 or len(text.split()) > SHORT:
        return None
    earlier = passage_of(atom, passage.n - 1)
    return unencoded(atom, earlier) if earlier is not None else None


def _stored_signs(texts: Sequence[Unencoded], lens: Lens, store: Store) -> Mapping[bytes, bytes]:
    """Return the signs of the texts' token states, so far as the transformer's are stored."""
    if lens.main is None or lens.main.model.states not in CONTEXTUAL:
        return {}
    model = lens.main.model
    return {
        digest: signs_of(each.data, model.dimensions) if each.packing == TokenStates.NIBBLES.value else each.data
        for digest, each in store.encodings.states(model.id, [text.digest for text in texts]).items()
        if each.data
    }
