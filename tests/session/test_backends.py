"""What a conversation's back-ends are told, may use and cost; one that can't be opened; and limits of their rate."""

import asyncio
import itertools
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from app.backend.base import Backend, BackendError, ChatRequest, StreamItem, Usage
from app.backend.model_record import ModelRecord
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.record.revisions import ConversationUsage, RevisionLog
from app.session.control import BackendChoice, Style, ToolChoice
from app.session.session import Session
from app.tools.base import ToolCall, ToolMessage
from app.tools.calculator import Calculator
from app.tools.mcp_tool import McpServer
from app.tools.toolbox import Toolbox, make_toolbox
from tests.session.test_swaps import QUESTION, Makers, choose, words_of
from tests.support.rule_server import RateLimit
from tests.support.scripted import ScriptedTurn
from tests.support.tables import cases
from tests.support.talks import Talk, at, change, hand_over, making, simulate

TURNS = [ScriptedTurn(1 + 10 * n, 4 + 10 * n, f"Now tell me something about the number {n} please") for n in range(12)]


def talk_with_cap(cap: float, **more: object) -> Talk:
    def priced(backend: Backend, usage: Usage) -> float:
        return 0.0 if backend.traits.free else 0.01

    return simulate(TURNS, lambda r: answer("Here you are, that is all."), seconds=125, cost=priced, cap=cap, **more)  # type: ignore[arg-type]


def test_a_cap_slows_repeated_requests_first_then_stops_and_is_reported_and_the_conversation_continues() -> None:
    free = talk_with_cap(0.0)
    a_turn = len([r for r in free.of(e.OracleRequested) if r.turn == 1])
    assert a_turn >= 3 and not free.of(e.BudgetChanged)
    cap = round(0.01 * len(free.of(e.OracleRequested)) / 2, 3)
    talk = talk_with_cap(cap)
    stages = talk.of(e.BudgetChanged)
    assert [s.stage for s in stages] == ["slow", "stop"]
    slow, stop = stages
    between = [r for r in talk.of(e.OracleRequested) if slow.at < r.at < stop.at]
    by_turn = {r.turn: sum(1 for x in between if x.turn == r.turn) for r in between}
    assert max(by_turn.values()) < a_turn, "restarts became rarer"
    assert not [r for r in talk.of(e.OracleRequested) if r.at > stop.at]
    sentences = [f.sentence for f in talk.of(e.Failure)]
    assert "less often" in sentences[0] and "Raise the spending limit" in sentences[1]
    refused = {t.turn for t in talk.of(e.TranscriptFinal)} - {r.turn for r in talk.of(e.OracleRequested)}
    assert len(sentences) - 2 == len(refused) and all("is not answered" in text for text in sentences[2:])
    log, usage = RevisionLog(), ConversationUsage()
    for event in talk.events:
        usage.apply(event, log.apply(event))
    assert cap <= usage.total.cost <= cap + 0.03, "what was under way when the cap was reached is all that came on top"
    assert len(talk.of(e.TranscriptFinal)) == len(TURNS), "it still listens"


def test_after_the_cap_a_free_backend_is_asked_and_a_higher_cap_lets_the_other_continue() -> None:
    async def steps(session: Session) -> None:
        await change(session, backend=BackendChoice("scripted", "home"))
        await asyncio.sleep(20)
        await change(session, backend=BackendChoice())  # the first one again
        session.change(cap=9.0)

    home = ScriptedBackend(lambda r: answer("I am free."), name="Home", model="home", free=True)
    talk = talk_with_cap(0.05, make_backend=making(lambda _: home), during=at(60.0, steps))
    models = {r.turn: r.model for r in talk.of(e.OracleRequested)}
    assert 4 not in models and models[7] == models[8] == "home" and models[10] == "script"
    assert talk.of(e.BudgetChanged)[-1].stage == "free"


