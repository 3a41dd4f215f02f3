from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from local_models import STORE, needs_minilm

from lamina.errors import InvalidInput
from lamina.models.embedder import TokenStates
from lamina.models.errors import ModelMissing
from lamina.models.external_embedder import load_fastembed, load_sentence_transformers
from lamina.models.model_choice import choose_embedders


def test_automatic_without_files_selects_light_and_reports_what_is_missing(tmp_path: Path) -> None:
    choice = choose_embedders("auto", tmp_path)
    assert choice.primary is None
    assert choice.light is not None
    assert choice.light.model.id == "wordllama-l2-supercat-256"
    assert "lamina models download" in choice.missing_hint


@needs_minilm
def test_automatic_with_files_selects_both_and_reports_nothing() -> None:
    choice = choose_embedders("auto", STORE.folder)
    assert choice.primary is not None
    assert choice.primary.model.id.startswith("all-MiniLM")
    assert choice.light is not None
    assert choice.missing_hint == ""


@needs_minilm
def test_the_bits_of_token_states_change_their_packing_and_not_the_model() -> None:
    coarse, fine = (
        choose_embedders("minilm", STORE.folder).primary,
        choose_embedders("minilm", STORE.folder, token_bits=4).primary,
    )
    assert coarse is choose_embedders("auto", STORE.folder).primary
    assert coarse is not None and fine is not None
    assert coarse.model.id == fine.model.id
    assert (coarse.model.states, fine.model.states) == (TokenStates.SIGNS, TokenStates.NIBBLES)


def test_none_selects_none_and_light_selects_light(tmp_path: Path) -> None:
    assert choose_embedders("none", tmp_path) == type(choose_embedders("none", tmp_path))()
    light = choose_embedders("light", tmp_path)
    assert (light.primary, light.missing_hint) == (None, "")
    assert light.light is not None


def test_a_model_requested_by_name_must_be_present(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="lamina models download"):
        choose_embedders("minilm", tmp_path)


def test_an_endpoint_needs_an_address(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="address"):
        choose_embedders("openai:tiny", tmp_path)
    assert choose_embedders("openai:tiny:latest", tmp_path, base_url="http://127.0.0.1:1/v1").primary is not None


@pytest.mark.parametrize("setting", ["", "best", "openai", "openai:", "light:er", "fastembed:", "none:x", "Auto"])
def test_an_unknown_setting_is_refused_with_the_known_ones(tmp_path: Path, setting: str) -> None:
    with pytest.raises(InvalidInput, match="sentence-transformers:NAME"):
        choose_embedders(setting, tmp_path)


def test_choosing_loads_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from lamina.models.model_choice import choose_embedders\n"
        "choose_embedders('auto', Path(sys.argv[1])); choose_embedders('fastembed:x', Path(sys.argv[1]))\n"
        "sys.exit(bool({'onnxruntime', 'tokenizers', 'wordllama', 'huggingface_hub'} & set(sys.modules)))"
    )
    for folder in (tmp_path, STORE.folder):
        assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 0


@pytest.mark.parametrize(
    ("make", "extra"), [(load_fastembed, "fastembed"), (load_sentence_transformers, "sentence-transformers")]
)
def test_a_missing_library_is_named(make: type, extra: str) -> None:
    if find_spec(extra.replace("-", "_")):
        pytest.skip(f"{extra} is installed")
    with pytest.raises(ModelMissing, match=rf"pip install 'lamina\[{extra}\]'"):
        make("some/model").encode_question("a")
