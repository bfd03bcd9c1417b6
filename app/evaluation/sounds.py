"""`bench sounds`: what becomes of sounds that are no turn of the user's, such as laughter, and of real interruptions.

Each recording is heard twice by the app's own ears: while the assistant speaks, and while nobody does. Recogniser and
judges answer as late as in `bench turns`, in the sound's own time, so that the figures are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from app.conversation import events as e
from app.conversation import turn as floor
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.turn import TurnSettings, TurnTracker
from app.evaluation.turns import TimedEars
from app.installed import completing_command
from app.offline_models import model_path
from app.stt.base import EndOfTurn, TranscriberError, TranscriptUpdate, VoiceActivity
from app.stt.streaming import Decoder, WordsJudge
from app.stt.turn_ends import end_weights

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


@dataclass(slots=True)
class _Pass:
    """One hearing: times in session seconds."""

    held: list[tuple[float, float]] = field(default_factory=list)
    interrupted: float | None = None
    words: list[str] = field(default_factory=list)


class SoundFollower:
    """Hears recordings as a session does, frame by frame."""

    def __init__(
        self,
        make_voice: Callable[[], VoiceActivity],
        decoder: Decoder,
        judge: EndOfTurn,
        words_judge: WordsJudge | None = None,
        settings: TurnSettings | None = None,
    ) -> None:
        self._make_voice = make_voice
        self._decoder, self._judge, self._words_judge = decoder, judge, words_judge
        self._settings = settings

    def follow(self, name: str, samples: np.ndarray) -> Heard:
        """`samples`: as from `in_room`."""
        over, alone = self._hear(samples, assistant_speaks=True), self._hear(samples, assistant_speaks=False)
        fate: Fate = "interrupted" if over.interrupted is not None else "held" if over.held else "nothing"
        stops = [begin for begin, _ in over.held] + ([over.interrupted] if over.interrupted is not None else [])
        return Heard(
            name,
            fate,
            min(stops) - LEAD_SECONDS if stops else None,
            over.interrupted - LEAD_SECONDS if over.interrupted is not None else None,
            sum(end - begin for begin, end in over.held),
            " / ".join(over.words),
            " / ".join(alone.words),
        )

    def _hear(self, samples: np.ndarray, *, assistant_speaks: bool) -> _Pass:
        tracker = TurnTracker(end_weights(), self._settings)
        voice, ears = self._make_voice(), TimedEars(self._decoder, self._judge, self._words_judge)
        out, held_since = _Pass(), None

        def hear(update: TranscriptUpdate) -> None:
            words = " ".join(part for part in (update.stable, update.unstable) if part)
            tracker.hint_words(update.turn, words, update.heard_until)
            if update.final and words:
                out.words.append(words)

        ears.on_update, ears.on_finished = hear, tracker.hint_finished
        for index in range(len(samples) // FRAME_SAMPLES):
            frame = Frame(index, samples[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES])
            ears.deliver(frame.at)
            windows = voice.hear(frame)
            facts = tracker.hear(frame.at, windows, assistant_speaks=assistant_speaks)
            ears.push(frame, any(w.probability >= 0.5 for w in windows))
            for fact in facts:
                match fact:
                    case e.UserStarted(at, turn):
                        ears.begin(turn, at)
                    case e.UserPaused(_, turn, speech_end):
                        ears.pause(turn, speech_end)
                    case e.UserResumed(_, turn):
                        ears.resume(turn)
                        out.words = []
                    case e.UserEnded(_, turn, speech_end):
                        ears.end(turn, speech_end)
                    case e.UserBackchannel(_, turn):
                        ears.discard(turn)
                    case floor.Hold():
                        held_since = frame.at
                    case floor.GoOn() if held_since is not None:
                        out.held.append((held_since, frame.at))
                        held_since = None
                    case floor.Interrupt() | floor.Yield() if assistant_speaks:
                        if held_since is not None:
                            out.held.append((held_since, frame.at))
                        out.interrupted, assistant_speaks, held_since = frame.at, False, None
        ears.deliver(1e9)
        return out


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
                    {"name": one.name, "fate": one.fate, "stopped": one.stopped, "interrupted": one.interrupted,
                     "silent": round(one.silent, 3), "kept": one.kept, "answered": one.answered}
                    for one in group
                ],
            }
            for name, group in (("sounds", self.sounds), ("speech", self.speech))
            if group
        }  # fmt: skip


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
    from app.stt import finished_words
    from app.stt.silero import SileroVoiceActivity
    from app.stt.smart_turn import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder

    ears, end = model_path("ears"), model_path("end of turn")
    if not ears.is_dir() or not end.is_file():
        raise TranscriberError("The models that hear are not installed. Set the app up again: "
                               f"{completing_command()}.")  # fmt: skip
    result = SoundsResult()
    files = [(path, result.sounds) for path in recordings(folder)]
    files += [(path, result.speech) for path in recordings(speech)] if speech is not None else []
    words = finished_words.load()
    try:
        follower = SoundFollower(SileroVoiceActivity, WhisperDecoder(ears), SmartTurn(end), words)
        for number, (path, group) in enumerate(files, 1):
            progress(f"recording {number} of {len(files)}")
            try:
                samples, rate = soundfile.read(path, dtype="float32")
            except soundfile.LibsndfileError as error:
                raise TranscriberError(f"The recording {path.name} can't be read: {error}") from error
            group.append(follower.follow(path.name, in_room(samples, rate)))
    finally:
        if words is not None:
            words.close()
    return result
