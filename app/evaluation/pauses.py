"""Spoken questions with pauses inside them, for `bench turns`: what is said, where the speaker stops, and the sound.

Two kinds of pause. In `flow` the sentence was spoken in one go and silence is put in at a low place between two
words: the voice hangs in the air, as it does when somebody looks for a word. In `apart` the parts were spoken one
by one: the voice falls before the pause, as if all had been said, which is the harder kind. Knows no turn taking.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.resources import resource
from app.tts.base import place_words

Making = Literal["flow", "apart"]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 1.2
"""Seconds. What speakers leave within a turn: hesitations of 0.2 to 1 s (Campione and Véronis, 2002), and more."""
VOICE_FLOOR = 0.01
"""Amplitude above which a recording is taken to be voice (-40 dBFS), as in `bench latency`."""
FADE_SECONDS = 0.008
LEAD_SECONDS, TAIL_SECONDS = 0.5, 2.6
ROOM_DBFS = -65.0
SEARCH_SECONDS = 0.35
"""How far from where a word should end by its length its end is looked for..."""
TRIES = 6
"""... and how many low places are tried."""
SPEEDS = (0.93, 1.0, 1.0, 1.08)
"""Factors by which a recording is played faster, pitch and all: so the one voice speaks as several people."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that is said with pauses: `parts` in order, a pause between each two. `kind` tells where they are:
    `clause` in the middle of a clause, `um` behind a filled hesitation, `phrase` before a last phrase, `statement`
    between a statement and the question or request about it.
    """

    kind: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it, without the pauses."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Case:
    """A sound to listen to: float32 24 kHz. The voice ends `end` seconds after the first sample; `pauses`: begin
    and end of each pause that was put in, in seconds.
    """

    name: str
    kind: str
    making: Making
    text: str
    samples: np.ndarray
    end: float
    pauses: tuple[tuple[float, float], ...]


def _sayings(kind: str, *texts: str) -> list[Saying]:
    return [Saying(kind, tuple(part.strip() for part in text.split("|"))) for text in texts]


SAYINGS: tuple[Saying, ...] = (
    *_sayings(
        "clause",
        "What is the | capital of | Australia?",
        "How many people | live in Norway?",
        "Can you tell me | how a | refrigerator works?",
        "Why does the | moon change its shape?",
        "Who wrote the | opera about the barber of Seville?",
        "Tell me something | about the history of | chess.",
        "Where can I | find good bread in this town?",
        "Explain the difference between | a virus and | a bacterium.",
        "Is it true that | cats always land on their feet?",
        "How do I | remove a red wine stain from | a white shirt?",
        "What would happen if the | earth stopped spinning?",
        "Could you please | give me a recipe for | onion soup?",
        "When was the first | railway opened?",
        "Translate good morning into | Italian and | Portuguese.",
        "How far is it from | London to | Edinburgh?",
        "I would like to know | how vaccines work.",
        "Which planet has the | most moons?",
        "Write a short poem about | the sea in winter.",
        "Does anybody know why | leaves turn red in | autumn?",
        "What is the name of the | longest river in Asia?",
        "Give me three | reasons to learn a | second language.",
        "How long does it take to | boil an egg?",
        "Do you think that | robots will ever | have feelings?",
        "Please compare the | two largest cities of Japan.",
        "Should I buy | a used car or | lease a new one?",
        "What's the best way to | get from the airport to the | old town?",
        "Why are there so many | different kinds of beetles?",
        "Name the five | biggest countries in | South America.",
        "Are there any | trains to Vienna tonight?",
        "How does a | microwave oven heat | food?",
    ),
    *_sayings(
        "um",
        "What is the, um, | capital of Mongolia?",
        "How do I, uh, | change a flat tyre?",
        "Can you explain, um, | how the stock market works?",
        "Who was the, uh, | first woman in space?",
        "I need a, um, | recipe for pancakes.",
        "Tell me about the, uh, | Battle of Hastings.",
        "Why do we, um, | dream at night?",
        "Where did the, uh, | Olympic Games begin?",
        "So, um, | what is a black hole?",
        "Is there a, uh, | cure for hay fever?",
        "Could you, um, | help me with my | homework?",
        "Which, uh, | instrument is the easiest to learn?",
        "How old is, um, | the universe?",
        "What did, uh, | Newton discover?",
        "Well, um, | how would you | describe the colour blue?",
        "Give me a, uh, | good name for a black dog.",
        "Does, um, | chocolate contain caffeine?",
        "When should I, uh, | plant tomatoes?",
    ),
    *_sayings(
        "phrase",
        "What is the capital of France | in the Middle Ages?",
        "How much does a house cost | on average in Denmark?",
        "Who won the world cup | in nineteen sixty six?",
        "Explain how photosynthesis works | to a small child.",
        "What should I wear | to a job interview on Monday?",
        "Tell me a story | about a dragon who is afraid of fire.",
        "Can I grow lemons | on a north facing balcony?",
        "How do birds find their way | across the ocean?",
        "What do you know about volcanoes | on other planets?",
        "Write a letter to my landlord | about the broken heating.",
        "Why is the sky red | just before the sun sets?",
        "Where do whales go | when the winter comes?",
        "What are the rules of tennis | if it starts to rain?",
        "How can I learn to swim | without taking lessons?",
        "Which book should I read | if I like detective stories?",
        "Give me an example of irony | from a famous play.",
        "Is it healthy to run | every single day?",
        "When do the shops open | on a public holiday?",
        "How many bones are there | in a human hand?",
        "Describe the city of Rome | as it was two thousand years ago.",
        "What can I cook | with rice and two eggs?",
        "Do plants sleep | at night like we do?",
        "Suggest a present | for somebody who has everything.",
        "Who invented the telephone | and in which year?",
        "List all the planets | and tell me how large they are.",
    ),
    *_sayings(
        "statement",
        "My sister is getting married in June. | What should I give her?",
        "I have two apples and three oranges. | How many pieces of fruit do I have?",
        "The car makes a strange noise when I brake. | What could that be?",
        "We are going to Portugal next month. | Which towns should we visit?",
        "I can't sleep at night. | Do you have any advice?",
        "My son is afraid of dogs. | How can I help him?",
        "A train leaves at noon and travels at fifty miles an hour. | Where is it at three?",
        "I read a book about the Romans. | Why did their empire fall?",
        "There is a spider in my kitchen. | Is it dangerous?",
        "I've been learning the piano for a year. | What should I practise next?",
        "It has been raining for a week. | When will it stop?",
        "My computer is very slow. | Tell me what I can do about it.",
        "David has three sisters. Each of them has one brother. | How many brothers does David have?",
        "I bought too many tomatoes. | Give me a recipe for all of them.",
        "We have a meeting tomorrow morning. | Please write a short agenda.",
        "The numbers are three, nine and twenty seven. | What comes next?",
        "I don't understand fractions. | Can you explain them?",
        "My flight was cancelled. | What are my rights?",
        "Our cat doesn't eat any more. | Should we see a doctor?",
        "I work at night and sleep by day. | Is that bad for me?",
        "Yesterday I saw a bright green light in the sky. | What was it?",
        "She wants to become a pilot. | How long does that take?",
        "I'm writing a story about a lighthouse. | Suggest a good title for it.",
        "They say that money can't buy happiness. | Do you agree with that?",
        "I have a guest from Japan. | What could I cook for him?",
    ),
    *_sayings(
        "whole",
        "What time is it in New York?",
        "Who painted the Mona Lisa?",
        "Tell me a joke.",
        "How tall is Mount Everest?",
        "What does the word serendipity mean?",
        "Explain gravity in one sentence.",
        "Can dogs eat grapes?",
        "Give me a quick summary of Hamlet.",
        "Are you there?",
        "Why?",
        "I want to hear a song.",
        "Please continue.",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of a bench recording, seconds, and what is said in it; `|` marks where a pause is put."""

    file: str
    begin: float
    end: float
    kind: str
    text: str


