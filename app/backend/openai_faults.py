"""What goes wrong with a server that speaks OpenAI's protocol, as a sentence: read from its status and its words.

Those are only ever searched and never passed on: they may quote a key. Knows no network.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from app.backend.base import BackendError, chain_of, is_reset, no_connection

TRANSIENT = {408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529}
"""Statuses that may be gone when one asks again."""
_TIMED_OUT = (408, 504, 522, 524)
TOO_LONG = re.compile(
    r"context.{0,12}(length|size|window)|too long|too many tokens|exceeds? .{0,30}context|token count.{0,30}exceeds",
    re.I,
)
CONTENT = re.compile(r"content.?(filter|policy|management)|safety|flagged", re.I)
TEMPLATE = re.compile(r"system role|system message|roles? must alternate", re.I)
"""A chat template's refusals: llama.cpp reports them as faults of its own."""
NO_MODEL = re.compile(
    r"model_not_found|not a valid model|(unknown|no such) model|model\b.{0,80}(not found|not exist)", re.I
)
NO_MONEY = re.compile(r"insufficient.?(quota|credit|balance|funds)|credit balance", re.I)
_HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2", "h11", "anyio", "ssl")


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked: `where` names the server for people; `known`: it is a provider whose ways are known."""

    where: str
    model: str
    has_key: bool
    known: bool


class WebPage(Exception):
    """A page for people came, where an answer should."""


class Unreadable(Exception):
    """What came is no answer."""


class Told(Exception):
    """An error in an answer whose status was good; `body` as the library's errors have it."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body


def explain(error: Exception, asked: Asked, *, mid_answer: bool = False) -> BackendError:
    """A sentence for an error. The server's own words are left out: they may quote a key."""
    import openai

    where, status, complaint = asked.where, status_of(error), complaint_of(error)
    after = retry_after(error)
    soon = _soon(after)
    match error:
        case BackendError():
            return error
        case WebPage():
            return BackendError(
                f"{where} answers with a web page, not as a brain does. Check the address: it often ends in /v1.",
                "setup",
            )
        case _ if mid_answer:
            return BackendError(
                f"{where} broke off in mid-answer. What had come is spoken; ask again, or choose another brain.",
                "broken",
            )
        case openai.APITimeoutError() if any(type(e).__name__ == "ConnectTimeout" for e in chain_of(error)):
            return no_connection(error, where)
        case _ if status in _TIMED_OUT or isinstance(error, openai.APITimeoutError | TimeoutError):
            return BackendError(
                f"{where} did not answer in time. Check the network, try again, or choose another brain.", "timeout"
            )
        case _ if status == 402 or (status in (400, 403, 429) and NO_MONEY.search(complaint)):
            return BackendError(
                f"The account at {where} has no credit left, so it answers no more. Add credit there, or choose "
                "another brain.",
                "quota",
            )
        case _ if status in (401, 403) or (status == 400 and is_key(complaint)):
            if status == 403 and not is_key(complaint):
                return BackendError(
                    f"{where} does not let this key use “{asked.model}”, or not from where you are. Check what the "
                    "key may do, or choose another brain.",
                    "key",
                )
            if not asked.has_key:
                return BackendError(f"{where} wants an API key. Give the app one, or choose another brain.", "key")
            return BackendError(f"{where} refuses the API key. Check the key, or choose another brain.", "key")
        case _ if (status == 404 and ("model" in complaint or asked.known)) or (
            status in (400, 422) and NO_MODEL.search(complaint)
        ):
            return BackendError(f"{where} does not know the model “{asked.model}”. Choose another model.", "model")
        case _ if status in (404, 405):
            return BackendError(
                f"{where} answers, but does not know the model “{asked.model}”, or not at this address. Choose "
                "another model, or check the address: it often ends in /v1.",
                "model",
            )
        case _ if status == 429:
            return BackendError(
                f"{where} takes no more requests just now (its limit is reached). Ask again {soon}, or choose "
                "another brain.",
                "quota",
                retry_after=after,
            )
        case _ if status in (400, 413, 422) and TOO_LONG.search(complaint):
            return BackendError(
                f"This is more than “{asked.model}” at {where} can read at once. Begin a new talk, or choose "
                "another model.",
                "request",
            )
        case _ if status in (400, 422) and CONTENT.search(complaint):
            return BackendError(
                f"{where} refuses this question by its content rules. Ask in other words, or choose another brain.",
                "content",
            )
        case _ if status in (400, 413, 422):
            return BackendError(
                f"{where} does not accept the request for “{asked.model}”, however it is put. Choose another model.",
                "request",
            )
        case _ if status == 529 or status == 503:
            return BackendError(
                f"{where} is overloaded just now. Ask again {soon}, or choose another brain.",
                "server",
                retry_after=after,
            )
        case _ if status:
            return BackendError(
                f"{where} has a fault of its own (status {status}). Try again, or choose another brain.", "server"
            )
        case openai.APIConnectionError() if not is_reset(error):
            return no_connection(error, where)
        case Told() | openai.APIError() if not is_reset(error):  # an error inside of a stream
            return BackendError(f"{where} reports a fault in its answer. Ask again, or choose another brain.", "server")
        case json.JSONDecodeError() | UnicodeDecodeError() | Unreadable():
            return BackendError(
                f"{where} answers in a way that this app can't read. Check that it speaks OpenAI's protocol, or "
                "choose another brain.",
                "broken",
            )
        case OSError() | ValueError() | AttributeError() | TypeError() | openai.OpenAIError():
            return BackendError(f"{where} broke off before it answered. Ask again, or choose another brain.", "broken")
    if type(error).__module__.split(".")[0] in _HTTP_LIBRARIES:
        # The HTTP library's own errors (a connection reset, half a message) are no OpenAIError here.
        return BackendError(f"{where} broke off before it answered. Ask again, or choose another brain.", "broken")
    raise error


