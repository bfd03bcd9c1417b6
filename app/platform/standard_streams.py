"""Makes the standard streams usable wherever the app starts: from a terminal, a pipe, or a shortcut without either.

Under `pythonw.exe`, and where the streams were closed, Python sets `sys.stdout`, `sys.stderr` and `sys.stdin` to None,
and every `print`, `argparse`, progress bar or warning would fail. It imports little: a key press waits for it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys

CLOSED_PIPE = 141
"""The exit code where nobody reads the output any longer: what shells report of a program that SIGPIPE has ended."""

_unseen = False


class _Discarded(io.TextIOWrapper):
    """Text on the null device, which Windows takes for a terminal."""

    def isatty(self) -> bool:
        return False


def ready_streams() -> None:
    """Replaces missing standard streams by the null device, and makes the others write UTF-8."""
    global _unseen
    _unseen = sys.stderr is None
    if sys.stdin is None:
        sys.stdin = _null("rb")
    if sys.stdout is None:
        sys.stdout = _null("wb")
    if sys.stderr is None:
        sys.stderr = _null("wb")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # Windows writes to pipes and files in a code page that lacks most characters.
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]


def flush_streams() -> OSError | None:
    """Writes what the standard streams still hold. Returns why one can't be written, and discards the rest for it."""
    trouble: OSError | None = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            trouble = trouble or error
            with contextlib.suppress(OSError, ValueError):  # Python flushes it again at its end
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, stream.fileno())
                os.close(null)
        except (AttributeError, ValueError):
            pass
    return trouble


def is_closed_pipe(error: OSError) -> bool:
    """Whether an error says that nobody reads a pipe any longer."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def show_unseen(sentence: str) -> None:
    """Shows an error in a message box on Windows where there is no error output to read."""
    if _unseen and sys.platform == "win32":
        import ctypes

        error_icon, to_foreground = 0x10, 0x10000
        ctypes.windll.user32.MessageBoxW(None, sentence, "KAME", error_icon | to_foreground)


def _null(mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(os.devnull, mode)
    return _Discarded(io.BufferedReader(raw) if mode == "rb" else raw, encoding="utf-8", write_through=True)
