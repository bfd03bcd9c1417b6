"""Locates the words of a text in its synthesised speech, using the durations of the phonemes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

import numpy as np

_STRESS = "ˈˌ"


def word_ends(
    words: Sequence[str], phonemes: Sequence[str], ends: Sequence[int], pronounce: Callable[[str], str]
) -> list[int]:
    """Returns the sample at which each word ends. The arguments are those of `word_spans`."""
    return [end for _, end in word_spans(words, phonemes, ends, pronounce)]


def word_spans(
    words: Sequence[str], phonemes: Sequence[str], ends: Sequence[int], pronounce: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Returns each word's half-open (start, end) range of samples.

    - `phonemes`: the synthesised phonemes, including the spaces and punctuation between words.
    - `ends`: the sample at which each phoneme ends.
    - `pronounce`: returns the phonemes of a word in isolation. Called only if the number of words differs from the
      number of phoneme groups, since espeak-ng joins short words ("from the") and splits numbers.
    """
    sounding = [index for index, phoneme in enumerate(phonemes) if _sounds(phoneme)]
    if not sounding:
        return [(last := int(ends[-1]) if len(ends) else 0, last)] * len(words)
    counts = _group_sizes(phonemes)
    if len(counts) != len(words):
        counts = _matched_sizes([phonemes[index] for index in sounding], [_sounding(pronounce(word)) for word in words])
    out: list[tuple[int, int]] = []
    spoken = 0
    for count in counts:
        first = sounding[min(spoken, len(sounding) - 1)]
        spoken += count
        end = int(ends[sounding[spoken - 1]]) if spoken else 0
        start = int(ends[first - 1]) if first else 0
        out.append((start if count else end, end))
    return out


def _sounds(phoneme: str) -> bool:
    """Whether `phoneme` is a phone or a modifier of the preceding one, not a space, punctuation or a stress mark."""
    return unicodedata.category(phoneme[0])[0] in "LM" and phoneme not in _STRESS


def _sounding(phonemes: str) -> list[str]:
    return [phoneme for phoneme in phonemes if _sounds(phoneme)]


def _group_sizes(phonemes: Sequence[str]) -> list[int]:
    """Returns the number of sounds in each space-separated group of phonemes, skipping empty groups."""
    sizes = [0]
    for phoneme in phonemes:
        if phoneme == " ":
            sizes.append(0)
        else:
            sizes[-1] += _sounds(phoneme)
    return [size for size in sizes if size]


def _matched_sizes(spoken: list[str], alone: list[list[str]]) -> list[int]:
    """Returns how many of the sounds in `spoken` belong to each word.

    `alone`: the sounds of each word pronounced in isolation.
    """
    expected = [sound for word in alone for sound in word]
    pairs = [(0, 0)]
    for block in SequenceMatcher(None, expected, spoken, autojunk=False).get_matching_blocks():
        pairs += [(block.a, block.b), (block.a + block.size, block.b + block.size)]
    pairs.append((len(expected), len(spoken)))
    borders = np.cumsum([0, *map(len, alone)])
    there, here = np.array(pairs).T
    places = np.interp(borders, there, here).round().astype(int)
    places[-1] = len(spoken)
    return np.diff(places).tolist()
