"""Test doubles that follow a script: what the user says, its transcript, and a voice of tones. Times are in session
seconds, so a simulated session is reproducible. Like the real parts, they count the samples that they get, and hear
nothing in frames of digital silence, which stand for what was lost."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.conversation.frame import SAMPLE_RATE, Frame, Position
from app.conversation.turns.voice import VoiceWindow
from app.stt.base import RATE, TranscriptUpdate
from app.stt.silero import VAD_RATE, WINDOW
from app.tts.base import Clip, VoiceError, place_words


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A turn in which the user says `words` at an even pace from `start` to `end`. `finished`: the probability,
    estimated from the audio, that the turn ends there. `hum`: it is a closed-mouth "mhm"."""

    start: float
    end: float
    words: str
    finished: float = 0.95
    hum: bool = False


class ScriptedVoiceActivity:
    """Detects voice as scripted, in windows of 512 samples at 16 kHz."""

    def __init__(self, script: list[ScriptedTurn]) -> None:
        self._script = script
        self._position = Position("scripted voice activity", VAD_RATE)
        self._rest: np.ndarray = np.zeros(0, np.float32)
        self._next = 0

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        chunk = _at_16_khz(self._position.take(frame))
        self._rest = np.concatenate([self._rest, chunk])
        start = self._position.count(len(chunk)) - len(self._rest)
        out = []
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            start += WINDOW
            end = round(start / VAD_RATE, 6)
            while self._next < len(self._script) and self._script[self._next].end + 1e-9 < end:
                self._next += 1
            near = self._script[self._next : self._next + 1] if window.any() else []
            turn = next((t for t in near if t.start < end), None)
            out.append(VoiceWindow(end, 0.9 if turn else 0.02, bool(turn and turn.hum)))
        return out


def _at_16_khz(samples: np.ndarray) -> np.ndarray:
    """Returns the samples at the rate of the recognisers, without filtering."""
    return samples[np.arange(len(samples) * RATE // SAMPLE_RATE) * 3 // 2]


class Opened:
    """A part that needs no opening or closing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


BLOCK_SECONDS = 0.08


class ScriptedTranscriber(Opened):
    """Reports the scripted words spoken so far, every `every` blocks of 80 ms, as words in `language`."""

    name = "scripted"

    def __init__(self, script: list[ScriptedTurn], *, every: int = 3, language: str = "en") -> None:
        self.language = language
        self.shed = 0
        self.on_update: Callable[[TranscriptUpdate], None] = lambda update: None
        self.on_finished: Callable[[int, float, float], None] = lambda turn, probability, end: None
        self.on_failure: Callable[[str], None] = lambda sentence: None
        self._script = script
        self._every = every
        self._position = Position("scripted recogniser", RATE)
        self._silences: list[tuple[float, float]] = []  # begins and ends of digital silence, in seconds
        self._open = 0
        self._from = 0.0
        self._told = ""

    @property
    def busy(self) -> bool:
        return False

    def push(self, frame: Frame, voiced: bool) -> None:
        samples = _at_16_khz(self._position.take(frame))
        before, now = self._position.counted / RATE, self._position.count(len(samples)) / RATE
        if not samples.any():
            self._silences.append((now - len(samples) / RATE, now))
        blocks = [block for block in range(round(before / BLOCK_SECONDS), int(now / BLOCK_SECONDS + 1e-6))]
        if not self._open or all(block % self._every for block in blocks):
            return
        words = self._words(now - BLOCK_SECONDS)
        text = " ".join(words)
        if words and text != self._told:
            self._told = text
            stable = " ".join(words[:-1])
            self.on_update(TranscriptUpdate(self._open, stable, words[-1], round(now, 6), language=self.language))

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        self._open, self._from, self._told = turn, at - 0.5, ""

    def pause(self, turn: int, speech_end: float) -> None:
        text = " ".join(self._words(speech_end + 0.05))
        self._told = text
        self.on_update(TranscriptUpdate(turn, text, "", speech_end + 0.1, settled=True, language=self.language))
        spoken = [t for t in self._script if t.end <= speech_end + 0.1]
        self.on_finished(turn, spoken[-1].finished if spoken else 0.1, speech_end)

    def resume(self, turn: int) -> None:
        self._open = turn

    def end(self, turn: int, speech_end: float) -> None:
        text = " ".join(self._words(speech_end + 0.05))
        self._open = 0
        end = speech_end + 0.1
        self.on_update(TranscriptUpdate(turn, text, "", end, settled=True, final=True, language=self.language))

    def discard(self, turn: int) -> None:
        self._open = 0

    def _words(self, until: float) -> list[str]:
        out: list[str] = []
        for turn in self._script:
            if turn.end < self._from or turn.start > until:
                continue
            words = turn.words.split()
            share = min(1.0, (until - turn.start) / (turn.end - turn.start))
            spoken = words[: int(share * len(words) + 1e-6)]
            each = (turn.end - turn.start) / max(1, len(words))
            out += [word for n, word in enumerate(spoken) if not self._is_silent(turn.start + (n + 0.5) * each)]
        return out

    def _is_silent(self, at: float) -> bool:
        return any(begin <= at < end for begin, end in self._silences)


SECONDS_PER_LETTER = 0.06


class ScriptedVoice(Opened):
    """Speaks in tones of 220 Hz. `fail_on`: a text that it can't speak. `spoken`: the texts so far."""

    name = "scripted"
    rate = volume = 1.0

    def __init__(self, *, fail_on: str = "") -> None:
        self.spoken: list[str] = []
        self._fail_on = fail_on

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        """A finished clip of 60 ms a letter."""
        self.spoken.append(text)
        future: Future[Clip] = Future()
        if self._fail_on and self._fail_on in text:
            future.set_exception(VoiceError("The scripted voice fails here, as its script says."))
            return future
        samples = round(len(text) * SECONDS_PER_LETTER * SAMPLE_RATE)
        t = np.arange(samples, dtype=np.float32) / SAMPLE_RATE
        tone = (0.2 * np.sin(2 * np.pi * 220 * t)).astype(np.float32)
        future.set_result(Clip(tone, place_words(text, samples)))
        return future
