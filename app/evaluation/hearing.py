"""`bench hearing`: the words of live listening against one look at the same sound by the same recogniser.

Recordings of people are listened to frame by frame as a session does, in the sound's own time (see `TimedEars`). The
final words of all turns of a recording are joined, and compared with its transcription, as is what the recogniser makes
of the whole recording at once: the difference is what listening live costs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soundfile
import soxr

from app.conversation import events as e
from app.conversation import turn as floor
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.turn import TurnTracker
from app.conversation.words import fold
from app.evaluation.people import part_of
from app.evaluation.turns import FIRST_SOUND_SECONDS, TimedEars
from app.installed import completing_command
from app.offline_models import model_path
from app.stt.base import TranscriberError, TranscriptUpdate, VoiceActivity
from app.stt.streaming import RATE, Decoder
from app.stt.turn_ends import end_weights

LEAD_SECONDS, TAIL_SECONDS = 0.6, 3.0
"""Silence put before and behind each recording: the recording's own room, as noise."""
ROOM_QUANTILE = 0.05
"""The room is as loud as the quietest twentieth of a recording's frames."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def normalised(text: str) -> tuple[str, ...]:
    """The words of `text` for a comparison: no case, no punctuation, numbers below a hundred in digits, no "um"."""
    out: list[str] = []
    tens = False
    for word in fold(text.replace("-", " ")):
        number = _NUMBERS.get(word)
        if tens and number is not None and 0 < number < 10:
            out[-1], tens = str(int(out[-1]) + number), False
            continue
        tens = number is not None and number >= 20
        out += [str(number)] if number is not None else _SPELLINGS.get(word, word).split()
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Recording:
    """One line of the manifest with its sound, float32 at `SAMPLE_RATE`."""

    name: str
    text: str
    samples: np.ndarray


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a recording: the words of its turns, and of one look at all of it."""

    recording: Recording
    turns: tuple[str, ...]
    one_look: str

    @property
    def live(self) -> str:
        """The words of all turns."""
        return " ".join(text for text in self.turns if text)

    @property
    def lost_beginning(self) -> bool:
        """Whether the first words of the one look, which the transcription has too, are missing live."""
        one, live, said = normalised(self.one_look), normalised(self.live), normalised(self.recording.text)
        if not one or not said:
            return False
        if not live:
            return True
        first = jiwer.process_words(" ".join(one), " ".join(live)).alignments[0][0]
        missing = one[: first.ref_end_idx] if first.type == "delete" else ()
        return bool(missing) and missing[-1] in said[: first.ref_end_idx + 1]


