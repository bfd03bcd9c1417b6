"""The child process that runs Piper. Piper is GPL-3.0-or-later and must therefore stay a separate program.

The model is split at the latents, the input of its decoder, which can decode them in parts: the first third of a second
of sound is there in about half the time that a clause takes. A model that can't be split there is run as a whole.

The protocol between parent and child is documented in `app.tts.worker`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.models.onnx import cut_at, cut_from, import_onnxruntime, input_of, open_onnx
from app.tts.espeak import enter_data_folder
from app.tts.numerals import respelled
from app.tts.word_times import word_spans
from app.tts.worker import Answer, Speak, SpeakInParts, serve, speech

SEED = 20251002
"""Seeds the voice's random variation, so that the same sequence of texts gives the same audio in every run."""

NOISE, LENGTH_NOISE = 0.4, 0.5
"""Noise scales for audio and durations, lower than Piper's defaults of 0.667 and 0.8 for a more even delivery."""

PEAK = 0.6
"""Mean peak amplitude of a clause. The peaks of clauses vary by 1.6 dB (standard deviation)."""

CALIBRATION = ("The sky is blue, because air scatters blue light.", "It is Paris.", "Water boils at a hundred degrees.")
"""Texts whose mean peak determines the voice's gain."""

ROUNDED_UP = 0.25
"""Share of a sentence's duration that `length_scale` doesn't affect, because durations are rounded up to whole frames.
Fitted to eight sentences spoken by the voice Joe at six rates."""

LENGTHS = "Ceil"
"""Type of the ONNX node that outputs phoneme durations; `piper.patch_voice_with_alignment` uses the same one."""

DECODER = "/dec/conv_pre/Conv"
"""The ONNX node with which the decoder begins. Its input is the latents."""

MARGIN = 12
"""Rows of latents before and after a part that the decoder needs, so that the parts have the samples of the whole."""
FIRST_ROWS = 30
"""Rows in the first part: 0.35 s of sound. Each further part is twice as long as the one before."""


@dataclass(frozen=True, slots=True)
class Latents:
    """The latents of a text, shape (channels, N), and each word's half-open (start, end) range of rows."""

    rows: np.ndarray
    words: list[tuple[int, int]]


class Encoder:
    """The part of the voice in the file `model` that computes the latents of a text.

    The .json file must be in the same folder. `parts`: the model, if it is in memory. Raises ValueError if the model
    has no latents.
    """

    def __init__(self, model: Path, parts: bytes | None = None) -> None:
        whole = parts or model.read_bytes()
        session = open_onnx(cut_at(whole, latents_of(whole), LENGTHS), errors_only=True)
        self._voice, self._pronounce = open_voice(model, session)
        self.config = self._voice.config

    def encode(self, text: str, stretch: float, noise: float = 0.0, length_noise: float = 0.0) -> Latents:
        """Returns the latents of `text`, spoken `stretch` times as long as usual.

        Without noise, they depend on the text and `stretch` alone.
        """
        rows: list[np.ndarray] = []
        phonemes: list[str] = []
        ends: list[int] = []
        at = 0
        config = self.config
        scales = np.array([noise, config.length_scale * stretch, length_noise], np.float32)
        for sentence in self._voice.phonemize(respelled(text, config.espeak_voice)):
            ids = self._voice.phonemes_to_ids(sentence)
            latents, lengths = self._voice.session.run(
                None, {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)]), "scales": scales}
            )
            rows.append(latents[0])
            spans = np.cumsum(lengths.reshape(-1)).astype(int)
            # A padding token follows each phoneme, and boundary tokens enclose the sentence; ids[0] is the first.
            places = _places(sentence, ids, config.phoneme_id_map)
            phonemes += [*sentence, " "]
            ends += [at + int(spans[place]) for place in places] + [at + rows[-1].shape[1]]
            at += rows[-1].shape[1]
        if not rows:
            return Latents(np.zeros((0, 0), np.float32), [])
        return Latents(np.concatenate(rows, axis=1), word_spans(text.split(), phonemes, ends, self._pronounce))


