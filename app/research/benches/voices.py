"""`bench voices` and `bench codec`: the quality of installed voices, and what a small model's codec preserves.

Every voice speaks the same sentences of its language (`resources/bench/sentences.json`) and is measured for speed,
clarity, loudness, and the accuracy of its word times. Whisper base transcribes the audio and locates the word ends to
within about 50 ms. Loudness follows ITU-R BS.1770-5.

For the codec of a small model, the voice speaks sentences without noise, once directly and once through the codec,
frame by frame as in a session. Whisper transcribes both; the difference in wrong words is due to the codec. `bench
codec` requires torch, `bench voices` does not.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jiwer
import numpy as np
import soxr

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.conversation.languages import AUTOMATIC
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, no_progress, quantile, rounded
from app.models.catalogue import ModelError
from app.models.locations import is_here, model_path
from app.platform.installation import resource
from app.research.benches.recordings import Reader, compare, loudness
from app.research.nano.latents import LatentVoice
from app.tts.base import Clip
from app.tts.child_voice import ChildVoice
from app.tts.voices import VoiceEntry, all_voices, choose_voice, speaker_of

if TYPE_CHECKING:
    import torch

    from app.research.nano.voice_codec import VoiceCodec

VOICE_RATE = 22_050
"""Sample rate in Hz of a medium-quality Piper voice."""
KEYS = ("p50", "p99")


@dataclass(slots=True)
class CodecResult:
    """Word error rates of the voice and of the codec, and processor seconds of each frame.

    `left`: the share of the latents' variance that the codes don't capture.
    """

    sentences: int = 0
    voice_wrong: float = 0.0
    codec_wrong: float = 0.0
    left: float = 0.0
    decode: list[float] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as text."""
        rows = [
            ("words read back wrong, the voice", f"{self.voice_wrong:.1%}"),
            ("words read back wrong, the codec", f"{self.codec_wrong:.1%}"),
            ("variance that the codes leave", f"{self.left:.1%}"),
            *(
                (f"{name}, ms of processor time a frame, p50 / p99", f"{p50 * 1e3:.1f} / {p99 * 1e3:.1f}")
                for name, p50, p99 in self._times()
            ),
            ("share of one core", f"{self._share():.1%}"),
        ]
        return "\n".join([f"{self.sentences} sentences; {machine()}", "", *markdown(["", "value"], rows)])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        shares = {"voice_wrong": self.voice_wrong, "codec_wrong": self.codec_wrong, "variance_left": self.left}
        times = {f"{name}_{key}": value for name, *pair in self._times() for key, value in zip(KEYS, pair, strict=True)}
        return {"sentences": self.sentences, **rounded({**shares, "core_share": self._share()}), **times}

    def _times(self) -> list[tuple[str, float, float]]:
        parts = (("decode", self.decode), ("encode", self.encode))
        return [(name, quantile(values, 0.5, 5), quantile(values, 0.99, 5)) for name, values in parts]

    def _share(self) -> float:
        return (statistics.fmean(self.decode) + statistics.fmean(self.encode)) / FRAME_SECONDS


def bench_sentences() -> list[str]:
    """Returns fifty sentences from `bench voices` and `bench answers`, to which no codec is fitted."""
    spoken = sentences("en")
    asked = json.loads(resource("bench", "answers.json").read_text("utf-8"))
    return [*spoken, *(str(entry["question"]) for entry in asked)][:50]


def run_codec(
    codec: VoiceCodec, voice: Path, read: Callable[[np.ndarray], str], progress: Progress = no_progress
) -> CodecResult:
    """Measures a codec of the Piper voice in `voice`. `read`: transcribes float32 24 kHz. Raises VoiceError."""
    import torch

    from app.research.nano.voice_codec import LATENTS

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    result = CodecResult()
    plain, coded = [], []
    squares = np.zeros(2)
    try:
        with torch.no_grad(), LatentVoice(voice) as speaking:
            for text in bench_sentences():
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
    """Decodes frame by frame and encodes the result, as a session does; adds the times to `result`."""
    import torch

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


READER = "whisper-base"
READER_LEAD = 0.065
"""Seconds by which Whisper base places the end of a word too early, added as a correction. This is the median at ten
commas of the voice Joe, compared with where the audio falls silent."""


