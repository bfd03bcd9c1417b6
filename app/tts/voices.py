"""Lists the voices in the catalogue and chooses the best one installed for a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from app.conversation.languages import AUTOMATIC, ENGLISH
from app.models.catalogue import DEFAULTS, Model, ModelVoice, models_of
from app.models.locations import is_here, model_path
from app.models.selection import Speed, load_speeds
from app.platform.installation import resource
from app.tts.base import VoiceError
from app.tts.child_voice import ChildVoice, Speaker

LEAST_RATE = 2.0
"""Minimum speed, in seconds of audio per second, for a voice to be chosen automatically. A slower one would fall behind
while sharing the CPU with a session."""

SAMPLES = {
    "en": "Hello. This is how I sound: I read what you ask for, and I stop when you speak.",
    "de": "Hallo. So klinge ich: Ich lese vor, wonach du fragst, und höre auf, wenn du sprichst.",
    "es": "Hola. Así sueno: leo lo que me pides, y me callo cuando tú hablas.",
    "fr": "Bonjour. Voici ma voix : je lis ce que tu demandes, et je m'arrête quand tu parles.",
    "it": "Ciao. Ecco la mia voce: leggo quello che chiedi, e mi fermo quando parli.",
    "pt": "Olá. Esta é a minha voz: leio o que você pede, e paro quando você fala.",
}
"""The text of the voice sample, keyed by language."""


@dataclass(frozen=True, slots=True)
class VoiceEntry:
    """A voice in the catalogue.

    `key`: the model's key, or MODEL/VOICE if the model has several voices; `language`: a two-letter code.
    """

    key: str
    label: str
    language: str
    model: Model
    voice: ModelVoice | None = None


def all_voices() -> list[VoiceEntry]:
    """Returns all voices in the catalogue. Those of the same language are sorted from best to worst."""
    found = []
    for model in models_of("tts"):
        if not model.voices:
            found.append(VoiceEntry(model.key, model.label, model.languages[0], model))
        for voice in model.voices:
            found.append(VoiceEntry(f"{model.key}/{voice.name}", voice.label, voice.language, model, voice))
    return found


def voices_of(language: str) -> list[VoiceEntry]:
    """Returns the voices for a language, best first."""
    return [voice for voice in all_voices() if voice.language == language]


def choose_voice(key: str = "", language: str = ENGLISH, here: Callable[[str], bool] = is_here) -> VoiceEntry:
    """Returns the voice `key`, or the best one for `language` if `key` is empty. `key` may also be just a model's key.

    `here`: returns whether a model is installed. Raises VoiceError if no suitable voice is available.
    """
    spoken = ENGLISH if language == AUTOMATIC else language
    if not key:
        return _best(spoken, here)
    model_key, _, name = key.partition("/")
    of_model = [voice for voice in all_voices() if voice.model.key == model_key]
    matching = [voice for voice in of_model if not name or voice.key == key]
    if not matching:
        keys = ", ".join(voice.key for voice in of_model or all_voices())
        raise VoiceError(f"There is no voice called “{key}”. There are: {keys}.")
    fitting = [voice for voice in matching if voice.language == spoken] or (matching if language == AUTOMATIC else [])
    if not fitting:
        others = ", ".join(voice.key for voice in voices_of(spoken)) or "none"
        raise VoiceError(
            f"{matching[0].label} doesn't speak the conversation's language ({spoken}). Voices that do: {others}."
        )
    voice = fitting[0]
    if not here(model_key):
        instead = next((other for other in voices_of(spoken) if here(other.model.key)), None)
        raise VoiceError(
            f"The voice {voice.label} is not on this machine, so it can't speak. Get it: models get {model_key}."
            + (f" Or choose {instead.label}, which is here." if instead else "")
        )
    return voice


def other_voices(voice: VoiceEntry, here: Callable[[str], bool] = is_here) -> list[VoiceEntry]:
    """Returns the best alternative to `voice` of each model that is installed, the best one first.

    A voice of the same language comes before those of others, one that is fast enough before a slow one, and one of
    another model before one whose files may be the cause of the problem.
    """
    fast = _fast(all_voices())

    def order(other: VoiceEntry) -> tuple[bool, bool, bool]:
        return other.language != voice.language, other not in fast, other.model.key == voice.model.key

    others = sorted((other for other in all_voices() if other.key != voice.key), key=order)
    best = {other.model.key: other for other in reversed(others)}
    return [other for other in others if best[other.model.key] is other and here(other.model.key)]


def other_voice(voice: VoiceEntry, here: Callable[[str], bool] = is_here) -> VoiceEntry | None:
    """Returns the best alternative to `voice` in the same language that is installed and fast enough, or None."""
    others = [other for other in other_voices(voice, here) if other.language == voice.language]
    return next(iter(_fast(others)), None)


def make_voice(
    key: str = "", language: str = ENGLISH, rate: float = 1.0, volume: float = 1.0, *, first: bool = False
) -> ChildVoice:
    """Creates the voice returned by `choose_voice`, without loading it. Raises VoiceError.

    `first`: whether another voice speaks if it can't be loaded.
    """
    chosen = choose_voice(key, language)
    others = [speaker_of(other) for other in other_voices(chosen)]
    return ChildVoice(speaker_of(chosen), rate, volume, others, first=first)


def make_sample(key: str, rate: float = 1.0, volume: float = 1.0) -> tuple[VoiceEntry, np.ndarray]:
    """Returns the voice `key` and its sample text as speech (float32, mono, 24 kHz). Blocking. Raises VoiceError."""
    chosen = choose_voice(key, AUTOMATIC)
    with ChildVoice(speaker_of(chosen), rate, volume) as voice:
        return chosen, voice.synthesize(SAMPLES[chosen.language]).result().samples


def speaker_of(entry: VoiceEntry) -> Speaker:
    """Returns the launch parameters of the child process that runs this voice."""
    file, voice = model_path(entry.model.key), entry.voice
    arguments = [str(file)]
    if voice is not None and entry.model.engine == "kokoro":
        arguments += [str(resource("voices", f"{voice.name}.f16")), voice.accent]
    elif voice is not None:
        arguments += [voice.accent]
    name = f"{entry.model.engine} {voice.name if voice is not None else file.stem}"
    module = f"app.tts.{entry.model.engine}_worker"
    return Speaker(name, module, tuple(arguments), file, voice.gain if voice is not None else 0.0, entry.label)


def _fast(voices: list[VoiceEntry]) -> list[VoiceEntry]:
    speeds = load_speeds()
    return [v for v in voices if v.model.key not in speeds or speeds[v.model.key].rate >= LEAST_RATE]


def _best(language: str, here: Callable[[str], bool]) -> VoiceEntry:
    known = voices_of(language)
    if not known:
        languages = ", ".join(sorted({voice.language for voice in all_voices()}))
        raise VoiceError(f"There is no voice for the language “{language}”. Languages with voices: {languages}.")
    present = [voice for voice in known if here(voice.model.key)]
    if present:
        return (_fast(present) or present)[0]
    if (own := DEFAULTS["tts"]) in {voice.model.key for voice in known}:
        return next(voice for voice in known if voice.model.key == own)  # loading it raises an error with instructions
    ways = " or ".join(dict.fromkeys(f"models get {voice.model.key}" for voice in known))
    raise VoiceError(f"No voice for the language “{language}” is on this machine. Get one: {ways}.")


def _is_quick(voice: VoiceEntry, speeds: Mapping[str, Speed]) -> bool:
    """Returns whether a voice is known to be fast enough, or not known yet."""
    speed = speeds.get(voice.model.key)
    return speed is None or speed.rate >= LEAST_RATE
