"""One talk of `bench first-word`: starts the window, asks it questions aloud, and measures its answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress
from app.research.benches.busy import OtherWork
from app.research.benches.first_word.measures import (
    SOUND_LEVEL,
    Measured,
    calibrated,
    find,
    measure,
    sound_spans,
    words_said,
)
from app.research.benches.first_word.stage import Recording, Window, virtual_stage
from app.research.benches.recordings import Question, read_sound
from app.session.errors import UserError

WAYS = ("hands-free", "talk button")
PRESS_SECONDS = 0.3
"""From the press of the talk button to the question."""
RELEASE_SECONDS = 0.15
"""From the last word to the button's release, as in `bench answers`."""
READY_SECONDS = 2.0
SETTLE_SECONDS = 1.0
"""Silence after an answer before the next question."""
PATIENCE_SECONDS = 10.0
"""Silence after a question, or after an opening, from which it counts as unanswered."""
LONGEST_SECONDS = 20.0
"""An answer that is still spoken then is silenced."""
ALIKE = 0.9
"""How alike the microphone's sound and the question must be at least."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What one talk has given. `others`: cores that other processes used meanwhile; `failures`: the app's sentences."""

    measured: list[Measured]
    others: float
    failures: list[str] = field(default_factory=list)


def ask_all(who: str, way: str, warm_up: Question, questions: Sequence[Question], progress: Progress) -> Talk:
    """Asks the questions in a new window, after `warm_up`, the first one since its start. Raises UserError."""
    asked = [warm_up, *questions]
    places: list[int] = []
    with virtual_stage() as stage:
        work = OtherWork()
        progress(f"{who}, {way}: the window starts")
        with stage.window(duplex=way == "hands-free") as window, stage.recording() as recording:
            time.sleep(READY_SECONDS)
            for number, question in enumerate(asked):
                progress(f"{who}, {way}: question {number} of {len(questions)}" if number else f"{who}, {way}: warm-up")
                places.append(recording.length)
                window.follow()
                if way == "talk button":
                    window.press()
                    time.sleep(PRESS_SECONDS)
                stage.play(question.samples)
                end = _end_in(recording, places[-1], question)
                if way == "talk button":
                    time.sleep(max(0.0, recording.started_at + end + RELEASE_SECONDS - time.monotonic()))
                    window.release()
                _wait_for_answer(window, recording, end)
            others = work.cores()
            window.close()
            heard = read_sound(window.microphone_file)
        failures = [event.sentence for event in window.events if isinstance(event, e.Failure)]
    return Talk(measured_talk(who, way, asked, places, recording, heard, window.events), others, failures)


def _end_in(recording: Recording, place: int, question: Question) -> float:
    """Returns when the voice ends in the recording; waits until its loudest part has been played."""
    loud = float(np.abs(question.samples).max()) / 2
    within = int(np.flatnonzero(np.abs(question.samples) > loud)[0])
    give_up = time.monotonic() + question.end + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        found = np.flatnonzero(np.abs(recording.microphone(place)) > loud)
        if len(found):
            return (place + int(found[0]) - within) / SAMPLE_RATE + question.end
        time.sleep(0.02)
    raise UserError("The virtual microphone gives no sound, so nothing was measured. Run the bench again.")


def _wait_for_answer(window: Window, recording: Recording, end: float) -> None:
    """Waits until the answer to a question that ends at second `end` of the recording is over, or doesn't come."""
    events: list[e.Event] = []
    position = max(0, round(end * SAMPLE_RATE))
    last_sound, sounded, silenced = end, False, False
    while True:
        time.sleep(0.2)
        events += window.follow()
        new = recording.loudspeaker(position)
        loud = np.flatnonzero(np.abs(new) > SOUND_LEVEL)
        if len(loud):
            last_sound, sounded = (position + int(loud[-1])) / SAMPLE_RATE, True
        position += len(new)
        silent = recording.seconds - last_sound
        answered = any(isinstance(event, e.AssistantSaid) and event.revision for event in events)
        ends = [event for event in events if isinstance(event, e.AssistantStarted | e.AssistantEnded)]
        over = bool(ends) and isinstance(ends[-1], e.AssistantEnded)
        if silent > PATIENCE_SECONDS or (silent > SETTLE_SECONDS and sounded and answered and over):
            return
        if recording.seconds - end > LONGEST_SECONDS and not silenced:
            window.silence()
            silenced = True


def measured_talk(
    who: str,
    way: str,
    asked: Sequence[Question],
    places: Sequence[int],
    recording: Recording,
    heard: np.ndarray,
    events: Sequence[e.Event],
) -> list[Measured]:
    """Measures all questions of a talk. `places`: samples before which none was asked; `heard`: the app's own recording
    of its microphone.
    """
    microphone, begins, shifts = recording.microphone(), list[float](), list[float]()
    for place, question in zip(places, asked, strict=True):
        sound = question.samples[: round(question.end * SAMPLE_RATE)]
        begin, alike = find(sound, microphone[place : place + len(question.samples) + 2 * SAMPLE_RATE])
        if alike < ALIKE:
            raise UserError(
                f"The sound server did not play the question {question.name} as it is (likeness {alike:.2f}): the "
                "machine is too busy. Nothing of this talk was measured; run the bench again."
            )
        begins.append((place + begin) / SAMPLE_RATE)
        shifts.append(begins[-1] - find(sound, heard)[0] / SAMPLE_RATE)
    shift = float(np.median(shifts))
    spans = sound_spans(recording.loudspeaker())
    words = words_said(events, shift)
    words = words_said(events, shift + calibrated(words, spans))
    out = []
    for number, (question, asked_at) in enumerate(zip(asked, begins, strict=True)):
        until = begins[number + 1] if number + 1 < len(begins) else float("inf")
        out.append(
            measure(
                question,
                asked_at,
                [span for span in spans if asked_at <= span[0] < until],
                [event for event in events if asked_at <= event.at + shift < until],
                [word for word in words if asked_at <= word.end < until],
                who=who,
                way=way,
                first=number == 0,
            )
        )
    return out
