"""What real model servers refuse and how they answer: one row for each kind of model on a kind of server.

`RuleServer` enforces a row. Each rule has the status and the text that the real server sends; the comments name where
they were found (a document, or a public issue as repository#number).
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.provider_protocols import (
    Anthropic,
    Azure,
    Google,
    LlamaCpp,
    Ollama,
    OpenRouter,
    Speech,
    Vllm,
    whole,
)
from tests.support.wire import Reply, Wire

Body = Mapping[str, Any]
PLAIN, TOOL, LONG, AGAIN = "Where is it?", "What time is it there?", "Tell me all of it.", "Ask again and again."
"""The questions: answered with words, after a call of the first tool, at length, and after a call in every round."""
ANSWER = ("Paris", " is", " it.")
LONG_ANSWER = tuple(f"word{number} " for number in range(200))
LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Rule:
    """Refuses a request for which `finds` returns something; `{}` in the message stands for what it returned.

    `body`: the complete error body, if the server doesn't use its protocol's usual form.
    """

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
            return Reply(self.status, {"content-type": "text/plain"}, self.body)
        return whole(self.status, speech.error(self.status, self.message.replace("{}", str(found)), self.details))


@dataclass(frozen=True)
class Row:
    """One kind of model on one kind of server.

    - `thinks`: how many tokens the model thinks before it answers a request; they count towards its limit.
    - `thought`: the field in which thoughts are streamed; `content` for <think> tags, empty if they stay hidden.
    - `leaves_out`: what the server doesn't take, which the app therefore has to leave out; nothing else may be.
    - `refusals`: how many requests the first question may need in addition. The second one needs none.
    - `loading`: how many requests are refused while the server loads its model.
    - `per_minute`: the rate limit.
    - `extra`, `query`: the app's extra parameters, and the query of the server's address.
    - `capabilities`: what Ollama tells of the model; None: an old server, which tells nothing.
    - `fails`: the app's known faults, by question.
    """

    speech: Speech
    rules: tuple[Rule, ...] = ()
    thinks: Callable[[Body], int] = lambda body: 0
    thought: str = ""
    leaves_out: frozenset[str] | set[str] = frozenset()
    refusals: int = 0
    loading: int = 0
    per_minute: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    query: str = ""
    capabilities: tuple[str, ...] | None = ("completion", "tools", "thinking")
    fails: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The app's provider for this server."""
        return self.speech.name if self.speech.name in ("openai", "anthropic", "google", "ollama") else "compatible"

    def reply(self, body: Body) -> Reply:
        """The refusal of the first rule that applies, or an answer."""
        common = OLLAMA if self.kind == "ollama" else COMMON
        for rule in (*common, *self.rules):
            if refusal := rule.reply(self.speech, body):
                return refusal
        return self._answer(body)

    def _answer(self, body: Body) -> Reply:
        limit, thoughts = limit_of(body), self.thinks(body)
        call, words = _content(body)
        room = max(0, limit - thoughts) if limit is not None else len(words)
        words, cut = ([], "length") if room == 0 else (words[:room], "length" if room < len(words) else "")
        pieces = [" Let", " me", " think."] if thoughts else []
        fields: list[Mapping[str, Any]] = []
        if self.thought == "content" and pieces:
            closed = ["</think>", "\n\n"] if room else []
            words = ["<think>", *pieces, *closed, *words]
        elif self.thought:
            fields = [{self.thought: piece} for piece in pieces]
        calls = [call] if call and room else []
        wanted = (body.get("stream_options") or {}).get("include_usage") or self.kind == "ollama"
        finish = cut or ("tool_calls" if calls and self.kind != "ollama" else "stop")
        usage = (21, 30, 0) if wanted else (0, 0, 0)
        return self.speech.answer(words, finish=finish, calls=calls, usage=usage, thoughts=fields)


