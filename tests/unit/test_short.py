"""Tests what `--short` leaves out, and that what a machine lacks is skipped and named, by runs of a small suite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = {
    "test_plain.py": """
import pytest

def test_quick(): pass

@pytest.mark.slow
def test_slow(): pass

def test_torch_is_out_of_reach(request):
    if request.config.getoption("short"):
        with pytest.raises(ModuleNotFoundError):
            import torch
""",
    "test_steps.py": "import torch\ndef test_step(): pass\n",
    "test_steps_too.py": "import helper\ndef test_step(): pass\n",
    "helper.py": "from safetensors.torch import save_file\n",
    "test_library.py": """
raise ImportError("libkame.so.1: cannot open shared object file: No such file or directory")
""",
    "test_library_later.py": """
def test_imports_late():
    raise ImportError("libkame.so.2: cannot open shared object file: No such file or directory")
""",
    "test_program.py": """
from tests.support import parts

def test_needs_a_program(monkeypatch):
    lacking = parts.TESTED_PARTS[0]._replace(look="bin:kame-is-not-there")
    monkeypatch.setattr(parts, "TESTED_PARTS", [lacking])
    parts.need("kame-is-not-there")
""",
    "test_broken.py": "import kame_is_not_there\n",
}


def run(folder: Path, *arguments: str) -> str:
    for name, code in SUITE.items():
        (folder / name).write_text(code)
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: late\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-rs", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'packaging'}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return ended.stdout


@pytest.mark.slow
def test_the_short_run_leaves_out_what_is_slow_and_what_needs_torch(tmp_path: Path) -> None:
    printed = run(tmp_path, "--short", "--continue-on-collection-errors")
    assert "test_quick PASSED" in printed and "test_torch_is_out_of_reach PASSED" in printed
    assert "test_slow" not in printed and "test_step " not in printed
    assert "needs torch: runs with --all" in printed and "needs safetensors: runs with --all" in printed
    assert "Left out for want of libkame.so.1: 1" in printed and "Left out for want of libkame.so.2: 1" in printed
    assert "Left out for want of kame-is-not-there: 1" in printed
    assert "2 passed, 5 skipped, 1 deselected, 1 error" in printed
