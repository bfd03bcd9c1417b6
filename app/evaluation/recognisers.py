"""`bench recognisers`: words wrong, lag, processor time, memory and load time of each recogniser that is here.

Each listens live, as in a talk, in the sound's own time: a look's words come as late as the look took in processor
time. The lag of a word is how long after its end it first stood in a partial and stayed. Where a word ends is told by
Whisper's own alignment of the whole recording, which is right to about a tenth of a second.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.turn import TurnTracker
from app.conversation.words import fold
from app.evaluation.listening import Listener
from app.evaluation.live_recognition import LEAD_SECONDS, CountingDecoder, in_its_room, load_recordings
from app.evaluation.live_recognition_result import Recording, normalised
from app.evaluation.people import PARTS
from app.evaluation.spoken_questions import load_questions
from app.evaluation.timed_transcriber import TimedTranscriber
from app.models.catalogue import models_of
from app.models.entry import Model
from app.models.locations import default_model, is_here, model_path
from app.platform.children import python_module_command, quiet_child
from app.stt import open_decoder
from app.stt.base import EndOfTurn, TranscriberError, TranscriptUpdate
from app.stt.endpointing_weights import end_weights
from app.stt.selection import choose_recogniser
from app.stt.streaming import RATE, WordsJudge

Ends = list[tuple[str, float]]
"""The words of a recording, and the second at which each one ends."""


@dataclass(frozen=True, slots=True)
class Listened:
    """One recording as a recogniser heard it: the words that were said, and those heard; seconds that each word lagged;
    processor seconds, and the seconds of sound.
    """

    said: str
    heard: str
    lags: tuple[float, ...]
    spent: float
    seconds: float


@dataclass(slots=True)
class RecogniserResult:
    """What the bench found of one recogniser, by kind of speech."""

    model: Model
    load_seconds: float
    held_bytes: int
    listened: dict[str, list[Listened]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """For programs."""
        everything = [one for some in self.listened.values() for one in some]
        lags = [lag for one in everything for lag in one.lags]
        return {
            "recogniser": self.model.key,
            "words_wrong": {kind: round(words_wrong(some), 4) for kind, some in self.listened.items()},
            "partial_lag": round(float(np.median(lags)), 3) if lags else None,
            "processor_seconds_per_second": round(
                sum(one.spent for one in everything) / max(1e-9, sum(one.seconds for one in everything)), 3
            ),
            "memory_bytes": self.held_bytes,
            "load_seconds": self.load_seconds,
        }


@dataclass(slots=True)
class RecognisersResult:
    """What a run of the bench gave; `counts`: how many recordings of each kind."""

    language: str
    counts: dict[str, int]
    recognisers: list[RecogniserResult] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For programs."""
        rows = [one.document() for one in self.recognisers]
        return {"language": self.language, "recordings": self.counts, "recognisers": rows}

    def table(self) -> str:
        """For people: Markdown."""
        kinds = "".join(f" words wrong, {kind} ({count}) |" for kind, count in self.counts.items())
        lines = [
            f"| recogniser |{kinds} partial lag | processor s per s | memory | loaded in |",
            "| --- |" + " ---: |" * (len(self.counts) + 4),
        ]
        for d in (one.document() for one in self.recognisers):
            wrong = "".join(f" {100 * d['words_wrong'][kind]:.1f} % |" for kind in self.counts)
            lag = "–" if d["partial_lag"] is None else f"{d['partial_lag']:.2f} s"
            lines.append(
                f"| {d['recogniser']} |{wrong} {lag} | {d['processor_seconds_per_second']:.2f} | "
                f"{d['memory_bytes'] / 1e6:.0f} MB | {d['load_seconds']:.1f} s |"
            )
        return "\n".join(lines)


def words_wrong(listened: Sequence[Listened]) -> float:
    """The word error rate over all of them."""
    told = [one for one in listened if normalised(one.said)]
    found = jiwer.process_words(
        [" ".join(normalised(one.said)) for one in told], [" ".join(normalised(one.heard)) for one in told]
    )
    return float(found.wer)


