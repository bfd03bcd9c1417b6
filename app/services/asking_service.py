"""Speaks questions as somebody else than the assistant would, for them to be asked aloud in a conversation."""

from __future__ import annotations

import asyncio

import numpy as np

from app.session.errors import UserError

PITCH = 1.13
"""How much higher the assistant's own voice speaks where no other one is on this machine: two semitones, and a smaller
mouth. With more, the smallest recogniser mishears it."""


class AskingService:
    """Its voice is loaded for each question, and kept by the pool of models for the next one."""

    async def speak(self, text: str, language: str, answering: str = "") -> np.ndarray:
        """Return `text` spoken in `language` (two letters), float32 mono 24 kHz; `answering`: the assistant's voice as
        in the settings. Raises UserError.
        """
        return await asyncio.to_thread(_speak, text, language, answering)


def _speak(text: str, language: str, answering: str) -> np.ndarray:
    import soxr

    from app.conversation.frame import SAMPLE_RATE
    from app.models.catalogue import ModelError
    from app.tts.base import VoiceError
    from app.tts.voices import choose_voice, make_voice, other_voice

    try:
        own = choose_voice(answering, language)
        other = other_voice(own)
        if other is not None:
            with make_voice(other.key, language) as voice:
                return voice.synthesize(text).result().samples
        # Spoken slowly and played fast: as quick as before, and higher.
        with make_voice(own.key, language, rate=1 / PITCH) as voice:
            samples = voice.synthesize(text).result().samples
        return soxr.resample(samples, SAMPLE_RATE * PITCH, SAMPLE_RATE).astype(np.float32)
    except (VoiceError, ModelError) as error:
        raise UserError(str(error)) from error
