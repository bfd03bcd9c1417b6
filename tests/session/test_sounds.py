"""Laughter in a whole conversation with the real recogniser: it is not answered and interrupts no answer."""

import numpy as np
import pytest

from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.models.locations import default_model
from app.research.benches.endpointing import run_sounds
from app.research.benches.timed_parts import SpeechModels, speech_models
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from app.stt.transcript_cleanup import names_speech, without_sounds
from tests.support.noises import noise
from tests.support.sounds import SoundSource, question, room, write
from tests.support.tables import cases
from tests.support.talks import events_of, scripted_parts

with_models = pytest.mark.skipif(
    not (default_model("stt").is_dir() and default_model("endpointing").is_file()),
    reason="the models are not installed",
)


def _talk(*sounds: tuple[float, np.ndarray]) -> tuple[list[e.Event], list[str]]:
    """Runs a conversation with each sound at its second and long answers; returns the events and the turns that were
    answered."""
    samples = room(max(at + len(sound) / SAMPLE_RATE for at, sound in sounds) + 3.0)
    for at, sound in sounds:
        samples[round(at * SAMPLE_RATE) :][: len(sound)] += sound
    asked: list[str] = []

    def reply(request):
        if request.final:
            asked.append(request.messages[-1].content)
        return answer("This is an answer that goes on and on for ever. " * 30, every=0.0)

    async def run(models: SpeechModels) -> list[e.Event]:
        heard = {"transcriber": models.transcriber(), "voice_activity": models.voice_detector()}
        parts = scripted_parts([], SoundSource(samples), mode="after", backend=ScriptedBackend(reply), **heard)
        session = Session(
            parts,
            SessionConfig(SessionChoice(answer_mode="after", duplex=True), pace="simulated", max_answer_seconds=0.1),
        )
        return await events_of(session)

    with speech_models(words=False) as models:
        return run_simulated(run(models)), asked


@pytest.mark.slow
@with_models
def test_laughter_is_not_answered_and_the_answer_continues_over_it() -> None:
    talk = [(1.0, noise("laugh", 0)), (6.0, question("103_2")), (14.0, noise("laugh", 3)), (19.0, question("141_2"))]
    events, asked = _talk(*talk)
    finals = [x for x in events if isinstance(x, e.TranscriptFinal)]
    assert [x.text for x in finals if x.at < 6.0] in ([], [""])
    assert {words.split()[0] for words in asked} == {"What", "Can"}, asked
    ends = [x.at for x in events if isinstance(x, e.AssistantEnded)]
    went_on = [x.at for x in events if isinstance(x, e.AssistantResumed)]
    held = [x.at for x in events if isinstance(x, e.AssistantHeld)]
    assert 19.0 < ends[0] < 20.5, "the second question takes the floor, and nothing before it"
    assert len(held) == 2 and held[1] <= 19.3
    assert len(went_on) == 1 and went_on[0] - held[0] <= 1.3


@pytest.mark.slow
@with_models
def test_the_bench_distinguishes_laughter_from_speech(tmp_path) -> None:
    for name, sound in (("sounds", noise("laugh", 3)), ("speech", question("103_2")[: 3 * SAMPLE_RATE // 2])):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "one.flac", sound)
    result = run_sounds(tmp_path / "sounds", tmp_path / "speech")
    [laugh], [speech] = result.sounds, result.speech
    assert laugh.fate == "held" and not laugh.kept and not laugh.answered
    assert speech.fate == "interrupted" and speech.stopped <= 0.3 and speech.kept and speech.answered
    assert "| no turn | 1 | 0.0 |" in result.table()


@cases(
    "heard, words",
    ("(laughs)", ""),
    ("[ Laughter ] I know.", "I know."),
    ("*sighs* Well", "Well"),
    ("Hahahaha-ha!", ""),
    ("Ha ha, no.", "no."),
    ("Ugh! Achoo.", ""),
    ("[cough", ""),
    ("He said hi.", "He said hi."),
    ("a * b", "a * b"),
    ("A Chihuahua in Omaha", "A Chihuahua in Omaha"),
    ("f(x) is 2", "f(x) is 2"),
)
def test_the_words_are_what_is_said_beside_sounds(heard: str, words: str) -> None:
    assert without_sounds(heard) == words


def test_a_mark_that_names_speech_is_no_sound() -> None:
    assert names_speech("[inaudible]") and names_speech("(speaking in foreign language)")
    assert not names_speech("(laughs) I want to speak.")
