"""What goes wrong with back-ends and tools, and what comes of it: nothing twice, nobody stranded, nothing left."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.backend.base import Backend, BackendError, ChatRequest, FaultKind, Usage
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.session.backend_pool import BackendPool
from app.session.control import BackendChoice, SessionState, ToolChoice
from app.session.session import Session
from app.tools.base import ToolCall, ToolMessage, ToolSpec
from app.tools.calculator import Calculator
from app.tools.toolbox import Toolbox
from tests.session.test_swaps import QUESTION, Makers, choose, words_of
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, at, change, hand_over, making, simulate

TWO = [*QUESTION, ScriptedTurn(13.0, 14.5, "And what of Spain then?")]


def sentences(model: str, count: int) -> str:
    """So many words that tell whose they are, in sentences of four, so that they are spoken as they come."""
    return " ".join(f"{model if n % 4 else model.title()}{n}" + "." * (n % 4 == 3) for n in range(count))


def scripted(model: str) -> BackendChoice:
    return BackendChoice("scripted", model)


class Failing(ScriptedBackend):
    """Fails its first `times` requests in a way of one's choice, before any word."""

    def __init__(self, model: str, kind: FaultKind = "server", *, times: int = 99, retry_after: float = 0.0) -> None:
        super().__init__(lambda request: answer(words_of(model, 5)), name=model.upper(), model=model)
        self.left, self._kind, self._retry_after = times, kind, retry_after

    async def _items(self, reply: ScriptedAnswer):  # type: ignore[no-untyped-def,override]
        if self.left:
            self.left -= 1
            await asyncio.sleep(0.2)
            raise BackendError(f"{self.name} failed. Choose another.", self._kind, retry_after=self._retry_after)
        async for item in super()._items(reply):
            yield item


class Mail:
    """A tool that does something in the world, and notes when."""

    spec = ToolSpec("send", "Sends a mail.", {"type": "object", "properties": {}}, effect="changes")

    def __init__(self) -> None:
        self.sent: list[float] = []

    async def call(self, arguments: Mapping[str, Any]) -> str:
        self.sent.append(asyncio.get_running_loop().time())
        return "sent"


def with_mail(fails: str = "", *, unasked: bool = False, **more: object) -> tuple[Mail, Talk]:
    """A conversation with a tool that acts. `unasked`: the model calls it even where it isn't offered."""
    mail = Mail()

    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        if (request.tools or unasked) and not any(isinstance(m, ToolMessage) for m in request.messages):
            return ScriptedAnswer((ToolCall("1", "send", "{}"),))
        if model == fails:
            return ScriptedAnswer((), 0.1, 0.0, "It broke. Ask again.")
        return answer(words_of(model, 30), every=0.1)

    makers = Makers(script)
    talk = makers.talk(
        "old",
        seconds=25,
        make_tools=lambda choice: Toolbox([mail, Calculator()]),
        tools=ToolChoice(("send", "calculator")),
        consent="allow",
        **more,
    )
    return mail, talk


@pytest.mark.parametrize("unasked", [False, True])
def test_what_changes_the_world_is_done_once_for_a_complete_question(unasked: bool) -> None:
    mail, talk = with_mail(unasked=unasked)
    assert len(mail.sent) == 1 and mail.sent[0] >= talk.of(e.TranscriptFinal)[0].at


def test_the_secondary_backend_does_not_do_it_too() -> None:
    mail, talk = with_mail(secondary=scripted("secondary"))
    assert len(mail.sent) == 1 and [c.secondary for c in talk.of(e.OracleCounted)].count(True) > 0


@pytest.mark.parametrize("seconds", [1.0, 4.5])
def test_it_is_not_done_again_when_the_backend_fails_after_it_or_is_swapped_in_mid_answer(seconds: float) -> None:
    mail, talk = with_mail(fails="bad", during=at(seconds, choose("bad" if seconds < 2 else "new")))
    assert len(mail.sent) == 1
    assert ("old" if seconds < 2 else "new") in talk.said(1)


def test_a_backend_that_was_refused_is_created_again_when_it_is_chosen_again() -> None:
    made: list[str] = []

    async def make(choice: BackendChoice) -> Backend:
        made.append(choice.model)
        return ScriptedBackend(lambda request: answer(words_of("mended", 5)), model="mended")

    first = Failing("first", "key")
    talk = simulate(
        TWO,
        lambda r: answer(""),
        seconds=25,
        backend=first,
        make_backend=make,
        during=at(8.0, lambda session: session.change(reopen=["backend"])),
    )
    assert made == [""] and talk.said(2) == words_of("mended", 5) and first.closed