@cases(
    "free, answers",
    (lambda session: session.change(cap=9.0), "It is a city."),
    (choose("home"), "I am free."),
    (lambda session: hand_over(session), "I am free."),
    ids=["the cap is raised", "a free back-end", "the comparison model"],
)
def test_what_the_cap_left_unanswered_is_answered_once(free: Callable[[Session], object], answers: str) -> None:
    def during(session: Session) -> None:
        at(9.0, free)(session)
        at(14.0, choose("other"))(session)  # nobody waits by then

    talk = simulate(
        QUESTION,
        lambda r: answer("It is a city."),
        seconds=20,
        cost=lambda b, u: 0.01,
        cap=0.001,
        make_backend=making(
            lambda choice: ScriptedBackend(lambda r: answer("I am free."), model=choice.model, free=True)
        ),
        secondary=BackendChoice("scripted", "home"),
        during=during,
    )
    [refused] = [f for f in talk.of(e.Failure) if f.about == "unanswered"]
    assert refused.at < 8 and talk.said(1).endswith(answers)
    assert 9 <= talk.of(e.AssistantStarted)[-1].at < 10
    assert not [r for r in talk.of(e.OracleRequested) if r.at > 13]


def test_style_is_reported_kept_and_changed_live(tmp_path: Path) -> None:
    talk = simulate(
        [*QUESTION, ScriptedTurn(12.0, 13.5, "And what of Spain?")],
        lambda r: answer("Well, here it is."),
        seconds=25,
        record=tmp_path / "talk",
        style=Style("You are Ada, a pirate.", 1.2, "short"),
        during=at(8.0, lambda s: s.change(style=Style(length="long"))),
    )
    first, last = talk.backend.requests[0], talk.backend.requests[-1]
    assert first.messages[0].content.startswith("You are Ada, a pirate. Your answer is read aloud")  # type: ignore[union-attr]
    assert first.temperature == 1.2 and first.max_tokens < last.max_tokens and last.temperature == 0.3
    assert "friendly voice assistant" in last.messages[0].content  # type: ignore[union-attr]
    kept = talk.of(e.ConversationConfigured)
    assert [(k.persona, k.temperature, k.length) for k in kept] == [
        ("You are Ada, a pirate.", 1.2, "short"),
        ("", None, "long"),
    ]
    assert '"persona":"You are Ada, a pirate."' in (tmp_path / "talk" / "events.jsonl").read_text("utf-8")


def test_the_prompts_of_a_turn_share_their_beginning_so_that_caches_hit() -> None:
    talk = simulate(TURNS[:6], lambda r: answer("Here you are, that is all I know."), seconds=65)
    turns = [r.turn for r in talk.of(e.OracleRequested)]
    requests = talk.backend.requests
    for number, (before, after) in enumerate(itertools.pairwise(requests)):
        if turns[number] == turns[number + 1]:
            assert before.messages[:-1] == after.messages[:-1]
        else:
            assert after.messages[: len(before.messages) - 1] == before.messages[:-1]


def test_a_tool_is_used_by_permission_reported_as_events_and_the_answer_uses_it() -> None:
    def script(request: ChatRequest) -> ScriptedAnswer:
        result = next((m.text for m in request.messages if isinstance(m, ToolMessage)), "")
        if result:
            return answer(f"It makes {result}.")
        if request.tools:
            return ScriptedAnswer((ToolCall("1", "calculator", '{"expression": "17 * 23"}'),))
        return answer("I can only guess.")

    async def settle(session: Session) -> None:
        await change(session, tools=ToolChoice(("calculator",)))

    question = [ScriptedTurn(1.0, 3.0, "What is seventeen times twenty three?")]
    without = simulate(question, script, make_tools=lambda c: make_toolbox(c.names))
    assert without.said(1) == "I can only guess." and not without.of(e.ToolCalled), "off by default"
    talk = simulate(question, script, make_tools=lambda c: make_toolbox(c.names), during=at(0.2, settle))
    assert talk.said(1) == "It makes 17 times 23 equals 391."
    called, returned = talk.of(e.ToolCalled)[0], talk.of(e.ToolReturned)[0]
    assert called.name == "calculator" and "17 * 23" in called.arguments
    assert returned.ok and returned.text == "17 * 23 = 391" and returned.revision == called.revision
    assert talk.of(e.ConversationConfigured)[-1].tools == ("calculator",)
    assert not talk.tasks_left


