"""The languages of talks: phrases, word lists and readings, one module a language.

`form.py` defines the fields; `english.py`, `german.py`, `spanish.py`, `french.py` and `italian.py` fill them in. A new
language is a new module and an entry in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from app.conversation.languages.form import Language

ENGLISH = "en"
AUTOMATIC = "auto"
"""Instead of a language: the one that the user speaks, English until it is known."""
_MODULES: Mapping[str, str] = {"en": "english", "de": "german", "es": "spanish", "fr": "french", "it": "italian"}
CODES = tuple(_MODULES)


@cache
def language(code: str) -> Language:
    """The language with a two-letter code; English if there is no module for it."""
    return import_module(f"app.conversation.languages.{_MODULES.get(code, 'english')}").LANGUAGE
