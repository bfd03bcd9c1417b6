"""Assembles dialogues from spoken questions, the oracle as it arrives, and the answers.

Questions are spoken by many voices: the app's at varying pitch and rate and, if installed, flite and espeak-ng, which
add more voices at little cost.
"""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soxr
import torch

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.frontend.kame.spoken_words import Pieces
from app.platform.children import child_environment
from app.research.benches.recordings import read_sound, saying, trim
from app.research.benches.room import Convolver, reverberation
from app.research.corpus.dialogue import OracleEvent, TimedRevision, Utterance, Vocabulary, Word
from app.research.corpus.oracle import arrivals, request_times, with_arrivals
from app.research.nano.voice_codec import SILENT, VoiceCodec
from app.research.training.nano.answers import LENGTH, Bank, Track
from app.research.training.nano.facts import Fact, draw_fact
from app.tts.base import Voice

LOUDNESS = 10 ** (-24 / 20)
"""RMS of a question."""
PAUSED = 0.25
"""Share of questions that contain a pause, which the model must not mistake for the end."""
TEST_VOICE = "slt"
"""A flite voice that is never used for training questions."""
FLITE_VOICES = ("kal16", "awb", "rms")
ESPEAK_VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029")
ESPEAK_VARIANTS = ("", "+m1", "+m2", "+m3", "+m4", "+m7", "+f1", "+f2", "+f3", "+f4")

Speaker = Callable[[str, random.Random], np.ndarray]
"""Speaks a text as float32 at 24 kHz; the random generator varies rate, pitch and so on."""


def flite(voices: Sequence[str]) -> Speaker:
    """Returns a speaker that runs flite with a random one of the voices."""

    def speak(text: str, draw: random.Random) -> np.ndarray:
        with tempfile.TemporaryDirectory(prefix="question-") as folder:
            path = Path(folder, "q.wav")
            rate = f"duration_stretch={draw.uniform(0.75, 1.25):.2f}"
            pitch = f"int_f0_target_mean={draw.uniform(80, 220):.0f}"
            options = ["--setf", rate, "--setf", pitch, "-t", text, "-o", str(path)]
            command = ["flite", "-voice", draw.choice(voices), *options]
            subprocess.run(command, check=True, capture_output=True, env=child_environment())
            return read_sound(path)

    return speak


def espeak(text: str, draw: random.Random) -> np.ndarray:
    """Speaks a text with a random espeak-ng voice."""
    voice = draw.choice(ESPEAK_VOICES) + draw.choice(ESPEAK_VARIANTS)
    speed, pitch = draw.randint(125, 210), draw.randint(25, 75)
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    done = subprocess.run(command, check=True, capture_output=True, env=child_environment())
    return read_sound(io.BytesIO(done.stdout))


def app_voice(voice: Voice) -> Speaker:
    """Returns a speaker with a voice of the app, which must be entered, at a different pitch each time."""

    def speak(text: str, draw: random.Random) -> np.ndarray:
        samples = saying(voice)(text)
        return np.asarray(soxr.resample(samples, SAMPLE_RATE * draw.uniform(0.85, 1.25), SAMPLE_RATE), np.float32)

    return speak


def speakers(voice: Voice, *, test: bool = False) -> list[tuple[float, Speaker]]:
    """Returns the available speakers with their weights. With flite, the test speaker is not used for training."""
    if test:
        return [(1.0, flite([TEST_VOICE]))] if shutil.which("flite") else [(1.0, app_voice(voice))]
    found: list[tuple[float, Speaker]] = [(0.45, app_voice(voice))]
    if shutil.which("flite"):
        found.append((0.3, flite(FLITE_VOICES)))
    if shutil.which("espeak-ng"):
        found.append((0.25, espeak))
    return found


def trial_speaker() -> str:
    """Describes the speaker of trial questions on this machine, for the report."""
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
        samples = trim(speaker(fact.question, draw), floor=0.02)
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
    """Estimates where each word ends from its letters, since the speech programs do not report it."""
    ends = np.cumsum([len(word) + 1.5 for word in text.split()])
    return tuple(int(samples * end / ends[-1]) for end in ends)


def _with_pause(samples: np.ndarray, text: str, draw: random.Random) -> np.ndarray:
    """Inserts silence at the quietest place near the end of a random word."""
    ends = word_ends(text, len(samples))
    if len(ends) < 4:
        return samples
    near = ends[draw.randrange(1, len(ends) - 1)]
    start = max(0, near - 2400)
    power = np.convolve(np.abs(samples[start : near + 2400]), np.ones(240) / 240, "same")
    at = start + int(np.argmin(power))
    return np.insert(samples, at, np.zeros(int(draw.uniform(0.12, 0.7) * SAMPLE_RATE), np.float32))


@dataclass(frozen=True, slots=True)
class SpokenQuestion:
    """A spoken question: float32, 24 kHz, without surrounding silence, and the sample after each word."""

    fact: Fact
    samples: np.ndarray
    word_ends: tuple[int, ...]


