"""Detects the language of a session from the recogniser's probabilities, pass after pass."""

from __future__ import annotations

from collections.abc import Mapping

from app.conversation.languages import CODES
from app.models.catalogue import models_of

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
