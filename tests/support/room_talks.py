"""Whole conversations in a simulated room, with real canceller, voice detector and front-end, scripted recogniser and
back-end. The app speaks with recorded voices, so that its echo is speech. The README's figures are those of `sweep`
over `app.research.benches.room.random_rooms`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np
import soxr

from app.audio.echo.cancelled_source import EchoCancelledSource
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.events import Processing, SoundHealth
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.frontend.cascade import CascadeFrontEnd
from app.platform.installation import resource
from app.research.benches.room import Room
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.stt.silero import SileroVoiceActivity
from app.stt.whisper_decoder import RATE, WhisperDecoder
from app.tts.base import Clip, place_words
from tests.support.scripted import Opened, ScriptedTranscriber, ScriptedTurn
from tests.support.sounds import question

APP_SPEAKS = ("101_1", "154_1", "149_1", "144_1", "108_1")
"""What the app says: a woman's voice, 48 s."""
USER_SPEAKS = ("103_2", "141_2", "146_2", "151_2", "156_2")
"""What the user says: a man's voice."""
APP_PEAK = 0.7


def text_of(name: str) -> str:
    """The words of a spoken question."""
    questions = json.loads(resource("bench", "questions.json").read_text())
    [text] = [q["text"] for q in questions if q["file"] == f"questions/{name}.flac"]
    return " ".join(text.split())


