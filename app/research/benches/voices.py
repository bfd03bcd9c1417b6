"""`bench voices`: the speed, clarity and loudness of each installed voice, and how accurate its word times are.

Every voice says the same sentences of its language (`resources/bench/sentences.json`). Whisper base reads them back and
finds where each word ends, to some 50 ms. Loudness is that of ITU-R BS.1770-5.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jiwer
import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import AUTOMATIC
from app.conversation.words import fold
from app.diagnostics.tables import Progress, markdown, quantile
from app.models.errors import ModelError
from app.models.locations import is_here, model_path
from app.platform.resources import resource
from app.research.benches.loudness import loudness
from app.research.benches.reader import Reader
from app.tts.base import Clip
from app.tts.child_voice import ChildVoice
from app.tts.voices import VoiceEntry, all_voices, choose_voice, speaker_of

READER = "whisper-base"
READER_LEAD = 0.065
"""Seconds by which Whisper base puts the end of a word too early, which are corrected: the median at ten commas of Joe,
compared with where the sound falls silent."""


@dataclass(frozen=True, slots=True)
class VoiceFigures:
    """Figures of one voice. `first`: median seconds to a first clause's sound; `rate`: seconds of sound for one of
    processor; `memory`: bytes of its process, 0 if unknown; `wrong`: share of words that were read back wrong;
    `loudness` and its spread over sentences in LUFS and dB; `word_p50`, `word_p90`: seconds between a word's end and
    the end that Whisper finds.
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
    """The sentences of a language."""
    return list(json.loads(resource("bench", "sentences.json").read_text("utf-8"))[language])


def run_voices(keys: Sequence[str], count: int, progress: Progress) -> list[VoiceFigures]:
    """Measures the voices `keys`, or all installed ones, by `count` sentences each. Raises ModelError and
    VoiceError.
    """
    if not is_here(READER):
        raise ModelError(f"The voices are read back by Whisper base, which is not here. Get it: models get {READER}.")
    entries = [choose_voice(key, AUTOMATIC) for key in keys] or [v for v in all_voices() if is_here(v.model.key)]
    reader = Reader(model_path(READER))
    out = []
    for entry in entries:
        progress(f"Measuring {entry.label} …")
        out.append(_measure(entry, sentences(entry.language)[:count], reader))
    return out


def table(figures: Sequence[VoiceFigures]) -> str:
    """The figures as a Markdown table."""
    head = ["Voice", "Language", "First clause (s)", "Sound per s of processor (s)", "Memory (MB)"]
    head += ["Words read otherwise", "Loudness (LUFS)", "Word ends off, median and 90 % (ms)"]
    rows = [
        (
            one.voice,
            one.language,
            f"{one.first:.2f}",
            f"{one.rate:.1f}",
            f"{one.memory / 1e6:.0f}" if one.memory else "–",
            f"{one.wrong:.1%}",
            f"{one.loudness:.1f} ± {one.loudness_spread:.1f}",
            f"{one.word_p50 * 1000:.0f}, {one.word_p90 * 1000:.0f}",
        )
        for one in figures
    ]
    return "\n".join(markdown(head, rows, text_columns=2))


def document(figures: Sequence[VoiceFigures]) -> dict[str, Any]:
    """The figures for JSON."""
    return {"voices": [asdict(one) for one in figures]}


def _measure(entry: VoiceEntry, texts: Sequence[str], reader: Reader) -> VoiceFigures:
    firsts: list[float] = []
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
    for text, clip in zip(texts, clips, strict=True):
        heard = reader.words(clip.samples, entry.language)
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
        quantile(np.abs(off), 0.5, 4),
        quantile(np.abs(off), 0.9, 4),
    )


def word_errors(clip: Clip, heard: Sequence[tuple[str, float]]) -> list[float]:
    """For each word of a clip that was read back right, how many seconds later its end was found."""
    own = [fold(word.text) for word in clip.words]
    theirs = [fold(word) for word, _ in heard]
    return [
        heard[block.b + index][1] + READER_LEAD - clip.words[block.a + index].end / SAMPLE_RATE
        for block in SequenceMatcher(None, own, theirs, autojunk=False).get_matching_blocks()
        for index in range(block.size)
    ]


def process_memory(process: int) -> int:
    """Resident bytes of a process; 0 on systems other than Linux."""
    try:
        status = Path(f"/proc/{process}/status").read_text("utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        return 0