def test_mhm_in_mid_answer_asks_for_nothing_and_the_answer_continues() -> None:
    turns = [*QUESTION, ScriptedTurn(6.0, 6.5, "mhm", hum=True)]
    talk = simulate(turns, lambda r: answer(sentences("a", 32), every=0.25), seconds=30)
    assert talk.said(1) == sentences("a", 32)
    assert {r.turn for r in talk.of(e.OracleRequested)} == {1}
    assert talk.of(e.AssistantEnded)[-1].turn == 1


def test_a_swap_after_an_mhm_still_takes_the_answer_over() -> None:
    makers = Makers(lambda model, request: answer(sentences(model, 40), every=0.25))
    turns = [*QUESTION, ScriptedTurn(6.0, 6.5, "mhm", hum=True)]
    talk = makers.talk("old", turns, seconds=30, during=at(9.0, choose("new")))
    assert "Old0" in talk.said(1) and "new39" in talk.said(1)


def test_nothing_is_asked_and_nothing_reported_after_the_end() -> None:
    def during(session: Session) -> None:
        async def steps() -> None:
            await asyncio.sleep(5.0)
            stopping = asyncio.create_task(session.stop())
            for _ in range(20):
                session.backends.ask(2, "and some entirely other words", final=True, settled=True)
                hand_over(session)
                await asyncio.sleep(0.05)
            await stopping
            session.backends.ask(3, "and more of them", final=True, settled=True)
            await change(session, backend=scripted("late"))

        session.steps = asyncio.get_running_loop().create_task(steps(), name="steps")  # type: ignore[attr-defined]

    makers = Makers(lambda model, request: answer(words_of(model, 90), every=0.2))
    talk = makers.talk("old", seconds=20, secondary=scripted("secondary"), during=during)
    assert isinstance(talk.events[-1], e.SessionEnded) and talk.events[-1].at < 7
    assert sorted(x.revision for x in talk.of(e.OracleEnded)) == sorted(x.revision for x in talk.of(e.OracleRequested))
    assert talk.tasks_left <= {"steps"} and all(b.closed and not b.open_streams for b in makers.made)


@pytest.mark.parametrize("what", ["backend", "tools"])
def test_whatever_making_a_backend_or_tools_raises_the_conversation_continues(what: str) -> None:
    async def no_backend(choice: BackendChoice) -> Backend:
        raise ValueError("Invalid IPv6 URL")

    def no_tools(choice: ToolChoice) -> Toolbox:
        raise RuntimeError("boom")

    more: dict[str, Any] = (
        {"make_backend": no_backend, "secondary": scripted("x")}
        if what == "backend"
        else {"make_tools": no_tools, "tools": ToolChoice(("x",))}
    )
    talk = simulate(QUESTION, lambda r: answer("Here it is."), **more)
    assert talk.said(1) == "Here it is."
    [refused] = talk.of(e.ChangeRefused)
    assert refused.part == ("secondary" if what == "backend" else "tools") and "unexpected" in refused.sentence


@pytest.mark.parametrize("first", [True, False])
def test_a_conversation_waits_for_slow_tool_servers_where_it_is_to(first: bool) -> None:
    class Slow(Toolbox):
        async def open(self) -> list[str]:
            await asyncio.sleep(9)
            return ["The MCP server “slow” was not ready."]

    seen: list[tuple[str, ...]] = []

    def reply(request: ChatRequest) -> ScriptedAnswer:
        seen.append(tuple(spec.name for spec in request.tools))
        return answer("Here.")

    talk = simulate(
        QUESTION,
        reply,
        make_tools=lambda _: Slow([Calculator()]),
        tools=ToolChoice(("x",)),
        tools_first=first,
        seconds=6,
    )
    assert (("calculator",) in seen, () in seen) == (first, not first)
    told = [failure.sentence for failure in talk.of(e.Failure)]
    assert told == (["The MCP server “slow” was not ready."] if first else [])


def test_tools_that_are_still_being_opened_at_the_end_are_closed() -> None:
    class Slow:
        specs = ()
        closed = False

        async def open(self) -> list[str]:
            await asyncio.sleep(100)
            return []

        async def close(self) -> None:
            self.closed = True

    slow = Slow()
    talk = simulate(
        QUESTION,
        lambda r: answer("Here."),
        seconds=6,
        make_tools=lambda choice: slow,  # type: ignore[arg-type,return-value]
        tools=ToolChoice(("x",)),
    )
    assert slow.closed and talk.of(e.SessionEnded)[0].at < 20


