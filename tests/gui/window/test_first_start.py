"""The very first start: cards for microphone and model in the welcome, until somebody has talked or is done."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget
from shiboken6 import isValid

from app.conversation import events as e
from app.gui.first_run.welcome_cards import WelcomeCards
from app.gui.models.models_dialog import ModelsDialog
from app.gui.sound.dialog import SoundDialog
from app.gui.window.main_window import MainWindow
from app.services.graphics_service import GraphicsOffer
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.controllers.test_sound_controller import FakeSpeaking
from tests.gui.fakes import (
    CARD,
    CHOICES,
    HERE,
    PLAIN,
    FakeBackendService,
    FakeFactory,
    FakeMachine,
    FakeSoundService,
    no_devices,
    two_devices,
)
from tests.gui.helpers import open_dialog, press, say, shown, spoken, typed, until
from tests.gui.models.test_local_models import FakeModels
from tests.gui.window.test_accessibility import cut_off
from tests.gui.window.test_panels import dialogs


def desk(machine: FakeMachine | None = None, **more: object) -> dict[str, object]:
    given: dict[str, object] = {
        "choices": CHOICES,
        "service": FakeBackendService(lists={"ollama": ("gemma3:4b",)}),
        "sound_service": FakeSoundService(),
        "machine": machine or FakeMachine(),
        "models": FakeModels(),
        "list_devices": two_devices,
        "everything": False,
    }
    return {**given, **more}


@pytest.fixture
def given() -> dict[str, object]:
    return desk()


def cards_of(window: MainWindow) -> WelcomeCards:
    """The cards, which must be on screen."""
    start = window.first_start
    assert start is not None and start.cards is not None and start.cards.isVisible()
    return start.cards


def levels(window: MainWindow, *dbfs: float) -> None:
    for number, level in enumerate(dbfs):
        say(window, e.LevelMeasured(0.08 * number, level, -120.0, 0.0, False))


async def test_the_first_sight_is_the_welcome_with_cards_and_no_dialog(window, factory) -> None:
    cards = cards_of(window)
    assert dialogs(window) == [] and window.transcript.pages.currentWidget() is window.transcript.welcome
    assert window.focusWidget() is window.transcript.composer.field, "one can type and talk at once"
    await until(lambda: cards.microphone.picker.findText("Desk microphone") >= 0)
    assert cards.microphone.words.text() == "Say something."
    levels(window, *[-58.0] * 20, -12.0, -15.0, *[-58.0] * 20)
    assert cards.microphone.words.text() == "Say something.", "a click is no speech"
    assert cards.microphone.level.level_db == -58.0
    levels(window, *[-25.0] * 6)
    assert cards.microphone.words.text() == "I hear you."
    say(window, e.SessionStarted(0.0, "cascade", "w", "embedded", "SmolLM2", "thinking"))
    assert cards.model.name.text() == "SmolLM2"
    assert cards.model.cost.text() == "It runs on this machine, and costs nothing."
    QTest.mouseClick(cards.microphone.picker, Qt.MouseButton.LeftButton)
    cards.microphone.picker.setCurrentIndex(1)
    cards.microphone.picker.activated.emit(1)
    assert window.settings.microphone == "Desk microphone" and factory.session.choice.microphone
    assert cards.microphone.words.text() == "Say something.", "the other one has to be heard, too"


async def test_what_it_says_without_a_microphone_and_before_the_session_runs() -> None:
    factory = FakeFactory(gate=asyncio.Event())
    async with shown(factory, Settings(), running=False, **desk()) as window:  # type: ignore[arg-type]
        cards = cards_of(window)
        assert cards.microphone.words.text() == "Getting ready to listen …"
        factory.gate.set()  # type: ignore[union-attr]
        await until(lambda: cards.microphone.words.text() == "Say something.")
        window.sound.set_muted(True)
        say(window, e.MicrophoneMuted(0.1, True))
        assert "muted" in cards.microphone.words.text()
    async with shown(FakeFactory(), Settings(), **desk(list_devices=no_devices)) as window:  # type: ignore[arg-type]
        cards = cards_of(window)
        words = "No microphone was found. You can type; KAME notices one that you plug in."
        await until(lambda: cards.microphone.words.text() == words)
        assert not cards.microphone.picker.isVisible()
        window.sound.listed.emit(["Desk microphone"], [])
        assert cards.microphone.picker.isVisible() and cards.microphone.words.text() == "Say something."


async def test_a_better_model_is_downloaded_in_the_card() -> None:
    models = FakeModels()
    async with shown(FakeFactory(), Settings(), **desk(models=models)) as window:  # type: ignore[arg-type]
        offer = cards_of(window).model.offer
        await until(offer.isVisible)
        assert "Big (1.1 GB to download)" in offer.words.text() and not offer.bar.isVisible()
        press(offer, "Download the better model")
        await until(lambda: offer.bar.value() == 500)
        assert offer.bar.isVisible()
        models.go_on.set()
        await until(lambda: "Big is on this machine" in offer.words.text())


@pytest.mark.parametrize("early", [True, False], ids=["before it is found", "after it is found"])
async def test_who_talks_first_finds_the_offer_of_a_better_model_in_the_message_bar(
    early: bool, caplog: pytest.LogCaptureFixture
) -> None:
    machine, models, factory = FakeMachine(), FakeModels(), FakeFactory()
    if early:
        machine.gate = asyncio.Event()
    async with shown(factory, Settings(), **desk(machine, models=models)) as window:  # type: ignore[arg-type]
        offer = cards_of(window).model.offer
        assert offer is not None
        if not early:
            await until(offer.isVisible)
        say(window, *spoken(1, "Hello.", "Hello to you."))
        assert window.first_start is not None and window.first_start.cards is None
        if early:
            assert window.messages.rows == []
            machine.gate.set()  # type: ignore[union-attr]
        await until(lambda: window.messages.rows)
        (row,) = window.messages.rows
        assert row.sentence == "This machine is fast enough for Big (1.1 GB to download), which knows far more."
        assert not row.reading.isActive(), "it waits for an answer"
        press(row, "Download")
        assert window.messages.sentences() == ["Big is being downloaded. Until then the small model answers."]
        await until(lambda: window.models_controller is not None and window.models_controller.busy)
        models.go_on.set()
        await until(lambda: any("Big is here" in sentence for sentence in window.messages.sentences()))
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_an_ollama_that_nobody_has_answered_is_offered_there_too() -> None:
    async with shown(FakeFactory(), Settings(), **desk(FakeMachine(CARD))) as window:  # type: ignore[arg-type]
        await until(lambda: cards_of(window).model.use_button.isVisible())
        say(window, *spoken(1, "Hello.", "Hello to you."))
        (row,) = window.messages.rows
        assert "gemma3:4b (Ollama)" in row.sentence
        press(row, "Use it")
        assert window.popover.choice == BackendChoice("ollama", "gemma3:4b", HERE) and window.messages.rows == []


@pytest.mark.parametrize("way", ["done", "another model", "close"])
async def test_an_answered_offer_does_not_come_again(way: str, window: MainWindow) -> None:
    offer = cards_of(window).model.offer
    await until(offer.isVisible)
    if way == "done":
        press(cards_of(window), "Done: hide microphone and model")
    elif way == "another model":
        window.backends.choose(BackendChoice("openai", "gpt-4.1"))
    say(window, *spoken(1, "Hello.", "Hello to you."))
    if way == "close":
        press(window.messages.rows[0], "Close this message")
    assert window.messages.rows == []
    say(window, *spoken(2, "Hello again.", "Hello to you.", at=9.0))
    assert window.messages.rows == []


async def test_a_download_that_the_cards_have_begun_goes_on_without_them(caplog: pytest.LogCaptureFixture) -> None:
    models, factory = FakeModels(), FakeFactory()
    async with shown(factory, Settings(), **desk(models=models)) as window:  # type: ignore[arg-type]
        offer = cards_of(window).model.offer
        assert offer is not None and window.models_controller is not None
        await until(offer.isVisible)
        press(offer, "Download the better model")
        await until(lambda: offer.bar.value() == 500)
        say(window, *spoken(1, "Hello.", "Hello to you."))
        await until(lambda: not isValid(offer))
        assert window.messages.rows == [], "they have answered"
        window.models_controller.progressed.emit("60%", 0.6)
        models.trouble = "The server does not answer."
        models.go_on.set()
        await until(lambda: window.messages.sentences() == ["The server does not answer."])
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_what_fits_the_machine_is_offered_and_leads_to_its_download() -> None:
    async with shown(FakeFactory(), Settings(), **desk(FakeMachine(CARD))) as window:  # type: ignore[arg-type]
        model = cards_of(window).model
        await until(model.card_button.isVisible)
        assert model.card.text() == "Your graphics card has room for KAME (16 GB to download)."
        assert "gemma3:4b (Ollama)" in model.ollama.text()
        press(model, "Use the better model")
        assert window.popover.choice == BackendChoice("ollama", "gemma3:4b", HERE) and not model.use_button.isVisible()
        assert "this machine" in model.cost.text()
        press(model, "Set up what fits the graphics card")
        page = open_dialog(window, ModelsDialog).local
        assert page is not None and page.isVisible()
        await until(lambda: "kame" in page.cards and page.cards["kame"].live)
        assert page.cards["kame"].button.isEnabled()


async def test_a_card_that_lacks_something_leads_to_its_installation() -> None:
    view = replace(PLAIN, graphics=GraphicsOffer("offered", "A card is here.", 1, 1, 1))
    async with shown(FakeFactory(), Settings(), **desk(FakeMachine(view))) as window:  # type: ignore[arg-type]
        model = cards_of(window).model
        await until(model.card_button.isVisible)
        assert model.card.text() == "KAME can use your graphics card once it is set up."
        press(model, "Set up what fits the graphics card")
        page = open_dialog(window, ModelsDialog).machine
        await until(page.graphics.isVisible)
        assert "A card is here." in page.graphics.words.text()


@pytest.mark.parametrize(
    ("name", "kind"), [("Details about sound", SoundDialog), ("Details about the model", ModelsDialog)]
)
async def test_details_open_a_dialog_over_the_window(name: str, kind: type[QDialog], window: MainWindow) -> None:
    press(cards_of(window), name)
    dialog = open_dialog(window, kind)
    await until(dialog.isActiveWindow)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible() and not window.keep.state.first_run_done
    assert cards_of(window).isVisible(), "only a look at details hides nothing"


async def test_another_model_is_chosen_from_the_list(window: MainWindow) -> None:
    press(cards_of(window), "Choose another model")
    assert window.popover.isVisible()
    window.backends.choose(BackendChoice("openai", "gpt-4.1"))
    model = cards_of(window).model
    await until(lambda: model.name.text() == "gpt-4.1")
    assert "billed to your account" in model.cost.text()


@pytest.mark.parametrize("way", ["done", "typed", "spoken", "asked"])
async def test_they_go_for_good_when_somebody_talks_or_is_done(way: str, tmp_path: Path) -> None:
    path, factory, speaking = tmp_path / "settings.json", FakeFactory(), FakeSpeaking()
    speaking.gate.set()
    given = desk(asking=speaking)
    async with shown(factory, Settings.load(path), **given) as window:  # type: ignore[arg-type]
        cards = cards_of(window)
        if way == "spoken":
            cough = e.UserStarted(0.5, 1), e.UserEnded(0.8, 1, 0.7, "words"), e.TranscriptFinal(0.9, 1, "", 1)
            say(window, *cough)
            assert not window.keep.state.first_run_done, "a cough is no conversation"
        if way == "done":
            press(cards, "Done: hide microphone and model")
        elif way == "typed":
            typed(window, "Hello.")
            say(window, e.TranscriptFinal(2.0, 2, "Hello.", 2.0))
        elif way == "asked":
            window.transcript.welcome.questions[0].click()
            await until(lambda: any(call[0] == "ask_aloud" for call in factory.session.calls))
            levels(window, *[-20.0] * 8)
            assert cards.microphone.words.text() != "I hear you.", "that was not the user"
            say(window, *spoken(2, window.transcript.welcome.questions[0].text()))
        else:
            say(window, *spoken(2, "Hello."))
        assert window.keep.state.first_run_done and not cards.isVisible()
        assert window.transcript.welcome.questions[0].isVisibleTo(window.transcript.welcome)
    async with shown(FakeFactory(), Settings.load(path), **given) as window:  # type: ignore[arg-type]
        assert window.first_start is None and dialogs(window) == []


async def test_they_are_shown_again_after_an_early_close_and_never_without_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings.load(path), **desk()) as window:  # type: ignore[arg-type]
        cards_of(window)
    assert not WindowState.load(path.with_name("window.json")).first_run_done, "nothing was answered"
    async with shown(FakeFactory(), Settings()) as window:
        assert window.first_start is None


@pytest.mark.parametrize("percent", [100, 150, 200])
async def test_nothing_is_cut_off_at_any_text_size_and_all_is_reached_by_keyboard(percent: int) -> None:
    view = replace(CARD, advice=PLAIN.advice)
    given = desk(FakeMachine(view))
    async with shown(FakeFactory(), Settings(font_scale=percent), **given) as window:  # type: ignore[arg-type]
        window.resize(900, 600)
        cards = cards_of(window)
        await until(cards.model.card_button.isVisible)
        await until(lambda: not cut_off(cards))
        await until(window.isActiveWindow)
        cards.microphone.details.setFocus()
        seen: list[QWidget | None] = []
        for _ in range(5):
            seen.append(window.focusWidget())
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        wanted = [control for control in cards.controls if control.isVisible()][:5]
        assert seen == wanted
        assert all(control.accessibleName() for control in cards.controls)


async def test_a_better_model_is_offered_at_each_start_until_the_user_has_decided(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    given = desk(FakeMachine(replace(PLAIN, backend=BackendChoice("ollama", "gemma3:4b"))))

    def offers(window: MainWindow) -> list[str]:
        return [one for one in window.messages.sentences() if "knows far more" in one]

    async with shown(FakeFactory(), Settings.load(path), **given) as window:  # type: ignore[arg-type]
        typed(window, "Hello.")
        say(window, e.TranscriptFinal(2.0, 2, "Hello.", 2.0))
        await until(lambda: offers(window))
    for decided in (False, True):
        async with shown(FakeFactory(), Settings.load(path), **given) as window:  # type: ignore[arg-type]
            assert window.first_start is None
            await until(lambda: offers(window))
            row = next(row for row in window.messages.rows if "knows far more" in row.sentence)
            press(row, "No, thanks" if decided else "Close this message")
    async with shown(FakeFactory(), Settings.load(path), **given) as window:  # type: ignore[arg-type]
        await until(lambda: window.manager.session)
        assert window.offers.better is None and not offers(window)
