"""A server's page in “Models and servers”: its key, which leaks nowhere; its models and address; test, downloads."""

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from app.conversation import events as e
from app.gui.models.models_dialog import PLACE, ModelsDialog
from app.gui.models.server_form import ServerForm
from app.gui.window.app import _generators_closed
from app.gui.window.main_window import MainWindow
from app.services.api_keys import KeyStore
from app.services.backend_service import BackendService
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import choose, open_dialog, press, say, shown, until, window_and_factory
from tests.gui.window.test_window_session import pick
from tests.support.leaks import SECRET, all_logs, places_with
from tests.support.servers import Script, peer

OLLAMA = BackendChoice("ollama", "", "http://127.0.0.1:11434")
THEIRS = BackendChoice("compatible", "", "http://127.0.0.1:8080/v1")
MAYBE = "There is no key; this one may not need any."
NOT_YET = "There is no key yet. Copy one from your account at the provider, and paste it here."
WANTS_KEY = "127.0.0.1:8080 wants an API key. Enter one, or choose another model."


def models(combo: QComboBox) -> list[str]:
    return [combo.itemText(place) for place in range(combo.count())]


def enter(field: QWidget, text: str) -> None:
    """Replaces what stands in a field, and presses Enter."""
    field.setFocus()
    (field.lineEdit() if isinstance(field, QComboBox) else field).selectAll()  # type: ignore[union-attr]
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def turn(form: ServerForm, provider: str) -> None:
    """Turns to another provider in the list of places."""
    places = dialog_of(form).places
    items = [places.item(number) for number in range(places.count())]
    places.setCurrentItem(next(item for item in items if item.data(PLACE) == provider))


def dialog_of(form: ServerForm) -> ModelsDialog:
    dialog = form.window()
    assert isinstance(dialog, ModelsDialog)
    return dialog


def form_of(window: MainWindow) -> ServerForm:
    """The form of the dialog that is open."""
    form = open_dialog(window, ModelsDialog).form
    assert form is not None and form.isVisible()
    return form


@pytest.fixture
def service() -> FakeBackendService:
    return FakeBackendService()


@pytest.fixture
def given(service: FakeBackendService) -> dict[str, object]:
    return {"service": service}


async def opened(window: MainWindow, choice: BackendChoice) -> ServerForm:
    """Opens “Models and servers” at a provider."""
    if choice.provider != "compatible":
        choose(window, choice.provider)
        window.popover.models_button.click()
    else:
        window.dialogs.open_backend(choice)
    form = form_of(window)
    await until(dialog_of(form).isActiveWindow)
    return form


def texts(widget: QWidget) -> list[str]:
    """All that a window shows or tells, of itself and its parts."""
    found = []
    for part in [widget, *widget.findChildren(QWidget)]:
        found += [part.toolTip(), part.accessibleName(), part.accessibleDescription(), part.windowTitle(), repr(part)]
        if isinstance(part, QLabel | QLineEdit):
            found.append(part.text())
    return found


async def test_a_key_is_typed_saved_and_nowhere_else(tmp_path: Path) -> None:
    service, settings = FakeBackendService(), Settings(path=tmp_path / "settings.json")
    said: list[str] = []
    with all_logs() as lines:
        async with shown(FakeFactory(), settings, service=service) as window:
            form = await opened(window, BackendChoice("openai"))
            await until(lambda: form.key_box.words.text().startswith("There is no key yet."))
            assert form.key_box.field.echoMode() == QLineEdit.EchoMode.Password and form.key_box.field.hasFocus()
            assert not form.key_box.forget_button.isEnabled()
            QTest.keyClicks(form.key_box.field, SECRET)
            QTest.keyClick(form.key_box.field, Qt.Key.Key_Return)
            assert form.key_box.field.text() == ""
            await until(lambda: form.answer.text() == "The key is kept in the system's keyring.")
            await until(lambda: form.key_box.words.text() == "The key is in the system's keyring.")
            assert service.keys == {"openai": SECRET} and form.isVisible()
            pick(window.popover.answer_mode, "after")
            await until(lambda: settings.path is not None and settings.path.exists())
            said += texts(window) + texts(dialog_of(form)) + window.messages.sentences()
            said += [repr(call) for call in service.calls]
        said += [json.dumps({f.name: str(getattr(settings, f.name)) for f in dataclasses.fields(settings)})]
    assert places_with(SECRET, folders=[tmp_path], texts=said + lines) == []


async def test_a_key_that_could_not_be_kept_is_told_without_it() -> None:
    service = FakeBackendService(refusal=RuntimeError(f"no room for {SECRET}"))
    with all_logs() as lines:
        async with shown(FakeFactory(), service=service) as window:
            form = await opened(window, BackendChoice("openai"))
            QTest.keyClicks(form.key_box.field, SECRET)
            press(form, "Save key")
            await until(lambda: "RuntimeError" in form.answer.text())
            said = texts(window) + texts(dialog_of(form))
    assert places_with(SECRET, texts=said + lines) == []


