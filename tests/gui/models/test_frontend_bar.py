"""The bar for front-ends with weights: shown for them alone, with their memory, and the way to their download."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from app.conversation import events as e
from app.gui.models.local_models import LocalModels
from app.gui.models.models_dialog import ModelsDialog
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.main import missing_weights
from app.services.model_service import ModelService
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import open_dialog, open_models, press, say, shown, until
from tests.gui.window.test_window_session import pick
from tests.support.hub import Hub
from tests.support.tiny_kame import make_files

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
        window.messages.rows[0].offer_button.click()
        page = open_dialog(window, ModelsDialog).local
        assert page is not None
        await until(lambda: page.list.chosen is not None and page.list.chosen.key == "kame")
        yield window, page, factory


async def test_it_is_there_for_front_ends_with_weights_and_starts_the_talk_with_their_settings() -> None:
    factory, settings = FakeFactory(), Settings(precision="int8", answer_delay_ms=240, oracle_lead_ms=80)
    async with shown(factory, settings, choices=CHOICES) as window:
        open_models(window)
        assert not window.frontend_bar.isVisible()
        pick(window.setup.frontend, "kame")
        await until(lambda: len(factory.sessions) == 2)
        assert window.frontend_bar.isVisible() and not window.frontend_bar.get_button.isVisible()
        choice = factory.choices[-1]
        assert choice.frontend == "kame"
        assert (choice.model.precision, choice.model.delay, choice.model.lead) == ("int8", 3, 1)
        pick(window.setup.frontend, "cascade")
        await until(lambda: len(factory.sessions) == 3)
        assert not window.frontend_bar.isVisible()


async def test_the_memory_is_shown_as_time() -> None:
    factory, settings = FakeFactory(), Settings(frontend="kame")
    async with shown(factory, settings, choices=CHOICES) as window:
        say(window, factory, e.ContextMeasured(1.0, 750, 3000))
        memory = window.frontend_bar.memory
        assert memory.format() == "1:00 of 4:00" and (memory.value(), memory.maximum()) == (750, 3000)


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


async def test_a_download_that_fails_says_why(hub: Hub) -> None:
    hub.refuse = 403
    async with refused(hub) as (window, page, _):
        press(page, "Download the chosen model")
        await until(lambda: "HF_TOKEN" in page.said.text())
        assert page.get_button.isEnabled() and window.frontend_bar.lacks_weights


async def test_closing_the_window_ends_a_download(hub: Hub) -> None:
    hub.slow = threading.Event()
    async with refused(hub) as (window, page, _):
        press(page, "Download the chosen model")
        await until(lambda: page.bar.value() > 0)
        threading.Timer(0.1, hub.slow.set).start()
    assert window.models_controller is not None and not window.models_controller.busy
