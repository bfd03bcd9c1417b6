"""Decodes audio with a Whisper model through faster-whisper, fast enough for repeated passes.

Whisper expects 30 s of audio, but CTranslate2 accepts less. Audio plus 8 s of silence is as accurate as 30 s; with less
silence the model starts to repeat itself. Only the first second of the silence is encoded with the audio; the rest
comes from an encoding of silence that is computed once. On 119 telephone sentences and 24 synthetic questions, the word
error rate of tiny.en is then 22.3 % and 2.1 %, compared with 21.9 % and 2.1 % if all 8 s are encoded, at 0.66 times the
CPU time (0.61 if the audio breaks off mid-speech). With only one second of silence, it is 27.7 % and 6.6 %.

In English, Whisper may output laughter and other sounds as labels, the way subtitles do. On 302 sentences by 78
telephone callers, this changes no words, and laughter is no longer decoded as words. The labels are only known for
English, so in other languages they stay suppressed, which is Whisper's default.

The language of a session is detected from the recogniser's probabilities over successive passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.conversation.languages import CODES
from app.models.catalogue import models_of
from app.models.pool import MODELS, ON_CARD
from app.platform.supervision import CARD, CardBusyError
from app.stt.base import RATE, TranscriberError
from app.stt.cublas import load_cublas
from app.stt.loudness import levelled, voiced_seconds
from app.stt.transcript_cleanup import CLOSINGS, OPENINGS, names_speech, spoken_words, without_sounds
from app.stt.whisper_library import faster_whisper

FIRST, CLEARLY = 0.8, 0.9
"""Probability at which a language is adopted for the session, and at which another one replaces it. Measured with
Whisper base on the first 2 s of 34 human English sentences and of 16 German and 22 Spanish synthetic ones: on the
English ones, English gets 0.89 or more and no other language reaches 0.06; three of the others are mistaken for a third
language with 0.8 or more, but none on the first 3 s."""
LEAST_SECONDS = 1.4
"""Seconds of voice required to adopt a language, about as much as 2 s of speech contain. On the first second alone, one
in three Spanish sentences and two in three German ones are misidentified, so until then the most likely language is
used for transcription but not adopted."""


def answerable() -> frozenset[str]:
    """Returns the languages that both the app and a voice in the catalogue support; others can't be answered aloud."""
    return frozenset(language for model in models_of("tts") for language in model.languages).intersection(CODES)


class LanguageDetection:
    """Tracks which of `languages` is being spoken. `known` is empty until a language is detected."""

    def __init__(self, languages: frozenset[str]) -> None:
        self.known = ""
        self._languages = languages

    def update(self, probabilities: Mapping[str, float], seconds: float) -> str:
        """Adds the probabilities of a pass with `seconds` of voice and returns the language to transcribe it in."""
        among = {language: p for language, p in probabilities.items() if language in self._languages}
        total = sum(among.values())
        if total <= 0.0:
            return self.known
        likeliest = max(among, key=among.__getitem__)
        if seconds >= LEAST_SECONDS and among[likeliest] / total >= (CLEARLY if self.known else FIRST):
            self.known = likeliest
        return self.known or likeliest


PADDING_SECONDS = 1
"""Length of the silence that is encoded together with the audio."""
SILENCE_SECONDS = 7
"""Length of the precomputed silence encoding that is appended."""
ENCODED_PER_SECOND = 50
"""Whisper's encoder outputs one vector per 20 ms."""
LONGEST_SECONDS = 22
"""Maximum length of the audio, which leaves room for the silence within Whisper's 30 s."""
LARGE_BYTES = 200_000_000
"""Size above which a model runs on a GPU, if there is one. Whisper base has 145 MB."""
MEMORY_RAN_OUT = "out of memory", "CUBLAS_STATUS_ALLOC_FAILED"
"""What CTranslate2's errors say if the card's memory is full."""
TOKENS_PER_SECOND = {"en": 8}
"""Maximum output, keyed by language. English speech has at most about 6 tokens per second; more is repetition."""
TOKENS_PER_SECOND_ELSEWHERE = 12
"""The same for other languages, whose tokens are shorter."""


@dataclass(slots=True)
class LoadedWhisper:
    """A loaded, stateless model that several decoders can share.

    - `silence`: the encoder's output for 30 s of silence.
    - `notice`: why the model doesn't run on the graphics card although it should, as a sentence.
    - `broken`: whether a pass has failed. A graphics card that has failed once fails until the model is loaded again.
    """

    whisper: Any
    silence: np.ndarray
    notice: str = ""
    broken: bool = False

    def alive(self) -> bool:
        """Returns whether all passes so far have worked."""
        return not self.broken

    def close(self) -> None:
        """Unloads the model."""
        self.whisper.model.unload_model()


