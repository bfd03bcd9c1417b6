"""`bench hearing`: the words of live recognition compared with one pass over the same sound by the same recogniser.

Recordings of people are processed frame by frame as in a session, in the sound's own time. The final words of all turns
of a recording are joined and compared with its transcription, as are the recogniser's words for the whole recording at
once: the difference is what live recognition costs.

Results of `bench hearing`: the words of live recognition and of one pass, compared with what was said.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jiwer
import numpy as np

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.turn import TurnTracker
from app.diagnostics.tables import Progress, markdown, no_progress, paragraphs
from app.research.benches.listening import Listener, SpeechModels, speech_models
from app.research.benches.reader import compare, normalised
from app.research.benches.recordings import Recording, load_recordings
from app.stt.base import TranscriberError
from app.stt.endpointing_weights import end_weights
from app.stt.streaming import Decoder


@dataclass(frozen=True, slots=True)
class Heard:
    """The words recognised in a recording: those of its turns, and those of one pass over all of it."""

    recording: Recording
    turns: tuple[str, ...]
    one_pass: str

    @property
    def live(self) -> str:
        """The words of all turns."""
        return " ".join(text for text in self.turns if text)

    @property
    def lost_beginning(self) -> bool:
        """Whether the first words of the one pass, if the transcription has them too, are missing live."""
        one, live, said = normalised(self.one_pass), normalised(self.live), normalised(self.recording.text)
        if not one or not said:
            return False
        if not live:
            return True
        first = jiwer.process_words(" ".join(one), " ".join(live)).alignments[0][0]
        missing = one[: first.ref_end_idx] if first.type == "delete" else ()
        return bool(missing) and missing[-1] in said[: first.ref_end_idx + 1]


@dataclass(slots=True)
class LiveRecognitionResult:
    """The words of all recordings; `decodes`: how often the recogniser ran, in `decode_seconds` of processor time."""

    heard: list[Heard] = field(default_factory=list)
    seconds: float = 0.0
    decodes: int = 0
    decode_seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        spoken = [one for one in self.heard if normalised(one.recording.text)]
        live = compare((one.recording.text, one.live) for one in spoken)
        one_pass = compare((one.recording.text, one.one_pass) for one in spoken)
        lost = [one.recording.name for one in spoken if one.lost_beginning]
        return {
            "recordings": len(spoken),
            "words": sum(len(normalised(one.recording.text)) for one in spoken),
            "seconds": round(self.seconds, 1),
            "live_error_rate": round(live.wer, 4),
            "one_pass_error_rate": round(one_pass.wer, 4),
            "apart": round(live.wer - one_pass.wer, 4),
            "live": _errors(live),
            "one_pass": _errors(one_pass),
            "beginnings_lost": len(lost),
            "lost": lost,
            "turns": sum(len(one.turns) for one in spoken),
            "decodes": self.decodes,
            "decode_seconds_per_second": round(self.decode_seconds / max(1e-9, self.seconds), 3),
            "left_out": self.left_out,
        }

    def table(self) -> str:
        """The result as a Markdown table."""
        d = self.document()
        rows = [
            ("recordings", d["recordings"]),
            ("words spoken", d["words"]),
            ("word error rate live, %", f"{100 * d['live_error_rate']:.1f}"),
            ("word error rate of one pass, %", f"{100 * d['one_pass_error_rate']:.1f}"),
            ("apart, points", f"{100 * d['apart']:.1f}"),
            *((f"words {what}, live / one pass", f"{d['live'][what]} / {d['one_pass'][what]}") for what in d["live"]),
            ("beginnings lost", f"{d['beginnings_lost']} ({100 * d['beginnings_lost'] / d['recordings']:.1f} %)"),
            ("turns", d["turns"]),
            ("processor seconds of recognising per second of sound", d["decode_seconds_per_second"]),
        ]
        return "\n".join([*markdown(("heard live", ""), rows), *paragraphs(self.left_out)])


def _errors(found: jiwer.WordOutput) -> dict[str, int]:
    return {"wrong": found.substitutions, "missing": found.deletions, "added": found.insertions}


LEAD_SECONDS, TAIL_SECONDS = 0.6, 3.0
"""Before and after each recording comes noise as loud as the recording's own room."""
ROOM_QUANTILE = 0.05
"""The room's level is that of the quietest twentieth of a recording's blocks of 20 ms."""


class CountingDecoder:
    """Counts the decodes of a decoder and the processor time they take; `last`: seconds of the last one."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.decodes, self.seconds, self.last = 0, 0.0, 0.0

    @property
    def language(self) -> str:
        return self._decoder.language

    def close(self) -> None:
        self._decoder.close()

    def decode(self, samples: np.ndarray) -> str:
        began = self._spent()
        words = self._decoder.decode(samples)
        self.last = self._spent() - began
        self.decodes, self.seconds = self.decodes + 1, self.seconds + self.last
        return words

    def _spent(self) -> float:
        # A decoder that works in a child process counts the child's time itself.
        return time.process_time() + getattr(self._decoder, "child_seconds", 0.0)


def in_its_room(samples: np.ndarray, seed: int = 0) -> np.ndarray:
    """Puts noise as loud as the recording's room before and after it; returns whole frames."""
    blocks = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    room = float(np.quantile(np.sqrt(np.square(blocks).mean(axis=1)), ROOM_QUANTILE))
    rng = np.random.default_rng(seed)
    lead, tail = (rng.standard_normal(round(s * SAMPLE_RATE)) * room for s in (LEAD_SECONDS, TAIL_SECONDS))
    whole = np.concatenate([lead, samples, tail]).astype(np.float32)
    return np.pad(whole, (0, -len(whole) % FRAME_SAMPLES))


def recognise_live(samples: np.ndarray, models: SpeechModels, *, answers: bool = False) -> tuple[str, ...]:
    """The final words of each turn in a recording. `answers`: the app speaks from `FIRST_SOUND_SECONDS` after each
    turn's end until it is interrupted.
    """
    tracker = TurnTracker(end_weights())
    listener = Listener(models.voice_detector(), models.transcriber(), tracker, answers=answers)
    for _ in listener.listen(in_its_room(samples)):
        pass
    return tuple(words for _, words in sorted(listener.finals.items()))


def run_live_recognition(
    folder: Path,
    *,
    part: int | None = None,
    peak: float | None = None,
    cases: int = 0,
    answers: bool = False,
    progress: Progress = no_progress,
) -> LiveRecognitionResult:
    """Recognises the recordings in `folder`, or the first `cases` of them if it is not 0. `part`, `peak`: see
    `load_recordings`; `answers`: see `recognise_live`. Raises TranscriberError.
    """
    recordings = load_recordings(folder, part=part, peak=peak)[: cases or None]
    if not recordings:
        raise TranscriberError(f"There is nothing to listen to: no recording in {folder} fits. Leave out --part.")
    with speech_models() as models:
        result, counting = LiveRecognitionResult(left_out=models.left_out), CountingDecoder(models.decoder)
        live = replace(models, decoder=counting)
        for number, recording in enumerate(recordings, 1):
            progress(f"recording {number} of {len(recordings)}")
            turns = recognise_live(recording.samples, live, answers=answers)
            result.heard.append(Heard(recording, turns, models.transcribe(recording.samples)))
            result.seconds += len(recording.samples) / SAMPLE_RATE
    result.decodes, result.decode_seconds = counting.decodes, counting.seconds
    return result