@dataclass(frozen=True, slots=True)
class VoiceFigures:
    """Figures of one voice.

    - `first`: median seconds until the audio of a first clause is ready
    - `rate`: seconds of audio per second of processor time
    - `memory`: bytes of its process
    - `wrong`: word error rate when read back
    - `loudness` and its spread over sentences, in LUFS and dB
    - `word_p50`, `word_p90`: seconds between a word's reported end and the end found by Whisper
    """

    voice: str
    language: str
    first: float
    rate: float
    memory: int
    wrong: float
    loudness: float
    loudness_spread: float
    word_p50: float
    word_p90: float


@dataclass(frozen=True, slots=True)
class VoicesResult:
    """The figures of all voices."""

    figures: list[VoiceFigures] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ["Voice", "Language", "First clause (s)", "Sound per s of processor (s)", "Memory (MB)"]
        head += ["Words read otherwise", "Loudness (LUFS)", "Word ends off, median and 90 % (ms)"]
        rows = [
            (
                *(one.voice, one.language, f"{one.first:.2f}", f"{one.rate:.1f}"),
                f"{one.memory / 1e6:.0f}",
                f"{one.wrong:.1%}",
                f"{one.loudness:.1f} ± {one.loudness_spread:.1f}",
                f"{one.word_p50 * 1000:.0f}, {one.word_p90 * 1000:.0f}",
            )
            for one in self.figures
        ]
        return "\n".join(markdown(head, rows, text_columns=2))

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {"voices": [asdict(one) for one in self.figures]}


def sentences(language: str) -> list[str]:
    """Returns the sentences of a language."""
    return list(json.loads(resource("bench", "sentences.json").read_text("utf-8"))[language])


def run_voices(keys: Sequence[str], count: int, progress: Progress) -> VoicesResult:
    """Measures the voices `keys`, or all installed ones, with `count` sentences each.

    Raises ModelError and VoiceError.
    """
    if not is_here(READER):
        raise ModelError(f"The voices are read back by Whisper base, which is not here. Get it: models get {READER}.")
    entries = [choose_voice(key, AUTOMATIC) for key in keys] or [v for v in all_voices() if is_here(v.model.key)]
    reader = Reader(model_path(READER))
    result = VoicesResult()
    for entry in entries:
        progress(f"Measuring {entry.label} …")
        result.figures.append(_measure(entry, sentences(entry.language)[:count], reader))
    return result


def _measure(entry: VoiceEntry, texts: Sequence[str], reader: Reader) -> VoiceFigures:
    import psutil

    firsts: list[float] = []
    with ChildVoice(speaker_of(entry)) as voice:
        for text in texts[:5]:
            began = time.perf_counter()
            voice.synthesize(" ".join(text.split()[:5]) + ",").result()
            firsts.append(time.perf_counter() - began)
        child = psutil.Process(voice.process)
        before = sum(child.cpu_times()[:2])
        clips = [voice.synthesize(text).result() for text in texts]
        processor = sum(child.cpu_times()[:2]) - before
        memory = child.memory_info().rss
    read = [reader.words(clip.samples, entry.language) for clip in clips]
    off = np.abs([late for clip, heard in zip(clips, read, strict=True) for late in word_errors(clip, heard)])
    said = [" ".join(fold(" ".join(word for word, _ in heard))) for heard in read]
    loud = [loudness(clip.samples, SAMPLE_RATE) for clip in clips]
    seconds = sum(len(clip.samples) for clip in clips) / SAMPLE_RATE
    return VoiceFigures(
        entry.key,
        entry.language,
        round(statistics.median(firsts), 3),
        round(seconds / max(processor, 1e-6), 2),
        memory,
        round(jiwer.wer([" ".join(fold(text)) for text in texts], said), 4),
        round(statistics.mean(loud), 2),
        round(statistics.pstdev(loud), 2),
        quantile(off, 0.5, 4),
        quantile(off, 0.9, 4),
    )


def word_errors(clip: Clip, heard: Sequence[tuple[str, float]]) -> list[float]:
    """Returns, for each correctly recognised word, by how many seconds its detected end is after the reported one."""
    own = [fold(word.text) for word in clip.words]
    theirs = [fold(word) for word, _ in heard]
    return [
        heard[block.b + index][1] + READER_LEAD - clip.words[block.a + index].end / SAMPLE_RATE
        for block in SequenceMatcher(None, own, theirs, autojunk=False).get_matching_blocks()
        for index in range(block.size)
    ]
