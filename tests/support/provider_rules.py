"""What real model servers refuse: the rules, and a row for each kind of model on a kind of server. The statuses and
texts are those of the real servers; the comments name where they were found (a document, or a public issue as
repository#number)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.support.provider_protocols import Anthropic, Azure, Google, LlamaCpp, Ollama, OpenRouter, Speech, Vllm
from tests.support.rule_server import THOUGHTS, Body, Row, Rule, by_effort, limit_of


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls") or []


def _orphan(body: Body) -> int | None:
    """The place of a tool's result without its call, or of a call without its result."""
    pending: set[str] = set()
    for place, message in enumerate([*body["messages"], {"role": "end"}]):
        if (message["role"] == "tool") != bool(pending) or message.get("tool_call_id") not in {None, *pending}:
            return place
        pending -= {message.get("tool_call_id")}
        pending |= {call["id"] for call in _calls(message)}
    return None


def _misshapen(body: Body) -> str | None:
    """The first thing in a request that isn't as OpenAI's reference has it."""
    for place, message in enumerate(body["messages"]):
        if not isinstance(message.get("content"), str) and not _calls(message):
            return f"messages[{place}].content"
        for call in _calls(message):
            if call["type"] != "function" or not isinstance(json.loads(call["function"]["arguments"]), dict):
                return f"messages[{place}].tool_calls"
    for tool in body.get("tools", ()):
        if tool["type"] != "function" or not {"name", "description", "parameters"} <= set(tool["function"]):
            return "tools[0]"
    return "tools" if body.get("tools") == [] else None


def _empty(body: Body) -> int | None:
    blank = (n for n, m in enumerate(body["messages"]) if m["role"] != "tool" and not (m["content"] or "…").strip())
    return next(blank, None)


def _out_of_turn(body: Body) -> bool:
    """Whether user and assistant don't alternate, or there is a system message; a tool's round doesn't count."""
    roles = [m["role"] for m in body["messages"] if m["role"] != "tool" and not _calls(m)]
    return any(role != ("user", "assistant")[n % 2] for n, role in enumerate(roles))


def _lacks(wanted: Any, *path: str) -> Callable[[Body], int | None]:
    """Finds an assistant's message with tool calls that hasn't what came with them; `path` leads to it."""

    def place(body: Body) -> int | None:
        for place, message in enumerate(body["messages"]):
            value: Any = {**message, **_calls(message)[0]} if _calls(message) else None
            for name in path if value else ():
                value = (value or {}).get(name)
            if _calls(message) and value != wanted:
                return place
        return None

    return place


def _offers_tools(body: Body) -> bool:
    return bool(body.get("tools"))


# -- refusals ---------------------------------------------------------------------------------------------------------


def value_of(name: str, *accepted: Any) -> Callable[[Body], Any]:
    """Finds a parameter's value that isn't one of those; without any, every value."""
    return lambda body: body[name] if name in body and body[name] not in accepted else None


def unsupported(name: str, instead: str = "") -> Rule:
    """griptape-ai/ComfyUI-Griptape#312"""
    text = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
    return Rule(value_of(name), text, details={"param": name, "code": "unsupported_parameter"})


def efforts(*values: str) -> Rule:
    """Kilo-Org/cloud#3807"""
    text = "Unsupported value: 'reasoning_effort' does not support '{}' with this model. Supported values are: "
    text += ", ".join(f"'{value}'" for value in values[:-1]) + f", and '{values[-1]}'."
    details = {"param": "reasoning_effort", "code": "unsupported_value"}
    return Rule(value_of("reasoning_effort", *values), text, details=details)


def unrecognized(name: str) -> Rule:
    """umputun/tg-spam#304"""
    return Rule(value_of(name), f"Unrecognized request argument supplied: {name}")


def forbidden(name: str) -> Rule:
    """vLLM before 0.6.4 (modelscope/ms-agent#489)"""
    text = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted'}}]"
    return Rule(value_of(name), text)


