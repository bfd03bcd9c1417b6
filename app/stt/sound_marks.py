"""Human sounds in a recogniser's text: subtitles write them as "(laughs)", "[coughing]" or "ha ha ha".

Whisper was trained on subtitles and writes such marks by itself, unless it is kept from opening a bracket, as it is by
default; kept from it, it makes words up ("Thank you.", "I can't."). Pure text.
"""

from __future__ import annotations

import re

OPENINGS = (" (", " [", " *")
"""What a mark begins with: behind a space, so that "f(x)" stays as improbable as it is."""
CLOSINGS = (")", "]", "*")

_MARK = re.compile(r"(?<!\S)(?:\([^()]*\)|\[[^\[\]]*\]|\*\w[^*]*\*)[.,!?]*|^\s*(?:\([^()]*|\[[^\[\]]*|\*[^*]*)$")
"""Or one that was never closed, if nothing stands before it."""
_SPEECH_MARK = re.compile(r"speak|speech|talk|voice|word|foreign|whisper|un\w*int|inaud|indistinct|crosstalk", re.I)
_LAUGHTER = re.compile(r"\w{0,4}?(?:(?:ha+){2,}|(?:he+){2,}|(?:hi+){2,}|(?:ho+){2,})h?|hah?|heh")
_EXCLAIMED = re.compile(r"e?u+r?gh+|a+r*gh+|e+w+|a+h*choo+|ahem|phew+|hmph|oo+f")
"""How a groan, a sneeze or a cleared throat is spelt."""
_WORD = re.compile(r"[^\W_]+")


def names_speech(text: str) -> bool:
    """Whether a mark in `text` says that somebody speaks ("[inaudible]", "(speaking in foreign language)")."""
    return any(_SPEECH_MARK.search(mark) for mark in _MARK.findall(text))


def without_sounds(text: str) -> str:
    """The words of `text` alone: no marks of sounds, and none that are spelt as words ("Hahaha", "Ugh")."""
    return " ".join(word for word in _MARK.sub(" ", text).split() if not _is_spelt_sound(word))


def _is_spelt_sound(word: str) -> bool:
    parts = _WORD.findall(word.lower())
    return bool(parts) and all(_LAUGHTER.fullmatch(part) or _EXCLAIMED.fullmatch(part) for part in parts)
