"""The window in a language that no letter of English is in: whatever is still English was never looked up.

The language is made here, out of the words that the app's source holds; what the user, the back-ends and the devices
say is told in Cyrillic letters, so that it needs no exception.
"""

import asyncio
import itertools
import json
import re
import shutil
import string
import sys
import typing
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path

import httpx
import openai
import pytest
from PySide6.QtCore import QAbstractListModel, QCoreApplication, QEvent, QLocale, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTabWidget,
    QWidget,
)

import app.frontend
import translations
from app.audio.devices import messages
from app.backend.openai_faults import ServerInfo, explain
from app.conversation import events as e
from app.demo.base import DemoFigure, DemoResult
from app.demo.side import SideState
from app.diagnostics.logs import Log
from app.gui.demo.screen import DemoScreen
from app.gui.state.choice import WindowChoices
from app.gui.widgets.translation import install_translations, use_language
from app.gui.window.main_window import MainWindow
from app.platform.installation import resource
from app.services.machine_service import FrontEndFit, MachineFinding, MachineView, Topic
from app.session.control import BackendChoice, Progress, Style, ToolChoice
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory, some
from tests.gui.fakes import (
    PROVIDERS,
    SERVERS,
    FakeBackendService,
    FakeFactory,
    FakeMachine,
    FakePrices,
    FakeServers,
    FakeSoundService,
)
from tests.gui.helpers import WELCOMED, open_models, say, shown, until
from tests.gui.pictures.window import side_by_side, talk
from tests.gui.window.test_accessibility import cut_off
from tests.gui.window.test_run_window import start

PLAIN = string.ascii_letters
ACCENTED = "àƀĉđéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýžÀƁĈĐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ"
CYRILLIC = "абцдефгхийклмнопярстувшхузАБЦДЕФГХИЙКЛМНОПЯРСТУВШХУЗ"
assert len(ACCENTED) == len(CYRILLIC) == len(PLAIN)
KEPT = re.compile(r"(\{[^{}]*\}|%n|</?[a-z][^<>]*>|&[a-z]+;|\(\*\.\w+\))")
"""What a translator leaves as it is: placeholders, marks of rich text, endings of files."""

NAMES = frozenset(
    "KAME Moshi Ollama OpenAI Anthropic Google Whisper NVIDIA Qt PySide GitHub MCP JSON URL".split()
    + "API KEY GEMINI OPENAI ANTHROPIC".split()  # the environment's variables for keys
    + "Ctrl Alt Shift Meta Space Del Esc Return Enter".split()  # keys, in Qt's own words
    + "ms GB MB kB dB dBFS Hz ppm kHz bf16 int8 int4".split()
    + ["cascade"]  # in the line of what a conversation is made of, as on the command line
)
"""What is called so in every language."""


def accented(text: str, longer: float = 0.0) -> str:
    """`text` without a letter of English, in brackets, and by a share longer. Signs alone stay as they are."""
    if not re.search("[A-Za-z]", text):
        return text
    strange = str.maketrans(PLAIN, ACCENTED)
    parts = KEPT.split(text)
    inner = "".join(part if place % 2 else part.translate(strange) for place, part in enumerate(parts))
    return f"[{inner}{('~~~~~ ' * len(text))[: round(len(text) * longer)].rstrip()}]"


def foreign(text: str) -> str:
    """`text` as somebody would say it who writes in Cyrillic letters."""
    return text.translate(str.maketrans(PLAIN, CYRILLIC))


def told(event: e.Event) -> e.Event:
    """An event with all the words that people, back-ends and tools say in Cyrillic letters."""
    hints = typing.get_type_hints(type(event))
    silent = ("provider", "frontend", "base_url", "kind")
    words = {
        field.name: foreign(getattr(event, field.name))
        for field in fields(event)
        if hints[field.name] is str and field.name not in silent
    }
    return replace(event, **words)