class RuleServer(Wire):
    """`async with RuleServer(row) as server`: refuses and answers as the row says. `clock`: for its rate limit."""

    def __init__(self, row: Row, clock: Callable[[], float] = time.monotonic) -> None:
        model = row.speech.model
        known = row.speech.standing(model, capabilities=row.capabilities) if isinstance(row.speech, Ollama) else {}
        super().__init__(standing=known)
        self.row = row
        self.limit = RateLimit(row.per_minute, clock) if row.per_minute else None

    def reply(self, body: Body) -> Reply:
        """What the next request gets."""
        if len(self.seen) <= self.row.loading:  # ggml-org/llama.cpp, tools/server/README
            return whole(503, self.row.speech.error(503, "Loading model", {"kind": "unavailable_error"}))
        if self.row.query not in self.seen[-1].path.partition("?")[2] or "?" in self.seen[-1].path.partition("?")[2]:
            return whole(404, {"error": {"code": "404", "message": "Resource not found"}})
        if self.limit is None:
            return self.row.reply(body)
        wait = self.limit.take()
        reply = self.limit.refusal(self.row.speech, wait) if wait else self.row.reply(body)
        return replace(reply, headers={**reply.headers, **self.limit.headers()})


class RateLimit:
    """A limit of requests in any 60 seconds. Groq's headers (console.groq.com, rate limits): `requests` are a day's."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._times: deque[float] = deque()

    def take(self) -> float:
        """Counts a request; returns 0, or for how many seconds it is refused."""
        now = self._clock()
        while self._times and now - self._times[0] >= 60:
            self._times.popleft()
        if len(self._times) >= self._per_minute:
            return 60 - (now - self._times[0])
        self._times.append(now)
        return 0.0

    def headers(self) -> dict[str, str]:
        """Of every response. Groq tells the day's requests and the minute's tokens, never the minute's requests."""
        return {
            "x-ratelimit-limit-requests": "14400",
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-reset-requests": "2m59.56s",
            "x-ratelimit-limit-tokens": "18000",
            "x-ratelimit-remaining-tokens": "17997",
            "x-ratelimit-reset-tokens": "7.66s",
        }

    def refusal(self, speech: Speech, seconds: float) -> Reply:
        """The 429 response (continuedev/continue#2343)."""
        used = f"Limit {self._per_minute}, Used {self._per_minute}, Requested 1"
        text = f"Rate limit reached for model `{speech.model}` in organization `org_1` on requests per minute (RPM): "
        text += f"{used}. Please try again in {seconds:.0f}s."
        error = {"message": text, "type": "requests", "code": "rate_limit_exceeded"}
        return whole(429, {"error": error}, {"retry-after": f"{seconds:.0f}"})


def limit_of(body: Body) -> int | None:
    """The limit of an answer's tokens in a request."""
    options = body.get("options") or {}
    return next((body[name] for name in LIMITS if name in body), options.get("num_predict"))


def left_out(body: Body) -> set[str]:
    """What the app asks with where it can, and hasn't in this request."""
    there = {
        "limit": limit_of(body) is not None,
        "temperature": "temperature" in body or "temperature" in body.get("options", ()),
        "usage": "stream_options" in body or "options" in body,
        "system": any(message["role"] == "system" for message in body["messages"]),
        "tools": bool(body.get("tools")),
    }
    return {name for name, is_there in there.items() if not is_there}


def _content(body: Body) -> tuple[tuple[str, str, str] | None, list[str]]:
    """The call or the words with which a model reacts to a request; after a tool's result, its words are repeated."""
    asked = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    may_call = body.get("tools") and body.get("tool_choice") != "none"
    if may_call and ((asked.endswith(TOOL) and not results) or asked.endswith(AGAIN)):
        return (f"call_{len(results)}", body["tools"][0]["function"]["name"], '{"zone": "Asia/Tokyo"}'), []
    if asked.endswith(LONG):
        return None, list(LONG_ANSWER)
    return None, [f"It is {results[-1]}."] if results else list(ANSWER)


# -- rules that are made of a parameter's name ------------------------------------------------------------------------


def unsupported(name: str, instead: str = "") -> Rule:
    """OpenAI's way to refuse a parameter (griptape-ai/ComfyUI-Griptape#312)."""
    text = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
    return Rule(lambda b: name in b or None, text, details={"param": name, "code": "unsupported_parameter"})


