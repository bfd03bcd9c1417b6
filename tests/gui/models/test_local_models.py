"""Models on this computer: their page in “Models and servers”, and the bar for front-ends with weights."""

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gui.models.local_card import LocalCard
from app.gui.models.local_models import LocalModels
from app.gui.models.models_dialog import ModelsDialog
from app.gui.state.choice import WindowChoices, backend_choice
from app.gui.window.main_window import MainWindow
from app.main import missing_weights
from app.services.model_service import ModelService, ModelView, VoiceView
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from tests.gui.fakes import CARD, PLAIN, FakeFactory, FakeMachine, FakeSoundService
from tests.gui.helpers import WELCOMED, open_dialog, open_models, press, shown, until
from tests.gui.window.test_window_session import pick
from tests.support.hub import Hub
from tests.support.tiny_kame import make_files

SMALL = ModelView(
    "small", "llm", "Small", ("en",), 100_000_000, "MIT", "installed", "0.1 s, 40 words/s", 60, default=True
)
BIG = ModelView("big", "llm", "Big", ("*",), 1_100_000_000, "Apache-2.0", "absent", right=100)
EAR = ModelView("ear", "stt", "Ear", ("*",), 150_000_000, "MIT", "here", note="hears many languages")
MOUTH = ModelView("mouth", "tts", "Mouth", ("de",), 60_000_000, "CC0-1.0", "here")
CHOIR = ModelView(
    "choir",
    "tts",
    "Choir",
    ("en", "de"),
    90_000_000,
    "MIT",
    "here",
    voices=(VoiceView("choir/ann", "Ann", "en"), VoiceView("choir/bea", "Bea", "de")),
)


KAME = ModelView("kame", "frontend", "KAME", ("en",), 16_200_000_000, "MIT", "absent")


