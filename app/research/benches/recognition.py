"""`bench hearing` and `bench recognisers`: the accuracy, cost and latency of live recognition.

Recordings of people are processed frame by frame as in a session, in audio time. `bench hearing` compares the final
words of all turns of a recording with its reference transcript, and likewise the words of a single pass over the whole
recording. The difference is the accuracy lost by recognising live.

`bench recognisers` measures the word error rate, lag, processor time, memory and load time of each installed
recogniser. There, the result of a decode is delayed by its processor time. The lag of a word is the time from its end
until it appears in a partial and stays. Word ends come from Whisper's alignment of the whole recording, which is
accurate to about 0.1 s. `python -m app.research.benches.recognition KEY LANGUAGE` prints the load time and the memory
of one recogniser as a line of JSON; it runs as a separate process so that other recognisers' memory is not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import psutil

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.turns.tracker import TurnTracker
from app.conversation.words import fold
from app.diagnostics.tables import Progress, markdown, no_progress, paragraphs, rounded
from app.models.catalogue import Model, find_model, models_of
from app.models.locations import is_here, model_path
from app.platform.children import python_module_command, quiet_child
from app.platform.hardware import resident_bytes
from app.research.benches.recordings import (
    REPORTED,
    Reader,
    Recording,
    compare,
    load_questions,
    load_recordings,
    normalised,
)
from app.research.benches.timed_parts import Listener, SpeechModels, TimedTranscriber, speech_models
from app.research.results import at_share, shown
from app.stt import open_decoder
from app.stt.base import TranscriberError, TranscriptUpdate
from app.stt.moonshine import MoonshineDecoder
from app.stt.selection import choose_recogniser
from app.stt.streaming import RATE, Decoder
from app.stt.text_endpointing import end_weights


@dataclass(frozen=True, slots=True)
class Heard:
    """The words recognised in a recording: those of its turns, and those of a single pass over all of it."""

    recording: Recording
    turns: tuple[str, ...]
    one_pass: str

    @property
    def live(self) -> str:
        """The words of all turns, joined."""
        return " ".join(filter(None, self.turns))


@dataclass(slots=True)
class LiveRecognitionResult:
    """The words of all recordings. `decodes`: decoder calls, which took `decode_seconds` of processor time."""

    heard: list[Heard] = field(default_factory=list)
    seconds: float = 0.0
    decodes: int = 0
    decode_seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        spoken = [one for one in self.heard if normalised(one.recording.text)]
        live, one_pass = (
            compare((one.recording.text, getattr(one, what)) for one in spoken) for what in ("live", "one_pass")
        )
        rates = {"live_error_rate": live.wer, "one_pass_error_rate": one_pass.wer, "apart": live.wer - one_pass.wer}
        return {
            "recordings": len(spoken),
            "words": sum(len(normalised(one.recording.text)) for one in spoken),
            "seconds": round(self.seconds, 1),
            **rounded(rates),
            "live": _errors(live),
            "one_pass": _errors(one_pass),
            "turns": sum(len(one.turns) for one in spoken),
            "decodes": self.decodes,
            "decode_seconds_per_second": round(self.decode_seconds / max(1e-9, self.seconds), 3),
            "left_out": self.left_out,
        }

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        d = self.document()
        rows = [
            ("recordings", d["recordings"]),
            ("words spoken", d["words"]),
            ("word error rate live, %", shown(100 * d["live_error_rate"], 1)),
            ("word error rate of one pass, %", shown(100 * d["one_pass_error_rate"], 1)),
            ("apart, points", shown(100 * d["apart"], 1)),
            *((f"words {what}, live / one pass", f"{d['live'][what]} / {d['one_pass'][what]}") for what in d["live"]),
            ("turns", d["turns"]),
            ("processor seconds of recognising per second of sound", d["decode_seconds_per_second"]),
        ]
        return "\n".join([*markdown(("heard live", ""), rows), *paragraphs(self.left_out)])


def _errors(found: jiwer.WordOutput) -> dict[str, int]:
    return {"wrong": found.substitutions, "missing": found.deletions, "added": found.insertions}


LEAD_SECONDS, TAIL_SECONDS = 0.6, 3.0
"""Length in seconds of the noise added before and after each recording, at its own room level."""
ROOM_QUANTILE = 0.05
"""Quantile of the levels of a recording's 20 ms blocks that is taken as its room level."""


