"""`bench voices`: how quick, how clear and how loud each voice is that is here, and how well it tells its words' times.

Every voice says the same sentences of its language (`resources/bench/sentences.json`). Whisper base reads them back and
says when it hears each word end; its own times are good to some 50 ms. Loudness is that of ITU-R BS.1770-5.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import AUTOMATIC
from app.conversation.words import fold
from app.evaluation.loudness import loudness
from app.models.errors import ModelError
from app.models.locations import is_here, model_path
from app.platform.resources import resource
from app.stt.whisper_library import faster_whisper
from app.tts.base import Clip
from app.tts.child_voice import ChildVoice
from app.tts.voices import VoiceEntry, all_voices, choose_voice, speaker_of

READER = "whisper-base"
READER_RATE = 16_000
READER_LEAD = 0.065
"""Seconds by which Whisper base puts the end of a word too early: the median at ten commas of Joe, against where the
sound falls silent there. It is taken off."""


@dataclass(frozen=True, slots=True)
class VoiceFigures:
    """What one voice did. `first`: seconds to a first clause's sound, the median; `rate`: seconds of sound for one of
    processor; `memory`: bytes of its process, 0: not known; `wrong`: share of words that were read back otherwise;
    `loudness` and its spread over sentences, in LUFS and dB; `word_p50`, `word_p90`: seconds between a word's end and
    where Whisper hears it.
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


def sentences(language: str) -> list[str]:
    """Return the sentences of a language."""
    return list(json.loads(resource("bench", "sentences.json").read_text("utf-8"))[language])


Keep = Callable[[str, int, Clip], None]
"""Gets every clip, with its voice's key and its number."""


def run_voices(
    keys: Sequence[str], count: int, progress: Callable[[str], None], keep: Keep | None = None
) -> list[VoiceFigures]:
    """Measure the voices `keys`, or all that are here, by `count` sentences each. Raise ModelError and VoiceError."""
    if not is_here(READER):
        raise ModelError(f"The voices are read back by Whisper base, which is not here. Get it: models get {READER}.")
    entries = [choose_voice(key, AUTOMATIC) for key in keys] or [v for v in all_voices() if is_here(v.model.key)]
    reader = faster_whisper().WhisperModel(str(model_path(READER)), device="cpu", compute_type="int8", cpu_threads=1)
    out = []
    for entry in entries:
        progress(f"Measuring {entry.label} …")
        out.append(_measure(entry, sentences(entry.language)[:count], reader, keep))
    return out


def table(figures: Sequence[VoiceFigures]) -> str:
    """Return a Markdown table."""
    lines = [
        "| Voice | Language | First clause (s) | Sound per s of processor (s) | Memory (MB) | Words read otherwise "
        "| Loudness (LUFS) | Word ends off, median and 90 % (ms) |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in figures:
        lines.append(
            f"| {one.voice} | {one.language} | {one.first:.2f} | {one.rate:.1f} "
            f"| {f'{one.memory / 1e6:.0f}' if one.memory else '–'} | {one.wrong:.1%} "
            f"| {one.loudness:.1f} ± {one.loudness_spread:.1f} | {one.word_p50 * 1000:.0f}, {one.word_p90 * 1000:.0f} |"
        )
    return "\n".join(lines)


def document(figures: Sequence[VoiceFigures]) -> dict[str, Any]:
    """Return the figures as they are written to a file."""
    return {"voices": [asdict(one) for one in figures]}


def _measure(entry: VoiceEntry, texts: Sequence[str], reader: Any, keep: Keep | None) -> VoiceFigures:
    firsts: list[float] = []
    clips: list[Clip] = []
    with ChildVoice(speaker_of(entry)) as voice:
        for text in texts[:5]:
            began = time.perf_counter()
            voice.synthesize(" ".join(text.split()[:5]) + ",").result()
            firsts.append(time.perf_counter() - began)
        before = voice.cpu_seconds
        clips = [voice.synthesize(text).result() for text in texts]
        processor = voice.cpu_seconds - before
        memory = process_memory(voice.process)
    off: list[float] = []
    asked, read = [], []
    for number, (text, clip) in enumerate(zip(texts, clips, strict=True)):
        if keep is not None:
            keep(entry.key, number, clip)
        heard = read_back(reader, clip, entry.language)
        asked.append(" ".join(fold(text)))
        read.append(" ".join(fold(" ".join(word for word, _ in heard))))
        off += word_errors(clip, heard)
    loud = [loudness(clip.samples, SAMPLE_RATE) for clip in clips]
    seconds = sum(len(clip.samples) for clip in clips) / SAMPLE_RATE
    return VoiceFigures(
        entry.key,
        entry.language,
        round(statistics.median(firsts), 3),
        round(seconds / max(processor, 1e-6), 2),
        memory,
        round(jiwer.wer(asked, read), 4),
        round(statistics.mean(loud), 2),
        round(statistics.pstdev(loud), 2),
        round(float(np.quantile(np.abs(off), 0.5)), 4) if off else float("nan"),
        round(float(np.quantile(np.abs(off), 0.9)), 4) if off else float("nan"),
    )


def read_back(reader: Any, clip: Clip, language: str) -> list[tuple[str, float]]:
    """Return the words that Whisper hears in a clip, each with the second at which it ends."""
    sound = soxr.resample(clip.samples, SAMPLE_RATE, READER_RATE).astype(np.float32)
    segments, _ = reader.transcribe(
        sound, language=language, beam_size=5, word_timestamps=True, condition_on_previous_text=False
    )
    return [(word.word.strip(), word.end) for segment in segments for word in segment.words]


def word_errors(clip: Clip, heard: Sequence[tuple[str, float]]) -> list[float]:
    """Return, for each word of a clip that was heard as it is, how many seconds later it was heard to end."""
    own = [fold(word.text) for word in clip.words]
    theirs = [fold(word) for word, _ in heard]
    return [
        heard[block.b + index][1] + READER_LEAD - clip.words[block.a + index].end / SAMPLE_RATE
        for block in SequenceMatcher(None, own, theirs, autojunk=False).get_matching_blocks()
        for index in range(block.size)
    ]


def process_memory(process: int) -> int:
    """Return the bytes of a process in memory; 0 where the system doesn't say it in a file, as Linux does."""
    try:
        status = Path(f"/proc/{process}/status").read_text("utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        return 0
