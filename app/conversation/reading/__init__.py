"""How written answers are read aloud: a grammar for all languages, and the words of each.

`markup.py` and `grammar.py` have the rules. `english.py`, `german.py`, `spanish.py`, `french.py` and `italian.py` fill
in `Reading`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from app.conversation.languages import module_of

Pairs = tuple[tuple[str, str], ...]
"""Regular expressions, each with its replacement."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The words by which `grammar.py` reads a language.

    - `number`: a regular expression for a number with its separators. `minus`, `plus`, …: the names of signs.
    - `own`: rules of this language alone, applied first.
    - `scales`: signs of thousands, millions, …, each with singular and plural; `scale_words`: the same written out.
      `currencies`: signs, each with singular, plural, and the form behind a word of scale if it is another one, but
      not behind those in `unlinked`.
    - `articles`: words before an amount that describes the next noun (“a $10 bill”), which `no_nouns` aren't.
    - `units`: signs, each with singular and plural; `square`, `cube`: forms of a unit of length. `per_what`: words that
      follow a slash. `measures`: units that need rules of their own.
    - `fractions`: names of fractions; `over`: the form of any other. `slashes`, `scores`, `times_of_day`: rules for
      what looks like a fraction, a range or a number. `ratings`, `rated`, `chances`: words next to a fraction that make
      it “8 out of 10” or “1 in 6”.
    - `comparisons`: signs, each with the verb between two terms and the words behind anything else.
    - `powers`: names of exponents; `power`: introduces any other.
    - `months`: in order; `date`, `short_date`: forms with {day}, {month} and {year}.
    - `abbreviations`: patterns and what is said; those in `sentence_ends` may end a sentence with their point.
    - `numerals`: patterns with NUMERAL for a Roman numeral and the forms for it, in which a NUL stands for what
      `numbered` returns for its value and the text that was found.
    - `actions`, `sounds`: patterns for what is only described, as in “*laughs*” and “[applause]”. `intervals`: words
      before brackets that are no citation; `citation_needed`: remarks in brackets.
    """

    number: str
    to: str
    and_: str
    or_: str
    per: str
    between: str
    minus: str
    plus: str
    plus_minus: str
    times: str
    times_more: str
    divided: str
    equals: str
    about: str
    is_about: str
    maps_to: str
    number_word: str
    paragraph: str
    percent: str
    permille: str
    degrees: str
    celsius: str
    fahrenheit: str
    pi: str
    root: str
    infinity: str
    approaches: str
    integral: str
    sum: str
    from_to: str
    scales: Mapping[str, tuple[str, str]]
    scale_words: tuple[str, ...]
    currencies: Mapping[str, tuple[str, ...]]
    units: Mapping[str, tuple[str, str]]
    per_what: tuple[str, ...]
    square: str
    cube: str
    fractions: Mapping[str, str]
    over: str
    out_of: str
    in_: str
    comparisons: Mapping[str, tuple[str, str]]
    powers: Mapping[str, str]
    power: str
    months: tuple[str, ...]
    date: str
    short_date: str
    weekdays: Pairs
    abbreviations: Pairs
    numbered: Callable[[int, str], str]
    numerals: Pairs
    actions: str
    sounds: str
    citation_needed: str
    own: Pairs = ()
    slashes: Pairs = ()
    scores: Pairs = ()
    times_of_day: Pairs = ()
    measures: Pairs = ()
    greek: Mapping[str, str] = field(default_factory=dict)
    sentence_ends: frozenset[str] = frozenset()
    unlinked: frozenset[str] = frozenset()
    intervals: str = "(?!)"
    ratings: str = "(?!)"
    rated: str = "(?!)"
    chances: str = "(?!)"
    articles: str = ""
    no_nouns: str = ""
    month_first: bool = False


@cache
def reading(code: str) -> Reading:
    """The words by which the language with a two-letter code is read; English if there are none for it."""
    found: Reading = import_module(f"app.conversation.reading.{module_of(code)}").READING
    return found