class CountingDecoder:
    """Wraps a decoder and counts its calls and their processor time. `last`: seconds of the last call."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.decodes, self.seconds, self.last = 0, 0.0, 0.0

    @property
    def language(self) -> str:
        return self._decoder.language

    def close(self) -> None:
        self._decoder.close()

    def alive(self) -> bool:
        """Returns whether the decoder works."""
        return self._decoder.alive()

    def decode(self, samples: np.ndarray) -> str:
        began = self._spent()
        words = self._decoder.decode(samples)
        self.last = self._spent() - began
        self.decodes, self.seconds = self.decodes + 1, self.seconds + self.last
        return words

    def _spent(self) -> float:
        child = child_of(self._decoder)
        return time.process_time() + (sum(child.cpu_times()[:2]) if child is not None else 0.0)


def child_of(decoder: Decoder) -> psutil.Process | None:
    """Returns the child process in which a decoder works, if any."""
    return psutil.Process(decoder._child.pid) if isinstance(decoder, MoonshineDecoder) else None


def in_its_room(samples: np.ndarray, seed: int = 0) -> np.ndarray:
    """Adds noise at the recording's room level before and after it; returns whole frames."""
    blocks = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    room = float(np.quantile(np.sqrt(np.square(blocks).mean(axis=1)), ROOM_QUANTILE))
    rng = np.random.default_rng(seed)
    lead, tail = (rng.standard_normal(round(s * SAMPLE_RATE)) * room for s in (LEAD_SECONDS, TAIL_SECONDS))
    whole = np.concatenate([lead, samples, tail]).astype(np.float32)
    return np.pad(whole, (0, -len(whole) % FRAME_SAMPLES))


def recognise_live(samples: np.ndarray, models: SpeechModels) -> tuple[str, ...]:
    """Returns the final words of each turn in a recording."""
    listener = Listener(models.voice_detector(), models.transcriber(), TurnTracker(end_weights()))
    return listener.final_words(in_its_room(samples))


def run_live_recognition(
    folder: Path, *, part: int | None = None, cases: int = 0, progress: Progress = no_progress
) -> LiveRecognitionResult:
    """Recognises the recordings in `folder`, or the first `cases` of them if `cases` is not 0. `part`: see
    `load_recordings`. Raises TranscriberError.
    """
    recordings = load_recordings(folder, part=part)[: cases or None]
    if not recordings:
        raise TranscriberError(f"There is nothing to listen to: no recording in {folder} fits. Leave out --part.")
    with speech_models() as models:
        result, counting = LiveRecognitionResult(left_out=models.left_out), CountingDecoder(models.decoder)
        live = replace(models, decoder=counting)
        for number, recording in enumerate(recordings, 1):
            progress(f"recording {number} of {len(recordings)}")
            turns = recognise_live(recording.samples, live)
            result.heard.append(Heard(recording, turns, models.transcribe(recording.samples)))
            result.seconds += len(recording.samples) / SAMPLE_RATE
    result.decodes, result.decode_seconds = counting.decodes, counting.seconds
    return result


def main(argv: list[str]) -> int:
    """Loads the recogniser `argv[0]` for the language `argv[1]` and prints its figures."""
    before, began = resident_bytes(), time.perf_counter()
    decoder = open_decoder(find_model(argv[0]), argv[1])
    decoder.decode(np.zeros(RATE, np.float32))
    took = time.perf_counter() - began
    child = child_of(decoder)
    held = resident_bytes() - before + (child.memory_info().rss if child is not None else 0)
    print(json.dumps({"seconds": round(took, 2), "bytes": held}))
    decoder.close()
    return 0


Ends = list[tuple[str, float]]
"""The words of a recording, each with its end in seconds."""


@dataclass(frozen=True, slots=True)
class Listened:
    """One recording as recognised: spoken and recognised words, lag of each word, processor time and duration, in
    seconds.
    """

    said: str
    heard: str
    lags: tuple[float, ...]
    spent: float
    seconds: float


