"""The demo from the start page to the figures, with scripted sessions, and the user's conversation behind it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from app.demo import record
from app.demo.base import DemoOrder
from app.demo.steps import ASK_SECONDS, IDLE_SECONDS
from app.gui.demo import course
from app.gui.demo.controller import DemoController
from app.gui.demo.visitor import RELEASE_MS
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.session.control import BackendChoice, SessionChoice
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import heard, key, until
from tests.support.demo_talk import DEAR, FIRST, SECOND, ScriptedDemoService, ScriptedTalk, Voice

USERS = SessionChoice(backend=BackendChoice("openai", "mine"), microphone="theirs", loudspeaker="loud")
FAST = 5.0
"""So many times as fast as it is watched."""
LONG = Voice(0.24, "one two three four five six seven eight nine ten " * 3)


class Clock:
    def __init__(self) -> None:
        self.jumped = 0.0

    def __call__(self) -> float:
        return time.monotonic() * FAST + self.jumped


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(course, "_now", made)
    monkeypatch.setattr(record, "SETTLE_SECONDS", 0.0)
    return made


@pytest.fixture
def window(clock: Clock) -> Iterator[QMainWindow]:
    made = QMainWindow()
    made.resize(900, 600)
    made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def service() -> ScriptedDemoService:
    return ScriptedDemoService()


@pytest.fixture
async def manager(window: QMainWindow, factory: FakeFactory) -> AsyncIterator[SessionManager]:
    manager = SessionManager(factory, SessionModel(window), window)
    manager.start(USERS)
    await until(lambda: manager.session is not None)
    yield manager
    await manager.close(1.0)


@pytest.fixture
async def demo(
    window: QMainWindow, service: ScriptedDemoService, manager: SessionManager
) -> AsyncIterator[DemoController]:
    """A controller that gives the user's conversation back when the demo has ended."""
    background = BackgroundTasks(window)
    made = DemoController(
        service,  # type: ignore[arg-type]
        manager,
        background,
        window,
        talks=lambda: manager.phase != "stopped",
    )
    made.ended.connect(lambda again: manager.start(manager.wanted) if again else None)
    yield made
    await made.close()
    await background.close()


async def ready(demo: DemoController) -> None:
    demo.open()
    await until(lambda: demo.course is not None and not demo.screen.start_page.status.text, 20)


async def to_asking(demo: DemoController) -> None:
    """Goes to the page on which visitors ask, by the keyboard."""
    await ready(demo)
    while demo.course.steps.step != "ask":
        QTest.keyClick(demo.screen, Qt.Key.Key_Right)
    await until(lambda: demo.screen.stage.talk.isEnabled())


async def ask(demo: DemoController, service: ScriptedDemoService) -> ScriptedTalk:
    key(demo.screen, Qt.Key.Key_Space, down=True)
    talk = service.live[-1]
    await until(lambda: not talk.choice.muted)
    key(demo.screen, Qt.Key.Key_Space, down=False)
    await until(lambda: talk.choice.muted, 2)
    return talk


async def test_a_visitor_watches_asks_and_gets_the_figures(clock, demo, factory, service) -> None:
    steps: list[str] = []
    demo.began.connect(lambda: steps.append("began"))
    demo.ended.connect(lambda again: steps.append(f"ended, again {again}"))
    await ready(demo)
    screen, stage = demo.screen, demo.screen.stage
    assert screen.isFullScreen() and factory.session.stopped == 1 and steps == ["began"]
    assert len(service.recorded) == 6 and not service.live, "recorded before anybody watches, and one by one"
    firsts = [talk.choice.answer_mode for talk in service.recorded[::2]]
    assert firsts == ["after", "thinking", "after"], "each side is asked first in turn"

    QTest.keyClick(screen, Qt.Key.Key_Return)
    await until(lambda: stage.sides["tandem"].stopwatch.stopped)
    assert not stage.sides["cascade"].stopwatch.stopped, "the tandem is heard first"
    await until(lambda: stage.sides["cascade"].stopwatch.stopped)
    assert stage.question.text == "Why is it so?" and "Recorded at" in stage.note.text
    assert [stage.sides[s].stopwatch.text for s in ("cascade", "tandem")] == ["0.96", "0.24"]
    assert stage.hint.text == "Tandem: 4.0 times as fast"
    await until(lambda: demo.course.steps.step == "ask", 20)
    assert stage.question.text == "Ask it yourself" and stage.models.labels == ("First", "Second")

    await until(lambda: stage.talk.isEnabled())
    talk = await ask(demo, service)
    assert talk.choice.answer_mode == "thinking" and (talk.choice.microphone, talk.choice.loudspeaker) == (
        "theirs",
        "loud",
    )
    await until(lambda: len(service.recorded) == 7)
    again = service.recorded[-1]
    assert again.choice.answer_mode == "after" and again.choice.backend == FIRST.choice
    await until(lambda: demo.course.visitor.figures)
    await until(lambda: stage.hint.text.startswith("Tandem: 4"))
    assert stage.question.text == "What was asked?"
    assert again.asked[0].seconds == pytest.approx(1.5, abs=0.02), "from 0.3 s before the visitor's voice on"
    [figure] = demo.course.visitor.figures
    assert figure.own and (figure.cascade, figure.tandem) == (pytest.approx(0.98), pytest.approx(0.24))
    assert [stage.sides[s].stopwatch.text for s in ("cascade", "tandem")] == ["0.98", "0.24"]

    QTest.keyClick(screen, Qt.Key.Key_Return)
    body = screen.figures.body
    assert screen.pages.currentWidget() is screen.figures and len(body.result.figures) == 4
    assert body.result.whole and body.caption.text.startswith("Your question")
    await until(lambda: talk.stopped)
    QTest.keyClick(screen, Qt.Key.Key_Escape)
    assert not screen.isVisible() and steps == ["began", "ended, again True"]
    await until(lambda: len(factory.sessions) == 2)
    assert factory.session.choice == USERS, "the user is back where they were"


