"""`bench overlap`: questions spoken over the first seconds of a fresh talk, on headphones and with a loudspeaker.

For each question a new talk begins in a simulated room (see `room`), in simulated time: the app is typed to and speaks
at once, with the embedded voice, and another voice asks something over it. Voice detector, echo path, canceller and
recogniser are the app's own. What the turn's final words hold is compared with one look at the clean question.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.store import EchoStore
from app.audio.io.base import EndOfAudio
from app.audio.io.errors import AudioFileError
from app.audio.io.files import FileSource
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.evaluation.overlap_result import ALONE_SECONDS, TAIL_SECONDS, Asked, Over, OverlapResult, Place
from app.evaluation.room import Room
from app.evaluation.speech_models import SpeechModels, speech_models
from app.evaluation.spoken_questions import load_questions
from app.frontend.cascade import CascadeFrontEnd
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.tts.base import Clip, Voice

FIRST_SECONDS = 20.0
"""The questions begin in the talk's first so many seconds."""
LEVEL_DBFS = -26.0
"""Root mean square of a question's loud parts: ITU-T P.56's usual active speech level."""
LONGEST_SECONDS = 10.0
FEWEST_WORDS = 3
ANSWER = (
    "Let us begin with the history of the city. It was founded by merchants on the northern bank of the river. "
    "They built a harbour, a market and a long wall of stone. A great fire took most of the wooden houses. "
    "After that the council ordered that every roof be covered with tiles. Trade grew quickly in the next century. "
    "Ships brought wool, timber and grain from distant countries. Painters and printers came from the south. "
    "The first university opened its doors with forty students. Later a railway was built along the coast. "
    "It carried coal in winter and visitors in summer. Today the harbour is a park with gardens and cafes. "
)
"""What the app says, as often as needed."""


def some_places(count: int, seed: int) -> list[Place]:
    """Loudspeakers in rooms drawn at random, the three attenuations in turn."""
    rng = np.random.default_rng((seed, 2))
    return [
        Place(
            "loudspeaker, first talk",
            {
                "delay_seconds": round(float(rng.uniform(0.02, 0.25)), 4),
                "attenuation_db": (-6.0, -12.0, -20.0)[n % 3],
                "rt60": round(float(rng.uniform(0.3, 0.5)), 2),
                "noise_dbfs": round(float(rng.uniform(-65.0, -50.0)), 1),
                "drift_ppm": float(rng.choice((-100.0, 0.0, 100.0))),
                "seed": 100 * seed + n,
            },
        )
        for n in range(count)
    ]


class SpokenBefore:
    """A voice that says each text as `voice` does, and keeps it for the next talk."""

    name = "kept"
    rate = volume = 1.0

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._clips: dict[str, Clip] = {}

    def synthesize(self, text: str) -> Future[Clip]:
        """See `Voice`: done at once, as far as the talk's time goes."""
        if text not in self._clips:
            self._clips[text] = self._voice.synthesize(text).result()
        future: Future[Clip] = Future()
        future.set_result(self._clips[text])
        return future

    def __enter__(self) -> SpokenBefore:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def speak_over(
    place: Place, asked: Asked | None, at: float, models: SpeechModels, voice: Voice, echoes: EchoStore | None = None
) -> Over | int:
    """One fresh talk with a question that begins at second `at`; without one, how often the app interrupted itself.

    `echoes`: what is known of echoes from earlier talks.
    """
    seconds = at + TAIL_SECONDS + (len(asked.samples) / SAMPLE_RATE if asked else 0.0)
    room = Room(round(seconds / FRAME_SECONDS), by_hops=True, **place.room)
    if asked is not None:
        room.say(asked.samples, at)
    events: list[e.Event] = []
    sound: list[np.ndarray] = []

    async def run() -> None:
        parts = SessionParts(
            frontend=CascadeFrontEnd(voice, "thinking"),
            transcriber=models.transcriber(),
            voice_activity=models.voice_detector(),
            backend=ScriptedBackend(lambda request: answer(ANSWER * 4, every=0.0)),
            source=EchoCancelledSource(room.source, room.tap, memory=echoes),
            sink=room.sink,
        )
        config = SessionConfig(
            SessionChoice(duplex=True), pace="simulated", max_answer_seconds=0.1, remember_seconds=seconds
        )
        async with Session(parts, config) as session:
            session.add_listener(events.append)
            session.write("Tell me of the city.")
            await session.ended()
            if asked is not None:
                sound.append(session.sound_of("user", at - 0.3, seconds - TAIL_SECONDS + 0.5))

    run_simulated(run())
    begun = [event for event in events if isinstance(event, e.UserStarted | e.UserResumed)][1:]  # the first was typed
    if asked is None:
        return len(begun)
    since = {event.turn for event in begun if event.at >= at}
    finals = {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}
    return Over(
        place,
        asked,
        at,
        fold(" ".join(text for turn, text in sorted(finals.items()) if turn in since)),
        fold(models.transcribe(sound[0])),
        any(isinstance(event, e.AssistantEnded) and event.interrupted and event.at > at for event in events),
        sum(event.at < at for event in begun),
    )


