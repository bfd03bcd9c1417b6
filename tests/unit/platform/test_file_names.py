"""Tests which file names Windows takes for devices."""

from __future__ import annotations

import pytest

from app.platform.files import is_device


@pytest.mark.parametrize("name", ["CON", "nul", "aux.json", "Com1.txt", "LPT².md", "prn .md", "NUL.tar.gz"])
def test_devices(name: str) -> None:
    assert is_device(name)


@pytest.mark.parametrize("name", ["", "CONsole", "com", "com10", "lpt.txt", "my aux", ".nul", "notes.con"])
def test_files(name: str) -> None:
    assert not is_device(name)
