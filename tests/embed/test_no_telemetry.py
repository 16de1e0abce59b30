"""The built-in model sends nothing over the network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EMBED = """
import os
from ragstone.embed.minilm import MiniLM
MiniLM().embed(["a text"])
print(os.environ["ORT_DISABLE_TELEMETRY"])
"""


def test_onnxruntime_writes_no_device_id_and_collects_no_usage(tmp_path: Path) -> None:
    variables = {
        **os.environ,
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    variables.pop("ORT_DISABLE_TELEMETRY", None)
    ran = subprocess.run(
        [sys.executable, "-c", EMBED], env=variables, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "1"
    written = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert "deviceid" not in written
    assert not [name for name in written if "onnxruntime" in name]
