"""Drops the words that Whisper makes up where nobody speaks, and undoes the loops that it falls into.

Trained on subtitles, it takes noise for what often stands under a picture without speech: "Thank you.", "you".
"""

from __future__ import annotations

import re

from app.conversation.words import fold

NO_SPEECH, NO_SPEECH_ALONE = 0.5, 0.9
"""Whisper's probability that nobody speaks, above which unlikely words are dropped, and all words. Over 40 recordings
of real callers, whole and their first 1.5 s, it is at most 0.47, and over short words in a synthetic voice 0.35; over
50 pieces of room noise, coughs, laughter and hiss the median is 0.9."""
LEAST_LOG_PROBABILITY = -1.0
"""Mean log-probability of a token below which words are unlikely (OpenAI's own threshold). Over the same speech it is
at least -1.2, together with a `NO_SPEECH` below 0.2; in noise mostly below -1.5."""
FASTEST_SPEECH = 3.6
"""Words a second beyond which repeated phrases are the model's and not the speaker's (fast talk: 3 to 3.5)."""
MOST_REPEATS = 3
"""A word or phrase that is said more often in a row than this is a loop, however slow."""

_OFTEN = {
    ("thank", "you"),
    ("thank", "you", "very", "much"),
    ("thanks", "for", "watching"),
    ("thanks",),
    ("you",),
    ("bye",),
    ("the",),
    ("okay",),
    ("yeah",),
    ("yes",),
    ("oh",),
    ("so",),
    ("all", "right"),
    ("i'm", "sorry"),
}
"""What is made of noise in English so often that the model finds it likely."""


def spoken_words(text: str, seconds: float, no_speech: float, log_probability: float, *, english: bool = True) -> str:
    """`text` without what nobody said: as decoded from `seconds` of sound, with Whisper's own two doubts.

    What is often made of noise is known of `english` alone.
    """
    words = fold(text)
    if not words or no_speech > NO_SPEECH_ALONE:
        return ""
    if no_speech > NO_SPEECH and (log_probability < LEAST_LOG_PROBABILITY or (english and words in _OFTEN)):
        return ""
    return without_loops(text, seconds)


def without_masked_end(text: str) -> str:
    """`text` without a last word that is masked ("f*ck"): what the model takes many a word for that is cut in two."""
    head, _, last = text.rstrip().rpartition(" ")
    return head if re.search(r"\w\*+\w", last) else text


def without_loops(text: str, seconds: float) -> str:
    """A phrase that is said again and again is said once, where nobody could have spoken that much in `seconds`, or
    where nobody would: more than `MOST_REPEATS` times in a row. What follows the loop stays.
    """
    words = text.split()
    keys = [fold(word) for word in words]
    fast = len(words) > FASTEST_SPEECH * seconds
    for start in range(len(words)):
        for length in range(1, 1 + (len(words) - start) // 2):
            phrase = keys[start : start + length]
            end = start + length
            while end < len(words) and keys[end] == phrase[(end - start) % length]:
                end += 1
            repeats = (end - start) // length
            if repeats > MOST_REPEATS or (fast and repeats >= 2):
                return without_loops(" ".join([*words[: start + length], *words[end:]]), seconds)
    return " ".join(words)
