"""A service that synthesizes spoken questions for a conversation, in a voice other than the assistant's."""

from __future__ import annotations

import asyncio

import numpy as np

from app.session.control import UserError

PITCH = 1.13
"""The pitch factor applied to the assistant's own voice if no other voice is installed: about two semitones up,
formants included. At higher values, the smallest speech recogniser makes errors."""


class AskingService:
    """The service for spoken questions. The voice is kept in the model pool for the next question."""

    async def speak(self, text: str, language: str, answering: str = "") -> np.ndarray:
        """Synthesizes `text` in `language` (a two-letter code) as float32 mono at 24 kHz. Raises UserError.

        `answering`: the assistant's voice, as named in the settings.
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
        # Synthesizing slower and playing faster keeps the tempo and raises the pitch.
        with make_voice(own.key, language, rate=1 / PITCH) as voice:
            samples = voice.synthesize(text).result().samples
        return soxr.resample(samples, SAMPLE_RATE * PITCH, SAMPLE_RATE).astype(np.float32)
    except (VoiceError, ModelError) as error:
        raise UserError(str(error)) from error