def test_the_secondary_backend_that_takes_over_is_no_longer_secondary() -> None:
    class LaterBroken(ScriptedBackend):
        async def _items(self, reply: ScriptedAnswer):  # type: ignore[no-untyped-def,override]
            if asyncio.get_running_loop().time() > 12:
                raise BackendError("ASIDE failed. Choose another.", "server")
            async for item in super()._items(reply):
                yield item

    aside = LaterBroken(lambda request: answer(words_of("secondary", 5)), name="ASIDE", model="secondary")
    driver = ScriptedBackend(lambda request: answer(words_of("driver", 5)), name="DRIVER", model="driver")
    talk = simulate(
        TWO,
        lambda r: answer(""),
        seconds=25,
        backend=driver,
        make_backend=making(lambda _: aside),
        secondary=scripted("secondary"),
        during=at(9.0, lambda session: hand_over(session)),
    )
    assert talk.said(2) == words_of("driver", 5)
    assert talk.of(e.SecondaryChanged)[-1].backend == "", "one back-end can't be both"
    back = talk.of(e.BackendChanged)[-1]
    assert back.reason == "fallback"
    later = [r for r in talk.of(e.OracleRequested) if r.at > back.at and r.model == "driver"]
    assert later and not any(r.secondary for r in later)


def test_one_backends_retry_delay_is_not_anothers() -> None:
    busy = Failing("busy", "quota", retry_after=3600.0)
    quick = ScriptedBackend(lambda request: answer(words_of("quick", 5)), name="QUICK", model="quick")
    make, change = making(lambda _: quick), at(8.0, choose("quick"))
    talk = simulate(TWO, lambda r: answer(""), seconds=25, backend=busy, make_backend=make, during=change)
    assert len([r for r in talk.of(e.OracleRequested) if r.model == "quick" and not r.final]) >= 2
    assert talk.said(2) == words_of("quick", 5)


def test_a_guess_that_failed_is_not_taken_for_the_answer() -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        words = request.messages[-1].content  # type: ignore[union-attr]
        if words.endswith("France?") and not failed:
            failed.append(words)
            return ScriptedAnswer((), 0.03, 0.0, "A blip. Ask again.")
        return answer("whole answer." if words.endswith("France?") else "half answer.")

    failed: list[str] = []
    talk = simulate(QUESTION, reply, answer_mode="thinking")
    assert failed and "whole answer." in talk.said(1)


def test_the_backend_that_takes_over_is_one_that_has_worked() -> None:
    old = ScriptedBackend(lambda request: answer(words_of("old", 5)), name="OLD", model="old")

    async def twice(session: Session) -> None:
        await change(session, backend=scripted("bad1"))
        await change(session, backend=scripted("bad2"))

    failing = making(lambda choice: Failing(choice.model))
    talk = simulate(TWO, lambda r: answer(""), seconds=25, backend=old, make_backend=failing, during=at(8.0, twice))
    assert talk.said(2) == words_of("old", 5)


def test_what_a_tools_second_round_costs_is_counted_though_it_was_cut_off() -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        if any(isinstance(m, ToolMessage) for m in request.messages):
            return ScriptedAnswer(tuple(f" word{n}" for n in range(200)), 0.1, 0.1)
        return ScriptedAnswer((ToolCall("1", "calculator", '{"expression": "1+1"}'), Usage(100, 10)))

    from app.tools.toolbox import make_toolbox

    talk = simulate(
        QUESTION,
        reply,
        seconds=12,
        make_tools=lambda choice: make_toolbox(choice.names),
        tools=ToolChoice(("calculator",)),
    )
    cut = [c for c in talk.of(e.OracleCounted) if c.tokens_out > 10]
    assert cut and all(c.tokens_in > 100 and not c.counted for c in cut)


def test_one_backend_that_will_not_close_keeps_nobody_else_open() -> None:
    class Stuck(ScriptedBackend):
        async def close(self) -> None:
            raise RuntimeError("it will not")

    makers = Makers(lambda model, request: answer("Here."))
    stuck = Stuck(lambda request: answer("Here."))
    talk = simulate(QUESTION, lambda r: answer(""), backend=stuck, make_backend=makers, during=at(0.5, choose("new")))
    assert all(b.closed for b in makers.made) and isinstance(talk.events[-1], e.SessionEnded)


