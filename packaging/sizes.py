"""Keep `locks/sizes.json` true: how many bytes each package of the app's locks is to download and on disk.

    python packaging/sizes.py     fetch the wheels for all systems and Python versions, and write their sizes

Run it after the locks have changed. The wheels, 0.5 GB for each of the six, stay in `build/wheels`.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT / "packaging") not in sys.path:
    sys.path.append(str(ROOT / "packaging"))

from building.wheels import Target, fetch, pin_of, unpacked_size  # noqa: E402
from installation.locks import digest  # noqa: E402
from installation.provision import LOCKS  # noqa: E402

TARGETS = tuple(Target(system, version) for system in ("linux", "windows") for version in ("3.11", "3.12", "3.13"))


def write_sizes() -> Path:
    """Write the file anew."""
    locks = ROOT / "packaging" / "locks"
    # Their digests tell whether the sizes are those of the present locks.
    sizes: dict[str, dict] = {"locks": {name: digest(locks / name) for name in LOCKS}}
    for target in TARGETS:
        wheels = fetch([locks / name for name in LOCKS], target, ROOT / "build" / "wheels" / str(target))
        sizes[str(target)] = {pin_of(wheel): [wheel.stat().st_size, unpacked_size(wheel)] for wheel in wheels}
    path = locks / "sizes.json"
    lines = json.dumps(sizes, indent=1, sort_keys=True)
    # One line a package.
    path.write_text(lines.replace("[\n   ", "[").replace(",\n   ", ", ").replace("\n  ]", "]") + "\n", "utf-8")
    return path


if __name__ == "__main__":
    print(write_sizes())
