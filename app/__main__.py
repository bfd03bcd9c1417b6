"""`python -m app`, and the command `kame-desktop`: runs the command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line with this process's arguments; returns the exit code."""
    from app.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
