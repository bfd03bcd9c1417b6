"""An interruption is noticed while its frame is under way: sooner, by the same windows, and without losing a sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from app.audio.echo.cancelled_source import EchoCancelledSource
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.turns import tracker as floor
from app.conversation.turns.voice import VoiceSettings, VoiceWindow
from app.frontend.base import FrontEndInput, FrontEndStep
from app.frontend.cascade import CascadeFrontEnd
from app.research.benches.room import FADE, Room
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.playback import EarlyBargeIn
from app.session.session import Session
from app.stt.silero import SileroVoiceActivity
from tests.support.room_talks import frames
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice
from tests.support.sounds import question, room
from tests.support.talks import events_of

ASKED = ScriptedTurn(0.5, 2.0, "What is this?")
ANSWER = "This is an answer that goes on and on. " * 8
WINDOW = 768
"""32 ms."""


class Sounding:
    """A voice detector that says of each window whether it lies in one of some spans, in seconds.

    Just before each it is in doubt, as in a word's first consonant.
    """

    def __init__(self, *spans: tuple[float, float]) -> None:
        self._spans = spans
        self._heard = self._windows = 0

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        self._heard += len(frame.samples)
        out = []
        while (self._windows + 1) * WINDOW <= self._heard:
            self._windows += 1
            end = round(self._windows * 0.032, 6)
            middle = end - 0.016
            voiced = any(begin < middle <= until for begin, until in self._spans)
            near = any(begin - 0.1 < middle <= until for begin, until in self._spans)
            out.append(VoiceWindow(end, 0.95 if voiced else 0.3 if near else 0.02))
        return out


class GoesOn(CascadeFrontEnd):
    """As a model that hears the user itself: it falls silent when it is interrupted, but not when it is to hold."""

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        return super().step(frame, [item for item in inputs if not isinstance(item, floor.Hold | floor.GoOn)])


@dataclass
class Heard:
    """What came of a conversation."""

    place: Room
    events: list[e.Event]

    def of(self, *types: type) -> list:
        return [event for event in self.events if isinstance(event, types)]

    @property
    def said(self) -> str:
        return " ".join(event.text for event in self.of(e.AssistantSaid))

    @property
    def played(self) -> np.ndarray:
        """What the loudspeaker was handed."""
        return np.concatenate(self.place.played)


def _talk(
    *overs: tuple[float, float],
    by_hops: bool = True,
    frontend: type[CascadeFrontEnd] = CascadeFrontEnd,
    seconds: float = 25.0,
    on_pause: Callable[[Session], None] = lambda session: None,
) -> Heard:
    """A question, a long answer, and somebody who speaks at `overs`."""

    async def run() -> Heard:
        place = Room(frames(seconds), attenuation_db=None, by_hops=by_hops, keep=True)
        pause_playback = place.sink.pause_playback
        place.sink.pause_playback = lambda: (pause_playback(), on_pause(session))  # type: ignore[method-assign]
        parts = SessionParts(
            frontend=frontend(ScriptedVoice(), "after"),
            transcriber=ScriptedTranscriber([ASKED]),
            voice_activity=Sounding((ASKED.start, ASKED.end), *overs),
            backend=ScriptedBackend(lambda request: answer(ANSWER)),
            source=EchoCancelledSource(place.source, place.tap, Processing(echo=False)),
            sink=place.sink,
        )
        session = Session(
            parts,
            SessionConfig(SessionChoice(answer_mode="after", duplex=True), pace="simulated", max_answer_seconds=60.0),
        )
        return Heard(place, await events_of(session))

    return run_simulated(run())


@pytest.mark.slow
def test_it_stops_sooner_and_the_tracker_hears_the_same() -> None:
    sooner = []
    for phase in range(5):
        over = 8.0 + 0.032 * phase
        plain, early = (_talk((over, over + 3.0), by_hops=by_hops, seconds=13.0) for by_hops in (False, True))
        assert early.of(e.UserStarted, e.AssistantHeld) == plain.of(e.UserStarted, e.AssistantHeld)
        assert plain.place.sink.playback_pauses == 0 and early.place.sink.playback_pauses <= 1
        before, after = plain.place.sink.stops[0], early.place.sink.stops[0]
        assert over + 0.064 <= after <= over + 0.064 + 0.032 + 0.02 + FADE / SAMPLE_RATE
        sooner.append(before - after)
        # What was paused counts as unheard: the same words were said, and the same will be said again.
        assert early.said == plain.said and early.place.sink.flushed >= plain.place.sink.flushed
    assert min(sooner) >= 0.0 and np.mean(sooner) >= 0.02


def test_a_pause_that_nothing_follows_loses_no_sample_and_no_word() -> None:
    def off(session: Session) -> None:
        session.change(duplex=False)

    plain, paused = _talk(), _talk((8.03, 8.3), on_pause=off)
    sink = paused.place.sink
    assert sink.playback_pauses == 1 and not sink.stops and not paused.of(e.AssistantHeld)
    assert sink.underruns == plain.place.sink.underruns == 1  # the end of the answer
    assert sink.flushed == 0 and sink.played == sink.written
    assert paused.said == plain.said == " ".join(ANSWER.split())
    # Every sample came, as it was but for two fades, and later by less than two frames.
    one, other = plain.played, paused.played
    pause = np.flatnonzero(other)[-1] - np.flatnonzero(one)[-1]
    same = np.flatnonzero(one != other[: len(one)])[0]
    behind = same + 2 * FADE
    assert 0 < pause <= 2 * FRAME_SAMPLES and not other[same + FADE : same + pause].any()
    assert np.array_equal(other[behind + pause :], one[behind : len(other) - pause])


def test_a_front_end_that_continues_on_its_own_is_paused_once_and_never_again() -> None:
    talk = _talk((8.03, 8.5), (14.03, 14.5), frontend=GoesOn)
    assert len(talk.of(e.UserStarted)) == 3
    sink = talk.place.sink
    assert sink.playback_pauses == 1 and sink.flushed == 0 and sink.played == sink.written


def test_nobody_listens_while_nothing_can_be_interrupted() -> None:
    """Reading by hops costs something: it is for as long as the app speaks and the user may interrupt it."""

    class Source:
        on_early_samples: Callable[[np.ndarray], None] | None = None

    class Sink:
        paused = 0

        def pause_playback(self) -> None:
            self.paused += 1

        def resume_playback(self) -> None:
            self.paused -= 1

    source, sink = Source(), Sink()
    voice = EarlyBargeIn(Sounding((0.24, 9.0)), VoiceSettings(), source, sink)  # type: ignore[arg-type]
    samples = np.zeros(FRAME_SAMPLES, np.float32)

    def step(index: int) -> int:
        count = len(voice.hear(Frame(index, samples)))
        voice.stepped(flushed=False, hold_ignored=False)
        voice.listen(True)
        return count

    step(0)
    assert source.on_early_samples is None, "nothing like a voice yet"
    step(1)
    step(2)
    assert source.on_early_samples == voice.ahead
    voice.listen(False)
    assert source.on_early_samples is None
    voice.listen(True)
    for _ in range(3):
        voice.ahead(samples[:480])
    assert not sink.paused, "one window is not enough"
    assert step(3) == 3
    voice.ahead(samples[:960])
    assert sink.paused == 1
    assert step(4) == 2, "the frame under way is completed, also with silence if it was lost"
    assert sink.paused == 1 and source.on_early_samples is None
    step(5)
    assert sink.paused == 0, "nothing has borne it out"
    voice.ahead(samples[:960])
    assert sink.paused == 0, "not by the same voice"


def test_the_real_detector_hears_the_same_in_parts() -> None:
    sound = question("103_2")
    sound = sound + room(len(sound) / SAMPLE_RATE)
    whole, parts = SileroVoiceActivity(), EarlyBargeIn(SileroVoiceActivity(), VoiceSettings(), None, None)  # type: ignore
    for n in range(len(sound) // FRAME_SAMPLES):
        frame = Frame(n, sound[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES])
        for hop in range(n % 4):
            parts.ahead(frame.samples[480 * hop : 480 * (hop + 1)])
        for one, other in zip(whole.hear(frame), parts.hear(frame), strict=True):
            assert (one.end, one.hum, one.level) == (other.end, other.hum, other.level)
            assert abs(one.probability - other.probability) < 1e-5
