"""The translations hold what the source holds, and nothing that a user sees is written past them."""

import ast
import functools
import importlib.util
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

import app.backend
import app.frontend
import core_sentences
from app.audio.devices import messages
from app.gui.design.sentences import Sentences, filled
from app.settings.declarations import declaration, declarations
from tests.support.child import run_python

ROOT = Path(__file__).resolve().parents[2]
TAKE_WORDS = frozenset(
    "QLabel QPushButton QCheckBox QRadioButton QToolButton QGroupBox QAction SlimButton Quiet Elided "
    "setText setTitle setWindowTitle setToolTip setStatusTip setWhatsThis setPlaceholderText setAccessibleName "
    "setAccessibleDescription setPlainText setHtml setSpecialValueText setPrefix setSuffix setFormat setNameFilters "
    "addAction addMenu addItem addItems addRow addTab entitle heading button say named".split()
)
"""What shows the words that it is given."""
ANYWHERE = frozenset(("KAME", "http://host:8080/v1", "$"))
"""What is written so in every language."""


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packaging_translations", ROOT / "packaging" / "translations.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def modules_of(part: str) -> list[tuple[Path, list[ast.AST]]]:
    """Returns the modules of a part of the app, each with all nodes of its syntax tree."""
    paths = sorted((ROOT / "app" / part).rglob("*.py"))
    return [(path, list(ast.walk(ast.parse(path.read_text("utf-8"))))) for path in paths]


@functools.cache
def calls() -> list[tuple[str, str, ast.Call]]:
    """Returns all calls in the window's modules and in the settings: where, of what, the call."""
    return [
        (
            f"{path.name}:{node.lineno}",
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""),
            node,
        )
        for part in ("gui", "settings")
        for path, nodes in modules_of(part)
        for node in nodes
        if isinstance(node, ast.Call)
    ]


def words_of(path: Path) -> set[str]:
    return {message.findtext("source") or "" for message in ElementTree.parse(path).getroot().iter("message")}


