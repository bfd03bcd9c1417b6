"""Functions that fail, in place of ones that work."""

from collections.abc import Callable
from typing import NoReturn


def raising(error: BaseException) -> Callable[..., NoReturn]:
    """Returns a function that accepts any arguments and raises `error`."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail
