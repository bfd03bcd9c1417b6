"""Turns text into phonemes with the espeak-ng of Piper's package; under the GPL, so for child processes only."""

from __future__ import annotations

import os
from pathlib import Path


class Espeak:
    """espeak-ng. Its constructor changes the working folder."""

    def __init__(self) -> None:
        from piper.phonemize_espeak import EspeakPhonemizer

        self._phonemizer = EspeakPhonemizer(enter_data_folder())

    def phonemize(self, voice: str, text: str) -> list[str]:
        """Return the phonemes of each sentence, with its marks and with spaces between words, as one string each.

        `voice`: a language as espeak-ng names it, “en-us” or “de”.
        """
        return ["".join(sentence) for sentence in self._phonemizer.phonemize(voice, text)]


def enter_data_folder() -> Path:
    """Change to the folder that holds espeak-ng's data, and return the path of the data in it.

    On Windows espeak-ng can't open a file whose path has letters outside of the system's code page, such as a user's
    name in another script, and misreads all beyond ASCII. Relative to this folder the names are plain.
    """
    from piper.phonemize_espeak import ESPEAK_DATA_DIR

    os.chdir(ESPEAK_DATA_DIR.parent)
    return Path(ESPEAK_DATA_DIR.name)