BENCH: tuple[Cut, ...] = (
    Cut("101_1", 0.0, 7.45, "statement",
        "Imagine you are participating in a race with a group of people. | If you have just overtaken the second "
        "person, what's your current position?"),
    Cut("101_1", 3.7, 7.45, "clause",
        "If you have just overtaken the | second person, what's your current position?"),
    Cut("101_1", 3.7, 7.45, "clause",
        "If you have just overtaken the second person, | what's your | current position?"),
    Cut("101_1", 7.85, 9.81, "clause", "Where is the | person you just overtook?"),
    Cut("101_1", 7.85, 9.81, "phrase", "Where is the person | you just overtook?"),
    Cut("103_2", 0.0, 3.43, "clause", "Can you explain | why the above question is interesting?"),
    Cut("103_2", 0.0, 3.43, "clause", "Can you explain why the | above question is | interesting?"),
    Cut("108_1", 0.0, 1.9, "clause", "Which word | does not belong with | the others?"),
    Cut("108_1", 0.0, 1.9, "phrase", "Which word does not belong | with the others?"),
    Cut("141_2", 0.0, 2.55, "clause", "What assumptions | have you made in your response?"),
    Cut("141_2", 0.0, 2.55, "phrase", "What assumptions have you made | in your response?"),
    Cut("141_2", 2.75, 3.78, "clause", "Are they | valid?"),
    Cut("144_1", 0.0, 2.9, "clause", "What is the | central dogma of | molecular biology?"),
    Cut("144_1", 0.0, 2.9, "phrase", "What is the central dogma | of molecular biology?"),
    Cut("144_1", 3.25, 4.85, "clause", "What processes | are involved?"),
    Cut("144_1", 5.1, 5.91, "clause", "Who named | this?"),
    Cut("146_2", 0.0, 2.4, "clause", "Can a process | involve both | reactions?"),
    Cut("149_1", 0.0, 2.6, "clause", "Please describe | the concept of machine learning."),
    Cut("149_1", 0.0, 2.6, "clause", "Please describe the concept of | machine learning."),
    Cut("149_1", 3.05, 8.7, "clause",
        "Could you elaborate on | the differences between supervised, | unsupervised, and reinforcement learning?"),
    Cut("149_1", 3.05, 8.7, "clause",
        "Could you elaborate on the differences between | supervised, unsupervised, | and reinforcement learning?"),
    Cut("149_1", 9.1, 11.43, "phrase", "Provide real-world examples | of each."),
    Cut("151_2", 0.0, 2.51, "clause", "Now, | explain them | again like I'm five."),
    Cut("151_2", 0.0, 2.51, "phrase", "Now, explain them again | like I'm five."),
    Cut("156_2", 0.0, 4.93, "clause",
        "Provide a detailed | plan for an election | campaign using the first example."),
    Cut("156_2", 0.0, 4.93, "phrase",
        "Provide a detailed plan for an election campaign | using the first example."),
    Cut("154_1", 0.0, 5.4, "clause",
        "Create a lesson plan that integrates | drama, mime or theater techniques into a | history class."),
    Cut("154_1", 0.0, 5.4, "phrase",
        "Create a lesson plan that integrates drama, mime or theater techniques | into a history class."),
)  # fmt: skip


