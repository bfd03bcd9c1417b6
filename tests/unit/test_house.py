"""Rules of the house: pages, guide, children's environment, and one module for what Qt might take for markup."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from app.settings.declarations import Settings, declarations
from tests.support.tables import cases

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "resources" / "guide"
PAGES = [ROOT / "app" / "README.md", *sorted((ROOT / "app").rglob("*/README.md")), ROOT / "tests" / "README.md"]


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: str(page.parent.name))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*\.py)`", page.read_text("utf-8"))
    places = (page.parent, ROOT / "app", ROOT)
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert not missing


STARTERS = {"run", "call", "check_call", "check_output", "Popen"}
ON_ITS_OWN = "app/platform/nvidia.py"
"""It also runs without the app, and has a list of its own."""
COPIES = re.compile(r"dict\(os\.environ\)|\*\*os\.environ|environ\.copy\(\)")


def test_every_child_gets_the_environment_that_is_chosen_in_one_place() -> None:
    wrong = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        calls = ("QProcess", "create_subprocess", "os.spawn", "os.posix")
        wrong += [f"{name}: {call}" for call in calls if call in text]
        if "subprocess" not in text or name == ON_ITS_OWN:
            continue
        starts = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and _starts_a_child(node)]
        whole = [node for node in starts if not any(keyword.arg in ("env", None) for keyword in node.keywords)]
        wrong += [f"{name}:{node.lineno}: a child without quiet_child()" for node in whole]
        if starts and name != "app/platform/children.py" and (COPIES.search(text) or not _uses_the_list(text)):
            wrong.append(f"{name}: a child's environment that is made by hand")
    assert not wrong


def _uses_the_list(text: str) -> bool:
    return "quiet_child(" in text or "child_environment(" in text


def _starts_a_child(call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.value.id == "subprocess" and function.attr in STARTERS


GUI = Path(__file__).resolve().parents[2] / "app" / "gui"
PLAIN = GUI / "design" / "plain.py"
GUESSING = {"QLabel", "QMessageBox", "QErrorMessage", "QProgressDialog", "QWhatsThis", "QStaticText", "QToolTip"}
"""Classes that look for markup in any text that they are given."""
RICH = {"setToolTip", "setWhatsThis", "setHtml", "insertHtml", "setMarkdown", "insertMarkdown", "setLabelText"}
"""Methods whose text is, or may be taken for, markup."""
READERS = {
    "cards/reader.py": {"setMarkdown"},  # into a document that is never shown
    "shell/about_dialog.py": {"setMarkdown"},  # the app's own guide
    "desktop/tray.py": {"setToolTip"},  # one of the app's own words
    "conversations/pane.py": {"setLabelText"},  # one of the app's own words
}


def faults(source: str, allowed: frozenset[str] = frozenset()) -> Iterator[str]:
    """The places in a module where Qt is given a text in which it would look for markup."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("PySide6"):
                yield from (f"{node.lineno}: {one.name}" for one in names if one.name in GUESSING)
            case ast.Call(func=ast.Attribute(attr=method), args=args) if method in RICH - allowed:
                if not all(map(_own, args)):
                    yield f"{node.lineno}: {method}"
            case ast.Call(func=ast.Attribute(attr="setData" | "setItemData"), args=args):
                if any(map(_is_tip_role, args)) and not any(map(_is_tip, args)):
                    yield f"{node.lineno}: ToolTipRole"
            case ast.match_case(pattern=pattern, body=body) if _is_tip_role(pattern) and not _is_tip(body[-1]):
                yield f"{pattern.lineno}: ToolTipRole"
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is not None and _is_tip_role(key) and not _is_tip(value):
                        yield f"{key.lineno}: ToolTipRole"


def _own(value: ast.AST) -> bool:
    """Whether a text stands in the source, or is its translation."""
    if isinstance(value, ast.IfExp):
        return _own(value.body) and _own(value.orelse)
    if isinstance(value, ast.BinOp):
        return _own(value.left) and _own(value.right)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr == "tr" and all(map(_own, value.args))
    return isinstance(value, ast.Constant)


def _is_tip_role(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "ToolTipRole" for node in ast.walk(tree))


def _is_tip(tree: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "tip" for n in ast.walk(tree))


def test_nothing_in_the_window_lets_qt_guess_what_is_markup() -> None:
    found = [
        f"{path.relative_to(GUI)}:{fault}"
        for path in sorted(GUI.rglob("*.py"))
        if path != PLAIN
        for fault in faults(path.read_text("utf-8"), frozenset(READERS.get(path.relative_to(GUI).as_posix(), ())))
    ]
    assert not found, "use app/gui/design/plain.py instead"


@cases(
    "source",
    "from PySide6.QtWidgets import QLabel, QWidget",
    "row.setToolTip(title)",
    "page.setHtml(text)",
    "match role:\n case Qt.ItemDataRole.ToolTipRole:\n  return self.title",
    "{roles.ToolTipRole: self.title}",
    "item.setData(title, Qt.ItemDataRole.ToolTipRole)",
)
def test_what_is_not_allowed_is_found(source: str) -> None:
    assert list(faults(source))


@pytest.fixture(scope="module")
def guide() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packaging_guide", ROOT / "packaging" / "guide.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_guide_holds_the_present_tables(guide: ModuleType) -> None:
    assert guide.main(["--check"]) == 0


def test_the_german_guide_has_the_parts_of_the_english_one() -> None:
    english, german = (
        [
            found[1] or found[2] or found[3] or found[4]
            for found in re.finditer(
                r"^(#+ )|^(\| (?:--- \| )?)|^(- )|\]\((\S+)\)$", (GUIDES / name).read_text("utf-8"), re.M
            )
        ]
        for name in ("guide.md", "guide_de.md")
    )
    assert english == german and len(english) > 100


def test_the_tables_name_every_setting(guide: ModuleType) -> None:
    lines = [line for line in guide.settings_markdown().splitlines() if line.startswith("| ")]
    rows = [line for line in lines if "`" in line]
    assert len(lines) == len(rows) + 2 * len(Settings.pages)
    for declared, line in zip(declarations(), rows, strict=True):
        assert f"| `{declared.name}` |" in line and line.count("|") == 5
    table = guide.settings_markdown()
    heads = [line.removeprefix("### ") for line in table.splitlines() if line.startswith("#")]
    assert heads == ["General", "Voice", "Models", "Sound", "Privacy", "Advanced"]
    assert "One of `thinking` (“While I speak”), `after` (“When I finish”)." in table
    assert "From 80 to 200 %." in table and "From 0 to 2; -1: the model's own." in table
    assert "From 0 to $1000; 0: no limit." in table
