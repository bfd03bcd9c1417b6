"""Speaks a script with the app's voices: stereo, the model left and the user right, with the time of each word."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.research.corpus.dialogue import Dialogue, Speaker, Word, in_order
from app.research.corpus.scripts import Script
from app.tts.base import Clip, Voice


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """What makes spoken dialogues harder; each is a share of the dialogues, 0 to 1.

    `pauses`: the user pauses for a second or more within a question. `noise`: the user's room is noisy.
    `interruptions`: the user breaks in on an answer, which is cut.
    """

    pauses: float = 0.1
    noise: float = 0.3
    interruptions: float = 0.05


@dataclass(slots=True)
class SpokenDialogue:
    """A dialogue with its sound, float32 `[samples, 2]` at 24 kHz."""

    dialogue: Dialogue
    samples: np.ndarray = field(repr=False)


_GAP = (0.05, 0.4)
"""Seconds between a question and its answer: the model answers almost at once, as it is to do."""
_BETWEEN = (0.6, 2.5)
"""Seconds from an answer to the next question."""
_BREAK_IN = 0.4
"""Seconds for which the model speaks on when the user breaks in."""


def speak_script(
    script: Script, model: Voice, users: Mapping[str, Voice], options: SpeakingOptions, draw: random.Random
) -> SpokenDialogue:
    """Speaks a script; one of the users' voices asks. Raises VoiceError."""
    user = users[draw.choice(sorted(users))]
    clips = [(user if place % 2 == 0 else model).synthesize(turn) for place, turn in enumerate(script.turns)]
    at = draw.uniform(0.3, 1.5)
    words: list[Word] = []
    placed: list[tuple[Speaker, float, np.ndarray]] = []
    for place, future in enumerate(clips):
        clip = future.result()
        speaker: Speaker = "model" if place % 2 else "user"
        if speaker == "user" and draw.random() < options.pauses:
            clip = _with_pause(clip, draw)
        last = place == len(clips) - 1
        if speaker == "model" and not last and draw.random() < options.interruptions:
            clip, gap = _cut(clip, draw), -_BREAK_IN
        else:
            gap = draw.uniform(*(_BETWEEN if speaker == "model" else _GAP))
        words += [
            Word(word.text, at + word.start / SAMPLE_RATE, at + word.end / SAMPLE_RATE, speaker) for word in clip.words
        ]
        placed.append((speaker, at, clip.samples))
        at += max(0.1, len(clip.samples) / SAMPLE_RATE + gap)
    seconds = max(start + len(samples) / SAMPLE_RATE for _, start, samples in placed) + 1.0
    sound = _mixed(placed, seconds, draw.random() < options.noise, draw)
    return SpokenDialogue(Dialogue(script.name, in_order(words), [], "", seconds), sound)


def _mixed(
    placed: Sequence[tuple[Speaker, float, np.ndarray]], seconds: float, noisy: bool, draw: random.Random
) -> np.ndarray:
    out = np.zeros((round(seconds * SAMPLE_RATE), 2), np.float32)
    gain = 10 ** (draw.uniform(-12, 3) / 20)
    for speaker, at, samples in placed:
        start = round(at * SAMPLE_RATE)
        out[start : start + len(samples), 0 if speaker == "model" else 1] += samples * (
            gain if speaker == "user" else 1.0
        )
    numbers = np.random.default_rng(draw.randrange(1 << 32))
    noise = numbers.standard_normal(len(out), np.float32)
    level = 10 ** (draw.uniform(*((-55, -38) if noisy else (-80, -65))) / 20)
    out[:, 1] += np.convolve(noise, np.full(16, 16**-0.5, np.float32), mode="same") * level
    return np.clip(out, -1, 1)


def _with_pause(clip: Clip, draw: random.Random) -> Clip:
    """The clip with silence between two of its words."""
    if len(clip.words) < 4:
        return clip
    place = draw.randrange(2, len(clip.words))
    at, pause = clip.words[place - 1].end, round(draw.uniform(0.8, 2.0) * SAMPLE_RATE)
    samples = np.concatenate([clip.samples[:at], np.zeros(pause, np.float32), clip.samples[at:]])
    moved = [
        word if number < place else type(word)(word.text, word.start + pause, word.end + pause)
        for number, word in enumerate(clip.words)
    ]
    return Clip(samples, tuple(moved))


def _cut(clip: Clip, draw: random.Random) -> Clip:
    """The clip up to the end of one of its words."""
    if len(clip.words) < 4:
        return clip
    count = draw.randrange(2, len(clip.words))
    return Clip(clip.samples[: clip.words[count - 1].end], clip.words[:count])
