"""What is learned of a model is kept with (server, model), in the order of trust, and across sessions."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.backend.base import ChatRequest, Notice, Thinking, Usage
from app.backend.dialect import Refusal, RequestForm, first_form, forms_after, stated_form
from app.backend.model_record import ModelRecord, ModelRecords
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.backend.openai_faults import rate_limit
from app.backend.providers import make_backend
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.conversation import events as e
from app.conversation.oracle import RequestBudget
from tests.support.provider_protocols import SECRET, SSE, event, line, whole
from tests.support.scripted import ScriptedTurn
from tests.support.tables import cases
from tests.support.talks import simulate
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    CLOCK,
    REQUEST,
    SPEECHES,
    TEXT,
    answers_to,
    ask,
    fail,
    opened,
    opening,
    say,
    words_in,
)

WITH_TOOLS = replace(REQUEST, tools=(CLOCK,))


class Server(Wire):
    """A server that answers by the body of each request. `standing`: see Wire."""

    def __init__(self, answer: Any, standing: dict[str, Reply] | None = None) -> None:
        super().__init__(standing=standing)
        self._answer_to = answer

    def reply(self, body: Any) -> Reply:
        reply: Reply = self._answer_to(body)
        return reply

    @property
    def bodies(self) -> list[Any]:
        return [seen.body for seen in self.seen]


@asynccontextmanager
async def compatible(answer: Any, model: str = "tiny") -> AsyncIterator[tuple[Server, OpenAICompatibleBackend]]:
    """A server that answers by `answer`, and an adapter that is open for it."""
    async with Server(answer) as server:
        backend = OpenAICompatibleBackend(base_url=f"{server.url}/v1", model=model)
        async with opening(backend):
            yield server, backend


def refused(message: str, **details: str) -> Reply:
    return SPEECHES["openai"].refusal(400, message, **details)


OUT_OF_ROOM = "Could not finish the message because max_tokens or model output limit was reached. Please try again."
TOOLS_WITH_EFFORT = "Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'."
EFFORTS = "Unsupported value: 'none' is not supported. Supported values are: 'minimal', 'low', 'medium', and 'high'."


async def test_room_that_was_too_small_is_no_refused_parameter_and_is_reported_if_it_stays_so() -> None:
    def answer(body: Any) -> Reply:
        return refused(OUT_OF_ROOM) if body["max_tokens"] < 400 else SPEECHES["compatible"].answer()

    async with compatible(answer) as (server, backend):
        assert await say(backend) == await say(backend) == TEXT
    assert [body["max_tokens"] for body in server.bodies] == [50, 400, 400]
    async with compatible(lambda body: refused(OUT_OF_ROOM)) as (server, backend):
        _, error = await fail(backend)
    assert error.kind == "empty" and len(server.bodies) == 2


async def test_tools_are_kept_if_only_the_thinking_is_in_their_way() -> None:
    def answer(body: Any) -> Reply:
        fits = "tools" not in body or body.get("reasoning_effort") == "none"
        return SPEECHES["compatible"].answer() if fits else refused(TOOLS_WITH_EFFORT)

    async with compatible(answer, "gpt-5.4") as (server, backend):
        for _ in range(2):
            assert not [item for item in await ask(backend, WITH_TOOLS) if isinstance(item, Notice)]
    assert all("tools" in body for body in server.bodies)
    assert [body.get("reasoning_effort") for body in server.bodies] == [None, "none", "none"]


async def test_values_that_a_server_lists_are_used_and_kept_for_the_next_session(tmp_path: Path) -> None:
    def answer(body: Any) -> Reply:
        known = body.get("reasoning_effort") in ("minimal", "low", "medium", "high")
        return SPEECHES["openai"].answer() if known else refused(EFFORTS, param="reasoning_effort")

    async with Server(answer) as server:
        for _ in range(2):
            backend = OpenAICompatibleBackend(base_url=server.url, model="gpt-5", api_key="x", provider="openai")
            backend.records = ModelRecords(lambda: tmp_path / "records.json")
            async with opening(backend):
                assert await say(backend) == TEXT
    assert [body["reasoning_effort"] for body in server.bodies] == ["none", "minimal", "minimal"]


def test_what_a_refusal_says_decides_on_the_next_form() -> None:
    form = replace(RequestForm(), efforts=("none", "minimal"))
    refusal = Refusal("reasoning_effort: 'none'. Supported values are: 'low', 'high'.", "reasoning_effort")
    assert next(forms_after(form, refusal)).efforts == ("low", "high")
    text = "Function call is missing a thought_signature in functionCall parts."
    assert not list(forms_after(RequestForm(), Refusal(text)))
    refusal = Refusal("Unsupported with tools and this temperature: see max_tokens.", "temperature")
    form = RequestForm()
    assert next(forms_after(form, refusal)) == replace(form, temperature=False)


def test_an_older_request_does_not_undo_what_a_newer_one_taught() -> None:
    record, first = ModelRecord(), first_form("openai", "gpt-5")
    older = replace(first, efforts=("low",))
    newer = replace(first, efforts=("minimal", "low"), usage=False)
    record.accepted(first, first, newer, set())
    record.accepted(first, first, older, set())
    assert record.form(first) == newer


SHOWN_OLD: dict[str, Any] = {"capabilities": ["completion", "tools", "thinking"]}
SHOWN_NEW = {**SHOWN_OLD, "thinking": {"values": ["low", "medium", "high"], "default": "medium"}}


def gpt_oss(body: Any) -> Reply:
    """Thinks whatever `think` says, for 200 tokens at the level "low" and 400 otherwise."""
    speech = SPEECHES["ollama"]
    needs, room = 200 if body.get("think") == "low" else 400, body["options"]["num_predict"]
    message = {"role": "assistant", "content": "", "thinking": "They ask where it is."}
    thought = line({"model": speech.model, "message": message, "done": False})
    words, finish = (("Paris", " is", " it."), "stop") if room > needs else ((), "length")
    answer = speech.answer(words, finish=finish)
    return replace(answer, parts=(thought, *answer.parts))


async def ask_gpt_oss(shown: dict[str, Any], answer: Any = gpt_oss) -> list[tuple[Any, int]]:
    standing = {**SPEECHES["ollama"].standing("tiny:latest"), "/api/show": whole(200, shown)}  # type: ignore[attr-defined]
    async with opened("ollama", wire=Server(answer, standing)) as (server, backend):
        for _ in range(3):
            assert await say(backend, replace(REQUEST, max_tokens=160)) == TEXT
    return [(seen.body.get("think"), seen.body["options"]["num_predict"]) for seen in server.seen]


async def test_a_model_that_thinks_anyway_is_asked_twice_once_unless_its_levels_are_listed() -> None:
    assert await ask_gpt_oss(SHOWN_OLD) == [(False, 160), (False, 1280), ("low", 1280), ("low", 1280)]
    assert await ask_gpt_oss(SHOWN_NEW) == [("low", 1280)] * 3


async def test_a_level_that_is_refused_is_not_sent_again() -> None:
    def answer(body: Any) -> Reply:
        if body.get("think") == "low":
            return SPEECHES["ollama"].refusal(400, 'think value "low" is not supported for this model')
        return gpt_oss(body)

    thinks = [think for think, _ in await ask_gpt_oss(SHOWN_OLD, answer)]
    assert thinks == [False, False, "low", False, False]


async def test_thoughts_that_a_server_streams_get_room_from_the_next_question_on() -> None:
    speech = SPEECHES["compatible"]
    thought = speech.delta("").replace(b'"content": ""', b'"content": "", "reasoning_content": "Hm. "')
    answer = speech.answer()
    items, bodies = await answers_to("compatible", *[replace(answer, parts=(thought, *answer.parts))] * 2, times=2)
    assert Thinking(4, "Hm. ") in items and [body["max_tokens"] for body in bodies] == [50, 400]


async def test_a_server_that_loads_its_model_is_waited_for() -> None:
    loading = whole(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    items, _ = await answers_to("compatible", *[loading] * 8, SPEECHES["compatible"].answer())
    notices = [item.sentence for item in items if isinstance(item, Notice)]
    assert len(notices) == 1 and "still loading" in notices[0]
    assert words_in(items) == TEXT


async def test_how_long_a_first_token_may_take_is_kept_with_the_server() -> None:
    late = replace(SPEECHES["compatible"].answer(), wait=30.0)
    async with compatible(lambda body: late) as (_, backend):
        assert backend.record is not None
        backend.record.first_token_seconds = 0.2
        _, error = await fail(backend)
    assert error.kind == "timeout"


async def test_tokens_of_thinking_that_only_the_total_counts_are_paid_for() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 125}
    chunk = event({"id": "x", "object": "chat.completion.chunk", "created": 1, "choices": [], "usage": usage})
    answer = SPEECHES["compatible"].answer(usage=(0, 0, 0))
    items, _ = await answers_to("compatible", Reply(200, SSE, parts=(*answer.parts[:-1], chunk, answer.parts[-1])))
    assert Usage(20, 105) in items


def test_the_thoughts_of_a_superseded_stream_are_paid_for() -> None:
    """The server doesn't count what is broken off."""

    def reply(request: ChatRequest) -> ScriptedAnswer:
        if request.messages[-1].content.endswith("France?"):  # type: ignore[union-attr]
            return ScriptedAnswer(("Paris", " is", " it."))
        return ScriptedAnswer((Thinking(4_000),) * 200, 0.1, 0.1)

    script = [ScriptedTurn(1.0, 4.0, "Could you please tell me now what is the capital of France?")]
    talk = simulate(script, reply, cost=lambda backend, usage: usage.tokens_out * 1e-6)
    [superseded, *_] = [c for c in talk.of(e.OracleCounted) if c.revision == 1]
    assert superseded.tokens_out >= 4_000 and not superseded.counted