def _places(sentence: Sequence[str], ids: Sequence[int], table: Mapping[str, Sequence[int]]) -> list[int]:
    """Returns, for each phoneme, the index in `ids` of its last token, which is the padding token after it."""
    at, places = 0, []
    for phoneme in sentence:
        for wanted in table.get(phoneme, []):
            while at < len(ids) and ids[at] != wanted:
                at += 1
            at += 1
        places.append(min(at, len(ids) - 1))
    return places


def latents_of(model: bytes) -> str:
    """Returns the name of the latents in a Piper model. Raises ValueError if it has none."""
    return input_of(model, DECODER)


def open_voice(model: Path, session: Any) -> tuple[Any, Callable[[str], str]]:
    """Returns a `PiperVoice` for the file `model`, run by `session`, and a function that returns a word's phonemes.

    The voice's .json file must be in the same folder.
    """
    from piper import PiperVoice
    from piper.config import PiperConfig

    config = PiperConfig.from_dict(json.loads(model.with_name(model.name + ".json").read_text("utf-8")))
    voice = PiperVoice(session=session, config=config, espeak_data_dir=enter_data_folder())

    def pronounce(word: str) -> str:
        spelling = respelled(word, config.espeak_voice)
        return "".join(phoneme for sentence in voice.phonemize(spelling) for phoneme in sentence)

    return voice, pronounce


def stretch_at(rate: float) -> float:
    """Returns the factor of `length_scale` at which the voice speaks `rate` times as fast as usual."""
    return (1 / rate - ROUNDED_UP) / (1 - ROUNDED_UP)


def load(model: Path) -> Speak | tuple[Speak, SpeakInParts]:
    """Loads the voice in the file `model`."""
    import_onnxruntime().set_seed(SEED)
    whole = model.read_bytes()
    try:
        encoder = Encoder(model, whole)
        decoder = open_onnx(cut_from(whole, latents_of(whole)), errors_only=True)
    except ValueError:
        return _load_whole(model)
    return _split_voice(encoder, lambda rows: decoder.run(None, {decoder.get_inputs()[0].name: rows[None]})[0].ravel())


def _split_voice(encoder: Encoder, decode: Callable[[np.ndarray], np.ndarray]) -> tuple[Speak, SpeakInParts]:
    rate_in_hertz = encoder.config.sample_rate
    made = [encoder.encode(text, 1.0, NOISE, LENGTH_NOISE).rows for text in CALIBRATION]
    sounds = [decode(rows) for rows in made]
    hop = len(sounds[0]) // made[0].shape[1]
    gain = PEAK / float(np.mean([np.abs(sound).max() for sound in sounds]))

    def parts(text: str, rate: float, first_rows: int) -> Iterator[Answer]:
        latents = encoder.encode(text, stretch_at(rate), NOISE, LENGTH_NOISE)
        count, begin, length = latents.rows.shape[1], 0, first_rows
        ends = [end * hop for _, end in latents.words]
        while True:
            end = min(count, begin + length) if count - begin - length > MARGIN else count
            first, last = max(0, begin - MARGIN), min(count, end + MARGIN)
            sound = decode(latents.rows[:, first:last]) if count else np.zeros(0, np.float32)
            samples = sound[(begin - first) * hop :][: (end - begin) * hop]
            yield speech(samples * np.float32(gain), rate_in_hertz, ends, more=end < count, length=count * hop)
            begin, length = end, 2 * length
            if begin >= count:
                return

    def speak(text: str, rate: float) -> Answer:
        return next(parts(text, rate, 1_000_000))

    return speak, lambda text, rate: parts(text, rate, FIRST_ROWS)


def _load_whole(model: Path) -> Speak:
    from piper import SynthesisConfig

    voice, _ = open_voice(model, open_onnx(model))  # one core is enough (RTF 0.07) and leaves the rest free
    config = voice.config

    def speak(text: str, rate: float) -> Answer:
        config_of_text = SynthesisConfig(
            noise_scale=NOISE,
            noise_w_scale=LENGTH_NOISE,
            volume=PEAK,
            length_scale=config.length_scale * stretch_at(rate),
        )
        chunks = [chunk.audio_float_array for chunk in voice.synthesize(text, config_of_text)]
        return speech(np.concatenate([np.zeros(0, np.float32), *chunks]), config.sample_rate)

    return speak


if __name__ == "__main__":
    raise SystemExit(serve(lambda: load(Path(sys.argv[1]).absolute())))
