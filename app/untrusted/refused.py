"""The error for input beyond a bound, and how to find it behind a library's own error."""

from __future__ import annotations


class Refused(ValueError):
    """Input that is not taken in. `str(error)` is a clause about the source, such as "it is longer than 4 MB"."""


class OtherVersion(Refused):
    """A file in the format `found` of another version of the app, while this one has the format `known`."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"another version of KAME has written it (in format {found}, and this one has format {known})")
        self.ending = f"version-{found}"
        """For the name of a file that is set aside."""


class RedirectRefused(Refused):
    """An answer that would send a request on to another server, which is given neither words nor keys.

    `to`: the scheme, host and port of that server.
    """

    def __init__(self, to: str) -> None:
        super().__init__(f"it sends this app on to another server ({to}), which is not followed")
        self.to = to


def refusal_in(error: BaseException | None) -> Refused | None:
    """Returns the refusal that an error is, or that it was raised from; None if there is none."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, Refused):
            return error
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup):
            found = next((one for inner in error.exceptions if (one := refusal_in(inner))), None)
            if found is not None:
                return found
        error = error.__cause__ or error.__context__
    return None
