"""Collects what the app's models know of each pause, frame by frame: the samples that `endpointing` fits to.

A tracker that never ends a turn listens to each case in simulated time, so that one pass tells what any policy would
have known, and when. Recognition takes most of the time, so `CachedDecoder` keeps its results on disk.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.conversation.endpointing import PauseLengths
from app.conversation.turn import TurnTracker
from app.research.benches.listening import Listener
from app.research.benches.pauses import Case
from app.research.benches.speech_models import SpeechModels
from app.research.benches.timed_transcriber import TimedTranscriber
from app.stt.endpointing import Endpointing
from app.stt.endpointing_weights import end_weights
from app.stt.streaming import Decoder
from app.stt.text_endpointing import WordOdds


@dataclass(frozen=True, slots=True)
class Look:
    """What is known `silence` seconds into a pause: the judges' results, None until they are available."""

    silence: float
    sound: float | None
    text: str | None
    odds: WordOdds | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A silence after voice that ended at `begin`; `resumes`: when the voice goes on, None at the true end.

    `untold`: nobody could know that more follows. `slower`: `PauseLengths.slower` of the speaker's earlier pauses.
    """

    begin: float
    resumes: float | None
    untold: bool
    slower: float
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One case with its pauses."""

    case: Case
    pauses: tuple[Pause, ...]


class CachedDecoder:
    """Caches the results of an English decoder in `folder`, by the sound."""

    language = "en"

    def __init__(self, decoder: Decoder, folder: Path) -> None:
        self._decoder = decoder
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        self._decoder.close()

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples` (float32 16 kHz)."""
        file = self._folder / hashlib.sha256(np.ascontiguousarray(samples).tobytes()).hexdigest()[:32]
        if not file.is_file():
            file.write_text(self._decoder.decode(samples), encoding="utf-8")
        return file.read_text(encoding="utf-8")


class _PauseEndpointing(Endpointing):
    def report(self) -> None:
        """Reports a probability of 0, so that the tracker never ends the turn but has later pauses judged again."""
        if self.judged_sound is not None:
            self._on_finished(self.turn, 0.0, self.judged_sound[0])


class _PauseTranscriber(TimedTranscriber):
    """A transcriber whose knowledge of a pause can be read at any time."""

    endpointing_type = _PauseEndpointing

    def look(self, silence: float, speech_end: float) -> Look:
        """What is known now of the pause that began at `speech_end`."""
        judged = self.endpointing.judged_sound
        sound = judged[1] if judged is not None and abs(judged[0] - speech_end) < 1e-6 else None
        text, odds = self.endpointing.judged_words(speech_end) or (None, None)
        return Look(silence, sound, text, odds)


class _OpenTracker(TurnTracker):
    """A turn tracker that never ends a turn."""

    def _end_silence(self) -> float:
        return math.inf

    @property
    def pause_begin(self) -> float | None:
        """When the voice ended, during a pause."""
        return self._last_voice if self._state == "paused" else None


def listen(case: Case, pauses: PauseLengths, models: SpeechModels) -> Utterance:
    """Listens to one case; `pauses`: the speaker's pauses, which are updated."""
    tracker = _OpenTracker(end_weights(), pauses=pauses)
    transcriber = _PauseTranscriber(models.decoder, models.judge, models.words)
    looks: dict[float, list[Look]] = {}
    slower: dict[float, float] = {}
    for at, _ in Listener(models.voice_detector(), transcriber, tracker).listen(case.samples):
        begin = tracker.pause_begin
        if begin is not None:
            looks.setdefault(begin, []).append(transcriber.look(at - begin, begin))
            slower.setdefault(begin, pauses.slower)
    return Utterance(
        case,
        tuple(
            Pause(begin, case.resumes(begin), case.is_untold(begin), slower[begin], tuple(found))
            for begin, found in looks.items()
        ),
    )
