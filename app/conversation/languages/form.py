"""The form of a language's module: its phrases, its words, and how what is written is read aloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NUMBER = r"(?<![\w.,])(\d+(?:[.,]\d+)*)"
"""A number that is no part of a word, with points or commas in it as the language has them."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language of talks.

    `persona` and `small_persona`: the system prompt's first sentence, for a model of any size and for a small one;
    `answer_in` asks for the language behind a persona of the user's own. `spoken`: how an answer that is read aloud
    is written. `lengths`: what is asked of an answer's length. `openings`: short phrases that fill a wait, and commit
    to nothing. `bridges`: phrases that take back what was said. `backchannels`: words that only tell the speaker to
    go on. `commands`: words that always interrupt. `link`: what is said for one. `readings`: what a voice misreads and
    what it is to say, as pairs of a regular expression and its replacement.

    `abbreviations`: lower-case words whose point ends no sentence, besides single letters; `ordinals_with_point`: nor
    does that of a number of up to two digits.
    `phrase_starters`: words that often begin a phrase, before which a long clause is cut. `fillers`: words without
    which a sentence says the same. `sentence_starters`: further words that may begin a sentence and are no names, to
    lose their capital in mid-sentence. `stakes`: a regular expression for words that turn a statement into another
    one: numbers and negations.
    """

    code: str
    name: str
    persona: str
    small_persona: str
    answer_in: str
    spoken: str
    lengths: Mapping[str, str]
    openings: tuple[str, ...]
    bridges: tuple[str, ...]
    backchannels: frozenset[str]
    commands: frozenset[str]
    abbreviations: frozenset[str]
    phrase_starters: frozenset[str]
    fillers: frozenset[str]
    sentence_starters: frozenset[str]
    stakes: str
    link: str
    readings: tuple[tuple[str, str], ...]
    ordinals_with_point: bool = False