class CountingDecoder:
    """Counts the looks of a decoder and the processor time they take."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.looks, self.seconds = 0, 0.0

    def decode(self, samples: np.ndarray) -> str:
        """See `Decoder.decode`."""
        began = time.process_time()
        words = self._decoder.decode(samples)
        self.looks, self.seconds = self.looks + 1, self.seconds + time.process_time() - began
        return words


def load_recordings(folder: Path, *, part: int | None = None, peak: float | None = None) -> list[Recording]:
    """The recordings named by the lines of `folder`/manifest.jsonl, each an object with `file`, `session` (the
    speaker) and `text`. `part`: one of PARTS of the speakers; `peak`: all made as
    loud as this. Raises TranscriberError.
    """
    out = []
    try:
        for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(line)
            if part is not None and part_of(entry["session"]) != part:
                continue
            sound, rate = soundfile.read(folder / entry["file"], dtype="float32")
            if peak is not None:
                sound = sound * (peak / max(1e-9, float(np.abs(sound).max())))
            out.append(Recording(entry["file"], entry["text"], soxr.resample(sound, rate, SAMPLE_RATE)))
    except (OSError, ValueError, KeyError, soundfile.LibsndfileError) as error:
        raise TranscriberError(
            f"The recordings in {folder} can't be read: {error}. The folder must hold a manifest.jsonl with one object "
            'a line: {"file": ..., "session": a number for the speaker, "text": what is said}.'
        ) from error
    return out


def in_its_room(samples: np.ndarray, seed: int = 0) -> np.ndarray:
    """The recording with a lead and a tail of noise as loud as its room, in whole frames."""
    blocks = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    room = float(np.quantile(np.sqrt(np.square(blocks).mean(axis=1)), ROOM_QUANTILE))
    rng = np.random.default_rng(seed)
    lead, tail = (rng.standard_normal(round(s * SAMPLE_RATE)) * room for s in (LEAD_SECONDS, TAIL_SECONDS))
    whole = np.concatenate([lead, samples, tail]).astype(np.float32)
    return np.pad(whole, (0, -len(whole) % FRAME_SAMPLES))


def listen(
    samples: np.ndarray, voice: VoiceActivity, ears: TimedEars, tracker: TurnTracker, *, answers: bool = False
) -> dict[int, str]:
    """Listens as a session does, frame by frame; returns the final words by turn. `answers`: the app speaks from
    `FIRST_SOUND_SECONDS` after it has taken the floor until it is interrupted.
    """
    finals: dict[int, str] = {}
    answer_at = np.inf

    def hear(update: TranscriptUpdate) -> None:
        words = " ".join(part for part in (update.stable, update.unstable) if part)
        tracker.hint_words(update.turn, words, update.heard_until)
        if update.final:
            finals[update.turn] = words

    def follow(at: float, facts: Sequence[object]) -> None:
        nonlocal answer_at
        for fact in facts:
            match fact:
                case floor.TakeFloor() if answers:
                    answer_at = at + FIRST_SOUND_SECONDS
                case floor.Yield() | floor.Interrupt():
                    answer_at = np.inf
                case e.UserStarted(at, turn):
                    ears.begin(turn, at)
                case e.UserPaused(_, turn, speech_end):
                    ears.pause(turn, speech_end)
                case e.UserResumed(_, turn):
                    ears.resume(turn)
                case e.UserEnded(_, turn, speech_end):
                    ears.end(turn, speech_end)
                case e.UserBackchannel(_, turn):
                    ears.discard(turn)

    ears.on_update = hear
    ears.on_finished = tracker.hint_finished
    frame = Frame(0, samples[:FRAME_SAMPLES])
    for index, sound in enumerate(samples.reshape(-1, FRAME_SAMPLES)):
        frame = Frame(index, sound)
        ears.deliver(frame.at)
        windows = voice.hear(frame)
        facts = tracker.hear(frame.at, windows, assistant_speaks=frame.at >= answer_at)
        ears.push(frame, any(w.probability >= 0.5 for w in windows))
        follow(frame.at, facts)
    follow(frame.at, tracker.end_input(frame.at))
    ears.deliver(frame.at + 60.0)
    return finals


@dataclass(slots=True)
class HearingResult:
    """What a run of the bench gave."""

    heard: list[Heard] = field(default_factory=list)
    seconds: float = 0.0
    looks: int = 0
    decode_seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For programs."""
        told = [one for one in self.heard if normalised(one.recording.text)]
        texts = [" ".join(normalised(one.recording.text)) for one in told]
        live = jiwer.process_words(texts, [" ".join(normalised(one.live)) for one in told])
        one = jiwer.process_words(texts, [" ".join(normalised(one.one_look)) for one in told])
        lost = [one.recording.name for one in told if one.lost_beginning]
        return {
            "recordings": len(told),
            "words": sum(len(text.split()) for text in texts),
            "seconds": round(self.seconds, 1),
            "live_error_rate": round(live.wer, 4),
            "one_look_error_rate": round(one.wer, 4),
            "apart": round(live.wer - one.wer, 4),
            "live": {"wrong": live.substitutions, "missing": live.deletions, "added": live.insertions},
            "one_look": {"wrong": one.substitutions, "missing": one.deletions, "added": one.insertions},
            "beginnings_lost": len(lost),
            "lost": lost,
            "turns": sum(len(one.turns) for one in told),
            "looks": self.looks,
            "decode_seconds_per_second": round(self.decode_seconds / max(1e-9, self.seconds), 3),
            "left_out": self.left_out,
        }

    def table(self) -> str:
        """For people: Markdown."""
        d = self.document()
        rows = [
            ("recordings", d["recordings"]),
            ("words spoken", d["words"]),
            ("word error rate live, %", f"{100 * d['live_error_rate']:.1f}"),
            ("word error rate of one look, %", f"{100 * d['one_look_error_rate']:.1f}"),
            ("apart, points", f"{100 * d['apart']:.1f}"),
            *((f"words {what}, live / one look", f"{d['live'][what]} / {d['one_look'][what]}") for what in d["live"]),
            ("beginnings lost", f"{d['beginnings_lost']} ({100 * d['beginnings_lost'] / d['recordings']:.1f} %)"),
            ("turns", d["turns"]),
            ("processor seconds of recognising per second of sound", d["decode_seconds_per_second"]),
        ]
        lines = ["| heard live | |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows)]
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines)


def hear_recording(
    recording: Recording, voice: VoiceActivity, ears: TimedEars, decoder: Decoder, *, answers: bool = False
) -> Heard:
    """Listens to one recording live with `ears`, and looks once at all of it with `decoder` (at its end, if it is
    longer than the decoder takes). `answers`: see `listen`.
    """
    finals = listen(in_its_room(recording.samples), voice, ears, TurnTracker(end_weights()), answers=answers)
    whole = soxr.resample(recording.samples, SAMPLE_RATE, RATE).astype(np.float32)
    return Heard(recording, tuple(finals[turn] for turn in sorted(finals)), decoder.decode(whole))


def run_hearing(
    folder: Path,
    *,
    part: int | None = None,
    peak: float | None = None,
    cases: int = 0,
    answers: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> HearingResult:
    """Listens to the recordings in `folder` (see `load_recordings`), to the first `cases` if it is not 0.

    Raises TranscriberError.
    """
    from app.stt import finished_words
    from app.stt.silero import SileroVoiceActivity
    from app.stt.smart_turn import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder

    ears, judge = model_path("ears"), model_path("end of turn")
    if not ears.is_dir() or not judge.is_file():
        raise TranscriberError("The models that hear are not installed. Set the app up again: "
                               f"{completing_command()}.")  # fmt: skip
    recordings = load_recordings(folder, part=part, peak=peak)[: cases or None]
    if not recordings:
        raise TranscriberError(f"There is nothing to listen to: no recording in {folder} fits. Leave out --part.")
    decoder, judging, result = WhisperDecoder(ears), SmartTurn(judge), HearingResult()
    counting = CountingDecoder(decoder)
    words = finished_words.load()
    if words is None:
        result.left_out.append("The language model is not installed, so the words were judged by rules alone.")
    try:
        for number, recording in enumerate(recordings, 1):
            progress(f"recording {number} of {len(recordings)}")
            timed = TimedEars(counting, judging, words)
            result.heard.append(hear_recording(recording, SileroVoiceActivity(), timed, decoder, answers=answers))
            result.seconds += len(recording.samples) / SAMPLE_RATE
    finally:
        if words is not None:
            words.close()
    result.looks, result.decode_seconds = counting.looks, counting.seconds
    return result
