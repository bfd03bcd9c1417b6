"""How a request is made and an answer is read: text, usage, tools and their calls; thoughts are taken out."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.base import BackendError, ChatRequest, StreamItem, ToolEnded, ToolStarted
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.backend.thinking import AnswerFilter
from app.backend.tool_calls import stream_with_tools
from app.conversation.languages import language
from app.conversation.prompt import ChatMessage
from app.session.clock import run_simulated
from app.tools.base import ToolCall, ToolMessage, ToolResult, ToolSpec
from app.tools.consent import Consent
from tests.support.provider_protocols import NDJSON, SSE, event, line, whole
from tests.support.tables import cases
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    SPEECHES,
    TEXT,
    answers_to,
    check_sentence,
    each,
    fail,
    make,
    opened,
    say,
    wire_for,
    words_in,
)


@each
async def test_a_request_is_put_as_the_provider_wants_it(kind: str) -> None:
    items, [body] = await answers_to(kind, SPEECHES[kind].answer())
    assert words_in(items) == TEXT
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Where is it?"}]
    common = {"model": SPEECHES[kind].model, "messages": messages, "stream": True}
    limit = "max_completion_tokens" if kind == "openai" else "max_tokens"
    if kind == "ollama":
        options = {"temperature": 0.3, "num_predict": 50}
        assert body == {**common, "tools": [], "keep_alive": "30m", "options": options}
    else:
        effort = {"reasoning_effort": "none"} if kind == "google" else {}
        usage = {"include_usage": True}
        assert body == {**common, limit: 50, "temperature": 0.3, "stream_options": usage, **effort}


@pytest.mark.parametrize("ending", ["no DONE", "no finish", "crlf", "no space", "split data"])
async def test_streams_that_are_written_otherwise(ending: str) -> None:
    answer = SPEECHES["compatible"].answer()
    data = b"".join(answer.parts)
    match ending:
        case "no DONE":
            data = data.replace(b"data: [DONE]\n\n", b"")
        case "no finish":
            data = b"".join((*SPEECHES["compatible"].parts(("Paris", " is", " it."), finish=""), b"data: [DONE]\n\n"))
        case "crlf":
            data = data.replace(b"\n", b"\r\n")
        case "no space":
            data = data.replace(b"data: ", b"data:")
        case "split data":
            data = data.replace(b'{"id"', b'{\ndata: "id"')
    items, _ = await answers_to("compatible", replace(answer, parts=(data,)))
    assert words_in(items) == TEXT


async def test_an_answer_in_one_piece() -> None:
    """Some servers don't stream."""
    message = {"role": "assistant", "content": "<think>Hm.</think>\n\nParis is it."}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    items, _ = await answers_to("compatible", whole(200, body))
    assert words_in(items) == TEXT
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}  # type: ignore[index]
    items, _ = await answers_to("compatible", whole(200, body))
    assert items == [ToolCall("c1", "clock", "{}")]


async def test_text_in_parts() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": TEXT}]
    chunk = event({**head, "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": "stop"}]})
    items, _ = await answers_to("compatible", Reply(200, SSE, parts=(chunk,)))
    assert words_in(items) == TEXT


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_without_a_model_the_servers_first_one_answers(kind: str) -> None:
    first = {"openai": "gpt-4.1-mini", "ollama": "tiny:latest"}[kind]
    speech = SPEECHES[kind]
    standing = {**(speech.standing(first) if kind == "ollama" else {})}  # type: ignore[union-attr]
    path = "/api/tags" if kind == "ollama" else "/v1/models"
    wire = Wire([speech.answer()], standing={**standing, path: speech.models(first, "second:latest")})
    async with opened(kind, wire=wire, model="") as (_, backend):
        assert backend.model == first and await say(backend) == TEXT
    assert wire.seen[0].body["model"] == first


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_that_a_server_has_no_models_is_reported(kind: str) -> None:
    async with Wire([SPEECHES[kind].models()]) as wire:
        backend = make(kind, wire.url, model="")
        with pytest.raises(BackendError, match="no model") as raised:
            await backend.open()
        await backend.close()
    assert raised.value.kind == "model"


