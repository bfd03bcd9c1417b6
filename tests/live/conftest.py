"""What the tests with real parts share."""

from collections.abc import Iterator

import pytest

from app.models.pool import MODELS


@pytest.fixture(scope="module")
def models_are_kept() -> Iterator[None]:
    """The talks that a module's tests have in this process load recogniser, voice and judge of turns once."""
    with MODELS.keeping():
        yield