async def test_what_was_typed_is_gone_when_the_dialog_is_closed(service, window) -> None:
    form = await opened(window, BackendChoice("openai"))
    QTest.keyClicks(form.key_box.field, SECRET)
    QTest.keyClick(dialog_of(form), Qt.Key.Key_Escape)
    assert not dialog_of(form).isVisible() and form.key_box.field.text() == ""
    window.popover.models_button.click()
    QTest.keyClicks(form.key_box.field, SECRET)
    turn(form, "anthropic")  # a key is for one provider
    assert form.key_box.field.text() == ""
    QTest.keyClicks(form.key_box.field, SECRET)
    window.close()
    assert not dialog_of(form).isVisible() and form.key_box.field.text() == ""
    assert service.keys == {}


async def test_a_key_is_forgotten(service: FakeBackendService, window: MainWindow) -> None:
    service.keys = {"openai": SECRET}
    form = await opened(window, BackendChoice("openai"))
    await until(form.key_box.forget_button.isEnabled)
    press(form, "Forget key")
    await until(lambda: form.answer.text() == "The key is forgotten.")
    await until(lambda: form.key_box.words.text().startswith("There is no key yet."))
    assert service.keys == {}


@pytest.mark.parametrize(
    ("place", "words", "forgettable"),
    [
        ("environment", "environment variable OPENAI_API_KEY", False),
        ("memory", "in memory until you close the window", True),
        ("keyring", "in the system's keyring", True),
    ],
)
async def test_where_the_key_is_is_told(place, words: str, forgettable: bool, service, window) -> None:
    service.places = {"openai": place}
    form = await opened(window, BackendChoice("openai"))
    await until(lambda: words in form.key_box.words.text())
    assert form.key_box.forget_button.isEnabled() == forgettable


async def test_the_connection_is_tested_in_words_that_can_be_copied(service, window) -> None:
    service.gate = asyncio.Event()
    form = await opened(window, BackendChoice("openai"))
    enter(form.fields.model, "gpt-5")
    press(form, "Test connection")
    assert form.answer.text() == "Testing OpenAI …" and not form.test_button.isEnabled()
    service.gate.set()
    await until(lambda: form.answer.text() == "gpt-5 answers: first words after 0.31 s.")
    assert form.answer.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    service.refusal = UserError("OpenAI refused the key. Check it, or make a new one.")
    press(form, "Test connection")
    await until(lambda: form.answer.text() == "OpenAI refused the key. Check it, or make a new one.")
    assert form.isVisible() and form.test_button.isEnabled()


async def test_a_model_is_fetched_and_offered_then(service: FakeBackendService, window: MainWindow) -> None:
    service.gate = asyncio.Event()
    service.gate.set()
    form = await opened(window, OLLAMA)
    assert not form.key_box.field.isVisible()
    assert form.pull.isVisible() and not form.pull.bar.isVisible()
    service.gate.clear()
    enter(form.pull.name, "gemma3:4b")
    await until(lambda: form.pull.bar.value() == 330)
    assert form.pull.words.text() == "1.1 of 3.3 GB" and form.pull.cancel_button.isVisible()
    service.gate.set()
    await until(lambda: form.pull.words.text() == "gemma3:4b is on the server.")
    assert ("pull", BackendChoice("ollama", "gemma3:4b", OLLAMA.base_url)) in service.calls
    await until(lambda: models(form.fields.model) == ["gemma3:4b"])
    assert form.fields.choice == BackendChoice("ollama", "gemma3:4b", OLLAMA.base_url)
    assert form.pull.words.text() == "gemma3:4b is on the server."
    form.use_button.click()
    await until(lambda: window.settings.ollama_model == "gemma3:4b")


async def test_fetching_goes_on_behind_a_closed_dialog_and_can_be_stopped(service, window) -> None:
    form = await opened(window, OLLAMA)
    await until(lambda: not window.lists.busy(OLLAMA))
    service.gate = asyncio.Event()
    enter(form.pull.name, "gemma3:27b")
    await until(lambda: form.pull.bar.value() == 330)
    press(dialog_of(form), "Close this dialog")
    assert not dialog_of(form).isVisible() and service.cancelled_pulls == 0
    window.popover.models_button.click()
    assert form.pull.bar.isVisible() and form.pull.bar.value() == 330
    press(form, "Stop the download")
    await until(lambda: service.cancelled_pulls == 1)
    assert form.pull.words.text().startswith("Stopped.") and not form.pull.bar.isVisible()
    assert form.pull.name.text() == "gemma3:27b" and form.pull.name.isEnabled()


