"""The protocol between the bench and a rival's process, over standard input and output. Runs in the rival's own Python.

A message is a type byte, the payload length in four bytes, and the payload. To the rival: A, 20 ms of the user's audio
(16-bit, 16 kHz), in real time. From the rival: R, ready; A, the sample rate in four bytes and audio to play (16-bit);
F, discard queued audio; T, a turn number in four bytes and its recognised words as UTF-8.
"""

from __future__ import annotations

import os
import struct
import sys
import threading

USER_RATE = 16_000
_HEAD = struct.Struct("<cI")


class Pipe:
    """The rival's end. Takes over standard output; anything else printed goes to standard error."""

    def __init__(self):
        self._in = sys.stdin.buffer
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._lock = threading.Lock()
        self._turns = 0

    def read(self):
        """Returns the next 20 ms of the user's audio as bytes; None at the end."""
        head = self._in.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        kind, size = _HEAD.unpack(head)
        data = self._in.read(size)
        return data if kind == b"A" else None

    def ready(self):
        """Reports that questions can be received."""
        self._send(b"R", b"")

    def play(self, rate, samples):
        """Plays 16-bit samples."""
        self._send(b"A", struct.pack("<I", rate) + samples)

    def flush(self):
        """Discards audio that has not been played."""
        self._send(b"F", b"")

    def heard(self, text, turn=0):
        """Reports the recognised words. `turn`: later words of the same turn replace earlier ones; 0: a new turn."""
        self._turns += not turn
        self._send(b"T", struct.pack("<I", turn or self._turns) + text.encode("utf-8"))

    def _send(self, kind, data):
        with self._lock:
            self._out.write(_HEAD.pack(kind, len(data)) + data)
            self._out.flush()


def settings():
    """Returns the bench's settings, from the environment."""
    names = ("URL", "KEY", "MODEL", "PERSONA", "WHISPER", "VOICE")
    return {name.lower(): os.environ.get(f"KAME_RIVAL_{name}", "") for name in names}
