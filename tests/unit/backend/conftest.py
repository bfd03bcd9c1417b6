"""Quick tests: short pauses between an adapter's tries, and the machine's certificates are read once, not 400 times."""

import pytest

from app.backend import attempts
from tests.support.certificates import read_once


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.002)
    monkeypatch.setattr(attempts, "LOAD_POLL_SECONDS", 0.01)
    read_once(monkeypatch)
