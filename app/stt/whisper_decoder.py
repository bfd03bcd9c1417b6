"""Sound to words with a Whisper model through faster-whisper, fast enough to do it over and over.

Whisper wants 30 s of sound; CTranslate2 also takes less. Sound plus 8 s of silence is as accurate as 30 s, and with
less silence the model begins to repeat itself. Only the first second of that silence is encoded with the sound; the
rest is what the encoder makes of silence, computed once. On 119 sentences of people on the telephone and 24 synthetic
questions tiny.en gets 22.3 and 2.1 % of the words wrong so, against 21.9 and 2.1 % with 8 s encoded, in 0.66 of the
processor time (0.61 where the sound breaks off, as in a look at somebody who speaks). With one second alone: 27.7 and
6.6 %.

Whisper may write down laughter and other sounds as subtitles do: of 302 sentences of 78 callers on the telephone that
changes no word, and a laugh is no longer heard as some words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.stt.hallucinations import spoken_words
from app.stt.level import levelled
from app.stt.sound_marks import CLOSINGS, OPENINGS, names_speech, without_sounds
from app.stt.whisper_library import faster_whisper

RATE = 16_000
PADDING_SECONDS = 1
"""Silence that is encoded behind the sound."""
SILENCE_SECONDS = 7
"""Encoded silence that follows."""
ENCODED_PER_SECOND = 50
"""Whisper's encoder gives out one vector for 20 ms."""
LONGEST_SECONDS = 22
"""Longest stretch that leaves room for the silence within Whisper's 30 s."""


class WhisperDecoder:
    """`model`: a folder with a CTranslate2 Whisper model. Not safe for two threads at once."""

    def __init__(self, model: Path, *, language: str = "en", threads: int = 1) -> None:
        # One thread: it's faster than two on two cores, and leaves one to everything else.
        make = faster_whisper().WhisperModel
        self._whisper = make(str(model), device="cpu", compute_type="int8", cpu_threads=threads)
        multilingual = self._whisper.model.is_multilingual
        self._tokenizer = faster_whisper("tokenizer").Tokenizer(
            self._whisper.hf_tokenizer, multilingual, task="transcribe", language=language
        )
        words_only = faster_whisper("transcribe").get_suppressed_tokens(self._tokenizer, [-1])
        marks = {self._tokenizer.encode(mark)[-1] for mark in (*OPENINGS, *CLOSINGS)}
        self._silence = np.asarray(self._whisper.encode(self._features(np.zeros(RATE * 30, np.float32))))
        self._suppressed = {"words": list(words_only), "sounds": [t for t in words_only if t not in marks]}

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32, 16 kHz, at most `LONGEST_SECONDS`.

        What was said before is not given as a prompt: with it the small models repeat themselves more.
        """
        samples = samples[-RATE * LONGEST_SECONDS :]
        seconds = len(samples) / RATE
        prompt = self._whisper.get_prompt(self._tokenizer, [], without_timestamps=True)
        encoded = self._encode(levelled(samples))
        text = self._generate(encoded, prompt, seconds, "sounds")
        if names_speech(text):
            text = self._generate(encoded, prompt, seconds, "words")  # it is to try its best
        return without_sounds(text)

    def _features(self, samples: np.ndarray) -> np.ndarray:
        return self._whisper.feature_extractor(samples.astype(np.float32), padding=0)

    def _encode(self, samples: np.ndarray) -> Any:
        """`samples` as the model's encoder gives them out, with silence behind them, which also stands where it would
        if it were encoded with them.
        """
        sound = self._whisper.encode(self._features(np.pad(samples, (0, RATE * PADDING_SECONDS))))
        encoded = np.asarray(sound)
        count = encoded.shape[1]
        silence = self._silence[:, count : count + SILENCE_SECONDS * ENCODED_PER_SECOND]
        return type(sound).from_array(np.ascontiguousarray(np.concatenate([encoded, silence], axis=1)))

    def _generate(self, encoded: Any, prompt: list[int], seconds: float, what: Literal["words", "sounds"]) -> str:
        """The text of what was encoded; "sounds": it may name sounds that are no words."""
        result = self._whisper.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            # People speak at most some 6 tokens a second: what is longer repeats itself.
            max_length=len(prompt) + 12 + int(seconds * 8),
            suppress_blank=True,
            suppress_tokens=self._suppressed[what],
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = [token for token in result.sequences_ids[0] if token < self._tokenizer.eot]
        text = self._tokenizer.decode(tokens)
        return spoken_words(text, seconds, result.no_speech_prob, result.scores[0])
