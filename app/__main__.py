"""The entry point of the command line, for `python -m app` and the `kame-desktop` command."""

from __future__ import annotations

import contextlib
import sys

from app.platform.standard_streams import CLOSED_PIPE, flush_streams, is_closed_pipe, ready_streams


def main() -> int:
    """Runs the command line with this process's arguments and returns the exit code."""
    ready_streams()
    try:
        code = _run(sys.argv[1:])
    except SystemExit as left:  # from `argparse`
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except KeyboardInterrupt:
        code = 0
    except Exception as error:  # the parser failed to load, or reporting an error failed
        trouble = flush_streams()
        return _exit_code(trouble, 1) if trouble is not None else _failed(error)
    return _exit_code(flush_streams(), code)


def _exit_code(trouble: OSError | None, code: int) -> int:
    """Returns the exit code of a command that ended with `code`, given any error from writing its output."""
    if trouble is None:
        return code
    return CLOSED_PIPE if is_closed_pipe(trouble) else code or 2


def _failed(error: Exception) -> int:
    from app.cli.fault_log import logged

    with contextlib.suppress(OSError):
        print(logged(error), file=sys.stderr, flush=True)
    return 1


def _run(argv: list[str]) -> int:
    if argv[:1] == ["ptt"]:
        from app.cli import ptt_command

        code = ptt_command.main(argv[1:])  # imports as little as possible, since this handles a key press
        if code is not None:
            return code
    from app.cli.parser import main as run

    return run(argv)


if __name__ == "__main__":
    raise SystemExit(main())
