"""The child process that runs Kokoro-82M. It gets its phonemes from espeak-ng, which is GPL-licensed.

The protocol between parent and child is documented in `app.tts.worker`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from app.models.onnx import import_onnxruntime, open_onnx
from app.tts.espeak import Espeak
from app.tts.word_times import word_ends
from app.tts.worker import Answer, Speak, serve, speech

SAMPLE_RATE = 24_000
FRAME = 600
"""Samples per model frame; phoneme durations are whole numbers of frames."""

MOST_TOKENS = 510
"""Maximum number of tokens per piece: the model accepts 512, including one padding token at each end."""

SEED = 20251002

LENGTHS = "Clip"
"""Type of the ONNX node that outputs the duration of each token in frames. The model has only one such node."""

TOKENS = {
    symbol: number
    for first, symbols in (
        (1, ";:,.!?"),
        (9, '—…"()“”\x20\u0303ʣʥʦʨᵝ\uab67AI'),
        (31, "O"),
        (33, "Q"),
        (35, "ST"),
        (39, "W"),
        (41, "Y"),
        (42, "ᵊabcdef"),
        (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
        (75, "βɔɕç"),
        (80, "ɖðʤə"),
        (85, "ɚɛɜ"),
        (90, "ɟ"),
        (92, "ɡ"),
        (99, "ɥ"),
        (101, "ɨɪʝ"),
        (110, "ɯɰŋɳɲɴø"),
        (118, "ɸθœ"),
        (123, "ɹ"),
        (125, "ɾɻ"),
        (128, "ʁɽʂʃʈʧ"),
        (135, "ʊʋ"),
        (138, "ʌɣɤ"),
        (142, "χʎ"),
        (147, "ʒʔ"),
        (156, "ˈˌː"),
        (162, "ʰ"),
        (164, "ʲ"),
        (169, "↓"),
        (171, "→↗↘"),
        (177, "ᵻ"),
    )
    for number, symbol in enumerate(symbols, first)
}
"""The model's 114 symbols and their token IDs, from its config.json."""

SOUNDS = (("tʃ", "ʧ"), ("dʒ", "ʤ"), ("ts", "ʦ"), ("dz", "ʣ"))
ENGLISH_SOUNDS = (
    ("aɪ", "I"),
    ("aʊ", "W"),
    ("eɪ", "A"),
    ("ɔɪ", "Y"),
    ("oʊ", "O"),
    ("əʊ", "Q"),
    ("tʃ", "ʧ"),
    ("dʒ", "ʤ"),
    ("əl", "ᵊl"),
    ("ɚ", "əɹ"),
    ("ɐ", "ə"),
    ("ʲ", ""),
)
"""Maps espeak-ng's phonemes to those of misaki, the Kokoro project's phonemizer, on which the model was trained."""


def as_symbols(phonemes: str, language: str) -> str:
    """Converts espeak-ng's phonemes to the model's symbols, dropping those the model doesn't have."""
    for written, symbol in ENGLISH_SOUNDS if language.startswith("en") else SOUNDS:
        phonemes = phonemes.replace(written, symbol)
    return "".join(symbol for symbol in phonemes if symbol in TOKENS)


def pieces(symbols: str, most: int = MOST_TOKENS) -> Iterator[str]:
    """Splits a sentence into pieces of at most `most` symbols, at punctuation if possible, otherwise between words."""
    while len(symbols) > most:
        window = symbols[:most]
        cut = max((match.end() for match in re.finditer(r"[,;:—] ?", window)), default=0) or window.rfind(" ") + 1
        yield symbols[: cut or most]
        symbols = symbols[cut or most :]
    if symbols.strip():
        yield symbols


def threads() -> int:
    """Returns the number of threads to use: half the machine's cores, but at least one and at most four."""
    return min(4, max(1, (os.cpu_count() or 1) // 2))


def make_speak(session: Any, style: np.ndarray, language: str, phonemize: Callable[[str, str], list[str]]) -> Speak:
    """Creates a `Speak` function. `style` has one row per token count; `phonemize` works like `Espeak.phonemize`."""

    def pronounce(word: str) -> str:
        return as_symbols(" ".join(phonemize(language, word)), language)

    def speak(text: str, rate: float) -> Answer:
        sounds, phonemes, lengths = [], "", [0]
        for sentence in phonemize(language, text):
            for piece in pieces(as_symbols(sentence, language)):
                tokens = [TOKENS[symbol] for symbol in piece]
                sound, frames = session.run(
                    None,
                    {
                        "tokens": np.array([[0, *tokens, 0]], np.int64),
                        "style": style[None, len(tokens) - 1],
                        "speed": np.array([rate], np.float32),
                    },
                )
                sounds.append(np.asarray(sound, np.float32).ravel())
                # The spaces represent the padding tokens and separate the words of adjacent pieces.
                phonemes += f" {piece} "
                lengths += (np.asarray(frames).ravel() * FRAME).astype(int).tolist()
        if not sounds:
            return speech(np.zeros(0, np.float32), SAMPLE_RATE)
        ends = np.cumsum(lengths)[1:]
        return speech(np.concatenate(sounds), SAMPLE_RATE, word_ends(text.split(), phonemes, ends.tolist(), pronounce))

    return speak


def load(model: Path, style: Path, language: str) -> Speak:
    """Loads the model with one voice. The `style` file holds 510 rows of 256 float16 values."""
    import_onnxruntime().set_seed(SEED)
    rows = np.fromfile(style, "<f2").astype(np.float32).reshape(MOST_TOKENS, 256)
    session = open_onnx(model, threads=threads(), output_of=LENGTHS)
    return make_speak(session, rows, language, Espeak().phonemize)


if __name__ == "__main__":
    _model, _style, _language = sys.argv[1:]
    raise SystemExit(serve(lambda: load(Path(_model).absolute(), Path(_style).absolute(), _language)))