def efforts(*values: str) -> Rule:
    """OpenAI's way to refuse an effort (Kilo-Org/cloud#3807)."""
    listed = ", ".join(f"'{value}'" for value in values[:-1])
    text = "Unsupported value: 'reasoning_effort' does not support '{}' with this model. "
    text += f"Supported values are: {listed}, and '{values[-1]}'."
    details = {"param": "reasoning_effort", "code": "unsupported_value"}
    return Rule(lambda b: e if (e := b.get("reasoning_effort")) not in (None, *values) else None, text, details=details)


def unrecognized(name: str) -> Rule:
    """OpenAI's way to refuse what it doesn't know at all (umputun/tg-spam#304)."""
    return Rule(lambda b: name in b or None, f"Unrecognized request argument supplied: {name}")


def forbidden(name: str, status: int = 400) -> Rule:
    """The way of vLLM before 0.6.4, at its top level (modelscope/ms-agent#489)."""
    text = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted'}}]"
    return Rule(lambda b: name in b or None, text, status)


def by_effort(otherwise: int, **tokens: int) -> Callable[[Body], int]:
    """How much a model thinks, by the effort that it is asked for."""
    return lambda body: tokens.get(body.get("reasoning_effort", ""), otherwise)


def _orphan(body: Body) -> int | None:
    """The place of a tool's result without its call, or of a call without its result."""
    pending: set[str] = set()
    for place, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in pending:
                return place
            pending.discard(message["tool_call_id"])
        elif pending:
            return place
        pending |= {call["id"] for call in message.get("tool_calls") or ()}
    return len(body["messages"]) if pending else None


def _misshapen(body: Body) -> str | None:
    """The first thing in a request that isn't as OpenAI's reference has it."""
    for place, message in enumerate(body["messages"]):
        calls = message.get("tool_calls")
        if not isinstance(message.get("content"), str) and not calls:
            return f"messages[{place}].content"
        for call in calls or ():
            if call["type"] != "function" or not isinstance(json.loads(call["function"]["arguments"]), dict):
                return f"messages[{place}].tool_calls"
    for tool in body.get("tools") or ():
        if tool["type"] != "function" or not {"name", "description", "parameters"} <= set(tool["function"]):
            return "tools[0]"
    return "tools" if body.get("tools") == [] else None


def _empty(body: Body) -> int | None:
    return next((n for n, m in enumerate(body["messages"]) if m.get("content") == "" and m["role"] != "tool"), None)


def _out_of_turn(body: Body) -> bool:
    """Whether user and assistant don't alternate, or there is a system message; a tool's round doesn't count."""
    roles = [m["role"] for m in body["messages"] if m["role"] != "tool" and not m.get("tool_calls")]
    return any(role != ("user", "assistant")[n % 2] for n, role in enumerate(roles))


def _results(body: Body) -> bool:
    return any(message["role"] == "tool" for message in body["messages"])


def _without(body: Body, *path: str) -> int | None:
    """The place of an assistant's message of this turn with tool calls that lack a field; `path` leads to it."""
    for place, message in enumerate(body["messages"]):
        if message.get("tool_calls"):
            holders = message["tool_calls"] if path[0] == "extra_content" else [message]
            value: Any = holders[0]
            for name in path:
                value = (value or {}).get(name)
            if not value:
                return place
    return None


COMMON = (
    Rule(_misshapen, "Invalid type for '{}'."),
    Rule(
        _orphan,
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        details={"param": "messages.[3].role"},
    ),
)
"""What every server with OpenAI's protocol refuses."""
OLLAMA = (
    Rule(
        lambda b: any(isinstance(c["function"]["arguments"], str) for m in b["messages"] for c in m.get("tool_calls", ()))
        or None,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments",
    ),
    Rule(  # ollama/ollama, api/types.go
        lambda b: t if (t := b.get("think")) not in (None, True, False, "low", "medium", "high") else None,
        'invalid think value: "{}" (must be "high", "medium", "low", true, or false)',
    ),
)
INSTEAD = " Use 'max_completion_tokens' instead."
TEMPERATURE = Rule(  # BeehiveInnovations/pal-mcp-server#78
    lambda b: t if (t := b.get("temperature", 1)) != 1 else None,
    "Unsupported value: 'temperature' does not support {} with this model. Only the default (1) value is supported.",
    details={"param": "temperature", "code": "unsupported_value"},
)
SYSTEM = Rule(  # coleam00/Archon#12
    lambda b: b["messages"][0]["role"] == "system" or None,
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    details={"param": "messages[0].role", "code": "unsupported_value"},
)


