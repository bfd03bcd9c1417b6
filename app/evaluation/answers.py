"""`bench answers`: sixty short questions in real time, with the talk button and hands-free, and what was heard first.

The questions (`resources/bench/answers.json`) are spoken by the app's own voice or lie in a folder as recordings of
other voices. Sound enters and leaves as on devices, paced by the clock, or in simulated time (`simulated_parts`).
Whether the answers are right is told beside: that is the brain's affair; whether something was said and taken back is
the app's.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from app.audio.devices.loudspeaker import CUSHION_SECONDS
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.evaluation.heard_answers import HeardAnswer, judge
from app.evaluation.latency import machine, word_distance
from app.evaluation.spoken_questions import VOICE_FLOOR, MakeSession, PacedAsker, PacedListener, Question
from app.platform.resources import resource
from app.session.control import SessionChoice
from app.session.session import Session
from app.stt.base import TranscriberError

Way = Literal["hands-free", "talk button", "typed"]
WAYS: tuple[Way, ...] = ("hands-free", "talk button")

RELEASE_SECONDS = 0.15
"""After the last word, so soon is the talk button let go."""
PATIENCE_SECONDS = 40.0
AFTER_SECONDS = 0.6
"""Silence behind an answer before the next question, so that nothing of it is taken for more of the same."""

SUFFIXES = (".wav", ".flac", ".ogg")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with one right answer, as somebody says it. `answers`: ways to put that; `voice`: who asks."""

    question: Question
    answers: tuple[str, ...]
    voice: str


@dataclass(slots=True)
class AnswersResult:
    """What a run gave: answers by way and voice; `read_back`: words wrong and words there were, by way and voice."""

    heard: dict[tuple[Way, str], list[HeardAnswer]] = field(default_factory=dict)
    read_back: dict[tuple[Way, str], tuple[int, int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    simulated: bool = False

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            f"Short questions in {'simulated' if self.simulated else 'real'} time, {machine()}",
            "",
            "| way | voice | asked | unanswered | taken back | % | one whole | openings | right "
            "| first sound p50, s | p75 | first word said p50, s | p75 | read back otherwise, % |",
            "| --- | --- |" + " ---: |" * 12,
        ]
        for (way, voice), heard in self.heard.items():
            f = figures(heard)
            wrong, words = self.read_back.get((way, voice), (0, 0))
            read = f"{100 * wrong / words:.1f}" if words else "–"
            lines.append(
                f"| {way} | {voice} | {f['asked']} | {f['unanswered']} | {f['taken_back']} | "
                f"{100 * f['share']:.1f} | {f['whole']} | {f['openings']} | {f['right']} | {f['sound_p50']:.2f} | "
                f"{f['sound_p75']:.2f} | {f['word_p50']:.2f} | {f['word_p75']:.2f} | {read} |"
            )
        for (way, voice), heard in self.heard.items():
            lines += ["", *(f"{way}, {voice}, taken back: {x.heard} → {x.said}" for x in heard if x.taken_back)]
        return "\n".join([*lines, *dict.fromkeys(self.failures)])

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "machine": machine(),
            "simulated": self.simulated,
            "groups": [
                {
                    "way": way,
                    "voice": voice,
                    **figures(heard),
                    "read_back": self.read_back.get((way, voice)),
                    "answers": [one.document() for one in heard],
                }
                for (way, voice), heard in self.heard.items()
            ],
            "failures": self.failures,
        }


def figures(heard: Sequence[HeardAnswer]) -> dict[str, Any]:
    """Counts of a group, and its times in seconds from the questions' ends (nan where nothing was heard)."""

    def spread(name: str, values: list[float]) -> dict[str, float]:
        if not values:
            return {f"{name}_p50": float("nan"), f"{name}_p75": float("nan")}
        return {
            f"{name}_p50": round(statistics.median(values), 3),
            f"{name}_p75": round(float(np.quantile(values, 0.75)), 3),
        }

    taken_back = sum(one.taken_back for one in heard)
    return {
        "asked": len(heard),
        "unanswered": sum(not one.said for one in heard),
        "taken_back": taken_back,
        "share": round(taken_back / max(1, len(heard)), 4),
        "whole": sum(one.whole and not one.bridges for one in heard if one.said),
        "openings": sum(bool(one.opening) for one in heard),
        "right": sum(one.right for one in heard),
        **spread("sound", [one.first_sound for one in heard if one.first_sound is not None]),
        **spread("word", [one.first_word for one in heard if one.first_word is not None]),
    }


def load_asked(count: int, recordings: Path | None) -> list[Asked]:
    """The first `count` questions as the app's own voice says them, and those of `recordings`, a folder VOICE/NN.wav
    with NN from 01 in the order of the questions. Raises TranscriberError and VoiceError.
    """
    from app.tts.voices import make_voice

    entries = json.loads(resource("bench", "answers.json").read_text("utf-8"))[:count]
    out: list[Asked] = []
    with make_voice() as voice:
        for number, entry in enumerate(entries, 1):
            samples = voice.synthesize(entry["question"]).result().samples
            out.append(_asked(number, entry, samples, "the app's own"))
    if recordings is None:
        return out
    if not recordings.is_dir():
        raise TranscriberError(f"There is no folder {recordings}. Name one with VOICE/01.wav and so on in it.")
    for folder in sorted(path for path in recordings.iterdir() if path.is_dir()):
        for number, entry in enumerate(entries, 1):
            file = next((f for f in (folder / f"{number:02}{suffix}" for suffix in SUFFIXES) if f.is_file()), None)
            if file is not None:
                out.append(_asked(number, entry, read_sound(file), folder.name))
    return out


