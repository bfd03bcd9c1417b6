"""The first run: the machine is checked, voice, model and devices are chosen and tested, and a session starts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QRadioButton, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.first_run.cards.choice_card import ChoiceCard
from app.gui.first_run.services import FirstRunServices
from app.gui.first_run.signs import Mark, Steps
from app.gui.first_run.wizard import FirstRun
from app.gui.models.weights_controller import WeightsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices
from app.gui.widgets.level_meter import LevelMeter
from app.services.machine_service import FrontEndFit, MachineFinding, MachineView
from app.services.microphone_check import MicrophoneTest
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeSoundService, no_devices, two_devices
from tests.gui.helpers import dark_theme, until
from tests.gui.window.test_accessibility import controls, cut_off, tabbed

CHOICES = WindowChoices(
    frontends=(("cascade", "Cascade"), ("kame", "KAME (GPU)"), ("moshi", "Moshi (GPU)")), backends=PROVIDERS
)
HERE = "http://127.0.0.1:11434"
FINDINGS = (
    MachineFinding("card", "fair", "No NVIDIA card. The embedded voice needs none."),
    MachineFinding("processor", "good", "8 cores, 16 GB of memory."),
    MachineFinding("microphone", "missing", "No microphone. Plug one in to talk; you can always type."),
)


def fits(*possible: str, size: int = 16_200_000_000) -> tuple[FrontEndFit, ...]:
    """What fits on a card that has room for these precisions."""
    rows = [FrontEndFit("cascade", "", True, "It runs on the processor, and is here already.")]
    for name, label in (("kame", "KAME"), ("moshi", "Moshi")):
        for precision in ("bf16", "int8", "int4"):
            room = precision in possible
            why = f"Takes 11 GB in {precision}." if room else f"{label} needs a larger card for {precision}."
            rows.append(FrontEndFit(name, precision, room, why, size))
    return tuple(rows)


PLAIN = MachineView(FINDINGS, fits(), "This machine has no NVIDIA card.")
CARD = MachineView(
    (MachineFinding("card", "good", "NVIDIA GeForce RTX 4070, 12 GB."), *FINDINGS[1:]),
    fits("int8", "int4"),
    "12 GB card: KAME in int8.",
    "kame",
    "int8",
    BackendChoice("ollama", "gemma3:4b", HERE),
    ("gemma3:4b", "qwen3:8b"),
)


@dataclass
class FakeMachine:
    """Returns `view`, after `gate`."""

    view: MachineView = PLAIN
    gate: asyncio.Event | None = None
    refusal: Exception | None = None
    looks: int = 0
    cancelled: int = 0

    async def look(self, report: Callable[[str, float], None]) -> MachineView:
        self.looks += 1
        report("Looking at the graphics card …", 0.4)
        try:
            await asyncio.sleep(0)
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.refusal is not None:
            raise self.refusal
        return self.view


@dataclass
class FakeWeights:
    """Weights that arrive when `come` is set, fail with `breaks`, or are stopped."""

    here: set[str] = field(default_factory=lambda: {"cascade"})
    come: threading.Event = field(default_factory=threading.Event)
    breaks: str = ""
    asked: list[str] = field(default_factory=list)
    share: float = 0.0

    def missing(self, frontend: str) -> str:
        return "" if frontend in self.here else f"The weights of {frontend} (16 GB) are not on this machine."

    def get(self, frontend: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        self.asked.append(frontend)
        report(f"{self.share:.0%} of 16.2 GB", self.share)
        while not self.come.wait(0.005):
            if cancelled.is_set():
                self.share = 0.37
                raise UserError("The download was cancelled.")
            if self.breaks:
                raise UserError(self.breaks)
        self.here.add(frontend)


class Place:
    """The first run with its services; `told` is what it has emitted, in order."""

    def __init__(self, settings: Settings, machine: FakeMachine, devices: Any, sound: bool, service: bool) -> None:
        self.settings = settings
        self.machine = machine
        self.parent = QWidget()
        self.background = BackgroundTasks(self.parent)
        self.service, self.sound_service, self.store = FakeBackendService(), FakeSoundService(), FakeWeights()
        self.lists = ModelLists(PROVIDERS, self.service, self.background, self.parent)
        self.lists.awake = True
        self.manager = WeightsController(self.store, self.parent)
        self.run = FirstRun(
            settings,
            FirstRunServices(
                machine,
                devices,
                backend=self.service if service else None,
                sound=self.sound_service if sound else None,
                weights=self.manager,
            ),
            CHOICES,
            self.lists,
            self.background,
            self.parent,
        )
        self.told: list[Any] = []
        for name, signal in (
            ("voice", self.run.frontend_chosen),
            ("arrived", self.run.frontend_arrived),
            ("backend", self.run.backend_chosen),
            ("devices", self.run.devices_chosen),
            ("testing", self.run.testing),
            ("completed", self.run.completed),
            ("skipped", self.run.skipped),
        ):
            signal.connect(lambda *given, name=name: self.told.append((name, *given)))

    @property
    def page(self) -> str:
        return self.run.title.text()

    @property
    def strip(self) -> str:
        return self.run.download.words.text() if self.run.download.isVisible() else ""

    async def looked(self) -> None:
        """Waits for the end of the check."""
        await until(lambda: self.run.machine.view is self.machine.view and self.run.machine.again.isEnabled())

    def go(self, *pages: str) -> None:
        """Goes on by the button, page by page."""
        for page in pages:
            click(self.run.next_button)
            assert self.page == page


def click(button: QPushButton | QRadioButton) -> None:
    """As with a mouse: on what is shown and can be pressed."""
    assert button.isVisible() and button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(8, button.height() // 2))


def press(code: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """A key, for whatever has the keyboard."""
    focus = QApplication.focusWidget()
    assert focus is not None
    QTest.keyClick(focus, code, modifiers)


def shown_rows(place: Place) -> list[tuple[str, str]]:
    """The rows of the machine's page: the mark's name, and the sentence."""
    rows = place.run.machine.rows
    found = []
    for row in range(rows.rowCount()):
        if item := rows.itemAtPosition(row, 0):
            mark, words = item.widget(), rows.itemAtPosition(row, 2).widget()
            assert isinstance(mark, Mark) and isinstance(words, QLabel)
            found.append((mark.accessibleName(), words.text()))
    return found


@asynccontextmanager
async def opened(
    machine: FakeMachine | None = None,
    settings: Settings | None = None,
    *,
    devices: Any = two_devices,
    sound: bool = True,
    service: bool = True,
    again: bool = False,
    looked: bool = True,
) -> AsyncIterator[Place]:
    """The first run on screen, the machine looked at. Checks that no task is left behind."""
    before = asyncio.all_tasks()
    place = Place(settings or Settings(), machine or FakeMachine(), devices, sound, service)
    try:
        place.run.open_refreshed(again=again)
        await until(place.run.isActiveWindow)
        if looked:
            await place.looked()
        yield place
    finally:
        place.run.close()
        await place.manager.close()
        await place.background.close()
        await asyncio.sleep(0)
        left = {task for task in asyncio.all_tasks() - before if not task.done()}
        place.parent.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not left, f"tasks left behind: {left}"


# -- the whole way


async def test_the_whole_way_by_mouse_on_a_plain_machine() -> None:
    async with opened() as place:
        run = place.run
        assert place.page == "This machine" and not run.back_button.isEnabled()
        assert shown_rows(place) == [
            ("all right", "No NVIDIA card. The embedded voice needs none."),
            ("good", "8 cores, 16 GB of memory."),
            ("missing", "No microphone. Plug one in to talk; you can always type."),
        ]
        assert run.machine.advice.text() == "This machine has no NVIDIA card."
        place.go("The voice")
        cards = run.voice.cards
        assert cards["cascade"].button.isChecked() and cards["cascade"].badge.isVisible()
        assert not cards["kame"].button.isEnabled() and not cards["moshi"].button.isEnabled()
        assert cards["kame"].reason.text() == "KAME needs a larger card for bf16." and place.strip == ""
        place.go("The model")
        assert run.backend.embedded.button.isChecked() and run.backend.embedded.badge.isVisible()
        assert not run.backend.ollama.button.isEnabled() and "does not run here" in run.backend.ollama.reason.text()
        click(run.backend.test_button)
        await until(lambda: run.backend.answer.text() == "It answers: first words after 0.31 s.")
        place.go("Sound")
        await until(lambda: run.sound.microphone.count() == 2)
        assert not run.sound.lacking.isVisible()
        assert run.sound.tests is not None
        click(run.sound.tests.say_button)
        await until(lambda: place.sound_service.running)
        assert place.told == [("testing", True)]
        place.sound_service.report(-12.0, False)
        assert run.sound.tests.microphone.level_db == -12.0
        place.sound_service.gate.set()
        await until(lambda: run.sound.tests.answer.state.text() == "Understood: “What is it?”")
        assert place.told == [("testing", True), ("testing", False)]
        place.go("Ready to talk")
        assert [label.text() for label in run.talk.values] == ["Embedded voice", "Built in", "System default"]
        assert run.talk.how.text() == "Hold the talk button or the space bar while you talk, and let go."
        assert "Ctrl+Alt+Space" in run.talk.keys.text() and len(run.talk.questions) == 3
        assert run.next_button.text() == "&Start talking" and not run.skip_button.isVisible()
        click(run.next_button)
        assert not run.isVisible() and place.told[2:] == [("completed",)]


async def test_the_whole_way_by_keyboard_alone() -> None:
    async with opened(FakeMachine(CARD)) as place:
        run = place.run
        place.store.here.add("kame")
        assert QApplication.focusWidget() is run.next_button
        press(Qt.Key.Key_Return)
        assert place.page == "The voice" and QApplication.focusWidget() is run.voice.cards["kame"].button
        press(Qt.Key.Key_Up)
        assert run.voice.key == "cascade" and QApplication.focusWidget() is run.voice.cards["cascade"].button
        press(Qt.Key.Key_Down)
        assert run.voice.key == "kame"
        press(Qt.Key.Key_Return)
        assert place.page == "The model" and place.told == [("voice", "kame", "int8")]
        assert QApplication.focusWidget() is run.backend.ollama.button
        press(Qt.Key.Key_Down)
        assert QApplication.focusWidget() is run.backend.cloud.button and run.backend.cloud.key.isVisible()
        while QApplication.focusWidget() is not run.backend.cloud.key:
            press(Qt.Key.Key_Tab)
        QTest.keyClicks(run.backend.cloud.key, "sk-123")
        press(Qt.Key.Key_Return)  # keeps the key and tries it, and does not go on
        await until(lambda: "answers" in run.backend.answer.text())
        assert place.page == "The model" and place.service.keys == {"openai": "sk-123"}
        assert run.backend.cloud.key.text() == ""
        press(Qt.Key.Key_B, Qt.KeyboardModifier.AltModifier)
        await until(lambda: place.page == "The voice")
        press(Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
        await until(lambda: place.page == "The model")
        assert QApplication.focusWidget() is run.backend.cloud.button
        press(Qt.Key.Key_Return)
        assert place.page == "Sound" and place.told[-1] == ("backend", BackendChoice("openai", "gpt-4.1-mini", ""))
        assert run.sound.tests is not None and QApplication.focusWidget() is run.sound.tests.say_button
        press(Qt.Key.Key_Space)
        await until(lambda: place.sound_service.running)
        press(Qt.Key.Key_Space)
        await until(lambda: run.sound.tests is not None and not run.sound.tests.testing)
        press(Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
        await until(lambda: place.page == "Ready to talk")
        assert QApplication.focusWidget() is run.next_button
        press(Qt.Key.Key_Return)
        assert not run.isVisible() and place.told[-1] == ("completed",)


async def test_nothing_waits_for_the_look() -> None:
    machine = FakeMachine(CARD, asyncio.Event())
    async with opened(machine, looked=False) as place:
        run = place.run
        await until(lambda: run.machine.progress.text() == "Looking at the graphics card …")
        assert run.machine.bar.isVisible() and run.machine.bar.value() == 400
        place.go("The voice")
        kame = run.voice.cards["kame"]
        assert run.voice.key == "cascade" and not kame.button.isEnabled()
        assert kame.reason.text() == "Still checking this machine …"
        assert machine.gate is not None
        machine.gate.set()
        await until(kame.button.isEnabled)
        assert run.voice.key == "kame" and run.voice.precision == "int8"


async def test_what_was_gone_on_from_is_not_chosen_again_by_what_is_found_later() -> None:
    machine = FakeMachine(CARD, asyncio.Event())
    async with opened(machine, looked=False) as place:
        run = place.run
        place.go("The voice", "The model", "Sound")
        assert machine.gate is not None
        machine.gate.set()
        await until(run.voice.cards["kame"].button.isEnabled)
        assert run.voice.key == "cascade" and run.backend.choice == BackendChoice()
        click(run.next_button)
        assert run.talk.values[0].text() == "Embedded voice", "what is told is what is in force"


async def test_a_look_that_fails_keeps_nobody_waiting() -> None:
    machine = FakeMachine(CARD, refusal=UserError("This machine could not be looked at."))
    async with opened(machine, looked=False) as place:
        run = place.run
        await until(lambda: run.machine.progress.text() == "This machine could not be looked at.")
        place.go("The voice")
        assert run.voice.cards["kame"].reason.text().endswith("Go back and check again.")
        place.go("The model")
        assert run.backend.ollama.reason.text().endswith("Go back and check again.")
        machine.refusal = None
        click(run.back_button)
        click(run.back_button)
        click(run.machine.again)
        await until(lambda: run.machine.view is not None)
        assert run.voice.cards["kame"].button.isEnabled() and run.voice.key == "cascade", "that was gone on from"


async def test_leaving_ends_the_look_and_says_so_once() -> None:
    machine = FakeMachine(gate=asyncio.Event())
    async with opened(machine, looked=False) as place:
        await until(lambda: machine.looks == 1)
        press(Qt.Key.Key_Escape)
        assert not place.run.isVisible() and place.told == [("skipped",)]
        await until(lambda: machine.cancelled == 1)
        assert machine.gate is not None
        machine.gate.set()
        place.run.open_refreshed()
        await place.looked()
        assert place.page == "This machine" and machine.looks == 2
        place.run.close()
        assert place.told == [("skipped",), ("skipped",)]


async def test_a_look_that_fails_says_so_and_can_be_repeated() -> None:
    machine = FakeMachine(refusal=UserError("The machine does not answer."))
    async with opened(machine, looked=False) as place:
        page = place.run.machine
        await until(lambda: page.progress.text() == "The machine does not answer.")
        assert page.progress.isVisible() and not page.box.isVisible()
        machine.refusal = None
        page.again.setFocus()
        click(page.again)
        await place.looked()
        assert not page.progress.isVisible() and page.box.isVisible() and page.again.hasFocus()
        machine.view = replace(PLAIN, findings=FINDINGS[:1], advice="Other words.")
        click(page.again)
        await place.looked()
        assert len(shown_rows(place)) == 1 and page.advice.text() == "Other words."


# -- what fits, and what was chosen


async def test_skipping_takes_what_fits_and_is_here() -> None:
    async with opened(FakeMachine(CARD)) as place:
        place.store.here.add("kame")
        click(place.run.skip_button)
        backend = BackendChoice("ollama", "gemma3:4b", HERE)
        assert place.told == [("voice", "kame", "int8"), ("backend", backend), ("skipped",)]
        assert not place.run.isVisible()


async def test_skipping_downloads_nothing() -> None:
    async with opened(FakeMachine(CARD)) as place:
        click(place.run.skip_button)
        assert [name for name, *_ in place.told] == ["backend", "skipped"] and place.store.asked == []


async def test_the_card_decides_what_can_be_chosen() -> None:
    async with opened(FakeMachine(CARD)) as place:
        place.go("The voice")
        kame, moshi = (place.run.voice.cards[key] for key in ("kame", "moshi"))
        assert place.run.voice.key == "kame" and kame.badge.isVisible() and not moshi.badge.isVisible()
        assert kame.button.accessibleName() == "KAME, fits best"
        assert kame.precision.currentData() == "int8" and kame.reason.text() == "Takes 11 GB in int8."
        items = kame.precision.model()
        enabled = [bool(items.flags(items.index(row, 0)) & Qt.ItemFlag.ItemIsEnabled) for row in range(3)]
        assert enabled == [False, True, True]
        kame.precision.showPopup()
        press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Return)
        assert place.run.voice.precision == "int4" and kame.reason.text() == "Takes 11 GB in int4."
        QTest.mouseClick(moshi, Qt.MouseButton.LeftButton, pos=moshi.rect().center())  # anywhere on the card
        assert place.run.voice.key == "moshi" and not kame.precision.isVisible() and moshi.precision.isVisible()
        assert place.strip == "The weights of moshi (16 GB) are not on this machine."
        click(place.run.back_button)
        click(place.run.machine.again)
        await place.looked()
        place.go("The voice")
        assert place.run.voice.key == "moshi"  # what was chosen stays so
        place.go("The model")
        assert place.strip == ""  # an offer is in nobody's way


async def test_what_is_in_force_is_not_said_again() -> None:
    settings = Settings(frontend="kame", precision="int8", provider="ollama", ollama_model="gemma3:4b")
    async with opened(FakeMachine(CARD), settings) as place:
        place.store.here.add("kame")
        place.go("The voice", "The model", "Sound", "Ready to talk")
        assert place.told == []
        assert [label.text() for label in place.run.talk.values[:2]] == ["KAME in int8", "Ollama, gemma3:4b"]


async def test_setting_up_again_keeps_what_there_is() -> None:
    settings = Settings(
        provider="compatible", compatible_url="http://127.0.0.1:8080/v1", microphone="Old one", duplex=True
    )
    async with opened(FakeMachine(CARD), settings, again=True) as place:
        run = place.run
        assert run.skip_button.text() == "&Close"
        place.go("The voice")
        assert run.voice.key == "cascade" and run.voice.cards["kame"].badge.isVisible()
        place.go("The model")
        assert run.backend.other.isVisible() and run.backend.other.button.text() == "Another server"
        assert run.backend.choice == BackendChoice("compatible", "", "http://127.0.0.1:8080/v1")
        place.go("Sound")
        await until(lambda: run.sound.microphone.count() == 3)
        assert run.sound.microphone.currentText() == "Not found: Old one"
        place.go("Ready to talk")
        assert run.talk.how.text().startswith("Just talk") and not run.talk.keys.isVisible()
        click(run.back_button)
        click(run.skip_button)
        assert place.told == [("skipped",)]


async def test_setting_up_again_keeps_an_ollama_that_does_not_run() -> None:
    settings = Settings(provider="ollama", ollama_model="gemma3:4b")
    async with opened(FakeMachine(PLAIN), settings, again=True) as place:
        place.go("The voice", "The model")
        assert place.run.backend.ollama.button.isChecked() and not place.run.backend.ollama.button.isEnabled()
        place.go("Sound")
        assert place.told == []


async def test_setting_up_again_leaves_a_backend_without_a_models_name_alone() -> None:
    async with opened(FakeMachine(CARD), Settings(provider="openai"), again=True) as place:
        place.service.keys["openai"] = "k"
        place.go("The voice", "The model")
        assert place.run.backend.cloud.button.isChecked() and place.run.backend.name == "OpenAI, gpt-4.1-mini"
        place.go("Sound")
        assert place.told == []


# -- downloads


async def test_a_download_goes_on_behind_the_next_pages_and_the_voice_comes_then() -> None:
    async with opened(FakeMachine(CARD)) as place:
        run, strip = place.run, place.run.download
        place.go("The voice")
        assert strip.get_button.text() == "&Download (16 GB)"
        click(strip.get_button)
        assert strip.bar.isVisible() and strip.stop_button.isVisible() and not strip.get_button.isVisible()
        await until(lambda: place.strip == "KAME: 0% of 16.2 GB")
        assert strip.note.text() == "It goes on in the background. The embedded voice speaks until then."
        place.go("The model", "Sound", "Ready to talk")
        assert place.strip == "KAME: 0% of 16.2 GB"
        assert run.talk.values[0].text() == "The embedded voice, until the weights of KAME are here."
        assert [name for name, *_ in place.told] == ["backend"]
        place.store.come.set()
        await until(lambda: place.told[-1] == ("voice", "kame", "int8"))
        assert place.strip == "" and run.talk.values[0].text() == "KAME in int8"


async def test_a_download_is_stopped_and_goes_on_where_it_was() -> None:
    async with opened(FakeMachine(CARD)) as place:
        strip = place.run.download
        place.go("The voice")
        strip.get_button.setFocus()
        press(Qt.Key.Key_Space)
        assert strip.stop_button.hasFocus()
        press(Qt.Key.Key_Space)
        await until(lambda: not place.manager.busy)
        assert place.strip == "Stopped. What has been downloaded is kept."
        assert strip.get_button.text() == "&Continue" and strip.get_button.hasFocus()
        press(Qt.Key.Key_Space)
        await until(lambda: strip.bar.value() == 370)
        place.store.come.set()
        await until(lambda: not place.manager.busy)
        assert place.store.asked == ["kame", "kame"] and place.strip == "" and place.told == []
        place.go("The model")
        assert place.told == [("voice", "kame", "int8")]


async def test_a_download_that_breaks_off_says_why_on_any_page() -> None:
    async with opened(FakeMachine(CARD)) as place:
        place.go("The voice")
        click(place.run.download.get_button)
        place.go("The model")
        place.store.breaks = "The network is gone. Check it, and start the download again."
        await until(lambda: place.strip == place.store.breaks)
        place.store.breaks = ""
        place.store.come.set()
        click(place.run.download.get_button)
        await until(lambda: place.told and place.told[-1] == ("voice", "kame", "int8"))


async def test_closing_in_mid_download_breaks_nothing() -> None:
    async with opened(FakeMachine(CARD)) as place:
        place.go("The voice")
        click(place.run.download.get_button)
        await until(lambda: place.store.asked)
        place.run.close()
        assert place.manager.busy and place.told == [("skipped",)]
        place.store.come.set()
        await until(lambda: len(place.told) == 2)
        assert place.told[1] == ("arrived", "kame", "int8")  # a conversation may be going on by now


async def test_who_chooses_otherwise_meanwhile_gets_that() -> None:
    async with opened(FakeMachine(CARD)) as place:
        place.go("The voice")
        click(place.run.download.get_button)
        place.go("The model")
        click(place.run.back_button)
        click(place.run.voice.cards["cascade"].button)
        assert place.strip.startswith("KAME: ")
        place.go("The model")
        place.store.come.set()
        await until(lambda: not place.manager.busy)
        assert place.told == [] and place.strip == ""


# -- the model


async def test_a_key_is_wanted_kept_and_refused() -> None:
    async with opened() as place:
        page = place.run.backend
        place.go("The voice", "The model")
        assert not page.cloud.key.isVisible()
        click(page.cloud.button)
        await until(lambda: page.cloud.key_words.text().startswith("There is no key yet."))
        click(place.run.next_button)
        assert place.page == "The model" and page.cloud.key.hasFocus()
        assert page.answer.text() == "Paste a key first, or choose another model."
        page.cloud.provider.setCurrentIndex(page.cloud.provider.findData("anthropic"))
        page.cloud.provider.activated.emit(page.cloud.provider.currentIndex())
        assert page.cloud.model.currentText() == "claude-haiku-4-5" and page.answer.text() == ""
        place.service.refusal = UserError("This key holds blanks, which no key has.")
        QTest.keyClicks(page.cloud.key, "a b")
        click(page.cloud.key_box.save_button)
        await until(lambda: page.answer.text() == "This key holds blanks, which no key has.")
        assert page.cloud.key.hasFocus() and page.cloud.key.text() == ""
        place.service.refusal = None
        QTest.keyClicks(page.cloud.key, "sk-ant")
        click(place.run.next_button)  # what was typed is kept first
        await until(lambda: place.page == "Sound")
        assert place.service.keys == {"anthropic": "sk-ant"}
        assert place.told == [("backend", BackendChoice("anthropic", "claude-haiku-4-5", ""))]
        click(place.run.back_button)
        await until(lambda: page.cloud.key_words.text() == "The key is in the system's keyring.")


async def test_a_key_that_was_given_elsewhere_is_found() -> None:
    async with opened() as place:
        page = place.run.backend
        place.go("The voice", "The model")
        click(page.cloud.button)
        await until(lambda: page.cloud.key_words.text().startswith("There is no key yet."))
        click(place.run.back_button)
        place.service.keys["openai"] = "k"
        place.go("The model")
        await until(lambda: page.cloud.key_words.text() == "The key is in the system's keyring.")
        place.go("Sound")


async def test_a_refused_key_is_told_by_the_test() -> None:
    async with opened() as place:
        page = place.run.backend
        place.service.keys["openai"] = "old"
        place.go("The voice", "The model")
        click(page.cloud.button)
        place.service.refusal = UserError("OpenAI refuses the key. Check it, or give another one.")
        click(page.test_button)
        assert not page.test_button.isEnabled() and page.answer.text() == "Testing OpenAI, gpt-4.1-mini …"
        await until(page.test_button.isEnabled)
        assert page.answer.text() == "OpenAI refuses the key. Check it, or give another one."
        click(page.embedded.button)
        assert page.answer.text() == ""


async def test_leaving_ends_a_test_and_forgets_what_was_typed() -> None:
    async with opened() as place:
        page = place.run.backend
        place.go("The voice", "The model")
        place.service.gate = asyncio.Event()
        click(page.test_button)
        await until(lambda: place.service.calls)
        click(page.cloud.button)
        await until(lambda: place.service.cancelled == 1)
        QTest.keyClicks(page.cloud.key, "half a k")
        place.run.close()
        assert page.cloud.key.text() == "" and page.answer.text() == ""
        place.service.gate.set()


async def test_an_ollama_without_a_model_fetches_one() -> None:
    async with opened(FakeMachine(replace(PLAIN, ollama_models=()))) as place:
        page = place.run.backend
        place.go("The voice", "The model")
        assert page.ollama.pull is not None and page.ollama.pull.name.isVisible() and not page.ollama.button.isEnabled()
        page.ollama.pull.name.setFocus()
        QTest.keyClicks(page.ollama.pull.name, "gemma3:4b")
        press(Qt.Key.Key_Return)
        await until(
            lambda: page.ollama.pull is not None and page.ollama.pull.words.text() == "gemma3:4b is on the server."
        )
        assert place.page == "The model" and page.ollama.button.isChecked() and page.ollama.button.isEnabled()
        place.go("Sound")
        assert place.told == [("backend", BackendChoice("ollama", "gemma3:4b", HERE))]


async def test_ollamas_other_models_can_be_picked() -> None:
    async with opened(FakeMachine(CARD)) as place:
        page = place.run.backend
        place.go("The voice", "The model")
        assert page.ollama.button.isChecked() and page.ollama.model.currentText() == "gemma3:4b"
        page.ollama.model.setFocus()
        press(Qt.Key.Key_Down)  # opens the list
        press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Return)
        place.go("Sound")
        assert place.told == [("backend", BackendChoice("ollama", "qwen3:8b", HERE))]


async def test_without_a_service_for_backends_only_what_needs_none_is_offered() -> None:
    async with opened(service=False) as place:
        place.go("The voice", "The model")
        page = place.run.backend
        assert not page.cloud.isVisible() and not page.test_button.isVisible() and page.embedded.isVisible()
        place.go("Sound")


# -- sound


async def test_a_silent_microphone_is_told_and_another_one_chosen() -> None:
    async with opened() as place:
        page = place.run.sound
        place.go("The voice", "The model", "Sound")
        await until(lambda: page.microphone.count() == 2)
        assert page.tests is not None
        place.sound_service.found = MicrophoneTest("Webcam", "silent")
        click(page.tests.say_button)
        place.sound_service.gate.set()
        await until(lambda: "Nothing at all came from “Webcam”" in page.tests.answer.verdict.text())
        page.microphone.setFocus()
        press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Return)
        assert place.told[-1] == ("devices", "Desk microphone", "")
        click(page.tests.say_button)
        await until(lambda: place.sound_service.calls[-1] == ("test_microphone", "Desk microphone"))
        click(place.run.next_button)  # ends the test
        await until(lambda: place.told[-1] == ("testing", False))
        assert place.sound_service.cancelled == 1 and place.run.talk.values[2].text() == "Desk microphone"


async def test_no_devices_are_told_until_one_is_plugged_in() -> None:
    async with opened(devices=no_devices) as place:
        page = place.run.sound
        place.go("The voice", "The model", "Sound")
        await until(page.lacking.isVisible)
        assert page.lacking.text().startswith("No microphone and no loudspeaker.")
        place.run.set_devices([], ["Headphones"])
        assert page.lacking.text().startswith("No microphone.")
        place.run.set_devices(["Headset"], [])
        assert page.lacking.text().startswith("No loudspeaker.")
        place.run.set_devices(["Headset"], ["Headset"])
        assert not page.lacking.isVisible()
        assert page.microphone.itemText(1) == "Headset"


async def test_without_a_microphone_it_ends_with_typing_until_one_is_plugged_in() -> None:
    async with opened(devices=no_devices) as place:
        run = place.run
        place.go("The voice", "The model", "Sound")
        await until(run.sound.lacking.isVisible)
        place.go("Ready to type")
        assert run.subtitle.text().startswith("No microphone was found. KAME notices one that you plug in")
        assert run.talk.how.text() == "Type a question below the conversation, and press Enter."
        assert run.next_button.text() == "&Start typing" and not run.talk.keys.isVisible()
        assert run.talk.values[2].text() == "None so far"
        run.set_devices(["Headset"], [])
        assert place.page == "Ready to talk" and run.next_button.text() == "&Start talking"
        assert run.talk.how.text().startswith("Hold the talk button") and run.talk.keys.isVisible()
        assert run.talk.values[2].text() == "System default"


async def test_levels_of_the_talk_are_shown() -> None:
    async with opened() as place:
        page = place.run.sound
        assert page.tests is not None
        place.run.show_level(-20.0, -30.0, 1.0)
        assert (page.tests.microphone.level_db, page.tests.loudspeaker.level_db) == (-20.0, -30.0)


async def test_without_a_service_for_sound_the_devices_can_be_picked() -> None:
    async with opened(sound=False) as place:
        place.go("The voice", "The model", "Sound")
        await until(lambda: place.run.sound.loudspeaker.count() == 2)
        assert place.run.sound.tests is None and place.run.sound.microphone.hasFocus()
        place.go("Ready to talk")


# -- for everybody


@pytest.mark.parametrize("size", [(560, 420), (660, 560), (1400, 1000)])
async def test_every_page_is_named_whole_and_reached_by_tab(size: tuple[int, int]) -> None:
    async with opened(FakeMachine(replace(CARD, ollama_models=("gemma3:4b",)))) as place:
        run = place.run
        run.resize(*size)
        assert run.accessibleName() == "Set up KAME"
        for number, name in enumerate(("Machine", "Voice", "Model", "Sound", "Talk")):
            assert run.here == number
            steps = run.findChild(Steps)
            assert steps is not None and steps.accessibleName() == f"Step {number + 1} of 5: {name}"
            if name == "Model":
                click(run.backend.cloud.button)
            await asyncio.sleep(0.03)
            found = [widget for widget in controls(run) if not isinstance(widget, QRadioButton)]
            names = [widget.accessibleName() for widget in found]
            assert all(names) and len(set(names)) == len(names), names
            reached = set(tabbed())
            passive = (LevelMeter,)
            missing = [
                widget.accessibleName()
                for widget in found
                if widget.isEnabled()
                and not isinstance(widget, passive)
                and widget not in reached
                and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            ]
            assert missing == []
            if size[1] >= 560:
                await until(lambda: not cut_off(run))
            if name == "Model":
                click(run.backend.embedded.button)
            if name != "Talk":
                run.next_button.click()


async def test_what_has_no_room_can_be_scrolled_by_keyboard() -> None:
    async with opened(FakeMachine(replace(PLAIN, findings=FINDINGS * 4))) as place:
        place.run.resize(560, 420)
        scroller = place.run.stack.currentWidget()
        bar = scroller.verticalScrollBar()
        await until(lambda: bar.maximum() > 0)
        assert scroller in tabbed()
        scroller.setFocus()
        press(Qt.Key.Key_PageDown)
        assert bar.value() > 0


async def test_what_a_chosen_card_shows_comes_into_sight() -> None:
    async with opened(FakeMachine(replace(PLAIN, ollama_models=()))) as place:
        page = place.run.backend
        place.run.resize(560, 420)
        place.go("The voice", "The model")
        scroller = place.run.stack.currentWidget()
        await until(lambda: scroller.verticalScrollBar().maximum() > 0)
        low = scroller.verticalScrollBar().maximum()
        page.cloud.button.setFocus()
        press(Qt.Key.Key_Space)
        field, viewport = page.cloud.key, scroller.viewport()
        await until(lambda: scroller.verticalScrollBar().maximum() > low)  # it is laid out again
        await until(lambda: viewport.rect().contains(field.mapTo(viewport, field.rect().bottomLeft())), 1.0)


async def test_colours_follow_the_system() -> None:
    async with opened() as place:
        place.go("The voice")
        card = place.run.findChild(ChoiceCard)
        assert card is not None
        bright = card.grab().toImage().pixelColor(card.width() // 2, card.height() - 6)
        with dark_theme():
            await asyncio.sleep(0.02)
            shaded = card.grab().toImage().pixelColor(card.width() // 2, card.height() - 6)
        assert bright.lightnessF() > 0.7 and shaded.lightnessF() < 0.35
