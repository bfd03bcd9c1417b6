"""The first run's offer for a graphics card: size and room first, then progress, stop, failure and restart."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from PySide6.QtWidgets import QApplication

from app.gui.first_run.cards.graphics_strip import GraphicsStrip
from app.gui.first_run.wizard import FirstRun
from app.gui.window.main_window import MainWindow
from app.services.graphics_service import GraphicsOffer
from app.services.machine_service import MachineView
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.first_run.test_wizard import PLAIN, FakeMachine, click
from tests.gui.helpers import open_dialog, shown, until
from tests.gui.window.test_accessibility import controls, cut_off

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
        while not self.come.wait(0.005):
            if cancelled.is_set():
                raise UserError("Stopped. What has come is kept, and it goes on from there.")
            if self.breaks:
                raise UserError(self.breaks)

    def restart(self) -> None:
        self.asked.append("restart")
        if self.breaks:
            raise UserError(self.breaks)


@asynccontextmanager
async def offered(
    offer: GraphicsOffer | None, service: FakeGraphics
) -> AsyncIterator[tuple[MainWindow, GraphicsStrip]]:
    """The window with its first run open, the machine looked at."""
    view: MachineView = replace(PLAIN, graphics=offer)
    async with shown(FakeFactory(), Settings(), machine=FakeMachine(view), graphics=service, running=False) as window:
        window.panels.open_first_run()
        first_run = open_dialog(window, FirstRun)
        await until(lambda: first_run.machine.view is view and first_run.isActiveWindow())
        yield window, first_run.machine.graphics


def visible(strip: GraphicsStrip) -> list[str]:
    """The words of the buttons that can be pressed."""
    return [button.text().replace("&", "") for button in strip.buttons if button.isVisible()]


async def test_nothing_is_offered_where_nothing_is_to_be_had() -> None:
    async with offered(None, FakeGraphics()) as (_, strip):
        assert not strip.isVisible()


async def test_nothing_is_fetched_before_the_user_has_seen_its_size_and_agreed() -> None:
    service = FakeGraphics()
    async with offered(OFFER, service) as (_, strip):
        assert strip.words.text() == SENTENCE and visible(strip) == ["Download…"]
        click(strip.get_button)
        assert strip.words.text() == (
            "4.2 GB have to be downloaded. They take 7.2 GB on the disk, of which 120.0 GB are free."
        )
        assert visible(strip) == ["Not now", "Download"] and QApplication.focusWidget() is strip.agree_button
        click(strip.later_button)
        assert visible(strip) == ["Download…"] and service.asked == []


async def test_it_is_fetched_with_progress_and_the_app_restarted() -> None:
    service = FakeGraphics()
    async with offered(replace(OFFER, estimated=True), service) as (window, strip):
        closed: list[bool] = []
        window.closing.connect(lambda: closed.append(True))
        click(strip.get_button)
        assert strip.words.text().startswith("About 4.2 GB")
        click(strip.agree_button)
        assert visible(strip) == ["Stop"] and QApplication.focusWidget() is strip.stop_button
        await until(lambda: strip.words.text() == "Fetching: 1.0 of 7.2 GB")
        assert (strip.bar.maximum(), strip.bar.value()) == (1000, 140)
        assert "embedded voice meanwhile" in strip.note.text()
        service.come.set()
        await until(lambda: visible(strip) == ["Restart KAME"])
        assert strip.words.text() == "What the graphics card needs is installed." and not strip.bar.isVisible()
        assert QApplication.focusWidget() is strip.restart_button and not closed
        click(strip.restart_button)
        assert service.asked == ["install", "restart"] and closed == [True]


async def test_it_can_be_stopped_and_gone_on_with() -> None:
    service = FakeGraphics()
    async with offered(OFFER, service) as (_, strip):
        click(strip.get_button)
        click(strip.agree_button)
        await until(lambda: service.asked)
        click(strip.stop_button)
        await until(lambda: visible(strip) == ["Download…"])
        assert strip.words.text().startswith("Stopped. What has come is kept")
        click(strip.get_button)
        click(strip.agree_button)
        await until(lambda: service.asked == ["install", "install"])


async def test_what_fails_is_a_sentence() -> None:
    service = FakeGraphics(breaks="There is not enough room on the disk: 3 GB are free.")
    async with offered(OFFER, service) as (window, strip):
        click(strip.get_button)
        click(strip.agree_button)
        await until(lambda: visible(strip) == ["Download…"])
        assert strip.words.text() == service.breaks and strip.note.text() == "KAME goes on with the embedded voice."
        strip.show_offer(replace(OFFER, state="waiting"))
        closed: list[bool] = []
        window.closing.connect(lambda: closed.append(True))
        click(strip.restart_button)
        assert strip.words.text() == service.breaks and not closed


async def test_where_the_window_can_not_do_it_the_command_is_told() -> None:
    by_hand = replace(OFFER, state="by hand", command="python3 packaging/bootstrap.py setup")
    async with offered(by_hand, FakeGraphics()) as (_, strip):
        assert visible(strip) == [] and "bootstrap.py setup" in strip.note.text()


@asynccontextmanager
async def installing_unseen(service: FakeGraphics) -> AsyncIterator[MainWindow]:
    """The window with an installation under way and the first run closed."""
    async with offered(OFFER, service) as (window, strip):
        click(strip.get_button)
        click(strip.agree_button)
        await until(lambda: service.asked)
        open_dialog(window, FirstRun).close()
        yield window


async def test_it_goes_on_without_the_first_run_and_is_told_then() -> None:
    service = FakeGraphics()
    async with installing_unseen(service) as window:
        service.come.set()
        await until(lambda: "used after a restart" in " ".join(row.sentence for row in window.messages.rows))


async def test_what_fails_while_nobody_watches_is_told_in_the_window() -> None:
    service = FakeGraphics()
    async with installing_unseen(service) as window:
        service.breaks = "The disk is full."
        await until(lambda: [row.sentence for row in window.messages.rows] == ["The disk is full."])


async def test_closing_the_window_stops_it() -> None:
    service = FakeGraphics()
    async with offered(OFFER, service) as (window, strip):
        click(strip.get_button)
        click(strip.agree_button)
        await until(lambda: service.asked)
        window.close()
        await asyncio.wait_for(window.finish(), 5)
        assert window.graphics is not None and not window.graphics.busy


async def test_all_of_it_has_a_name_and_nothing_is_cut_off() -> None:
    service = FakeGraphics()
    async with offered(OFFER, service) as (window, strip):
        first_run = open_dialog(window, FirstRun)

        async def complete() -> None:
            await until(lambda: not cut_off(first_run))
            assert [control for control in controls(first_run) if not control.accessibleName()] == []

        await complete()
        click(strip.get_button)
        await complete()
        click(strip.agree_button)
        await until(lambda: service.asked)
        await complete()
        service.come.set()
        await until(lambda: visible(strip) == ["Restart KAME"])
        await complete()
