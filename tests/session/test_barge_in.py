"""Barge-in in whole conversations with the real voice detector: speech stops the assistant, other sounds don't. A hold,
which silences the assistant only for a moment, counts as stopping it too. An interruption is noticed while its frame is
under way: sooner, by the same windows, and without losing a sound."""

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
from app.research.benches.pauses import sayings
from app.research.benches.recordings import VOICE_FLOOR
from app.research.benches.room import FADE, Room
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.playback import EarlyBargeIn
from app.session.session import Session
from app.stt.silero import SileroVoiceActivity
from tests.support.noises import SPEECH_DBFS, noise
from tests.support.room_talks import frames
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.sounds import SoundSource, question, room
from tests.support.tables import cases
from tests.support.talks import events_of, scripted_parts

ASKED = ScriptedTurn(0.1, 3.2, "Can you explain why the above question is interesting?")
"""What the scripted recogniser makes of the recording that begins each conversation."""
SPEAKS_BY = 6.0
"""By then the answer has long begun, and the question can't be resumed any more."""
WITHIN = 0.3
SEEDS = 6


def _talk(sounds: Sequence[np.ndarray], *, every: float = 3.0) -> tuple[list[e.Event], list[float]]:
    """Runs a conversation with a question, an endless answer, and the sounds over it, `every` seconds apart. Returns
    the events and when each sound began."""
    from app.stt.silero import SileroVoiceActivity

    starts = [SPEAKS_BY + n * every + 0.013 * (n % 6) for n in range(len(sounds))]
    samples = room(SPEAKS_BY + every * len(sounds) + 1)
    asked = question("103_2")
    samples[: len(asked)] += asked
    for start, sound in zip(starts, sounds, strict=True):
        place = round(start * SAMPLE_RATE)
        sound = sound[: len(samples) - place]
        samples[place : place + len(sound)] += sound

    async def run() -> list[e.Event]:
        words = "This is an answer that goes on and on for ever. " * (10 + 2 * len(sounds) * int(every))
        backend = ScriptedBackend(lambda request: answer(words, every=0.0))
        detector = SileroVoiceActivity()
        parts = scripted_parts([ASKED], SoundSource(samples), voice_activity=detector, backend=backend)
        session = Session(parts, SessionConfig(SessionChoice(duplex=True), pace="simulated", max_answer_seconds=0.1))
        return await events_of(session)

    return run_simulated(run()), starts


def _stops(events: list[e.Event], start: float, until: float) -> list[float]:
    return [
        x.at
        for x in events
        if start <= x.at < until
        and (isinstance(x, e.AssistantHeld) or (isinstance(x, e.AssistantEnded) and x.interrupted))
    ]


def _onset(samples: np.ndarray) -> np.ndarray:
    return samples[np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[0] :]


@pytest.mark.slow
@cases(
    "kind, below",
    *((kind, 0) for kind in "cough throat keys clicks thump breath hum".split()),
    ("hum", 15),
    ("cough", 20),
    ("music", 20),
)
def test_what_is_not_speech_does_not_even_hold(kind: str, below: float) -> None:
    """Of 100 seeds of each kind at most 2 may hold; of these six none does."""
    sounds = [noise(kind, 200 + seed, below_speech=below) for seed in range(SEEDS)]
    events, starts = _talk(sounds)
    spoke = [x for x in events if isinstance(x, e.AssistantStarted)]
    assert spoke and spoke[0].at < SPEAKS_BY
    held = sum(bool(_stops(events, start, start + 3.0)) for start in starts)
    assert held == 0


@pytest.mark.slow
def test_speech_over_the_assistant_silences_it_within_300_ms() -> None:
    files = {(cut.file, cut.begin): cut for cut in sayings().bench}
    took: list[float] = []
    for number, cut in enumerate(files.values()):
        said = question(cut.file)[round(cut.begin * SAMPLE_RATE) : round(cut.end * SAMPLE_RATE)]
        said = _onset(said)[:SAMPLE_RATE]
        loud = np.sqrt(np.square(said[np.abs(said) > VOICE_FLOOR]).mean())
        level = 10 ** ((SPEECH_DBFS - number % 2 * 6.0) / 20) / loud
        events, [start] = _talk([np.concatenate([np.zeros(97 * number, np.float32), said * level])], every=1.0)
        start += 97 * number / SAMPLE_RATE
        stops = _stops(events, start, start + 1.0)
        took.append(stops[0] - start if stops else 9.0)
    within = sum(one <= WITHIN for one in took)
    assert len(took) >= 12 and within >= 0.95 * len(took), sorted(took)[-6:]
    assert np.median(took) <= 0.18