def read_sound(file: Path) -> np.ndarray:
    """A recording as float32 mono 24 kHz. Raises TranscriberError."""
    try:
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise TranscriberError(f"The recording {file} can't be read ({error}). Leave it out, or replace it.") from error
    return soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE).astype(np.float32)


def _asked(number: int, entry: dict[str, Any], samples: np.ndarray, voice: str) -> Asked:
    end = float(np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[-1] + 1) / SAMPLE_RATE
    return Asked(Question(f"{number:02}", entry["question"], samples, end), tuple(entry["answers"]), voice)


async def run_answers(
    make: MakeSession,
    choice: SessionChoice,
    asked: Sequence[Asked],
    progress: Callable[[str], None],
    *,
    ways: Sequence[Way] = WAYS,
    reader: Path | None = None,
    simulated: bool = False,
) -> AnswersResult:
    """Asks all questions in each way. `simulated`: in the time of a loop that jumps. `reader`: a folder with a Whisper
    model for CTranslate2, other than the app's, that reads back what was heard. Raises what opening a session raises,
    and TranscriberError.
    """
    read = open_reader(reader) if reader is not None else None
    result = AnswersResult(simulated=simulated)
    for way in ways:
        for voice in dict.fromkeys(one.voice for one in asked):
            mine = [one for one in asked if one.voice == voice]
            asker = PacedAsker(paced=not simulated)
            listener = PacedListener(asyncio.get_running_loop().time if simulated else time.perf_counter)
            talk = make(
                dataclasses.replace(choice, duplex=way == "hands-free"),
                asker,
                listener,
                end_with_input=False,
                remember_seconds=120.0 if read is not None else 0.0,
            )
            group = result.heard[way, voice] = []
            wrong = words = 0
            async with talk:
                events: list[e.Event] = []
                talk.add_listener(lambda event, events=events: events.append(event))  # type: ignore[misc]
                await asyncio.sleep(1.0)
                for number, one in enumerate(mine, 1):
                    progress(f"{way}, {voice}: question {number} of {len(mine)}")
                    events.clear()
                    began = await _ask(talk, asker, one.question, way)
                    end = began + one.question.end
                    await _until_answered(talk, events, end)
                    result.failures += [x.sentence for x in events if isinstance(x, e.Failure)]
                    group.append(judge(one.question.text, one.answers, events, end, CUSHION_SECONDS))
                    sound = talk.sound_of("assistant", end, talk.clock()) if read is not None else None
                    # In simulated time nothing may be waited for that the loop knows nothing of.
                    if read is not None and sound is not None and group[-1].said:
                        told = fold(f"{group[-1].opening} {group[-1].said}")
                        back = read(sound) if simulated else await asyncio.to_thread(read, sound)
                        wrong += word_distance(told, fold(back))
                        words += len(told)
            result.read_back[way, voice] = wrong, words
    return result


async def _ask(talk: Session, asker: PacedAsker, question: Question, way: Way) -> float:
    """Says or types the question, with the button down where there is one; returns when its sound began, or would have
    begun for it to end when it was typed.
    """
    if way == "typed":
        talk.write(question.text)
        return talk.clock() - question.end
    if way == "talk button":
        talk.press()
    began = asker.ask(question)
    if way == "talk button":
        await asyncio.sleep(max(0.0, began + question.end + RELEASE_SECONDS - talk.clock()))
        talk.release()
    return began


async def _until_answered(talk: Session, events: Sequence[e.Event], end: float) -> None:
    """Waits until the question is over and so is its answer, or nothing comes."""
    quiet_since = None
    while talk.clock() - end < PATIENCE_SECONDS:
        await asyncio.sleep(0.05)
        asked = any(isinstance(x, e.UserEnded | e.TranscriptFinal) for x in events)
        quiet = talk.quiet and asked
        quiet_since = (quiet_since or talk.clock()) if quiet else None
        if quiet_since is not None and talk.clock() - max(quiet_since, end) > AFTER_SECONDS:
            return


def open_reader(folder: Path) -> Callable[[np.ndarray], str]:
    """What reads 24 kHz sound with the model in `folder`. Raises TranscriberError."""
    from app.stt.whisper_library import faster_whisper

    try:
        model = faster_whisper().WhisperModel(str(folder), device="cpu", compute_type="int8")
    except (RuntimeError, ValueError, OSError) as error:
        raise TranscriberError(
            f"There is no model that reads back in {folder} ({error}). Name a folder with a Whisper model that was "
            "converted for CTranslate2."
        ) from error

    def read(samples: np.ndarray) -> str:
        heard = soxr.resample(samples, SAMPLE_RATE, 16_000)
        segments, _ = model.transcribe(heard, language="en", beam_size=5, condition_on_previous_text=False)
        return " ".join(segment.text.strip() for segment in segments)

    return read
