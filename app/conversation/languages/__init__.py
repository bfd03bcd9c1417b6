"""The languages of conversations: phrases, word lists and readings, one module per language.

`Language` defines the fields; `english.py`, `german.py`, `spanish.py`, `french.py` and `italian.py` fill them in. A new
language is a new module and an entry in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

ENGLISH = "en"
AUTOMATIC = "auto"
"""Instead of a language: the one that the user speaks, English until it is known."""
_MODULES: Mapping[str, str] = {"en": "english", "de": "german", "es": "spanish", "fr": "french", "it": "italian"}
CODES = tuple(_MODULES)

NUMBER = r"(?<![\w.,])(\d+(?:[.,]\d+)*)"
"""A number that is not part of a word, with points or commas as the language has them."""

PROGRAMMING = frozenset("python javascript typescript java rust sql html css bash json yaml csv regex markdown".split())
"""Names that ask for code in every language."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language of conversations.

    `persona`, `small_persona`: the system prompt's first sentence, for a model of any size and for a small one;
    `answer_in` requests the language after a persona of the user's own. `spoken`: how to write an answer that is read
    aloud. `lengths`: instructions on an answer's length. `openings`, `longer_openings`: neutral words that fill a wait
    of half a second, and phrases that fill one of a second or more. `thinking`: says that the answer takes long because
    the model is thinking. `bridges`: phrases that correct what was said. `backchannels`: words that only encourage the
    speaker. `commands`: words that always interrupt. `waits`: phrases that, as the whole turn, ask the assistant to be
    silent and wait. `on_screen`: a whole sentence that is spoken in place of code, and of a table. `written`: words
    that ask for code or a table. `link`: spoken in place of a link. `material`: introduces documents in a prompt.
    `readings`: what a voice misreads and what it should say, as pairs of a regular expression and its replacement.

    `question_words`: words with which questions begin that aren't answered by yes or no. `copulas`: forms of "to be".
    `auxiliaries`: verbs that make a statement together with another one. `genitives`: prepositions after which a name
    follows, as in "the capital of". By these words, `app.conversation.speaking.restating` recognises how far an answer
    only restates its question.

    `abbreviations`: lower-case words whose full stop ends no sentence, besides single letters; `ordinals_with_point`:
    nor does that of a number of up to two digits. `phrase_starters`: words that often begin a phrase, before which a
    long clause is cut. `fillers`: words that add nothing to a sentence's meaning. `sentence_starters`: further words
    that may begin a sentence and are not names, so that they lose their capital in mid-sentence. `stakes`: a regular
    expression for words that change a statement's meaning: numbers and negations.
    """

    code: str
    name: str
    persona: str
    small_persona: str
    answer_in: str
    spoken: str
    lengths: Mapping[str, str]
    openings: tuple[str, ...]
    longer_openings: tuple[str, ...]
    thinking: str
    bridges: tuple[str, ...]
    backchannels: frozenset[str]
    commands: frozenset[str]
    waits: frozenset[str]
    question_words: frozenset[str]
    copulas: frozenset[str]
    auxiliaries: frozenset[str]
    genitives: frozenset[str]
    abbreviations: frozenset[str]
    phrase_starters: frozenset[str]
    fillers: frozenset[str]
    sentence_starters: frozenset[str]
    stakes: str
    on_screen: Mapping[str, str]
    written: frozenset[str]
    link: str
    material: str
    readings: tuple[tuple[str, str], ...]
    ordinals_with_point: bool = False


@cache
def language(code: str) -> Language:
    """The language with a two-letter code; English if there is no module for it."""
    return import_module(f"app.conversation.languages.{_MODULES.get(code, 'english')}").LANGUAGE