async def test_ollama_is_asked_for_what_it_has_and_loads_it() -> None:
    async with wire_for("ollama") as wire:
        backend = make("ollama", wire.url, model="tiny")
        await backend.open()
        assert backend.traits.history_words == 600
        await backend.close()
        await backend.close()
    loads = [seen.body for seen in wire.beside if seen.path == "/api/generate"]
    assert [body["keep_alive"] for body in loads] == ["30m", "5m"] and not any(body.get("prompt") for body in loads)
    async with Wire([SPEECHES["ollama"].models("other:latest")]) as wire:
        backend = make("ollama", wire.url, model="tiny")
        with pytest.raises(BackendError, match="ollama pull tiny") as raised:
            await backend.open()
        await backend.close()
    assert raised.value.kind == "model"


PULLED = tuple(
    line({"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a07", "total": 4_000_000_000, "completed": n * 10**9})
    for n in range(1, 4)
)


@cases(
    "last, fault, kind, words",
    ({"error": "pull model manifest: file does not exist"}, "", "model", "no model “gemma3” to fetch"),
    ({"error": "write /models/blobs: no space left on device"}, "", "setup", "disk is too full"),
    ({"error": "max retries exceeded: Get: dial tcp: lookup registry"}, "", "server", "could not fetch"),
    ({"status": "verifying sha256 digest"}, "", "broken", "broke off while it fetched"),
    ({"status": "verifying sha256 digest"}, "cut", "broken", "broke off while it fetched"),
    ({"status": "verifying sha256 digest"}, "reset", "broken", "broke off while it fetched"),
)
async def test_a_pull_that_fails(last: dict[str, str], fault: Any, kind: str, words: str) -> None:
    reply = Reply(200, NDJSON, parts=(line({"status": "pulling manifest"}), *PULLED, line(last)), fault=fault)
    told = []
    async with wire_for("ollama", reply) as wire:
        with pytest.raises(BackendError, match=words) as raised:
            async for step in make("ollama", wire.url).pull("gemma3"):
                told.append(step)
    check_sentence(raised.value)
    assert raised.value.kind == kind
    assert told[:3] == [("pulling manifest", 0.0), ("1.00 of 4.00 GB", 0.25), ("2.00 of 4.00 GB", 0.5)]
    assert wire.seen[0].body["model"] == "gemma3"


async def test_a_pull_reports_how_far_it_is_and_ends_when_it_is_left() -> None:
    done = Reply(200, NDJSON, parts=(*PULLED, line({"status": "success"})))
    async with wire_for("ollama", done, Reply(200, NDJSON, repeat=PULLED[0], pause=0.01)) as wire:
        backend = make("ollama", wire.url)
        told = [step async for step in backend.pull("gemma3")]  # type: ignore[attr-defined]
        assert told[-2:] == [("3.00 of 4.00 GB", 0.75), ("it is here", 1.0)]
        async with aclosing(backend.pull("gemma3")) as pull:  # type: ignore[attr-defined]
            assert await anext(pull) == ("1.00 of 4.00 GB", 0.25)
        assert await wire.client_left()


@each
async def test_thoughts_without_end_are_an_empty_answer(kind: str) -> None:
    spent = SPEECHES[kind].answer((), finish="length")
    async with opened(kind, spent, spent) as (_, backend):
        _, error = await fail(backend)
    assert error.kind == "empty"


CALLS = (("call_a", "clock", '{"zone": "Asia/Tokyo"}'), ("call_b", "clock", '{"zone": "Zürich"}'))


