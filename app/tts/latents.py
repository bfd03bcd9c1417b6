"""The child process that gives a Piper voice's latents, as its parent uses it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from app.platform.children import end_child, python_module_command, quiet_child
from app.tts.base import VoiceError
from app.tts.latents_worker import SIZE
from app.untrusted.files import read_line
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE


class LatentVoice:
    """Gives the latents of texts. A context manager; `model` is a Piper voice of medium quality."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LatentVoice:
        """Starts the child. Raises VoiceError."""
        command = python_module_command("app.tts.latents_worker", str(self._model))
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        assert self._child.stdout is not None
        if not self._child.stdout.readline():
            self.__exit__()
            raise VoiceError(
                f"The voice {self._model.stem} gives no latents: it is no Piper voice of medium quality, or a package "
                "is missing."
            )
        return self

    def __exit__(self, *exc: object) -> None:
        if self._child is not None:
            end_child(self._child)
            self._child = None

    def speak(self, text: str, rate: float = 1.0) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """The latents, `[N, 192]`, and the first latent of each word and the one after it. Raises VoiceError."""
        child = self._child
        assert child is not None and child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps({"text": text, "rate": rate}).encode() + b"\n")
        child.stdin.flush()
        line = read_line(child.stdout, CHILD_LINE)
        if not line:
            raise VoiceError("The voice's process has ended.")
        head = read_json(line, CHILD_LINE)
        if "error" in head:
            raise VoiceError(f"The voice could not speak “{text}” ({head['error']}).")
        raw = child.stdout.read(head["bytes"])
        return np.frombuffer(raw, "<f4").reshape(-1, SIZE), [(start, end) for start, end in head["words"]]