def onset_of(samples: np.ndarray) -> float:
    """Seconds until the first 20 ms that are louder than 40 dB below the loudest sample."""
    block = SAMPLE_RATE // 50
    peaks = np.abs(samples[: len(samples) // block * block].reshape(-1, block)).max(axis=1)
    return int(np.argmax(peaks > 0.01 * peaks.max())) * 0.02


class RecordedVoice(Opened):
    """A voice that says the next one of some recordings, whatever the text, at a peak of 0.7."""

    name = "recorded"
    rate = volume = 1.0

    def __init__(self, first: int = 0, names: Sequence[str] = APP_SPEAKS) -> None:
        clips = [question(name) for name in names]
        clips = clips[first % len(clips) :] + clips[: first % len(clips)]
        self._clips = itertools.cycle([(APP_PEAK / np.abs(clip).max() * clip).astype(np.float32) for clip in clips])

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        """The next recording, ready at once."""
        samples = next(self._clips)
        future: Future[Clip] = Future()
        future.set_result(Clip(samples, place_words(text, len(samples))))
        return future


class _Listened:
    """Records a source's frames and its health; a `EarlySampleSource`."""

    overruns = backlog = 0
    name = "room"

    def __init__(self, source: EchoCancelledSource) -> None:
        self._source = source
        self.frames: list[np.ndarray] = []
        self.health: list[SoundHealth] = []

    @property
    def on_early_samples(self) -> Callable[[np.ndarray], None] | None:
        return self._source.on_early_samples

    @on_early_samples.setter
    def on_early_samples(self, told: Callable[[np.ndarray], None] | None) -> None:
        self._source.on_early_samples = told

    def read_frame(self, timeout: float) -> np.ndarray | None:
        frame = self._source.read_frame(timeout)
        if frame is not None:
            self.frames.append(frame)
            self.health.append(self._source.health)
        return frame

    def drop_to_newest(self) -> int:
        return self._source.drop_to_newest()

    def __enter__(self) -> _Listened:
        self._source.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._source.__exit__(None, None, None)


@dataclass
class RoomTalk:
    """A finished talk in a room. `heard`: the microphone's sound after processing, float32 24 kHz."""

    room: Room
    heard: np.ndarray
    health: list[SoundHealth]
    events: list[e.Event]
    said: list[tuple[str, float, float]] = field(default_factory=list)
    """What the user said: recording, true onset and end in seconds."""

    def of(self, *types: type) -> list:
        """The events of some types, in order."""
        return [event for event in self.events if isinstance(event, types)]

    @property
    def self_interruptions(self) -> int:
        """How often a turn began although the user was silent."""
        starts = [event.at for event in self.of(e.UserStarted, e.UserResumed)]
        return sum(not any(on - 0.1 <= at <= end + 0.5 for _, on, end in self.said) for at in starts)

    @property
    def sounding_share(self) -> float:
        """The share of the loudspeaker's blocks, from the first answer on, within 0.5 s of which something sounded."""
        loud = np.array(self.room.sounding) > 0.01
        loud = loud[int(np.argmax(loud)) :]
        around = np.convolve(loud, np.ones(SAMPLE_RATE // 2 // self.room.block), "same") > 0
        return float(around.mean())

    @property
    def delays(self) -> list[float | None]:
        """Seconds from each onset of the user over the app until the app was silent, None if it went on."""
        out: list[float | None] = []
        for _, onset, end in self.said[1:]:
            first = min((at for at in self.room.sink.stops if at >= onset), default=None)
            stopped = first is not None and first < end and self.room.loudest(first + 0.04, first + 0.3) < 0.01
            out.append(first - onset if stopped and first is not None else None)
        return out


def talk_in_room(
    room: Room,
    said: list[tuple[str, float]],
    *,
    gain_db: float = 0.0,
    processing: Processing | None = None,
    app_first: int = 0,
    app_speaks: Sequence[str] = APP_SPEAKS,
) -> RoomTalk:
    """Runs a conversation: the user says each recording at its second, and each is answered at length."""
    script, spans = [], []
    for name, at in said:
        samples = (question(name) * 10 ** (gain_db / 20)).astype(np.float32)
        room.say(samples, at)
        onset, end = at + onset_of(samples), at + len(samples) / SAMPLE_RATE
        script.append(ScriptedTurn(onset, end, text_of(name)))
        spans.append((name, onset, end))

    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer(" ".join(f"This is sentence number {n} of all." for n in "abcdefghijklmnopqrstuvwxyz" * 4))

    async def run() -> RoomTalk:
        source = _Listened(EchoCancelledSource(room.source, room.tap, processing))
        parts = SessionParts(
            frontend=CascadeFrontEnd(RecordedVoice(app_first, app_speaks), "after"),
            transcriber=ScriptedTranscriber(script),
            voice_activity=SileroVoiceActivity(),
            backend=ScriptedBackend(reply, concurrent=True, enough_words=0, least_interval=0.1),
            source=source,
            sink=room.sink,
        )
        events: list[e.Event] = []
        async with Session(
            parts,
            SessionConfig(SessionChoice(answer_mode="after", duplex=True), pace="simulated", max_answer_seconds=0.1),
        ) as session:
            session.add_listener(events.append)
            await session.ended()
        return RoomTalk(room, np.concatenate(source.frames), source.health, events, spans)

    return run_simulated(run())


def frames(seconds: float) -> int:
    """The number of whole frames in `seconds`."""
    return round(seconds / FRAME_SECONDS)


def monologue(
    seconds: float, *, app_first: int = 0, processing: Processing | None = None, swapped: bool = False, **room: object
) -> RoomTalk:
    """The user asks something, the app talks for the rest of the time. `swapped`: each with the other's voice."""
    place = Room(frames(seconds), keep=True, **{"by_hops": True, **room})  # type: ignore[arg-type]
    app = USER_SPEAKS if swapped else APP_SPEAKS
    asked = "108_1" if swapped else "151_2"
    return talk_in_room(place, [(asked, 0.5)], app_first=app_first, processing=processing, app_speaks=app)


def barge_ins(
    times: int, *, gain_db: float = 0.0, app_first: int = 0, swapped: bool = False, **room: object
) -> RoomTalk:
    """The user speaks over the app `times` times; each answer has gone on for 5 to 9 s by then."""
    app, user = (USER_SPEAKS, APP_SPEAKS) if swapped else (APP_SPEAKS, USER_SPEAKS)
    rng = np.random.default_rng(int(room.get("seed", 0)) + 77)  # type: ignore[call-overload]
    said, at = [("108_1" if swapped else "151_2", 0.5)], 3.2 + (2.0 if swapped else 0.0)
    for n in range(times):
        name = user[(n + app_first) % len(user)]
        at += float(rng.uniform(6.0, 10.0))
        said.append((name, at))
        at += len(question(name)) / SAMPLE_RATE
    place = Room(frames(at + 1.0), **{"by_hops": True, **room})  # type: ignore[arg-type]
    return talk_in_room(place, said, gain_db=gain_db, app_first=app_first, app_speaks=app)


def fresh_barge_in(behind: float, **room: object) -> RoomTalk:
    """The user asks something, and asks again `behind` seconds after the answer's first sound."""
    first = monologue(6.0, **room).of(e.AssistantStarted)[0].at
    at = first + behind
    place = Room(frames(at + len(question("103_2")) / SAMPLE_RATE + 1.0), **{"by_hops": True, **room})  # type: ignore[arg-type]
    return talk_in_room(place, [("151_2", 0.5), ("103_2", at)])


def word_errors(talk: RoomTalk, decoder: WhisperDecoder) -> tuple[int, int]:
    """Wrong words, and all words, of what the user said over the app as the recogniser transcribes it."""
    wrong = words = 0
    for name, onset, end in talk.said[1:]:
        part = talk.heard[round((onset - 0.3) * SAMPLE_RATE) : round((end + 0.3) * SAMPLE_RATE)]
        heard = decoder.decode(soxr.resample(part, SAMPLE_RATE, RATE))
        told = jiwer.process_words(" ".join(fold(text_of(name))), " ".join(fold(heard)))
        wrong += told.substitutions + told.deletions + told.insertions
        words += told.substitutions + told.deletions + told.hits
    return wrong, words


def erle_db(talk: RoomTalk, begin: float, end: float) -> float:
    """Echo return loss enhancement in dB between two seconds in which nobody spoke, without the room's noise."""
    part = slice(round(begin * SAMPLE_RATE), round(end * SAMPLE_RATE))
    sounds = (np.concatenate(talk.room.echo), talk.heard)
    echo, left = (float(np.mean(samples[part].astype(np.float64) ** 2)) for samples in sounds)
    noise = talk.room.noise_power
    # What lies under the noise can't be told from it: a residue of a twentieth of it is the least that is counted.
    return float(10.0 * np.log10(echo / max(left - noise, 0.05 * noise)))


def sweep(
    rooms: list[dict[str, object]], decoder: WhisperDecoder | None = None, *, times: int = 8, swapped: bool = False
) -> list[dict[str, Any]]:
    """The outcomes of `times` barge-ins in each room, with its echo and with headphones."""
    rows: list[dict[str, Any]] = []
    for n, room in enumerate(rooms):
        for heard_through in (room, {**room, "attenuation_db": None}):
            talk = barge_ins(times, app_first=n, swapped=swapped, **heard_through)
            errors = word_errors(talk, decoder) if decoder is not None else (0, 0)
            rows.append(
                {
                    **heard_through,
                    "delays": talk.delays,
                    "self": talk.self_interruptions,
                    "wrong": errors[0],
                    "words": errors[1],
                }
            )
    return rows
