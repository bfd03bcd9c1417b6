"""Generates `locks/sizes.json`: the download size and installed size of each locked package, in bytes.

    python packaging/sizes.py     download the wheels for all systems and Python versions, and write their sizes

Must be rerun whenever the locks change. The wheels, about 10 GB in total, are kept in `build/wheels`.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT / "packaging") not in sys.path:
    sys.path.append(str(ROOT / "packaging"))

from building.wheels import Target, fetch, pin_of, requirements_for, unpacked_size  # noqa: E402
from installation.locks import EMBEDDED, FOR_CARD, digest  # noqa: E402

LOCKS = (*EMBEDDED.locks, "card.txt")
TARGETS = tuple(Target(system, version) for system in ("linux", "windows") for version in ("3.11", "3.12", "3.13"))


def write_sizes() -> Path:
    """Writes `sizes.json` and returns its path."""
    locks = ROOT / "packaging" / "locks"
    # The digests show whether the sizes match the current locks.
    sizes: dict[str, dict] = {"locks": {name: digest(locks / name) for name in LOCKS}}
    folders: list[Path] = []
    for target in TARGETS:
        folders.append(ROOT / "build" / "wheels" / str(target))
        link_wheels(folders[:-1], folders[-1])
        wheels = fetch([locks / name for name in LOCKS], target, folders[-1])
        if target.system == "windows":
            # The registry's torch for Windows is built without CUDA; the app installs another build.
            wheels = [wheel for wheel in wheels if not wheel.name.startswith("torch-")]
        every = {pin_of(wheel.name): [wheel.stat().st_size, unpacked_size(wheel)] for wheel in wheels}
        own = {pin for name in EMBEDDED.locks for pin in requirements_for((locks / name).read_text("utf-8"), target)}
        sizes[str(target)] = {pin: size for pin, size in every.items() if pin in own}
        sizes[f"{target}{FOR_CARD}"] = {pin: size for pin, size in every.items() if pin not in own}
    path = locks / "sizes.json"
    lines = json.dumps(sizes, indent=1, sort_keys=True)
    # One line per package.
    path.write_text(lines.replace("[\n   ", "[").replace(",\n   ", ", ").replace("\n  ]", "]") + "\n", "utf-8")
    return path


def link_wheels(folders: list[Path], target: Path) -> None:
    """Hard-links the wheels in `folders` that fit any Python version into `target`, to avoid downloading them again."""
    target.mkdir(parents=True, exist_ok=True)
    for wheel in (wheel for folder in folders for wheel in folder.glob("*-none-*.whl")):
        with contextlib.suppress(FileExistsError):
            os.link(wheel, target / wheel.name)


if __name__ == "__main__":
    print(write_sizes())
