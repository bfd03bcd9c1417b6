"""One conversation of `bench first-word`: starts the window, asks spoken questions, and measures its answers.

Each question is measured from the recorded audio and the conversation's events. All times are in seconds of the
recording. The end of the user's voice and the starts of the app's voice are found in the audio; the app's words and
their completion times come from the events.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.diagnostics.tables import Progress
from app.research.benches.first_word.stage import MonitorRecording, OtherWork, Window, virtual_stage
from app.research.benches.recordings import RELEASE_SECONDS, Recording, Span, Turn, heard_in, joined, read_sound
from app.research.results import at_share
from app.session.control import UserError

HOP_SECONDS = 0.01
SOUND_LEVEL = 0.004
"""RMS above which a hop is audible, -48 dBFS. Between two clauses the loudspeaker plays digital silence."""
GAP_SECONDS = 0.06
"""A shorter silence is part of a word, such as the closure before a t."""
PHRASE_SECONDS = 0.25
"""A longer silence separates two phrases."""
SHORTEST_SECONDS = 0.02
SOFT = np.array([1, 4, 6, 4, 1]) / 16
"""A low-pass filter with a cutoff near 5 kHz."""
STAYS_SECONDS = 0.2
"""An app voice that started before the user's end and continues for this long afterwards has not yielded to the user.
"""
WORD_SECONDS = 0.1
"""Tolerance for placing a word's end after its sound: one frame, plus the calibration error."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word spoken by the assistant, ending at `end` seconds. `revision`: 0 for words of an opening."""

    text: str
    revision: int
    end: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One question and its answer; all times are in seconds after the end of the user's voice, None if not applicable.

    - `who`, `way`: the group, and hands-free or talk button; `first`: whether it is the first question after the app's
      start
    - `first_sound`: start of the app's first sound
    - `first_word`, `first_word_end`: start and end of the answer's first word
    - `first_new_word`: start of its first word that is not in the question, as asked or as recognised
    - `opening`: whether an opening was played before the answer; `left_out`: whether a wait had none, since the
      answer was due, or since the answer before had one
    - `gaps`: how often the sound of the answer was interrupted because samples were late
    - `over_user`: for how many seconds the app's voice was audible during the question
    - `too_early`: whether an app voice that started before the question's end did not yield, in which case nothing is
      timed
    - `model_first`, `model_rate`: the language model's seconds to the first word of the spoken answer, and words per
      second
    """

    who: str
    way: str
    name: str
    question: str
    heard: str
    said: str
    first: bool
    opening: bool
    over_user: float
    too_early: bool
    first_sound: float | None
    first_word: float | None
    first_word_end: float | None
    first_new_word: float | None
    model_first: float | None = None
    model_rate: float | None = None
    left_out: bool = False
    gaps: int = 0


def sound_spans(samples: np.ndarray, gap: float = GAP_SECONDS) -> list[Span]:
    """Returns the audible spans of `samples` (float32, 24 kHz); silences shorter than `gap` are part of them."""
    hop = round(HOP_SECONDS * SAMPLE_RATE)
    power = np.square(samples[: len(samples) // hop * hop].reshape(-1, hop)).mean(axis=1)
    loud = np.sqrt(power) > SOUND_LEVEL
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(np.int8))).reshape(-1, 2)
    return joined(((float(a), float(b)) for a, b in edges * HOP_SECONDS), gap, SHORTEST_SECONDS)


def find(sound: np.ndarray, recording: np.ndarray) -> tuple[int, float]:
    """Returns the sample offset in `recording` at which `sound` starts, and their similarity there (1: identical).

    Both are low-pass filtered, since a resampling sound server drops the highest frequencies.
    """
    if len(recording) < len(sound) or not len(sound):
        return 0, 0.0
    recording, sound = (np.convolve(one, SOFT, "same") for one in (recording, sound))
    size = 1 << (len(recording) + len(sound) - 1).bit_length()
    spectrum = np.fft.rfft(recording, size) * np.conj(np.fft.rfft(sound, size))
    places = len(recording) - len(sound) + 1
    at = int(np.argmax(np.fft.irfft(spectrum, size)[:places]))
    part = recording[at : at + len(sound)]
    norm = float(np.linalg.norm(part) * np.linalg.norm(sound))
    return at, float(np.dot(part, sound)) / norm if norm else 0.0


def words_said(events: Sequence[e.Event], shift: float) -> list[Word]:
    """Returns the played words with their ends in recording time, which is session time plus `shift`."""
    said = (event for event in events if isinstance(event, e.AssistantSaid))
    return [Word(event.text, event.revision, event.at + shift) for event in said if fold(event.text)]


def calibrated(words: Sequence[Word], spans: Sequence[Span]) -> float:
    """Returns by how many seconds words end later than their events report, as the median over words before a silence.

    Events have a resolution of one frame and do not account for the sound server's buffering.
    """
    ends = [end for _, end in joined(spans, PHRASE_SECONDS, SHORTEST_SECONDS)]
    last = [
        word.end
        for word, after in itertools.zip_longest(words, words[1:])
        if after is None or after.end - word.end > 2 * PHRASE_SECONDS
    ]
    late = [min((end - said for end in ends), key=abs, default=1.0) for said in last]
    return at_share(one for one in late if abs(one) <= PHRASE_SECONDS) or 0.0


def measure(
    question: Recording,
    at: float,
    spans: Sequence[Span],
    events: Sequence[e.Event],
    words: Sequence[Word],
    *,
    who: str,
    way: str,
    first: bool = False,
) -> Measured:
    """Measures a question whose audio starts at `at` seconds.

    `spans`: the audible spans of the loudspeaker; `events`, `words`: those between the question's start and the next
    one's.
    """
    end = at + question.end
    turn = Turn(events, end)
    after = [span for span in spans if span[0] >= end]
    too_early = any(begin < end and stop - end > STAYS_SECONDS for begin, stop in spans)
    first_sound = after[0][0] if after and not too_early else None
    later = [word for word in words if first_sound is not None and word.end > first_sound]
    content = [word for word in later if word.revision]
    heard = heard_in(events)
    asked = {*fold(question.text), *fold(heard)}  # also as recognised: “ninety” may become 90
    new = next((word for word in content if not asked.issuperset(fold(word.text))), None)
    counted = [
        (event.first_ms, event.words_per_second)
        for event in turn.of(e.OracleCounted)
        if content and event.revision == content[0].revision
    ]
    model_first, rate = counted[0] if counted else (None, None)
    opening = bool(content) and later[0].revision == 0
    rules = {event.rule for event in turn.of(e.SpeechDecided)}

    def begin_of(word: Word | None) -> float | None:
        return _begin(later, later.index(word), after) - end if word is not None else None

    return Measured(
        who=who,
        way=way,
        name=question.name,
        question=question.text,
        heard=heard,
        said=" ".join(word.text for word in content),
        first=first,
        opening=opening,
        over_user=sum(max(0.0, min(stop, end) - max(begin, at)) for begin, stop in spans),
        too_early=too_early,
        first_sound=first_sound - end if first_sound is not None else None,
        first_word=begin_of(content[0] if content else None),
        first_word_end=content[0].end - end if content else None,
        first_new_word=begin_of(new),
        model_first=None if model_first is None else model_first / 1000,
        model_rate=rate,
        left_out=not opening and not rules.isdisjoint(("answer due", "opened before")),
        gaps=sum(event.count for event in turn.of(e.Underrun)),
    )


def _begin(words: Sequence[Word], number: int, spans: Sequence[Span]) -> float:
    """Returns the start of a word in seconds: the first sound after the silence that follows the previous word, or else
    that word's end.
    """
    end = words[number].end
    phrases = joined(spans, PHRASE_SECONDS, SHORTEST_SECONDS)
    phrase = max((begin for begin, _ in phrases if begin < end - SHORTEST_SECONDS), default=spans[0][0])
    before = words[number - 1].end if number else phrase
    if before <= phrase:
        return phrase
    starts = [begin for begin, _ in spans if before - WORD_SECONDS < begin < end - WORD_SECONDS / 2]
    return starts[0] if starts else before


WAYS = ("hands-free", "talk button")
PRESS_SECONDS = 0.3
"""Time from pressing the talk button to the question."""
LATE_SECONDS = 0.05
"""Maximum delay of the button's release."""
READY_SECONDS = 2.0
SETTLE_SECONDS = 1.0
"""Silence after an answer before the next question."""
PATIENCE_SECONDS = 10.0
"""Silence after a question or an opening after which the question counts as unanswered."""
LONGEST_SECONDS = 20.0
"""An answer still playing after this time is silenced."""
ALIKE = 0.9
"""Minimum similarity of the microphone audio and the question."""


