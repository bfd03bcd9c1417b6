"""Reads questions with answers that are no facts, and common words: a model is to read more than numbers and names."""

from __future__ import annotations

import json
import re
from pathlib import Path

from app.models.errors import ModelError
from app.platform.resources import resource
from app.routing.classifier import TOKENIZER
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

LEAST_WORDS, MOST_WORDS = 3, 16
_NOT_SPOKEN = re.compile(r"[*_#\[\]{}<>/\\|=~^`\"()]")


def read_texts(path: Path) -> list[tuple[str, str]]:
    """Questions and the first sentences of their answers, those that can be spoken. Raises ModelError."""
    texts = []
    try:
        for entry in read_json_lines(path, CORPUS, CORPUS_LINE):
            if answer := _first_sentence(str(entry["a"])):
                texts.append((str(entry["q"]), answer))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f'{path} holds no lines like {{"q": …, "a": …}} ({type(error).__name__}: {error}).') from error
    return texts


def common_words() -> list[str]:
    """English words in lower case, the most common ones first: those of the router's vocabulary."""
    vocabulary = json.loads(resource("routing", TOKENIZER).read_text("utf-8"))["model"]["vocab"]
    return [word for word in vocabulary if word in ("a", "i") or (len(word) > 1 and word.isascii() and word.isalpha())]


def _first_sentence(text: str) -> str:
    """The first sentence, or nothing if it can't be spoken as it stands."""
    sentence = re.split(r"(?<=[.!?])\s", text.strip().strip('"*'))[0].strip().strip('"*')
    usable = sentence.isascii() and sentence[-1:] in tuple(".!?") and not _NOT_SPOKEN.search(sentence)
    return sentence if usable and LEAST_WORDS <= len(sentence.split()) <= MOST_WORDS else ""
