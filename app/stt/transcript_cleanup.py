"""Cleans up a recogniser's text: hallucinated words, loops, and marks of sounds that are no words.

Trained on subtitles, Whisper takes noise for what often stands under a picture without speech: "Thank you.", "you". It
also writes human sounds as subtitles do, "(laughs)", "[coughing]" or "ha ha ha", unless it is kept from opening a
bracket, as it is by default; kept from it, it makes words up ("Thank you.", "I can't.").
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
"""English words that the model makes of noise so often that it finds them likely."""

OPENINGS = (" (", " [", " *")
"""What a mark starts with: after a space, so that "f(x)" stays as improbable as it is."""
CLOSINGS = (")", "]", "*")

_MARK = re.compile(r"(?<!\S)(?:\([^()]*\)|\[[^\[\]]*\]|\*\w[^*]*\*)[.,!?]*|^\s*(?:\([^()]*|\[[^\[\]]*|\*[^*]*)$")
"""Also one that was never closed, if nothing stands before it."""
_SPEECH_MARK = re.compile(r"speak|speech|talk|voice|word|foreign|whisper|un\w*int|inaud|indistinct|crosstalk", re.I)
_LAUGHTER = re.compile(r"\w{0,4}?(?:(?:ha+){2,}|(?:he+){2,}|(?:hi+){2,}|(?:ho+){2,})h?|hah?|heh")
_EXCLAIMED = re.compile(r"e?u+r?gh+|a+r*gh+|e+w+|a+h*choo+|ahem|phew+|hmph|oo+f")
"""How a groan, a sneeze or a cleared throat is spelt."""
_WORD = re.compile(r"[^\W_]+")


def spoken_words(text: str, seconds: float, no_speech: float, log_probability: float, *, english: bool = True) -> str:
    """`text` without hallucinated words, as decoded from `seconds` of sound.

    `no_speech`, `log_probability`: Whisper's own two measures of doubt. What is often made of noise is known for
    `english` only.
    """
    words = fold(text)
    if not words or no_speech > NO_SPEECH_ALONE:
        return ""
    if no_speech > NO_SPEECH and (log_probability < LEAST_LOG_PROBABILITY or (english and words in _OFTEN)):
        return ""
    return without_loops(text, seconds)


def without_masked_end(text: str) -> str:
    """`text` without a last word that is masked ("f*ck"): the model often writes one for a word that is cut in two."""
    head, _, last = text.rstrip().rpartition(" ")
    return head if re.search(r"\w\*+\w", last) else text


def without_loops(text: str, seconds: float) -> str:
    """`text` with each loop reduced to one repetition: a phrase that occurs more than `MOST_REPEATS` times in a row, or
    more than nobody could speak in `seconds`. What follows the loop stays.
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


def names_speech(text: str) -> bool:
    """Whether a mark in `text` says that somebody speaks ("[inaudible]", "(speaking in foreign language)")."""
    return any(_SPEECH_MARK.search(mark) for mark in _MARK.findall(text))


def without_sounds(text: str) -> str:
    """`text` without marks of sounds, and without sounds that are spelt as words ("Hahaha", "Ugh")."""
    return " ".join(word for word in _MARK.sub(" ", text).split() if not _is_spelt_sound(word))


def _is_spelt_sound(word: str) -> bool:
    parts = _WORD.findall(word.lower())
    return bool(parts) and all(_LAUGHTER.fullmatch(part) or _EXCLAIMED.fullmatch(part) for part in parts)
