"""`python -m tests.fuzz --minutes 30`: hostile input for every boundary; what it does not stand is kept as a case."""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROUND = 60
"""Inputs for one boundary before it is the next one's turn."""
MOST_MEMORY = 300 * 2**20
MOST_STALL = 1.0


def main() -> int:
    """Runs until the time is over; returns 1 where a defect was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--only", default="", help="boundaries whose name holds this")
    options = parser.parse_args()
    home = tempfile.mkdtemp(prefix="kame-fuzz-home-")
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[name] = home  # nothing of the user's is read or written
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.dont_write_bytecode = True

    # The app's modules find their folders when they are imported.
    from tests.fuzz.boundaries import BOUNDARIES
    from tests.fuzz.harness import Fuzzer

    boundaries = [one for one in BOUNDARIES if options.only in one.name]
    fuzzer = Fuzzer(MOST_STALL, MOST_MEMORY)
    print(f"{len(boundaries)} boundaries for {options.minutes:g} minutes, --seed {options.seed}", flush=True)

    defects: list[Path] = []

    def on_defect(path: Path, told: str) -> None:
        defects.append(path)
        print(f"\nDEFECT, kept as {path}:\n{told}\n", flush=True)

    until = time.monotonic() + 60 * options.minutes
    seeds = random.Random(options.seed)
    while time.monotonic() < until:
        for boundary in boundaries:
            if time.monotonic() > until:
                break
            fuzzer.search(boundary, ROUND, seeds.getrandbits(32), on_defect)
    fuzzer.close()
    for name, count in fuzzer.inputs.items():
        print(f"{name}: {count:,} inputs")
    print(f"{fuzzer.inputs.total():,} inputs; {f'{len(defects)} DEFECTS' if defects else 'no defect'}.")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
