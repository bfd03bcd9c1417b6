"""Tables of cases, with a row in a line."""

from typing import Any

import pytest


def cases(names: str, *rows: Any, **how: Any) -> pytest.MarkDecorator:
    """Runs a test once with each row; `names` are the parameters, with commas between them."""
    return pytest.mark.parametrize(names, rows, **how)