def read_questions(count: int, recordings: Path | None, models: SpeechModels, seed: int) -> list[Asked]:
    """`count` questions of `LONGEST_SECONDS` at most: sound files below the folder `recordings` drawn at random, or the
    bench's own in turn. Raises AudioFileError.
    """
    if recordings is None:
        sounds = ((question.name, question.samples) for question in itertools.cycle(load_questions()))
    else:
        files = sorted(file for file in recordings.rglob("*") if file.suffix in (".flac", ".wav"))
        if not files:
            raise AudioFileError(f"There is no .flac or .wav file in {recordings}. Name a folder with recordings.")
        order = np.random.default_rng((seed, 0)).permutation(len(files))
        sounds = ((files[n].stem, _read(files[n])) for n in order)
    out: list[Asked] = []
    for name, samples in sounds:
        trimmed = _at_level(samples)
        if len(trimmed) <= LONGEST_SECONDS * SAMPLE_RATE:
            clean = fold(models.transcribe(trimmed))
            if len(clean) >= FEWEST_WORDS:
                out.append(Asked(name, trimmed, clean))
        if len(out) == count:
            break
    return out


def _read(file: Path) -> np.ndarray:
    with FileSource(file) as source:
        frames = []
        while True:
            try:
                frames.append(source.read_frame(0.0))
            except EndOfAudio:
                return np.concatenate(frames)


def _at_level(samples: np.ndarray) -> np.ndarray:
    """From the first to the last 20 ms that are within 30 dB of the loudest, the loud ones at `LEVEL_DBFS`."""
    hop = SAMPLE_RATE // 50
    powers = np.square(samples[: len(samples) // hop * hop].reshape(-1, hop)).mean(axis=1)
    loud = np.flatnonzero(powers > powers.max() * 1e-3)
    active = powers[powers > powers.max() * 1e-2].mean()
    trimmed = samples[max(0, loud[0] - 2) * hop : (loud[-1] + 3) * hop]
    return (trimmed * (10 ** (LEVEL_DBFS / 20) / np.sqrt(active))).clip(-1, 1).astype(np.float32)


def run_overlap(
    questions: int = 30,
    *,
    recordings: Path | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> OverlapResult:
    """Asks `questions` of the bench's questions, or of `recordings`, over as many fresh talks in each place.

    Raises TranscriberError, VoiceError and AudioFileError.
    """
    from app.tts.voices import make_voice

    result = OverlapResult()
    with speech_models(words=False) as models, make_voice() as piper:
        asked = read_questions(questions, recordings, models, seed)
        voice = SpokenBefore(piper)
        rng = np.random.default_rng((seed, 1))
        moments = rng.uniform(0.5, FIRST_SECONDS, len(asked))
        rooms = some_places(len(asked), seed)
        for number, (one, place, at) in enumerate(zip(asked, rooms, moments, strict=True), 1):
            progress(f"question {number} of {len(asked)}")
            result.over.append(speak_over(place.with_headphones, one, float(at), models, voice))  # type: ignore[arg-type]
            result.over.append(speak_over(place, one, float(at), models, voice))  # type: ignore[arg-type]
            echoes = EchoStore()
            itself = speak_over(place, None, ALONE_SECONDS, models, voice, echoes)
            result.alone.append(itself)  # type: ignore[arg-type]
            result.over.append(speak_over(place.later, one, float(at), models, voice, echoes))  # type: ignore[arg-type]
    return result
