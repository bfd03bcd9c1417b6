"""The demo from the start page to the figures, with scripted sessions, and the user's conversation behind it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from app.demo import record
from app.demo.base import DemoOrder
from app.gui.demo.controller import DemoController
from app.gui.demo.course import IDLE_SECONDS
from app.gui.demo.visitor import RELEASE_MS
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
    """Runs fast, and jumps."""

    def __init__(self) -> None:
        self.jumped = 0.0

    def __call__(self) -> float:
        return time.monotonic() * FAST + self.jumped


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[QMainWindow]:
    monkeypatch.setattr(record, "SETTLE_SECONDS", 0.0)
    made = QMainWindow()
    made.resize(900, 600)
    made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
async def service(window: QMainWindow) -> ScriptedDemoService:
    made = ScriptedDemoService()
    await made.ship()
    return made


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
    made = DemoController(
        service,  # type: ignore[arg-type]
        manager,
        window,
        talks=lambda: manager.phase != "stopped",
        known=lambda: [FIRST.choice],
    )
    made.clock = Clock()
    made.ended.connect(lambda again: manager.start(manager.wanted) if again else None)
    yield made
    await made.close()


async def ready(demo: DemoController) -> None:
    """Opens the demo, and waits until everything has been recorded."""
    demo.open()
    await until(lambda: len(demo.course.pairs) == 3)


def turn_to(demo: DemoController, step: str) -> None:
    """Presses the key for the next page until this step is there."""
    for _ in range(20):
        if demo.course.step == step:
            break
        QTest.keyClick(demo.screen, Qt.Key.Key_Right)
    else:
        raise AssertionError(f"the demo is still at {demo.course.step}")


async def go_to(demo: DemoController, step: str) -> None:
    """Goes to a step by the keyboard."""
    await ready(demo)
    turn_to(demo, step)
    if step == "ask":
        await until(lambda: demo.screen.talk.isEnabled())


async def ask(demo: DemoController, service: ScriptedDemoService) -> ScriptedTalk:
    key(demo.screen, Qt.Key.Key_Space, down=True)
    talk = service.live[-1]
    await until(lambda: not talk.choice.muted)
    key(demo.screen, Qt.Key.Key_Space, down=False)
    await until(lambda: talk.choice.muted)
    return talk


async def test_a_visitor_watches_asks_and_gets_the_figures(demo, factory, service) -> None:
    steps: list[str] = []
    demo.began.connect(lambda: steps.append("began"))
    demo.ended.connect(lambda again: steps.append(f"ended, again {again}"))
    await ready(demo)
    screen, sides = demo.screen, demo.screen.sides
    assert screen.isFullScreen() and factory.session.stopped == 1 and steps == ["began"]
    assert len(service.recorded) == 6 and not service.live, "recorded before anybody watches, and one by one"
    firsts = [talk.choice.answer_mode for talk in service.recorded[::2]]
    assert firsts == ["after", "thinking", "after"], "each side is asked first in turn"

    QTest.keyClick(screen, Qt.Key.Key_Return)
    assert screen.question.text == "Why is it so?" and "Recorded at" in screen.note.text, "this machine's own"
    await until(lambda: sides["tandem"].stopped)
    assert not sides["cascade"].stopped, "the tandem is heard first"
    await until(lambda: sides["cascade"].stopped)
    assert [sides[s].clock for s in ("cascade", "tandem")] == ["0.96", "0.24"]
    assert screen.headline.text.startswith("Tandem: 0.7 s sooner")
    for number in range(len(service.questions)):
        assert screen.question.text == service.questions[number].text and "a laptop" not in screen.note.text
        QTest.keyClick(screen, Qt.Key.Key_Right)
    assert demo.course.step == "ask", "a question that this machine has recorded isn't shown twice"
    assert screen.question.text == "Ask it yourself" and screen.models.text == "● 1 First     ○ 2 Second"

    await until(lambda: screen.talk.isEnabled())
    talk = await ask(demo, service)
    devices = talk.choice.microphone, talk.choice.loudspeaker
    assert talk.choice.answer_mode == "thinking" and devices == ("theirs", "loud")
    await until(lambda: demo.course.figures)
    again = service.recorded[-1]
    assert again.choice.answer_mode == "after" and again.choice.backend == FIRST.choice
    await until(lambda: screen.headline.text.startswith("Tandem: 0.7 s sooner"))
    assert screen.question.text == "What was asked?"
    assert again.asked[0].seconds == pytest.approx(1.5, abs=0.02), "from 0.3 s before the visitor's voice on"
    [figure] = demo.course.figures
    assert figure.own and (figure.cascade, figure.tandem) == (pytest.approx(0.98), pytest.approx(0.24))

    QTest.keyClick(screen, Qt.Key.Key_Return)
    assert screen.question.text == "Tandem: 0.7 s sooner"
    assert len(sides["cascade"].rows) == 4 and "a laptop" not in screen.note.text
    await until(lambda: talk.stopped)
    QTest.keyClick(screen, Qt.Key.Key_Escape)
    assert not screen.isVisible() and steps == ["began", "ended, again True"]
    await until(lambda: len(factory.sessions) == 2)
    assert factory.session.choice == USERS, "the user is back where they were"


async def test_something_moves_before_anything_is_known_of_this_machine(demo, service) -> None:
    service.gate = asyncio.Event()
    demo.open()
    screen = demo.screen
    await until(lambda: screen.sides["tandem"].state.levels)
    assert "a laptop" in screen.note.text and "18 November 2026" not in screen.question.text and not service.recorded
    QTest.keyClick(screen, Qt.Key.Key_Return)
    assert screen.question.text == "Why is it so?" and "a laptop" in screen.note.text, "nobody waits"
    began = demo.clock()
    await until(lambda: screen.sides["tandem"].lit[0])
    assert demo.clock() - began < 3.0 * FAST
    await until(lambda: "Live: 1 of 3 …" in screen.models.text)
    service.gate.set()
    await until(lambda: len(demo.course.pairs) == 3)
    QTest.keyClick(screen, Qt.Key.Key_Right)
    assert demo.course.step == "watch" and "this machine" in screen.note.text, "what was recorded meanwhile is next"
    assert screen.question.text == service.questions[1].text


async def test_the_visitors_page_stays_until_enter(demo) -> None:
    await go_to(demo, "ask")
    for _ in range(10):
        demo.clock.jumped += IDLE_SECONDS / 2
        key(demo.screen, Qt.Key.Key_Shift, down=True)
        demo.course.tick()
        assert demo.course.step == "ask"
    QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    assert demo.course.step == "figures"


@pytest.mark.parametrize("step", ["ask", "figures"])
async def test_it_returns_to_the_start_page_when_nobody_is_there(step: str, demo, service) -> None:
    await go_to(demo, step)
    demo.clock.jumped += IDLE_SECONDS - FAST
    demo.course.tick()
    assert demo.course.step == step
    demo.clock.jumped += FAST + 1
    demo.course.tick()
    assert demo.course.step == "start" and "Who speaks first" in demo.screen.question.text
    await until(lambda: all(talk.stopped for talk in (*service.started, *service.live)))
    assert not demo.course.figures and len(demo.course.pairs) == 3, "what was recorded is kept"


async def test_who_only_watches_can_ask_afterwards(demo, service) -> None:
    await go_to(demo, "watch")
    for _ in range(3):
        await until(lambda: demo.screen.sides["tandem"].state.levels)
        demo.clock.jumped += 20.0
        demo.course.tick()
    await until(lambda: demo.course.step == "ask")
    demo.course.tick()
    assert demo.course.step == "ask", "the time that the recordings took is not idle"


async def test_who_speaks_is_not_idle(demo, service) -> None:
    await go_to(demo, "ask")
    key(demo.screen, Qt.Key.Key_Space, down=True)
    await until(lambda: not service.live[-1].choice.muted)
    demo.clock.jumped += 2 * IDLE_SECONDS
    demo.course.tick()
    assert demo.course.step == "ask"
    key(demo.screen, Qt.Key.Key_Space, down=False)


async def test_a_key_changes_the_model_in_mid_answer(demo, service) -> None:
    service.tandem = LONG
    await go_to(demo, "ask")
    screen, tandem = demo.screen, demo.screen.sides["tandem"]
    assert "Press a digit" in screen.headline.text
    talk = await ask(demo, service)
    await until(lambda: any(one.heard > 10 for one in tandem.state.revisions))
    QTest.keyClick(screen, Qt.Key.Key_2)
    await until(lambda: screen.models.text == "○ 1 First     ● 2 Second")
    assert talk.choice.backend == SECOND.choice and tandem.model == "Second"
    assert screen.sides["cascade"].model == "First"
    await until(lambda: tandem.state.revisions[-1].text == "second says no")
    await until(lambda: demo.course.figures)
    assert service.recorded[-1].choice.backend == FIRST.choice, "the cascade answers as the tandem began"
    QTest.keyClick(screen, Qt.Key.Key_9)
    assert demo.course.place == 1, "there is no ninth model"


async def test_a_key_on_the_start_page_chooses_who_is_recorded(demo, service) -> None:
    await ready(demo)
    QTest.keyClick(demo.screen, Qt.Key.Key_2)
    await until(lambda: len(service.recorded) == 12)
    await until(lambda: len(demo.course.pairs) == 3)
    assert {talk.choice.backend for talk in service.recorded[6:]} == {SECOND.choice}
    assert {pair.backend for pair in demo.course.pairs} == {"Second"}


async def test_the_users_own_models_are_asked_for_and_named(demo, service) -> None:
    demo._label = lambda choice: f"My {choice.model}"
    await ready(demo)
    assert service.known == (FIRST.choice,) and demo.screen.models.text == "● 1 My first     ○ 2 My second"


async def test_a_second_question_interrupts_the_cascades_turn(demo, service) -> None:
    await go_to(demo, "ask")
    await ask(demo, service)
    await until(lambda: len(service.recorded) == 7)
    service.gate = asyncio.Event()  # the next one is held back
    key(demo.screen, Qt.Key.Key_Space, down=True)
    await until(lambda: service.recorded[6].stopped)
    assert demo.screen.sides["cascade"].clock == "0.00"
    key(demo.screen, Qt.Key.Key_Space, down=False)
    await asyncio.sleep(RELEASE_MS / 1000)
    demo.leave()


async def test_without_a_microphone_the_visitor_is_told(demo, service) -> None:
    service.no_devices = "There is no microphone. Plug one in."
    await ready(demo)
    turn_to(demo, "ask")
    await until(lambda: demo.screen.sides["tandem"].trouble == "There is no microphone. Plug one in.")
    assert not demo.screen.talk.isEnabled()


@pytest.mark.parametrize("step", ["start", "watch", "ask", "figures"])
async def test_escape_leaves_from_every_page_and_ends_every_session(step: str, demo, manager, factory, service) -> None:
    service.tandem = LONG
    await go_to(demo, step)
    if step == "ask":
        await ask(demo, service)
    QTest.keyClick(demo.screen, Qt.Key.Key_Escape)
    await until(lambda: manager.session is not None)
    assert demo.course is None and not demo.screen.isVisible() and factory.session.choice == USERS
    assert all(talk.stopped == 1 for talk in (*service.started, *service.live)), "before the user's begins"


async def test_who_had_no_conversation_gets_none(demo, manager, factory) -> None:
    manager.stop()
    await until(lambda: factory.session.stopped)
    await ready(demo)
    demo.screen.close()
    await until(lambda: demo.course is None)
    await asyncio.sleep(0.05)
    assert len(factory.sessions) == 1 and manager.phase == "stopped"


async def test_closing_the_window_ends_the_demo(demo, factory, service) -> None:
    service.gate = asyncio.Event()
    demo.open()
    again = heard(demo.ended)
    await demo.close()
    assert again == [False] and len(factory.sessions) == 1 and not service.recorded


async def test_without_a_model_the_recorded_run_is_shown_all_the_same(demo, service) -> None:
    service.found = (DEAR,)
    told = heard(demo.failed)
    demo.open()
    await until(lambda: "There is no model" in demo.screen.models.text)
    assert told and demo.course.visitor is None
    for _ in range(4):
        QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    assert demo.course.step == "figures" and "a laptop" in demo.screen.note.text, "there is nobody to ask"


async def test_a_side_that_cannot_start_says_why_and_the_demo_goes_on(demo, service) -> None:
    service.refused = {"first": "It is not installed."}
    await ready(demo)
    QTest.keyClick(demo.screen, Qt.Key.Key_Return)
    await until(lambda: all(view.trouble == "It is not installed." for view in demo.screen.sides.values()))
    await until(lambda: demo.screen.question.text == "Who said that?")


async def test_an_order_names_who_answers(demo, service) -> None:
    service.found = (FIRST, SECOND, DEAR)
    demo.begin(DemoOrder(("dear", "second"), full=False))
    await until(lambda: service.recorded)
    assert service.recorded[0].choice.backend == DEAR.choice and not demo.screen.isFullScreen()
    demo.leave()
    told = heard(demo.failed)
    demo.begin(DemoOrder(("third",)))
    await until(lambda: told)
    assert "“third”" in told[0]