def test_tools_chosen_again_are_created_again_only_where_a_server_was_changed() -> None:
    class Box(Toolbox):
        def __init__(self, command: str) -> None:
            super().__init__([Calculator()], servers=[McpServer("s", command)])
            self.did: list[str] = []

        async def open(self) -> list[str]:
            self.did.append("open")
            return []

        async def close(self) -> None:
            self.did.append("close")

    boxes: list[Box] = []
    commands = iter(["one", "one", "two"])

    def make(choice: ToolChoice) -> Toolbox:
        boxes.append(Box(next(commands)))
        return boxes[-1]

    before: list[list[str]] = []

    async def settle(session: Session) -> None:
        for _ in range(3):
            await change(session, reopen=["tools"], tools=ToolChoice(("calculator", "mcp:s")))
        before.extend(list(box.did) for box in boxes)

    simulate([ScriptedTurn(1.0, 3.0, "Hello there?")], lambda r: answer("Hi."), make_tools=make, during=at(0.2, settle))
    assert before == [["open", "close"], [], ["open"]]
    assert [box.did for box in boxes] == [["open", "close"], [], ["open", "close"]]


def test_a_server_that_asks_for_patience_is_left_alone_until_the_turn_is_over() -> None:
    class Busy(ScriptedBackend):
        async def _items(self, reply):  # type: ignore[no-untyped-def]
            raise BackendError("It takes no more requests. Ask again in 29 seconds.", "quota", retry_after=29.0)
            yield ""

    busy = Busy(lambda request: answer(""), name="BUSY", model="busy")
    talk = simulate(TURNS[:4], lambda r: answer(""), seconds=45, backend=busy)
    asked = talk.of(e.OracleRequested)
    early = [r for r in asked if r.at < 31 and not r.final]
    assert len(early) == 1, "the first one told it"
    assert {r.turn for r in asked if r.final} == {1, 4}, "the server has said that it refuses the others"
    first, last = [failure.sentence for failure in talk.of(e.Failure)]
    limit, *waiting = [notice.sentence for notice in talk.of(e.Notice)]
    assert "asked only when you have finished" in limit
    assert first == last == "It takes no more requests. Ask again in 29 seconds."
    assert [sentence.partition(", ")[2] for sentence in waiting] == [
        f"so the answer comes in {seconds} seconds." for seconds in (19, 9)
    ]


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
def test_the_measured_pace_of_a_backend_is_reported_and_used(answer_mode: e.AnswerMode) -> None:
    talk = simulate(
        TURNS[:5],
        lambda r: answer("One two three four five six seven.", first=0.05, every=0.01),
        seconds=60,
        answer_mode=answer_mode,
    )
    counted = talk.of(e.OracleCounted)
    assert counted[-1].interval_ms < 150 and counted[-1].first_ms == pytest.approx(50, abs=30)
    assert counted[-1].words_per_second and not counted[-1].counted
    slow = simulate(
        TURNS[:5],
        lambda r: answer("One two three four five six seven.", first=0.45, every=0.2),
        seconds=60,
        answer_mode=answer_mode,
    )
    assert slow.of(e.OracleCounted)[-1].interval_ms == 500
    if answer_mode == "thinking":
        assert len(slow.of(e.OracleRequested)) < len(talk.of(e.OracleRequested))


