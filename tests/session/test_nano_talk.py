"""Conversations with Nano KAME's own weights: it begins immediately, and says the oracle's words as they arrive. The
answers are invented, so that only the oracle can know them. What it said is read back from its sound by the recogniser
that the app comes with."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.io.files import FileSource
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.frontend import FrontEndOptions
from app.frontend.base import FrontEnd, FrontEndError
from app.models.catalogue import DEFAULTS
from app.models.locations import model_path
from app.research.benches.recordings import Reader
from app.research.commands import make_nano
from app.research.nano.frontend import NanoFrontEnd
from app.session.session import Session
from app.tts.voices import make_voice
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.talks import Talk, simulate

pytestmark = pytest.mark.slow
BEGIN = 1.0
"""Second in which the question begins."""
FACTS = (
    ("Where does Karen live?", "Karen lives in Toronto.", "toronto"),
    ("What is the room of Peter?", "Peter is in room 47.", "47"),
    ("What is Nina's favourite colour?", "Nina likes green best.", "green"),
    ("When does Robert come back?", "Robert is back on Friday.", "friday"),
)


def nano() -> FrontEnd:
    return make_nano(FrontEndOptions(make_voice=ScriptedVoice))


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, float]]:
    """Each question as a sound file with silence behind it, and the second in which it ends."""
    folder = tmp_path_factory.mktemp("questions")
    made = []
    with make_voice("piper-joe") as voice:
        for number, (question, _, _) in enumerate(FACTS):
            spoken = voice.synthesize(question).result().samples
            silence = np.zeros(round(BEGIN * SAMPLE_RATE), np.float32)
            path = folder / f"{number}.wav"
            soundfile.write(path, np.concatenate([silence, spoken, np.tile(silence, 8)]), SAMPLE_RATE)
            made.append((path, BEGIN + len(spoken) / SAMPLE_RATE))
    return made


def talk_about(
    number: int, sound: tuple[Path, float], told: ScriptedAnswer, during: Callable[[Session], None] | None = None
) -> Talk:
    path, end = sound

    def backend(_: ChatRequest) -> ScriptedAnswer:
        return told

    turn = [ScriptedTurn(BEGIN, end, FACTS[number][0])]
    return simulate(turn, backend, frontend=nano(), source=FileSource(path), answer_mode="after", during=during)


def said_in(talk: Talk) -> str:
    return "".join(said.text if said.glued else f" {said.text}" for said in talk.of(e.AssistantSaid)).strip()


@pytest.fixture(scope="module")
def heard_in() -> Callable[[Talk], str]:
    """Reads back what was heard from the loudspeaker, in lower case."""
    reader = Reader(model_path(DEFAULTS["stt"]))

    def read(talk: Talk) -> str:
        return reader.read(np.concatenate([samples for _, samples in talk.speaker.heard])).lower()

    return read


def test_it_begins_and_says_what_comes_later(
    questions: list[tuple[Path, float]], heard_in: Callable[[Talk], str]
) -> None:
    texts, sounds = [], []
    for number, sound in enumerate(questions):
        talk = talk_about(number, sound, answer(FACTS[number][1], first=1.2, every=0.1))
        texts.append(said_in(talk))
        sounds.append(heard_in(talk))
        assert talk.speaker.sounding(sound[1], sound[1] + 1.2), f"silent while it waits: {texts}"
    assert sum(fact[2] in text.lower() for fact, text in zip(FACTS, texts, strict=True)) >= 3, texts
    assert sum(fact[2] in sound for fact, sound in zip(FACTS, sounds, strict=True)) >= 3, sounds


def test_without_an_answer_it_says_none(questions: list[tuple[Path, float]], heard_in: Callable[[Talk], str]) -> None:
    talk = talk_about(0, questions[0], answer("", first=12.0))
    assert said_in(talk) and "toronto" not in said_in(talk).lower()
    heard = heard_in(talk)
    assert heard and "toronto" not in heard


def test_it_does_not_begin_in_a_pause_of_the_user(questions: list[tuple[Path, float]], tmp_path: Path) -> None:
    samples, _ = soundfile.read(questions[0][0], dtype="float32")
    # Not digital silence, in which the voice detector of the tests would hear the end of the turn.
    pause = np.random.default_rng(1).normal(0.0, 1e-5, 2 * SAMPLE_RATE).astype(np.float32)
    half = round((BEGIN + 0.6) * SAMPLE_RATE)
    path = tmp_path / "paused.wav"
    soundfile.write(path, np.concatenate([samples[:half], pause, samples[half:]]), SAMPLE_RATE)
    end = questions[0][1] + 2.0
    talk = talk_about(0, (path, end), answer(FACTS[0][1], first=0.3, every=0.1))
    assert not talk.speaker.sounding(0.0, end)
    assert talk.speaker.sounding(end, end + 2.0)


def test_it_is_silenced_and_says_nothing_more(questions: list[tuple[Path, float]]) -> None:
    end = questions[0][1]

    def during(session: Session) -> None:
        asyncio.get_running_loop().call_later(end + 1.5, session.silence)

    talk = talk_about(0, questions[0], answer(FACTS[0][1], first=1.2, every=0.1), during)
    assert talk.speaker.sounding(end + 0.5, end + 1.5) and not talk.speaker.sounding(end + 1.75, end + 6.0)
    assert [over.interrupted for over in talk.of(e.AssistantEnded)] == [True]


def test_without_its_weights_it_says_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(FrontEndError, match="--weights"), NanoFrontEnd(tmp_path / "none", tmp_path / "voice.onnx"):
        pass
    (tmp_path / "empty").mkdir()
    with pytest.raises(FrontEndError, match="could not be started"), NanoFrontEnd(tmp_path / "empty", tmp_path):
        pass