async def test_key_2_changes_the_model_in_mid_answer(demo, service) -> None:
    service.tandem = LONG
    await to_asking(demo)
    stage = demo.screen.stage
    await until(lambda: service.warmed == [SECOND.choice])
    assert len(service.started) == 7 and "Press 2" in stage.hint.text, "what the cascade needs is loaded, too"
    talk = await ask(demo, service)
    await until(lambda: stage.sides["tandem"].thoughts.newest and stage.sides["tandem"].thoughts.newest.said > 2)
    QTest.keyClick(demo.screen, Qt.Key.Key_2)
    await until(lambda: stage.models.current == 1)
    assert talk.choice.backend == SECOND.choice and stage.sides["tandem"].model.text == "Second"
    assert stage.sides["cascade"].model.text == "First"
    await until(lambda: stage.sides["tandem"].thoughts.newest.text == "second says no")
    assert stage.sides["tandem"].thoughts.older[-1].text == LONG.words.strip()
    await until(lambda: demo.course.visitor.figures)
    assert service.recorded[-1].choice.backend == FIRST.choice, "the cascade answers as the tandem began"
    QTest.keyClick(demo.screen, Qt.Key.Key_9)
    assert stage.models.current == 1, "there is no ninth model"


async def test_with_one_model_it_says_so(demo, service) -> None:
    service.found = (FIRST, DEAR)
    await to_asking(demo)
    assert "only one model" in demo.screen.stage.hint.text and demo.screen.stage.models.labels == ("First",)
    QTest.keyClick(demo.screen, Qt.Key.Key_2)
    assert "Get another in “Models and servers”" in demo.screen.stage.hint.text and not service.warmed


async def test_a_second_question_interrupts_the_cascades_turn(demo, service) -> None:
    await to_asking(demo)
    await ask(demo, service)
    await until(lambda: len(service.recorded) == 7)
    service.gate = asyncio.Event()  # the next one is held back
    key(demo.screen, Qt.Key.Key_Space, down=True)
    await until(lambda: service.recorded[6].stopped)
    assert demo.screen.stage.sides["cascade"].stopwatch.text == "0.00"
    key(demo.screen, Qt.Key.Key_Space, down=False)
    await asyncio.sleep(RELEASE_MS / 1000)
    demo.leave()


async def test_without_a_microphone_the_visitor_is_told_and_gets_the_figures(clock, demo, service) -> None:
    service.no_devices = "There is no microphone. Plug one in."
    await ready(demo)
    while demo.course.steps.step != "ask":
        QTest.keyClick(demo.screen, Qt.Key.Key_Right)
    tandem = demo.screen.stage.sides["tandem"]
    await until(lambda: tandem.thoughts.trouble == "There is no microphone. Plug one in.")
    clock.jumped += ASK_SECONDS
    await until(lambda: demo.course.steps.step == "figures")