async def test_a_call_that_repeats_its_name_or_has_no_id() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def delta(**function: str) -> bytes:
        call = {"index": 0, "function": function}
        return event({**head, "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})

    parts = (delta(name="clock", arguments=""), delta(name="clock", arguments='{"zone": '), delta(arguments='"UTC"}'))
    items, _ = await answers_to("compatible", Reply(200, SSE, parts=parts))
    assert items == [ToolCall("call-0", "clock", '{"zone": "UTC"}')]


ASK = ChatRequest((ChatMessage("system", "S"), ChatMessage("user", "What is it?")))
CALL = ToolCall("c1", "calculator", '{"expression": "2+2"}')


class ScriptedTools:
    """Tools that answer after so many seconds."""

    def __init__(self, seconds: float = 0.0, *, ok: bool = True) -> None:
        self.specs = (
            ToolSpec("calculator", "Works it out.", {"type": "object"}),
            ToolSpec("mail__send", "Sends a mail.", {"type": "object"}, effect="changes"),
        )
        self.consent = Consent("allow")
        self.calls: list[tuple[str, str]] = []
        self.cancelled = 0
        self._seconds, self._ok = seconds, ok

    async def call(self, name: str, arguments: str) -> ToolResult:
        self.calls.append((name, arguments))
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolResult(name, self._ok, "4" if self._ok else "It failed.", self._seconds)


def run(answers: list[tuple[StreamItem, ...]], tools: ScriptedTools, request: ChatRequest = ASK, *, stop: float = 0.0):
    """The items of a stream in simulated time, with their times; `stop` closes it after so many seconds."""
    script = iter(answers)
    backend = ScriptedBackend(lambda request: ScriptedAnswer(next(script), 0.1, 0.0))

    async def talk() -> list[tuple[float, StreamItem]]:
        got: list[tuple[float, StreamItem]] = []
        loop = asyncio.get_running_loop()

        async def read() -> None:
            async with stream_with_tools(backend, request, tools) as items:
                async for item in items:
                    got.append((round(loop.time(), 2), item))

        task = asyncio.create_task(read())
        await asyncio.wait([task], timeout=stop or None)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):
            raise error
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return got

    return run_simulated(talk()), backend


def test_a_slow_tool_is_bridged_with_words_once_and_only_if_nothing_was_said() -> None:
    got, _ = run([(CALL,), ("Four.",)], ScriptedTools(5.0))
    texts = [(at, item) for at, item in got if isinstance(item, str)]
    assert texts[0] == (1.3, f"{language('en').looking_up} ") and texts[-1][1] == "Four."
    got, _ = run([("Let me see.", CALL), ("Four.",)], ScriptedTools(5.0))
    assert "".join(item for _, item in got if isinstance(item, str)) == "Let me see. Four."


def test_a_tool_that_fails_is_sent_to_the_backend_which_answers_all_the_same() -> None:
    got, backend = run([(CALL,), ("I could not work it out.",)], ScriptedTools(ok=False))
    assert ToolEnded("calculator", False, "It failed.", 0.0) in [item for _, item in got]
    assert backend.requests[1].messages[-1] == ToolMessage("c1", "calculator", "It failed.")
    assert got[-1][1] == "I could not work it out."


def test_what_changes_the_world_is_neither_offered_nor_called_while_the_user_still_talks() -> None:
    guess = ChatRequest(ASK.messages, final=False)
    _, backend = run([("Well.",)], ScriptedTools(), guess)
    assert [spec.name for spec in backend.requests[0].tools] == ["calculator"]
    tools, send = ScriptedTools(), ToolCall("c1", "mail__send", "{}")
    got, backend = run([(send, CALL), ("Not yet.",)], tools, ChatRequest(ASK.messages, final=False))
    assert tools.calls == [("calculator", CALL.arguments)]
    assert not [item for _, item in got if isinstance(item, ToolStarted | ToolEnded) and item.name == "mail__send"]
    refusal = backend.requests[1].messages[-2]
    assert isinstance(refusal, ToolMessage) and "can't be used now" in refusal.text and got[-1][1] == "Not yet."


def test_a_stream_that_is_left_takes_its_tools_along() -> None:
    tools = ScriptedTools(60.0)
    _, backend = run([(CALL,), ("Never.",)], tools, stop=3.0)
    assert tools.cancelled == 1 and backend.open_streams == 0 and len(backend.requests) == 1


PIECES = (None, 1, 3, 7)


def filtered(text: str, piece: int | None = None, **known: bool | None) -> tuple[str, AnswerFilter]:
    """What is left of `text`, which arrives in pieces of so many letters."""
    one = AnswerFilter(**known)  # type: ignore[arg-type]
    size = piece or max(1, len(text))
    return "".join(one.push(text[i : i + size]) for i in range(0, len(text), size)) + one.flush(), one


LEAKS = {
    "<think>hm, so</think>Paris.": "Paris.",
    "<think>\nhm\n</think>\n\nParis.": "Paris.",
    "  <think>hm</think> Paris.": "Paris.",
    "<thinking>x y</thinking> Paris.": "Paris.",
    "<thought>x</thought>Paris.": "Paris.",
    "[THINK]x y z[/THINK]Paris.": "Paris.",
    "<THINK>x</THINK>Paris.": "Paris.",
    "<reasoning>x</reasoning>Paris.": "Paris.",
    "<seed:think>x</seed:think>Paris.": "Paris.",
    "◁think▷x◁/think▷Paris.": "Paris.",
    "<think effort='low'>x</think>Paris.": "Paris.",
    "<ANALYSIS>x</ANALYSIS>\nParis.": "Paris.",
    "<reflection>x</reflection>Paris.": "Paris.",
    "<inner_monologue>x</inner_monologue>Paris.": "Paris.",
    "<|begin_of_thought|>x<|end_of_thought|>Paris.": "Paris.",
    "<|thinking_start|>x<|thinking_end|>Paris.": "Paris.",
    "<|think|>x<|/think|>Paris.": "Paris.",
    "Sure. <think>x y.</think>Paris.": "Sure. Paris.",
    "Okay, <think>\nx</think> Paris.": "Okay,  Paris.",
    "{think}x{/think}Paris.": "Paris.",
    "<<think>>x<</think>>Paris.": "Paris.",
    "<THINK >x</THINK >Paris.": "Paris.",
    "<think/>Paris.": "Paris.",
    "<internal_thoughts>x</internal_thoughts>Paris.": "Paris.",
    "<thinking_process>x</thinking_process>Paris.": "Paris.",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>": "Paris.",
    "<|channel>thought\nhm hm\n<channel|>Paris.": "Paris.",
    "The capital is Paris.<|im_end|>\n<|im_start|>user And Spain?<|im_end|>": "The capital is Paris.",
    "Paris<|eot_id|>": "Paris",
    "Paris.</s>": "Paris.",
    "Paris. <end_of_turn>\n<start_of_turn>user": "Paris. ",
    "Paris.<｜end▁of▁sentence｜>": "Paris.",
    "Paris.<|endoftext|>Human: And Spain?": "Paris.",
    "<|im_start|>assistant\nParis is it.<|im_end|>": "Paris is it.",
    "<|start_header_id|>assistant<|end_header_id|>\n\nParis.<|eot_id|>": "Paris.",
    "Paris.\n[INST] And? [/INST]": "Paris.\n",
}


@pytest.mark.parametrize("text", LEAKS)
@pytest.mark.parametrize("piece", PIECES)
def test_marks_are_taken_out_in_any_spelling_however_they_are_cut(text: str, piece: int | None) -> None:
    left, _ = filtered(text, piece)
    assert left == LEAKS[text]


UNOPENED = {
    "The user asks for the capital of France. It is Paris.</think>\n\nParis.": "Paris.",
    "Okay, so I need to find it. France. Right.\n</think>\nParis is it. Good.": "Paris is it. Good.",
    "France, capital is Paris?</think>Paris.": "Paris.",
    "Hmm. Let me see. x.</thinking>Paris.": "Paris.",
    "We need the capital of a country in Europe. [/THINK] Paris.": "Paris.",
    "analysisWe need the capital. Paris it is.assistantfinalParis.": "Paris.",
}


@pytest.mark.parametrize("text", UNOPENED)
@pytest.mark.parametrize("piece", PIECES)
def test_thinking_without_its_opening_is_taken_out_of_the_first_answer(text: str, piece: int | None) -> None:
    left, one = filtered(text, piece, unopened=None)
    assert left == UNOPENED[text] and one.closed_unopened and one.thought


@pytest.mark.parametrize("piece", PIECES)
def test_a_model_that_is_known_for_it_may_think_for_as_long_as_it_wants(piece: int | None) -> None:
    text = "France is a country. " * 40 + "</think>\nParis."
    assert filtered(text, piece, unopened=True)[0] == "Paris."
    left, one = filtered(text, piece, unopened=None)
    assert left == text and one.closed_unopened, "it is known from now on"
    assert filtered("Paris, as always.", piece, unopened=True)[0] == "Paris, as always.", "it may not think at all"


def test_words_are_let_through_as_they_come() -> None:
    one = AnswerFilter()
    assert [one.push(word) for word in ("Paris", " is", " it", " for x", " < 5", " and", " [1", "]", " then")] == [
        "Paris", " is", " it", " for x", " < 5", " and", " [1", "]", " then",
    ]  # fmt: skip
    one = AnswerFilter(unopened=None)
    assert one.push("Paris is it") == "" and one.push(". And") == "Paris is it. And"


ABOUT = """The <think> tag opens a block, and </think> closes it.
<think> is a tag that some models write.
</think> is the closing one.
Models such as R1 write <think> before their thoughts and </think> after them.
Use `<think>` and `</think>`.
The token <|im_end|> ends a turn.
<|im_end|> is a token that ends a turn.
Tokens such as <|eot_id|>, <|im_end|> and </s> end a turn.
It is called "<think>", and it is a tag.
It is called “<think>”, and it is a tag.
„<think>“ heißt die Marke.
« <think> » ouvre la pensée, et « </think> » la ferme.
In HTML, </s> closes a strike-through.
Paris is the capital. A <think> block would come first.
The mark </think> comes last.
A list: <|im_start|>, <|im_end|>.
Write <|im_start|>user to begin a turn.
x <y and z> w
[1] is a note. [Analysis] is a heading.
[Reasoning] It is warm, since the sun shines.
If a < b and c > d then stop.
The template has [INST] and [/INST] around the question.
First comes <start_of_turn> and then the role.
Is </think> needed? Yes.
The stop token is <|endoftext|>, as in GPT-2.
Between <reasoning> and </reasoning> stands what the user doesn't see.
There are two: <thinking> and <thought>.
It must close what it opens: <think> with </think>.
Some write ◁think▷ in place of it.
You can filter it with "<think>.*?</think>".
The DeepSeek template ends with <｜end▁of▁sentence｜>, which is one token.
A chat has roles. <|im_start|> begins each.
He said: "</think> is odd."
In XML, <analysis> and <summary> are allowed names.
My thinking is simple: buy bread.
Der Block steht zwischen <think> und </think>.
La etiqueta <think> es de otro modelo.
Il tag </think> chiude il blocco.
Generics in Java look like List<String> and in C++ like vector<int>.
The <s> and </s> tokens are those of SentencePiece.""".split("\n")
CODE = ["```\n<think>x</think>\n```\nSo it looks.", "Here it is:\n```html\n<s>no</s> <|im_end|>\n```\nIn HTML."]


@pytest.mark.parametrize("text", ABOUT + CODE)
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("unopened", [False, None])
def test_an_answer_about_such_marks_stays_whole(text: str, piece: int | None, unopened: bool | None) -> None:
    assert filtered(text, piece, unopened=unopened)[0] == text


def test_a_block_behind_the_first_sentence_is_only_taken_out_of_a_model_that_thinks() -> None:
    text = "The capital of France is Paris.\n<think>Was that right?</think>\nYes."
    assert filtered(text)[0] == text
    assert filtered(text, thinks=True)[0] == "The capital of France is Paris.\n\nYes."


def test_thoughts_without_end_are_no_answer() -> None:
    left, one = filtered("<think>and so on and on")
    assert left == "" and one.thinking and one.thought == "and so on and on"


MARKS = ["<think>", "</think>", "<", "</", "think", ">", " ", "\n", "é", "<|im_end|>", "Paris", ".", '"', "`", "[", "]"]


@given(st.lists(st.sampled_from(MARKS), max_size=12), st.data(), st.sampled_from([False, None, True]))
def test_any_chunking_gives_the_same_text(pieces: list[str], data: st.DataObject, unopened: bool | None) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole, cut = AnswerFilter(unopened=unopened), AnswerFilter(unopened=unopened)
    expected = whole.push(text) + whole.flush()
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(cut.push, chunks)) + cut.flush() == expected