def no_room(thinks: Callable[[Body], int]) -> Rule:
    """OpenAI's refusal when a model has thought all of its limit away (openai/openai-python, o-series and gpt-5)."""
    text = "Could not finish the message because max_tokens or model output limit was reached. "
    text += "Please try again with higher max_tokens."
    return Rule(lambda b: (limit := limit_of(b)) is not None and thinks(b) >= limit, text)


def tools_with_effort(model: str) -> Rule:
    """gpt-5.4 and later; those from 5.6 on also refuse tools without any effort (BerriAI/litellm#34569)."""
    text = f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
    text += "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    usual = "medium" if "5.6" in model else "none"
    return Rule(
        lambda b: bool(b.get("tools")) and b.get("reasoning_effort", usual) != "none",
        text,
        details={"param": "reasoning_effort"},
    )


O4, GPT5 = by_effort(300, low=64), by_effort(300, minimal=0, low=64)
GPT56 = by_effort(300, none=0, low=64)
BUDGET = Rule(  # snailyp/gemini-balance#206; whiteguo233/OpenBiliClaw#5 for Gemini 3
    lambda b: b.get("reasoning_effort") == "none", "Budget 0 is invalid. This model only works in thinking mode."
)
NO_PARTS = Rule(_empty, "* GenerateContentRequest.contents[{}].parts: contents.parts must not be empty.\n")
"""langchain-ai/langchain-google#691"""
SIGNATURE = Rule(  # openai/openai-python#2758
    lambda b: _without(b, "extra_content", "google", "thought_signature"),
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:clock` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
    "more details.",
)
SIGNED = {"extra_content": {"google": {"thought_signature": "b64\u2028=="}}}
DEPRECATED = Rule(lambda b: "temperature" in b, "`temperature` is deprecated for this model.")
"""UKGovernmentBEIS/inspect_ai#3721"""
EMPTY_BLOCKS = Rule(  # experientiallabs/experiential#804
    lambda b: any(m["content"] is not None and not m["content"].strip() for m in b["messages"] if m["role"] != "tool"),
    "messages: text content blocks must be non-empty",
)
REASONING_BACK = Rule(  # hotovo/aider-desk#529; DeepSeek's guide to its thinking mode
    lambda b: _without(b, "reasoning_content"),
    "Missing `reasoning_content` field in the assistant message at message index {}. For more information, please "
    "refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    details={"code": "invalid_request_error"},
)
DETAILS = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "b64==", "format": "google-gemini-v1"}]}
ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


def behind_openrouter(rule: Rule, provider: str) -> Rule:
    """A provider's refusal as OpenRouter passes it on (openrouter.ai, errors and debugging)."""
    raw = json.dumps({"error": {"message": rule.message}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw, "provider_name": provider}}
    return replace(rule, body=json.dumps({"error": error}).encode())


LEARNED_ONE_BY_ONE = "A5: efforts are tried one by one, though the refusal lists those that are accepted"
LIMIT_LOST = "A5: a limit that was too small is taken for one whose name is refused, and given up for good"
TOOLS_LOST = "A5: tools are given up for good, though the refusal says that an effort of none is enough"
TWICE = "A6: that the model thinks all the same isn't remembered, and each question is asked twice"


def _every(reason: str, *questions: str) -> dict[str, str]:
    return dict.fromkeys(questions or (PLAIN, TOOL, LONG, AGAIN), reason)


ROWS: dict[str, Row] = {
    "OpenAI gpt-4.1-mini": Row(Speech(), (unrecognized("reasoning_effort"),)),
    "OpenAI o1-mini": Row(
        Speech(model="o1-mini"),
        (
            unsupported("max_tokens", INSTEAD),
            TEMPERATURE,
            unsupported("tools"),
            unsupported("reasoning_effort"),
            SYSTEM,
        ),
        thinks=lambda b: 100,
        leaves_out={"temperature", "tools", "system"},
        refusals=3,
        fails=_every(LEARNED_ONE_BY_ONE),
    ),
    "OpenAI o4-mini": Row(
        Speech(model="o4-mini"),
        (unsupported("max_tokens", INSTEAD), TEMPERATURE, efforts("low", "medium", "high"), no_room(O4)),
        thinks=O4,
        leaves_out={"temperature"},
        refusals=1,
        fails={**_every(LEARNED_ONE_BY_ONE), LONG: LIMIT_LOST},
    ),
    "OpenAI gpt-5-mini": Row(
        Speech(model="gpt-5-mini"),
        (unsupported("max_tokens", INSTEAD), TEMPERATURE, efforts("minimal", "low", "medium", "high"), no_room(GPT5)),
        thinks=GPT5,
        leaves_out={"temperature"},
        refusals=1,
    ),
    "OpenAI gpt-5.4": Row(
        Speech(model="gpt-5.4"),
        (
            unsupported("max_tokens", INSTEAD),
            TEMPERATURE,
            efforts("none", "low", "medium", "high", "xhigh"),
            tools_with_effort("gpt-5.4"),
        ),
        thinks=by_effort(0, low=64, medium=300, high=600),
        leaves_out={"temperature"},
    ),
    "gpt-5.6 behind a gateway": Row(
        Speech(name="litellm", model="azure/gpt-5.6"),
        (
            unsupported("max_tokens", INSTEAD),
            TEMPERATURE,
            efforts("none", "low", "medium", "high"),
            tools_with_effort("gpt-5.6"),
            no_room(GPT56),
        ),
        thinks=GPT56,
        leaves_out={"temperature"},
        refusals=4,
        fails={**_every(TOOLS_LOST, TOOL, AGAIN), **_every(LIMIT_LOST, PLAIN, LONG)},
    ),
    # Azure/azure-sdk-for-go#21086 (a chunk without choices), microsoft/autogen#6465 (a choice without a delta)
    "Azure gpt-4o": Row(Azure(model="gpt-4o")),
    "Azure gpt-4o, a deployment's address": Row(Azure(model="gpt-4o"), query="api-version=2024-10-21"),
    # docs.claude.com, OpenAI SDK compatibility: unknown fields are ignored, the system message is hoisted.
    "Anthropic claude-haiku-4-5": Row(Anthropic(), (EMPTY_BLOCKS,)),
    "Anthropic claude-opus-4-7": Row(
        Anthropic(model="claude-opus-4-7"), (EMPTY_BLOCKS, DEPRECATED), leaves_out={"temperature"}, refusals=1
    ),
    "Claude on Bedrock behind a gateway": Row(
        Speech(name="litellm", model="bedrock/claude"),
        (
            EMPTY_BLOCKS,
            Rule(  # elastic/kibana#246943
                lambda b: _results(b) and not b.get("tools"),
                "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
            ),
        ),
        fails={AGAIN: "B7: the last round is asked without the tools that its messages have used"},
    ),
    "Google gemini-2.5-flash": Row(Google(), (NO_PARTS,), thinks=by_effort(300, none=0)),
    "Google gemini-2.5-pro": Row(
        Google(model="gemini-2.5-pro"), (NO_PARTS, BUDGET), thinks=lambda b: 300, refusals=2
    ),
    "Google gemini-3-flash": Row(
        Google(model="gemini-3-flash-preview", with_call=SIGNED),
        (NO_PARTS, BUDGET, SIGNATURE),
        thinks=by_effort(300, minimal=20, low=100),
        refusals=2,
    ),
    "DeepSeek deepseek-chat": Row(Speech(name="deepseek", model="deepseek-chat")),
    "DeepSeek deepseek-reasoner": Row(
        Speech(name="deepseek", model="deepseek-reasoner"),
        (REASONING_BACK,),
        thinks=lambda b: 300,
        thought="reasoning_content",
        refusals=1,
    ),
    "OpenRouter gemini-3-flash": Row(
        OpenRouter(model="google/gemini-3-flash-preview", with_thought=DETAILS),
        (
            behind_openrouter(
                Rule(lambda b: _without(b, "reasoning_details"), SIGNATURE.message), "Google AI Studio"
            ),
        ),
        thinks=lambda b: 100,
        thought="reasoning",
        refusals=1,
    ),
    "OpenRouter claude-opus-4.7": Row(
        OpenRouter(), (behind_openrouter(DEPRECATED, "Anthropic"),), leaves_out={"temperature"}, refusals=1
    ),
    "Groq gpt-oss": Row(
        Speech(name="groq", model="openai/gpt-oss-20b"),
        thinks=by_effort(100, low=30),
        thought="reasoning",
        refusals=1,
        per_minute=30,
    ),
    # lmstudio-ai/lmstudio-bug-tracker: thoughts as tags in the text, unless a setting divides them from it.
    "LM Studio qwen3": Row(
        LlamaCpp(name="lmstudio", model="qwen3-4b"), thinks=lambda b: 300, thought="content", refusals=1
    ),
    "vLLM qwen3": Row(Vllm(model="Qwen/Qwen3-8B"), thinks=lambda b: 300, thought="reasoning_content", refusals=1),
    "vLLM without a tool parser": Row(
        Vllm(),
        (
            Rule(  # vllm-project/vllm#9986
                lambda b: bool(b.get("tools")),
                '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            ),
        ),
        leaves_out={"tools"},
        refusals=1,
    ),
    "vLLM 0.4": Row(
        Vllm(),
        (forbidden("stream_options"), forbidden("max_completion_tokens"), forbidden("reasoning_effort")),
        leaves_out={"usage"},
        refusals=1,
    ),
    "Mistral": Row(  # FastAPI's form, at status 422 (partITech/php-mistral#76)
        Vllm(name="mistral", model="mistral-small"),
        (
            replace(
                forbidden("stream_options", 422),
                body=b'{"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs '
                b'are not permitted", "input": {"include_usage": true}}]}',
            ),
        ),
        leaves_out={"usage"},
        refusals=1,
    ),
    "a gateway to OpenAI, with this app's own parameters": Row(
        Speech(name="proxy"),
        (unrecognized("dry_multiplier"),),
        extra={"dry_multiplier": 0.8},
        refusals=1,
    ),
    "llama.cpp": Row(LlamaCpp()),
    "llama.cpp while it loads": Row(
        LlamaCpp(), loading=5, refusals=99, fails=_every("a server that is loading its model is given up")
    ),
    "llama.cpp without --jinja": Row(
        LlamaCpp(),
        (  # containers/ramalama#988
            Rule(
                lambda b: bool(b.get("tools")),
                "tools param requires --jinja flag",
                500,
                details={"kind": "server_error"},
            ),
        ),
        leaves_out={"tools"},
        refusals=1,
        fails=_every("a refusal with status 500 is taken for a passing fault", TOOL, AGAIN),
    ),
    "llama.cpp gemma-2": Row(  # its chat template; such faults have status 500
        LlamaCpp(),
        (Rule(_out_of_turn, ALTERNATE, 500, details={"kind": "server_error"}),),
        leaves_out={"system"},
        refusals=1,
    ),
    "a server that gives no reasons": Row(
        LlamaCpp(),
        (Rule(lambda b: len(b) > 3, body=b"Bad Request"),),
        leaves_out={"limit", "temperature", "usage", "tools"},
        refusals=3,
    ),
    # ollama/ollama#11751: no value switches gpt-oss's thoughts off; the levels are in Ollama's document on thinking.
    "Ollama gpt-oss:20b": Row(
        Ollama(model="gpt-oss:20b"),
        thinks=lambda b: 60 if b.get("think") == "low" else 300,
        thought="thinking",
        refusals=1,
        fails=_every(TWICE),
    ),
    "Ollama qwen3:4b": Row(
        Ollama(model="qwen3:4b"),
        (
            Rule(
                lambda b: t if isinstance(t := b.get("think"), str) else None,
                'think value "{}" is not supported for this model',
            ),
        ),
        thinks=lambda b: 0 if b.get("think") is False else 300,
        thought="thinking",
    ),
    "Ollama gemma3:1b, an old server": Row(  # ollama/ollama, server/routes.go
        Ollama(model="gemma3:1b"),
        (
            Rule(lambda b: "think" in b, '"gemma3:1b" does not support thinking'),
            Rule(lambda b: bool(b.get("tools")), "registry.ollama.ai/library/gemma3:1b does not support tools"),
        ),
        capabilities=None,
        leaves_out={"tools"},
        refusals=2,
    ),
}
