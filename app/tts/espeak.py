"""Converts text to phonemes using the espeak-ng bundled with Piper. GPL-licensed, so use it only in child processes."""

from __future__ import annotations

import os
from pathlib import Path

from app.tts.numerals import respelled


class Espeak:
    """The espeak-ng phonemizer. The constructor changes the working directory."""

    def __init__(self) -> None:
        from piper.phonemize_espeak import EspeakPhonemizer

        self._phonemizer = EspeakPhonemizer(enter_data_folder())

    def phonemize(self, voice: str, text: str) -> list[str]:
        """Returns one string of phonemes per sentence, including punctuation and the spaces between words.

        `voice`: an espeak-ng language code such as "en-us" or "de".
        """
        return ["".join(sentence) for sentence in self._phonemizer.phonemize(voice, respelled(text, voice))]


def enter_data_folder() -> Path:
    """Changes to the parent of espeak-ng's data directory and returns the data's path relative to it.

    On Windows, espeak-ng can't open a path with characters outside the system code page, such as a user name in another
    script, and it misinterprets other non-ASCII characters. The relative path is plain ASCII.
    """
    from piper.phonemize_espeak import ESPEAK_DATA_DIR

    os.chdir(ESPEAK_DATA_DIR.parent)
    return Path(ESPEAK_DATA_DIR.name)
