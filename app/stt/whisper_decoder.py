"""Decodes sound with a Whisper model through faster-whisper, fast enough to do it again and again.

Whisper expects 30 s of sound; CTranslate2 also takes less. Sound plus 8 s of silence is as accurate as 30 s, and with
less silence the model starts to repeat itself. Only the first second of that silence is encoded with the sound; the
rest is the encoder's result for silence, computed once. On 119 sentences of people on the telephone and 24 synthetic
questions tiny.en gets 22.3 and 2.1 % of the words wrong so, against 21.9 and 2.1 % with 8 s encoded, in 0.66 of the
processor time (0.61 where the sound breaks off, as in a pass while the user speaks). With one second alone: 27.7 and
6.6 %.

In English, Whisper may write laughter and other sounds as subtitles do: on 302 sentences of 78 callers on the telephone
that changes no word, and a laugh is no longer decoded as words. How it writes them is known for English only; in other
languages it is kept from doing so, as is Whisper's default.

Detects the language of a session from the recogniser's probabilities, pass after pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from app.conversation.languages import CODES
from app.models.catalogue import models_of
from app.models.pool import MODELS
from app.stt.base import RATE, TranscriberError
from app.stt.loudness import levelled, voiced_seconds
from app.stt.transcript_cleanup import CLOSINGS, OPENINGS, names_speech, spoken_words, without_sounds
from app.stt.whisper_library import faster_whisper

FIRST, CLEARLY = 0.8, 0.9
"""Probability from which a language is kept for the session, and from which another one replaces it. Whisper base on
the first two seconds of 34 sentences of people in English, 16 in German and 22 in Spanish by synthetic voices: 0.89 or
more for English, never 0.06 for another language; 3 of the others are taken for a third language with 0.8 or more. On
three seconds none is."""
LEAST_SECONDS = 1.4
"""So much voice is in two seconds of speech. On the first second one in three Spanish sentences and two in three
German ones are taken for another language: until then the likeliest is taken for the words, and not kept."""


def answerable() -> frozenset[str]:
    """The languages that the app and some voice of the catalogue speak: in others there could be no answer."""
    return frozenset(language for model in models_of("tts") for language in model.languages).intersection(CODES)


class LanguageDetection:
    """Follows which of `languages` is spoken; `known` is empty until one was detected."""

    def __init__(self, languages: frozenset[str]) -> None:
        self.known = ""
        self._languages = languages

    def update(self, probabilities: Mapping[str, float], seconds: float) -> str:
        """Take a pass's probabilities, over sound with `seconds` of voice; return the language to transcribe it in."""
        among = {language: p for language, p in probabilities.items() if language in self._languages}
        total = sum(among.values())
        if total <= 0.0:
            return self.known
        likeliest = max(among, key=among.__getitem__)
        if seconds >= LEAST_SECONDS and among[likeliest] / total >= (CLEARLY if self.known else FIRST):
            self.known = likeliest
        return self.known or likeliest


PADDING_SECONDS = 1
"""Silence that is encoded after the sound."""
SILENCE_SECONDS = 7
"""Encoded silence that follows."""
ENCODED_PER_SECOND = 50
"""Whisper's encoder gives one vector for 20 ms."""
LONGEST_SECONDS = 22
"""Longest stretch that leaves room for the silence within Whisper's 30 s."""
LARGE_BYTES = 200_000_000
"""Models beyond Whisper base (145 MB) run on a graphics card where there is one."""
TOKENS_PER_SECOND = {"en": 8}
"""People speak at most some 6 tokens of English a second: what is longer repeats itself."""
TOKENS_PER_SECOND_ELSEWHERE = 12
"""Other languages have shorter tokens."""


class LoadedWhisper(NamedTuple):
    """A loaded model without any state, so that decoders can share it."""

    whisper: Any
    silence: np.ndarray
    """The encoder's result for 30 s of silence."""

    def close(self) -> None:
        """Frees the model."""
        self.whisper.model.unload_model()


