"""Runs the command line, for `python -m app` and the command `kame-desktop`."""

from __future__ import annotations

import sys

from app.platform.standard_streams import ready_streams


def main() -> int:
    """Runs the command line with this process's arguments; returns the exit code."""
    ready_streams()
    if sys.argv[1:2] == ["ptt"]:
        from app.cli import ptt_command

        code = ptt_command.main(sys.argv[2:])  # a key press waits for as few imports as possible
        if code is not None:
            return code
    from app.cli.parser import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