def test_the_user_is_informed_once_that_the_model_is_thinking() -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        return ScriptedAnswer((*[Thinking(20)] * 200, "Paris", " is", " it."), 0.1, 0.1)

    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
    talk = simulate(script, reply, seconds=40, answer_mode="after")
    assert talk.said(1) == "I'm still thinking. Paris is it."
    assert [notice.sentence for notice in talk.of(e.Notice)] == [
        "Scripted is still thinking. Its answer comes when it has finished."
    ]
    assert len(talk.of(e.OracleRequested)) == 1
    assert [d.action for d in talk.of(e.SpeechDecided) if d.rule == "model thinks"] == ["clause"]


# -- limits --------------------------------------------------------------------------------------------


@cases(
    "headers, limit",
    (("60", "59", "1s"), (60.0, 0.0)),
    (("14400", "14370", "2m59.56s"), (10.0, 0.0)),  # Groq: a limit a day
    (("10", "0", "6m0s"), (10 / 6, 360.0)),
    (("500", "499", "120ms"), (500.0, 0.0)),
    (("many", "few", "soon"), (None, 0.0)),
    (("60", "60", "0s"), (None, 0.0)),
)
def test_the_limit_that_a_server_states(headers: tuple[str, str, str], limit: tuple[float | None, float]) -> None:
    names = ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
    found, rest = rate_limit(dict(zip(names, headers, strict=True)))
    assert (found and round(found, 1), rest) == (limit[0] and round(limit[0], 1), limit[1])
    assert rate_limit({}) == (None, 0.0)