Hear = Callable[[np.ndarray], str]
"""Sound (float32 24 kHz) to words: a recogniser, which checks that a cut lies between two words."""


def bench_cases(hear: Hear, half: int | None = None) -> tuple[list[Case], list[str]]:
    """The bench's recordings with pauses put in, and what could not be cut; `half` 0 or 1: every second of them."""
    out, left_out = [], []
    for number, cut in enumerate(BENCH):
        if half is not None and number % 2 != half:
            continue
        samples, _ = soundfile.read(resource("bench", "questions", f"{cut.file}.flac"), dtype="float32")
        piece = _trimmed(samples[round(cut.begin * SAMPLE_RATE) : round(cut.end * SAMPLE_RATE)])
        parts = tuple(part.strip() for part in cut.text.split("|"))
        pieces = _cut(piece, parts, hear)
        name = f"bench {number} {cut.file}"
        if pieces is None:
            left_out.append(name)
            continue
        rng = np.random.default_rng([11, number])
        out.append(_lay_out(name, cut.kind, "flow", " ".join(parts), pieces, rng))
    return out, left_out


def spoken_cases(
    say: Callable[[str], np.ndarray],
    hear: Hear,
    half: int | None = None,
    makings: Sequence[Making] = ("flow", "apart"),
) -> tuple[list[Case], list[str]]:
    """SAYINGS as `say` speaks them (float32 24 kHz), each in every making, and what could not be cut; `half` 0 or 1:
    every second saying.
    """
    out, left_out = [], []
    for number, saying in enumerate(SAYINGS):
        if half is not None and number % 2 != half:
            continue
        for making in makings:
            rng = np.random.default_rng([23, number, making == "apart"])
            name = f"spoken {number} {making}"
            if len(saying.parts) == 1 and making == "apart":
                continue
            if making == "flow":
                pieces = _cut(_trimmed(say(saying.text)), saying.parts, hear)
            else:
                pieces = [_trimmed(say(part)) for part in saying.parts]
            if pieces is None:
                left_out.append(name)
                continue
            speed = float(rng.choice(SPEEDS))
            if speed != 1.0:
                pieces = [soxr.resample(piece, SAMPLE_RATE * speed, SAMPLE_RATE).astype(np.float32) for piece in pieces]
            out.append(_lay_out(name, saying.kind, making, saying.text, pieces, rng))
    return out, left_out


