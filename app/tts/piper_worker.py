"""The child process that runs Piper. Piper is GPL-3.0-or-later and must therefore stay a separate program.

The protocol between parent and child is documented in `app.tts.worker`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from app.models.onnx import import_onnxruntime, open_onnx
from app.tts.espeak import enter_data_folder
from app.tts.word_times import word_ends
from app.tts.worker import Answer, Speak, serve, speech

SEED = 20251002
"""Seeds the voice's random variation, so that the same sequence of texts gives the same audio in every run."""

NOISE, LENGTH_NOISE = 0.4, 0.5
"""Noise scales for audio and durations, lower than Piper's defaults of 0.667 and 0.8 for a more even delivery."""

PEAK = 0.6
"""Peak amplitude of each sentence."""

ROUNDED_UP = 0.25
"""Share of a sentence's duration that `length_scale` doesn't affect, because durations are rounded up to whole frames.
Fitted to eight sentences spoken by the voice Joe at six rates."""

LENGTHS = "Ceil"
"""Type of the ONNX node that outputs phoneme durations; `piper.patch_voice_with_alignment` uses the same one."""


def open_voice(model: Path, session: Any) -> tuple[Any, Callable[[str], str]]:
    """Returns a `PiperVoice` for the file `model`, run by `session`, and a function that returns a word's phonemes.

    The voice's .json file must be in the same folder.
    """
    from piper import PiperVoice
    from piper.config import PiperConfig

    config = PiperConfig.from_dict(json.loads(model.with_name(model.name + ".json").read_text("utf-8")))
    voice = PiperVoice(session=session, config=config, espeak_data_dir=enter_data_folder())
    return voice, lambda word: "".join(phoneme for sentence in voice.phonemize(word) for phoneme in sentence)


def load(model: Path) -> Speak:
    """Loads the voice in the file `model`."""
    from piper import SynthesisConfig

    import_onnxruntime().set_seed(SEED)
    try:
        session = open_onnx(model, output_of=LENGTHS)  # one core is enough (RTF 0.07) and leaves the rest free
    except ValueError:
        session = open_onnx(model)
    voice, pronounce = open_voice(model, session)
    config = voice.config

    def speak(text: str, rate: float) -> Answer:
        stretch = (1 / rate - ROUNDED_UP) / (1 - ROUNDED_UP)
        config_of_text = SynthesisConfig(
            noise_scale=NOISE, noise_w_scale=LENGTH_NOISE, volume=PEAK, length_scale=config.length_scale * stretch
        )
        chunks = list(voice.synthesize(text, config_of_text, include_alignments=True))
        if not chunks:
            return speech(np.zeros(0, np.float32), config.sample_rate)
        samples = np.concatenate([chunk.audio_float_array for chunk in chunks])
        phonemes: list[str] = []
        ends: list[int] = []
        chunk_start = 0
        for chunk in chunks:
            at = chunk_start
            for aligned in chunk.phoneme_alignments or ():
                at += int(aligned.num_samples)
                phonemes.append(aligned.phoneme)
                ends.append(at)
            phonemes.append(" ")
            chunk_start += len(chunk.audio_float_array)
            ends.append(chunk_start)
        known = all(chunk.phoneme_alignments for chunk in chunks)
        return speech(
            samples, config.sample_rate, word_ends(text.split(), phonemes, ends, pronounce) if known else None
        )

    return speak


if __name__ == "__main__":
    raise SystemExit(serve(lambda: load(Path(sys.argv[1]).absolute())))
