"""The languages of conversations: phrases and word lists, one module per language.

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
    silent and wait. `asks_consent`: asks the user to allow a tool call, whose arguments are on the screen, with the
    tool's name in place of {}. `consents`: the phrases that, as the whole turn, allow it; `gives_consent` is the one
    that the window writes for a button. `repeats`: what it writes for the buttons that have an answer said again, said
    more slowly, or read on. `asks_title`: asks a model for the conversation's title. `agreed` confirms it, in two
    sentences, since the first is spoken once the second begins. `looking_up`: fills the wait for a tool. `on_screen`: a
    whole sentence that is spoken in place of code, and of a table. `written`: words that ask for code or a table.
    `link`: spoken in place of a link. `material`: introduces documents in a prompt, and `results` says in a prompt what
    the results of tools are.

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
    asks_consent: str
    consents: frozenset[str]
    gives_consent: str
    repeats: Mapping[str, str]
    asks_title: str
    agreed: str
    looking_up: str
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
    results: str
    ordinals_with_point: bool = False


def module_of(code: str) -> str:
    """The name of the modules for a two-letter code; English if there are none for it."""
    return _MODULES.get(code, "english")


@cache
def language(code: str) -> Language:
    """The language with a two-letter code; English if there is no module for it."""
    return import_module(f"app.conversation.languages.{module_of(code)}").LANGUAGE