def status_of(error: Exception) -> int:
    """The status; one inside of a stream stands in the error's own words."""
    status = getattr(error, "status_code", 0)
    body = getattr(error, "body", None)
    if not status and isinstance(body, dict):
        status = body.get("code")
        if body.get("type") == "overloaded_error":
            status = 529
    text = str(status or 0)
    return int(text) if text.isdecimal() and len(text) == 3 else 0


_TOLD_IN = ("param", "code", "type", "status", "message", "detail", "metadata")
"""`detail` is FastAPI's; in `metadata` OpenRouter passes on what the provider behind it said."""


def complaint_of(error: Exception) -> str:
    """What a server says of a refusal: only ever searched, never shown."""
    body = getattr(error, "body", None)
    if isinstance(body, list) and body:  # Google's way
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return str(body or "")[:2000]
    return " ".join(str(body.get(name) or "") for name in _TOLD_IN)[:4000]


def is_key(complaint: str) -> bool:
    return bool(re.search(r"api[ _-]?key|unauthori[sz]ed|authentication", complaint, re.I))


def retry_after(error: Exception) -> float:
    """Seconds that the server asks to wait, 0 when it says nothing that can be read."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = str(headers.get(name) or "")
        if re.fullmatch(r"\s*\d{1,9}(\.\d*)?\s*", text):
            return float(text) * scale
        with contextlib.suppress(ValueError, TypeError, OverflowError, OSError):  # a date, of any year
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    found = re.search(r"retryDelay\W{1,6}(\d{1,9})", str(getattr(error, "body", ""))[:20_000])  # Google's way
    return float(found[1]) if found else 0.0


def _soon(after: float) -> str:
    if not after:
        return "in a while"
    if after < 100:
        return f"in {max(1, round(after))} seconds"
    return f"in {round(after / 60)} minutes" if after < 6000 else f"in {round(after / 3600)} hours"