@pytest.mark.parametrize("how", ["swap", "hand over"])
def test_a_swap_after_an_early_start_that_was_taken_back_takes_the_answer_over(how: str) -> None:
    resumed = [ScriptedTurn(1.0, 3.0, "What is superposition?"), ScriptedTurn(3.5, 5.5, "And what is entanglement?")]
    makers = Makers(lambda model, request: answer(sentences(model, 40), every=0.02))
    do = choose("new") if how == "swap" else (lambda session: hand_over(session))
    talk = makers.talk(
        "old", resumed, seconds=30, secondary=scripted("new") if how == "hand over" else None, during=at(8.0, do)
    )
    assert talk.of(e.UserResumed) and len(talk.of(e.AssistantStarted)) == 2
    assert "new39" in talk.said(1)
    answered = talk.transcript.last("assistant")
    assert answered is not None and not answered.interrupted, "it went on"


async def test_a_backend_that_is_chosen_again_is_opened_once_and_anew_after_a_failure() -> None:
    made: list[ScriptedBackend] = []

    async def make(choice: BackendChoice) -> Backend:
        made.append(ScriptedBackend(lambda request: answer("")))
        return made[-1]

    first = used = ScriptedBackend(lambda request: answer(""))
    pool = BackendPool(make, first, scripted("x"), lambda backend: backend is used)
    assert await pool.get(scripted("x")) is first and not made
    pool.mark_failed(first)
    second = await pool.get(scripted("x"))
    assert second is made[0] and await pool.get(scripted("x")) is second
    assert await pool.get(scripted("y")) is await pool.get(scripted("y")) is made[1]
    await pool.close_spare()
    assert not first.closed and not second.closed
    used = second
    await pool.close_spare()
    assert first.closed and not second.closed
    await pool.close()
    assert all(backend.closed for backend in made)


def placed(model: str, kind: FaultKind, choice: BackendChoice | None = None) -> Failing:
    """A back-end that fails, made for a choice as the app makes them."""
    made = Failing(model, kind)
    choice = choice or BackendChoice("openai", model)
    made.made_for = (choice.provider, choice.model, choice.base_url)  # type: ignore[attr-defined]
    return made


def blamed(talk: Talk) -> set[tuple[str, str, str, bool]]:
    return {(f.provider, f.model, f.base_url, f.secondary) for f in talk.of(e.Failure)}


@pytest.mark.parametrize("secondary", [False, True])
@pytest.mark.parametrize("kind", ["key", "network", "server", "content"])
def test_a_failure_names_the_backend_whose_key_or_connection_may_be_at_fault(kind: FaultKind, secondary: bool) -> None:
    url = "https://ann:secret@server.example/v1"
    bad = placed("bad", kind, BackendChoice("compatible", "bad", url))
    good = ScriptedBackend(lambda request: answer(words_of("good", 5)))
    states: list[SessionState] = []
    choice = BackendChoice("compatible", "bad", url)
    talk = simulate(
        QUESTION,
        lambda r: answer(""),
        backend=good if secondary else bad,
        make_backend=making(lambda _: bad),
        secondary=choice if secondary else None,
        during=lambda session: session.on_state(states.append),
    )
    fixable = kind in ("key", "network")
    who = ("compatible", "bad", "https://server.example/v1") if fixable else ("", "", "")
    assert blamed(talk) == {(*who, secondary)}
    at_fault = {choice if secondary else BackendChoice()} if fixable else set()
    assert {fault.choice for fault in states[-1].faults} == at_fault
    assert all(f.sentence.startswith("The comparison model: ") == secondary for f in talk.of(e.Failure))
    assert not any("secret" in to_json(event) for event in talk.events)


def test_the_secondary_backend_that_a_conversation_began_without_is_reported() -> None:
    async def make(choice: BackendChoice) -> Backend:
        raise BackendError("There is no key for it.", "key")

    url = "https://ann:secret@server.example/v1"
    talk = simulate(QUESTION, lambda r: answer("Here."), make_backend=make, secondary=BackendChoice("openai", "m", url))
    [refused] = talk.of(e.ChangeRefused)
    assert (refused.part, refused.sentence) == ("secondary", "There is no key for it.")
    assert (refused.provider, refused.model, refused.base_url) == ("openai", "m", "https://server.example/v1")
