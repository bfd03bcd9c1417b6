"""A session whose devices come, go, echo and are muted, over scripted full-duplex audio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from app.audio.io.base import AudioSource, WrappedSource
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.events import DeviceNotice, Processing, SoundHealth
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import LoopSpeaker, Talk, at, simulate

QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
ANSWER = "The capital of France is Paris. It lies on the river Seine, and two million people live in it today."
GONE = DeviceNotice("loudspeaker", "lost", "", "The loudspeaker “Headphones” is gone.")
BACK = DeviceNotice("loudspeaker", "back", "Headphones", "The loudspeaker “Headphones” is back.")


class MutableSource(WrappedSource):
    """A source that delivers zeros while the test says so."""

    def __init__(self, inner: AudioSource, duplex: ScriptedDuplexAudio) -> None:
        super().__init__(inner)
        self._duplex = duplex

    def read_frame(self, timeout: float) -> np.ndarray | None:
        frame = self._source.read_frame(timeout)
        return np.zeros_like(frame) if self._duplex.zeros and frame is not None else frame


class ScriptedDuplexAudio:
    """Loses its loudspeaker from `gone` to `back` (seconds), and reports it; the test sets the rest."""

    def __init__(self, source: AudioSource, sink: LoopSpeaker, gone: float = 1e9, back: float = 1e9) -> None:
        self.source: AudioSource = MutableSource(source, self)
        self.sink = sink
        self.muted = False
        self.zeros = False
        self.state = SoundHealth()
        self.calls: list[object] = []
        self._gone, self._back = gone, back
        self._reported = 0
        self._lost = False

    @property
    def ready(self) -> bool:
        now = asyncio.get_running_loop().time()
        away = self._gone <= now < self._back
        if away and not self._lost:
            self.sink.flush()  # samples not played go with it
        self._lost = away
        return not away

    def notices(self) -> list[DeviceNotice]:
        now = asyncio.get_running_loop().time()
        due = [notice for at, notice in ((self._gone, GONE), (self._back, BACK)) if at <= now][self._reported :]
        self._reported += len(due)
        return due

    def health(self) -> SoundHealth:
        return self.state

    def set_processing(self, processing: Processing) -> None:
        self.calls.append(processing)

    def choose(self, microphone: str, loudspeaker: str) -> None:
        self.calls.append((microphone, loudspeaker))


def reply(request: ChatRequest) -> ScriptedAnswer:
    return answer(ANSWER)


def talk_with(
    made: list[ScriptedDuplexAudio],
    *,
    seconds: float = 20.0,
    during: Callable[[Session], None] | None = None,
    **times: float,
) -> Talk:
    def edge(source: AudioSource, sink: LoopSpeaker) -> ScriptedDuplexAudio:
        made.append(ScriptedDuplexAudio(source, sink, **times))
        return made[0]

    return simulate(QUESTION, reply, seconds=seconds, edge=edge, during=during)


def seconds_played(talk: Talk) -> float:
    return sum(np.count_nonzero(samples) for _, samples in talk.speaker.heard) / SAMPLE_RATE


def test_answer_waits_for_its_loudspeaker_and_is_complete() -> None:
    talk = talk_with([], gone=5.03, back=8.0)
    [first, second] = talk.of(e.DeviceChanged)
    assert (first.change, first.sentence) == ("lost", GONE.sentence)
    assert (second.change, second.name) == ("back", "Headphones")
    assert not talk.speaker.sounding(5.1, 7.9) and talk.speaker.sounding(8.1, 8.5)
    assert talk.said(1) == ANSWER
    assert talk.transcript.turns[-1].text == ANSWER
    [ended] = talk.of(e.AssistantEnded)
    assert not ended.interrupted
    # Samples lost with the loudspeaker are said again: no less is played than without the loss.
    assert talk.speaker.flushed > 900
    assert seconds_played(talk) >= seconds_played(talk_with([]))


@pytest.mark.parametrize("frame", range(60, 72))
def test_no_word_is_lost_or_said_twice_where_a_loudspeaker_is_exchanged_at_once(frame: int) -> None:
    class Exchanged(ScriptedDuplexAudio):
        exchanged = False

        @property
        def ready(self) -> bool:
            if not self.exchanged and asyncio.get_running_loop().time() >= frame * FRAME_SECONDS:
                self.exchanged = True
                self.sink.flush()  # samples not played go with the one before
            return True

    made: list[Exchanged] = []

    def edge(source: AudioSource, sink: LoopSpeaker) -> Exchanged:
        made.append(Exchanged(source, sink))
        return made[0]

    talk = simulate(QUESTION, reply, seconds=20.0, edge=edge)
    assert talk.said(1) == ANSWER and made[0].exchanged and talk.speaker.flushed > 240


def test_a_second_of_sound_lost_in_a_stalled_loudspeaker_is_said_again() -> None:
    """A stall is noticed late: what was written in the meantime was never played."""

    class Stalling(ScriptedDuplexAudio):
        def __init__(self, source: AudioSource, sink: LoopSpeaker) -> None:
            super().__init__(source, sink, gone=6.03, back=6.5)
            original = sink.write

            def write(samples: np.ndarray) -> None:
                original(samples)
                if 5.0 <= asyncio.get_running_loop().time() < 6.03:
                    sink._dry_at += FRAME_SECONDS  # none of it is played

            sink.write = write  # type: ignore[method-assign]

    talk = simulate(QUESTION, reply, edge=Stalling)
    assert talk.speaker.flushed > SAMPLE_RATE // 2
    assert talk.said(1) == ANSWER
    assert seconds_played(talk) >= seconds_played(talk_with([]))


def test_question_without_a_loudspeaker_is_answered_when_there_is_one() -> None:
    talk = talk_with([], gone=2.0, back=8.0)
    assert talk.of(e.TranscriptFinal)[0].text == "What is the capital of France?"
    [started] = talk.of(e.AssistantStarted)
    assert 8.0 <= started.at <= 8.3
    assert talk.said(1) == ANSWER


def test_mute_is_reported_once_the_frames_are_silent() -> None:
    made: list[ScriptedDuplexAudio] = []

    def mute(session: Session) -> None:
        session.change(muted=True)
        asyncio.get_running_loop().call_later(0.5, lambda: setattr(made[0], "zeros", True))
        asyncio.get_running_loop().call_later(2.0, lambda: session.change(muted=False))

    talk = talk_with(made, during=at(6.0, mute))
    muted, unmuted = talk.of(e.MicrophoneMuted)
    assert muted.muted and 6.5 <= muted.at <= 6.7
    assert not unmuted.muted and 8.0 <= unmuted.at <= 8.2


def test_remaining_echo_is_reported_once_and_only_in_full_duplex() -> None:
    def remains(made: list[ScriptedDuplexAudio]) -> Callable[[Session], None]:
        return at(4.0, lambda _: setattr(made[0], "state", SoundHealth(erle_db=4.0, echo_remains=True)))

    made: list[ScriptedDuplexAudio] = []
    talk = talk_with(made, seconds=60, during=remains(made))
    [failure] = [event for event in talk.of(e.Failure) if event.about == "echo"]
    assert not failure.fatal and "headphones" in failure.sentence and 4.0 <= failure.at <= 5.2
    measured = talk.of(e.SoundMeasured)
    assert len(measured) >= 55 and measured[-1].erle_db == 4.0 and measured[-1].echo_remains

    held: list[ScriptedDuplexAudio] = []

    def with_button(session: Session) -> None:
        session.change(duplex=False)
        remains(held)(session)

    talk = talk_with(held, seconds=60, during=with_button)
    assert talk.of(e.SoundMeasured)[-1].echo_remains
    assert not [event for event in talk.of(e.Failure) if event.about == "echo"]


def test_devices_and_processing_are_passed_on() -> None:
    made: list[ScriptedDuplexAudio] = []

    def change(session: Session) -> None:
        session.change(microphone="Headset", loudspeaker="")
        session.change(processing=Processing(noise=True))

    talk_with(made, during=at(1.0, change))
    assert made[0].calls == [("Headset", ""), Processing(noise=True)]