def test_after_a_failed_swap_the_choice_can_be_made_again() -> None:
    works = {"now": False}

    def script(model: str, request: ChatRequest) -> ScriptedAnswer:
        if model == "new" and not works["now"]:
            return ScriptedAnswer((), 0.1, 0.0, "New refuses the API key. Check the key.")
        return answer(words_of(model, 5))

    makers = Makers(script)

    async def steps(session: Session) -> None:
        choose("new")(session)
        await asyncio.sleep(8)
        works["now"] = True  # the user has mended the key
        choose("new")(session)

    talk = makers.talk(
        "old", [*QUESTION, ScriptedTurn(12.0, 13.5, "And what of Spain?")], seconds=25, during=at(0.0, steps)
    )
    assert talk.said(1) == words_of("old", 5) and talk.said(2) == words_of("new", 5)
    assert [b.model for b in makers.made] == ["old", "new", "new"], "made anew, with the key of now"


FALLBACK = BackendChoice(model="small")
REASON = "No server answers at the address. Start it."
SCRIPT = [ScriptedTurn(1.0, 2.5, "Where is it now?"), ScriptedTurn(9.0, 10.5, "And where is that?")]


class Wanted(ScriptedBackend):
    """One of several back-ends that are made for the same choice. The first `failing` can't be opened. `seconds`: how
    long opening takes."""

    made = 0

    def __init__(self, failing: float, seconds: float) -> None:
        super().__init__(lambda request: answer("The wanted one answers."), model="big")
        self._works, self._seconds = Wanted.made >= failing, seconds
        Wanted.made += 1

    async def open(self) -> None:
        await asyncio.sleep(self._seconds)
        if not self._works:
            raise BackendError(REASON, "network")


def talk(
    failing: float, seconds: float, *, has_fallback: bool = True, retries: Sequence[float] = ()
) -> tuple[Talk, list[Wanted]]:
    Wanted.made, made = 0, list[Wanted]()

    async def make(choice: BackendChoice) -> ScriptedBackend:
        if choice == FALLBACK:
            if not has_fallback:
                raise BackendError("There is no model file.", "setup")
            return ScriptedBackend(lambda request: answer("The fallback answers."), model="small")
        made.append(Wanted(failing, seconds))
        return made[-1]

    def try_again(session: Session) -> None:
        for second in retries:
            asyncio.get_running_loop().call_later(second, partial(session.change, reopen=["backend"]))

    asyncio.run(make(BackendChoice()))
    done = simulate(
        SCRIPT,
        lambda request: answer(""),
        backend=made[0],
        make_backend=make,
        fallback_backend=FALLBACK,
        seconds=16.0,
        during=try_again,
    )
    return done, made


def test_another_one_answers_until_the_wanted_one_can_be_opened() -> None:
    heard, made = talk(failing=3, seconds=0.1)
    assert (heard.said(1), heard.said(2)) == ("The fallback answers.", "The wanted one answers.")
    (told,) = heard.of(e.Failure)
    assert told.sentence == f"Scripted can't be used yet, so Scripted (small) answers. {REASON}"
    (change,) = heard.of(e.BackendChanged)
    assert (change.model, change.reason) == ("big", "chosen") and 1.0 < change.at < 9.0
    assert len(made) == 4 and not heard.tasks_left


def test_the_user_can_have_the_wanted_one_tried_now() -> None:
    heard, _ = talk(failing=5, seconds=0.1, retries=(5.0, 6.0))
    assert len(heard.of(e.Failure)) == 2, "the user who tries again is told that it failed again"
    (change,) = heard.of(e.BackendChanged)
    assert change.model == "big" and 6.0 < change.at < 7.0, "and it is not given up after that"
    assert heard.said(2) == "The wanted one answers." and not heard.tasks_left


class Failing(ScriptedBackend):
    """Its server stops answering once it is open."""

    def __init__(self, model: str) -> None:
        super().__init__(lambda request: answer(""), model=model)

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        raise BackendError(REASON, "network")
        yield