async def test_a_stated_limit_replaces_the_assumed_one() -> None:
    values = {"limit": "60", "remaining": "58", "reset": "2s"}
    headers = {f"x-ratelimit-{name}-requests": value for name, value in values.items()}
    answer = SPEECHES["compatible"].answer()
    async with compatible(lambda body: replace(answer, headers={**answer.headers, **headers})) as (_, backend):
        await say(backend)
        assert backend.record is not None and backend.record.pace_of(backend.traits).budget.limit == 60


def test_a_session_is_not_starved_by_the_requests_of_an_earlier_one() -> None:
    records = ModelRecords()
    counts = []
    script = [ScriptedTurn(1.0 + 8 * n, 5.0 + 8 * n, "Now tell me something about Norway please") for n in range(2)]
    for _ in range(2):
        backend = ScriptedBackend(lambda request: ScriptedAnswer(("It", " is", " cold."), 0.05, 0.01))
        backend.record = records.of("server", "model")  # type: ignore[attr-defined]
        talk = simulate(script, lambda request: ScriptedAnswer(()), backend=backend)
        counts.append(len([r for r in talk.of(e.OracleRequested) if not r.final]))
    assert counts[0] > 2 and counts[1] > 2


def test_what_a_list_of_models_states_is_not_tried_out() -> None:
    form = RequestForm()
    stated = stated_form(form, ["max_completion_tokens", "tools"])
    assert (stated.limits, stated.temperature) == (("max_completion_tokens",), False)
    assert stated_form(form, None) == stated_form(form, []) == form
    assert stated_form(form, ["temperature"]).tools, "the user is to know if tools are left out"


def test_a_stated_limit_caps_the_growth_and_does_not_undo_a_refusal() -> None:
    budget = RequestBudget()
    budget.stated(20)
    for at in range(8):
        budget.sent(float(at))
    budget.refused(8.0, 10.0)
    budget.stated(20)
    assert budget.limit is not None and budget.limit < 7
    for minute in range(1, 60):
        budget.allows("partial", 60.0 * minute)
    assert budget.limit == 20


