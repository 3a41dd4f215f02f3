"""The real model's files, where `make` put them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lamina.models.model_files import ALL_FILES, ModelStore, models_folder

STORE = ModelStore(models_folder(os.environ, Path.home(), sys.platform))
needs_minilm = pytest.mark.skipif(
    not all(STORE.has(file) for file in ALL_FILES),
    reason="the model's files are not here; `python scripts/fetch_models.py` or `lamina models download` gets them",
)

TEXTS = (
    "I moved to Lisbon in May.",
    "The lamp cost $1,200; it's lovely — don't you think?!",
    "Ich wohne jetzt in Köln, nahe am Café « Zürich ».",
    "你好，世界。我住在里斯本。",
    "مرحبا بالعالم، كيف حالك؟",
    "👩‍👩‍👧 emoji 😀🎉 and a flag 🇵🇹",
    "naïve e-mail… ﬁnal \u00a0spaces\tand\nlines",
    "cafe\u0301 in two code points",
    "a half \ud800 pair",
    "\x00control\x07",
)
EMPTY = ("", " ", "\n\t ", "…", "?!")
