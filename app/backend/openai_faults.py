"""User-facing messages for failed requests to OpenAI-compatible servers."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from app.backend.base import BackendError
from app.backend.dialect import OUT_OF_ROOM, Refusal
from app.backend.faults import Failure, Rule, is_connect_timeout, is_reset, match_rules, no_connection, refused_answer

TRANSIENT = {408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529}
"""HTTP statuses after which a retry may succeed."""
_TIMED_OUT = (408, 504, 522, 524)
TOO_LONG = re.compile(
    r"context.{0,12}(length|size|window)|too long|too many tokens|exceeds? .{0,30}context|token count.{0,30}exceeds",
    re.I,
)
CONTENT = re.compile(r"content.?(filter|policy|management)|safety|flagged", re.I)
TEMPLATE = re.compile(r"system role|system message|roles? must alternate|requires --\w", re.I)
"""Matches llama.cpp's refusals with status 500: errors of the chat template, and missing options of its command."""
NOT_LOADED = re.compile(r"no models? (is |are )?loaded", re.I)
"""Matches LM Studio's error if no model is loaded."""
_NO_ADDRESS = re.compile(r"unexpected endpoint", re.I)
"""Matches LM Studio's error for an address without /v1, which it reports with status 200."""
NO_MODEL = re.compile(
    r"model_not_found|not a valid model|(unknown|no such) model|invalid model name|model\b.{0,80}(not found|not exist)",
    re.I,
)
NO_MONEY = re.compile(r"insufficient.?(quota|credit|balance|funds)|credit balance", re.I)
KEY = re.compile(r"api[ _-]?key|unauthori[sz]ed|authentication|no_db_connection|proxy server token", re.I)
"""Matches errors about API keys. The last two alternatives match LiteLLM's errors for keys it didn't issue."""
LOADING = re.compile(r"loading|still starting|warming up", re.I)
_HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2", "h11", "anyio", "ssl")


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The server that a request was sent to. `where`: its name in messages; `known`: whether a provider runs it.
    `in_clear`: whether it is reached without encryption, beyond the own network.

    `name`: the same without its address. `model`: empty if the list of models was requested before one was chosen.
    """

    name: str
    where: str
    model: str
    has_key: bool
    known: bool
    in_clear: bool = False


class WebPage(Exception):
    """Raised if the server sent an HTML page instead of an answer."""


class UnreadableAnswer(Exception):
    """Raised if a response is not a valid answer according to OpenAI's API."""


class ErrorInAnswer(Exception):
    """Raised if a response with a success status contains an error. `body`: as in the exceptions of `openai`."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body


def explain(error: Exception, server: ServerInfo, *, mid_answer: bool = False) -> BackendError:
    """Converts an exception to a BackendError. Re-raises the exception if it is a bug in this app."""
    if isinstance(error, BackendError):
        return error
    if refused := refused_answer(error, server.where):
        return refused
    if not mid_answer and _cannot_connect(error):
        return no_connection(error, server.where)
    listing = not server.model
    failure = Failure(
        error, status_of(error), complaint_of(error), mid_answer, server.has_key, server.known, listing, server.in_clear
    )
    model = "its models" if listing else f"“{server.model}”"
    explained = match_rules(failure, _RULES, where=server.where, model=model, retry_after=retry_after(error))
    if explained is None:
        raise error
    if failure.status == 429 and not _no_money(failure):
        explained.retry_after = explained.retry_after or DEFAULT_REST_SECONDS
    return explained


DEFAULT_REST_SECONDS = 15.0
"""How long to wait after a refusal because of the rate limit if the server doesn't state it."""


def _cannot_connect(error: Exception) -> bool:
    import openai

    if isinstance(error, openai.APITimeoutError):
        return is_connect_timeout(error)
    return isinstance(error, openai.APIConnectionError) and not is_reset(error)


def _timed_out(f: Failure) -> bool:
    import openai

    return f.status in _TIMED_OUT or isinstance(f.error, openai.APITimeoutError | TimeoutError)


def _no_money(f: Failure) -> bool:
    return f.status == 402 or (f.status in (400, 403, 429) and bool(NO_MONEY.search(f.complaint)))


def _key_refused(f: Failure) -> bool:
    return f.status == 401 or (f.status in (400, 403) and bool(KEY.search(f.complaint)))


