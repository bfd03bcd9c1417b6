"""Finds where the words of a text are in its speech, from the lengths of the phonemes that it was spoken with."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

import numpy as np

_STRESS = "ˈˌ"


def word_ends(
    words: Sequence[str], phonemes: Sequence[str], ends: Sequence[int], pronounce: Callable[[str], str]
) -> list[int]:
    """Return the sample after each word. The arguments are those of `word_spans`."""
    return [end for _, end in word_spans(words, phonemes, ends, pronounce)]


def word_spans(
    words: Sequence[str], phonemes: Sequence[str], ends: Sequence[int], pronounce: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Return the first sample of each word, and the one after it.

    `phonemes`: those spoken, with the spaces and marks between words; `ends`: the sample after each of them.
    `pronounce` gives the phonemes of a word by itself. It is used where the text has more or fewer words than groups of
    phonemes: espeak-ng joins small words (“from the”) and splits numbers.
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
    """Whether it is a sound, or a sign that modifies the sound before it; not a space, a mark or a stress."""
    return unicodedata.category(phoneme[0])[0] in "LM" and phoneme not in _STRESS


def _sounding(phonemes: str) -> list[str]:
    return [phoneme for phoneme in phonemes if _sounds(phoneme)]


def _group_sizes(phonemes: Sequence[str]) -> list[int]:
    """The number of sounds between one space and the next, where there are any."""
    sizes = [0]
    for phoneme in phonemes:
        if phoneme == " ":
            sizes.append(0)
        else:
            sizes[-1] += _sounds(phoneme)
    return [size for size in sizes if size]


def _matched_sizes(spoken: list[str], alone: list[list[str]]) -> list[int]:
    """How many of the sounds `spoken` belong to each word; by itself, each has the sounds of `alone`."""
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
