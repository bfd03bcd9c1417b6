"""The talk between the bench and a rival's process, over standard input and output. Runs in the rival's own Python.

Messages are a byte that says what they are, the length of the rest in four bytes, and the rest. To the rival: A, 20 ms
of the user's sound (16-bit, 16 kHz), at the pace of sound. From the rival: R, it is ready; A, the sample rate in four
bytes, and sound to be played (16-bit); F, what is not played yet is not to be played; T, the number of a turn in four
bytes, and its recognised words as UTF-8.
"""

from __future__ import annotations

import os
import struct
import sys
import threading

USER_RATE = 16_000
_HEAD = struct.Struct("<cI")


class Pipe:
    """The rival's end. Standard output is taken over: whatever else is printed goes to standard error."""

    def __init__(self):
        self._in = sys.stdin.buffer
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._lock = threading.Lock()
        self._turns = 0

    def read(self):
        """The next 20 ms of the user's sound as bytes; None at the end."""
        head = self._in.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        kind, size = _HEAD.unpack(head)
        data = self._in.read(size)
        return data if kind == b"A" else None

    def ready(self):
        """Tells that questions can be heard."""
        self._send(b"R", b"")

    def play(self, rate, samples):
        """Plays 16-bit samples."""
        self._send(b"A", struct.pack("<I", rate) + samples)

    def flush(self):
        """Plays no more of what was given."""
        self._send(b"F", b"")

    def heard(self, text, turn=0):
        """Tells what the user was understood to say. `turn`: later words of the same turn take their place; 0: new."""
        self._turns += not turn
        self._send(b"T", struct.pack("<I", turn or self._turns) + text.encode("utf-8"))

    def _send(self, kind, data):
        with self._lock:
            self._out.write(_HEAD.pack(kind, len(data)) + data)
            self._out.flush()


def settings():
    """What the bench has set, from the environment."""
    names = ("URL", "KEY", "MODEL", "PERSONA", "WHISPER", "VOICE")
    return {name.lower(): os.environ.get(f"KAME_RIVAL_{name}", "") for name in names}
