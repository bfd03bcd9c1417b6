"""What `bench first-word` measures of one question, from the recorded sound and the conversation's events.

All seconds are the recording's. The end of the user's voice and every begin of the app's are read off the sound; which
words were said, and when each was over, comes from the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.diagnostics.tables import rounded
from app.research.benches.recordings import Question

Span = tuple[float, float]
"""Begin and end in seconds."""

HOP_SECONDS = 0.01
SOUND_LEVEL = 0.004
"""Root mean square of a hop, -48 dBFS. Between two clauses the loudspeaker plays digital silence."""
GAP_SECONDS = 0.06
"""A shorter silence belongs to a word, such as that before a t."""
PHRASE_SECONDS = 0.25
"""A longer silence parts two phrases."""
SHORTEST_SECONDS = 0.02
SOFT = np.array([1, 4, 6, 4, 1]) / 16
"""A filter that lets pass what is below some 5 kHz."""
STAYS_SECONDS = 0.2
"""A voice that began before the user's end and sounds on for so long after it has not yielded to the user."""
WORD_SECONDS = 0.1
"""How much later than its sound a word's end may be placed: a frame, and what the calibration leaves."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the assistant's that ended at second `end`. `revision`: 0 for those of an opening."""

    text: str
    revision: int
    end: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One question and its answer; all times in seconds after the end of the user's voice, None if there is none.

    - `who`, `way`: the group, and hands-free or talk button; `first`: the first question after the app's start
    - `first_sound`: the app's first sound
    - `first_word`, `first_word_end`: the first word of the answer begins, and ends
    - `first_new_word`: the first of its words begins that is not in the question, as asked or as recognised
    - `opening`: an opening came before the answer
    - `over_user`: how long the app's voice sounded between the begin and the end of the question
    - `too_early`: a voice that began before the end went on, so that nothing was timed
    - `model_first`, `model_rate`: seconds from the request that was spoken to its first word, and words a second
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

    def document(self) -> dict[str, Any]:
        """Returns the figures for JSON."""
        return rounded(asdict(self), 3)


def sound_spans(samples: np.ndarray, gap: float = GAP_SECONDS) -> list[Span]:
    """Returns the stretches of `samples` (float32 24 kHz) that sound; silences shorter than `gap` are part of them."""
    hop = round(HOP_SECONDS * SAMPLE_RATE)
    power = np.square(samples[: len(samples) // hop * hop].reshape(-1, hop)).mean(axis=1)
    loud = np.sqrt(power) > SOUND_LEVEL
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(np.int8))).reshape(-1, 2)
    return joined([(float(a) * HOP_SECONDS, float(b) * HOP_SECONDS) for a, b in edges], gap)


def joined(spans: Sequence[Span], gap: float) -> list[Span]:
    """Returns the spans with gaps shorter than `gap` closed, without those that are only a click."""
    out: list[Span] = []
    for begin, end in spans:
        if out and begin - out[-1][1] < gap:
            out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return [(begin, end) for begin, end in out if end - begin >= SHORTEST_SECONDS]


def find(sound: np.ndarray, recording: np.ndarray) -> tuple[int, float]:
    """Returns the sample of `recording` at which `sound` begins, and how alike the two are there (1: the same).

    Both without their highest tones, which a sound server that resamples leaves out.
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
    """Returns the words that were played, on the recording's clock: `shift` is added to the session's."""
    said = (event for event in events if isinstance(event, e.AssistantSaid))
    return [Word(event.text, event.revision, event.at + shift) for event in said if fold(event.text)]


def calibrated(words: Sequence[Word], spans: Sequence[Span]) -> float:
    """Returns by how much words end later than their events say: the median over the last words before a silence.

    An event says when a word was over to the frame, and does not know what the sound server holds back.
    """
    ends = [end for _, end in joined(spans, PHRASE_SECONDS)]
    late = []
    for word, after in zip(words, [*words[1:], None], strict=True):
        near = min(ends, key=lambda end: abs(end - word.end), default=None)
        if near is None or abs(near - word.end) > PHRASE_SECONDS:
            continue
        if after is None or after.end - word.end > 2 * PHRASE_SECONDS:
            late.append(near - word.end)
    return float(np.median(late)) if late else 0.0


def measure(
    question: Question,
    at: float,
    spans: Sequence[Span],
    events: Sequence[e.Event],
    words: Sequence[Word],
    *,
    who: str,
    way: str,
    first: bool = False,
) -> Measured:
    """Measures a question whose sound begins at second `at`.

    `spans`: the loudspeaker's sound; `events` and `words`: those from the question's begin to the next one's.
    """
    end = at + question.end
    after = [span for span in spans if span[0] >= end]
    too_early = any(begin < end and stop - end > STAYS_SECONDS for begin, stop in spans)
    first_sound = after[0][0] if after and not too_early else None
    later = [word for word in words if first_sound is not None and word.end > first_sound]
    content = [word for word in later if word.revision]
    finals = {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}
    heard = " ".join(finals[turn] for turn in sorted(finals))
    asked = {*fold(question.text), *fold(heard)}  # as it was recognised, too: “ninety” may be 90
    new = next((word for word in content if not asked.issuperset(fold(word.text))), None)

    counted = [
        event
        for event in events
        if isinstance(event, e.OracleCounted) and content and event.revision == content[0].revision
    ]
    model_first, rate = (counted[0].first_ms, counted[0].words_per_second) if counted else (None, None)

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
        opening=bool(content) and later[0].revision == 0,
        over_user=sum(max(0.0, min(stop, end) - max(begin, at)) for begin, stop in spans),
        too_early=too_early,
        first_sound=first_sound - end if first_sound is not None else None,
        first_word=begin_of(content[0] if content else None),
        first_word_end=content[0].end - end if content else None,
        first_new_word=begin_of(new),
        model_first=None if model_first is None else model_first / 1000,
        model_rate=rate,
    )


def _begin(words: Sequence[Word], number: int, spans: Sequence[Span]) -> float:
    """Returns the second at which a word begins: where sound begins after a silence behind the word before it, or where
    that word ends.
    """
    end = words[number].end
    phrases = joined(spans, PHRASE_SECONDS)
    phrase = max((begin for begin, _ in phrases if begin < end - SHORTEST_SECONDS), default=spans[0][0])
    before = words[number - 1].end if number else phrase
    if before <= phrase:
        return phrase
    starts = [begin for begin, _ in spans if before - WORD_SECONDS < begin < end - WORD_SECONDS / 2]
    return starts[0] if starts else before