def write_language(folder: Path, language: str, longer: float = 0.0) -> None:
    """Makes a translation of all that the source holds."""
    source = folder / f"kame_{language}.ts"
    translations.collect(source, language)
    tree = ElementTree.parse(source)
    for message in tree.getroot().iter("message"):
        translation = message.find("translation")
        assert translation is not None and message.get("numerus") != "yes"
        del translation.attrib["type"]
        translation.text = accented(message.findtext("source") or "", longer)
    tree.write(source, encoding="utf-8", xml_declaration=True)
    assert translations.wrong_in(source) == []
    translations.compile_into(source, source.with_suffix(".qm"))


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Esperanto, as if it were all there is; in `longer` it takes 30 % more room."""
    folder = tmp_path_factory.mktemp("translations")
    write_language(folder, "eo")
    (folder / "longer").mkdir()
    write_language(folder / "longer", "eo", 0.3)
    return folder


class Tongues(QLocale):
    """A system whose user likes these languages, the first one best."""

    def __init__(self, *names: str) -> None:
        super().__init__(names[0])
        self._names = list(names)

    def uiLanguages(self, *_: object) -> list[str]:
        return self._names


def said(context: str, text: str) -> str:
    return QCoreApplication.translate(context, text)


@pytest.mark.parametrize(
    ("liked", "taken"),
    [("xh-ZA xh eo-001 eo en", "eo"), ("fr-FR fr", "en"), ("en-GB en eo", "en"), ("C eo", "en")],
)
def test_the_first_language_that_is_there_is_taken(in_english, languages: Path, liked: str, taken: str) -> None:
    assert install_translations(in_english, Tongues(*liked.split()), languages) == taken
    seen = "[&Ĉöñṽéŕšàţîöñ]" if taken == "eo" else "&Conversation"
    assert said("Commands", "&Conversation") == seen


def test_a_broken_file_is_left_out(in_english: QApplication, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "kame_eo.qm").write_bytes(b"not a translation")
    assert install_translations(in_english, Tongues("eo"), tmp_path) == "en"
    assert "could not be read" in caplog.text
    assert install_translations(in_english, Tongues("eo"), tmp_path / "nowhere") == "en"


def test_qts_own_words_follow_only_with_the_apps(in_english: QApplication, tmp_path: Path) -> None:
    assert install_translations(in_english, Tongues("de-DE", "de"), tmp_path) == "en"
    assert said("QPlatformTheme", "Cancel") == "Cancel"  # not one German button in an English window
    write_language(tmp_path, "de")
    assert install_translations(in_english, Tongues("de-DE", "de"), tmp_path) == "de"
    assert said("QPlatformTheme", "Cancel") == "Abbrechen"
    assert said("Commands", "&Quit") == "[&Ǫûîţ]"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows is not told its language by the environment")
@pytest.mark.parametrize(
    ("setting", "seen"),
    [
        pytest.param("system", "[&Ĉöñṽéŕšàţîöñ] [ĶÀṀÉ]", id="system"),
        pytest.param("de", "&Gespräch KAME", id="german", marks=pytest.mark.slow),
    ],
)
def test_the_window_opens_in_the_systems_language_or_the_one_that_is_set(
    languages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, seen: str
) -> None:
    shutil.copy(languages / "kame_eo.qm", tmp_path)
    shutil.copy(resource("translations", "kame_de.qm"), tmp_path)
    (tmp_path / "settings.json").write_text(json.dumps({"version": 1, "window_language": setting}), "utf-8")
    for name, value in (("LC_ALL", "C.UTF-8"), ("LANG", "C.UTF-8"), ("LANGUAGE", "eo")):
        monkeypatch.setenv(name, value)
    script = f"""
    import pathlib
    from app.gui.widgets import translation
    translation.resource = lambda *parts: pathlib.Path({str(tmp_path)!r})
    def look():
        print(window().commands.bar.actions()[0].text(), window().windowTitle(), flush=True)
        window().close()
    after(500, look)
    run(FakeFactory())
    """
    started = start(script, tmp_path)
    out, errors = started.communicate(timeout=60)
    assert out.splitlines()[:1] == [seen], errors


PROPERTIES = (
    "accessibleName accessibleDescription toolTip windowTitle text title toPlainText placeholderText prefix suffix "
    "specialValueText"
).split()


def items_of(widget: QWidget) -> Iterator[str]:
    roles = Qt.ItemDataRole
    match widget:
        case QComboBox():
            for place in range(widget.count()):
                yield widget.itemText(place)
                yield str(widget.itemData(place, roles.ToolTipRole) or "")
        case QTabWidget():
            yield from map(widget.tabText, range(widget.count()))
        case QHeaderView() if widget.model() is not None:
            for place in range(widget.count()):
                yield str(widget.model().headerData(place, widget.orientation()) or "")
        case QAbstractItemView() if (model := widget.model()) is not None:
            columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
            for row, column in itertools.product(range(model.rowCount()), range(columns)):
                shown = roles.DisplayRole, roles.ToolTipRole, roles.AccessibleTextRole, roles.AccessibleDescriptionRole
                yield from (str(model.index(row, column).data(role) or "") for role in shown)


def texts(root: QWidget) -> Iterator[tuple[str, str]]:
    """All words in and under a widget, shown or not, and where they stand."""
    for widget in (root, *root.findChildren(QWidget)):
        if widget.objectName().startswith("qt_") or isinstance(widget.parentWidget(), QAbstractSpinBox):
            continue
        where = f"{type(widget.parentWidget()).__name__}/{type(widget).__name__}"
        for kind in PROPERTIES:
            words = getattr(widget, kind, None)
            if callable(words) and (kind != "windowTitle" or widget.isWindow()):
                yield f"{where} {kind}", words() or ""
        for text in items_of(widget):
            yield f"{where} item", text
    for action in root.findChildren(QAction):
        if action.associatedObjects():  # else it stands nowhere
            yield "action", action.text()
            yield "action's tool tip", action.toolTip()


WORD = re.compile(r"[A-Za-z]{2,}[0-9]*")


def english(root: QWidget) -> list[str]:
    found = []
    for where, text in texts(root):
        if where == "AboutDialog/_Page toPlainText":
            continue
        rest = re.sub(r"https?://\S*|<[^<>]*>|&[a-z]+;|(?<=[a-zA-Z])&(?=[a-zA-Z])", " ", text)
        if any(word not in NAMES for word in WORD.findall(rest)):
            found.append(f"{where}: {text[:160]}")
    return list(dict.fromkeys(found))


NOW = 1_795_360_000.0
FRONT_ENDS = tuple((key, spec.label) for key, spec in app.frontend.PROVIDERS.items() if spec.make is None)
VIEW = MachineView(
    tuple(MachineFinding(topic, "fair", "Ж.") for topic in typing.get_args(Topic)),
    (
        FrontEndFit("cascade", "", True, "Ж."),
        FrontEndFit("kame", "int8", True, "Ж.", 9_000_000_000),
        FrontEndFit("kame", "int4", True, "Ж.", 9_000_000_000),
        FrontEndFit("moshi", "int8", False, "Ж.", 9_000_000_000),
    ),
    "Ж.",
    "kame",
    "int8",
    BackendChoice("ollama", "жук"),
)


def history() -> FakeHistory:
    service = some(9, NOW)
    service.views = {
        key: replace(view, title=foreign(view.title), backends=tuple(map(foreign, view.backends)))
        for key, view in service.views.items()
    }
    service.texts = {key: foreign(text) for key, text in service.texts.items()}
    return service


@asynccontextmanager
async def talking(frontend: str = "cascade") -> AsyncIterator[MainWindow]:
    """The whole window in the midst of a conversation, with all that it can have."""
    factory = FakeFactory(progress=(Progress(note="ж"),))
    providers = tuple(replace(view, suggestions=tuple(map(foreign, view.suggestions))) for view in PROVIDERS)
    service = FakeBackendService(
        providers=providers,
        lists={"ollama": ("жук", "ёж")},
        places={"anthropic": "keyring"},
        prices=FakePrices(tuple(replace(row, model=foreign(row.model)) for row in FakePrices().rows)),
        tool_servers=FakeServers(
            tuple(
                replace(
                    one,
                    name=foreign(one.name),
                    kept=foreign(one.name),
                    command=foreign(one.command),
                    args=tuple(map(foreign, one.args)),
                    variables=tuple(map(foreign, one.variables)),
                )
                for one in SERVERS
            )
        ),
    )
    choices = WindowChoices(
        frontends=FRONT_ENDS, weighty=("kame", "moshi"), backends=service.providers, mcp_servers=("жук",)
    )
    settings = Settings(
        frontend=frontend, provider="compatible", compatible_model="жук", compatible_url="http://127.0.0.1:8080/v1"
    )
    async with shown(
        factory,
        settings,
        state=WELCOMED,
        list_devices=lambda: (["Ухо"], ["Рот"]),
        choices=choices,
        missing_weights=lambda frontend: "" if frontend == "cascade" else "Ж.",
        service=service,
        sound_service=FakeSoundService(),
        history=history(),
        machine=FakeMachine(VIEW),
        log=Log(),
        everything=False,
    ) as window:
        window.resize(1180, 760)
        say(window, *map(told, (*talk(), *side_by_side(12.0))))
        await asyncio.sleep(0.05)
        yield window


def open_all(window: MainWindow) -> list[QWidget]:
    dialogs, panels = window.dialogs, window.panels
    dialogs.open_backend(BackendChoice("anthropic", "жук"))
    dialogs.open_secondary(BackendChoice("ollama", "жук", "http://127.0.0.1:11434"), BackendChoice())
    dialogs.open_duplicate("c1", BackendChoice())
    dialogs.open_conversation(Style("Ж.", 0.5), ToolChoice(("files", "mcp:жук"), ("/б",)), 1.0)
    dialogs.open_prices(BackendChoice("compatible", "жук"))
    dialogs.open_servers()
    window.sound.open_dialog()
    panels.open_settings()
    panels.open_log()
    panels.open_about()
    made = (
        dialogs.models,
        dialogs.question,
        dialogs.conversation,
        dialogs.prices,
        dialogs.servers,
        window.sound.dialog,
        panels.settings,
        panels.log,
        panels.about,
    )
    assert None not in made
    return [dialog for dialog in made if dialog is not None]


async def test_nothing_seen_is_left_in_english(in_english: QApplication, languages: Path) -> None:
    install_translations(in_english, Tongues("eo"), languages)
    async with talking() as window:
        assert not (left := english(window)), "\n".join(left)
        open_all(window)
        await asyncio.sleep(0.2)
        assert not (left := english(window)), "\n".join(left)


async def test_errors_of_the_core_are_shown_in_german(in_english: QApplication) -> None:
    use_language(in_english, "de")
    server = ServerInfo("OpenAI", "OpenAI", "gpt", has_key=True, known=True)
    answer = httpx.Response(401, request=httpx.Request("POST", "https://api.openai.com/v1"))
    key = explain(openai.AuthenticationError("Incorrect API key", response=answer, body=None), server)
    gone = messages.lost("microphone", "Blue Yeti")
    full = (
        "The recording has stopped: no space left on device. The conversation continues, and what was recorded up to "
    )
    full += "here is kept in /home/me. Make room there, and record again."
    async with talking() as window:
        say(
            window,
            e.Failure(1.0, "backend", str(key), about="backend"),
            e.DeviceChanged(2.0, gone.kind, gone.change, gone.name, gone.sentence),
            e.Failure(3.0, "recorder", full),
        )
        assert window.messages.sentences() == [
            "OpenAI lehnt den API-Schlüssel ab. Prüfe den Schlüssel, oder wähle ein anderes Modell.",
            "Mikrofon „Blue Yeti“ ist nicht mehr da, und es gibt keinen Ersatz; du wirst nicht gehört. Schließ eines "
            "an, oder erlaube der App in den Datenschutzeinstellungen des Systems den Zugriff; das Gespräch geht dann "
            "von selbst weiter.",
            "Die Aufnahme hat aufgehört: no space left on device. Das Gespräch geht weiter, und was bis hierher "
            "aufgenommen wurde, liegt in /home/me. Schaffe dort Platz, und nimm wieder auf.",
        ]


@pytest.mark.parametrize("percent", [100, 125])
async def test_the_first_sight_is_german_and_whole_in_a_small_window(percent: int, in_english: QApplication) -> None:
    use_language(in_english, "de")
    factory = FakeFactory(gate=asyncio.Event(), progress=(Progress(("recogniser", "voice", "model")),))
    async with shown(factory, Settings(font_scale=percent), everything=False, running=False) as window:
        window.resize(1400, 800)
        window.panes.oracle_action.trigger()
        await until(lambda: window.conversations.isVisible() and window.oracle.isVisible())
        window.resize(900, 600)
        button, welcome = window.dock.button, window.transcript.welcome
        await until(lambda: button.hint == "lädt: Spracherkennung, Stimme, Sprachmodell")
        assert button.text() == "Wird vorbereitet"
        assert window.status.state.toolTip() == f"Macht sich bereit ({button.hint})"
        await until(lambda: window.width() == 900 and not cut_off(window))
        assert welcome.widget().width() <= welcome.viewport().width()


async def test_the_guide_is_shown_in_german(in_english: QApplication) -> None:
    use_language(in_english, "de")
    async with shown(FakeFactory()) as window:
        window.panels.open_guide()
        guide = window.panels.guide
        assert guide is not None
        chapters = [guide.contents.item(row).text() for row in range(guide.contents.count())]
        assert chapters[:2] == ["Sprechen", "Das Orakel"] and len(chapters) == 11
        guide.contents.setCurrentRow(chapters.index("Modelle"))
        first = guide.page.cursorForPosition(guide.page.viewport().rect().topLeft() + QPoint(20, 24))
        assert first.block().text() == "Modelle"


def demo(parent: QWidget) -> Iterator[DemoScreen]:
    screen = DemoScreen(parent)
    screen.appear(full=False)
    side = SideState()
    side.ask(0.0, 1.0)
    side.apply(e.UserStarted(0.1, 1))
    side.apply(e.OracleRequested(0.5, 1, 1, "жук", "жук", "Ж", False))
    side.apply(e.OracleDelta(0.6, 1, "Ж."))
    side.apply(e.AssistantStarted(1.4, 1, 1))
    for step in ("start", "watch", "ask", "figures"):
        screen.show_step(step)
        screen.show_texts("Ж?", "", "Ж.", "жук")
        screen.show_models(["жук", "ёж"], 0, "Ж")
        for view in screen.sides.values():
            view.show_state(side, 2.0)
        yield screen
    for times in ((0.4, 0.41), (2.0, 0.4), (2.0, 0.0), (0.5, 1.4)):
        screen.headline.show_text(screen.verdict(*times))
        yield screen
    own = DemoFigure("Ж?", 2.0, 0.4, own=True)
    for figures in ((), (DemoFigure("Ж?", None, 0.4),), (replace(own, own=False),) * 2, (own,)):
        screen.show_result(DemoResult(figures, "жук"), "Ж.")
        yield screen
    screen.save(Path("/nowhere/x.png"))
    yield screen


async def test_the_demo_is_left_in_no_english_either(in_english: QApplication, languages: Path) -> None:
    install_translations(in_english, Tongues("eo"), languages / "longer")
    parent = QWidget()
    for screen in demo(parent):
        assert not (left := english(screen)), "\n".join(left)
        await asyncio.sleep(0.05)  # what is new is laid out
        assert not (left := cut_off(screen)), left
    screen.close()
    parent.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.mark.slow
@pytest.mark.parametrize(("language", "talk_menu"), [("eo", "[&Ĉöñṽéŕšàţîöñ~~~~]"), ("de", "&Gespräch")])
async def test_there_is_room_for_longer_words(
    in_english: QApplication, languages: Path, language: str, talk_menu: str
) -> None:
    if language == "eo":
        install_translations(in_english, Tongues(language), languages / "longer")
    else:
        use_language(in_english, language)
    async with talking() as window:
        assert window.commands.bar.actions()[0].text() == talk_menu
        timeline = window.inspector.timeline
        signs = {timeline.out_button.accessibleName(), timeline.in_button.accessibleName()}  # a sign takes little room
        await until(lambda: set(cut_off(window)) <= signs)
        assert (window.width(), window.height()) == (1180, 760)
        for menu in window.commands.bar.actions():
            letters = re.findall(r"&(\w)", "\n".join(action.text().lower() for action in menu.menu().actions()))
            assert len(set(letters)) == len(letters), menu.text()
        for dialog in open_all(window):
            await whole(dialog)
        settings, models = window.panels.settings, window.dialogs.models
        assert settings is not None and models is not None
        for page in range(settings.pages.count()):
            settings.pages.setCurrentRow(page)
            await asyncio.sleep(0.02)
            areas = [area for area in settings.findChildren(QScrollArea) if area.isVisible()]
            assert areas and all(area.horizontalScrollBar().maximum() == 0 for area in areas)
        for place in range(models.places.count()):
            models.places.setCurrentRow(place)
            await whole(models)
            areas = [area for area in models.findChildren(QScrollArea) if area.isVisible()]
            assert all(area.horizontalScrollBar().maximum() == 0 for area in areas)


async def whole(dialog: QWidget) -> None:
    """Nothing in it is cut off, and it fits into a window of the usual size."""
    await asyncio.sleep(0.1)
    await until(lambda: not cut_off(dialog))
    assert dialog.width() <= 1180 and dialog.height() <= 760, dialog.windowTitle()


@pytest.mark.parametrize("language", ["en", "de"])
async def test_no_two_controls_share_a_letter(in_english: QApplication, language: str) -> None:
    """With a comparison and the list of models open, and on each page of the dialog: a letter reaches one control."""
    use_language(in_english, language)
    async with talking("kame") as window:
        open_models(window)
        assert len(letters_of(window)) >= 7
        window.popover.shut()
        window.dialogs.open_models("machine")
        dialog = window.dialogs.models
        for place in range(dialog.places.count()):
            dialog.places.setCurrentRow(place)
            letters_of(dialog)


def letters_of(widget: QWidget) -> list[str]:
    """The letters of all labels and buttons in a window, which must be different ones."""
    texts = [label.text() for label in widget.findChildren(QLabel) if label.buddy() and label.isVisible()]
    texts += [button.text() for button in widget.findChildren(QAbstractButton) if button.isVisible()]
    letters = [found[1].lower() for text in texts if (found := re.search(r"&(\w)", text))]
    assert sorted(letters) == sorted(set(letters)), [text for text in texts if "&" in text]
    return letters
