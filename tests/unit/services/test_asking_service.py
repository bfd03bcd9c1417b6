"""Questions are spoken by another voice than the assistant's, and understood by the app's own recogniser."""

from collections.abc import Iterator

import numpy as np
import pytest
import soxr

from app.conversation.words import same_words
from app.models.pool import MODELS
from app.services.asking_service import AskingService
from app.services.sound_service import RECOGNISER_RATE, _recogniser
from app.session.control import UserError
from app.tts.voices import make_voice
from tests.support.tables import cases

QUESTIONS = (
    "What is the capital of Sweden?",
    "How many days are there in a week?",
    "Why does the moon change its shape?",
    "Give me an idea for dinner tonight.",
)


def pitch(samples: np.ndarray) -> float:
    """The median rate of the vocal folds in its loud parts, in Hz."""
    found, size, shortest, longest = [], 1440, 24_000 // 220, 24_000 // 60
    for start in range(0, len(samples) - size, size // 2):
        part = samples[start : start + size]
        if np.abs(part).max() > 0.15:
            correlation = np.correlate(part, part, "full")[size - 1 :] / np.arange(size, 0, -1)
            found.append(24_000 / (shortest + int(np.argmax(correlation[shortest:longest]))))
    return float(np.median(found))


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """Voices are loaded once."""
    with MODELS.keeping():
        yield


@cases("question", QUESTIONS[0], *(pytest.param(question, marks=pytest.mark.slow) for question in QUESTIONS[1:]))
async def test_every_question_of_the_welcome_is_understood(question: str) -> None:
    asked = await AskingService().speak(question, "en")
    with make_voice() as own:
        answering = own.synthesize(question).result().samples
    assert asked.dtype == np.float32 and 0.8 < len(asked) / len(answering) < 1.25, "about as quick"
    padded = np.pad(asked, 6000)
    assert same_words(_recogniser().decode(soxr.resample(padded, 24_000, RECOGNISER_RATE)), question)


async def test_it_is_another_voice() -> None:
    """No two syntheses of a text are alike, and a creak doubles or halves what `pitch` finds: the medians count."""
    higher = []
    for question in QUESTIONS:
        asked = [pitch(await AskingService().speak(question, "en")) for _ in range(3)]
        with make_voice() as own:
            answering = [pitch(own.synthesize(question).result().samples) for _ in range(3)]
        higher.append(np.median(asked) / np.median(answering))
    assert np.median(higher) > 1.06 and max(higher) < 1.2


@pytest.mark.slow
async def test_without_a_voice_it_is_a_sentence() -> None:
    with pytest.raises(UserError, match="no voice for the language"):
        await AskingService().speak("何時ですか", "ja")
