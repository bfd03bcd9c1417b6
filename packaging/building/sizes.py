"""Write `locks/sizes.json`: how many bytes each package of the app's locks is to download and on disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from building.wheels import Target, fetch, pin_of, unpacked_size
from installation.provision import LOCKS

TARGETS = tuple(Target(system, version) for system in ("linux", "windows") for version in ("3.11", "3.12", "3.13"))


def digests(locks: Path) -> dict[str, str]:
    """Return the locks' digests, which tell whether the sizes are those of the present locks."""
    return {name: hashlib.sha256((locks / name).read_bytes()).hexdigest() for name in LOCKS}


def write_sizes(root: Path) -> Path:
    """Fetch the wheels for all targets, 0.5 GB each, and write down their sizes."""
    locks = root / "packaging" / "locks"
    sizes: dict[str, dict] = {"locks": digests(locks)}
    for target in TARGETS:
        wheels = fetch([locks / name for name in LOCKS], target, root / "build" / "wheels" / str(target))
        sizes[str(target)] = {pin_of(wheel): [wheel.stat().st_size, unpacked_size(wheel)] for wheel in wheels}
    path = locks / "sizes.json"
    lines = json.dumps(sizes, indent=1, sort_keys=True)
    # One line a package.
    path.write_text(lines.replace("[\n   ", "[").replace(",\n   ", ", ").replace("\n  ]", "]") + "\n", "utf-8")
    return path
