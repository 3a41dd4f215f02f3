"""Write a trained network as an eight-bit ONNX file that the engine loads.

Usage: python -m training.export NETWORK.pt WEIGHTS.onnx
       python -m training.export --pairs NETWORK.pt WEIGHTS.onnx
       python -m training.export --reader NETWORK.pt WEIGHTS.onnx
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from lamina.models.list_reader import MATCH_COUNT
from training.import_weights import read_exported_weights
from training.network import MINILM_LAYERS, MINILM_WIDTH, StateNetwork
from training.pair_network import PairNetwork
from training.reader_network import ReaderNetwork

OUTPUTS = ["slot", "mood", "own", "many", "requests", "ask", "tokens"]


class _OneText(nn.Module):
    """The network for one chunk: all its tokens count, and every sentence belongs to it."""

    def __init__(self, network: StateNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, states: Tensor, inside: Tensor) -> tuple[Tensor, ...]:
        keep = torch.ones_like(states[:, :, 0])
        owner = torch.zeros_like(inside[:, 0]).long()
        return tuple(self.network(states, keep, inside, owner))


def load_network(path: Path) -> StateNetwork:
    saved = torch.load(path, map_location="cpu")
    network = StateNetwork(saved["width"], saved["layers"], saved["heads"])
    network.load_state_dict(saved["weights"], strict=False)
    return network.eval()


class _OnePair(nn.Module):
    """The pair network for one pair: all its tokens count."""

    def __init__(self, network: PairNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, states: Tensor, kinds: Tensor) -> Tensor:
        return self.network(states, kinds, torch.ones_like(states[:, :, 0]))


def load_pair_network(path: Path) -> PairNetwork:
    saved = torch.load(path, map_location="cpu")
    network = PairNetwork(saved["width"], saved["layers"], saved["heads"])
    network.load_state_dict(saved["weights"])
    return network.eval()


class _OneList(nn.Module):
    """The reader for one list: all its tokens count."""

    def __init__(self, network: ReaderNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, states: Tensor, kinds: Tensor, inside: Tensor, ages: Tensor, matches: Tensor, task: Tensor
    ) -> Tensor:
        keep = torch.ones_like(states[None, :, 0])
        return self.network(states[None], kinds[None], inside[None], ages[None], matches[None], task, keep)[0][0]


def load_reader(path: Path) -> ReaderNetwork:
    """Return a saved reader, or the one in an exported file for the transformer."""
    if path.suffix == ".onnx":
        network = ReaderNetwork(MINILM_WIDTH, MINILM_LAYERS)
        network.load_state_dict(read_exported_weights(path, network))
        return network.eval()
    saved = torch.load(path, map_location="cpu")
    network = ReaderNetwork(saved["width"], saved["layers"], saved["heads"])
    network.load_state_dict(saved["weights"])
    return network.eval()


def export(source: Path, target: Path) -> None:
    network = load_network(source)
    axes = {"states": {1: "tokens"}, "inside": {0: "sentences", 1: "tokens"}, "tokens": {1: "tokens"}}
    _write(_OneText(network), (torch.zeros(1, 9, network.width), torch.ones(2, 9)), OUTPUTS, axes, target)


def export_pairs(source: Path, target: Path) -> None:
    network = load_pair_network(source)
    axes = {"states": {1: "tokens"}, "kinds": {1: "tokens"}}
    example = torch.zeros(1, 9, network.width), torch.tensor([[0, 1, 0, 0, 2, 2, 3, 2, 2]])
    _write(_OnePair(network), example, ["pair"], axes, target)


def export_reader(source: Path, target: Path) -> None:
    network = load_reader(source)
    axes = {
        "states": {0: "tokens"},
        "kinds": {0: "tokens"},
        "inside": {0: "candidates", 1: "tokens"},
        "ages": {0: "candidates"},
        "matches": {0: "candidates"},
        "task": {},
    }
    inside = torch.zeros(2, 9)
    inside[0, 3:6], inside[1, 6:] = 1.0, 1.0
    kinds = torch.tensor([0, 0, 0, 1, 2, 1, 1, 2, 1])
    example = (
        torch.zeros(9, network.width),
        kinds,
        inside,
        torch.tensor([1, 0]),
        torch.zeros(2, MATCH_COUNT),
        torch.tensor([0]),
    )
    _write(_OneList(network), example, ["classes"], axes, target)


def _write(module: nn.Module, example: tuple[Tensor, ...], outputs: list[str], axes: dict, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    inputs = [name for name in axes if name not in outputs]
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            module,
            example,
            str(whole),
            input_names=inputs,
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(str(whole), str(target), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    kinds = {"--pairs": export_pairs, "--reader": export_reader}
    write = kinds.get(sys.argv[1], export)
    write(*map(Path, sys.argv[-2:]))
