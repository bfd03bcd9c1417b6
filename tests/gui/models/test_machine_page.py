"""The check of this machine, and the offer for its graphics card: size, progress, stop, failure and restart."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from app.gui.models.machine_page import GraphicsStrip, MachinePage, Mark
from app.gui.models.models_dialog import ModelsDialog
from app.gui.window.main_window import MainWindow
from app.services.graphics_service import GraphicsOffer
from app.services.machine_service import MachineFinding
from app.session.control import UserError
from tests.gui.fakes import CARD, FINDINGS, PLAIN, FakeMachine
from tests.gui.helpers import WELCOMED, heard, open_dialog, press, until

SENTENCE = (
    "An NVIDIA GeForce RTX 4070 with 12 GB is here. KAME can run on it: what it needs (torch for CUDA 12.8, about "
    "4.2 GB) isn't installed."
)
OFFER = GraphicsOffer("offered", SENTENCE, 4_150_000_000, 7_240_000_000, 120_000_000_000)


@dataclass
class FakeGraphics:
    """Installs when `come` is set, or fails with `breaks`; notes what it is asked."""

    come: threading.Event = field(default_factory=threading.Event)
    breaks: str = ""
    asked: list[str] = field(default_factory=list)

    def offer(self) -> GraphicsOffer | None:
        raise AssertionError("the machine's view tells the window what there is to offer")

    def install(self, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        self.asked.append("install")
        report("Looking at the graphics card …", -1.0)
        report("Fetching: 1.0 of 7.2 GB", 0.14)
        for _ in range(6_000):
            if self.come.wait(0.005):
                break
            if cancelled.is_set():
                raise UserError("Stopped. What has come is kept, and it goes on from there.")
            if self.breaks:
                raise UserError(self.breaks)
        else:
            raise AssertionError("the installation is neither finished nor stopped")

    def restart(self) -> None:
        self.asked.append("restart")
        if self.breaks:
            raise UserError(self.breaks)


@pytest.fixture
def machine() -> FakeMachine:
    """A machine on which the check finds this offer, unless a test gives it another view."""
    return FakeMachine(replace(PLAIN, graphics=OFFER))


@pytest.fixture
def service() -> FakeGraphics:
    return FakeGraphics()


@pytest.fixture
def given(machine: FakeMachine, service: FakeGraphics) -> dict[str, object]:
    return {"state": WELCOMED, "machine": machine, "graphics": service}


async def opened(window: MainWindow) -> MachinePage:
    """The page that checks the machine."""
    window.commands["models"].trigger()
    dialog = open_dialog(window, ModelsDialog)
    page = dialog.machine
    assert page is not None and page.isVisible()
    await until(dialog.isActiveWindow)
    return page


@pytest.fixture
async def strip(window: MainWindow, machine: FakeMachine) -> GraphicsStrip:
    """The offer on the page, once the check has found it."""
    page = await opened(window)
    await until(lambda: page.view is machine.view)
    return page.graphics


def click(button: QAbstractButton) -> None:
    """Clicks a button that is shown and enabled."""
    assert button.isVisible() and button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def findings(page: MachinePage) -> list[tuple[str, str]]:
    """The mark and the sentence of each finding."""
    found = []
    for line in range(page.rows.rowCount()):
        if item := page.rows.itemAtPosition(line, 0):
            mark, words = item.widget(), page.rows.itemAtPosition(line, 2).widget()
            assert isinstance(mark, Mark) and isinstance(words, QLabel)
            found.append((mark.accessibleName(), words.text()))
    return found


async def test_the_machine_is_checked_once_and_again_on_request(machine: FakeMachine, window: MainWindow) -> None:
    machine.view, machine.gate = PLAIN, asyncio.Event()
    page = await opened(window)
    await until(lambda: page.progress.text() == "Looking at the graphics card …")
    assert page.bar.isVisible() and page.bar.value() == 400 and not page.again.isEnabled()
    machine.gate.set()  # type: ignore[union-attr]
    await until(lambda: page.view is PLAIN)
    marks = {"good": "good", "fair": "all right", "missing": "missing"}
    assert findings(page) == [(marks[one.state], one.sentence) for one in FINDINGS]
    assert page.advice.text() == PLAIN.advice and not page.bar.isVisible()
    machine.view = CARD
    page.again.setFocus()
    press(page, "Check this machine again")
    await until(lambda: page.view is CARD)
    assert page.advice.text() == "12 GB card: KAME in int8." and len(findings(page)) == 3
    assert machine.looks == 2 and page.again.hasFocus()


async def test_a_check_that_fails_says_so_and_can_be_repeated(machine: FakeMachine, window: MainWindow) -> None:
    machine.refusal = UserError("The machine could not be checked.")
    page = await opened(window)
    await until(lambda: page.progress.text() == "The machine could not be checked.")
    machine.refusal = None
    press(page, "Check this machine again")
    await until(lambda: page.view is machine.view)


TRIAL = (
    MachineFinding("trial", "good", "KAME's kernels work on this card."),
    MachineFinding("trial", "fair", "A frame takes 61 ms of 80 (int8): KAME just keeps up."),
)


async def test_without_a_card_that_is_ready_there_is_nothing_to_try(machine: FakeMachine, window: MainWindow) -> None:
    machine.view = PLAIN
    page = await opened(window)
    await until(lambda: page.view is PLAIN)
    assert not page.trial.isVisible()


async def test_kame_is_tried_on_the_card_on_request(machine: FakeMachine, window: MainWindow) -> None:
    machine.view, machine.trial = replace(CARD, can_try=True), TRIAL
    page = await opened(window)
    await until(lambda: page.view is machine.view)
    assert len(findings(page)) == 3
    machine.gate = asyncio.Event()
    page.trial.setFocus()
    click(page.trial)
    await until(lambda: page.progress.text() == "Trying KAME on the graphics card, step 2 of 5 …")
    assert page.bar.isVisible() and page.bar.value() == 200
    assert not page.trial.isEnabled() and not page.again.isEnabled()
    machine.gate.set()
    await until(lambda: not page.bar.isVisible())
    assert findings(page)[3:] == [("good", TRIAL[0].sentence), ("all right", TRIAL[1].sentence)]
    assert page.trial.hasFocus()
    press(page, "Check this machine again")
    await until(lambda: machine.looks == 2 and not page.bar.isVisible())
    assert len(findings(page)) == 5, "a new check keeps what the trial has found"


async def test_a_trial_that_is_refused_says_why_and_leaving_ends_one(machine: FakeMachine, window: MainWindow) -> None:
    machine.view, machine.refusal = replace(CARD, can_try=True), None
    page = await opened(window)
    await until(lambda: page.view is machine.view)
    machine.refusal = UserError("A conversation uses the graphics card.")
    click(page.trial)
    await until(lambda: page.progress.text() == "A conversation uses the graphics card.")
    machine.refusal, machine.gate = None, asyncio.Event()
    click(page.trial)
    await until(lambda: "step 2 of 5" in page.progress.text())
    page.window().close()
    await until(lambda: machine.cancelled == 1)


async def test_closing_the_dialog_ends_the_check(machine: FakeMachine, window: MainWindow) -> None:
    machine.gate = asyncio.Event()
    page = await opened(window)
    await until(lambda: machine.looks == 1)
    page.window().close()
    await until(lambda: machine.cancelled == 1)


def visible(strip: GraphicsStrip) -> list[str]:
    """The words of the buttons that can be pressed."""
    return [button.text().replace("&", "") for button in strip.buttons if button.isVisible()]


@pytest.mark.parametrize("machine", [FakeMachine(PLAIN)])
async def test_nothing_is_offered_where_nothing_is_lacking(strip: GraphicsStrip) -> None:
    assert not strip.isVisible()


async def test_the_size_is_shown_before_anything_is_fetched(service: FakeGraphics, strip: GraphicsStrip) -> None:
    assert strip.words.text() == (
        f"{SENTENCE} 4.2 GB have to be downloaded. They take 7.2 GB on the disk; 120.0 GB are free."
    )
    assert visible(strip) == ["Download"] and service.asked == []


ESTIMATED = replace(OFFER, estimated=True)


@pytest.mark.parametrize("machine", [FakeMachine(replace(PLAIN, graphics=ESTIMATED))])
async def test_it_is_fetched_with_progress_and_the_app_restarted(service, window, strip: GraphicsStrip) -> None:
    closed = heard(window.closing)
    assert "About 4.2 GB" in strip.words.text()
    click(strip.get_button)
    assert visible(strip) == ["Stop"] and QApplication.focusWidget() is strip.stop_button
    await until(lambda: strip.words.text() == "Fetching: 1.0 of 7.2 GB")
    assert (strip.bar.maximum(), strip.bar.value()) == (1000, 140)
    assert strip.note.text() == "Meanwhile KAME uses the built-in voice."
    service.come.set()
    await until(lambda: visible(strip) == ["Restart KAME"])
    assert strip.words.text() == "What the graphics card needs is installed." and not strip.bar.isVisible()
    assert QApplication.focusWidget() is strip.restart_button and not closed
    click(strip.restart_button)
    assert service.asked == ["install", "restart"] and closed == [()]


async def test_it_can_be_stopped_and_continued(service: FakeGraphics, strip: GraphicsStrip) -> None:
    click(strip.get_button)
    await until(lambda: service.asked)
    click(strip.stop_button)
    await until(lambda: visible(strip) == ["Download"])
    assert strip.words.text().startswith("Stopped. What has come is kept")
    click(strip.get_button)
    await until(lambda: service.asked == ["install", "install"])


async def test_what_fails_is_a_sentence(service: FakeGraphics, window: MainWindow, strip: GraphicsStrip) -> None:
    service.breaks = "There is not enough room on the disk: 3 GB are free."
    click(strip.get_button)
    await until(lambda: visible(strip) == ["Download"])
    assert strip.words.text() == service.breaks and strip.note.text() == "KAME keeps using the built-in voice."
    strip.show_offer(replace(OFFER, state="waiting"))
    closed = heard(window.closing)
    click(strip.restart_button)
    assert strip.words.text() == service.breaks and not closed


BY_HAND = replace(OFFER, state="by hand", command="python3 packaging/bootstrap.py setup")


@pytest.mark.parametrize("machine", [FakeMachine(replace(PLAIN, graphics=BY_HAND))])
async def test_where_the_window_can_not_do_it_the_command_is_told(strip: GraphicsStrip) -> None:
    assert visible(strip) == [] and "bootstrap.py setup" in strip.note.text()


@pytest.mark.parametrize("fails", [False, True])
async def test_what_becomes_of_it_while_nobody_watches_is_told_in_the_window(
    service: FakeGraphics, window: MainWindow, strip: GraphicsStrip, fails: bool
) -> None:
    click(strip.get_button)
    await until(lambda: service.asked)
    open_dialog(window, ModelsDialog).close()
    if fails:
        service.breaks = "The disk is full."
        await until(lambda: window.messages.sentences() == ["The disk is full."])
    else:
        service.come.set()
        await until(lambda: "used after a restart" in " ".join(window.messages.sentences()))


async def test_closing_the_window_stops_it(service: FakeGraphics, window: MainWindow, strip: GraphicsStrip) -> None:
    click(strip.get_button)
    await until(lambda: service.asked)
    window.close()
    await asyncio.wait_for(window.finish(), 5)
    assert window.graphics is not None and not window.graphics.busy
