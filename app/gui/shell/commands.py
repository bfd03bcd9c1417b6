"""The window's commands: one table that the menu, the palette and the shortcut sheet are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu, QPlainTextEdit, QTextEdit, QWidget

_STANDARD = QKeySequence.StandardKey
_ROLES = QAction.MenuRole
_SHOWN = Qt.ShortcutContext.WidgetShortcut
"""The context of shortcuts that only a menu shows: they never trigger, since no menu has the focus."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command.

    - `text`: its name, with a mnemonic marker; `other_words`: what else users call it, closest first.
    - `keys`: its shortcut; `everywhere`: whether it works in all windows of the app.
    - `shown`: whether the keys are only shown here, because the window handles them in its own way.
    - `checkable`: whether it is a switch.
    """

    key: str
    text: str
    other_words: str = ""
    keys: QKeySequence | QKeySequence.StandardKey | str = ""
    everywhere: bool = False
    shown: bool = False
    checkable: bool = False
    role: QAction.MenuRole = QAction.MenuRole.NoRole


class Commands(QObject):
    """The commands as actions by their key, and `bar`, the menu of them.

    `panes`: the actions that show the panes: the conversations, the oracle and the inspector.
    """

    def __init__(self, window: QWidget, panes: Iterable[QAction] = ()) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        panes = list(panes)
        seen = self.tr("history, sidebar, chats"), self.tr("thoughts, answers"), self.tr("timeline, requests, why")
        self.other_words: dict[QAction, str] = dict(zip(panes, seen, strict=False))
        """What else users call an action, for the palette."""
        self.bar = QMenu(window)
        self.bar.setAccessibleName(self.tr("Menus"))
        for title, specs in self._table():
            menu = self.bar.addMenu(title)
            for spec in specs:
                if isinstance(spec, CommandSpec):
                    self._add(menu, spec)
                elif spec == "panes":
                    menu.addActions(panes)
                else:
                    menu.addSeparator()
            # A closed menu's shortcuts only work if its actions are also added to the window.
            in_window = [action for action in menu.actions() if not action.shortcut().isEmpty()]
            window.addActions([action for action in in_window if action.shortcutContext() != _SHOWN])

    def __getitem__(self, key: str) -> QAction:
        return self._actions[key]

    def on(self, key: str, does: Callable[..., object]) -> None:
        """Calls `does` whenever the user gives a command; for a switch, with its new state whenever that changes."""
        action = self._actions[key]
        if action.isCheckable():
            action.toggled.connect(does)
        else:
            action.triggered.connect(lambda: does())

    def _add(self, menu: QMenu, spec: CommandSpec) -> None:
        action = self._actions[spec.key] = menu.addAction(spec.text)
        action.setShortcut(QKeySequence(spec.keys))
        action.setCheckable(spec.checkable)
        action.setMenuRole(spec.role)
        self.other_words[action] = spec.other_words
        if spec.everywhere or spec.shown:
            action.setShortcutContext(_SHOWN if spec.shown else Qt.ShortcutContext.ApplicationShortcut)

    def _table(self) -> list[tuple[str, list[CommandSpec | str]]]:
        one = CommandSpec
        return [
            (
                self.tr("&Conversation"),
                [
                    one("new", self.tr("&New conversation"), self.tr("reset, start over, clear"), _STANDARD.New),
                    one(
                        "silence",
                        self.tr("Sto&p speaking"),
                        self.tr("interrupt, be quiet, silence"),
                        "Esc",
                        shown=True,
                    ),
                    one("end", self.tr("En&d conversation"), self.tr("stop, hang up, close the microphone")),
                    one("delete", self.tr("De&lete this conversation"), self.tr("remove, erase, forget")),
                    "",
                    one("attach", self.tr("&Add files…"), self.tr("attach, document, upload, PDF")),
                    one("style", self.tr("St&yle and tools…"), self.tr("persona, prompt, instructions, limit")),
                    one("tools", self.tr("&Tool servers…"), self.tr("mcp, plug-ins, connectors")),
                    one("sound", self.tr("S&ound…"), self.tr("devices, microphone, loudspeaker, echo")),
                    one(
                        "mute",
                        self.tr("&Mute the microphone"),
                        self.tr("silence, deaf"),
                        "Ctrl+M",
                        checkable=True,
                    ),
                    one(
                        "recordings",
                        self.tr("&Keep the sound of new conversations"),
                        self.tr("record"),
                        checkable=True,
                    ),
                    "",
                    one("export", self.tr("&Export this conversation…"), self.tr("save, share, subtitles")),
                    one("import", self.tr("&Import a conversation…"), self.tr("open, load")),
                    "",
                    # Windows has no standard key for quitting, and the documentation specifies Ctrl+Q for all systems.
                    one("quit", self.tr("&Quit"), self.tr("exit, close"), "Ctrl+Q", role=_ROLES.QuitRole),
                ],
            ),
            (
                self.tr("&Edit"),
                [
                    one("copy", self.tr("&Copy"), "", _STANDARD.Copy),
                    one("find", self.tr("&Find in the conversation…"), self.tr("search"), _STANDARD.Find),
                    "",
                    # Windows has no standard key for preferences.
                    one(
                        "settings",
                        self.tr("&Settings…"),
                        self.tr("options, preferences, reset"),
                        "Ctrl+,",
                        role=_ROLES.PreferencesRole,
                    ),
                    one("commands", self.tr("C&ommands…"), self.tr("palette"), "Ctrl+K"),
                ],
            ),
            (
                self.tr("&View"),
                [
                    "panes",
                    "",
                    one(
                        "earlier",
                        self.tr("&Earlier thoughts"),
                        self.tr("revisions, oracle"),
                        checkable=True,
                    ),
                    "",
                    one(
                        "booth",
                        self.tr("&Booth: favourites as large buttons"),
                        self.tr("demo, swap, switch, fair, show"),
                        "Ctrl+B",
                        checkable=True,
                    ),
                    one("latency", self.tr("&Latency"), self.tr("slow, delay, response time, speed"), "Ctrl+L"),
                    one(
                        "mini",
                        self.tr("&Mini window"),
                        self.tr("small, compact, always on top"),
                        "Ctrl+Shift+K",
                        everywhere=True,
                    ),
                ],
            ),
            (
                self.tr("&Model"),
                [
                    one(
                        "choose_model",
                        self.tr("C&hoose a model…"),
                        self.tr("swap, switch, change, another"),
                        "Ctrl+Shift+M",
                    ),
                    one(
                        "models",
                        self.tr("Models and s&ervers…"),
                        self.tr("download, delete, key, ollama, connect, address"),
                    ),
                    "",
                    one("compare", self.tr("Co&mpare…"), self.tr("second model, side by side")),
                    one(
                        "hand_over",
                        self.tr("S&witch to the comparison model"),
                        self.tr("hand over, swap"),
                        "Ctrl+H",
                        everywhere=True,
                    ),
                ],
            ),
            (
                self.tr("&Help"),
                [
                    one("keys", self.tr("Ke&ys"), self.tr("shortcuts, keyboard"), "F1"),
                    one("guide", self.tr("&Guide"), self.tr("help, manual, documentation")),
                    one("demo", self.tr("&Demo…"), self.tr("show, booth")),
                    "",
                    one("log", self.tr("&Log…"), self.tr("errors, report, diagnostics")),
                    one("about", self.tr("&About KAME"), self.tr("version, licence"), role=_ROLES.AboutRole),
                ],
            ),
        ]

    def widget_keys(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Returns the keys that widgets handle themselves, as (where, [(keys, what they do)]), for the sheet.

        Several keys are separated by a comma and a space.
        """
        return [
            (
                self.tr("Typing"),
                [
                    ("Enter", self.tr("Send the message")),
                    ("Shift+Enter", self.tr("Start a new line")),
                    ("Up", self.tr("Bring back what you sent before")),
                    ("?", self.tr("Show these keys, while you are not typing")),
                    ("Esc", self.tr("Close a list or a message")),
                ],
            ),
            (
                self.tr("In the list of models"),
                [
                    ("Enter", self.tr("Use the model")),
                    ("Ctrl+D", self.tr("Make it a favourite, or no longer")),
                    ("Alt+1…9", self.tr("Use a favourite, also outside the list")),
                ],
            ),
            (
                self.tr("In booth mode"),
                [("1…9", self.tr("Use a favourite, while you are not typing"))],
            ),
            (
                self.tr("In the list of conversations"),
                [
                    ("Enter", self.tr("Open the conversation")),
                    ("F2", self.tr("Rename it")),
                    ("P", self.tr("Pin it, or no longer")),
                    ("Del", self.tr("Delete it")),
                    ("Ctrl+Z", self.tr("Bring back what was deleted")),
                ],
            ),
            (
                self.tr("In the timeline"),
                [
                    ("P", self.tr("Pause it, or follow the conversation again")),
                    ("Left, Right", self.tr("Go to the item before or after")),
                    ("+, -", self.tr("Zoom in or out")),
                ],
            ),
        ]


def copy_selection(*views: QTextEdit) -> None:
    """Copies the selection of the focused widget or, failing that, of the first of `views` that has a selection."""
    focus = QApplication.focusWidget()
    if isinstance(focus, QComboBox):
        focus = focus.lineEdit()
    if isinstance(focus, QLineEdit | QPlainTextEdit):
        focus.copy()
        return
    candidates = [focus] if isinstance(focus, QTextEdit) else []
    for view in [*candidates, *views]:
        if view.textCursor().hasSelection():
            view.copy()
            return
