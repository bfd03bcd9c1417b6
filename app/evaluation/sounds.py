"""`bench sounds`: what becomes of sounds that are no turn of the user's, such as laughter, and of real interruptions.

Each recording is heard twice by the app's own ears: while the assistant speaks, and while nobody does. Recogniser and
judges answer as late as in `bench turns`, in the sound's own time, so that the figures are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from app.conversation import turn as floor
from app.conversation.frame import SAMPLE_RATE
from app.conversation.turn import TurnSettings, TurnTracker
from app.evaluation.listening import Listener
from app.evaluation.speech_models import SpeechModels, speech_models
from app.stt.base import TranscriberError
from app.stt.endpointing_weights import end_weights

LEVEL_DBFS = -24.0
"""RMS of a recording's loud part: that of somebody's speech at a headset."""
ROOM_DBFS = -65.0
LEAD_SECONDS, TAIL_SECONDS = 1.5, 3.0
"""Of the room alone around each recording; the tail is longer than any wait for a turn's end."""
SUFFIXES = (".flac", ".ogg", ".wav")

Fate = Literal["nothing", "held", "interrupted"]


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one recording.

    Over the assistant: `fate` is the worst that happened to its answer, `stopped` when it first fell silent and
    `interrupted` when its answer was lost, in seconds from the sound's beginning, `silent` for how long it was held;
    `kept` are the words of the turn that took the floor from it. In silence: `answered` are the words that the brain
    was asked about (empty: it was not).
    """

    name: str
    fate: Fate
    stopped: float | None
    interrupted: float | None
    silent: float
    kept: str
    answered: str


def in_room(samples: np.ndarray, rate: int) -> np.ndarray:
    """The recording at `LEVEL_DBFS`, in a room: float32 at 24 kHz."""
    mono = samples if samples.ndim == 1 else samples.mean(axis=1)
    sound = soxr.resample(mono.astype(np.float32), rate, SAMPLE_RATE)
    block = SAMPLE_RATE // 50
    power = np.square(sound[: len(sound) // block * block], dtype=np.float64).reshape(-1, block).mean(axis=1)
    loud = power[power > power.max(initial=0.0) / 100].mean() if power.size else 0.0
    gain = 10 ** (LEVEL_DBFS / 20) / np.sqrt(loud + 1e-12)
    sound = sound * min(gain, 0.95 / (np.abs(sound).max(initial=0.0) + 1e-9))
    lead, tail = (round(seconds * SAMPLE_RATE) for seconds in (LEAD_SECONDS, TAIL_SECONDS))
    room = np.random.default_rng(1).standard_normal(lead + len(sound) + tail) * 10 ** (ROOM_DBFS / 20)
    room[lead : lead + len(sound)] += sound
    return room.astype(np.float32)


def follow(name: str, samples: np.ndarray, models: SpeechModels, settings: TurnSettings | None = None) -> Heard:
    """Listens to a recording (as from `in_room`), while the assistant speaks and while nobody does."""

    def listener(speaks_from: float) -> Listener:
        tracker = TurnTracker(end_weights(), settings)
        return Listener(models.voice_detector(), models.transcriber(), tracker, speaks_from=speaks_from)

    over, alone = listener(-math.inf), listener(math.inf)
    held: list[tuple[float, float]] = []
    held_since = interrupted = None
    for at, happened in over.listen(samples):
        for one in happened:
            match one:
                case floor.Hold():
                    held_since = at
                case floor.GoOn() if held_since is not None:
                    held.append((held_since, at))
                    held_since = None
                case floor.Interrupt() | floor.Yield() if interrupted is None:
                    if held_since is not None:
                        held.append((held_since, at))
                    interrupted, held_since = at, None
    for _ in alone.listen(samples):
        pass
    fate: Fate = "interrupted" if interrupted is not None else "held" if held else "nothing"
    stops = [begin for begin, _ in held] + ([interrupted] if interrupted is not None else [])
    return Heard(
        name,
        fate,
        min(stops) - LEAD_SECONDS if stops else None,
        interrupted - LEAD_SECONDS if interrupted is not None else None,
        sum(end - begin for begin, end in held),
        " / ".join(words for words in over.finals.values() if words),
        " / ".join(words for words in alone.finals.values() if words),
    )


@dataclass(slots=True)
class SoundsResult:
    """What a run of the bench gave: of sounds that are no turn, and of speech."""

    sounds: list[Heard] = field(default_factory=list)
    speech: list[Heard] = field(default_factory=list)

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            "| recording | over the assistant | silent, s | asked | in silence, asked |",
            "| --- | --- | ---: | --- | --- |",
        ]
        for one in (*self.sounds, *self.speech):
            when = "" if one.stopped is None else f" after {1000 * one.stopped:.0f} ms"
            lines.append(f"| {one.name} | {one.fate}{when} | {one.silent:.2f} | {one.kept} | {one.answered} |")
        lines += [
            "",
            "| | recordings | interrupt, % | hold, % | answered, % | stop within 300 ms, % | p50, ms | p95, ms |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, group in (("no turn", self.sounds), ("speech", self.speech)):
            if group:
                f = figures(group)
                shares = (100 * f[key] for key in ("interrupt", "hold", "answered", "within_300_ms"))
                lines.append(
                    f"| {name} | {f['recordings']} |"
                    + "".join(f" {share:.1f} |" for share in shares)
                    + f" {f['p50_ms']} | {f['p95_ms']} |"
                )
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            name: {
                **figures(group),
                "each": [
                    {
                        "name": one.name,
                        "fate": one.fate,
                        "stopped": one.stopped,
                        "interrupted": one.interrupted,
                        "silent": round(one.silent, 3),
                        "kept": one.kept,
                        "answered": one.answered,
                    }
                    for one in group
                ],
            }
            for name, group in (("sounds", self.sounds), ("speech", self.speech))
            if group
        }


def figures(group: Sequence[Heard]) -> dict[str, Any]:
    """Shares of all recordings; one over which the assistant never fell silent counts as 9 s."""
    took = [9.0 if one.stopped is None else one.stopped for one in group]
    count = len(group)
    return {
        "recordings": count,
        "interrupt": sum(one.fate == "interrupted" for one in group) / count,
        "hold": sum(one.fate == "held" for one in group) / count,
        "answered": sum(bool(one.answered) for one in group) / count,
        "within_300_ms": sum(one <= 0.3 for one in took) / count,
        "p50_ms": round(1000 * float(np.quantile(took, 0.5))),
        "p95_ms": round(1000 * float(np.quantile(took, 0.95))),
    }


def recordings(folder: Path) -> list[Path]:
    """The sound files of a folder and those below it. Raises TranscriberError if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not found:
        kinds = ", ".join(suffix[1:].upper() for suffix in SUFFIXES)
        raise TranscriberError(f"There are no recordings in {folder}. Name a folder with {kinds} files in it.")
    return found


def run_sounds(
    folder: Path, speech: Path | None = None, *, progress: Callable[[str], None] = lambda text: None
) -> SoundsResult:
    """Listens to the recordings in `folder`, which hold no turn, and to those in `speech`, which hold one each.

    Raises TranscriberError.
    """
    result = SoundsResult()
    files = [(path, result.sounds) for path in recordings(folder)]
    files += [(path, result.speech) for path in recordings(speech)] if speech is not None else []
    with speech_models() as models:
        for number, (path, group) in enumerate(files, 1):
            progress(f"recording {number} of {len(files)}")
            try:
                samples, rate = soundfile.read(path, dtype="float32")
            except soundfile.LibsndfileError as error:
                raise TranscriberError(f"The recording {path.name} can't be read: {error}") from error
            group.append(follow(path.name, in_room(samples, rate), models))
    return result