@dataclass(slots=True)
class RecogniserResult:
    """Figures of one recogniser, by kind of speech."""

    model: Model
    load_seconds: float
    held_bytes: int
    listened: dict[str, list[Listened]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        everything = [one for some in self.listened.values() for one in some]
        spent, seconds = (sum(getattr(one, name) for one in everything) for name in ("spent", "seconds"))
        return {
            "recogniser": self.model.key,
            "words_wrong": {kind: round(words_wrong(some), 4) for kind, some in self.listened.items()},
            "partial_lag": at_share(lag for one in everything for lag in one.lags),
            "processor_seconds_per_second": round(spent / max(1e-9, seconds), 3),
            "memory_bytes": self.held_bytes,
            "load_seconds": self.load_seconds,
        }


@dataclass(slots=True)
class RecognisersResult:
    """Figures of all recognisers; `counts`: number of recordings of each kind."""

    language: str
    counts: dict[str, int]
    recognisers: list[RecogniserResult] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        rows = [one.document() for one in self.recognisers]
        return {"language": self.language, "recordings": self.counts, "recognisers": rows}

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        rows = [
            (
                d["recogniser"],
                *(f"{100 * d['words_wrong'][kind]:.1f} %" for kind in self.counts),
                f"{shown(d['partial_lag'])} s",
                f"{d['processor_seconds_per_second']:.2f}",
                f"{d['memory_bytes'] / 1e6:.0f} MB",
                f"{d['load_seconds']:.1f} s",
            )
            for d in (one.document() for one in self.recognisers)
        ]
        kinds = (f"words wrong, {kind} ({count})" for kind, count in self.counts.items())
        head = ("recogniser", *kinds, "partial lag", "processor s per s", "memory", "loaded in")
        return "\n".join(markdown(head, rows))


def words_wrong(listened: Sequence[Listened]) -> float:
    """Returns the word error rate over all recordings."""
    return float(compare((one.said, one.heard) for one in listened if normalised(one.said)).wer)


def run_recognisers(
    *,
    people: Path | None = None,
    folder: Path | None = None,
    keys: Sequence[str] = (),
    language: str = "en",
    cases: int = 0,
    progress: Progress = no_progress,
) -> RecognisersResult:
    """Measures the recognisers `keys`, or all installed ones of `language`.

    `people`, `folder`: folders of recordings in the format of `bench hearing`; of `people`, only the speakers that
    nothing was fitted to are used. Without `folder`, English also includes the benches' ten synthetic questions. Raises
    TranscriberError.
    """
    speech = _speech(people, folder, language, cases)
    if not speech:
        raise TranscriberError("There is nothing to listen to. Name a folder with recordings in that language.")
    models = [choose_recogniser(key, language) for key in keys] or [
        model for model in models_of("stt") if model.speaks(language) and is_here(model.key)
    ]
    result = RecognisersResult(language, {kind: len(some) for kind, some in speech.items()})
    with speech_models(words=language == "en") as judges:
        align = _aligner(language)
        ends = {kind: [align(one) for one in some] for kind, some in speech.items()}
        for model in models:
            load = _load(model, language)
            found = RecogniserResult(model, load["seconds"], load["bytes"])
            result.recognisers.append(found)
            decoder = CountingDecoder(open_decoder(model, language))
            try:
                decoder.decode(np.zeros(RATE, np.float32))
                for kind, some in speech.items():
                    found.listened[kind] = []
                    for number, (recording, known) in enumerate(zip(some, ends[kind], strict=True), 1):
                        progress(f"{model.label}, {kind}: {number} of {len(some)}")
                        found.listened[kind].append(_listen(recording, known, decoder, judges))
            finally:
                decoder.close()
    return result


def _speech(people: Path | None, folder: Path | None, language: str, cases: int) -> dict[str, list[Recording]]:
    out: dict[str, list[Recording]] = {}
    if people is not None:
        held_out = load_recordings(people, part=REPORTED)
        # Spread over the callers, since the manifest is sorted by caller.
        step = max(1, len(held_out) // cases) if cases else 1
        out["people"] = held_out[::step][: cases or None]
    if folder is not None:
        out["recordings"] = load_recordings(folder)[: cases or None]
    elif language == "en":
        out["synthetic"] = load_questions()
    return {kind: some for kind, some in out.items() if some}


def _load(model: Model, language: str) -> dict[str, Any]:
    command = python_module_command("app.research.benches.recognition", model.key, language)
    done = subprocess.run(command, capture_output=True, check=False, **quiet_child())
    if done.returncode != 0:
        raise TranscriberError(f"{model.label} could not be loaded. Check it with “models check {model.key}”.")
    return json.loads(done.stdout)


def _listen(recording: Recording, ends: Ends, decoder: CountingDecoder, models: SpeechModels) -> Listened:
    """Processes a recording with `decoder` in place of the one in `models`."""
    transcriber = TimedTranscriber(decoder, models.judge, models.words, lambda: decoder.last)
    listener = Listener(models.voice_detector(), transcriber, TurnTracker(end_weights()))
    forward, updates = transcriber.on_update, []

    def note(update: TranscriptUpdate) -> None:
        updates.append((transcriber.now, update.turn, fold(f"{update.stable} {update.unstable}")))
        forward(update)

    transcriber.on_update = note
    before = decoder.seconds
    heard = " ".join(filter(None, listener.final_words(in_its_room(recording.samples))))
    seconds = len(recording.samples) / SAMPLE_RATE
    return Listened(recording.text, heard, tuple(_lags(updates, ends)), decoder.seconds - before, seconds)


def _lags(updates: Sequence[tuple[float, int, tuple[str, ...]]], ends: Ends) -> Iterator[float]:
    """Yields, for each word of the final transcripts, the delay from its end until it appeared in a partial and stayed.

    `updates`: time, turn and words of each partial and final.
    """
    finals = {turn: words for _, turn, words in updates}
    final = [(turn, place, word) for turn, words in sorted(finals.items()) for place, word in enumerate(words)]
    blocks = SequenceMatcher(None, [word for *_, word in final], [word for word, _ in ends], autojunk=False)
    for a, b, size in blocks.get_matching_blocks():
        for offset in range(size):
            turn, place, word = final[a + offset]
            since = None
            for at, of, words in updates:
                if of == turn:
                    there = len(words) > place and words[place] == word
                    since = (since if since is not None else at) if there else None
            if since is not None and since < float("inf"):
                yield since - LEAD_SECONDS - ends[b + offset][1]


def _aligner(language: str) -> Callable[[Recording], Ends]:
    """Returns a function that finds where the words of a recording end."""
    reader = Reader(model_path(choose_recogniser(language=language).key))

    def ends(recording: Recording) -> Ends:
        words = reader.words(recording.samples, language, beam_size=1, condition_on_previous_text=True)
        return [(" ".join(fold(word)), end) for word, end in words if fold(word)]

    return ends


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