class DialogueMaker:
    """Makes dialogues out of spoken questions."""

    def __init__(
        self,
        bank: Bank,
        codec: VoiceCodec,
        pieces: Pieces,
        vocabulary: Vocabulary,
        questions: Sequence[SpokenQuestion],
        general: Sequence[tuple[SpokenQuestion, str]] = (),
    ) -> None:
        self._bank, self._codec = bank, codec
        self._pieces, self._vocabulary = pieces, vocabulary
        self._questions, self._general = questions, general

    def make(self, draw: random.Random) -> np.ndarray:
        """Draws one dialogue as tokens, int16 `[text + own codes + user's codes + oracle, frames]`."""
        track = Track(self._pieces, self._vocabulary, self._codec.shape.own_books, SILENT)
        heard = np.zeros(LENGTH * FRAME_SAMPLES, np.float32)
        at = draw.randint(3, 25)
        while True:
            question, fact = self._question(draw)
            begin = at * FRAME_SAMPLES + draw.randrange(FRAME_SAMPLES)
            end = begin + len(question.samples)
            question_end = -(-end // FRAME_SAMPLES)
            word_frames = [(begin + sample) // FRAME_SAMPLES for sample in question.word_ends]
            stop = track.add(at, self._bank, draw, question_end, draw_revisions(draw, fact, word_frames, question_end))
            if stop is None:
                break
            heard[begin:end] += question.samples
            at = stop + draw.randint(4, 30)
        with torch.no_grad():
            user = self._codec.encode(torch.from_numpy(_recorded(heard, draw))[None, None])[0].numpy()
        return track.tokens(user)

    def _question(self, draw: random.Random) -> tuple[SpokenQuestion, Fact]:
        if self._general and draw.random() < 0.35:
            question, text = draw.choice(self._general)
            return question, Fact(question.fact.question, text, "")
        question = draw.choice(self._questions)
        return question, question.fact.changed(draw)


def draw_revisions(
    draw: random.Random, fact: Fact, word_frames: Sequence[int], question_end: int
) -> list[TimedRevision]:
    """Simulates a back-end's answers while the question is spoken, ordered by request time.

    Uses the six levels of the paper's simulated oracle augmentation, by the share of the question heard: none,
    keywords, something different, not verbatim, nearly all, the answer itself. `word_frames`: the frame in which each
    word ends.
    """
    if draw.random() < 0.07:
        return []  # no back-end, or a failing one
    words = [Word("", 0.0, frame * FRAME_SECONDS, "user") for frame in word_frames]
    requests = request_times(Utterance("user", tuple(words)), draw)
    answers = [(at, _guess(draw, fact, share)) for at, share, _ in requests]
    final = fact
    for _ in range(draw.choice((0, 0, 0, 0, 1, 1, 2))):
        final = _other(draw, final)
        answers.append(((question_end + draw.randint(4, 60)) * FRAME_SECONDS, final))
    events = [OracleEvent(at, guess.answer, 1.0, True) for at, guess in answers]
    return arrivals(with_arrivals(events, draw), draw)


def _guess(draw: random.Random, fact: Fact, share: float) -> Fact:
    if share >= 0.95:
        return fact
    if share >= 0.8:
        return fact if fact.relation is None or draw.random() < 0.4 else fact.paraphrased(draw)
    if share >= 0.5 and fact.relation is not None:
        return fact.changed(draw)
    return draw_fact(draw, test=False)


def _other(draw: random.Random, fact: Fact) -> Fact:
    """Returns the answer of a later revision to the same question."""
    if fact.relation is None:
        return replace(draw_fact(draw, test=False), question=fact.question)
    changed = fact.changed(draw)
    if draw.random() < 0.6:  # in the same words except for the value
        for answer in fact.relation.answers:
            if fact.answer == answer.format(s=fact.subject, v=fact.value):
                return replace(changed, answer=answer.format(s=fact.subject, v=changed.value))
    return changed


def _recorded(samples: np.ndarray, draw: random.Random) -> np.ndarray:
    """Simulates a microphone recording of the user's track: reverberation, level, noise, and telephone bandwidth."""
    numbers = np.random.default_rng(draw.randrange(1 << 32))
    if draw.random() < 0.35:
        path = reverberation(draw.uniform(0.1, 0.6), numbers) * 10 ** (draw.uniform(-12, 0) / 20)
        samples = samples + Convolver(path, len(samples)).push(samples)
    noise = numbers.standard_normal(len(samples), np.float32)
    if draw.random() < 0.5:  # more at low frequencies, as in rooms
        noise = np.convolve(noise, np.full(24, 24**-0.5, np.float32), mode="same").astype(np.float32)
    gain = 10 ** (draw.uniform(-14, 5) / 20)
    level = 10 ** (draw.uniform(-80, -46) / 20)
    mixed = samples * gain + noise * level * min(1.0, gain * 2)
    if draw.random() < 0.35:
        mixed = _narrowed(mixed, draw.choice((0, 100, 300)), draw.choice((3400, 4000, 5500, 8000)))
    return np.clip(mixed, -1, 1).astype(np.float32)


def _narrowed(samples: np.ndarray, lowest: int, highest: int) -> np.ndarray:
    """Keeps only the frequencies between two limits, in Hz."""
    spectrum = np.fft.rfft(samples)
    frequencies = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    spectrum[(frequencies < lowest) | (frequencies > highest)] = 0
    return np.fft.irfft(spectrum, len(samples))
