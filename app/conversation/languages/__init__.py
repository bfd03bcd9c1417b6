"""What the app says and reads in each language: one module a language, all of the same form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from app.conversation.languages.form import Language

ENGLISH = "en"
AUTOMATIC = "auto"
"""In place of a language: the one that is heard. Until it is known, English."""
_MODULES: Mapping[str, str] = {"en": "english", "de": "german", "es": "spanish", "fr": "french", "it": "italian"}
CODES = tuple(_MODULES)


@cache
def language(code: str) -> Language:
    """Return the language of a two-letter code; English for one that there is no module for."""
    return import_module(f"app.conversation.languages.{_MODULES.get(code, 'english')}").LANGUAGE
