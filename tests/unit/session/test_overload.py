"""A machine that is too slow is told, with the cause where a graphics card is too slow and the driver knows why."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.conversation import events as e
from app.conversation.frame import Frame, silence
from app.frontend.slow_card import CardModel
from app.platform import nvidia
from app.platform.nvidia import CardUse, Program
from app.session import overload_reports
from app.session.control import BackendChoice
from app.session.overload import Overload
from app.session.overload_reports import OverloadReports, local_server
from app.session.playback import SoundEvents
from tests.support.driver import RTX_4070, make_driver
from tests.support.tables import cases

WHAT = "the app's voice broke off 5 times"
MODEL = CardModel("KAME", "int8", 240.0, 0.03, 0.075, 7)
SHARED = (CardUse("a card", 16 * 10**9, 12 * 10**9, programs=(Program(7, "python3"), Program(8, "game.exe", 0, 40))),)
LOCAL = BackendChoice("ollama", "gemma3:4b")


def test_a_machine_that_is_too_slow_or_hangs_is_noticed_and_a_sleep_is_not() -> None:
    overload = Overload()
    assert not any(overload.note(second * 10.5, skipped=0.16) for second in range(20)), "too little"
    told = [(at, what) for second in range(130) if (what := overload.note(at := 300.0 + second, skipped=0.08))]
    assert [at for at, _ in told] == [302.0, 362.0, 422.0]
    assert told[0][1] == "0.2 s of your voice were skipped"
    overload = Overload()
    slept = [(100.0, 0.0, 4.6), (100.9, 0.8, 0.0), (200.0, 3.0, 0.0), (201.0, 0.8, 0.0)]
    assert not any(overload.gap(*gap) for gap in slept)
    assert [at for at in range(300, 320, 4) if overload.gap(float(at), 2.5, 0.0)] == [304]
    overload = Overload()
    told = [(at, what) for number in range(24) if (what := overload.note(at := 0.4 * number, underruns=1))]
    assert told == [(0.4 * 19, "the app's voice broke off 20 times")]
    overload = Overload()
    assert not any(overload.note(0.6 * number, underruns=1) for number in range(100)), "too few"


def test_late_frames_count_once_the_model_is_ready_again_and_never_if_it_hangs() -> None:
    for ends in (False, None):
        events = SoundEvents(None)
        told = []
        for index, late in enumerate([*[True] * 24, ends, False, False]):
            list(events.after(Frame(index, silence()), 0, late=late, duplex=True))
            told.append(events.too_slow)
        assert [index for index, what in enumerate(told) if what] == ([24] if ends is False else [])


def test_a_model_that_is_late_five_times_in_ten_seconds_is_noticed_once_a_minute() -> None:
    overload = Overload()
    assert not any(overload.note(2.6 * number, late=1) for number in range(60)), "too few"
    told = [(at, what) for number in range(90) if (what := overload.note(at := 300.0 + number, late=1))]
    assert told == [(304.0, "the app's voice broke off 5 times"), (364.0, "the app's voice broke off 11 times")]
    overload = Overload()
    overload.gap(100.0, 0.0, 60.0)
    assert not any(overload.note(100.08 + 0.08 * number, late=1) for number in range(24)), "the machine has slept"
    assert any(overload.note(102.1 + 0.08 * number, late=1) for number in range(5))


@cases(
    "choice, name",
    (LOCAL, "Ollama"),
    (BackendChoice("ollama", "gemma3:4b", "http://localhost:11434"), "Ollama"),
    (BackendChoice("ollama", "gemma3:4b", "http://192.168.1.7:11434"), ""),
    (BackendChoice("ollama", "gpt-oss:120b-cloud"), ""),
    (BackendChoice("compatible", "qwen", "http://127.0.0.1:8000/v1"), "The language model's server"),
    (BackendChoice("compatible", "qwen", "https://models.example/v1"), ""),
    (BackendChoice("embedded", "qwen"), ""),  # on the processor
    (BackendChoice("openai", "gpt"), ""),
    (BackendChoice("scripted", "any"), ""),
)
def test_a_server_on_this_machine_is_known_by_its_address(choice: BackendChoice, name: str) -> None:
    assert local_server(choice) == name


class Told(list[e.Event]):
    """The events that were emitted; `one` waits for the first."""

    def __init__(self) -> None:
        super().__init__()
        self._some = asyncio.Event()

    def add(self, event: e.Event) -> None:
        self.append(event)
        self._some.set()

    async def one(self) -> e.Failure:
        await asyncio.wait_for(self._some.wait(), 20.0)
        [event] = self
        assert isinstance(event, e.Failure) and (event.at, event.source, event.fatal) == (5.0, "frontend", False)
        return event


def reports(told: Told, model: CardModel | None = MODEL, backend: BackendChoice = LOCAL) -> OverloadReports:
    frontend = SimpleNamespace(on_card=lambda: model)
    return OverloadReports(cast(Any, SimpleNamespace(frontend=frontend)), lambda: backend, told.add)


def looks(monkeypatch: pytest.MonkeyPatch, look: Callable[[float], object]) -> None:
    monkeypatch.setattr(nvidia, "look_at_use", look)


async def test_the_cause_is_looked_for_on_a_thread_while_the_loop_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    released, told = threading.Event(), Told()
    looks(monkeypatch, lambda seconds: SHARED if released.wait(20.0) else ())
    reports(told).tell(5.0, WHAT)
    await asyncio.sleep(0.05)
    assert told == [], "what the driver says isn't known yet"
    released.set()
    sentence = (await told.one()).sentence
    assert sentence.startswith(f"KAME can't keep up: {WHAT} in the last 10 s. game uses the graphics card, too. Close")


async def test_a_driver_that_does_not_answer_is_waited_for_no_longer_than_three_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert overload_reports.LOOK_SECONDS < overload_reports.WAIT_SECONDS == 3.0
    monkeypatch.setattr(overload_reports, "WAIT_SECONDS", 0.1)
    released, told = threading.Event(), Told()
    looks(monkeypatch, lambda seconds: SHARED if released.wait(20.0) else ())
    began = time.monotonic()
    reports(told).tell(5.0, WHAT)
    try:
        assert "Ollama may run on the same graphics card" in (await told.one()).sentence
        assert time.monotonic() - began < 10.0
    finally:
        released.set()


@pytest.mark.parametrize("frontend", [SimpleNamespace(), SimpleNamespace(on_card=lambda: None)])
async def test_without_a_model_on_a_card_the_driver_is_not_asked(
    frontend: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    looks(monkeypatch, lambda seconds: pytest.fail("it was asked"))
    OverloadReports(cast(Any, SimpleNamespace(frontend=frontend)), lambda: LOCAL, told.add).tell(5.0, WHAT)
    [event] = told
    assert isinstance(event, e.Failure) and event.sentence == (
        f"This machine can't keep up: {WHAT} in the last 10 s. Close other programs, or choose a smaller precision, a "
        "shorter context or the built-in voice in the settings."
    )


async def test_a_session_that_ends_does_not_wait_for_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    released, told, asked = threading.Event(), Told(), threading.Event()
    looks(monkeypatch, lambda seconds: (asked.set(), released.wait(20.0), SHARED)[-1])
    report = reports(told)
    report.tell(5.0, WHAT)
    try:
        assert await asyncio.to_thread(asked.wait, 20.0)
        await asyncio.wait_for(report.stop(), 5.0)
        assert told == []
    finally:
        released.set()


@pytest.mark.skipif(sys.platform == "win32", reason="a library for Linux stands in")
async def test_the_drivers_library_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, told = str(make_driver(tmp_path)), Told()
    monkeypatch.setattr(nvidia, "library_places", lambda: [library])
    monkeypatch.setattr(overload_reports, "LOOK_SECONDS", 20.0)
    monkeypatch.setattr(overload_reports, "WAIT_SECONDS", 20.0)
    monkeypatch.setenv("NVML_FAKE_CARDS", RTX_4070)
    monkeypatch.setenv("NVML_FAKE_USE", "97;2400;2500;0")
    monkeypatch.setenv("NVML_FAKE_PROGRAMS", "0;7;8000000000;60;C;/usr/bin/python3\n0;8;3000000000;35;C;/bin/ollama")
    reports(told).tell(5.0, WHAT)
    assert "Ollama runs on the same graphics card" in (await told.one()).sentence