def test_the_translations_are_up_to_date() -> None:
    done = run_python("packaging/translations.py", "--check", encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_words_are_given_whole_to_those_who_look_them_up(tool: ModuleType) -> None:
    there, wrong, found = words_of(*tool.languages()[:1]), [], 0
    for where, name, call in calls():
        if name not in ("tr", "_tr") or not call.args:
            continue
        words = call.args[0]
        if not isinstance(words, ast.Constant) or not isinstance(words.value, str):
            wrong.append(f"{where}: {ast.unparse(words)[:60]} is put together while the app runs")
        elif words.value not in there:
            wrong.append(f"{where}: {words.value[:60]} was not found")
        else:
            found += 1
    assert wrong == []
    assert found > 1000


def test_no_words_are_shown_without_being_looked_up() -> None:
    shown = []
    for where, name, call in calls():
        if name not in TAKE_WORDS:
            continue
        for argument in call.args[:1] if name == "say" else call.args:
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            for part in parts:
                text = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
                if (
                    any(letter.isalpha() for letter in text)
                    and text not in ANYWHERE
                    and not text.startswith(("<span", "<qt>", "</qt>"))
                ):
                    shown.append(f"{where}: {name}({text!r})")
    assert not shown, "\n".join(shown)


def test_no_sentence_is_written_past_the_translators() -> None:
    sentence = re.compile(r"[“A-Z]\S* .*[.?:…]", re.S)
    found = []
    for path, nodes in modules_of("gui"):
        skipped = set()  # what is looked up, and what is read by programmers alone
        for node in nodes:
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                skipped.add(node.value)
            elif name.endswith("tr") or name.startswith("_log.") or name.endswith("_sheet"):
                skipped.update(ast.walk(node))
        for node in nodes:
            if not isinstance(node, ast.Constant | ast.JoinedStr) or node in skipped:
                continue
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            if sentence.fullmatch(text):
                found.append(f"{path.name}:{node.lineno}: {text[:80]}")
    assert not found, "\n".join(found)


def test_what_backends_and_front_ends_call_themselves_is_there(tool: ModuleType) -> None:
    there = words_of(*tool.languages()[:1])
    front_ends = [spec for spec in app.frontend.PROVIDERS.values() if spec.make is None]  # without research's
    labels = [spec.label for spec in (*app.backend.PROVIDERS.values(), *front_ends)]
    assert len(labels) >= 8
    assert [label for label in labels if label not in there] == []
    for declared in declarations():
        texts = (declared.label, declared.help, *declared.words.values(), *filter(None, declared.unit.split("%")))
        assert [text for text in texts if text not in there and text not in ("$", "ms")] == []


@pytest.mark.slow
def test_lost_placeholders_are_listed(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    german = tmp_path / "kame_de.ts"
    shutil.copy(tool.FOLDER / german.name, german)
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    behind = "kame_de.qm is behind kame_de.ts: run “python packaging/translations.py release”."
    assert tool.check() == [behind]
    assert tool.update() == []
    tool.release()
    assert tool.check() == []

    text = german.read_text("utf-8")
    done = "<source>&amp;Quit</source>\n        <translation>&amp;Beenden<"
    assert done in text
    german.write_text(text.replace(done, done.replace("Beenden", "Beenden {0}"), 1), "utf-8")
    assert tool.check() == ["kame_de.ts: “&Beenden {0}” doesn't have the placeholders of “&Quit”.", behind]
    german.write_text(text.replace(done, done.replace("<translation>", '<translation type="unfinished">'), 1), "utf-8")
    assert tool.check() == ["kame_de.ts: “&Quit” (Commands) is not translated.", behind]


def test_every_language_can_be_chosen_and_its_file_holds_no_places(tool: ModuleType) -> None:
    there = [tool.language_of(path) for path in tool.languages()]
    assert declaration("window_language").choices == ("system", tool.SOURCE_LANGUAGE, *there)
    for path in tool.languages():
        text = path.read_text("utf-8")
        assert "<location " not in text and str(ROOT) not in text


@pytest.fixture(scope="module")
def german() -> Sentences:
    return Sentences(core_sentences.load(core_sentences.FOLDER / "core_de.json"))


def test_each_sentence_of_the_core_is_translated_with_its_values(german: Sentences) -> None:
    table = core_sentences.load(core_sentences.FOLDER / "core_de.json")
    values = {str(number): f"Xy{number}zzy" for number in range(1, 9)}
    wrong = [
        found
        for template in core_sentences.collected()[0]
        if (found := german.translate(filled(template, values))) != filled(table[template], values)
    ]
    assert not wrong, "\n".join(wrong)
    assert len(table) > 600


def test_parts_of_a_text_are_translated_where_they_are_known(german: Sentences) -> None:
    refused = "OpenAI refuses the API key. Check the key, or choose another model."
    abgelehnt = "OpenAI lehnt den API-Schlüssel ab. Prüfe den Schlüssel, oder wähle ein anderes Modell."
    assert german.translate(f"{refused} The built-in model answers meanwhile.") == (
        f"{abgelehnt} Solange antwortet das eingebaute Modell."
    )
    assert german.translate("Built-in (smollm2) answers again.") == "Eingebaut (smollm2) antwortet wieder."
    assert german.translate(f"The comparison model: {refused}") == f"Vergleichsmodell: {abgelehnt}"
    assert german.translate(f"Ein deutscher Satz. {refused}\nOverheard: “yes”.") == (
        f"Ein deutscher Satz. {abgelehnt}\nOverheard: “yes”."
    )
    lost = messages.lost("microphone", "Blue, the 2nd.").sentence
    assert german.translate(lost).startswith("Mikrofon „Blue, the 2nd.“ ist nicht mehr da, und")
    assert "du wirst nicht gehört" in german.translate(lost)
    unknown = "There is no voice called “x”. There are: “Anna”, “Ben”."
    assert german.translate(unknown) == "Es gibt keine Stimme „x“. Es gibt: „Anna“, „Ben“."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ollama",
        "Errno 28: no space left. Sorry",
        "What is the capital of Sweden?",
        "x. " * 2_000,
        "x (" * 400 + ")" * 400,
    ],
)
def test_what_is_not_from_the_core_stays_as_it_is(german: Sentences, text: str) -> None:
    assert german.translate(text) == text


def test_a_core_sentence_without_translation_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = core_sentences.load(core_sentences.FOLDER / "core_de.json")
    del table["The conversation has ended."]
    table |= {"{1} takes no key.": "Kein Schlüssel.", "This was said once.": "Das wurde einmal gesagt."}
    (tmp_path / "core_de.json").write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr(core_sentences, "FOLDER", tmp_path)
    wrong = [
        "core_de.json: “The conversation has ended.” (demo/side.py) is not translated.",
        "core_de.json: “Kein Schlüssel.” doesn't have the placeholders of “{1} takes no key.”.",
        "core_de.json: “This was said once.” is no longer in the source.",
    ]
    assert core_sentences.check() == wrong
    assert core_sentences.update() == wrong
    updated = core_sentences.load(tmp_path / "core_de.json")
    assert updated["The conversation has ended."] == "" and "This was said once." not in updated