def test_a_voice_far_softer_than_the_user_s_own_is_somebody_else_s() -> None:
    """A voice 26 dB softer than the user's question does not hold; one 12 dB softer may be the user."""
    for below, held in ((26.0, False), (12.0, True)):
        said = _onset(question("103_2"))[: 2 * SAMPLE_RATE] * np.float32(10 ** (-below / 20))
        events, [start] = _talk([said])
        assert bool(_stops(events, start, start + 3.0)) == held, below


def _windows(samples: np.ndarray, begin: float) -> list[VoiceWindow]:
    from app.stt.silero import SileroVoiceActivity

    detector = SileroVoiceActivity()
    out: list[VoiceWindow] = []
    for n, part in enumerate(samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)):
        out += detector.hear(Frame(n, part))
    return [window for window in out if window.end > begin]


def test_a_long_silence_makes_the_detector_no_slower() -> None:
    """The delay would be 0.26 s after 24 s of silence if the model's state drifted on."""
    word = _onset(question("103_2"))[:SAMPLE_RATE]
    took = []
    for silence in (2.0, 24.0):
        samples = room(5.0 + silence + 1.2)
        asked = question("141_2")
        samples[: len(asked)] += asked
        at = len(asked) + round(silence * SAMPLE_RATE)
        samples[at : at + len(word)] += word
        sure = next(w.end for w in _windows(samples, at / SAMPLE_RATE) if w.probability >= 0.7)
        took.append(sure - at / SAMPLE_RATE)
    assert max(took) <= 0.15


def test_a_vowel_is_periodic_and_hiss_is_not() -> None:
    hiss = np.random.default_rng(1).standard_normal(SAMPLE_RATE).astype(np.float32) * 0.05
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    for pitch in (70.0, 120.0, 210.0, 380.0):
        vowel = sum(np.sin(2 * np.pi * pitch * n * time) / n for n in range(1, 12)) * 0.05
        heard = [w.voicing for w in _windows((vowel + 0.05 * hiss).astype(np.float32), 0.1)]
        assert min(heard) > 0.9
    assert max(w.voicing for w in _windows(hiss, 0.1)) < 0.5


def test_a_conversation_over_silence_is_never_held() -> None:
    """Checks the measure itself: silence does not stop the assistant, a loud word does."""
    quiet, [start] = _talk([np.zeros(SAMPLE_RATE, np.float32)])
    assert not _stops(quiet, start, start + 3.0)
    word = _onset(question("141_2"))[:SAMPLE_RATE]
    loud, [start] = _talk([word])
    assert _stops(loud, start, start + 1.0)


SHORT = ScriptedTurn(0.5, 2.0, "What is this?")
ANSWER = "This is an answer that goes on and on. " * 8
WINDOW = 768
"""32 ms."""


class Sounding:
    """A voice detector that says of each window whether it lies in one of some spans, in seconds. Just before each it
    is in doubt, as in a word's first consonant."""

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
        return np.concatenate(self.place.played)


def _early_talk(
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
        source = EchoCancelledSource(place.source, place.tap, Processing(echo=False))
        heard, front = Sounding((SHORT.start, SHORT.end), *overs), frontend(ScriptedVoice(), "after")
        parts = scripted_parts([SHORT], source, ANSWER, frontend=front, voice_activity=heard, sink=place.sink)
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
        plain, early = (_early_talk((over, over + 3.0), by_hops=by_hops, seconds=13.0) for by_hops in (False, True))
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

    plain, paused = _early_talk(), _early_talk((8.03, 8.3), on_pause=off)
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
    talk = _early_talk((8.03, 8.5), (14.03, 14.5), frontend=GoesOn)
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