async def test_fetching_that_fails_says_why(service: FakeBackendService, window: MainWindow) -> None:
    form = await opened(window, OLLAMA)
    await until(lambda: not window.lists.busy(OLLAMA))
    service.refusal = UserError("Ollama knows no model “gema”. Check its name.")
    enter(form.pull.name, "gema")
    await until(lambda: form.pull.words.text() == "Ollama knows no model “gema”. Check its name.")
    assert window.messages.sentences() == []


async def test_another_server_is_used_once_it_has_an_address() -> None:
    service, factory = FakeBackendService(), FakeFactory()
    async with shown(factory, service=service) as window:
        window.commands["models"].trigger()
        form = form_of(window)
        await until(dialog_of(form).isActiveWindow)
        turn(form, "compatible")
        assert form.key_box.words.text().startswith("Enter the address of the server first")
        assert not form.key_box.field.isEnabled() and not form.test_button.isEnabled()
        form.use_button.click()
        assert form.isVisible() and form.answer.text() == "Enter the server's address first."
        enter(form.fields.url, THEIRS.base_url)
        assert factory.session.calls == [] and form.test_button.isEnabled()
        await until(lambda: form.key_box.words.text() == MAYBE)
        form.use_button.click()
        await until(lambda: factory.session.calls == [("set_backend", THEIRS)])
        await until(lambda: window.popover.choice.provider == "compatible")
        await until(lambda: window.settings.compatible_url == THEIRS.base_url)
        assert not dialog_of(form).isVisible()


