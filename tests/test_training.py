"""Training: its steps can be listed, done ones are not repeated, and what it writes is a network that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from training.__main__ import TrainingRun

CHAT = "# a | voice | Ann\n## 2026-01-04\n1 | I live in Rome | me/home=Rome !\n? where do I live | 1 | current\n"
ROOT = Path(__file__).parents[1]


def test_the_plan_names_every_step_and_runs_none(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    plan = _train("--plan", "--folder", str(folder), "--pair-steps", "77")
    assert "== train_pairs" in plan and "--steps 77" in plan and "(done)" not in plan
    assert not folder.exists()


def test_a_step_that_is_done_is_not_run_again_unless_its_words_change(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT)
    for expected in ("'chats': 1", "(done)"):
        TrainingRun(tmp_path / "run", is_plan=False).step("chat_format", str(chat))
        printed = capfd.readouterr().out
        assert expected in printed, printed
    chat.write_text("# a | voice | Ann\n## 2026-01-04\n1 | I live in Rome | me/home=Paris !\n")
    with pytest.raises(subprocess.CalledProcessError):
        TrainingRun(tmp_path / "run", is_plan=False).step("chat_format", str(chat), str(chat))
    assert len(list((tmp_path / "run").glob("*.done"))) == 1


def _train(*arguments: str) -> str:
    command = [sys.executable, "-m", "training", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_two_steps_of_training_give_weights_that_run(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training has its own environment: make .venv/train/ready")
    import numpy as np
    import onnxruntime

    network, weights = tmp_path / "light.pt", tmp_path / "light.onnx"
    run = TrainingRun(tmp_path / "run", is_plan=False)
    run.step("train", "light", str(network), "--steps", "2")
    run.step("export", str(network), str(weights))
    session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
    inputs = {"states": np.zeros((1, 9, 256), np.float32), "inside": np.ones((2, 9), np.float32)}
    assert [output.shape[0] for output in session.run(["slot", "mood"], inputs)] == [2, 2]
