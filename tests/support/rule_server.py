"""A server on loopback that refuses and answers as one kind of model on one kind of server does: see `provider_rules`.
The statuses and texts are those of the real servers; the comments name where they were found (a document, or a public
issue as repository#number)."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.provider_protocols import Call, Ollama, Speech, whole
from tests.support.wire import Reply, Wire

Body = Mapping[str, Any]
PLAIN, TOOL, LONG, AGAIN = "Where is it?", "What time is it there?", "Tell me all of it.", "Ask again and again."
"""The questions: answered with words, after two calls of the first tool, at length, and after a call in every round."""
ANSWER, LONG_ANSWER = ("Paris", " is", " it."), tuple(f"word{number} " for number in range(200))
THOUGHTS = (" Let", " me", " think.")
CALLS = ('{"zone": "Asia/Tokyo"}', '{"zone": "Zürich"}')
TOKENS, CACHED = (21, 30), 8
"""What each answer has cost, in and out."""


@dataclass(frozen=True)
class Rule:
    """Refuses a request for which `finds` returns something; `{}` in the message stands for what it returned. `body`:
    the complete error body, if the server doesn't use its protocol's usual form."""

    finds: Callable[[Body], Any]
    message: str = ""
    status: int = 400
    details: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def reply(self, speech: Speech, body: Body) -> Reply | None:
        found = self.finds(body)
        if found is None or found is False:
            return None
        if self.body:
            return Reply(self.status, body=self.body)
        return whole(self.status, speech.error(self.status, self.message.replace("{}", str(found)), self.details))


def by_effort(otherwise: int, **tokens: int) -> Callable[[Body], int]:
    """Returns how much a model thinks, by the effort that it is asked for."""
    return lambda body: tokens.get(body.get("reasoning_effort", ""), otherwise)


NO_THOUGHTS = by_effort(0)


@dataclass(frozen=True)
class Row:
    """One kind of model on one kind of server.

    - `thinks`: how many tokens the model thinks before it answers a request; they count towards its limit.
    - `thought`: the field in which thoughts are streamed; `content` for <think> tags, empty if they stay hidden.
    - `leaves_out`: what the server doesn't take, so that the app has to leave it out; it may leave out nothing else.
    - `loses`: the part of it that the user notices and the app can't know. It is shown once a second request of it is
      refused, which is the first or second question's; all else is refused only in the first question.
    - `refusals`: how many requests the first question may need in addition.
    - `loading`: how many requests are refused while the server loads its model.
    - `per_minute`: the rate limit.
    - `extra`: the app's extra parameters.
    - `capabilities`: what Ollama says about the model; None: an old server, which says nothing.
    """

    speech: Speech
    rules: tuple[Rule, ...] = ()
    thinks: Callable[[Body], int] = NO_THOUGHTS
    thought: str = ""
    leaves_out: str = ""
    loses: str = ""
    refusals: int = 0
    loading: int = 0
    per_minute: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    capabilities: tuple[str, ...] | None = ("completion", "tools", "thinking")

    @property
    def kind(self) -> str:
        """The app's provider for this server."""
        return self.speech.name if self.speech.name in ("openai", "anthropic", "google", "ollama") else "compatible"

    def reply(self, body: Body) -> Reply:
        """The refusal of the first rule that applies, or an answer."""
        refusals = (rule.reply(self.speech, body) for rule in self.rules)
        return next(filter(None, refusals), None) or self._answer(body)

    def _answer(self, body: Body) -> Reply:
        limit, thoughts = limit_of(body), self.thinks(body)
        calls, words = _content(body)
        room = max(0, limit - thoughts) if limit is not None else len(words)
        finish = "length" if room < max(1, len(words)) else "tool_calls" if calls and self.kind != "ollama" else "stop"
        words, calls = words[:room], calls if room else []
        fields: list[Mapping[str, Any]] = []
        if thoughts and self.thought == "content":
            words = ["<think>", *THOUGHTS, *(("</think>", "\n\n") if room else ()), *words]
        elif thoughts and self.thought:
            fields = [{self.thought: piece} for piece in THOUGHTS]
        counted = (body.get("stream_options") or {}).get("include_usage") or self.kind == "ollama"
        usage = (*TOKENS, CACHED) if counted else (0, 0, 0)
        return self.speech.answer(words, finish=finish, calls=calls, usage=usage, thoughts=fields)


