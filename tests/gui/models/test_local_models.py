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

    def get(self, key: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        report("50% of 1.1 GB: getting piece 1 of 2", 0.5)
        while not self.go_on.wait(0.01):
            if cancelled.is_set():
                raise UserError("The download was stopped. What has come stays for the next try.")
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
    """The page, with its list."""
    window.commands["models"].trigger()
    panel = open_dialog(window, ModelsDialog).local
    assert panel is not None and panel.isVisible()
    await until(lambda: panel.list.topLevelItemCount() == 5)
    return panel


def row(panel: LocalModels, label: str) -> list[str]:
    """What the list says of a model, chosen thereby."""
    [item] = panel.list.findItems(label, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
    panel.list.setCurrentItem(item)
    return [item.text(column) for column in range(panel.list.columnCount())]


async def test_a_model_is_fetched_and_offered_to_the_talk_that_goes_on() -> None:
    service, factory = FakeModels(), FakeFactory()
    async with shown(factory, models=service) as window:
        panel = await opened(window)
        assert row(panel, "Small")[1:7] == ["en", "0.10 GB", "in use", "0.1 s, 40 words/s", "60 of 120", "MIT"]
        assert row(panel, "Big")[3] == "" and panel.get_button.isEnabled() and not panel.use_button.isEnabled()
        press(panel, "Download the chosen model")
        await until(lambda: panel.bar.value() == 500)
        assert panel.bar.isVisible() and not panel.get_button.isEnabled() and "piece 1 of 2" in panel.said.text()
        service.go_on.set()
        await until(lambda: row(panel, "Big")[3] == "here")
        assert row(panel, "Big")[4] == "0.6 s, 6 words/s"
        await until(lambda: any("Big is here" in said.label.text() for said in window.messages.rows))
        next(said for said in window.messages.rows if "Big is here" in said.label.text()).offers[0].click()
        assert window.popover.choice == BackendChoice("embedded", "big")


async def test_what_is_used_checked_and_removed_is_said_and_kept() -> None:
    service, settings = FakeModels(), Settings(language="de")
    async with shown(FakeFactory(), settings, models=service) as window:
        panel = await opened(window)
        row(panel, "Ear")
        assert panel.words.text() == "Hears many languages."
        press(panel, "Use the chosen model")
        assert settings.recogniser == "ear"
        await until(lambda: row(panel, "Ear")[3] == "in use")
        row(panel, "Mouth")
        press(panel, "Use the chosen model")
        assert settings.voice == "mouth"
        row(panel, "Small")
        press(panel, "Use the chosen model")
        await until(lambda: settings.embedded_model == "small")
        assert backend_choice(settings).model == "small", "kept for next time"
        press(panel, "Let the app choose a model of this kind")
        await until(lambda: panel.said.text() == "The app chooses from now on.")
        await until(lambda: settings.embedded_model == "")
        assert not panel.auto_button.isEnabled()
        row(panel, "Mouth")
        await until(lambda: row(panel, "Mouth")[3] == "in use")
        press(panel, "Check the chosen model's files")
        await until(lambda: panel.said.text() == "mouth is whole.")
        press(panel, "Remove the chosen model")
        await until(lambda: settings.voice == "")
        assert service.views["mouth"].state == "absent", "talks are not to look for what is gone"
        row(panel, "Small")
        assert not panel.remove_button.isEnabled(), "what came with the app stays"


async def test_a_fetch_that_fails_is_a_sentence_and_the_talk_goes_on() -> None:
    service, factory = FakeModels(), FakeFactory()
    service.trouble = "The disk ran full. Make room."
    async with shown(factory, models=service) as window:
        panel = await opened(window)
        row(panel, "Big")
        press(panel, "Download the chosen model")
        service.go_on.set()
        await until(lambda: "disk ran full" in panel.said.text())
        assert panel.get_button.isEnabled() and window.manager.session is factory.session


async def test_a_voice_is_heard_and_then_used() -> None:
    service, sounds, settings = FakeModels(), FakeSoundService(), Settings(loudspeaker="box", language="de")
    async with shown(FakeFactory(), settings=settings, models=service, sound_service=sounds) as window:
        panel = await opened(window)
        assert row(panel, "Small") and not panel.play_button.isEnabled(), "a language model has no sound"
        assert row(panel, "Ann") and panel.play_button.isEnabled() and not panel.use_button.isEnabled(), "no German"
        assert row(panel, "Bea")[:4] == ["Bea", "de", "", ""]
        press(panel, "Play a sample of the chosen voice")
        await until(lambda: sounds.calls == [("play", "box")])
        assert sounds.sound[0] == pytest.approx(0.1) and not panel.said.text() and not panel.play_button.isEnabled()
        sounds.gate.set()
        await until(panel.play_button.isEnabled)
        press(panel, "Use the chosen model")
        await until(lambda: row(panel, "Bea")[3] == "in use")
        assert settings.voice == "choir/bea" and panel.said.text() == "Bea is used from now on."
        assert row(panel, "Choir")[3] == "in use" and row(panel, "Ann")[3] == ""
        service.trouble = "The voice Ann can't speak. Download it again."
        press(panel, "Play a sample of the chosen voice")
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
        await until(lambda: panel.list.chosen is not None and panel.list.chosen.key == "kame")
        assert panel.words.text() == "Takes 11 GB in int8." and not panel.use_button.isEnabled()
        press(panel, "Download the chosen model")
        service.go_on.set()
        await until(lambda: row(panel, "KAME")[3] == "here")
        await until(lambda: any("KAME is downloaded" in said.label.text() for said in window.messages.rows))
        press(panel, "Use the chosen model")
        await until(lambda: len(factory.choices) == 2)
        assert settings.frontend == factory.choices[-1].frontend == "kame"
        await until(lambda: row(panel, "KAME")[3] == "in use")
        press(panel, "Let the app choose a model of this kind")
        assert settings.frontend == "cascade"
        dialog.local.show_machine(PLAIN)
        assert row(panel, "KAME") and not panel.use_button.isEnabled(), "it does not fit this machine"
        assert "needs a larger card" in panel.words.text()


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
        await until(lambda: page.list.chosen is not None and page.list.chosen.key == "kame")
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
        press(page, "Download the chosen model")
        await until(lambda: factory.sessions, 20)
        assert not window.frontend_bar.lacks_weights and window.frontend_bar.note.text() == ""
        assert not any("downloaded" in sentence for sentence in window.messages.sentences()), "it starts by itself"
    folder = tmp_path / "data" / "kame-desktop" / "weights" / "SakanaAI--kame"
    assert (folder / "model.safetensors").stat().st_size > 100_000


async def test_a_download_is_stopped_and_continues_later(hub: Hub) -> None:
    hub.slow = threading.Event()
    async with refused(hub) as (window, page, factory):
        press(page, "Download the chosen model")
        await until(lambda: 0 < page.bar.value() < 1000)
        press(page, "Stop the download")
        hub.slow.set()
        await until(page.get_button.isEnabled)
        assert "stays" in page.said.text() and window.frontend_bar.lacks_weights and not factory.sessions
        press(page, "Download the chosen model")
        await until(lambda: factory.sessions, 20)


async def test_closing_the_window_ends_a_download(hub: Hub) -> None:
    hub.slow = threading.Event()
    async with refused(hub) as (window, page, _):
        press(page, "Download the chosen model")
        await until(lambda: page.bar.value() > 0)
        threading.Timer(0.1, hub.slow.set).start()
    assert window.models_controller is not None and not window.models_controller.busy
