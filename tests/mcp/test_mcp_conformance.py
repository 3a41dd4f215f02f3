"""The judges nobody here wrote, in short, where their packages are at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = os.environ.get("LAMINA_MCP_TOOLS") or str(Path(sys.prefix) / "mcp-tools")


@pytest.mark.skipif(
    not (Path(TOOLS) / "node_modules/@modelcontextprotocol").is_dir(),
    reason="the npm packages are not here; scripts/mcp_check.py --only-fetch fetches them",
)
def test_the_inspector_and_the_conformance_suite_pass() -> None:
    result = subprocess.run(
        [sys.executable, "scripts/mcp_check.py", "--short", "--tools", TOOLS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