class RuleServer(Wire):
    """`async with RuleServer(row) as server`: refuses and answers as the row says. `clock`: for its rate limit."""

    def __init__(self, row: Row, clock: Callable[[], float] = time.monotonic) -> None:
        speech = row.speech
        ollama = isinstance(speech, Ollama)
        super().__init__(standing=speech.standing(speech.model, capabilities=row.capabilities) if ollama else {})
        self._row = row
        self._limit = RateLimit(row.per_minute) if row.per_minute else None
        self._clock = clock

    def reply(self, body: Body) -> Reply:
        """What the next request gets."""
        row, (path, _, query) = self._row, self.seen[-1].path.partition("?")
        if len(self.seen) <= row.loading:  # mostlygeek/llama-swap#146
            return whole(503, row.speech.error(503, "Loading model", {"kind": "unavailable_error"}))
        if query != row.speech.path.partition("?")[2] or not path.endswith(("/chat/completions", "/api/chat")):
            return whole(404, {"error": {"code": "404", "message": "Resource not found"}})
        wait = self._limit.take(self._clock()) if self._limit else 0.0
        reply = _too_many(row, wait) if wait else row.reply(body)
        return replace(reply, headers={**reply.headers, **GROQ}) if self._limit else reply


class RateLimit:
    """A limit of requests in any 60 seconds; None: without one."""

    def __init__(self, per_minute: int | None) -> None:
        self._times: deque[float] = deque(maxlen=per_minute)

    def take(self, now: float) -> float:
        """Counts a request; returns 0, or for how many seconds it is refused."""
        wait = self._times[0] + 60 - now if len(self._times) == self._times.maxlen else 0.0
        if wait <= 0:
            self._times.append(now)
        return max(0.0, wait)


GROQ = {
    f"x-ratelimit-{name}": value
    for name, value in zip(
        "limit-requests remaining-requests reset-requests limit-tokens remaining-tokens reset-tokens".split(),
        "14400 14370 2m59.56s 18000 17997 7.66s".split(),
        strict=True,
    )
}
"""In every response of Groq: the day's requests and the minute's tokens (console.groq.com, rate limits). The limit of
requests per minute is in none of them."""


def _too_many(row: Row, seconds: float) -> Reply:
    """continuedev/continue#2343"""
    text = f"Rate limit reached for model `{row.speech.model}` in organization `org_1` on requests per minute (RPM): "
    text += f"Limit {row.per_minute}, Used {row.per_minute}, Requested 1. Please try again in {seconds:.0f}s."
    error = {"message": text, "type": "requests", "code": "rate_limit_exceeded"}
    return whole(429, {"error": error}, {"retry-after": f"{seconds:.0f}"})


def limit_of(body: Body) -> int | None:
    """The limit of an answer's tokens in a request."""
    options = {**body, **body.get("options", {})}
    return next((options[n] for n in ("max_tokens", "max_completion_tokens", "num_predict") if n in options), None)


def left_out(body: Body) -> set[str]:
    """What the app asks with where it can, and hasn't in this request."""
    there = {
        "limit": limit_of(body) is not None,
        "temperature": "temperature" in {**body, **body.get("options", {})},
        "usage": "stream_options" in body or "options" in body,
        "system": body["messages"][0]["role"] == "system",
        "tools": bool(body.get("tools")),
    }
    return {name for name, is_there in there.items() if not is_there}


def _content(body: Body) -> tuple[list[Call], list[str]]:
    """The calls and the words with which a model reacts to a request; after tools' results, it repeats the last."""
    asked = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    if body.get("tools") and body.get("tool_choice") != "none":
        name = body["tools"][0]["function"]["name"]
        if asked.endswith(TOOL) and not results:
            return [(f"call_{n}", name, arguments) for n, arguments in enumerate(CALLS)], ["One", " moment."]
        if asked.endswith(AGAIN):
            return [(f"call_{len(results)}", name, CALLS[0])], []
    if asked.endswith(LONG):
        return [], list(LONG_ANSWER)
    return [], [f"It is {results[-1]}."] if results else list(ANSWER)
