"""Spoken questions of many voices: the voice of the app at other rates and pitches, and speech programs that are there.

flite and espeak-ng, where they are installed, bring further voices that cost next to nothing.
"""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.platform.child_environment import child_environment
from app.research.training.nano.dialogues import SpokenQuestion
from app.research.training.nano.facts import Fact
from app.tts.base import Voice

LOUDNESS = 10 ** (-24 / 20)
"""RMS of a question."""
PAUSED = 0.25
"""Share of the questions with a pause in them, which must not be taken for their end."""
TEST_VOICE = "slt"
"""flite's voice that no question for training is spoken with."""
FLITE_VOICES = ("kal16", "awb", "rms")
ESPEAK_VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029")
ESPEAK_VARIANTS = ("", "+m1", "+m2", "+m3", "+m4", "+m7", "+f1", "+f2", "+f3", "+f4")

Speaker = Callable[[str, random.Random], np.ndarray]
"""Speaks a text, float32 24 kHz; the random numbers choose rate, pitch and so on."""


def flite(voices: Sequence[str]) -> Speaker:
    """A speaker that runs flite with one of its voices."""

    def speak(text: str, draw: random.Random) -> np.ndarray:
        with tempfile.TemporaryDirectory(prefix="question-") as folder:
            path = Path(folder, "q.wav")
            settings = {
                "duration_stretch": f"{draw.uniform(0.75, 1.25):.2f}",
                "int_f0_target_mean": f"{draw.uniform(80, 220):.0f}",
            }
            options = [word for name, value in settings.items() for word in ("--setf", f"{name}={value}")]
            command = ["flite", "-voice", draw.choice(voices), *options, "-t", text, "-o", str(path)]
            subprocess.run(command, check=True, capture_output=True, env=child_environment())
            samples, rate = soundfile.read(path, dtype="float32")
        return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)

    return speak


def espeak(text: str, draw: random.Random) -> np.ndarray:
    """A speaker that runs espeak-ng with one of its voices."""
    voice = draw.choice(ESPEAK_VOICES) + draw.choice(ESPEAK_VARIANTS)
    speed, pitch = draw.randint(125, 210), draw.randint(25, 75)
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    done = subprocess.run(command, check=True, capture_output=True, env=child_environment())
    samples, rate = soundfile.read(io.BytesIO(done.stdout), dtype="float32")
    return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)


def app_voice(voice: Voice) -> Speaker:
    """A speaker with a voice of the app, which has been entered, at another pitch each time."""

    def speak(text: str, draw: random.Random) -> np.ndarray:
        samples = voice.synthesize(text).result().samples
        return np.asarray(soxr.resample(samples, SAMPLE_RATE * draw.uniform(0.85, 1.25), SAMPLE_RATE), np.float32)

    return speak


def speakers(voice: Voice, *, test: bool = False) -> list[tuple[float, Speaker]]:
    """The speakers that are here with their weights; those for the test are not among those for training."""
    if test:
        return [(1.0, flite([TEST_VOICE]))] if shutil.which("flite") else [(1.0, app_voice(voice))]
    found: list[tuple[float, Speaker]] = [(0.45, app_voice(voice))]
    if shutil.which("flite"):
        found.append((0.3, flite(FLITE_VOICES)))
    if shutil.which("espeak-ng"):
        found.append((0.25, espeak))
    return found


def trial_speaker() -> str:
    """Who asks the questions of a trial on this machine, for its report."""
    if shutil.which("flite"):
        return f"asked by flite's voice {TEST_VOICE}, which was not trained on"
    return "asked by the app's own voice, which was trained on (flite is not installed)"


def speak_questions(
    facts: Sequence[Fact],
    choices: Sequence[tuple[float, Speaker]],
    seed: int,
    progress: Callable[[str], None] = lambda line: None,
) -> list[SpokenQuestion]:
    """Speaks the question of each fact. Raises VoiceError."""
    weights = [weight for weight, _ in choices]

    def one(number: int) -> SpokenQuestion:
        draw = random.Random(seed * 1_000_003 + number)
        fact = facts[number]
        (speaker,) = draw.choices([speaker for _, speaker in choices], weights)
        samples = _trimmed(speaker(fact.question, draw))
        if draw.random() < PAUSED:
            samples = _with_pause(samples, fact.question, draw)
        level = float(np.sqrt(np.mean(samples**2))) + 1e-9
        if number % 50 == 0:
            progress(f"questions: {number} of {len(facts)}")
        return SpokenQuestion(
            fact, np.clip(samples * (LOUDNESS / level), -1, 1), word_ends(fact.question, len(samples))
        )

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, range(len(facts))))


def word_ends(text: str, samples: int) -> tuple[int, ...]:
    """About where each word ends, by its letters: speech programs don't tell."""
    ends = np.cumsum([len(word) + 1.5 for word in text.split()])
    return tuple(int(samples * end / ends[-1]) for end in ends)


def _trimmed(samples: np.ndarray) -> np.ndarray:
    loud = np.flatnonzero(np.abs(samples) > max(np.abs(samples).max() * 0.02, 1e-4))
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples


def _with_pause(samples: np.ndarray, text: str, draw: random.Random) -> np.ndarray:
    """The question with silence at its quietest place near the end of one of its words."""
    ends = word_ends(text, len(samples))
    if len(ends) < 4:
        return samples
    near = ends[draw.randrange(1, len(ends) - 1)]
    start = max(0, near - 2400)
    power = np.convolve(np.abs(samples[start : near + 2400]), np.ones(240) / 240, "same")
    at = start + int(np.argmin(power))
    pause = np.zeros(int(draw.uniform(0.12, 0.7) * SAMPLE_RATE), np.float32)
    return np.concatenate([samples[:at], pause, samples[at:]])
