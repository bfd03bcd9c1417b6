"""The translations hold what the source holds, and nothing that a user sees is written past them."""

import ast
import functools
import importlib.util
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

import app.backend
import app.frontend
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
    """All words in a file of translations."""
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


def test_every_language_can_be_chosen(tool: ModuleType) -> None:
    there = [tool.language_of(path) for path in tool.languages()]
    assert declaration("window_language").choices == ("system", tool.SOURCE_LANGUAGE, *there)


def test_the_files_hold_no_places(tool: ModuleType) -> None:
    for path in tool.languages():
        text = path.read_text("utf-8")
        assert "<location " not in text and str(ROOT) not in text
