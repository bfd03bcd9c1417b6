"""Recording both sides, and showing them in step."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app import main as compose
from app.cli.parser import main
from app.conversation.frame import SAMPLE_RATE
from app.demo import record
from app.demo.base import DemoOffer, DemoOrder
from app.demo.record import LEAD_SECONDS, Pair, Replay, record_pair
from app.demo.shipped import load_pairs
from tests.support.demo_recording import save_pairs
from tests.support.demo_talk import FIRST, QUESTIONS, ScriptedDemoService, Voice
from tests.support.tables import cases


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "SETTLE_SECONDS", 0.01)


async def recorded(service: ScriptedDemoService, question: int = 1) -> Pair:
    async with asyncio.timeout(20):
        return await record_pair(service, DemoOffer((FIRST,), service.frontend), 0, QUESTIONS[question], "cascade")


async def test_each_side_gets_the_same_question_in_a_session_of_its_own() -> None:
    service = ScriptedDemoService(frontend="kame")
    pair = await recorded(service)
    cascade, tandem = service.recorded
    assert [talk.asked for talk in service.recorded] == [[QUESTIONS[1]], [QUESTIONS[1]]]
    assert (cascade.choice.answer_mode, tandem.choice.answer_mode) == ("after", "thinking")
    assert (cascade.choice.frontend, tandem.choice.frontend) == ("cascade", "kame")
    same = replace(cascade.choice, answer_mode="thinking", frontend="kame")
    assert same == tandem.choice and cascade.choice.backend == FIRST.choice, "they differ in nothing else"
    assert not cascade.choice.openings and cascade.choice.duplex
    assert [talk.stopped for talk in service.recorded] == [1, 1]
    figure = pair.figure()
    assert figure.cascade == pytest.approx(0.96) and figure.tandem == pytest.approx(0.24)
    assert (figure.question, figure.own, pair.backend) == ("Who said that?", False, "First")
    assert figure.said == ("It is so because it was made so",) * 2


@cases(
    "service, sentence",
    (ScriptedDemoService(refused={"first": "It is not installed."}), "It is not installed."),
    (ScriptedDemoService(tandem=Voice(fails="It is on fire.")), "It is on fire."),
    (ScriptedDemoService(tandem=Voice(quiet=True)), "No answer came."),
)
async def test_why_a_side_says_nothing_is_told(service: ScriptedDemoService, sentence: str) -> None:
    pair = await recorded(service)
    assert pair.takes["tandem"].heard is None and pair.takes["tandem"].trouble.startswith(sentence)
    assert Replay(pair).seconds > QUESTIONS[1].seconds + 2, "it can be read"


async def test_a_session_that_breaks_off_behind_the_first_words_counts() -> None:
    pair = await recorded(ScriptedDemoService(lost_after=2))
    assert pair.takes["tandem"].heard == pytest.approx(0.24) and pair.takes["tandem"].said == "It is"


async def test_a_session_that_falls_silent_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "EVENTS_WITHIN_SECONDS", 0.05)
    service = ScriptedDemoService()

    async def start(choice):
        talk, _ = await ScriptedDemoService.start(service, choice)
        talk.ask = lambda question: 0.64
        return talk, talk

    service.start = start  # type: ignore[method-assign]
    pair = await recorded(service)
    assert pair.takes["cascade"].trouble.startswith("No answer came")


async def test_both_sides_are_shown_in_step() -> None:
    replay = Replay(await recorded(ScriptedDemoService()))
    end = LEAD_SECONDS + QUESTIONS[1].seconds
    replay.advance(end - 0.1)
    cascade, tandem = replay.states["cascade"], replay.states["tandem"]
    assert cascade.hears and tandem.hears and not cascade.revisions and len(tandem.revisions) == 2
    assert [replay.states[side].clock(replay.session_time(side)) for side in replay.states] == [None, None]
    replay.advance(end + 0.5)
    assert tandem.heard == pytest.approx(0.24) and tandem.speaks and cascade.heard is None
    assert cascade.clock(replay.session_time("cascade")) == pytest.approx(0.5)
    replay.advance(replay.seconds)
    assert cascade.heard == pytest.approx(0.96) and not cascade.speaks
    replay.advance(0.0)
    assert replay.now == replay.seconds, "time goes on only"


async def test_the_question_is_in_the_middle_and_each_voice_on_its_side() -> None:
    pair = await recorded(ScriptedDemoService())
    silent = replace(pair.takes["cascade"], sound=np.zeros_like(pair.takes["cascade"].sound))
    mixed = Replay(replace(pair, takes={**pair.takes, "cascade": silent})).mix()
    lead = round(LEAD_SECONDS * SAMPLE_RATE)
    assert not mixed[:lead].any() and mixed.shape[1] == 2
    first = mixed[lead : lead + 1000]
    assert np.allclose(first[:, 0], 0.1) and np.allclose(first[:, 1], 0.3), "the tandem's voice is on the right"
    assert len(mixed) == round(Replay(pair).seconds * SAMPLE_RATE)


async def test_a_recording_that_comes_with_the_app_is_replayed_as_it_was_made(tmp_path: Path) -> None:
    pair = await recorded(ScriptedDemoService())
    save_pairs(tmp_path, [pair])
    [read] = load_pairs(tmp_path, QUESTIONS)
    assert read.figure() == pair.figure() and read.backend == "First" and "cores" in read.machine
    assert len(read.takes["tandem"].sound) >= len(pair.takes["tandem"].sound)
    replays = Replay(pair), Replay(read)
    for now in (LEAD_SECONDS + 1.8, LEAD_SECONDS + 3.0, 20.0):
        for replay in replays:
            replay.advance(now)
        one, other = (replay.states["tandem"] for replay in replays)
        assert (one.heard, one.said_by("assistant"), one.clock(now)) == (
            other.heard,
            other.said_by("assistant"),
            other.clock(now),
        )
        assert [r.text for r in one.revisions] == [r.text for r in other.revisions]
    assert not load_pairs(tmp_path / "nowhere", QUESTIONS) and not load_pairs(tmp_path, QUESTIONS[:1])


def test_the_command_runs_without_a_window(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    aloud: list[bool] = []
    windows: list[DemoOrder] = []
    service = ScriptedDemoService()
    monkeypatch.setattr(compose, "make_demo_service", lambda loud: aloud.append(loud) or service)
    monkeypatch.setattr(compose, "open_window", lambda order: windows.append(order) or 7)
    assert main(["demo", "--headless", "--json", "--silent"]) == 0 and aloud == [False]
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] and found["median_seconds"] == pytest.approx({"cascade": 0.96, "tandem": 0.24})
    assert main(["demo", "--headless"]) == 0
    assert "tandem: 0.24 s" in capsys.readouterr().out
    assert main(["demo", "--backends", "first, second", "--windowed"]) == 7
    assert windows == [DemoOrder(("first", "second"), full=False)]
    service.found = ()
    assert main(["demo", "--headless"]) != 0 and "There is no model" in capsys.readouterr().err
