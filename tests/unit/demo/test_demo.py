"""Tests the swap demo without a window: its plan, times, failures, cancelling, and service."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from app import main as compose
from app.cli.parser import main
from app.demo import run
from app.demo.base import DemoOrder, DemoPlan, DemoProgress, DemoResult, chosen_backends
from app.demo.plan import duration, stations
from app.demo.report import document, lines
from app.demo.run import DemoRunner
from app.demo.service import QUESTIONS as ASKED
from app.demo.service import DemoService
from app.demo.stage import HeadlessStage
from app.services.backend_service import Offer
from app.session.errors import UserError
from tests.support.demo_talk import (
    BOTH_MANNERS,
    DEAR,
    FIRST,
    QUESTIONS,
    QUICK_ANSWER_MODE,
    SECOND,
    ScriptedDemoService,
    Voice,
)

PLAN = DemoPlan((FIRST, SECOND), (BOTH_MANNERS,))
QUICK = DemoPlan((FIRST, SECOND), (QUICK_ANSWER_MODE,), quick=True)


async def tour(
    service: ScriptedDemoService, plan: DemoPlan = PLAN, told: list[DemoProgress] | None = None
) -> DemoResult:
    async with asyncio.timeout(20):
        return await DemoRunner(
            HeadlessStage(service), service.questions, plan, (told if told is not None else []).append
        ).run()


# -- the way


def test_every_backend_is_asked_in_every_answer_mode_and_one_is_changed_in_mid_answer() -> None:
    stops = stations(PLAN, QUESTIONS)
    assert [(s.answer_mode, s.backend.label if s.backend else "") for s in stops] == [
        ("after", "Second"),
        ("after", "First"),
        ("thinking", "Second"),
        ("thinking", "First"),
    ]
    assert all(s.questions == QUESTIONS[:2] for s in stops)
    assert [s.swap_to for s in stops] == [None, None, None, SECOND] and stops[-1].swap is QUESTIONS[-1]
    assert all(s.choice.duplex for s in stops), "nobody is there to press a button"
    assert duration(stops, quick=False) > duration(stations(replace(PLAN, quick=True), QUESTIONS), quick=True)


def test_one_backend_alone_is_not_changed_and_a_voice_without_a_backend_is_asked_once() -> None:
    alone = stations(DemoPlan((FIRST,), (QUICK_ANSWER_MODE,)), QUESTIONS)
    assert [s.swap for s in alone] == [None]
    by_itself = replace(QUICK_ANSWER_MODE, key="moshi", backends=False)
    both = stations(DemoPlan((FIRST, SECOND), (QUICK_ANSWER_MODE, by_itself)), QUESTIONS)
    assert [s.backend for s in both] == [SECOND, FIRST, None] and both[1].swap_to is SECOND


# -- what it measures


async def test_it_tells_how_fast_each_backend_was_and_what_was_heard() -> None:
    service = ScriptedDemoService(voices={"": Voice(0.24), "second": Voice(0.88, "it is so")})
    told: list[DemoProgress] = []
    async with asyncio.timeout(20):
        result = await DemoRunner(HeadlessStage(service), QUESTIONS, PLAN, told.append).run()
    assert result.whole and len(result.answers) == 8
    by_backend = {
        a.backend.label: {round(b.response, 3) for b in result.answers if b.backend is a.backend and b.response}
        for a in result.answers
        if a.backend
    }
    assert by_backend == {"First": {0.24}, "Second": {0.88}}, "from the last sound of the question"
    assert {a.text for a in result.answers if a.backend is SECOND} == {"it is so"}
    assert not any(a.cut or a.trouble for a in result.answers if a.backend is SECOND)
    assert [(p.number, p.total) for p in told if p.asking] == [(n, 9) for n in range(1, 10)]
    assert told[-1].swapping and told[0].asking is None and told[0].number == 1
    assert all(talk.stopped == 1 for talk in service.talks)
    assert len(service.talks) == 4, "nobody hears what another model has answered"


async def test_the_change_in_mid_answer_is_measured() -> None:
    service = ScriptedDemoService(
        voices={"second": Voice(words="or rather this is what I think of it and no more than that")}
    )
    result = await tour(service)
    [swap] = result.swaps
    assert (swap.before_backend, swap.after_backend, swap.trouble) == (FIRST, SECOND, "")
    assert swap.before.split()[:6] == "one two three four five six".split(), "only when six words have been heard"
    assert len(swap.before.split()) <= 8 and swap.after.startswith("or rather this")
    assert swap.silence == pytest.approx(0.4, abs=0.01), "the voice was silent for five frames"
    assert swap.seconds == pytest.approx(0.4 + 0.32 + 0.32, abs=0.33)
    talk = service.talks[-1]
    assert talk.backend == SECOND.choice and talk.asked[-1] is QUESTIONS[-1]


async def test_quick_hears_the_beginning_of_the_answers_alone() -> None:
    result = await tour(ScriptedDemoService(ways=(QUICK_ANSWER_MODE,)), QUICK)
    assert len(result.answers) == 2 and all(a.cut for a in result.answers)
    assert all(8 <= len(a.text.split()) <= 12 for a in result.answers), "three and a half seconds of it"
    assert result.swaps[0].after and result.whole


# -- what goes wrong


async def test_a_backend_that_fails_is_noted_with_its_sentence_and_the_tour_goes_on() -> None:
    service = ScriptedDemoService(voices={"second": Voice(fails="The server is on fire. Choose another model.")})
    result = await tour(service)
    assert result.whole
    wrong = [a for a in result.answers if a.backend is SECOND]
    assert {a.trouble for a in wrong} == {"The server is on fire. Choose another model."}
    assert all(a.response is None and not a.text for a in wrong)
    assert all(a.response for a in result.answers if a.backend is FIRST)


async def test_a_backend_that_cannot_be_had_costs_no_question_its_place() -> None:
    service = ScriptedDemoService(
        refused={"second": "It is not installed."}, swap_refused={"second": "It is not installed."}
    )
    told: list[DemoProgress] = []
    async with asyncio.timeout(20):
        result = await DemoRunner(HeadlessStage(service), QUESTIONS, PLAN, told.append).run()
    assert result.whole and len(result.answers) == 8 and len(result.swaps) == 1
    assert {a.trouble for a in result.answers if a.backend is SECOND} == {"It is not installed."}
    assert result.swaps[0].trouble == "It is not installed." and result.swaps[0].seconds is None
    assert all(a.response for a in result.answers if a.backend is FIRST)


async def test_a_backend_that_says_nothing_is_given_up() -> None:
    result = await tour(ScriptedDemoService(voices={"second": Voice(quiet=True)}), QUICK)
    [silent] = [a for a in result.answers if a.backend is SECOND]
    assert silent.trouble.startswith("No answer came") and silent.response is None


async def test_a_talk_that_breaks_off_is_noted_and_the_next_one_begins() -> None:
    service = ScriptedDemoService(lost_after=3)
    result = await tour(service)
    assert result.whole and len(service.talks) == 4
    firsts, seconds = result.answers[::2], result.answers[1::2]
    assert all(a.response is not None and a.text for a in firsts), "what was heard counts"
    assert {a.trouble for a in seconds} == {"The loudspeaker is gone."}
    assert result.swaps[0].trouble == "The loudspeaker is gone."


async def test_an_answer_that_is_over_too_soon_is_not_changed() -> None:
    result = await tour(ScriptedDemoService(voices={"": Voice(words="no idea")}), QUICK)
    assert "over before the model could be changed" in result.swaps[0].trouble


async def test_a_session_that_falls_silent_does_not_hold_the_tour_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "EVENTS_WITHIN_SECONDS", 0.05)
    service = ScriptedDemoService()
    stage = HeadlessStage(service)

    async def start(choice, take):  # its events get lost
        return await HeadlessStage.start(stage, choice, lambda event: None)

    async with asyncio.timeout(20):
        deaf = SimpleNamespace(start=start, stop=stage.stop, swap=stage.swap)
        result = await DemoRunner(deaf, QUESTIONS, QUICK).run()
    assert result.whole and {a.trouble[:28] for a in result.answers} == {"The conversation fell silent"}


@pytest.mark.parametrize("place", range(14))
async def test_it_can_be_stopped_at_every_step(place: int) -> None:
    service = ScriptedDemoService()
    task: asyncio.Task[DemoResult]

    def told(progress: DemoProgress) -> None:
        steps.append(progress)
        if len(steps) == place + 1:
            asyncio.get_running_loop().call_soon(task.cancel)

    steps: list[DemoProgress] = []
    runner = DemoRunner(HeadlessStage(service), QUESTIONS, PLAN, told)
    task = asyncio.create_task(runner.run())
    async with asyncio.timeout(20):
        await asyncio.wait([task])
    if len(steps) > place:
        assert task.cancelled() and not runner.result.whole
    else:
        assert place == 13 and task.result().whole, "the steps: four talks and nine questions"
    assert all(talk.stopped == 1 for talk in service.talks)
    assert len(runner.result.answers) <= place
    assert not [t for t in asyncio.all_tasks() if t is not asyncio.current_task() and t.get_name() != "scripted answer"]


# -- what is told of it


async def test_the_report_holds_what_was_heard() -> None:
    result = await tour(ScriptedDemoService(voices={"second": Voice(0.88, "it is so " * 4)}))
    found = json.loads(json.dumps(document(result)))
    assert found["ok"] and len(found["answers"]) == 8 and found["swaps"][0]["after"].startswith("it is so")
    assert {a["response_seconds"] for a in found["answers"]} == {0.24, 0.88}
    assert len(lines(result)) == 9 and "changed in mid-answer" in lines(result)[-1]
    assert not document(DemoResult())["ok"]


def test_a_backend_that_costs_money_takes_part_only_by_name() -> None:
    backends = (FIRST, SECOND, DEAR)
    assert chosen_backends(backends, ()) == (FIRST, SECOND)
    assert chosen_backends(backends, ("dear", "first")) == (DEAR, FIRST)
    with pytest.raises(UserError, match=r"“third”.*First, Second, OpenAI"):
        chosen_backends(backends, ("third",))


def test_the_command_runs_without_a_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    aloud: list[bool] = []
    windows: list[DemoOrder] = []
    service = ScriptedDemoService(ways=(QUICK_ANSWER_MODE,))
    monkeypatch.setattr(compose, "make_demo_service", lambda loud: aloud.append(loud) or service)
    monkeypatch.setattr(compose, "open_window", lambda order: windows.append(order) or 7)
    report = tmp_path / "demo.json"
    assert main(["demo", "--headless", "--quick", "--report", str(report), "--silent"]) == 0 and aloud == [False]
    assert json.loads(report.read_text("utf-8"))["ok"] and "changed in mid-answer" in capsys.readouterr().out
    assert main(["demo", "--picture", "x.png", "--backends", "first, second"]) == 7
    assert windows == [DemoOrder(("first", "second"), False, "x.png", "")]


# -- the service


class Keys:
    """A back-end service with a key for OpenAI and an Ollama with three models."""

    def __init__(self, offer: Offer | UserError) -> None:
        self._offer = offer

    async def key_place(self, choice) -> str:
        return "keyring" if choice.provider == "openai" else "none"

    async def offer(self, choice, *, seconds: float) -> Offer:
        assert choice.provider == "ollama" and seconds <= 5
        if isinstance(self._offer, UserError):
            raise self._offer
        return self._offer


async def test_the_service_finds_backends_and_marks_those_that_cost_money(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.demo.service.is_here", lambda key: key in ("smollm2-135m", "qwen2.5-coder-0.5b"))
    models = Offer(("gemma3:4b", "nomic-embed-text", "qwen3:4b", "llama3.2", "big:cloud"), True)
    service = DemoService(None, Keys(models), ())  # type: ignore[arg-type]
    found = await service.backends()
    here = [backend.label for backend in found if not backend.costs]
    assert here == ["SmolLM2 135M", "Qwen 2.5 Coder 0.5B", "Ollama: gemma3:4b", "Ollama: qwen3:4b"]
    assert [backend.choice.provider for backend in found if backend.costs] == ["openai"]
    service = DemoService(None, Keys(UserError("It doesn't run.")), ())  # type: ignore[arg-type]
    assert [backend.label for backend in await service.backends() if not backend.costs] == [
        "SmolLM2 135M",
        "Qwen 2.5 Coder 0.5B",
    ]


async def test_without_weights_the_front_end_is_the_one_that_always_runs() -> None:
    [frontend] = await DemoService(None, Keys(Offer((), False)), ()).frontends()  # type: ignore[arg-type]
    assert frontend.key == "cascade" and set(frontend.answer_modes) == {"after", "thinking"}


def test_the_questions_are_real_ones() -> None:
    questions = DemoService(None, Keys(Offer((), False)), ()).questions  # type: ignore[arg-type]
    assert [q.name for q in questions] == list(ASKED)
    for question in questions:
        assert question.samples.dtype == np.float32 and len(question.samples) / 24_000 >= question.seconds > 2
        assert question.text.endswith(("?", "."))
