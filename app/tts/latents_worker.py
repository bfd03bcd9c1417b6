"""The child process that gives the latents of a Piper voice: what its decoder turns into sound.

Piper is GPL-3.0-or-later and runs as a program of its own. Standard input: a line `{"text": …, "rate": …}`. Standard
output: a line `{"latents": count, "words": [[start, end], …]}`, in latents, and count x 192 numbers of float32, or a
line `{"error": …}`; first of all `{"ready": true}`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from app.models.onnx import cut_at, import_onnxruntime
from app.tts.espeak import enter_data_folder
from app.tts.piper_worker import LENGTHS
from app.tts.word_times import word_spans

LATENTS = "/Mul_7_output_0"
"""The value in front of the decoder of Piper's models of medium quality."""

SIZE = 192
"""Numbers in one latent."""

Speak = Callable[[str, float], tuple[np.ndarray, list[tuple[int, int]]]]


def load(model: Path) -> Speak:
    """Loads the voice in the file `model`, without its decoder."""
    from piper import PiperVoice
    from piper.config import PiperConfig

    data = enter_data_folder()
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # it would name each weight that is left out
    session = onnxruntime.InferenceSession(
        cut_at(model.read_bytes(), LATENTS, LENGTHS), options, providers=["CPUExecutionProvider"]
    )
    config = PiperConfig.from_dict(json.loads(model.with_name(model.name + ".json").read_text("utf-8")))
    voice = PiperVoice(session=session, config=config, espeak_data_dir=data)

    def pronounce(word: str) -> str:
        return "".join(phoneme for sentence in voice.phonemize(word) for phoneme in sentence)

    def speak(text: str, rate: float) -> tuple[np.ndarray, list[tuple[int, int]]]:
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
            return np.zeros((0, SIZE), np.float32), []
        return np.concatenate(rows), word_spans(text.split(), phonemes, ends, pronounce)

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


def main(model: Path) -> int:
    """Serves until standard input ends; returns the exit code."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints stays out of the stream
    speak = load(model)
    out.write(json.dumps({"ready": True}).encode() + b"\n")
    out.flush()
    for line in sys.stdin.buffer:
        latents = np.zeros((0, SIZE), "<f4")
        try:
            asked = json.loads(line)
            latents, words = speak(asked["text"], asked.get("rate", 1.0))
            head: dict[str, object] = {"latents": len(latents), "words": words}
        except Exception as error:
            head = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(head).encode() + b"\n" + latents.astype("<f4").tobytes())
        out.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]).absolute()))
