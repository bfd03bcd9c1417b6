"""The parent-side interface to the child process that computes a Piper voice's latents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from app.platform.children import ChildError, ChildWorker
from app.research.nano.codec_layout import LATENT
from app.tts.base import VoiceError
from app.tts.child_voice import speak_seconds


class LatentVoice:
    """A context manager that computes the latents of sentences. `model`: the file of a medium-quality Piper voice."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._child = ChildWorker("app.research.nano.latents_worker", str(model))

    def __enter__(self) -> LatentVoice:
        """Starts the child process. Raises VoiceError."""
        try:
            self._child.start()
        except ChildError as error:
            self.__exit__()
            raise VoiceError(
                f"The voice {self._model.stem} gives no latents, since {error}: it is no Piper voice of medium "
                "quality, or a package is missing."
            ) from None
        return self

    def __exit__(self, *exc: object) -> None:
        self._child.close()

    def speak(self, text: str, rate: float = 1.0) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Returns the latents of `text`, shape (N, 192), and each word's half-open (start, end) range of rows.

        Raises VoiceError.
        """
        asked = json.dumps({"text": text, "rate": rate}).encode() + b"\n"
        try:
            head, raw = self._child.ask(asked, speak_seconds(text))
        except ChildError as error:
            raise VoiceError(f"The voice has stopped: {error}.") from None
        if "error" in head:
            raise VoiceError(f"The voice could not speak “{text}” ({head['error']}).")
        return np.frombuffer(raw, "<f4").reshape(-1, LATENT), [(start, end) for start, end in head["words"]]