class FakeModels:
    """A library whose downloads go on until `go_on`, and fail with `trouble`."""

    def __init__(self) -> None:
        self.views = {view.key: view for view in (SMALL, BIG, EAR, MOUTH, CHOIR, KAME)}
        self.go_on = threading.Event()
        self.trouble = ""

    def models(self) -> tuple[ModelView, ...]:
        return tuple(self.views.values())

    def best(self, language: str) -> ModelView | None:
        return self.views["big"]

    def recommended(self, language: str) -> str:
        return "big"

    def get(self, key: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        report("50% of 1.1 GB: getting piece 1 of 2", 0.5)
        for _ in range(6_000):
            if self.go_on.wait(0.01):
                break
            if cancelled.is_set():
                raise UserError("The download was stopped. What has come stays for the next try.")
        else:
            raise AssertionError("the download is neither finished nor stopped")
        if self.trouble:
            raise UserError(self.trouble)
        self.views[key] = replace(self.views[key], state="here", speed="0.6 s, 6 words/s")

    def check(self, key: str) -> str:
        return f"{key} is whole."

    def sample(self, voice: str) -> np.ndarray:
        if self.trouble:
            raise UserError(self.trouble)
        return np.full(10, 0.1 if voice == "choir/bea" else 0.2, np.float32)

    def remove(self, key: str) -> str:
        self.views[key] = replace(self.views[key], state="absent")
        return f"{key} is removed."


async def opened(window: MainWindow) -> LocalModels:
    """The page, with its cards."""
    window.commands["models"].trigger()
    panel = open_dialog(window, ModelsDialog).local
    assert panel is not None and panel.isVisible()
    await until(lambda: len(panel.cards) == 6)
    return panel


def words(card: LocalCard) -> list[str]:
    """The words on a card that are highlighted."""
    badges = (card.recommended, card.use, card.fits, card.pace)
    return [badge.text() for badge in badges if not badge.isHidden()]


def do(card: LocalCard, entry: str) -> None:
    """Takes an entry of a card's menu, as far as it is offered."""
    press(card, card.more.accessibleName())
    (action,) = [one for one in card.menu.actions() if one.text().replace("&", "") == entry]
    assert card.menu.isVisible() and action.isVisible() and action.isEnabled()
    card.menu.close()
    action.trigger()


async def test_cards_say_what_a_model_is_and_the_recommended_one_is_first() -> None:
    service = FakeModels()
    slow = {
        "fits": "This machine is too slow for it.",
        "pace": "slow",
        "speed": "9.0 s, 1.0 words/s",
        "estimated": True,
    }
    service.views["small"] = replace(SMALL, pace="instant", note="tiny, for trying out")
    service.views["huge"] = replace(BIG, key="huge", label="Huge", **slow)
    async with shown(FakeFactory(), models=service) as window:
        window.commands["models"].trigger()
        panel = open_dialog(window, ModelsDialog).local
        await until(lambda: len(panel.cards) == 7)
        assert list(panel.cards) == ["big", "small", "huge", "ear", "mouth", "choir", "kame"]
        big, small, huge, ear = (panel.cards[key] for key in ("big", "small", "huge", "ear"))
        assert words(big) == ["Recommended", "Fits in memory"] and big.button.text() == "Download"
        assert big.facts.text() == "1.1 GB · many languages · 100 of 120 facts right · Apache-2.0"
        assert (
            words(small) == ["In use", "Fits this machine", "Instant"] and small.note.text() == "Tiny, for trying out."
        )
        assert small.pace.toolTip() == "<qt>Measured here: 0.1 s, 40 words/s</qt>" and not small.button.isVisible()
        assert words(huge) == ["Does not fit", "Slow"] and huge.note.text() == "This machine is too slow for it."
        assert huge.pace.toolTip() == "<qt>Estimated from another model: 9.0 s, 1.0 words/s</qt>"
        assert words(ear) == ["On this machine", "Fits in memory"] and ear.note.text() == "Hears many languages."
        assert words(panel.cards["kame"]) == ["Needs a graphics card"]
        about = "Small, In use, Fits this machine, Instant, 0.1 GB · English · 60 of 120 facts right · MIT"
        assert small.accessibleName() == small.button.accessibleDescription() == about
        assert big.button.accessibleName() == "Download Big"


async def test_tab_and_arrows_go_through_the_cards_in_their_order() -> None:
    service = FakeModels()
    async with shown(FakeFactory(), models=service) as window:
        panel = await opened(window)
        service.recommended = lambda language: ""  # type: ignore[method-assign]
        panel.refresh()
        await until(lambda: list(panel.cards)[:2] == ["small", "big"])
        panel.cards["small"].more.setFocus()
        for key, control in (
            (Qt.Key.Key_Tab, panel.cards["big"].button),
            (Qt.Key.Key_Down, panel.cards["ear"].button),
            (Qt.Key.Key_Backtab, panel.cards["big"].button),
        ):
            QTest.keyClick(panel.window().focusWidget(), key)
            assert control.hasFocus()


async def test_a_model_is_fetched_and_offered_to_the_talk_that_goes_on() -> None:
    service, factory = FakeModels(), FakeFactory()
    async with shown(factory, models=service) as window:
        panel = await opened(window)
        big = panel.cards["big"]
        press(panel, "Download Big")
        await until(lambda: big.bar.value() == 500)
        assert big.bar.isVisible() and "piece 1 of 2" in big.progress.text() and big.button.text() == "Cancel"
        assert not panel.cards["kame"].button.isEnabled(), "one download at a time"
        service.go_on.set()
        await until(lambda: big.button.text() == "Use")
        assert "On this machine" in words(big) and not big.bar.isVisible()
        assert panel.said.text() == "Big is on this machine."
        await until(lambda: any("Big is here" in said.label.text() for said in window.messages.rows))
        next(said for said in window.messages.rows if "Big is here" in said.label.text()).offers[0].click()
        assert window.popover.choice == BackendChoice("embedded", "big")


async def test_what_is_used_checked_and_removed_is_said_and_kept() -> None:
    service, settings = FakeModels(), Settings(language="de")
    async with shown(FakeFactory(), settings, models=service) as window:
        panel = await opened(window)
        ear, mouth, small = (panel.cards[key] for key in ("ear", "mouth", "small"))
        press(panel, "Use Ear")
        assert settings.recogniser == "ear" and panel.said.text() == "Ear is used from now on."
        await until(lambda: "In use" in words(ear) and not ear.button.isVisible())
        press(panel, "Use Mouth")
        assert settings.voice == "mouth"
        do(ear, "Let the app choose")
        assert panel.said.text() == "The app chooses from now on." and settings.recogniser == ""
        await until(lambda: "In use" not in words(ear) and "In use" in words(mouth))
        do(mouth, "Check the files")
        await until(lambda: panel.said.text() == "mouth is whole.")
        do(mouth, "Remove from this machine")
        await until(lambda: settings.voice == "")
        assert service.views["mouth"].state == "absent", "talks are not to look for what is gone"
        await until(lambda: mouth.button.text() == "Download")
        assert panel.said.text() == "mouth is removed."
        assert not small.remove.isEnabled(), "what came with the app stays"


async def test_another_language_model_is_used_and_the_choice_left_to_the_app() -> None:
    service, settings = FakeModels(), Settings()
    service.views["big"] = replace(BIG, state="here")
    async with shown(FakeFactory(), settings, models=service) as window:
        panel = await opened(window)
        press(panel, "Use Big")
        await until(lambda: settings.embedded_model == "big")
        assert backend_choice(settings).model == "big", "kept for next time"
        await until(lambda: "In use" in words(panel.cards["big"]) and "In use" not in words(panel.cards["small"]))
        do(panel.cards["big"], "Let the app choose")
        await until(lambda: settings.embedded_model == "")


async def test_a_fetch_that_fails_is_a_sentence_and_the_talk_goes_on() -> None:
    service, factory = FakeModels(), FakeFactory()
    service.trouble = "The disk ran full. Make room."
    async with shown(factory, models=service) as window:
        panel = await opened(window)
        press(panel, "Download Big")
        service.go_on.set()
        await until(lambda: "disk ran full" in panel.said.text())
        assert panel.cards["big"].button.text() == "Download" and panel.cards["big"].button.isEnabled()
        assert window.manager.session is factory.session


async def test_a_voice_is_heard_and_then_used() -> None:
    service, sounds, settings = FakeModels(), FakeSoundService(), Settings(loudspeaker="box", language="de")
    async with shown(FakeFactory(), settings=settings, models=service, sound_service=sounds) as window:
        panel = await opened(window)
        choir = panel.cards["choir"]
        assert not panel.cards["ear"].play_button.isVisible(), "only voices have a sound"
        assert choir.voices.currentText() == "Bea (German)" and choir.button.isEnabled()
        pick(choir.voices, "choir/ann")
        assert choir.play_button.isEnabled() and not choir.button.isEnabled(), "no German"
        pick(choir.voices, "choir/bea")
        press(panel, "Play a sample of Choir")
        await until(lambda: sounds.calls == [("play", "box")])
        assert sounds.sound[0] == pytest.approx(0.1) and not panel.said.text() and not choir.play_button.isEnabled()
        sounds.gate.set()
        await until(choir.play_button.isEnabled)
        press(panel, "Use Choir")
        await until(lambda: "In use" in words(choir) and not choir.button.isVisible())
        assert settings.voice == "choir/bea" and panel.said.text() == "Bea is used from now on."
        service.trouble = "The voice Bea can't speak. Download it again."
        press(panel, "Play a sample of Choir")
        await until(lambda: panel.said.text() == service.trouble)


async def test_a_front_end_that_fits_the_card_is_downloaded_and_used() -> None:
    service, factory = FakeModels(), FakeFactory()
    machine, settings = FakeMachine(CARD), Settings()
    async with shown(factory, settings, state=WELCOMED, models=service, machine=machine) as window:
        panel = await opened(window)
        dialog = open_dialog(window, ModelsDialog)
        window.dialogs.open_models("machine")
        await until(lambda: dialog.machine is not None and dialog.machine.view is CARD)
        window.dialogs.open_models("embedded", "kame")
        kame = panel.cards["kame"]
        await until(lambda: kame.live and kame.button.hasFocus())
        assert words(kame) == ["Recommended", "Fits this machine"] and kame.note.text() == "Takes 11 GB in int8."
        press(panel, "Download KAME")
        service.go_on.set()
        await until(lambda: kame.button.text() == "Use")
        await until(lambda: any("KAME is downloaded" in said.label.text() for said in window.messages.rows))
        press(panel, "Use KAME")
        await until(lambda: len(factory.choices) == 2)
        assert settings.frontend == factory.choices[-1].frontend == "kame"
        await until(lambda: "In use" in words(kame))
        do(kame, "Let the app choose")
        assert settings.frontend == "cascade"
        dialog.local.show_machine(PLAIN)
        assert not kame.button.isVisible() and words(kame) == ["On this machine", "Does not fit"]
        assert "needs a larger card" in kame.note.text()


CHOICES = WindowChoices(
    frontends=(("cascade", "Cascade"), ("kame", "KAME"), ("moshi", "Moshi")), weighty=("kame", "moshi")
)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with Hub({"SakanaAI/kame": make_files(tmp_path / "remote")}) as running:
        yield running


@asynccontextmanager
async def refused(hub: Hub) -> AsyncIterator[tuple[MainWindow, LocalModels, FakeFactory]]:
    """A window whose first start was refused for lack of KAME's weights, with the page open that downloads them."""
    factory = FakeFactory(outcomes=[UserError("KAME's weights are not there.")])
    settings = Settings(frontend="kame", weights_mirror=hub.url)
    async with shown(
        factory,
        settings,
        choices=CHOICES,
        missing_weights=partial(missing_weights, settings),
        models=ModelService(lambda: settings.weights_mirror, lambda: os.environ.get("HF_TOKEN", "")),
        running=False,
    ) as window:
        await until(lambda: window.messages.sentences())
        open_models(window)
        assert "not on this machine" in window.frontend_bar.note.text() and window.frontend_bar.get_button.isVisible()
        press(window.messages.rows[0], "Download…")
        page = open_dialog(window, ModelsDialog).local
        assert page is not None
        await until(lambda: "kame" in page.cards and page.cards["kame"].live)
        yield window, page, factory


async def test_it_is_there_for_front_ends_with_weights_and_starts_the_talk_with_their_settings() -> None:
    factory, settings = FakeFactory(), Settings(precision="int8", answer_delay_ms=240, oracle_lead_ms=80)
    async with shown(factory, settings, choices=CHOICES) as window:
        open_models(window)
        assert window.popover.frontend.isVisible() and not window.frontend_bar.isVisible()
        pick(window.popover.frontend, "kame")
        await until(lambda: len(factory.sessions) == 2)
        assert window.frontend_bar.isVisible() and not window.frontend_bar.get_button.isVisible()
        choice = factory.choices[-1]
        assert choice.frontend == "kame"
        assert (choice.model.precision, choice.model.delay, choice.model.lead) == ("int8", 3, 1)
        pick(window.popover.frontend, "cascade")
        await until(lambda: len(factory.sessions) == 3)
        assert not window.frontend_bar.isVisible()


async def test_missing_weights_are_downloaded_and_the_talk_begins(hub: Hub, tmp_path: Path) -> None:
    async with refused(hub) as (window, page, factory):
        press(page, "Download KAME")
        await until(lambda: factory.sessions, 20)
        assert not window.frontend_bar.lacks_weights and window.frontend_bar.note.text() == ""
        assert not any("downloaded" in sentence for sentence in window.messages.sentences()), "it starts by itself"
    folder = tmp_path / "data" / "kame-desktop" / "weights" / "SakanaAI--kame"
    assert (folder / "model.safetensors").stat().st_size > 100_000


async def test_a_download_is_stopped_and_continues_later(hub: Hub) -> None:
    hub.slow = threading.Event()
    async with refused(hub) as (window, page, factory):
        press(page, "Download KAME")
        await until(lambda: 0 < page.cards["kame"].bar.value() < 1000)
        press(page, "Cancel the download of KAME")
        hub.slow.set()
        await until(lambda: page.cards["kame"].button.text() == "Download")
        assert "stays" in page.said.text() and window.frontend_bar.lacks_weights and not factory.sessions
        press(page, "Download KAME")
        await until(lambda: factory.sessions, 20)


async def test_closing_the_window_ends_a_download(hub: Hub) -> None:
    hub.slow = threading.Event()
    async with refused(hub) as (window, page, _):
        press(page, "Download KAME")
        await until(lambda: page.cards["kame"].bar.value() > 0)
        threading.Timer(0.1, hub.slow.set).start()
    assert window.models_controller is not None and not window.models_controller.busy
