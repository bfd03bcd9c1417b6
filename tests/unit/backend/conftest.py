"""Quick tests: short pauses between an adapter's tries, and the machine's certificates are read once, not 400 times."""

from __future__ import annotations

import functools
import ssl

import httpcore2
import pytest

from app.backend import attempts

_contexts = functools.cache(ssl.create_default_context)
_contexts2 = functools.cache(httpcore2.default_ssl_context)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.002)
    monkeypatch.setattr(ssl, "create_default_context", _contexts)
    monkeypatch.setattr(httpcore2, "default_ssl_context", _contexts2)
