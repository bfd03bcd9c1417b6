"""Respells numerals that espeak-ng doesn't read as people do: years, decades, telephone numbers, addresses, full hours.

Read as a number, 1813 becomes “one thousand eight hundred thirteen”, 555-0123 “five hundred fifty-five dash zero one
two three”, and 12:00 “twelve zero zero”.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Words:
    """What a language says for the dot of an address, a plus sign, and a full hour, with a NUL for the hour."""

    dot: str
    plus: str
    full_hour: str


_WORDS = {
    "en": _Words("dot", "plus", "\0 o'clock"),
    "de": _Words("Punkt", "plus", "\0 Uhr"),
    "es": _Words("punto", "más", "\0"),
    "fr": _Words("point", "plus", "\0 heures"),
    "it": _Words("punto", "più", "\0"),
}

_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_TELEPHONE = re.compile(
    r"(?<![\w.,/:+-])(?:"
    r"\+\d{1,3}(?:[ /.-]?\(?\d+\)?)+"  # +44 20 7946 0958
    r"|\(?0\d{1,5}\)?(?:[ /-]\d{2,})+"  # 030 1234567
    r"|(?:1[ -])?\(?\d{3}\)?[ -]\d{3}-\d{4}|\d{3}-\d{4}|\d{10,}|0\d{6,}"
    r")(?![\w/:]|[.,]\d)"
)
_PAIRS = re.compile(r"0\d(?: \d\d){4}")
"""A French telephone number, which people read in pairs."""
_LEAST_DIGITS = 7
_GROUP = 4
"""Digits said without a pause."""

_HOUR = re.compile(r"(?<![\d:.,])(\d{1,2}):(0\d)(?![\d:])(\s?[ap]\.?m\b\.?)?", re.I)
_DECADE = re.compile(
    r"(?<![\d.,])(?:(1[1-9]|20)|['’]|(?<=\bthe )|(?<=\bhis )|(?<=\bher )|(?<=\btheir )|(?<=\bearly )|(?<=\blate )|"
    r"(?<=\bmid-))([1-9]0)['’]?s\b|(?<![\d.,])(1[1-9]|20)00['’]?s\b"
)
_TENS = "tens twenties thirties forties fifties sixties seventies eighties nineties".split()
_ENGLISH_YEAR = re.compile(
    r"(?:(?<=\bin )|(?<=\bIn )|(?<=\bof )|(?<=\bsince )|(?<=\bSince )|(?<=\byear ))(1[0-9])(\d\d)(?![\w]|[.,:]\d)"
    r"|(?<![\w.,:-])(1[0-9])(\d\d)(?!\w|[.,:]\d| [a-z]+s\b| percent\b)"
)
_GERMAN_YEAR = re.compile(r"(?<![\w.,:-])1([1-9])(\d\d)(?!\w|[.,:]\d)")
_GERMAN_HUNDREDS = "elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()


def respelled(text: str, language: str) -> str:
    """Returns a text with such numerals written as they are said.

    `language`: a code such as "en-us" or "de"; the text stays as it is in a language without rules.
    """
    words = _WORDS.get(language[:2])
    if words is None or not any(letter.isdigit() for letter in text):
        return text
    text = _ADDRESS.sub(lambda m: m[0].replace(".", f" {words.dot} "), text)
    text = _TELEPHONE.sub(_digits_of(words), text)
    text = _HOUR.sub(_hour_of(words, language[:2]), text)
    if language.startswith("en"):
        text = _DECADE.sub(_english_decade, text)
        text = _ENGLISH_YEAR.sub(lambda m: _english_year(m[1] or m[3], m[2] or m[4]), text)
    elif language.startswith("de"):
        text = _GERMAN_YEAR.sub(lambda m: f"{_GERMAN_HUNDREDS[int(m[1]) - 1]}hundert {m[2].lstrip('0')}".rstrip(), text)
    return text


def _digits_of(words: _Words) -> Callable[[re.Match[str]], str]:
    def read(m: re.Match[str]) -> str:
        if len(re.sub(r"\D", "", m[0])) < _LEAST_DIGITS or _PAIRS.fullmatch(m[0]):
            return m[0]
        groups = []
        for group in re.findall(r"\d+", m[0]):
            groups += [" ".join(group[at : at + _GROUP]) for at in range(0, len(group), _GROUP)]
        return (f"{words.plus} " if m[0].startswith("+") else "") + ", ".join(groups)

    return read


def _hour_of(words: _Words, language: str) -> Callable[[re.Match[str]], str]:
    def read(m: re.Match[str]) -> str:
        hour, minutes, half = m[1], m[2], m[3] or ""
        if minutes == "00":
            return f"{hour}{half}" if half and language == "en" else words.full_hour.replace("\0", hour) + half
        return f"{hour} oh {minutes[1]}{half}" if language == "en" else m[0]

    return read


def _english_decade(m: re.Match[str]) -> str:
    if m[3]:
        return f"{m[3]} hundreds" if m[3] != "20" else "2 thousands"
    return f"{m[1] or ''} {_TENS[int(m[2][0]) - 1]}".strip()


def _english_year(century: str, year: str) -> str:
    if year == "00":
        return f"{century} hundred" if century != "10" else "1000"
    return f"{century} oh {year[1]}" if year[0] == "0" else f"{century} {year}"
