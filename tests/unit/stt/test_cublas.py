"""The library that CTranslate2 needs on a graphics card is found without torch, and a full card is made room on."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.models.pool import MODELS, model_key
from app.stt import cublas, whisper_decoder
from app.stt.whisper_decoder import load_whisper
from tests.support.child import run_python
from tests.support.parts import need
from tests.support.tables import cases

LT = "int cublasLtGetVersion(void) { return 120804; }"
CUBLAS = """
int cublasLtGetVersion(void);
int cublasGetProperty(int what, int *value) { *value = what ? 8 : 12; return 0; }
int cublasCreate_v2(void **handle) { *handle = 0; return cublasLtGetVersion() == 120804 ? 77 : 1; }
"""
ASK = """
import ctypes, sys
from app.stt.cublas import load_cublas

if sys.argv[1] == "load":
    load_cublas()
import ctranslate2

libraries = {line.strip().split(maxsplit=5)[5] for line in open("/proc/self/maps") if "libctranslate2" in line}
print(ctypes.CDLL(libraries.pop()).cublasCreate_v2(ctypes.byref(ctypes.c_void_p())))
"""
"""Calls the function by which CTranslate2 opens the library, when it uses a card for the first time."""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages with a library that stands in for cuBLAS, and a torch that can't be imported."""
    need("g++")
    place = tmp_path / "nvidia" / "cublas" / "lib"
    place.mkdir(parents=True)
    (tmp_path / "nvidia" / "__init__.py").touch()
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')")
    for name, code, needed in (("libcublasLt.so.12", LT, ()), ("libcublas.so.12", CUBLAS, ("libcublasLt.so.12",))):
        linked = (f"-L{place}", *(f"-l:{library}" for library in needed))
        command = ["g++", "-x", "c", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(place / name), "-", *linked]
        subprocess.run(command, input=code.encode(), check=True, timeout=60)
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="libraries for Linux stand in")
def test_ctranslate2_finds_the_library_that_was_loaded_by_its_path(packages: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    found = run_python("-c", ASK, "load", env=environment)
    assert (found.returncode, found.stdout.splitlines()[-1:]) == (0, ["77"]), found.stderr
    missing = run_python("-c", ASK, "don't", env=environment)
    assert missing.returncode != 0 and "libcublas.so.12 is not found" in missing.stderr


def test_on_windows_it_is_found_in_torchs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "torch" / "lib"
    folder.mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')")
    loaded: list[str] = []
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "add_dll_directory", loaded.append, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", loaded.append)
    (folder / "cublas64_12.dll").touch()
    cublas.load_cublas()
    assert loaded == [], "it can't be loaded without the other one"
    (folder / "cublasLt64_12.dll").touch()
    cublas.load_cublas()
    assert loaded == [str(folder), str(folder / "cublasLt64_12.dll"), str(folder / "cublas64_12.dll")]


class Engine:
    """A front-end's model in the pool."""

    closed = False

    def alive(self) -> bool:
        return not self.closed

    def close(self) -> None:
        self.closed = True


@cases(
    "error, frees, tries, drops",
    ("CUDA failed with error out of memory", True, ["cuda", "cuda"], True),
    ("cuBLAS failed with status CUBLAS_STATUS_ALLOC_FAILED", True, ["cuda", "cuda"], True),
    ("CUDA failed with error out of memory", False, ["cuda", "cuda", "cpu"], True),
    ("Library libcublas.so.12 is not found or cannot be loaded", True, ["cuda", "cpu"], False),
)
def test_a_full_card_is_tried_again_without_the_pools_model(
    error: str, frees: bool, tries: list[str], drops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`frees`: dropping the pool's model makes enough room."""
    engine, tried = Engine(), list[str]()

    def load_on(model: Path, device: str, precision: str) -> SimpleNamespace:
        tried.append(device)
        if device == "cuda":
            assert precision == "float16"
            if not (engine.closed and frees):
                raise RuntimeError(error)
        return SimpleNamespace(notice="")

    monkeypatch.setattr(whisper_decoder, "runs_on_card", lambda _: True)
    monkeypatch.setattr(whisper_decoder, "load_cublas", lambda: None)
    monkeypatch.setattr(whisper_decoder, "_load_on", load_on)
    with MODELS.keeping():
        MODELS.release(model_key("engine"), engine)
        notice = load_whisper(Path("large")).notice
        assert (tried, engine.closed) == (tries, drops)
    assert (error in notice) == ("cpu" in tries)


WINDOW = """
import importlib, pkgutil, sys
import app
from pathlib import Path

APART = ("app.research", "app.frontend.kame.engine", "app.__main__")
for module in pkgutil.walk_packages(app.__path__, "app.", onerror=lambda name: None):
    if not module.name.startswith(APART):
        importlib.import_module(module.name)

import numpy as np
from app.diagnostics.machine import probe_card
from app.frontend import free_card_bytes
from app.models.locations import default_model
from app.stt.cublas import load_cublas
from app.stt.whisper_decoder import WhisperDecoder

free_card_bytes(), probe_card(), load_cublas()
WhisperDecoder(default_model("stt")).decode(np.zeros(16_000, np.float32))
print(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "moshi", "safetensors", "sentencepiece"}))
"""


@pytest.mark.slow  # imports nearly all of the app
def test_neither_window_nor_recogniser_imports_torch(packages: Path) -> None:
    for name in ("moshi", "safetensors", "sentencepiece"):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(f"raise SystemExit('{name} was imported')")
    environment = {**os.environ, "PYTHONPATH": str(packages), "QT_QPA_PLATFORM": "offscreen"}
    done = run_python("-c", WINDOW, env=environment, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["[]"]), done.stderr
