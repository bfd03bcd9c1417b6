"""Which tools the brain may use: a switch each, and the folders that it may read. All off by default."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.panel import Quiet
from app.session.control import ToolChoice

FOLDERS_SEEN = 3


class ToolsBox(QWidget):
    """Shows and tells a `ToolChoice`. Tools that it has no switch for are kept as they are."""

    reshaped = Signal()

    def __init__(self, mcp_servers: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unknown: tuple[str, ...] = ()
        self._asking: QFileDialog | None = None
        known = [
            ("calculator", self.tr("C&alculator"), self.tr("Works sums out.")),
            ("clock", self.tr("Cloc&k"), self.tr("Tells the time and the date.")),
            ("files", self.tr("F&iles"), self.tr("Reads files in the folders that you allow; it changes none.")),
        ]
        for name in mcp_servers:
            known.append((f"mcp:{name}", self.tr("{0} (MCP)").format(name), self.tr("A server of tools.")))
        self.switches: dict[str, QCheckBox] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(18)
        for place, (key, text, help) in enumerate(known):
            switch = QCheckBox(text, self)
            switch.setAccessibleName(self.tr("Tool: {0}").format(text.replace("&", "")))
            switch.setToolTip(help)
            self.switches[key] = switch
            row.addWidget(switch)
            if place % 3 == 2:  # servers' names may be long
                row.addStretch(1)
                column.addLayout(row)
                row = QHBoxLayout()
                row.setSpacing(18)
        if row.count():
            row.addStretch(1)
            column.addLayout(row)
        self.folders = QListWidget(self)
        self.folders.setAccessibleName(self.tr("Folders that may be read"))
        self.folders.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.folders.setFixedHeight(self.fontMetrics().height() * FOLDERS_SEEN + 14)
        self.folders.setTabKeyNavigation(False)
        self.add_button = QPushButton(self.tr("Add fol&der…"), self)
        self.add_button.setAccessibleName(self.tr("Add a folder"))
        self.remove_button = QPushButton(self.tr("&Remove"), self)
        self.remove_button.setAccessibleName(self.tr("Remove the folder"))
        for button in (self.add_button, self.remove_button):
            button.setAutoDefault(False)
        self._folder_part = QWidget(self)
        part = QVBoxLayout(self._folder_part)
        part.setContentsMargins(0, 0, 0, 0)
        part.addWidget(Quiet(self.tr("It may read what is in these folders:"), self))
        across = QHBoxLayout()
        across.addWidget(self.folders, 1)
        buttons = QVBoxLayout()
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.remove_button)
        buttons.addStretch(1)
        across.addLayout(buttons)
        part.addLayout(across)
        column.addWidget(self._folder_part)
        self.switches["files"].toggled.connect(self._files_switched)
        self.folders.itemSelectionChanged.connect(self._show_removable)
        self.add_button.clicked.connect(self._ask_folder)
        self.remove_button.clicked.connect(self._remove)
        self.show_choice(ToolChoice())

    @property
    def choice(self) -> ToolChoice:
        """What is switched on."""
        names = [name for name, switch in self.switches.items() if switch.isChecked()]
        folders = [self.folders.item(place).text() for place in range(self.folders.count())]
        return ToolChoice((*names, *self._unknown), tuple(folders))

    def show_choice(self, choice: ToolChoice) -> None:
        """Shows which tools are on."""
        self._unknown = tuple(name for name in choice.names if name not in self.switches)
        for name, switch in self.switches.items():
            switch.setChecked(name in choice.names)
        self.folders.clear()
        self.folders.addItems(list(choice.folders))
        self._files_switched(self.switches["files"].isChecked())
        self._show_removable()

    def add_folder(self, path: str) -> None:
        """Allows one more folder."""
        if path and path not in self.choice.folders:
            self.folders.addItem(path)

    def _files_switched(self, on: bool) -> None:
        self._folder_part.setVisible(on)
        self.reshaped.emit()

    def _ask_folder(self) -> None:
        self._asking = QFileDialog(self, self.tr("A folder that may be read"))
        self._asking.setFileMode(QFileDialog.FileMode.Directory)
        self._asking.setOption(QFileDialog.Option.ShowDirsOnly)
        self._asking.fileSelected.connect(self.add_folder)
        self._asking.open()

    def _remove(self) -> None:
        for item in self.folders.selectedItems():
            self.folders.takeItem(self.folders.row(item))
        self._show_removable()

    def _show_removable(self) -> None:
        self.remove_button.setEnabled(bool(self.folders.selectedItems()))
