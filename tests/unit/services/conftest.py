"""Clients of servers read the machine's certificates once."""

import pytest

from tests.support.certificates import read_once


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    read_once(monkeypatch)