def run_recognisers(
    *,
    people: Path | None = None,
    folder: Path | None = None,
    keys: Sequence[str] = (),
    language: str = "en",
    cases: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> RecognisersResult:
    """Listens with `keys`, or with all recognisers of `language` that are here.

    `people`, `folder`: recordings as `bench hearing` takes them; of people only those that nothing was fitted to. With
    neither, and for English, also the app's ten synthetic questions. Raises TranscriberError.
    """
    speech = _speech(people, folder, language, cases)
    if not speech:
        raise TranscriberError("There is nothing to listen to. Name a folder with recordings in that language.")
    models = [choose_recogniser(key, language) for key in keys] or [
        model for model in models_of("stt") if model.speaks(language) and is_here(model.key)
    ]
    result = RecognisersResult(language, {kind: len(some) for kind, some in speech.items()})
    with _judges(language) as (judge, words):
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
                        found.listened[kind].append(_listen(recording, known, decoder, judge, words))
            finally:
                decoder.close()
    return result


def _speech(people: Path | None, folder: Path | None, language: str, cases: int) -> dict[str, list[Recording]]:
    out: dict[str, list[Recording]] = {}
    if people is not None:
        held_out = load_recordings(people, part=PARTS - 1)
        # Spread over the callers, who follow each other in the manifest.
        step = max(1, len(held_out) // cases) if cases else 1
        out["people"] = held_out[::step][: cases or None]
    if folder is not None:
        out["recordings"] = load_recordings(folder)[: cases or None]
    elif language == "en":
        out["synthetic"] = [Recording(q.name, q.text, q.samples) for q in load_questions()]
    return {kind: some for kind, some in out.items() if some}


@contextmanager
def _judges(language: str) -> Iterator[tuple[EndOfTurn, WordsJudge | None]]:
    from app.stt import text_endpointing
    from app.stt.smart_turn import SmartTurn

    words = text_endpointing.load() if language == "en" else None
    try:
        yield SmartTurn(default_model("endpointing")), words
    finally:
        if words is not None:
            words.close()


def _load(model: Model, language: str) -> dict[str, Any]:
    command = python_module_command("app.evaluation.recogniser_load", model.key, language)
    done = subprocess.run(command, capture_output=True, check=False, **quiet_child())
    if done.returncode != 0:
        raise TranscriberError(f"{model.label} could not be loaded. Check it with “models check {model.key}”.")
    return json.loads(done.stdout)


def _listen(
    recording: Recording, ends: Ends, decoder: CountingDecoder, judge: EndOfTurn, words: WordsJudge | None
) -> Listened:
    from app.stt.silero import SileroVoiceActivity

    transcriber = TimedTranscriber(decoder, judge, words, lambda: decoder.last)
    listener = Listener(SileroVoiceActivity(), transcriber, TurnTracker(end_weights()))
    take, told = transcriber.on_update, []

    def note(update: TranscriptUpdate) -> None:
        told.append((transcriber.now, update.turn, fold(f"{update.stable} {update.unstable}")))
        take(update)

    transcriber.on_update = note
    before = decoder.seconds
    for _ in listener.listen(in_its_room(recording.samples)):
        pass
    heard = " ".join(text for _, text in sorted(listener.finals.items()) if text)
    seconds = len(recording.samples) / SAMPLE_RATE
    return Listened(recording.text, heard, tuple(_lags(told, ends)), decoder.seconds - before, seconds)


def _lags(told: Sequence[tuple[float, int, tuple[str, ...]]], ends: Ends) -> Iterator[float]:
    """For each word that was heard in the end, how long after it was said it stood in a partial and stayed."""
    finals = {turn: words for _, turn, words in told}
    final = [(turn, place, word) for turn, words in sorted(finals.items()) for place, word in enumerate(words)]
    blocks = SequenceMatcher(None, [word for *_, word in final], [word for word, _ in ends], autojunk=False)
    for a, b, size in blocks.get_matching_blocks():
        for offset in range(size):
            turn, place, word = final[a + offset]
            since = None
            for at, of, words in told:
                if of == turn:
                    there = len(words) > place and words[place] == word
                    since = (since if since is not None else at) if there else None
            if since is not None and since < float("inf"):
                yield since - LEAD_SECONDS - ends[b + offset][1]


def _aligner(language: str) -> Callable[[Recording], Ends]:
    """What tells where the words of a recording end."""
    from app.stt.whisper_library import faster_whisper

    model = model_path(choose_recogniser(language=language).key)
    whisper = faster_whisper().WhisperModel(str(model), device="cpu", compute_type="int8", cpu_threads=1)

    def ends(recording: Recording) -> Ends:
        samples = soxr.resample(recording.samples, SAMPLE_RATE, RATE).astype(np.float32)
        segments, _ = whisper.transcribe(samples, language=language, beam_size=1, word_timestamps=True)
        words = [word for segment in segments for word in segment.words]
        return [(" ".join(fold(word.word)), float(word.end)) for word in words if fold(word.word)]

    return ends