@dataclass(frozen=True, slots=True)
class Talk:
    """The results of one conversation.

    `others`: cores used by other processes; `failures`: the app's error messages.
    """

    measured: list[Measured]
    others: float
    failures: list[str] = field(default_factory=list)


def ask_all(who: str, way: str, warm_up: Recording, questions: Sequence[Recording], progress: Progress) -> Talk:
    """Asks `warm_up` and then the questions in a new window. Raises UserError."""
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
                with stage.playing(question.samples):  # people's recordings continue after the last word
                    end = _end_in(recording, places[-1], question)
                    if way == "talk button":
                        release_at(recording.started_at + end + RELEASE_SECONDS, window)
                _wait_for_answer(window, recording, end)
            others = work.cores()
            window.close()
            heard = read_sound(window.microphone_file)
        failures = Turn(window.events, 0.0).failures
    return Talk(measured_talk(who, way, asked, places, recording, heard, window.events), others, failures)


def release_at(due: float, window: Window) -> None:
    """Releases the talk button at `due`, a `time.monotonic()` timestamp. Raises UserError if `due` is too long past."""
    late = time.monotonic() - due
    if late > LATE_SECONDS:
        raise UserError(
            f"The talk button would be released {late:.1f} s late, so the figures would be too large. Run the bench "
            "again on an idle machine."
        )
    time.sleep(max(0.0, -late))
    window.release()