def no_room(thinks: Callable[[Body], int]) -> Rule:
    """When a model of OpenAI has thought all of its limit away (the API's own text, quoted in many projects' tests)."""
    text = "Could not finish the message because max_tokens or model output limit was reached. "
    text += "Please try again with higher max_tokens."
    return Rule(lambda b: (limit := limit_of(b)) is not None and thinks(b) >= limit, text)


def tools_with_effort(model: str, usual: str) -> Rule:
    """gpt-5.4 and later (BerriAI/litellm#34569). `usual`: the effort of a request that names none."""
    text = f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
    text += "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    found = lambda b: _offers_tools(b) and b.get("reasoning_effort", usual) != "none"  # noqa: E731
    return Rule(found, text, details={"param": "reasoning_effort"})


def behind_openrouter(rule: Rule, provider: str) -> Rule:
    """A provider's refusal as OpenRouter passes it on (openrouter.ai, errors and debugging)."""
    raw = json.dumps({"error": {"message": rule.message}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw, "provider_name": provider}}
    return replace(rule, body=json.dumps({"error": error}).encode())


ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
COMMON = (Rule(_misshapen, "Invalid type for '{}'."), Rule(_orphan, ORPHAN, details={"param": "messages.[{}].role"}))
"""What every server with OpenAI's protocol refuses."""
GO_TYPE = "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments"
THINK_VALUE = 'invalid think value: "{}" (must be "high", "medium", "low", true, or false)'
OLLAMA = (  # ollama/ollama, api/types.go
    Rule(lambda b: any(isinstance(c["function"]["arguments"], str) for m in b["messages"] for c in _calls(m)), GO_TYPE),
    Rule(value_of("think", True, False, "low", "medium", "high"), THINK_VALUE),
)
MAX_TOKENS = unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
TEMPERATURE = Rule(  # BeehiveInnovations/pal-mcp-server#78
    value_of("temperature", 1),
    "Unsupported value: 'temperature' does not support {} with this model. Only the default (1) value is supported.",
    details={"param": "temperature", "code": "unsupported_value"},
)
SYSTEM = Rule(  # coleam00/Archon#12
    lambda b: b["messages"][0]["role"] == "system",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    details={"param": "messages[0].role", "code": "unsupported_value"},
)
# experientiallabs/experiential#804; UKGovernmentBEIS/inspect_ai#3721; elastic/kibana#246943
EMPTY_BLOCKS = Rule(_empty, "messages: text content blocks must be non-empty")
DEPRECATED = Rule(value_of("temperature"), "`temperature` is deprecated for this model.")
BEDROCK = Rule(
    lambda b: any(map(_calls, b["messages"])) and not _offers_tools(b),
    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
)
# langchain-ai/langchain-google#691; snailyp/gemini-balance#206, and whiteguo233/OpenBiliClaw#5 for Gemini 3
NO_PARTS = Rule(_empty, "* GenerateContentRequest.contents[{}].parts: contents.parts must not be empty.\n")
BUDGET = Rule(
    lambda b: b.get("reasoning_effort") == "none", "Budget 0 is invalid. This model only works in thinking mode."
)
SIGNED = {"extra_content": {"google": {"thought_signature": "b64\u2028=="}}}
SIGNATURE = Rule(  # openai/openai-python#2758
    _lacks(SIGNED["extra_content"], "extra_content"),
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:clock` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
    "more details.",
)
DETAILS = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "b64==", "format": "google-gemini-v1"}]}
SEALED = replace(SIGNATURE, finds=_lacks(DETAILS["reasoning_details"] * len(THOUGHTS), "reasoning_details"))
REASONING = Rule(  # hotovo/aider-desk#529, and DeepSeek's guide to its thinking mode
    _lacks("".join(THOUGHTS), "reasoning_content"),
    "Missing `reasoning_content` field in the assistant message at message index {}. For more information, please "
    "refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    details={"code": "invalid_request_error"},
)
NO_PARSER = Rule(  # vllm-project/vllm#9986
    _offers_tools, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
)
MISTRAL = Rule(  # partITech/php-mistral#76
    value_of("stream_options"),
    status=422,
    body=b'{"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not '
    b'permitted", "input": {"include_usage": true}}]}',
)
# containers/ramalama#988; gemma-2's chat template
ERROR = {"kind": "server_error"}
JINJA = Rule(_offers_tools, "tools param requires --jinja flag", 500, ERROR)
ALTERNATE = Rule(_out_of_turn, "Conversation roles must alternate user/assistant/user/assistant/...", 500, ERROR)
# ollama/ollama, server/routes.go
NO_LEVELS = Rule(value_of("think", True, False), 'think value "{}" is not supported for this model')
NO_THINKING = Rule(value_of("think"), '"gemma3:1b" does not support thinking')
NO_TOOLS = Rule(_offers_tools, "registry.ollama.ai/library/gemma3:1b does not support tools")
O4, GPT5, GPT56 = by_effort(300, low=64), by_effort(300, minimal=0, low=64), by_effort(300, none=0, low=64)
GEMINI3, GPT_OSS = by_effort(300, minimal=20, low=100), by_effort(100, low=30)
LEVELS = efforts("none", "low", "medium", "high", "xhigh")
# fmt: off
_ROWS: dict[str, Row] = {
    "OpenAI gpt-4.1-mini": Row(Speech(), (unrecognized("reasoning_effort"),)),
    "OpenAI o1-mini": Row(Speech(model="o1-mini"),
        (MAX_TOKENS, TEMPERATURE, unsupported("tools"), unsupported("reasoning_effort"), SYSTEM), by_effort(100),
        leaves_out="temperature tools system", loses="tools", refusals=3),
    "OpenAI o4-mini": Row(Speech(model="o4-mini"),
        (MAX_TOKENS, TEMPERATURE, efforts("low", "medium", "high"), no_room(O4)), O4, leaves_out="temperature",
        refusals=1),
    "OpenAI gpt-5-mini": Row(Speech(model="gpt-5-mini"),
        (MAX_TOKENS, TEMPERATURE, efforts("minimal", "low", "medium", "high"), no_room(GPT5)), GPT5,
        leaves_out="temperature", refusals=1),
    "OpenAI gpt-5.4": Row(Speech(model="gpt-5.4"),
        (MAX_TOKENS, TEMPERATURE, LEVELS, tools_with_effort("gpt-5.4", "none")),
        by_effort(0, low=64, medium=300, high=600), leaves_out="temperature"),
    "gpt-5.6 behind a gateway": Row(Speech(name="litellm", model="azure/gpt-5.6"),
        (MAX_TOKENS, TEMPERATURE, LEVELS, tools_with_effort("gpt-5.6", "medium"), no_room(GPT56)), GPT56,
        leaves_out="temperature", loses="temperature", refusals=4),
    "Azure gpt-4o": Row(Azure(model="gpt-4o")),
    "Azure gpt-4o, the preview": Row(Azure(model="gpt-4o", path="/openai/v1?api-version=preview")),
    # docs.claude.com, OpenAI SDK compatibility: unknown fields are ignored, the system message is hoisted.
    "Anthropic claude-haiku-4-5": Row(Anthropic(), (EMPTY_BLOCKS,)),
    "Anthropic claude-opus-4-7": Row(Anthropic(model="claude-opus-4-7"), (EMPTY_BLOCKS, DEPRECATED),
        leaves_out="temperature", loses="temperature", refusals=1),
    "Claude on Bedrock behind a gateway": Row(Speech(name="litellm", model="bedrock/claude"), (EMPTY_BLOCKS, BEDROCK)),
    "Google gemini-2.5-flash": Row(Google(), (NO_PARTS,), by_effort(300, none=0)),
    "Google gemini-2.5-pro": Row(Google(model="gemini-2.5-pro"), (NO_PARTS, BUDGET), by_effort(300), refusals=2),
    "Google gemini-3-flash": Row(Google(model="gemini-3-flash-preview", with_call=SIGNED),
        (NO_PARTS, BUDGET, SIGNATURE), GEMINI3, refusals=2),
    "DeepSeek deepseek-chat": Row(Speech(name="deepseek", model="deepseek-chat")),
    "DeepSeek deepseek-reasoner": Row(Speech(name="deepseek", model="deepseek-reasoner"), (REASONING,), by_effort(300),
        thought="reasoning_content", refusals=1),
    "OpenRouter gemini-3-flash": Row(OpenRouter(model="google/gemini-3-flash-preview", with_thought=DETAILS),
        (behind_openrouter(SEALED, "Google AI Studio"),), by_effort(100), thought="reasoning", refusals=1),
    "OpenRouter claude-opus-4.7": Row(OpenRouter(), (behind_openrouter(DEPRECATED, "Anthropic"),),
        leaves_out="temperature", loses="temperature", refusals=1),
    "Groq gpt-oss": Row(Speech(name="groq", model="openai/gpt-oss-20b"), (), GPT_OSS, "reasoning", refusals=1,
        per_minute=30),
    # Its thoughts are tags in the text, unless a setting separates them.
    "LM Studio qwen3": Row(LlamaCpp(model="qwen3-4b"), (), by_effort(300), "content", refusals=1),
    "vLLM qwen3": Row(Vllm(model="Qwen/Qwen3-8B"), (), by_effort(300), "reasoning_content", refusals=1),
    "vLLM without a tool parser": Row(Vllm(), (NO_PARSER,), leaves_out="tools", loses="tools", refusals=1),
    "vLLM 0.4": Row(Vllm(), tuple(map(forbidden, ("stream_options", "reasoning_effort"))), leaves_out="usage",
        refusals=1),
    "Mistral": Row(Vllm(model="mistral-small"), (MISTRAL,), leaves_out="usage", refusals=1),
    "a gateway to OpenAI, with this app's own parameters": Row(Speech(name="proxy"), (unrecognized("dry_multiplier"),),
        extra={"dry_multiplier": 0.8}, refusals=1),
    "llama.cpp": Row(LlamaCpp()),
    "llama.cpp while it loads": Row(LlamaCpp(), loading=5, refusals=5),
    "llama.cpp without --jinja": Row(LlamaCpp(), (JINJA,), leaves_out="tools", loses="tools", refusals=1),
    "llama.cpp gemma-2": Row(LlamaCpp(), (ALTERNATE,), leaves_out="system", refusals=1),
    "a server that gives no reasons": Row(LlamaCpp(), (Rule(lambda b: len(b) > 3, body=b"Bad Request"),),
        leaves_out="limit temperature usage tools", loses="limit temperature", refusals=2),
    # ollama/ollama#11751: no value switches gpt-oss's thoughts off; the levels are in Ollama's document on thinking.
    "Ollama gpt-oss:20b": Row(Ollama(model="gpt-oss:20b"), thinks=lambda b: 60 if b.get("think") == "low" else 300,
        thought="thinking", refusals=1),
    "Ollama qwen3:4b": Row(Ollama(model="qwen3:4b"), (NO_LEVELS,), lambda b: 0 if b.get("think") is False else 300,
        "thinking"),
    "Ollama deepseek-r1:8b, an old server": Row(Ollama(model="deepseek-r1:8b"), (), by_effort(20), "content",
        capabilities=None),
    "Ollama gemma3:1b": Row(Ollama(model="gemma3:1b"), (NO_THINKING, NO_TOOLS), capabilities=("completion",),
        leaves_out="tools", loses="tools"),
    "Ollama gemma3:1b, an old server": Row(Ollama(model="gemma3:1b"), (NO_THINKING, NO_TOOLS), capabilities=None,
        leaves_out="tools", loses="tools", refusals=1),
}
# fmt: on
ROWS = {
    name: replace(row, rules=((OLLAMA if row.kind == "ollama" else COMMON) + row.rules)) for name, row in _ROWS.items()
}