def _unknown_model(f: Failure) -> bool:
    if f.status == 404:
        return f.known or "model" in f.complaint
    return f.status in (400, 422) and bool(NO_MODEL.search(f.complaint))


def _told_in_stream(f: Failure) -> bool:
    import openai

    return isinstance(f.error, ErrorInAnswer | openai.APIError) and not is_reset(f.error)


def _unreadable(f: Failure) -> bool:
    return isinstance(f.error, json.JSONDecodeError | UnicodeDecodeError | UnreadableAnswer | RecursionError)


def _broken_off(f: Failure) -> bool:
    import openai

    # While streaming, the HTTP library's exceptions (connection reset, truncated message) aren't wrapped by `openai`.
    library = type(f.error).__module__.split(".")[0] in _HTTP_LIBRARIES
    return library or isinstance(f.error, OSError | ValueError | AttributeError | TypeError | openai.OpenAIError)


_RULES: tuple[Rule, ...] = (
    (
        lambda f: isinstance(f.error, WebPage),
        "setup",
        "{where} answers with a web page instead of a model's answer. Check the address: it often ends in /v1.",
    ),
    (
        lambda f: f.mid_answer,
        "broken",
        "{where} broke off in mid-answer. What was received is spoken; ask again, or choose another model.",
    ),
    (
        _timed_out,
        "timeout",
        "{where} did not answer in time. Check the network, try again, or choose another model.",
    ),
    (
        _no_money,
        "quota",
        "The account at {where} has no credit left, so it can't answer. Add credit there, or choose another model.",
    ),
    (
        lambda f: f.status == 403 and not KEY.search(f.complaint),
        "key",
        "{where} does not let this key use {model}, or not from where you are. Check what the key may do, or choose "
        "another model.",
    ),
    (
        lambda f: _key_refused(f) and not f.has_key and f.in_clear,
        "key",
        "{where} wants an API key, which isn't sent there unencrypted. Write https:// in its address, or choose "
        "another model.",
    ),
    (
        lambda f: _key_refused(f) and not f.has_key,
        "key",
        "{where} wants an API key. Enter one, or choose another model.",
    ),
    (_key_refused, "key", "{where} refuses the API key. Check the key, or choose another model."),
    (
        lambda f: (f.listing and f.status in (404, 405)) or bool(_NO_ADDRESS.search(f.complaint)),
        "setup",
        "{where} answers, but has no models at this address. Check the address: it often ends in /v1.",
    ),
    (
        lambda f: bool(NOT_LOADED.search(f.complaint)),
        "model",
        "{where} has no model loaded, so it can't answer. Load one there and ask again, or choose another model.",
    ),
    (_unknown_model, "model", "{where} does not know the model {model}. Choose another model."),
    (
        lambda f: f.status in (404, 405),
        "model",
        "{where} answers, but does not know the model {model}, or not at this address. Choose another model, or "
        "check the address: it often ends in /v1.",
    ),
    (
        lambda f: f.status == 429,
        "quota",
        "{where} takes no more requests just now (its limit is reached). Ask again {soon}, or choose another model.",
    ),
    (
        lambda f: f.status in (400, 413, 422) and bool(TOO_LONG.search(f.complaint)),
        "request",
        "This is more than {model} at {where} can read at once. Begin a new conversation, or choose another model.",
    ),
    (
        lambda f: f.status == 400 and bool(OUT_OF_ROOM.search(f.complaint)),
        "empty",
        "{where} used up its token limit for thinking. Ask again, or choose another model.",
    ),
    (
        lambda f: f.status in (400, 422) and bool(CONTENT.search(f.complaint)),
        "content",
        "{where} refuses this question because of its content rules. Rephrase it, or choose another model.",
    ),
    (
        lambda f: f.status in (400, 413, 422),
        "request",
        "{where} does not accept the request for {model} in any form. Choose another model.",
    ),
    (
        lambda f: f.status == 503 and bool(LOADING.search(f.complaint)),
        "server",
        "{where} is still loading its model, and takes long over it. Ask again when it is ready, or choose another "
        "model.",
    ),
    (
        lambda f: f.status in (503, 529),
        "server",
        "{where} is overloaded just now. Ask again {soon}, or choose another model.",
    ),
    (
        lambda f: f.status > 0,
        "server",
        "{where} has an internal error (status {status}). Try again, or choose another model.",
    ),
    (
        _told_in_stream,
        "server",
        "{where} reports an error in its answer. Ask again, or choose another model.",
    ),
    (
        _unreadable,
        "broken",
        "{where} answers in a way that this app can't read. Check that it speaks OpenAI's protocol, or choose another "
        "model.",
    ),
    (_broken_off, "broken", "{where} broke off before it answered. Ask again, or choose another model."),
)
"""Rules that map a failure to its message; the first match wins."""


