"""Translates the sentences of the core, such as error messages, into the window's language.

The core, which is everything outside the GUI, says everything in English, since its sentences also go to the log, the
command line and other processes. The window translates them when it shows them, by templates such as “{1} is damaged.”.
Names, numbers and the texts of other programs stay as they are, and so does what matches no template.
"""

from __future__ import annotations

import itertools
import json
import logging
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

PLACEHOLDER = re.compile(r"\{(\d+)\}")
LONGEST = 2_000
"""Longer texts aren't translated."""
MOST_PARTS, MOST_WITHIN = 16, 6
"""Maximum number of sentences that are translated as parts of a text, and of what fills a placeholder."""
DEEPEST = 3
"""How deep sentences are translated that fill placeholders of others. A server's text may look like many levels."""
QUOTED = "“{1}”"
"""The template of a name in quotation marks."""
_QUOTES = re.compile("“([^“”]*)”")
_BREAK = re.compile(r"(?<=[.?!”):])\s+|\n+")
"""Where one sentence may end and another begin."""

_log = logging.getLogger(__name__)


@cache
def pattern_of(template: str) -> re.Pattern[str]:
    """Returns a regular expression that matches what a template can be filled in to, with a group per placeholder."""
    written, seen = "", set[str]()
    for place, part in enumerate(PLACEHOLDER.split(template)):
        if place % 2 == 0:
            written += re.escape(part)
        else:
            written += f"(?P=p{part})" if part in seen else f"(?P<p{part}>.*?)"
            seen.add(part)
    return re.compile(written, re.S)


def letters_in(template: str) -> int:
    """Returns the number of letters outside the placeholders."""
    return sum(letter.isalpha() for letter in PLACEHOLDER.sub("", template))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Returns the template with its placeholders replaced by `values`, keyed by number."""
    return PLACEHOLDER.sub(lambda place: values[place[1]], template)


class Sentences:
    """The translations of one language, keyed by English template."""

    def __init__(self, table: dict[str, str]) -> None:
        self._quoted = table.get(QUOTED, QUOTED)
        self._entries = []
        for template, text in table.items():
            if template == QUOTED:
                continue
            parts = PLACEHOLDER.split(template)[::2]
            self._entries.append((parts[0], parts[-1], max(parts, key=len), letters_in(template), template, text))
        self._in_parts = lru_cache(2_000)(self._find_parts)

    def translate(self, text: str) -> str:
        """Returns a text with the sentences translated that a template matches."""
        return self._in_parts(text, DEEPEST)[1] if len(text) <= LONGEST else text

    def _find_parts(self, text: str, depth: int) -> tuple[int, str]:
        """Returns how much of a text of one or more sentences is known, in letters, and its translation."""
        most = MOST_PARTS if depth == DEEPEST else MOST_WITHIN
        breaks = [found.span() for found in itertools.islice(_BREAK.finditer(text), most - 1)]
        starts, ends = [0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(text)]
        best = [(0, "")]  # for the text before each of the starts
        for last, end in enumerate(ends):
            options = []
            for first in range(last, -1, -1):
                weight, translated = self._whole(text[starts[first] : end], depth)
                following = text[end : starts[last + 1]] if last + 1 < len(starts) else ""
                options.append((best[first][0] + weight, best[first][1] + translated + following))
            best.append(max(options, key=lambda option: option[0]))
        return best[-1]

    def _whole(self, sentence: str, depth: int) -> tuple[int, str]:
        """Returns the same for a text that one template matches as a whole, with or without its period."""
        known, translated = self._matched(sentence, depth)
        if known or not sentence:
            return known, translated
        if sentence.endswith("."):
            known, translated = self._matched(sentence[:-1], depth)
            return known, f"{translated}."
        known, translated = self._matched(f"{sentence}.", depth)
        return known, translated.removesuffix(".")

    def _matched(self, sentence: str, depth: int) -> tuple[int, str]:
        best = 0, sentence
        for head, tail, longest, weight, template, text in self._entries:
            if not (sentence.startswith(head) and sentence.endswith(tail) and longest in sentence):
                continue
            found = pattern_of(template).fullmatch(sentence)
            if found is None:
                continue
            values = {name[1:]: self._value(value, depth) for name, value in found.groupdict().items()}
            known = weight + sum(value[0] for value in values.values())
            if known > best[0]:
                best = known, filled(text, {name: value[1] for name, value in values.items()})
        return best

    def _value(self, value: str, depth: int) -> tuple[int, str]:
        """Returns the same for what fills a placeholder: a sentence, a part of one, or what stays as it is."""
        inner = value.strip()
        known, translated = self._in_parts(inner, depth - 1) if inner and depth else (0, "")
        if known:
            return known, value.replace(inner, translated)
        return 0, _QUOTES.sub(lambda quote: filled(self._quoted, {"1": quote[1]}), value)


_file: Path | None = None


def use_sentences(file: Path | None) -> None:
    """Sets the file with the translations; None for English. It is read when the first sentence is translated."""
    global _file
    _file = file


@lru_cache(1)
def _load(file: Path) -> Sentences:
    try:
        return Sentences(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, AttributeError) as error:
        _log.warning("the translations of sentences can't be read (%s)", error)
        return Sentences({})


def in_window_language(sentence: str) -> str:
    """Returns a text of one or more of the core's sentences in the window's language, as far as they are translated."""
    return sentence if _file is None or not sentence else _load(_file).translate(sentence)
