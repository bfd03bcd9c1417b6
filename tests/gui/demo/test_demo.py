"""The demo: its panel by mouse and keyboard, its chart, and its sessions in the session manager."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPalette
from PySide6.QtWidgets import QMainWindow, QWidget

from app.conversation import events as e
from app.demo.base import DemoAnswer, DemoOrder, DemoPlan, DemoProgress, DemoResult, DemoSwap
from app.demo.plan import stations
from app.gui.demo.chart import DemoChart, backend_colour
from app.gui.demo.controller import DemoController
from app.gui.demo.descriptions import DemoWords
from app.gui.demo.panel import CORNER_PX, DemoPanel
from app.gui.demo.picture import draw
from app.gui.demo.result_page import DemoPage
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import until
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

USERS = SessionChoice(backend=BackendChoice("openai", "mine"), answer_mode="after")


def answer(backend, answer_mode="thinking", response: float | None = 0.5, text="It is so.", **more) -> DemoAnswer:
    return DemoAnswer(BOTH_MANNERS, answer_mode, backend, QUESTIONS[0].text, response, text, **more)


RESULT = DemoResult(
    (
        answer(SECOND, "after", 1.5),
        answer(FIRST, "after", 1.0),
        answer(SECOND, response=None, text="", trouble="It is on fire."),
        answer(FIRST, response=0.25, cut=True),
    ),
    (DemoSwap(BOTH_MANNERS, "thinking", FIRST, SECOND, QUESTIONS[2].text, 3.2, 0.4, "One two", "Or rather three"),),
    True,
)


@pytest.fixture
def window(qtbot) -> QMainWindow:
    made = QMainWindow()
    made.resize(900, 600)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def panel(window, qtbot) -> DemoPanel:
    made = DemoPanel(window)
    made.show_offer((FIRST, SECOND, DEAR), (BOTH_MANNERS,), QUESTIONS)
    made.appear()
    return made


# -- the panel


def test_what_costs_money_is_not_ticked_until_the_user_does(panel, qtbot):
    assert [(box.text(), box.isChecked()) for _, box in panel.start_page.backend_boxes] == [
        ("First", True),
        ("Second", True),
        ("OpenAI: dear-1 (costs money)", False),
    ]
    assert "only if you tick them" in panel.start_page.note.text()
    before = panel.start_page.estimate.text()
    assert before.startswith("It takes about")
    panel.start_page.backend_boxes[2][1].setFocus()
    qtbot.keyClick(panel.start_page.backend_boxes[2][1], Qt.Key.Key_Space)
    with qtbot.waitSignal(panel.start_wanted) as started:
        qtbot.mouseClick(panel.start_button, Qt.MouseButton.LeftButton)
    assert started.args == [DemoPlan((FIRST, SECOND, DEAR), (BOTH_MANNERS,), False)]


def test_enter_starts_it_and_escape_closes_it(panel, qtbot):
    qtbot.keyClick(panel, Qt.Key.Key_Q, Qt.KeyboardModifier.AltModifier)
    panel.start_page.quick.setChecked(True)
    with qtbot.waitSignal(panel.start_wanted) as started:
        qtbot.keyClick(panel.start_button, Qt.Key.Key_Return)
    assert started.args[0].quick
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_without_a_backend_there_is_nothing_to_start(panel):
    for _, box in panel.start_page.backend_boxes:
        box.setChecked(False)
    assert not panel.start_button.isEnabled() and "at least one model" in panel.start_page.estimate.text()
    panel.start_page.backend_boxes[0][1].setChecked(True)
    assert panel.start_button.isEnabled() and "none is changed in mid-answer" in panel.start_page.estimate.text()
    panel.show_offer((), (BOTH_MANNERS,), QUESTIONS)
    assert "There is no model" in panel.start_page.note.text() and not panel.start_button.isEnabled()
    panel.show_offer((FIRST,), (BOTH_MANNERS,), QUESTIONS)
    assert "There is only one model" in panel.start_page.note.text() and panel.start_button.isEnabled()


def test_while_it_runs_there_is_a_caption_and_a_way_to_stop(panel, qtbot):
    stop = stations(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)), QUESTIONS)[-1]
    panel.show_progress(DemoProgress(1, 9, stop, None))
    assert panel.run_page.caption.text() == "1 of 9: preparing First …" and panel.running
    panel.show_progress(DemoProgress(2, 9, stop, QUESTIONS[0]))
    assert panel.run_page.caption.text() == "2 of 9: asking First …"
    panel.show_progress(DemoProgress(9, 9, stop, QUESTIONS[2], True))
    assert panel.run_page.caption.text() == "9 of 9: asking First, and changing to Second in mid-answer …"
    assert (panel.run_page.bar.value(), panel.run_page.bar.maximum()) == (8, 9)
    assert panel.height() < 220 and not panel.start_button.isVisible()
    window = panel.parentWidget()
    assert panel.frameGeometry().left() - window.frameGeometry().left() == CORNER_PX, "talk and oracle are in view"
    assert window.frameGeometry().bottom() - panel.frameGeometry().bottom() == CORNER_PX
    with qtbot.waitSignal(panel.stop_wanted):
        qtbot.keyClick(panel.stop_button, Qt.Key.Key_Space)
    with qtbot.waitSignal(panel.stop_wanted):
        qtbot.keyClick(panel, Qt.Key.Key_Escape)


def test_the_result_shows_chart_and_answers_and_can_be_copied_and_saved(panel, qtbot, tmp_path):
    panel.show_result(RESULT)
    words = panel.page.summary.text()
    assert "The fastest was First (Cascade, answering while you speak): its answers began 0.25 s" in words
    assert "5.0 times as fast" in words, "0.25 s against the median of 1.0 and 1.5 s"
    assert "caused at most 0.40 s of silence; the new model was heard 3.20 s" in words
    lines = panel.page.lines
    assert "First · Cascade, answering while you speak · 0.25 s" in lines and "It is so. …" in lines
    assert "Second · Cascade, answering while you speak · no answer" in lines and "It is on fire." in lines
    assert "First → Second, changed in mid-answer" in lines and "One two → Or rather three …" in lines
    qtbot.mouseClick(panel.copy_button, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert "First: 0.25 s" in copied and "Second: no answer" in copied and "Or rather three" in copied
    assert panel.save(tmp_path / "demo.png") and QImage(str(tmp_path / "demo.png")).width() > 1600
    assert not panel.save(tmp_path / "nowhere" / "demo.png") and "could not be saved" in panel.trouble.text()
    qtbot.mouseClick(panel.again_button, Qt.MouseButton.LeftButton)
    assert panel.start_button.isVisible() and not panel.page.isVisible()


def test_the_image_is_saved_where_the_user_chooses(panel, qtbot, tmp_path):
    panel.show_result(RESULT)
    qtbot.mouseClick(panel.save_button, Qt.MouseButton.LeftButton)
    assert panel.dialog is not None
    panel.dialog.selectFile(str(tmp_path / "here.png"))
    panel.dialog.accept()
    assert (tmp_path / "here.png").is_file() and panel.dialog is None


def test_every_control_has_a_name(panel):
    for page in (lambda: None, lambda: panel.show_result(RESULT)):
        page()
        for widget in panel.findChildren(QWidget):
            if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isEnabled():
                named = widget.accessibleName() or getattr(widget, "text", str)()
                assert named, f"{type(widget).__name__} has no name"


def test_a_result_without_answers_says_so(panel):
    panel.show_result(DemoResult())
    assert (
        "No question was answered." in panel.page.summary.text()
        and "stopped before its end" in panel.page.summary.text()
    )
    assert not panel.page.chart.isVisible()


# -- the chart


def columns(chart: DemoChart, colour: QColor) -> dict[int, int]:
    """For each row of pixels that shows `colour`, how many of them do."""
    image = chart.grab().toImage()
    out: dict[int, int] = {}
    for y in range(image.height()):
        count = sum(image.pixelColor(x, y) == colour for x in range(image.width()))
        if count:
            out[y] = count
    return out


@pytest.mark.parametrize("dark", [False, True])
def test_the_bars_are_as_long_as_the_times(qtbot, dark):
    words = DemoWords()
    chart = DemoChart(words)
    qtbot.addWidget(chart)
    if dark:
        palette = QPalette(QColor("#2d2d30"))
        palette.setColor(QPalette.ColorRole.Base, QColor("#1e1e20"))
        chart.setPalette(palette)
    chart.show_groups(words.groups(RESULT), words.names(RESULT))
    chart.resize(700, chart.sizeHint().height())
    chart.show()
    assert [group.title for group in chart.groups] == [
        "Cascade, answering when you have finished",
        "Cascade, answering while you speak",
    ]
    assert chart.scale == 1.5
    assert "First 0.25 s, Second no answer" in chart.accessibleDescription()
    first = columns(chart, backend_colour(0, dark))
    bars: list[int] = []
    for y in sorted(first):
        if y - 1 not in first:
            bars.append(0)
        bars[-1] = max(bars[-1], first[y])
    assert len(bars) == 2 and bars[0] / bars[1] == pytest.approx(4.0, rel=0.05), "1.0 s and 0.25 s"
    [second] = {max(columns(chart, backend_colour(1, dark)).values())}
    assert second / bars[0] == pytest.approx(1.5, rel=0.05), "one bar: the other one has no answer"


def test_the_chart_is_drawn_without_a_window(tmp_path):
    draw(RESULT, tmp_path / "demo.png")
    image = QImage(str(tmp_path / "demo.png"))
    assert image.height() > 400 and image.pixelColor(QPoint(3, 3)).isValid()


def test_the_result_page_scrolls_vertically_only(qtbot):
    page = DemoPage(DemoWords())
    qtbot.addWidget(page)
    page.resize(400, 200)
    page.show_result(RESULT)
    page.show()
    assert page.verticalScrollBar().maximum() > 0 and page.horizontalScrollBar().maximum() == 0


# -- sessions in the window


@asynccontextmanager
async def demo_controller(
    window: QMainWindow, service: ScriptedDemoService
) -> AsyncIterator[tuple[DemoController, SessionManager, FakeFactory]]:
    factory = FakeFactory()
    heard: list[e.Event] = []
    manager = SessionManager(factory, heard.append, window)
    manager.heard_events = heard  # type: ignore[attr-defined]
    background = BackgroundTasks(window)
    made = DemoController(service, manager, heard.append, background, window)
    manager.start(USERS)
    await until(lambda: manager.session is not None)
    try:
        yield made, manager, factory
    finally:
        await made.close()
        await asyncio.gather(manager.close(1.0), background.close())


async def test_the_demos_sessions_run_in_the_windows_manager_and_the_users_choice_is_restored(window, qtbot):
    service = ScriptedDemoService(ways=(QUICK_ANSWER_MODE,))
    async with demo_controller(window, service) as (demo, manager, factory):
        settled: list[BackendChoice] = []
        steps: list[str] = []
        manager.backend_settled.connect(settled.append)
        demo.began.connect(lambda: steps.append("began"))
        demo.ended.connect(lambda again: steps.append(f"ended, again {again}"))
        shown: list[BackendChoice] = []
        demo.backend_shown.connect(shown.append)
        demo.open()
        await until(lambda: demo.panel and demo.panel.start_button.isEnabled())
        demo.panel.start_page.quick.setChecked(True)
        qtbot.mouseClick(demo.panel.start_button, Qt.MouseButton.LeftButton)
        await until(lambda: demo.panel.page.isVisible(), 20)
        assert factory.session.stopped == 1, "the user's session was stopped"
        heard = manager.heard_events
        assert any(isinstance(event, e.SessionStarted) for event in heard)
        assert any(isinstance(event, e.BackendChanged) and event.model == "second" for event in heard)
        assert [a.response for a in demo.panel.page.result.answers] == [pytest.approx(0.24)] * 2
        assert demo.panel.page.result.whole and demo.panel.page.result.swaps[0].after
        assert steps == ["began", "ended, again True"] and manager.phase == "stopped"
        assert manager.wanted == USERS and demo.manager.phase == "stopped"
        assert not settled, "no model of the demo becomes the user's choice"
        assert shown[-1] == USERS.backend and FIRST.choice in shown and SECOND.choice in shown
        manager.start(USERS)
        await until(lambda: manager.session is not None)
        assert len(factory.sessions) == 2


async def test_stop_ends_the_demo_and_shows_the_partial_result(window, qtbot):
    service = ScriptedDemoService(hold_from=2)
    async with demo_controller(window, service) as (demo, manager, _factory):
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: demo.panel is not None and "2 of 9" in demo.panel.run_page.caption.text(), 20)
        qtbot.mouseClick(demo.panel.stop_button, Qt.MouseButton.LeftButton)
        await until(lambda: not demo.running)
        assert "stopped before its end" in demo.panel.page.summary.text()
        assert len(demo.panel.page.result.answers) == 1
        await until(lambda: all(talk.stopped for talk in service.talks))
        assert demo.manager.phase == "stopped" and manager.phase == "stopped"


async def test_changes_during_the_demo_apply_to_the_users_own_session(window):
    service, gate, mine = ScriptedDemoService(hold_from=1), asyncio.Event(), BackendChoice("ollama", "mine")
    service.gate = gate
    async with demo_controller(window, service) as (demo, manager, factory):
        settled: list[BackendChoice] = []
        manager.backend_settled.connect(settled.append)
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: demo.manager.phase == "loading")
        manager.want(backend=DEAR.choice)  # while the demo's session is being built
        gate.set()
        await until(lambda: service.talks and service.talks[0].asked)
        manager.want(muted=True, microphone="theirs", answer_mode="after", backend=mine)
        assert manager.session is None and demo.running, "what is written or pressed reaches no session"
        demo.stop()
        await until(lambda: not demo.running)
        assert len(factory.sessions) == 1 and len(service.talks) == 1 and service.talks[0].calls == []
        assert service.talks[0].backend in (FIRST.choice, SECOND.choice) and settled == [DEAR.choice, mine]
        wanted = manager.wanted
        assert (wanted.backend, wanted.muted, wanted.microphone, wanted.answer_mode) == (mine, True, "theirs", "after")


async def test_a_fault_ends_the_demo_with_a_message_and_the_users_session_returns(window, monkeypatch):
    async def broken(self) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("app.gui.demo.controller.DemoRunner.run", broken)
    async with demo_controller(window, ScriptedDemoService()) as (demo, _, _factory):
        failures: list[str] = []
        again: list[bool] = []
        demo.failed.connect(failures.append)
        demo.ended.connect(again.append)
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: not demo.running)
        assert "ZeroDivisionError" in failures[0] and demo.panel.trouble.text() == failures[0]
        assert again == [True] and demo.panel.page.isVisible() and demo.panel.close_button.isVisible()


async def test_without_a_user_a_failing_service_ends_the_demo(window, tmp_path):
    async def no_backends() -> tuple[()]:
        raise UserError("Ollama has crashed.")

    service = ScriptedDemoService()
    service.backends = no_backends
    async with demo_controller(window, service) as (demo, _, _factory):
        demo.run_alone(DemoOrder((), True, str(tmp_path / "chart.png")))
        await until(lambda: not window.isVisible())
        assert demo.panel.trouble.text() == "Ollama has crashed." and not demo.written
        assert demo.panel.start_page.note.isHidden(), "it has stopped looking"


async def test_a_session_that_the_user_starts_ends_the_demo(window):
    service = ScriptedDemoService(hold_from=1)
    async with demo_controller(window, service) as (demo, manager, factory):
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: service.talks and service.talks[0].asked)
        mine = SessionChoice(backend=BackendChoice("ollama", "mine"))
        settled: list[BackendChoice] = []
        again: list[bool] = []
        manager.backend_settled.connect(settled.append)
        demo.ended.connect(again.append)
        demo.make_way()
        manager.start(mine)
        await until(lambda: not demo.running)
        await until(lambda: len(factory.sessions) == 2)
        assert factory.session.choice == mine and manager.phase == "running", "and it goes on"
        assert manager.wanted == mine and service.talks[0].stopped == 1
        assert not settled and again == [False], "what they chose last holds"


async def test_the_users_stop_ends_the_demo(window):
    service = ScriptedDemoService(hold_from=1)
    async with demo_controller(window, service) as (demo, manager, _):
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: service.talks and service.talks[0].asked)
        again: list[bool] = []
        demo.ended.connect(again.append)
        demo.make_way()
        await until(lambda: not demo.running)
        assert again == [False], "they want no conversation"
        assert manager.phase == "stopped" and not demo.panel.page.result.whole
        assert len(service.talks) == 1


async def test_a_session_that_fails_to_start_is_reported_and_the_next_one_runs(window):
    service = ScriptedDemoService(
        ways=(QUICK_ANSWER_MODE,),
        refused={"second": "It is not installed."},
        swap_refused={"second": "It is not installed."},
    )
    async with demo_controller(window, service) as (demo, _, _factory):
        demo.start(DemoPlan((FIRST, SECOND), (QUICK_ANSWER_MODE,), True))
        await until(lambda: demo.panel is not None and demo.panel.page.isVisible(), 20)
        result = demo.panel.page.result
        assert result.whole and [a.trouble for a in result.answers] == ["It is not installed.", ""]
        assert "was not changed" in demo.panel.page.summary.text()


async def test_a_demo_in_which_everything_fails_restores_the_users_choice(window):
    refused = {"": "It is not installed.", "second": "It is not installed."}
    async with demo_controller(window, ScriptedDemoService(ways=(QUICK_ANSWER_MODE,), refused=refused)) as (
        demo,
        manager,
        factory,
    ):
        manager.stop()
        await until(lambda: factory.session.stopped)
        demo.start(DemoPlan((FIRST, SECOND), (QUICK_ANSWER_MODE,), True))
        await until(lambda: demo.panel is not None and demo.panel.page.isVisible(), 20)
        await until(lambda: not demo.running)
        assert demo.manager.phase == "stopped" and not manager.gave_up and manager.wanted == USERS
        manager.want(backend=FIRST.choice)
        assert manager.phase == "stopped" and len(factory.sessions) == 1, "a stopped conversation stays stopped"


async def test_a_session_that_fails_does_not_end_the_demo(window):
    service = ScriptedDemoService(ways=(QUICK_ANSWER_MODE,), lost_after=2)
    async with demo_controller(window, service) as (demo, _, _factory):
        demo.start(DemoPlan((FIRST, SECOND), (QUICK_ANSWER_MODE,), True))
        await until(lambda: demo.panel is not None and demo.panel.page.isVisible(), 20)
        assert demo.panel.page.result.whole and len(demo.panel.page.result.answers) == 2


async def test_a_demo_without_a_user_writes_its_files_and_closes_the_window(window, tmp_path):
    service = ScriptedDemoService(found=(FIRST, SECOND, DEAR), ways=(QUICK_ANSWER_MODE,), voices={"second": Voice(0.8)})
    order = DemoOrder((), True, str(tmp_path / "chart.png"), str(tmp_path / "report.json"))
    async with demo_controller(window, service) as (demo, _, _factory):
        demo.run_alone(order)
        await until(lambda: not window.isVisible(), 20)
        assert demo.written
        found = json.loads((tmp_path / "report.json").read_text("utf-8"))
        assert found["ok"] and {a["backend"] for a in found["answers"]} == {"First", "Second"}, "nothing that costs"
        assert QImage(str(tmp_path / "chart.png")).width() > 1600


async def test_without_a_user_and_files_the_window_stays_open(window):
    async with demo_controller(window, ScriptedDemoService(ways=(QUICK_ANSWER_MODE,))) as (demo, _, _factory):
        demo.run_alone(DemoOrder(("second",), True))
        await until(lambda: demo.panel is not None and demo.panel.page.isVisible(), 20)
        assert window.isVisible() and len(demo.panel.page.result.answers) == 1


async def test_without_a_user_an_unknown_model_is_reported(window, tmp_path):
    async with demo_controller(window, ScriptedDemoService()) as (demo, _, _factory):
        failures: list[str] = []
        demo.failed.connect(failures.append)
        demo.run_alone(DemoOrder(("third",), True, "", str(tmp_path / "report.json")))
        await until(lambda: not window.isVisible())
        assert "“third”" in failures[0] and not demo.written and not (tmp_path / "report.json").exists()


async def test_closing_the_window_ends_the_demo_quickly(window):
    service = ScriptedDemoService(gate=asyncio.Event())
    async with demo_controller(window, service) as (demo, _manager, factory):
        demo.start(DemoPlan((FIRST, SECOND), (BOTH_MANNERS,)))
        await until(lambda: demo.manager.phase == "loading")
        again: list[bool] = []
        demo.ended.connect(again.append)
        await demo.close()
        assert not again, "nothing is to begin any more"
        assert not demo.running and len(factory.sessions) == 1


def test_nearly_equal_answers_have_no_fastest():
    same = DemoResult((answer(SECOND, response=0.30), answer(FIRST, response=0.31)), (), True)
    assert DemoWords().summary(same) == ["All were equally fast: 0.30 s after the question."]
    mixed = DemoResult((answer(SECOND, response=0.30), answer(FIRST, response=0.31), answer(DEAR, response=2.0)), ())
    assert DemoWords().summary(mixed) == ["The demo was stopped before its end."]


def test_durations_are_given_in_minutes():
    assert DemoWords().minutes(70) == "about a minute" and DemoWords().minutes(170) == "about 3 minutes"