class WhisperDecoder:
    """A `Decoder` that runs `model`, a CTranslate2 Whisper model (its folder, or already loaded).

    `language`: a two-letter code, or "auto" to detect the language. The attribute then holds the detected language, or
    an empty string. An English-only model always decodes English. Raises ValueError if Whisper doesn't support the
    language.
    """

    def __init__(self, model: Path | LoadedWhisper, language: str = "en") -> None:
        self._loaded = load_whisper(model) if isinstance(model, Path) else model
        self._whisper, self._silence = self._loaded.whisper, self._loaded.silence
        multilingual = self._whisper.model.is_multilingual
        self._detection = LanguageDetection(answerable()) if multilingual and language == "auto" else None
        self.language = "" if self._detection is not None else language if multilingual else "en"
        self._prompts: dict[str, list[int]] = {}
        self.on_notice: Callable[[str], None] = lambda sentence: None
        """Called on any thread with a sentence for the user, if the model can't run on the graphics card."""
        tokenizer = self._tokenizer = self._make_tokenizer(self.language or "en")
        words_only = faster_whisper("transcribe").get_suppressed_tokens(tokenizer, [-1])
        marks = {tokenizer.encode(mark)[-1] for mark in (*OPENINGS, *CLOSINGS)}
        self._suppressed = {"words": list(words_only), "sounds": [t for t in words_only if t not in marks]}

    def decode(self, samples: np.ndarray) -> str:
        """Returns the words in the last `LONGEST_SECONDS` of `samples` (float32, 16 kHz).

        Previous words aren't used as a prompt, because that makes small models repeat themselves more. A pass that
        fails marks the model as broken.
        """
        notice, self._loaded.notice = self._loaded.notice, ""
        if notice:
            self.on_notice(notice)
        try:
            return self._decode(samples)
        except Exception:
            self._loaded.broken = True
            raise

    def alive(self) -> bool:
        """Returns whether the model still works."""
        return self._loaded.alive()

    def _decode(self, samples: np.ndarray) -> str:
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
                text = self._generate(encoded, language, seconds, "words")  # without labels, it decodes that speech
            text = without_sounds(text)
        self.language = language if self._detection is None else self._detection.known
        return text

    def close(self) -> None:
        """Unloads the model."""
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
        """Encodes `samples` and appends the encoding of silence for the positions after them."""
        encoded = _encoded(self._whisper, np.pad(samples, (0, RATE * PADDING_SECONDS)))
        count = encoded.shape[1]
        silence = self._silence[:, count : count + SILENCE_SECONDS * ENCODED_PER_SECOND]
        return _stored(np.concatenate([encoded, silence], axis=1))

    def _generate(self, encoded: Any, language: str, seconds: float, what: Literal["words", "sounds"]) -> str:
        """Returns the text of the encoded audio. `what`: "sounds" also permits labels of non-speech sounds."""
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
    """Creates a decoder for `model`, a CTranslate2 folder or a loaded model.

    Raises TranscriberError if Whisper doesn't support the language.
    """
    try:
        return WhisperDecoder(model, language)
    except ValueError as error:
        raise TranscriberError(
            f"Whisper doesn't know the language “{language}”. Name one by its two letters, as en or de."
        ) from error


def lend_decoder(lent: ExitStack, model: Path, language: str) -> WhisperDecoder:
    """Creates a decoder for a model borrowed from the pool until `lent` closes. Sessions share models, not decoders."""
    return open_decoder(lent.enter_context(MODELS.borrow("stt", _load_warm, model)), language)


def name_of(model: Path) -> str:
    """Returns the recogniser's name for reports."""
    # The bundled tiny.en is in a folder called "model".
    return "whisper " + ("tiny.en" if model.name == "model" else model.name.removeprefix("whisper-"))


def runs_on_card(model: Path) -> bool:
    """Whether to try a GPU first for the model in the folder `model`."""
    import ctranslate2

    return (model / "model.bin").stat().st_size > LARGE_BYTES and ctranslate2.get_cuda_device_count() > 0


def load_whisper(model: Path) -> LoadedWhisper:
    """Loads the model in the folder `model`, on a GPU if the model is large and CTranslate2 can use one.

    Otherwise the model runs on the CPU. If the card's memory runs out, the models that the pool keeps there for
    the next conversation are dropped, and the card is tried once more.
    """
    notice = ""
    if runs_on_card(model):
        loaded, why = _load_on_card(model)
        if loaded is None and any(sign in why for sign in MEMORY_RAN_OUT):
            for kind in ON_CARD:
                MODELS.drop(kind)
            loaded, why = _load_on_card(model)
        if loaded is not None:
            return loaded
        notice = f"Speech recognition can't use the graphics card ({why}), so it runs on the processor and is slower."
    loaded = _load_on(model, "cpu", "int8")
    loaded.notice = notice
    return loaded


def _load_on_card(model: Path) -> tuple[LoadedWhisper | None, str]:
    """Returns the model on the card, or why it can't be loaded there."""
    try:
        with CARD.work(name_of(model)):
            load_cublas()
            return _load_on(model, "cuda", "float16"), ""
    except CardBusyError:
        return None, "another model is still being loaded there"
    # Also raised on first use if CUDA's libraries are missing, and for GPUs without float16.
    except (RuntimeError, ValueError) as error:
        return None, (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _load_on(model: Path, device: str, precision: str) -> LoadedWhisper:
    # One thread is faster than two on two cores, and leaves a core for the rest of the app. Two passes may run in
    # parallel over the same weights.
    whisper = faster_whisper().WhisperModel(
        str(model), device=device, compute_type=precision, cpu_threads=1, num_workers=2
    )
    return LoadedWhisper(whisper, _encoded(whisper, np.zeros(RATE * 30, np.float32)))


def _load_warm(model: Path) -> LoadedWhisper:
    loaded = load_whisper(model)
    # The first pass is slow (buffers, caches), so it runs before the user speaks.
    WhisperDecoder(loaded)._decode(np.zeros(RATE, np.float32))
    return loaded


def _encoded(whisper: Any, samples: np.ndarray) -> np.ndarray:
    features = whisper.feature_extractor(samples.astype(np.float32), padding=0)
    return np.asarray(whisper.model.encode(_stored(features[None]), to_cpu=True))


def _stored(array: np.ndarray) -> Any:
    from ctranslate2 import StorageView

    return StorageView.from_array(np.ascontiguousarray(array))
