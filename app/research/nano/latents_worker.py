"""The child process that computes a Piper voice's latents, the input of its decoder.

Piper is GPL-3.0-or-later, so it runs as a separate program. The protocol between parent and child is documented in
`app.tts.worker`. The data are the latents, shape (N, 192), and the header line also contains `words`, each word's
half-open (start, end) range of rows.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from app.models.onnx import import_onnxruntime
from app.research.nano.codec_layout import LATENT
from app.research.nano.onnx_parts import cut_at
from app.tts.piper_worker import LENGTHS, open_voice
from app.tts.word_times import word_spans
from app.tts.worker import Answer, Speak, serve

LATENTS = "/Mul_7_output_0"
"""The decoder's input tensor in Piper's medium-quality models."""


def load(model: Path) -> Speak:
    """Loads the voice in the file `model`, without its decoder."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # otherwise it warns about every removed weight
    session = onnxruntime.InferenceSession(
        cut_at(model.read_bytes(), LATENTS, LENGTHS), options, providers=["CPUExecutionProvider"]
    )
    voice, pronounce = open_voice(model, session)
    config = voice.config

    def speak(text: str, rate: float) -> Answer:
        rows: list[np.ndarray] = []
        phonemes: list[str] = []
        ends: list[int] = []
        at = 0
        for sentence in voice.phonemize(text):
            ids = voice.phonemes_to_ids(sentence)
            # With the noise off (first and third scale), the latents depend only on the text and the rate.
            scales = np.array([0.0, config.length_scale / rate, 0.0], np.float32)
            latents, lengths = session.run(
                None, {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)]), "scales": scales}
            )
            rows.append(latents[0].T)
            spans = np.cumsum(lengths.reshape(-1)).astype(int)
            # A padding token follows each phoneme, and boundary tokens enclose the sentence; ids[0] is the first.
            places = _places(sentence, ids, config.phoneme_id_map)
            phonemes += [*sentence, " "]
            ends += [at + int(spans[place]) for place in places] + [at + len(rows[-1])]
            at += len(rows[-1])
        if not rows:
            return np.zeros((0, LATENT), np.float32), {"words": []}
        return np.concatenate(rows), {"words": word_spans(text.split(), phonemes, ends, pronounce)}

    return speak


def _places(sentence: list[str], ids: list[int], table: Mapping[str, Sequence[int]]) -> list[int]:
    """Returns, for each phoneme, the index in `ids` of its last token, which is the padding token after it."""
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
