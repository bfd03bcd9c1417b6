"""Piper speaks wherever it is installed, also in a folder with a name in another script."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from app.models.locations import default_model
from app.platform.children import python_module_command, quiet_child


@pytest.mark.parametrize("name", [pytest.param("Jörg Müller", marks=pytest.mark.slow), "日本 Łukasz"])
def test_it_speaks_from_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    found = importlib.util.find_spec("piper")
    assert found is not None and found.submodule_search_locations
    ignored = shutil.ignore_patterns("__pycache__", "train", "img", "hebrew")
    shutil.copytree(found.submodule_search_locations[0], tmp_path / name / "piper", ignore=ignored)
    how = quiet_child()
    how["env"]["PYTHONPATH"] = os.pathsep.join([str(tmp_path / name), how["env"]["PYTHONPATH"]])
    said = subprocess.run(
        python_module_command("app.tts.piper_worker", str(default_model("tts"))),
        **how,
        cwd=tmp_path,
        input=json.dumps({"text": "Good morning."}).encode() + b"\n",
        capture_output=True,
        timeout=120,
    )
    ready, head, samples = said.stdout.split(b"\n", 2)
    assert json.loads(ready) == {"ready": True}
    told = json.loads(head)
    assert len(samples) == told["bytes"]
    assert len(samples) / 4 / told["sample_rate"] > 0.4 and np.abs(np.frombuffer(samples, "<f4")).max() > 0.05
