"""Turns Ollama's errors into sentences for the user."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.backend.address import without_secrets
from app.backend.base import BackendError
from app.backend.faults import Failure, Rule, is_connect_timeout, is_reset, match_rules, no_connection, refused_answer

DEFAULT_URL = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True)
class OllamaServer:
    """A server and the model that was asked for, as the user is shown them."""

    base_url: str = field(repr=False)
    model: str

    @property
    def address(self) -> str:
        """The address without secrets."""
        return without_secrets(self.base_url)

    @property
    def where(self) -> str:
        """The server's name, with its address unless it is the default."""
        return f"Ollama ({self.address})" if self.address != DEFAULT_URL else "Ollama"


def no_model(model: str) -> BackendError:
    """Returns the error for a model that the server does not have."""
    return BackendError(
        f"Ollama does not have the model “{model}”. Get it (“ollama pull {model}”), or choose another model.", "model"
    )


def status_of(error: Exception) -> int:
    """Returns the HTTP status of an exception of the package; 0 for others."""
    return getattr(error, "status_code", 0)


def explain(error: Exception, server: OllamaServer, *, mid_answer: bool = False) -> BackendError:
    """Returns the sentence for an exception. Raises the exception itself when it is a bug of this app."""
    if isinstance(error, BackendError):
        return error
    if refused := refused_answer(error, server.where):
        return refused
    failure = Failure(error, status_of(error), str(error).lower()[:2_000], mid_answer)
    if failure.status == 404 and "model" in failure.complaint:
        return no_model(server.model)
    if not mid_answer and _cannot_connect(error):
        if is_connect_timeout(error):
            return no_connection(error, server.where)
        return no_connection(error, f"{server.address} (Ollama)", "Start it (“ollama serve”)")
    explained = match_rules(failure, _RULES, where=server.where, model=server.model, address=server.address)
    if explained is None:
        raise error
    return explained


def _broken_off(error: Exception) -> bool:
    import httpx

    return isinstance(error, EOFError | httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)


def _cannot_connect(error: Exception) -> bool:
    import httpx

    if _broken_off(error) or isinstance(error, TimeoutError | httpx.TimeoutException):
        return isinstance(error, httpx.ConnectTimeout)
    return isinstance(error, httpx.HTTPError | OSError)


def _timed_out(f: Failure) -> bool:
    import httpx

    return f.status in (408, 504) or isinstance(f.error, TimeoutError | httpx.TimeoutException)


def _told_in_stream(f: Failure) -> bool:
    import ollama

    return isinstance(f.error, ollama.ResponseError)


_RULES: tuple[Rule, ...] = (
    (
        lambda f: f.mid_answer,
        "broken",
        "Ollama broke off in mid-answer. What had come is spoken; ask again, or choose another model.",
    ),
    (
        lambda f: f.status in (401, 403),
        "key",
        "{where} does not let this app in. Check what it requires, or choose another model.",
    ),
    (
        lambda f: f.status != 0 and "memory" in f.complaint,
        "model",
        "This machine has not enough memory for “{model}”. Close something, or choose a smaller model.",
    ),
    (
        lambda f: f.status == 429,
        "quota",
        "{where} has too much to do just now. Ask again in a while, or choose another model.",
    ),
    (
        lambda f: f.status in (503, 529),
        "server",
        "{where} has too much to do just now. Ask again in a while, or choose another model.",
    ),
    (
        _timed_out,
        "timeout",
        "{where} did not answer in time. Check whether it hangs, or choose another model.",
    ),
    (
        lambda f: f.status == 400,
        "request",
        "{where} does not accept the request for “{model}”. Choose another model.",
    ),
    (
        lambda f: f.status == 404,
        "setup",
        "At {address} is no Ollama, but something else. Check the address, or choose another model.",
    ),
    (
        lambda f: f.status > 0,
        "server",
        "{where} has a fault of its own (status {status}). Look into its log, or choose another model.",
    ),
    (
        _told_in_stream,
        "server",
        "{where} reports a fault. Look into its log, or choose another model.",
    ),
    (
        lambda f: _broken_off(f.error),
        "broken",
        "{where} broke off before it answered. Ask again, or choose another model.",
    ),
    (
        lambda f: isinstance(f.error, ValueError | TypeError | AttributeError | LookupError | RecursionError),
        "broken",
        "What answers at {address} does not speak as Ollama does. Check the address, or choose another model.",
    ),
)
"""The first one that applies counts."""


def explain_pull(error: Exception, server: OllamaServer) -> BackendError:
    """Returns the sentence for a download of `server.model` that failed."""
    model = server.model
    if isinstance(error, EOFError) or is_reset(error):
        return BackendError(
            f"Ollama broke off while it fetched “{model}”. What has come stays; choose it again to go on.", "broken"
        )
    if not _told_in_stream(Failure(error, 0, "")):
        return explain(error, server)
    text = str(error).lower()
    if status_of(error) in (405, 501) or (status_of(error) == 404 and "model" not in text):
        return BackendError(
            f"{server.where} fetches no models: it is another server with Ollama's protocol. Add “{model}” to it by "
            "its own means, or choose a model that it has.",
            "setup",
        )
    if "not exist" in text or "not found" in text or status_of(error) == 404:
        return BackendError(f"There is no model “{model}” to fetch. Check how it is written.", "model")
    if "space" in text:
        return BackendError(f"The disk is too full for “{model}”. Make room where Ollama keeps its models.", "setup")
    return BackendError(
        f"Ollama could not fetch “{model}”. Check the network; what has come stays, so try again.", "server"
    )
