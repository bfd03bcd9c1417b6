"""`bench codec`: how well the codec of a small model keeps a voice's speech, and what its parts cost a frame.

Sentences are spoken by the voice without noise, once as they are and once through the codec, frame by frame as in a
session. Whisper reads both back. What counts is the difference: the codec's own share of the wrong words.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soxr
import torch

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, no_progress, quantile
from app.frontend.kame.codec.voice_codec import LATENTS, VoiceCodec
from app.platform.resources import resource
from app.research.benches.word_errors import compare
from app.tts.latents import LatentVoice

VOICE_RATE = 22_050
"""Samples a second of a Piper voice of medium quality."""


@dataclass(slots=True)
class CodecResult:
    """Wrong words of the voice and of the codec, as shares, and processor seconds of each frame.

    `left`: the share of the latents' variance that the codes don't hold.
    """

    sentences: int = 0
    voice_wrong: float = 0.0
    codec_wrong: float = 0.0
    left: float = 0.0
    decode: list[float] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)

    def table(self) -> str:
        """The result as text."""
        rows = [
            ["words read back wrong, the voice", f"{self.voice_wrong:.1%}"],
            ["words read back wrong, the codec", f"{self.codec_wrong:.1%}"],
            ["variance that the codes leave", f"{self.left:.1%}"],
            *(
                [f"{name}, ms of processor time a frame, p50 / p99", f"{p50 * 1e3:.1f} / {p99 * 1e3:.1f}"]
                for name, p50, p99 in self._times()
            ),
            ["share of one core", f"{self._share():.1%}"],
        ]
        return "\n".join([f"{self.sentences} sentences; {machine()}", "", *markdown(["", "value"], rows)])

    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "sentences": self.sentences,
            "voice_wrong": round(self.voice_wrong, 4),
            "codec_wrong": round(self.codec_wrong, 4),
            "variance_left": round(self.left, 4),
            "core_share": round(self._share(), 4),
            **{
                f"{name}_{key}": value
                for name, p50, p99 in self._times()
                for key, value in (("p50", p50), ("p99", p99))
            },
        }

    def _times(self) -> list[tuple[str, float, float]]:
        parts = (("decode", self.decode), ("encode", self.encode))
        return [(name, quantile(values, 0.5, 5), quantile(values, 0.99, 5)) for name, values in parts]

    def _share(self) -> float:
        return (sum(self.decode) / len(self.decode) + sum(self.encode) / len(self.encode)) / FRAME_SECONDS


def bench_sentences() -> list[str]:
    """Fifty sentences of the benches of voices and of answers, to which no codec is fitted."""
    spoken = json.loads(resource("bench", "sentences.json").read_text("utf-8"))["en"]
    asked = json.loads(resource("bench", "answers.json").read_text("utf-8"))
    return [*spoken, *(str(entry["question"]) for entry in asked)][:50]


@torch.no_grad()
def run_codec(
    codec: VoiceCodec,
    voice: Path,
    read: Callable[[np.ndarray], str],
    sentences: Sequence[str] = (),
    progress: Progress = no_progress,
) -> CodecResult:
    """Measures a codec of the Piper voice in `voice`. `read`: transcribes float32 24 kHz. Raises VoiceError."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    result = CodecResult()
    plain, coded = [], []
    squares = np.zeros(2)
    try:
        with LatentVoice(voice) as speaking:
            for text in sentences or bench_sentences():
                progress(f"sentence {result.sentences + 1}: {text}")
                latents, _ = speaking.speak(text)
                padded = np.pad(latents, ((0, -len(latents) % LATENTS), (0, 0)))
                frames = torch.from_numpy(padded.reshape(-1, LATENTS * latents.shape[1]))
                sound = codec.vocoder(torch.from_numpy(padded.T.copy())[None])[0, 0].numpy()
                plain.append((text, read(np.asarray(soxr.resample(sound, VOICE_RATE, SAMPLE_RATE), np.float32))))
                codes = codec.own.encode(frames)
                squares += [
                    float((codec.own.decode(codes) - frames).square().sum()),
                    float((frames - codec.own.mean).square().sum()),
                ]
                coded.append((text, read(_through(codec, codes, result))))
                result.sentences += 1
    finally:
        torch.set_num_threads(threads)
    result.voice_wrong, result.codec_wrong = compare(plain).wer, compare(coded).wer
    result.left = float(squares[0] / squares[1])
    return result


def _through(codec: VoiceCodec, codes: torch.Tensor, result: CodecResult) -> np.ndarray:
    """Decodes frame by frame and encodes what comes out, as a session does; the times go into `result`."""
    ended = torch.tensor([codec.silence, codec.silence])
    out = []
    with codec.streaming(1):
        for column in torch.cat([codes, ended]):
            began = time.process_time()
            sound = codec.decode(column[None, :, None])
            result.decode.append(time.process_time() - began)
            began = time.process_time()
            codec.encode(sound)
            result.encode.append(time.process_time() - began)
            out.append(sound.view(FRAME_SAMPLES).numpy())
    return np.concatenate(out)