class WhisperDecoder:
    """Decodes with `model`: a folder with a CTranslate2 Whisper model, or one that is loaded. Not thread-safe.

    `language`: its two letters, or "auto" to detect it; afterwards that of the last words, or empty. An English-only
    model always decodes English. Raises ValueError for a language that Whisper doesn't know.
    """

    def __init__(self, model: Path | LoadedWhisper, *, language: str = "en", threads: int = 1) -> None:
        self._loaded = load_whisper(model, threads) if isinstance(model, Path) else model
        self._whisper, self._silence = self._loaded
        multilingual = self._whisper.model.is_multilingual
        self._detection = LanguageDetection(answerable()) if multilingual and language == "auto" else None
        self.language = "" if self._detection is not None else language if multilingual else "en"
        self._prompts: dict[str, list[int]] = {}
        tokenizer = self._tokenizer = self._make_tokenizer(self.language or "en")
        words_only = faster_whisper("transcribe").get_suppressed_tokens(tokenizer, [-1])
        marks = {tokenizer.encode(mark)[-1] for mark in (*OPENINGS, *CLOSINGS)}
        self._suppressed = {"words": list(words_only), "sounds": [t for t in words_only if t not in marks]}

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32, 16 kHz, at most `LONGEST_SECONDS`.

        The words before are not given as a prompt: with them the small models repeat themselves more.
        """
        samples = samples[-RATE * LONGEST_SECONDS :]
        seconds = len(samples) / RATE
        encoded = self._encode(levelled(samples))
        if self._detection is not None:
            found = self._whisper.model.detect_language(encoded)[0]
            language = self._detection.update({token[2:-2]: p for token, p in found}, voiced_seconds(samples))
        else:
            language = self.language
        if language != "en":
            text = self._generate(encoded, language, seconds, "words")
        else:
            text = self._generate(encoded, language, seconds, "sounds")
            if names_speech(text):
                text = self._generate(encoded, language, seconds, "words")  # it can decode that speech
            text = without_sounds(text)
        self.language = language if self._detection is None else self._detection.known
        return text

    def close(self) -> None:
        """Frees the model."""
        self._loaded.close()

    def _make_tokenizer(self, language: str) -> Any:
        return faster_whisper("tokenizer").Tokenizer(
            self._whisper.hf_tokenizer, self._whisper.model.is_multilingual, task="transcribe", language=language
        )

    def _prompt(self, language: str) -> list[int]:
        if language not in self._prompts:
            tokenizer = self._make_tokenizer(language)
            self._prompts[language] = self._whisper.get_prompt(tokenizer, [], without_timestamps=True)
        return self._prompts[language]

    def _encode(self, samples: np.ndarray) -> Any:
        """`samples` encoded, followed by encoded silence from the place that it would have behind them."""
        encoded = _encoded(self._whisper, np.pad(samples, (0, RATE * PADDING_SECONDS)))
        count = encoded.shape[1]
        silence = self._silence[:, count : count + SILENCE_SECONDS * ENCODED_PER_SECOND]
        return _stored(np.concatenate([encoded, silence], axis=1))

    def _generate(self, encoded: Any, language: str, seconds: float, what: Literal["words", "sounds"]) -> str:
        """The text of the encoded sound. `what` "sounds": it may name sounds that are no words."""
        prompt = self._prompt(language)
        result = self._whisper.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=len(prompt) + 12 + int(seconds * TOKENS_PER_SECOND.get(language, TOKENS_PER_SECOND_ELSEWHERE)),
            suppress_blank=True,
            suppress_tokens=self._suppressed[what],
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = [token for token in result.sequences_ids[0] if token < self._tokenizer.eot]
        text = self._tokenizer.decode(tokens)
        return spoken_words(text, seconds, result.no_speech_prob, result.scores[0], english=language == "en")


def open_decoder(model: Path | LoadedWhisper, language: str = "en") -> WhisperDecoder:
    """The decoder over the CTranslate2 folder `model`, or over one that is loaded.

    Raises TranscriberError for a language that Whisper doesn't know.
    """
    try:
        return WhisperDecoder(model, language=language)
    except ValueError as error:
        raise TranscriberError(
            f"Whisper doesn't know the language “{language}”. Name one by its two letters, as en or de."
        ) from error


def lend_decoder(lent: ExitStack, model: Path, language: str) -> WhisperDecoder:
    """The decoder over a model of the pool, which `lent` returns to it: sessions share models, but not decoders."""
    return open_decoder(
        lent.enter_context(MODELS.borrow("stt", _load_warm, model, close=LoadedWhisper.close)), language
    )


def name_of(model: Path) -> str:
    """The recogniser's name in reports."""
    # The packaged tiny.en lies in a folder called "model".
    return "whisper " + ("tiny.en" if model.name == "model" else model.name.removeprefix("whisper-"))


def runs_on_card(model: Path) -> bool:
    """Whether `model`, a folder, is tried on a graphics card first."""
    import ctranslate2

    return (model / "model.bin").stat().st_size > LARGE_BYTES and ctranslate2.get_cuda_device_count() > 0


def load_whisper(model: Path, threads: int = 1) -> LoadedWhisper:
    """Loads `model`, a folder: on a graphics card if it is large and there is one that CTranslate2 can use, else on the
    processor.
    """
    places = [("cpu", "int8")]
    if runs_on_card(model):
        places.insert(0, ("cuda", "float16"))
    for device, precision in places:
        try:
            # One thread: it's faster than two on two cores, and leaves one to the rest of the app.
            whisper = faster_whisper().WhisperModel(
                str(model), device=device, compute_type=precision, cpu_threads=threads
            )
            return LoadedWhisper(whisper, _encoded(whisper, np.zeros(RATE * 30, np.float32)))
        # Also where CUDA's libraries are missing, which shows at the first use, and where a card knows no float16.
        except (RuntimeError, ValueError):
            if device == "cpu":
                raise
    raise AssertionError


def _load_warm(model: Path) -> LoadedWhisper:
    loaded = load_whisper(model)
    # The first pass is slow (buffers, caches): it is made before the user speaks.
    WhisperDecoder(loaded).decode(np.zeros(RATE, np.float32))
    return loaded


def _encoded(whisper: Any, samples: np.ndarray) -> np.ndarray:
    features = whisper.feature_extractor(samples.astype(np.float32), padding=0)
    return np.asarray(whisper.model.encode(_stored(features[None]), to_cpu=True))


def _stored(array: np.ndarray) -> Any:
    from ctranslate2 import StorageView

    return StorageView.from_array(np.ascontiguousarray(array))
