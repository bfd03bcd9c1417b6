"""Makes the standard streams usable wherever the app starts: from a terminal, a pipe, or a shortcut without either.

Under `pythonw.exe`, or if the streams were closed, Python sets `sys.stdout`, `sys.stderr` and `sys.stdin` to None, and
`argparse`, progress bars and other code that writes to them would fail. Imports are kept to a minimum, since they delay
the response to a key press.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys

CLOSED_PIPE = 141
"""The exit code if the reader has closed the output pipe; equal to the one that shells report for SIGPIPE."""

_unseen = False


class _Discarded(io.TextIOWrapper):
    """A text stream on the null device. Overrides `isatty`, since Windows reports the null device as a terminal."""

    def isatty(self) -> bool:
        return False


def ready_streams() -> None:
    """Replaces missing standard streams with the null device, and sets the output encoding to UTF-8."""
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
            # On Windows, pipes and files default to a code page that lacks most characters.
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]


def flush_streams() -> OSError | None:
    """Flushes the standard streams. Returns the first error, and discards output that can't be written."""
    trouble: OSError | None = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            trouble = trouble or error
            with contextlib.suppress(OSError, ValueError):  # since Python flushes it again at exit
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, stream.fileno())
                os.close(null)
        except (AttributeError, ValueError):
            pass
    return trouble


def is_closed_pipe(error: OSError) -> bool:
    """Returns whether the error means that the reader has closed the pipe."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def show_unseen(sentence: str) -> None:
    """Shows an error in a message box on Windows if the process has no standard error stream."""
    if _unseen and sys.platform == "win32":
        import ctypes

        error_icon, to_foreground = 0x10, 0x10000
        ctypes.windll.user32.MessageBoxW(None, sentence, "KAME", error_icon | to_foreground)


def _null(mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(os.devnull, mode)
    return _Discarded(io.BufferedReader(raw) if mode == "rb" else raw, encoding="utf-8", write_through=True)
