"""`bench overlap`: questions spoken over the first seconds of a new conversation, with headphones and a loudspeaker.

Each question starts a new conversation in a simulated room, in simulated time: a typed message makes the app speak
immediately with the embedded voice, and another voice asks a question over it. The voice detector, echo canceller and
recogniser are the app's own. The turn's final words are compared with those of one pass over the clean question.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np

from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.store import EchoStore
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.diagnostics.tables import Progress, markdown, no_progress
from app.frontend.cascade import CascadeFrontEnd
from app.research.benches.recordings import Recording, at_level, load_questions, trim
from app.research.benches.room import NoOpContext, Room, random_rooms
from app.research.benches.timed_parts import SpeechModels, speech_models
from app.research.results import grouped
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.tts.base import Clip, Voice

TAIL_SECONDS = 3.0
"""The conversation continues for this long after the question, so that its turn can end."""
ALONE_SECONDS = 14.0
"""The app speaks alone for this long, to learn the echo path and to show that it doesn't interrupt itself."""
LATER_SECONDS = 0.0073
"""Additional echo delay in a second conversation with the same devices, since they start at different moments."""
WHOLE = 0.7
"""Minimum share of the clean pass's words for a question to count as recognised. Whisper tiny.en changes one word in
five if the same telephone recording merely starts at another offset."""


@dataclass(frozen=True, slots=True)
class Place:
    """A named room. `room`: the arguments of `Room`."""

    name: str
    room: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a question that started at `at` seconds.

    - `asked`: the question trimmed of silence, at `LEVEL_DBFS`, with its text as recognised in one pass
    - `heard`: the final words of all turns that started with it or later
    - `sound`: the words of one pass over the microphone audio that the recogniser received
    - `itself`: how often, before the question, the app mistook another sound for the user
    """

    place: Place
    asked: Recording
    at: float
    heard: tuple[str, ...]
    sound: tuple[str, ...]
    interrupted: bool
    itself: int

    @property
    def clean(self) -> tuple[str, ...]:
        """The words of the clean question as recognised in one pass."""
        return fold(self.asked.text)

    @property
    def vanished(self) -> bool:
        """Whether none of its words was recognised."""
        return self._aligned[1] == 0

    @property
    def beginning_lost(self) -> bool:
        """Whether it was recognised without its first word."""
        return not self.vanished and self._aligned[0] > 0

    @property
    def whole(self) -> bool:
        """Whether it was recognised from its first word on, nearly as in the clean pass."""
        return self._is_whole(*self._aligned)

    @property
    def sound_whole(self) -> bool:
        """Whether the question is complete in the audio that the recogniser received."""
        return self._is_whole(*_aligned(self.clean, self.sound))

    @property
    def share(self) -> float:
        """The share of the clean pass's words that were recognised."""
        return self._aligned[1] / len(self.clean)

    @property
    def _aligned(self) -> tuple[int, int]:
        return _aligned(self.clean, self.heard)

    def _is_whole(self, missing: int, heard: int) -> bool:
        return missing == 0 and heard >= WHOLE * len(self.clean)


def _aligned(clean: tuple[str, ...], heard: tuple[str, ...]) -> tuple[int, int]:
    """Returns the number of words missing at the beginning of `clean`, and the number recognised."""
    if not heard:
        return len(clean), 0
    [pieces] = jiwer.process_words(" ".join(clean), " ".join(heard)).alignments
    missing = 0
    for piece in itertools.takewhile(lambda piece: piece.type != "equal", pieces):
        missing += (piece.ref_end_idx - piece.ref_start_idx) - (piece.hyp_end_idx - piece.hyp_start_idx)
    return max(0, missing), sum(piece.ref_end_idx - piece.ref_start_idx for piece in pieces if piece.type == "equal")


COUNTS = ("interrupted", "whole", "beginning_lost", "vanished", "sound_whole", "itself")


@dataclass(slots=True)
class OverlapResult:
    """Outcomes of all questions; `alone`: the number of self-interruptions in each conversation without a question."""

    over: list[Outcome] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ["spoken over a fresh talk", "questions", "interrupted", "heard whole", "beginning lost", "vanished"]
        head += ["words", "sound whole", "itself"]
        rows = [
            (name, *{**row, "words": f"{100 * row['words']:.0f} %"}.values()) for name, row in self.figures().items()
        ]
        told = (
            f"The app interrupted itself {sum(self.alone)} times in {len(self.alone)} talks of "
            f"{ALONE_SECONDS + TAIL_SECONDS:.0f} s over a loudspeaker in which nobody else spoke."
        )
        return "\n".join([*markdown(head, rows), "", told])

    def figures(self) -> dict[str, dict[str, Any]]:
        """Returns the counts, keyed by place, in the order of the table's columns."""
        return {
            name: {
                "questions": len(group),
                **{name: sum(getattr(one, name) for one in group) for name in COUNTS[:4]},
                "words": round(float(np.mean([one.share for one in group])), 3),
                **{name: sum(getattr(one, name) for one in group) for name in COUNTS[4:]},
            }
            for name, group in grouped(self.over, lambda one: one.place.name).items()
        }

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {
            "places": self.figures(),
            "alone": self.alone,
            "not_whole": [
                {
                    **{"place": one.place.name, "room": one.place.room, "question": one.asked.name},
                    **{"at": round(one.at, 2), "clean": " ".join(one.clean)},
                    **{"heard": " ".join(one.heard), "sound": " ".join(one.sound)},
                }
                for one in self.over
                if not (one.whole and one.sound_whole)
            ],
        }


