"""Turns what a user can put right, whatever part of the app found it, into a command's error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.session.errors import UserError


@contextmanager
def faults_as_sentences() -> Iterator[None]:
    """Within it, the errors that `app.main.USER_ERRORS` names become UserError."""
    from app.main import USER_ERRORS  # only now: a command that is not run imports none of the app's parts

    try:
        yield
    except USER_ERRORS as error:
        raise UserError(str(error)) from error
