"""The row for front-ends with weights: shown for them alone, with dials that turn live, and downloads."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversation import events as e
from app.gui.state.choice import WindowChoices
from app.main import Weights
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import open_models, say, shown, until
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


async def test_the_row_is_there_for_models_alone_and_starts_the_talk_with_its_settings() -> None:
    factory, settings = FakeFactory(), Settings(precision="int8", answer_delay_ms=240, oracle_lead_ms=80)
    async with shown(factory, settings, choices=CHOICES) as window:
        open_models(window, other=False)
        assert not window.model.isVisible()
        pick(window.setup.frontend, "kame")
        await until(lambda: len(factory.sessions) == 2)
        assert window.model.isVisible()
        choice = factory.choices[-1]
        assert choice.frontend == "kame"
        assert (choice.model.precision, choice.model.delay, choice.model.lead) == ("int8", 3, 1)
        pick(window.model.precision, "int4")
        await until(lambda: len(factory.sessions) == 3)
        assert factory.choices[-1].model.precision == "int4"
        pick(window.setup.frontend, "cascade")
        await until(lambda: len(factory.sessions) == 4)
        assert not window.model.isVisible()


async def test_the_dials_turn_live_and_are_kept(tmp_path: Path) -> None:
    factory, settings = FakeFactory(), Settings(frontend="kame", path=tmp_path / "settings.json")
    async with shown(factory, settings, choices=CHOICES) as window:
        window.model.delay.setValue(400)
        window.model.lead.setValue(170)  # to the nearest frame
        assert factory.session.calls[-2:] == [("set_dials", 5, 0), ("set_dials", 5, 2)]
        assert len(factory.sessions) == 1
        await until(lambda: (tmp_path / "settings.json").exists())
    saved = json.loads((tmp_path / "settings.json").read_text())
    assert (saved["answer_delay_ms"], saved["oracle_lead_ms"]) == (400, 160)


async def test_the_memory_is_shown_as_time() -> None:
    factory, settings = FakeFactory(), Settings(frontend="kame")
    async with shown(factory, settings, choices=CHOICES) as window:
        say(window, factory, e.ContextMeasured(1.0, 750, 3000))
        assert window.model.memory.format() == "1:00 of 4:00"
        assert (window.model.memory.value(), window.model.memory.maximum()) == (750, 3000)


async def test_missing_weights_are_downloaded_from_the_window_and_the_talk_begins(hub: Hub, tmp_path: Path) -> None:
    """The first start is refused for want of weights; the button brings them; then the conversation starts by
    itself.
    """
    factory = FakeFactory(outcomes=[UserError("KAME's weights are not there.")])
    settings = Settings(frontend="kame", weights_mirror=hub.url)
    async with shown(factory, settings, choices=CHOICES, weights=Weights, running=False) as window:
        await until(lambda: window.messages.sentences())
        window.messages.rows[0].offer_button.click()
        assert "not on this machine" in window.model.note.text() and window.model.get_button.isVisible()
        window.model.get_button.click()
        await until(lambda: window.model.stop_button.isVisible())
        await until(lambda: factory.sessions)
        assert not window.model.get_button.isVisible() and not window.model.note.isVisible()
    folder = tmp_path / "data" / "kame-desktop" / "weights" / "SakanaAI--kame"
    assert (folder / "model.safetensors").stat().st_size > 100_000


async def test_a_download_is_stopped_and_goes_on_later(hub: Hub, tmp_path: Path) -> None:
    hub.slow = threading.Event()
    factory = FakeFactory(outcomes=[UserError("KAME's weights are not there.")])
    settings = Settings(frontend="kame", weights_mirror=hub.url)
    async with shown(factory, settings, choices=CHOICES, weights=Weights, running=False) as window:
        await until(lambda: window.messages.sentences())
        open_models(window, other=False)
        window.model.get_button.click()
        await until(lambda: 0 < window.model.getting.value() < 1000)
        window.model.stop_button.click()
        hub.slow.set()
        await until(lambda: window.model.get_button.isVisible())
        assert any("stays" in sentence for sentence in window.messages.sentences())
        assert not factory.sessions
        window.model.get_button.click()
        await until(lambda: factory.sessions)


async def test_a_download_that_fails_says_why(hub: Hub) -> None:
    hub.refuse = 403
    settings = Settings(frontend="kame", weights_mirror=hub.url)
    factory = FakeFactory(outcomes=[UserError("KAME's weights are not there.")])
    async with shown(factory, settings, choices=CHOICES, weights=Weights, running=False) as window:
        await until(lambda: window.messages.sentences())
        open_models(window, other=False)
        window.model.get_button.click()
        await until(lambda: any("HF_TOKEN" in sentence for sentence in window.messages.sentences()))
        assert window.model.get_button.isVisible()


async def test_closing_the_window_ends_a_download(hub: Hub) -> None:
    hub.slow = threading.Event()
    settings = Settings(frontend="kame", weights_mirror=hub.url)
    factory = FakeFactory(outcomes=[UserError("KAME's weights are not there.")])
    async with shown(factory, settings, choices=CHOICES, weights=Weights, running=False) as window:
        await until(lambda: window.messages.sentences())
        window.model.get_button.click()
        await until(lambda: window.model.getting.value() > 0)
        threading.Timer(0.1, hub.slow.set).start()
    assert window.weights is not None and not window.weights.busy
    assert os.environ["XDG_DATA_HOME"]