FIRST_SECONDS = 20.0
"""Questions begin within this time of the conversation's start."""
LEVEL_DBFS = -26.0
"""RMS level of a question's loud parts, the usual active speech level of ITU-T P.56."""
LONGEST_SECONDS = 10.0
ANSWER = (
    "Let us begin with the history of the city. It was founded by merchants on the northern bank of the river. "
    "They built a harbour, a market and a long wall of stone. A great fire took most of the wooden houses. "
    "After that the council ordered that every roof be covered with tiles. Trade grew quickly in the next century. "
    "Ships brought wool, timber and grain from distant countries. Painters and printers came from the south. "
    "The first university opened its doors with forty students. Later a railway was built along the coast. "
    "It carried coal in winter and visitors in summer. Today the harbour is a park with gardens and cafes. "
)
"""What the app says, repeated as needed."""


class CachedVoice(NoOpContext):
    """Wraps `voice` and caches its clips for later conversations."""

    name = "cached"
    rate = volume = 1.0

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._clips: dict[str, Clip] = {}

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        """Returns a clip that is ready immediately in simulated time."""
        if text not in self._clips:
            self._clips[text] = self._voice.synthesize(text).result()
        future: Future[Clip] = Future()
        future.set_result(self._clips[text])
        return future


def _starts(events: Sequence[e.Event]) -> list[e.UserStarted | e.UserResumed]:
    """Returns the events at which the app detected a user turn, except the typed one at the beginning."""
    return [event for event in events if isinstance(event, e.UserStarted | e.UserResumed)][1:]


def speak_over(
    place: Place, asked: Recording, at: float, models: SpeechModels, voice: Voice, echoes: EchoStore | None = None
) -> Outcome:
    """Asks a question `at` seconds into a new conversation. `echoes`: echo paths learned in earlier conversations."""
    events, asked_sound = _talk(place, asked, at, models, voice, echoes)
    since = {event.turn for event in _starts(events) if event.at >= at}
    finals = {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}
    assert asked_sound is not None
    return Outcome(
        place,
        asked,
        at,
        fold(" ".join(text for turn, text in sorted(finals.items()) if turn in since)),
        fold(models.transcribe(asked_sound)),
        any(isinstance(event, e.AssistantEnded) and event.interrupted and event.at > at for event in events),
        sum(event.at < at for event in _starts(events)),
    )


def _talk(
    place: Place, asked: Recording | None, at: float, models: SpeechModels, voice: Voice, echoes: EchoStore | None
) -> tuple[list[e.Event], np.ndarray | None]:
    """Returns the events of a conversation, and the question as the recogniser received it, None without a question."""
    seconds = at + TAIL_SECONDS + (len(asked.samples) / SAMPLE_RATE if asked else 0.0)
    room = Room(round(seconds / FRAME_SECONDS), by_hops=True, **place.room)
    if asked is not None:
        room.say(asked.samples, at)
    events: list[e.Event] = []

    async def run() -> np.ndarray | None:
        parts = SessionParts(
            frontend=CascadeFrontEnd(voice, "thinking"),
            transcriber=models.transcriber(),
            voice_activity=models.voice_detector(),
            backend=ScriptedBackend(lambda request: answer(ANSWER * 4, every=0.0)),
            source=EchoCancelledSource(room.source, room.tap, store=echoes),
            sink=room.sink,
        )
        config = SessionConfig(
            SessionChoice(duplex=True), pace="simulated", max_answer_seconds=0.1, remember_seconds=seconds
        )
        async with Session(parts, config) as session:
            session.add_listener(events.append)
            session.write("Tell me of the city.")
            await session.ended()
            return session.sound_of("user", at - 0.3, seconds - TAIL_SECONDS + 0.5) if asked is not None else None

    return events, run_simulated(run())


def read_questions(count: int, models: SpeechModels) -> list[Recording]:
    """Returns `count` of the benches' questions of at most `LONGEST_SECONDS`, cycling through them."""
    out: list[Recording] = []
    for question in load_questions():
        trimmed = at_level(trim(question.samples), LEVEL_DBFS)
        if len(trimmed) <= LONGEST_SECONDS * SAMPLE_RATE:
            out.append(Recording(question.name, models.transcribe(trimmed), trimmed))
    return list(itertools.islice(itertools.cycle(out), count))


def run_overlap(questions: int = 30, *, progress: Progress = no_progress) -> OverlapResult:
    """Asks `questions` questions, each over a new conversation, in every kind of place.

    Raises TranscriberError and VoiceError.
    """
    from app.tts.voices import make_voice

    result = OverlapResult()
    with speech_models(words=False) as models, make_voice() as embedded:
        asked = read_questions(questions, models)
        voice = CachedVoice(embedded)
        rng = np.random.default_rng((0, 1))
        moments = rng.uniform(0.5, FIRST_SECONDS, len(asked))
        rooms = random_rooms(len(asked), 0)
        for number, (one, room, at) in enumerate(zip(asked, rooms, moments, strict=True), 1):
            progress(f"question {number} of {len(asked)}")
            place, echoes = Place("loudspeaker, first conversation", room), EchoStore()
            headphones = Place("headphones", {**room, "attenuation_db": None})
            later = {**room, "delay_seconds": room["delay_seconds"] + LATER_SECONDS}
            for where in (headphones, place):
                result.over.append(speak_over(where, one, float(at), models, voice))
            result.alone.append(len(_starts(_talk(place, None, ALONE_SECONDS, models, voice, echoes)[0])))
            known = Place("loudspeaker, a conversation before", later)
            result.over.append(speak_over(known, one, float(at), models, voice, echoes))
    return result