@pytest.mark.parametrize("earlier", [False, True], ids=["alone", "another model of that server before"])
def test_the_fallback_answers_the_question_when_the_server_stops(earlier: bool) -> None:
    fallback = ScriptedBackend(lambda request: answer("The fallback answers."), model="small")

    async def make(choice: BackendChoice) -> ScriptedBackend:
        return fallback if choice == FALLBACK else Failing("other")

    def choose_another(session: Session) -> None:
        if earlier:
            session.change(backend=BackendChoice(model="other"))

    heard = simulate(
        SCRIPT[:1],
        lambda request: answer(""),
        backend=Failing("big"),
        make_backend=make,
        fallback_backend=FALLBACK,
        during=choose_another,
    )
    assert heard.said(1) == "The fallback answers." and not heard.tasks_left
    told = heard.of(e.Failure)
    assert [one.sentence for one in told] == [f"{REASON} The built-in model answers meanwhile."]
    assert [one.model for one in heard.of(e.BackendChanged)] == [*(["other"] if earlier else []), "small"]


def test_another_one_answers_while_the_wanted_one_takes_long_to_open_or_never_opens() -> None:
    heard, made = talk(failing=0, seconds=8.0)
    assert (heard.said(1), heard.said(2)) == ("The fallback answers.", "The wanted one answers.")
    assert not heard.of(e.Failure) and len(made) == 1
    heard, made = talk(failing=math.inf, seconds=math.inf)
    assert heard.said(2) == "The fallback answers."
    assert not heard.tasks_left and made[0].closed


def test_without_another_one_the_reason_is_raised() -> None:
    with pytest.raises(BackendError, match="No server answers"):
        talk(failing=math.inf, seconds=0.1, has_fallback=False)


WORDS = "Could you please tell me what the weather is going to be like in the north of Norway tomorrow"
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
QUESTIONS = [ScriptedTurn(1 + 15 * n, 5 + 15 * n, f"{WORDS} {number}") for n, number in enumerate(NUMBERS)]
"""Four questions a minute, each four seconds long."""


class Limited(ScriptedBackend):
    """Refuses requests beyond `per_minute`, counted as providers do, and says how long to wait."""

    def __init__(self, per_minute: int | None) -> None:
        super().__init__(lambda request: answer("The answer is about forty two. It is so."), name="Google")
        self._limit = RateLimit(per_minute)
        self.refused = 0
        self.record = ModelRecord()

    async def _items(self, reply):
        if wait := self._limit.take(asyncio.get_running_loop().time()):
            self.refused += 1
            await asyncio.sleep(0.1)
            raise BackendError("Google takes no more requests.", "quota", retry_after=wait)
        async for item in super()._items(reply):
            yield item


def limited(per_minute: int | None, mode: e.AnswerMode = "thinking", *, stated: bool = False) -> tuple[Limited, Talk]:
    backend = Limited(per_minute)
    if per_minute and stated:
        backend.record.pace.budget.stated(per_minute)
    return backend, simulate(QUESTIONS, lambda _: answer(""), seconds=195, backend=backend, answer_mode=mode)


def answered(talk: Talk) -> set[int]:
    return {said.turn for said in talk.of(e.AssistantSaid)}


def first_sounds(talk: Talk) -> list[float]:
    return [round(a.at - b.end, 2) for a, b in zip(talk.of(e.AssistantStarted), QUESTIONS, strict=True)]


@pytest.mark.parametrize("mode", ["thinking", "after"])
@pytest.mark.parametrize("per_minute", [10, 15, 30, 60, None])
def test_every_question_is_answered(per_minute: int | None, mode: e.AnswerMode) -> None:
    backend, held = limited(per_minute, mode)
    assert answered(held) == set(range(1, 13))
    assert max(first_sounds(held)) <= 0.6, "as without a limit"
    assert backend.refused == 0 and not held.tasks_left


@pytest.mark.parametrize(("per_minute", "told"), [(10, ["10 requests a minute"]), (600, [])])
def test_that_early_requests_are_left_out_is_said_once(per_minute: int, told: list[str]) -> None:
    _, held = limited(per_minute, stated=True)
    sentences = [notice.sentence for notice in held.of(e.Notice)]
    assert all(words in sentence for words, sentence in zip(told, sentences, strict=True))
    assert answered(held) == set(range(1, 13))