# -- the file ------------------------------------------------------------------------------------------


def kept(path: Path) -> ModelRecords:
    return ModelRecords(lambda: path)


async def test_records_are_kept_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    records = kept(path)
    record = records.of("http://me:sk-1@host:80/v1/?key=sk-2", "tiny")
    record.thinks("low")
    record.learned["temperature"] = False
    record.wants_key = False
    for seconds in (0.3, 0.1, 0.2):
        record.pace.began(seconds)
    record.pace.began(9.0, "cold")
    record.pace.budget.stated(30)
    await records.keep()
    text = path.read_text()
    assert "sk-" not in text and "me:" not in text
    again = kept(path).of("http://host:80/v1", "tiny")
    form = again.form(RequestForm())
    assert (form.room, form.efforts, again.wants_key) == (8, ("low",), False)
    assert again.pace.first_seconds == 0.2 and list(again.pace.first_words["cold"]) == [9.0]
    assert again.pace.budget.limit == 30 and again.pace_of(SPEECHES_TRAITS).budget.limit == 30
    assert form.temperature and again.doubted == {"temperature": False}, "one refusal confirms it"


SPEECHES_TRAITS = OpenAICompatibleBackend(base_url="https://host.example/v1", model="m").traits


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 1, "models": [{"server": 1}]}'])
async def test_an_unreadable_file_is_an_empty_one(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "records.json"
    path.write_text(text)
    records = kept(path)
    record = records.of("http://host", "tiny")
    assert not record.learned and len(caplog.records) == 1
    record.thinks()
    await records.keep()
    assert len(caplog.records) == 1 and kept(path).of("http://host", "tiny").learned == {"room": 8}


async def test_a_file_of_a_newer_version_of_the_app_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    records = kept(path)
    path.write_text(newer := '{"version": 99, "models": []}')
    record = records.of("http://host", "tiny")
    record.thinks()
    await records.keep()
    assert path.read_text() == newer and records.of("http://host", "tiny") is record


async def test_two_processes_keep_what_each_has_learned(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    one, other = kept(path), kept(path)
    one.of("http://host", "one").thinks()
    other.of("http://host", "other").thinks()
    await asyncio.gather(one.keep(), asyncio.sleep(0))
    await other.keep()
    assert {row["model"] for row in json.loads(path.read_text())["models"]} == {"one", "other"}


async def test_the_keyring_is_opened_only_for_a_server_that_wants_a_key() -> None:
    speech, records, looked_up = SPEECHES["compatible"], ModelRecords(), list[object]()

    def key(names: object) -> str:
        looked_up.append(names)
        return SECRET

    async def ask_it(wire: Wire) -> None:
        made = make_backend("compatible", model="tiny", base_url=f"{wire.url}/v1", key=key, records=records)
        async with opening(made):
            assert await say(made) == TEXT

    async with Wire([speech.answer(), speech.answer()]) as wire:
        await ask_it(wire)
        await ask_it(wire)
        assert not looked_up and records.wants_key(f"{wire.url}/v1") is False
    async with Wire([speech.refusal(401, "Give a key"), speech.answer(), speech.answer()]) as wire:
        await ask_it(wire)
        assert len(looked_up) == 1 and [SECRET in str(seen.headers) for seen in wire.seen] == [False, True]
        await ask_it(wire)
        assert len(looked_up) == 2 and SECRET in str(wire.seen[-1].headers) and len(wire.seen) == 3


async def test_the_last_round_of_tools_is_sent_with_them_and_without_a_choice() -> None:
    request = replace(WITH_TOOLS, may_call=False)
    _, [body] = await answers_to("compatible", SPEECHES["compatible"].answer(), request=request)
    assert body["tools"] and body["tool_choice"] == "none"


async def test_a_server_without_tool_choice_gets_no_tools_in_the_last_round() -> None:
    def answer(body: Any) -> Reply:
        return refused("Unknown parameter: tool_choice", param="tool_choice") if "tool_choice" in body else good

    good = SPEECHES["compatible"].answer()
    async with compatible(answer) as (server, backend):
        await say(backend, replace(WITH_TOOLS, may_call=False))
        await say(backend, WITH_TOOLS)
    assert ["tools" in body for body in server.bodies] == [True, False, True]