def _cut(whole: np.ndarray, parts: Sequence[str], hear: Hear) -> list[np.ndarray] | None:
    """`whole` cut between its `parts`, at low places where the recogniser hears the last word before and the first
    one behind; None where there is no such place.
    """
    words = place_words(" ".join(parts), len(whole))
    step = SAMPLE_RATE // 50
    energy = np.convolve(np.square(whole), np.ones(step) / step, "same")
    pieces, begin, count = [], 0, 0
    for part, following in itertools.pairwise(parts):
        count += len(part.split())
        guess = words[count - 1].end
        reach = round(SEARCH_SECONDS * SAMPLE_RATE)
        first, last = max(begin + step, guess - reach), min(len(whole) - step, guess + reach)
        grid = np.arange(first, last, step // 2)
        lows = [at for n, at in enumerate(grid) if energy[at] <= energy[grid[max(0, n - 2) : n + 3]].min()]
        lows.sort(key=lambda at: float(np.log10(energy[at] + 1e-9)) + 4 * abs(at - guess) / SAMPLE_RATE)
        for at in lows[:TRIES]:
            before, behind = fold(hear(whole[begin:at])), fold(hear(whole[at:]))
            if before[-1:] == fold(part)[-1:] and behind[:1] == fold(following)[:1]:
                break
        else:
            return None
        pieces.append(whole[begin:at].copy())
        begin = at
    # The recording's own silence goes: the pause is what is put in, and no longer.
    return [_trimmed(piece) for piece in (*pieces, whole[begin:])]


def _trimmed(samples: np.ndarray) -> np.ndarray:
    """From the first sample of voice to the last one."""
    loud = np.flatnonzero(np.abs(samples) > VOICE_FLOOR)
    return samples[loud[0] : loud[-1] + 1].astype(np.float32) if len(loud) else samples[:0].astype(np.float32)


def _lay_out(
    name: str, kind: str, making: Making, text: str, pieces: Sequence[np.ndarray], rng: np.random.Generator
) -> Case:
    """The pieces with pauses between, a lead, a tail, a quiet room, at a level of its own."""
    fade = np.linspace(0.0, 1.0, round(FADE_SECONDS * SAMPLE_RATE), dtype=np.float32)
    parts: list[np.ndarray] = [np.zeros(round((LEAD_SECONDS + rng.uniform(0, 0.08)) * SAMPLE_RATE), np.float32)]
    pauses, at = [], len(parts[0])
    for number, piece in enumerate(pieces):
        piece = piece.copy()
        if number and len(piece) > len(fade):
            piece[: len(fade)] *= fade
        if number < len(pieces) - 1 and len(piece) > len(fade):
            piece[-len(fade) :] *= fade[::-1]
        parts.append(piece)
        at += len(piece)
        if number < len(pieces) - 1:
            gap = round(rng.uniform(SHORTEST_PAUSE, LONGEST_PAUSE) * SAMPLE_RATE)
            parts.append(np.zeros(gap, np.float32))
            pauses.append((at / SAMPLE_RATE, (at + gap) / SAMPLE_RATE))
            at += gap
    parts.append(np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32))
    samples = np.concatenate(parts) * 10 ** (rng.uniform(-8, 2) / 20)
    room = rng.standard_normal(len(samples)) * 10 ** (ROOM_DBFS / 20)
    return Case(name, kind, making, text, (samples + room).astype(np.float32), at / SAMPLE_RATE, tuple(pauses))