def _end_in(recording: MonitorRecording, place: int, question: Recording) -> float:
    """Waits until the question's loudest part has been played; returns when its voice ends, in seconds of the
    recording.
    """
    loud = float(np.abs(question.samples).max()) / 2
    within = int(np.flatnonzero(np.abs(question.samples) > loud)[0])
    give_up = time.monotonic() + question.end + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        found = np.flatnonzero(np.abs(recording.microphone(place)) > loud)
        if len(found):
            return (place + int(found[0]) - within) / SAMPLE_RATE + question.end
        time.sleep(0.02)
    raise UserError("The virtual microphone gives no sound, so nothing was measured. Run the bench again.")


def _wait_for_answer(window: Window, recording: MonitorRecording, end: float) -> None:
    """Waits until the answer to a question that ends at `end` seconds of the recording is over or overdue."""
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
    asked: Sequence[Recording],
    places: Sequence[int],
    recording: MonitorRecording,
    heard: np.ndarray,
    events: Sequence[e.Event],
) -> list[Measured]:
    """Measures all questions of a conversation.

    - `places`: for each question, a sample offset in the recording at or before its start
    - `heard`: the app's own recording of its microphone
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
    return [
        measure(
            question,
            asked_at,
            [span for span in spans if asked_at <= span[0] < until],
            [event for event in events if asked_at <= event.at + shift < until],
            [word for word in words if asked_at <= word.end < until],
            who=who,
            way=way,
            first=asked_at == begins[0],
        )
        for question, asked_at, until in zip(asked, begins, [*begins[1:], float("inf")], strict=True)
    ]
