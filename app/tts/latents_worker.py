"""The child process that gives the latents of a Piper voice: what its decoder turns into sound.

Piper is GPL-3.0-or-later and runs as a program of its own. It communicates with its parent as `app.tts.worker`
describes; the result is described by `words`: the first latent of each word, and the one after it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.models.onnx import cut_at, import_onnxruntime
from app.tts.piper_worker import LENGTHS, open_voice
from app.tts.word_times import word_spans
from app.tts.worker import serve

LATENTS = "/Mul_7_output_0"
"""The value in front of the decoder of Piper's models of medium quality."""

SIZE = 192
"""Numbers in one latent."""


@dataclass(frozen=True, slots=True)
class Latents:
    """A text as latents, `[N, 192]`. `words`: the first latent of each word, and the one after it."""

    values: np.ndarray
    words: list[tuple[int, int]]

    def numbers(self) -> np.ndarray:
        """What is sent after the line that describes it."""
        return self.values

    def description(self) -> dict[str, object]:
        """What the line says of it."""
        return {"words": self.words}


def load(model: Path) -> Callable[[str, float], Latents]:
    """Loads the voice in the file `model`, without its decoder."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # it would name each weight that is left out
    session = onnxruntime.InferenceSession(
        cut_at(model.read_bytes(), LATENTS, LENGTHS), options, providers=["CPUExecutionProvider"]
    )
    voice, pronounce = open_voice(model, session)
    config = voice.config

    def speak(text: str, rate: float) -> Latents:
        rows: list[np.ndarray] = []
        phonemes: list[str] = []
        ends: list[int] = []
        at = 0
        for sentence in voice.phonemize(text):
            ids = voice.phonemes_to_ids(sentence)
            # Without noise (the first and the third scale) the latents depend on the text alone.
            scales = np.array([0.0, config.length_scale / rate, 0.0], np.float32)
            latents, lengths = session.run(
                None, {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)]), "scales": scales}
            )
            rows.append(latents[0].T)
            spans = np.cumsum(lengths.reshape(-1)).astype(int)
            # Each phoneme is followed by a pad, and the sentence is enclosed by marks: ids[0] is the first mark.
            places = _places(sentence, ids, config.phoneme_id_map)
            phonemes += [*sentence, " "]
            ends += [at + int(spans[place]) for place in places] + [at + len(rows[-1])]
            at += len(rows[-1])
        if not rows:
            return Latents(np.zeros((0, SIZE), np.float32), [])
        return Latents(np.concatenate(rows), word_spans(text.split(), phonemes, ends, pronounce))

    return speak


def _places(sentence: list[str], ids: list[int], table: Mapping[str, Sequence[int]]) -> list[int]:
    """The place in `ids` of the last id of each phoneme, the pad behind it included."""
    at, places = 0, []
    for phoneme in sentence:
        for wanted in table.get(phoneme, []):
            while at < len(ids) and ids[at] != wanted:
                at += 1
            at += 1
        places.append(min(at, len(ids) - 1))
    return places


if __name__ == "__main__":
    raise SystemExit(serve(lambda: load(Path(sys.argv[1]).absolute())))
