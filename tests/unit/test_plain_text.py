"""In the window, what Qt might take for markup is made in one module, `app/gui/design/plain.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

GUI = Path(__file__).resolve().parents[2] / "app" / "gui"
PLAIN = GUI / "design" / "plain.py"
GUESSING = {"QLabel", "QMessageBox", "QErrorMessage", "QProgressDialog", "QWhatsThis", "QStaticText", "QToolTip"}
"""Classes that look for markup in any text that they are given."""
RICH = {"setToolTip", "setWhatsThis", "setHtml", "insertHtml", "setMarkdown", "insertMarkdown", "setLabelText"}
"""Methods whose text is, or may be taken for, markup."""
READERS = {
    "cards/reader.py": {"setMarkdown"},  # into a document that is never shown
    "window/guide_dialog.py": {"setMarkdown"},  # the app's own guide
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


@pytest.mark.parametrize(
    "source",
    [
        "from PySide6.QtWidgets import QLabel, QWidget",
        "from PySide6.QtWidgets import QMessageBox",
        "row.setToolTip(title)",
        'row.setToolTip(self.tr("{0} is open").format(title))',
        'row.setToolTip(f"<b>{title}</b>")',
        "page.setHtml(text)",
        "match role:\n case Qt.ItemDataRole.ToolTipRole:\n  return self.title",
        "{roles.ToolTipRole: self.title}",
        "item.setData(title, Qt.ItemDataRole.ToolTipRole)",
    ],
)
def test_what_is_not_allowed_is_found(source: str) -> None:
    assert list(faults(source))


@pytest.mark.parametrize(
    "source",
    [
        'row.setToolTip(self.tr("Close") if open else "")',
        "match role:\n case Qt.ItemDataRole.ToolTipRole:\n  return tip(self.title)",
        "item.setData(tip(title), Qt.ItemDataRole.ToolTipRole)",
    ],
)
def test_what_is_allowed_is_not_found(source: str) -> None:
    assert not list(faults(source))
