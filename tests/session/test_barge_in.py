"""Barge-in in whole conversations with the real voice detector: speech stops the assistant, other sounds don't.

A hold, which silences the assistant only for a moment, counts as stopping it too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.turns.voice import VoiceWindow
from app.frontend.cascade import CascadeFrontEnd
from app.research.benches.pauses import sayings
from app.research.benches.recordings import VOICE_FLOOR
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from tests.support.noises import SPEECH_DBFS, noise
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice
from tests.support.sounds import SoundSource, question, room
from tests.support.talks import LoopSpeaker, events_of

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
        parts = SessionParts(
            frontend=CascadeFrontEnd(ScriptedVoice(), "thinking"),
            transcriber=ScriptedTranscriber([ASKED]),
            voice_activity=SileroVoiceActivity(),
            backend=ScriptedBackend(lambda request: answer(words, every=0.0)),
            source=SoundSource(samples),
            sink=LoopSpeaker(),
        )
        session = Session(parts, SessionConfig(SessionChoice(duplex=True), pace="simulated", max_answer_seconds=0.1))
        return await events_of(session)

    return run_simulated(run()), starts


def _stops(events: list[e.Event], start: float, until: float) -> list[float]:
    """The times at which the assistant was silenced."""
    return [
        x.at
        for x in events
        if start <= x.at < until
        and (isinstance(x, e.AssistantHeld) or (isinstance(x, e.AssistantEnded) and x.interrupted))
    ]


def _onset(samples: np.ndarray) -> np.ndarray:
    return samples[np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[0] :]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "below"),
    [
        *((kind, 0) for kind in "cough throat keys clicks thump breath hum".split()),
        ("hum", 15),
        ("cough", 20),
        ("music", 20),
    ],
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
    """The detector's windows from second `begin` on."""
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
