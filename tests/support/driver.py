"""Compiles a fake of the library of NVIDIA's driver from `fake_nvml.c`."""

import subprocess
from pathlib import Path

from tests.support.parts import need

SOURCE = Path(__file__).with_name("fake_nvml.c")
RTX_4070 = "NVIDIA GeForce RTX 4070;12878610432;12305039360;8;9"
GTX_1080 = "NVIDIA GeForce GTX 1080;8589934592;8400000000;6;1"
GTX_1650 = "NVIDIA GeForce GTX 1650;4294967296;4200000000;7;5"


def make_driver(folder: Path) -> Path:
    """Compiles the library into a folder; with this folder in LD_LIBRARY_PATH it takes the place of the driver's."""
    need("g++")
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True, timeout=60)
    return library
