"""The language of a talk whose user lets the app find out: by what the recogniser takes each look's sound for."""

from __future__ import annotations

from collections.abc import Mapping

from app.models.catalogue import models_of

FIRST = 0.5
"""Probability from which a language is taken while none is known: it is likelier than all others together."""
CLEARLY = 0.9
"""Probability from which another language takes the place of the known one."""
LEAST_SECONDS = 1.0
"""Less speech tells little: until then the likeliest language is taken for the words, and not kept."""


def answerable() -> frozenset[str]:
    """The languages that some voice of the catalogue speaks: the others can't be answered in, so none is looked for."""
    return frozenset(language for model in models_of("tts") for language in model.languages)


class HeardLanguage:
    """Follows which language is spoken; `known` is empty until one was heard."""

    def __init__(self, languages: frozenset[str]) -> None:
        self.known = ""
        self._languages = languages

    def hear(self, probabilities: Mapping[str, float], seconds: float) -> str:
        """Take in what a look at `seconds` of speech makes likely, and return the language to write its words in."""
        among = {language: p for language, p in probabilities.items() if language in self._languages}
        total = sum(among.values())
        if total <= 0.0:
            return self.known
        likeliest = max(among, key=among.__getitem__)
        if seconds >= LEAST_SECONDS and among[likeliest] / total >= (CLEARLY if self.known else FIRST):
            self.known = likeliest
        return self.known or likeliest
