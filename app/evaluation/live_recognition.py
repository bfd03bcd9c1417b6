"""`bench hearing`: the words of live listening against one look at the same sound by the same recogniser.

Recordings of people are listened to frame by frame as a session does, in the sound's own time (see
`TimedTranscriber`). The final words of all turns of a recording are joined, and compared with its transcription, as is
what the recogniser makes of the whole recording at once: the difference is what listening live costs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.turn import TurnTracker
from app.evaluation.listening import Listener
from app.evaluation.live_recognition_result import Heard, HearingResult, Recording
from app.evaluation.people import part_of
from app.evaluation.speech_models import SpeechModels, speech_models
from app.stt.base import TranscriberError
from app.stt.endpointing_weights import end_weights
from app.stt.streaming import Decoder

LEAD_SECONDS, TAIL_SECONDS = 0.6, 3.0
"""Silence put before and behind each recording: the recording's own room, as noise."""
ROOM_QUANTILE = 0.05
"""The room is as loud as the quietest twentieth of a recording's frames."""


class CountingDecoder:
    """Counts the looks of a decoder and the processor time they take; `last`: of the last look."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.looks, self.seconds, self.last = 0, 0.0, 0.0

    @property
    def language(self) -> str:
        """See `Decoder.language`."""
        return self._decoder.language

    def close(self) -> None:
        """See `Decoder.close`."""
        self._decoder.close()

    def decode(self, samples: np.ndarray) -> str:
        """See `Decoder.decode`."""
        began = self._spent()
        words = self._decoder.decode(samples)
        self.last = self._spent() - began
        self.looks, self.seconds = self.looks + 1, self.seconds + self.last
        return words

    def _spent(self) -> float:
        # A decoder that works in a child process counts what that spends.
        return time.process_time() + getattr(self._decoder, "child_seconds", 0.0)


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


def heard_live(samples: np.ndarray, models: SpeechModels, *, answers: bool = False) -> tuple[str, ...]:
    """The final words of each turn in a recording. `answers`: the app speaks from `FIRST_SOUND_SECONDS` behind each
    turn's end until it is interrupted.
    """
    tracker = TurnTracker(end_weights())
    listener = Listener(models.voice_detector(), models.transcriber(), tracker, answers=answers)
    for _ in listener.listen(in_its_room(samples)):
        pass
    return tuple(words for _, words in sorted(listener.finals.items()))


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
    recordings = load_recordings(folder, part=part, peak=peak)[: cases or None]
    if not recordings:
        raise TranscriberError(f"There is nothing to listen to: no recording in {folder} fits. Leave out --part.")
    with speech_models() as models:
        result, counting = HearingResult(left_out=models.left_out), CountingDecoder(models.decoder)
        live = replace(models, decoder=counting)
        for number, recording in enumerate(recordings, 1):
            progress(f"recording {number} of {len(recordings)}")
            turns = heard_live(recording.samples, live, answers=answers)
            result.heard.append(Heard(recording, turns, models.transcribe(recording.samples)))
            result.seconds += len(recording.samples) / SAMPLE_RATE
    result.looks, result.decode_seconds = counting.looks, counting.seconds
    return result
