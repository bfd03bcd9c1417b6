"""Loads a stand-in for the CUDA runtime and driver, so that torch plans for cards that aren't there."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from app.platform.children import quiet_child
from app.session.control import UserError

SOURCE = Path(__file__).with_name("card_stub.c")
CAPABILITIES = (75, 80, 86, 89, 90, 120)
"""The stand-in's cards, from Turing to Blackwell: the first is `cuda:0`."""


def load_card_stub() -> None:
    """Compiles the stand-in and loads it into this process, before torch.

    Raises UserError: this isn't Linux, or there is no C compiler.
    """
    compiler = shutil.which("g++") or shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        raise UserError(
            "Launches are counted on Linux, with a C compiler. Install one (on Debian: apt install g++), and try again."
        )
    assert "torch" not in sys.modules, "torch has already loaded the real runtime"
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "libcuda.so.1"
        command = [compiler, "-x", "c", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", str(library)]
        subprocess.run([*command, str(SOURCE)], check=True, timeout=60, **quiet_child())
        # Libraries that are loaded later find its functions before those of the real runtime, which isn't global.
        stub = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    stub.stub_cards(len(CAPABILITIES), (ctypes.c_int * len(CAPABILITIES))(*CAPABILITIES))
