"""Steps a small KAME by one frame on a processor, without torch: hears, steps the language model, speaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.frontend.kame.oracle_queue import OracleQueue
from app.frontend.kame.stream_engine import Column, EngineStep, TextTokens
from app.research.nano.hearing import Hearing
from app.research.nano.language_model import NanoModel
from app.research.nano.voice import CodeVoice


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn: temperatures (0: the likeliest) and how many of the likeliest take part."""

    temp: float = 0.0
    top_k: int = 50
    temp_text: float = 0.3
    top_k_text: int = 10


class NanoEngine:
    """One stream. All calls on one thread."""

    step_seconds = 0.0

    def __init__(
        self, model: NanoModel, hearing: Hearing, voice: CodeVoice, sampling: Sampling | None = None, seed: int = 0
    ) -> None:
        self._model, self._hearing, self._voice = model, hearing, voice
        self._sampling = sampling or Sampling()
        self._random = np.random.default_rng(seed)
        self._silenced = False
        self.silence = voice.silence
        self.context = model.context
        self.tokens = TextTokens(model.padding, model.start, frozenset({model.padding, model.end_padding}))
        self.oracle = OracleQueue(start=model.start, padding=model.padding, vocabulary=model.text_card)

    @property
    def steps(self) -> int:
        """Frames in the cache, until it is full."""
        return self._model.steps

    @property
    def full(self) -> bool:
        """Whether the cache holds as many frames as attention reaches back."""
        return self._model.steps >= self.context

    def restart(self) -> None:
        """Starts a fresh stream."""
        self.restart_language_model()
        self._hearing.restart()
        self._voice.restart()
        self._silenced = False

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model, while hearing and voice go on."""
        self._model.restart()
        self.oracle.clear()

    def force_silence(self) -> None:
        """Makes the model silent from now on."""
        self._silenced = True

    def release(self) -> None:
        """Lets the model choose its own tokens again."""
        self._silenced = False

    def step(self, samples: np.ndarray) -> EngineStep:
        """Takes one frame and gives one. `samples`: float32 `[1920]`, 24 kHz."""
        user, oracle = self._hearing.encode(samples), self.oracle.take()
        logits, out = self._model.step(user, oracle)
        if self._silenced:
            text, own = self.tokens.padding, self.silence
        else:
            sampling = self._sampling
            text = self._draw(logits, sampling.temp_text, sampling.top_k_text)
            own = tuple(
                self._model.codes(text, out, lambda of_code: self._draw(of_code, sampling.temp, sampling.top_k))
            )
        self._model.say(text, own)
        return EngineStep(self._voice.decode(own), Column(text, own, user, oracle))

    def encode(self, samples: np.ndarray) -> tuple[int, ...]:
        """Encodes a frame and returns the user's codes; the language model is not stepped."""
        return self._hearing.encode(samples)

    def replay(self, column: Column) -> None:
        """Steps the language model along known tokens, as if said and heard."""
        self._model.step(column.user, column.oracle)
        self._model.say(column.text, column.own)

    def _draw(self, logits: np.ndarray, temperature: float, count: int) -> int:
        """Draws one of the `count` likeliest tokens."""
        if temperature <= 0:
            return int(np.argmax(logits))
        best = np.argpartition(logits, -count)[-count:]
        weights = np.exp((logits[best] - logits[best].max()) / temperature)
        return int(self._random.choice(best, p=weights / weights.sum()))
