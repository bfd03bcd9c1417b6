"""Clients of the library openai share one context, so that the machine's certificates are read once."""

import functools

import httpcore2
import pytest

_context = functools.cache(httpcore2.default_ssl_context)


def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets all clients share a context for as long as `monkeypatch` holds."""
    monkeypatch.setattr(httpcore2, "default_ssl_context", _context)
