"""Removes hallucinated words, loops, and labels of non-speech sounds from a recogniser's output.

Trained on subtitles, Whisper turns noise into captions that often accompany scenes without speech: "Thank you.", "you".
It also transcribes human sounds the way subtitles do: "(laughs)", "[coughing]" or "ha ha ha". By default, opening
brackets are suppressed, which makes it invent words instead ("Thank you.", "I can't.").
"""

from __future__ import annotations

import re

from app.conversation.words import fold

NO_SPEECH, NO_SPEECH_ALONE = 0.5, 0.9
"""No-speech probabilities of Whisper above which unlikely words, or all words, are dropped. The probability is at most
0.47 on 40 recordings of real callers, whole and cut to 1.5 s, and at most 0.35 on short synthetic words. On 50 clips of
room noise, coughs, laughter and hiss, the median is 0.9."""
LEAST_LOG_PROBABILITY = -1.0
"""Mean log-probability per token below which words count as unlikely (OpenAI's threshold). On the same speech it is at
least -1.2, with a no-speech probability below 0.2; on noise it is mostly below -1.5."""
FASTEST_SPEECH = 3.6
"""Words per second above which repetitions are attributed to the model, not the speaker. Fast speech has 3 to 3.5."""
MOST_REPEATS = 3
"""A word or phrase repeated more often than this is a loop at any speaking rate."""

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
"""English words that the model hallucinates so often that it assigns them a high probability."""

OPENINGS = (" (", " [", " *")
"""Tokens that open a sound label. They include a space, so that brackets within words ("f(x)") stay suppressed."""
CLOSINGS = (")", "]", "*")

_MARK = re.compile(r"(?<!\S)(?:\([^()]*\)|\[[^\[\]]*\]|\*\w[^*]*\*)[.,!?]*|^\s*(?:\([^()]*|\[[^\[\]]*|\*[^*]*)$")
"""Matches sound labels, including an unclosed one if no text precedes it."""
_SPEECH_MARK = re.compile(r"speak|speech|talk|voice|word|foreign|whisper|un\w*int|inaud|indistinct|crosstalk", re.I)
_LAUGHTER = re.compile(r"\w{0,4}?(?:(?:ha+){2,}|(?:he+){2,}|(?:hi+){2,}|(?:ho+){2,})h?|hah?|heh")
_EXCLAIMED = re.compile(r"e?u+r?gh+|a+r*gh+|e+w+|a+h*choo+|ahem|phew+|hmph|oo+f")
"""Spellings of groans, sneezes and throat clearing."""
_WORD = re.compile(r"[^\W_]+")


def spoken_words(text: str, seconds: float, no_speech: float, log_probability: float, *, english: bool = True) -> str:
    """Returns `text` without hallucinated words.

    - `text`: the words decoded from `seconds` of audio.
    - `no_speech`: Whisper's no-speech probability.
    - `log_probability`: the mean log-probability per token.
    - `english`: whether to drop typical hallucinations as well, which are only known for English.
    """
    words = fold(text)
    if not words or no_speech > NO_SPEECH_ALONE:
        return ""
    if no_speech > NO_SPEECH and (log_probability < LEAST_LOG_PROBABILITY or (english and words in _OFTEN)):
        return ""
    return without_loops(text, seconds)


def without_masked_end(text: str) -> str:
    """Returns `text` without a masked last word ("f*ck"), which the model often produces for a word that is cut off."""
    head, _, last = text.rstrip().rpartition(" ")
    return head if re.search(r"\w\*+\w", last) else text


def without_loops(text: str, seconds: float) -> str:
    """Returns `text` with each loop reduced to one repetition, keeping the words after it.

    A loop is a phrase that occurs more than `MOST_REPEATS` times in a row, or at least twice if the text is too long to
    have been spoken in `seconds`.
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
    """Whether a label in `text` describes speech ("[inaudible]", "(speaking in foreign language)")."""
    return any(_SPEECH_MARK.search(mark) for mark in _MARK.findall(text))


def without_sounds(text: str) -> str:
    """Returns `text` without sound labels and without sounds spelt as words ("Hahaha", "Ugh")."""
    return " ".join(word for word in _MARK.sub(" ", text).split() if not _is_spelt_sound(word))


def _is_spelt_sound(word: str) -> bool:
    parts = _WORD.findall(word.lower())
    return bool(parts) and all(_LAUGHTER.fullmatch(part) or _EXCLAIMED.fullmatch(part) for part in parts)