def status_of(error: Exception) -> int:
    """Returns the HTTP status of an error, or 0 if it has none. For errors within a stream, reads it from the body."""
    status = getattr(error, "status_code", 0)
    body = getattr(error, "body", None)
    if not status and isinstance(body, dict):
        status = 529 if body.get("type") == "overloaded_error" else body.get("code")
    text = str(status or 0)
    return int(text) if text.isdecimal() and len(text) == 3 else 0


_COMPLAINT_FIELDS = ("param", "code", "type", "status", "message", "detail", "metadata")
"""Fields of an error that may contain a message. FastAPI uses `detail`; OpenRouter forwards the upstream provider's
message in `metadata`."""


def refusal_of(error: Exception) -> Refusal:
    """Returns what the server says about a request that it rejected."""
    body = _error_body(error)
    param = body.get("param") if isinstance(body, dict) else None
    return Refusal(complaint_of(error), param if isinstance(param, str) else "")


def is_loading(error: Exception) -> bool:
    """Returns whether the server rejected a request because it is still loading its model."""
    return status_of(error) == 503 and bool(LOADING.search(complaint_of(error)))


def rate_limit(headers: Mapping[str, str]) -> tuple[float | None, float]:
    """Returns the limit that a response states, in requests per minute, and the seconds to wait until the next one.

    None and 0 if it states none. Some providers state a limit a day under the same name, so the rate is computed from
    the time until what was used is available again.
    """
    limit, left = (_number(headers.get(f"x-ratelimit-{name}-requests")) for name in ("limit", "remaining"))
    reset = _seconds(headers.get("x-ratelimit-reset-requests") or "")
    rest = reset if left is not None and left <= 0 else 0.0
    if limit is None or left is None or left >= limit or reset <= 0:
        return None, rest
    return 60.0 * (limit - left) / reset, rest


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) else None


def _seconds(text: str) -> float:
    """Parses a duration such as “6m0s”, “1h2m3.5s”, “120ms” or “30”; returns 0 if it is malformed."""
    if (seconds := _number(text)) is not None:
        return seconds
    if not re.fullmatch(r"(\d{1,9}(\.\d{1,9})?(ms|[dhms]))+", text):
        return 0.0
    units = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum(float(n) * units[unit] for n, _, unit in re.findall(r"(\d+(\.\d+)?)(ms|[dhms])", text))


def complaint_of(error: Exception) -> str:
    """Returns the server's error message, which must only be matched against patterns and never shown."""
    body = _error_body(error)
    if not isinstance(body, dict):
        return str(body or "")[:2000]
    return " ".join(str(body.get(name) or "") for name in _COMPLAINT_FIELDS)[:4000]


def _error_body(error: Exception) -> Any:
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:  # Google wraps it in a list
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    return body


def retry_after(error: Exception) -> float:
    """Returns the delay in seconds that the server asked for; 0 if unspecified or malformed.

    Google and OpenRouter state it in the body of the error, OpenRouter as a time in milliseconds since 1970.
    """
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = str(headers.get(name) or "")
        if re.fullmatch(r"\s*\d{1,9}(\.\d*)?\s*", text):
            return float(text) * scale
        with contextlib.suppress(ValueError, TypeError, OverflowError, OSError):  # an HTTP date, possibly out of range
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    body = str(getattr(error, "body", ""))[:20_000]
    if found := re.search(r"retryDelay\W{1,6}(\d{1,9})", body):
        return float(found[1])
    found = re.search(r"X-RateLimit-Reset\W{1,6}(\d{13})\b", body, re.IGNORECASE)
    return max(0.0, float(found[1]) / 1000 - time.time()) if found else 0.0