async def test_an_address_that_was_refused_can_be_corrected() -> None:
    factory = FakeFactory()
    wrong = BackendChoice("compatible", "", "http://127.0.0.1:808/v1")
    async with shown(factory, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("Nobody answers there.")
        window.dialogs.backend_chosen.emit(wrong)
        await until(lambda: window.messages.sentences() == ["Nobody answers there."])
        assert window.popover.choice.provider == "embedded"
        factory.session.refusal = None
        window.commands["models"].trigger()
        form = form_of(window)
        assert form.fields.choice == wrong, "the one that was refused last"
        enter(form.fields.url, THEIRS.base_url)
        form.use_button.click()
        await until(lambda: window.settings.compatible_url == THEIRS.base_url)
        assert factory.session.calls[-1] == ("set_backend", THEIRS) and window.messages.sentences() == []


async def test_suggested_models_are_there_at_once_and_the_servers_own_when_they_arrive(service, window) -> None:
    service.lists = {"openai": ("gpt-9", "gpt-9-mini")}
    service.gate = asyncio.Event()
    form = await opened(window, BackendChoice("openai"))
    field = form.fields.model
    assert models(field) == ["gpt-4.1-mini", "gpt-4.1", "gpt-5"]
    assert field.edit.placeholderText() == "gpt-4.1-mini" and field.currentText() == ""
    assert "being fetched" in field.toolTip()
    field.setFocus()
    QTest.keyClicks(field, "my-o")  # the user need not wait
    service.gate.set()  # type: ignore[union-attr]
    await until(lambda: models(field) == ["gpt-9", "gpt-9-mini"])
    assert field.currentText() == "my-o"
    QTest.keyClicks(field, "wn")
    form.use_button.click()
    await until(lambda: window.settings.openai_model == "my-own")


async def test_a_list_is_fetched_once_and_again_on_the_refresh_button(service, window) -> None:
    service.lists = {"ollama": ("gemma3:4b",)}
    form = await opened(window, OLLAMA)
    await until(lambda: models(form.fields.model) == ["gemma3:4b"])
    turn(form, "openai")
    turn(form, "ollama")
    asked = ("models", "ollama", OLLAMA.base_url)
    assert [call for call in service.calls if call[:3] == asked] == [(*asked, False)]
    service.lists["ollama"] = ("gemma3:4b", "qwen3:8b")
    form.fields.refresh.click()
    await until(lambda: models(form.fields.model) == ["gemma3:4b", "qwen3:8b"])


async def test_a_list_that_cannot_be_fetched_says_so_quietly(service: FakeBackendService, window: MainWindow) -> None:
    service.refusal = UserError("Ollama did not answer. Start it.")
    form = await opened(window, OLLAMA)
    await until(lambda: form.fields.refresh.name == "triangle-alert")
    assert "Ollama did not answer. Start it." in form.fields.model.toolTip()
    assert "Ollama did not answer. Start it." in form.fields.model.accessibleDescription()
    assert window.messages.sentences() == []
    service.refusal, service.lists = None, {"ollama": ("gemma3:4b",)}
    form.fields.refresh.click()
    await until(lambda: form.fields.refresh.name == "refresh-cw")
    assert "did not answer" not in form.fields.model.toolTip()


@pytest.mark.parametrize("how", ["chosen", "beside", "mid-conversation"])
async def test_a_backend_that_refuses_is_not_said_to_need_no_key(how: str) -> None:
    async with window_and_factory(service=FakeBackendService()) as (window, factory):
        window.dialogs.open_backend(THEIRS)
        form = form_of(window)
        await until(lambda: form.key_box.words.text() == MAYBE)
        if how == "mid-conversation":
            told = (THEIRS.provider, THEIRS.model, THEIRS.base_url)
            say(window, e.Failure(1, "backend", WANTS_KEY, False, *told))
        else:
            factory.session.refusal = UserError(WANTS_KEY)
            (window.dialogs.secondary_chosen if how == "beside" else window.dialogs.backend_chosen).emit(THEIRS)
            await until(lambda: window.messages.rows)
        window.messages.rows[0].offers[0].click()  # it is open still
        await until(lambda: form.key_box.words.text() == NOT_YET)
        press(dialog_of(form), "Close this dialog")
        window.dialogs.open_backend(THEIRS)  # by another way
        await until(lambda: dialog_of(form).isActiveWindow() and form.key_box.words.text() == NOT_YET)
        turn(form, "compatible")
        enter(form.fields.url, "http://127.0.0.1:9090/v1")
        await until(lambda: form.key_box.words.text() == MAYBE)


async def test_a_test_that_is_refused_is_not_contradicted_above(service, window) -> None:
    form = await opened(window, THEIRS)
    await until(lambda: form.key_box.words.text() == MAYBE)
    service.refusal = UserError(WANTS_KEY)
    press(form, "Test connection")
    await until(lambda: form.answer.text() == WANTS_KEY and form.key_box.words.text() == NOT_YET)
    assert window.lists.state(THEIRS) == "away"
    service.refusal = None
    press(form, "Test connection")
    await until(lambda: window.lists.state(THEIRS) == "usable")


async def test_a_typed_key_is_saved_before_the_test(service: FakeBackendService, window: MainWindow) -> None:
    form = await opened(window, BackendChoice("anthropic"))
    await until(lambda: form.key_box.words.text() == NOT_YET)
    assert not form.key_box.save_button.isEnabled()
    QTest.keyClicks(form.key_box.field, SECRET)
    form.test_button.click()
    await until(lambda: "answers" in form.answer.text())
    assert service.keys == {"anthropic": SECRET}
    assert [call[0] for call in service.calls if call[0] in ("keep_key", "test")] == ["keep_key", "test"]
    assert ("models", "anthropic", "", True) in service.calls, "the list may be another one with a key"


async def test_no_keyring_is_asked_before_a_provider_is_seen() -> None:
    service = FakeBackendService()
    async with shown(FakeFactory(), service=service) as window:
        window.commands["models"].trigger()
        form = form_of(window)
        await until(dialog_of(form).isActiveWindow)
        assert [call for call in service.calls if call[0] == "key_place"] == []
        turn(form, "openai")
        await until(lambda: ("key_place", "openai") in service.calls)
        assert ("key_place", "google") not in service.calls


async def test_leaving_ends_a_running_test(service: FakeBackendService, window: MainWindow) -> None:
    form = await opened(window, BackendChoice("openai"))
    await until(lambda: form.key_box.words.text() == NOT_YET)
    service.gate = asyncio.Event()
    press(form, "Test connection")
    await until(lambda: ("test", BackendChoice("openai")) in service.calls)
    QTest.keyClick(dialog_of(form), Qt.Key.Key_Escape)
    await until(lambda: service.cancelled)
    window.popover.models_button.click()
    assert form.answer.text() == "" and form.test_button.isEnabled()


async def test_a_real_server_is_tested_by_its_address_with_the_key_that_was_typed() -> None:
    script = Script()
    with peer(script) as server, _generators_closed(asyncio.get_running_loop()):
        service = BackendService(KeyStore(environment={}, open_keyring=lambda: None))
        async with shown(FakeFactory(), service=service) as window:
            form = await opened(window, BackendChoice("compatible", "tiny", f"{server}/v1"))
            QTest.keyClicks(form.key_box.field, SECRET)
            press(form, "Test connection")
            await until(lambda: "answers: first words after" in form.answer.text(), 30)
            assert "tiny at 127.0.0.1" in form.answer.text()
            headers = {name.lower(): value for name, value in script.seen_headers[-1].items()}
            assert headers["authorization"] == f"Bearer {SECRET}"
            script.status = 401  # a server that quotes keys
            press(form, "Test connection")
            await until(
                lambda: form.answer.text() and "answers" not in form.answer.text() and form.test_button.isEnabled()
            )
            assert not any(SECRET in text for text in texts(dialog_of(form)))
