"""Makes up the events of a conversation as dense as real ones get: the same for a seed, of any length.

All times are seconds of the session.
"""

from __future__ import annotations

import math
import random

from app.conversation import events as e
from app.conversation.frame import end_of_frame

BACKENDS = (("Embedded", "SmolLM2-135M"), ("OpenAI", "gpt-4.1-mini"))
ROUND_SECONDS = 12.0
"""The user speaks for five of them, the answer takes six."""
SWAP_EVERY = 8
"""In every so many rounds, the model is changed in mid-answer."""
WORDS = (
    "the river runs past an old mill where people used to bring their corn and today there is a small museum about "
    "bread mountains weather children school bridge carries its load window light summer train ticket garden water"
).split()


def dense_talk(seconds: float, seed: int = 7) -> list[e.Event]:
    """The events of a conversation of this many seconds, in order."""
    chance = random.Random(seed)
    events: list[e.Event] = [e.SessionStarted(0.0, "cascade", "whisper tiny.en", *BACKENDS[0], "thinking")]
    revision, backend = 0, 0
    for number in range(math.ceil(seconds / ROUND_SECONDS)):
        swapped = number % SWAP_EVERY == SWAP_EVERY - 1
        part = _Round(number * ROUND_SECONDS, number + 1, revision, backend, chance)
        events += part.make(swapped)
        revision, backend = part.revision, part.backend
    for frame in range(int(seconds / 0.08)):
        at = end_of_frame(frame)
        within = at % ROUND_SECONDS
        mine, theirs = 0.3 <= within <= 4.6, 5.4 <= within <= 11.4
        loud = -16.0 + 9.0 * math.sin(at * 11.0) * math.sin(at * 3.1)
        late = 130.0 if chance.random() < 0.002 else 20.0
        events.append(e.LevelMeasured(at, loud if mine else -58.0, loud if theirs else -60.0, late))
    return sorted((event for event in events if event.at <= seconds), key=lambda event: event.at)


def many_turns(turns: int, seed: int = 11) -> list[e.Event]:
    """The events of this many turns, counting both sides, and nothing else."""
    chance = random.Random(seed)
    events: list[e.Event] = [e.SessionStarted(0.0, "cascade", "whisper tiny.en", *BACKENDS[0], "thinking")]
    for number in range(1, turns // 2 + 1):
        at = number * ROUND_SECONDS
        question, answer = _words(chance, 14), _words(chance, 28)
        events += [
            e.UserStarted(at, number),
            e.TranscriptFinal(at + 4, number, f"Question {number}: {question}?", at + 4),
            e.UserEnded(at + 4, number, at + 4, "words"),
            e.OracleRequested(at + 4, number, number, *BACKENDS[0], question, True),
            e.OracleDelta(at + 5, number, answer),
            e.AssistantStarted(at + 5, number, number),
            e.AssistantSaid(at + 6, number, answer, number),
            e.OracleEnded(at + 6, number, "complete", 28),
            e.AssistantEnded(at + 9, number, False),
        ]
    return events


class _Round:
    """A question with its oracle revisions, and the answer."""

    def __init__(self, at: float, turn: int, revision: int, backend: int, chance: random.Random) -> None:
        self.at, self.turn, self.revision, self.backend = at, turn, revision, backend
        self._chance = chance
        self._out: list[e.Event] = []

    def make(self, swapped: bool) -> list[e.Event]:
        """The events, not in order."""
        at, turn, out = self.at, self.turn, self._out
        out.append(e.UserStarted(at + 0.3, turn))
        words = _words(self._chance, 16).split()
        for number in range(13):  # three partial transcripts a second
            heard = at + 0.6 + number / 3
            stable, unstable = " ".join(words[: number + 1]), " ".join(words[number + 1 : number + 3])
            out.append(e.TranscriptPartial(heard, turn, stable, unstable, heard - 0.1))
            if number % 3 == 2:
                self._request(heard, stable, final=False, seconds=0.9)
        out += [
            e.UserPaused(at + 4.6, turn, at + 4.5),
            e.TranscriptFinal(at + 4.9, turn, f"{' '.join(words)}?", at + 4.6),
            e.UserEnded(at + 4.9, turn, at + 4.6, "words"),
        ]
        self._request(at + 4.95, " ".join(words), final=True, seconds=1.6)
        speaking = self.revision
        out.append(e.AssistantStarted(at + 5.4, turn, speaking))
        for word in range(18):
            said = at + 5.6 + word * 0.31
            if swapped and word == 8:
                self.backend = 1 - self.backend
                out.append(e.BackendChanged(said, *BACKENDS[self.backend]))
                self._request(said, " ".join(words), final=True, seconds=1.0)
                speaking = self.revision
                out.append(e.AssistantCorrected(said + 0.1, turn, speaking, "corrected"))
            out.append(e.AssistantSaid(said + 0.2, turn, self._chance.choice(WORDS), speaking))
        out.append(e.AssistantEnded(at + 11.4, turn, False))
        return out

    def _request(self, at: float, words: str, *, final: bool, seconds: float) -> None:
        """Adds a revision of 20 to 60 words a second that is fed frame by frame; it supersedes the one before."""
        self.revision += 1
        number, out, backend = self.revision, self._out, BACKENDS[self.backend]
        pace = self._chance.uniform(20, 60)
        out.append(e.OracleRequested(at, number, self.turn, *backend, words, final))
        steps = int(seconds / 0.05)
        for step in range(steps):
            out.append(e.OracleDelta(at + 0.15 + step * 0.05, number, f" {_words(self._chance, round(pace * 0.05))}"))
        if number > 1:
            out.append(e.OracleSuperseded(at + 0.15, number - 1, number))
        over = at + 0.15 + seconds
        out += [e.OracleFed(at + 0.2 + frame * 0.08, number, 1, 12.0) for frame in range(int(seconds / 0.08) + 4)]
        out.append(e.OracleEnded(over, number, "complete" if final else "superseded", round(pace * seconds)))
        out.append(
            e.OracleCounted(over, number, *backend, 300, round(pace * seconds), 0, True, 0.0, 150.0, pace, 400.0)
        )


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=max(1, count)))