async def test_it_returns_to_the_start_page_by_itself_and_records_anew(clock, demo, service) -> None:
    await to_asking(demo)
    clock.jumped += ASK_SECONDS
    await until(lambda: demo.course.steps.step == "figures")
    clock.jumped += IDLE_SECONDS
    await until(lambda: demo.course.steps.step == "start")
    assert demo.screen.pages.currentWidget() is demo.screen.start_page
    await until(lambda: len(service.recorded) == 12, 20)
    await until(lambda: all(talk.stopped for talk in (*service.started, *service.live)))
    assert not demo.course.result.figures, "the next visitor's own"


async def test_who_starts_too_soon_sees_that_it_is_being_recorded(demo, service) -> None:
    service.gate = asyncio.Event()
    demo.open()
    await until(lambda: demo.screen.start_page.start.isEnabled())
    QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    stage = demo.screen.stage
    assert demo.course.steps.step == "preparing" and "one after the other" in stage.question.text
    assert stage.hint.text == "0 of 3"
    service.gate.set()
    await until(lambda: stage.question.text == "Why is it so?", 20)
    assert len(service.recorded) == 6, "all of them first: what is shown would slow a recording down"


@pytest.mark.parametrize("step", ["start", "question", "ask", "figures"])
async def test_escape_leaves_from_every_page_and_ends_every_session(step: str, demo, manager, factory, service) -> None:
    service.tandem = LONG
    await ready(demo)
    while demo.course.steps.step != step:
        QTest.keyClick(demo.screen, Qt.Key.Key_Right)
    if step == "ask":
        await until(lambda: demo.screen.stage.talk.isEnabled())
        await ask(demo, service)
    QTest.keyClick(demo.screen, Qt.Key.Key_Escape)
    await until(lambda: manager.session is not None)
    assert not demo.running and not demo.screen.isVisible() and factory.session.choice == USERS
    assert all(talk.stopped == 1 for talk in (*service.started, *service.live)), "before the user's begins"


async def test_who_had_no_conversation_gets_none(demo, manager, factory) -> None:
    manager.stop()
    await until(lambda: factory.session.stopped)
    await ready(demo)
    demo.screen.close()
    await until(lambda: not demo.running)
    await asyncio.sleep(0.05)
    assert len(factory.sessions) == 1 and manager.phase == "stopped"


async def test_closing_the_window_ends_the_demo(demo, factory, service) -> None:
    service.gate = asyncio.Event()
    demo.open()
    await until(lambda: demo.course is not None)
    again = heard(demo.ended)
    await demo.close()
    assert again == [False] and len(factory.sessions) == 1 and not service.recorded


async def test_without_a_model_it_says_what_to_do(demo, service) -> None:
    service.found = (DEAR,)
    told = heard(demo.failed)
    demo.open()
    await until(lambda: "There is no model" in demo.screen.start_page.status.text)
    assert told and not demo.screen.start_page.start.isEnabled()
    QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    QTest.keyClick(demo.screen, Qt.Key.Key_Escape)
    assert not demo.running


async def test_a_side_that_cannot_start_says_why_and_the_demo_goes_on(demo, service) -> None:
    service.refused = {"first": "It is not installed."}
    await ready(demo)
    QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    sides = demo.screen.stage.sides
    await until(lambda: all(view.thoughts.trouble == "It is not installed." for view in sides.values()))
    await until(lambda: demo.course.steps.number == 1)


async def test_a_fault_closes_the_demo_with_a_message_and_the_user_goes_on(monkeypatch, demo, manager) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("app.demo.record.Recorder.pair", broken)
    told = heard(demo.failed)
    demo.open()
    await until(lambda: told)
    assert "ZeroDivisionError" in told[0] and not demo.running
    await until(lambda: manager.session is not None)


@pytest.mark.parametrize(
    ("backends", "report", "sentence"),
    [(("third",), "x.json", "“third”"), ((), "a file/x.json", "could not be written")],
)
async def test_an_unattended_demo_that_fails_says_so_and_closes_the_window(
    window, demo, tmp_path: Path, backends: tuple[str, ...], report: str, sentence: str
) -> None:
    (tmp_path / "a file").touch()
    told = heard(demo.failed)
    demo.begin(DemoOrder(backends, json=str(tmp_path / report)))
    await until(lambda: not window.isVisible(), 30)
    assert sentence in told[0] and not demo.written


async def test_an_order_names_who_answers(demo, service) -> None:
    service.found = (FIRST, SECOND, DEAR)
    demo.begin(DemoOrder(("dear", "second")))
    await until(lambda: service.recorded)
    assert service.recorded[0].choice.backend == DEAR.choice
    assert demo.screen.stage.sides["tandem"].model.text == "OpenAI: dear-1"
