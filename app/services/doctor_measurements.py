"""Measures for the command `doctor` how fast the embedded speech parts and the graphics card are here."""

from __future__ import annotations

import importlib
import time

from app.conversation.frame import SAMPLE_RATE
from app.models.fit import Precision, shape_of
from app.models.locations import default_model
from app.platform import single_instance

QUESTION_SECONDS = 4.0
RECOGNISER_RATE = 16_000
MIMI_MS = 6.0
"""What the codec adds to a frame on a card that holds the model. An estimate until it has been measured."""
FRAME_LIMIT_MS = 60.0
"""A frame of 80 ms that takes no longer than this leaves enough time for all else."""


def embedded_speed() -> tuple[bool, str]:
    """Returns whether the embedded recogniser and voice keep up with a conversation, and their times in words.

    Raises VoiceError, OSError, RuntimeError, ImportError or ValueError where they can't be tried.
    """
    from app.tts.voices import make_voice

    recognition = _recognition_seconds()
    with make_voice() as voice:
        voice.synthesize("One moment.").result(60)
        started = time.perf_counter()
        clip = voice.synthesize("The capital of France is Paris.").result(60)
        synthesis = time.perf_counter() - started
    seconds = len(clip.samples) / SAMPLE_RATE
    words = (
        f"hears {QUESTION_SECONDS:.0f} s of speech in {recognition:.2f} s, says {seconds:.1f} s in {synthesis:.2f} s"
    )
    return recognition < 1.0 and synthesis < 0.6 * seconds, words


def _recognition_seconds() -> float:
    from app.services.model_speed import speech_sample
    from app.stt.whisper_decoder import WhisperDecoder

    samples = speech_sample(RECOGNISER_RATE, QUESTION_SECONDS)
    decoder = WhisperDecoder(default_model("stt"))
    decoder.decode(samples)  # warms it up
    started = time.perf_counter()
    decoder.decode(samples)
    return time.perf_counter() - started


def predicted_frame(precision: Precision, context: int) -> str:
    """Predicts from the card's memory bandwidth whether KAME keeps up, in sentences."""
    measure = importlib.import_module("app.frontend.kame.measure")
    device = importlib.import_module("torch").device("cuda")
    try:
        bandwidth = measure.copy_bandwidth(device)
    except RuntimeError as error:
        return f" Its memory could not be measured ({str(error).splitlines()[0]})."
    floor = shape_of(None, context).frame_bytes(precision) / bandwidth * 1000
    likely = 1.5 * floor + MIMI_MS
    keeps_up = "will keep up" if likely <= FRAME_LIMIT_MS else "may not keep up; choose a smaller precision"
    return (
        f" Its memory moves {bandwidth / 1e9:.0f} GB/s: a frame of 80 ms should take about {likely:.0f} ms, so it "
        f"{keeps_up}. “{single_instance.command()} bench frame --random-weights” measures it."
    )
