"""User-facing messages for HTTP library exceptions and error responses.

The text of an error response is only matched against patterns and never shown, since it may quote an API key.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.backend.base import BackendError, FaultKind
from app.untrusted.limits import ProxyRefused, RedirectRefused, refusal_in


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request.

    - `status`: the HTTP status, or 0 if there was no response.
    - `complaint`: the server's error message.
    - `mid_answer`: whether part of the answer had already been received.
    - `has_key`: whether an API key was sent.
    - `known`: whether the server is a provider's own, whose behaviour is documented.
    - `in_clear`: whether no key may be sent, since the connection isn't encrypted.
    - `listing`: whether the request asked for the list of models, before one was chosen.
    """

    error: Exception
    status: int
    complaint: str
    mid_answer: bool = False
    has_key: bool = True
    known: bool = False
    listing: bool = False
    in_clear: bool = False


Rule = tuple[Callable[[Failure], bool], FaultKind, str]
"""A condition, the category of the failure, and a message template. Its placeholders are {status}, {soon} and the
`names` passed to `match_rules`."""


def match_rules(
    failure: Failure, rules: Sequence[Rule], *, retry_after: float = 0.0, **names: str
) -> BackendError | None:
    """Returns the error for the first matching rule, or None.

    `retry_after`: the number of seconds that the server asked to wait, for messages that contain {soon}.
    """
    for applies, kind, sentence in rules:
        if applies(failure):
            text = sentence.format(status=failure.status, soon=_soon(retry_after), **names)
            return BackendError(text, kind, retry_after=retry_after if "{soon}" in sentence else 0.0)
    return None


def refused_answer(error: BaseException, where: str) -> BackendError | None:
    """Returns the error if a response exceeds the app's limits or redirects to another server, otherwise None."""
    refusal = refusal_in(error)
    if isinstance(refusal, RedirectRefused):
        return BackendError(
            f"{where} redirects to another server ({refusal.to}), which gets neither your words nor your key. If you "
            "want to use that server, enter its address; or choose another model.",
            "setup",
        )
    if isinstance(refusal, ProxyRefused):
        return BackendError(
            f"The way to {where} leads through {refusal.proxy}, a proxy of a kind that can't be used. Name an HTTP "
            "proxy in this machine's proxy settings, take the server out of them (NO_PROXY), or choose another model.",
            "setup",
        )
    if refusal is not None:
        return BackendError(
            f"What {where} sends is not accepted: {refusal}. Check its address, or choose another model.", "broken"
        )
    return None


def _soon(after: float) -> str:
    if not after:
        return "in a while"
    if after < 100:
        return f"in {max(1, round(after))} seconds"
    return f"in {round(after / 60)} minutes" if after < 6000 else f"in {round(after / 3600)} hours"


@contextmanager
def without_cause() -> Iterator[None]:
    """Strips the cause and context from any BackendError raised in the block, since they may quote the API key."""
    try:
        yield
    except BackendError as error:
        error.__cause__ = error.__context__ = None
        raise


def chain_of(error: BaseException | None) -> list[BaseException]:
    """Returns an exception followed by its chain of causes and contexts, at most 12 exceptions in all."""
    out: list[BaseException] = []
    while error is not None and len(out) < 12:
        out.append(error)
        error = error.__cause__ or error.__context__
    return out


def is_reset(error: BaseException) -> bool:
    """Returns whether an established connection was lost, in which case a retry may succeed."""
    return any(
        isinstance(e, ConnectionResetError | BrokenPipeError)
        or type(e).__name__ in ("ReadError", "RemoteProtocolError", "WriteError")
        for e in chain_of(error)
    )


def is_connect_timeout(error: BaseException) -> bool:
    """Returns whether establishing the connection timed out."""
    return any(type(e).__name__ == "ConnectTimeout" for e in chain_of(error))


def no_connection(error: BaseException, where: str, start: str = "Start it") -> BackendError:
    """Returns the error for a failed connection attempt. `start`: an instruction for starting the server."""
    chain = chain_of(error)
    text = " ".join(str(e) for e in chain).lower()
    if any(isinstance(e, ssl.SSLError) for e in chain) or "certificate" in text:
        sentence = (
            f"The connection to {where} is not safe: its certificate can't be trusted, or it does not speak TLS. "
            "Check the address and this machine's date, or choose another model."
        )
    elif any(isinstance(e, socket.gaierror) for e in chain) or "name or service" in text or "getaddrinfo" in text:
        sentence = f"The name of {where} can't be found. Check the address and the network, or choose another model."
    elif is_connect_timeout(error):
        sentence = (
            f"{where} can't be reached: nothing came back. Check the address and the network, or choose another model."
        )
    else:
        sentence = f"No server answers at {where}. {start}, check the address, or choose another model."
    return BackendError(sentence, "network")
