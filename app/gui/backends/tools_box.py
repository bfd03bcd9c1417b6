"""Which tools the brain may use: a switch each, and the folders that it may read. All off by default."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
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

from app.gui.widgets.panel import NARROWEST_PX, Quiet
from app.session.control import ToolChoice

FOLDERS_SEEN = 3
MCP = "mcp:"
"""What the name of a server begins with in a `ToolChoice`."""
LONGEST_NAME = 24
GAP_PX = 18
WIDTH_PX = NARROWEST_PX - 32 + GAP_PX
"""What a row of switches may take in a dialog at its narrowest."""


def with_servers_moved(choice: ToolChoice, moved: Mapping[str, str]) -> ToolChoice:
    """A choice after servers were changed, from a name to the same or another, or taken out: to an empty one."""
    names = []
    for name in choice.names:
        server = name.removeprefix(MCP)
        if name.startswith(MCP) and server in moved:
            name = f"{MCP}{moved[server]}" if moved[server] else ""
        if name:
            names.append(name)
    return ToolChoice(tuple(names), choice.folders)


class ToolsBox(QWidget):
    """Shows and tells a `ToolChoice`. Tools that it has no switch for are kept as they are.

    A server that is chosen but not listed has a switch, too, so that it can be switched off.
    """

    reshaped = Signal()
    servers_wanted = Signal()
    """The user wants to see the servers of tools, or to change them."""

    def __init__(self, mcp_servers: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unknown: tuple[str, ...] = ()
        self._servers = tuple(mcp_servers)
        self._asking: QFileDialog | None = None
        known = [
            ("calculator", self.tr("C&alculator"), self.tr("Works sums out.")),
            ("clock", self.tr("Cloc&k"), self.tr("Tells the time and the date.")),
            ("files", self.tr("F&iles"), self.tr("Reads files in the folders that you allow; it changes none.")),
        ]
        self.switches: dict[str, QCheckBox] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(GAP_PX)
        for key, text, help in known:
            switch = QCheckBox(text, self)
            switch.setAccessibleName(self.tr("Tool: {0}").format(text.replace("&", "")))
            switch.setToolTip(help)
            self.switches[key] = switch
            row.addWidget(switch)
        row.addStretch(1)
        column.addLayout(row)
        self._server_part = QVBoxLayout()
        self._server_part.setSpacing(6)
        column.addLayout(self._server_part)
        self._server_rows: list[QWidget] = []
        self.servers_button = QPushButton(self.tr("Ser&vers of tools…"), self)
        self.servers_button.setAccessibleName(self.tr("Servers of tools"))
        self.servers_button.setToolTip(self.tr("Add, test and remove servers that bring tools of their own (MCP)."))
        row = QHBoxLayout()
        row.addWidget(self.servers_button)
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
        for button in (self.add_button, self.remove_button, self.servers_button):
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
        self.servers_button.clicked.connect(self.servers_wanted)
        self.show_choice(ToolChoice())

    @property
    def choice(self) -> ToolChoice:
        """What is switched on."""
        names = [name for name, switch in self.switches.items() if switch.isChecked()]
        folders = [self.folders.item(place).text() for place in range(self.folders.count())]
        return ToolChoice((*names, *self._unknown), tuple(folders))

    def show_choice(self, choice: ToolChoice) -> None:
        """Shows which tools are on."""
        self._lay_out_servers([name.removeprefix(MCP) for name in choice.names if name.startswith(MCP)])
        self._unknown = tuple(name for name in choice.names if name not in self.switches)
        for name, switch in self.switches.items():
            switch.setChecked(name in choice.names)
        self.folders.clear()
        self.folders.addItems(list(choice.folders))
        self._files_switched(self.switches["files"].isChecked())
        self._show_removable()

    def show_servers(self, names: Sequence[str], moved: Mapping[str, str] | None = None) -> None:
        """Offers these servers from now on; what is switched on stays on, under its new name if it was `moved`."""
        choice = with_servers_moved(self.choice, moved or {})
        self._servers = tuple(names)
        self.show_choice(choice)
        self.reshaped.emit()

    def _lay_out_servers(self, chosen: Sequence[str]) -> None:
        """A switch for each server, three in a row at most, and fewer where their names are long."""
        names = [*self._servers, *(name for name in dict.fromkeys(chosen) if name not in self._servers)]
        for key in [key for key in self.switches if key.startswith(MCP)]:
            del self.switches[key]
        for line in self._server_rows:
            self._server_part.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._server_rows.clear()
        left = 0
        for name in names:
            switch = self._server_switch(name)
            self.switches[f"{MCP}{name}"] = switch
            needed = switch.sizeHint().width() + GAP_PX
            row = self._server_rows[-1].layout() if self._server_rows else None
            if row is None or row.count() == 3 or needed > left:
                line = QWidget(self)
                row = QHBoxLayout(line)
                row.setContentsMargins(0, 0, 0, 0)
                row.setSpacing(GAP_PX)
                row.setAlignment(Qt.AlignmentFlag.AlignLeft)
                self._server_part.addWidget(line)
                self._server_rows.append(line)
                left = WIDTH_PX
            row.addWidget(switch)
            left -= needed
        order = [*self.switches.values(), self.servers_button]
        for one, other in itertools.pairwise(order):
            QWidget.setTabOrder(one, other)

    def _server_switch(self, name: str) -> QCheckBox:
        listed = name in self._servers
        text = self.tr("{0} (MCP)") if listed else self.tr("{0} (MCP, not listed)")
        short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        switch = QCheckBox(text.format(short.replace("&", "&&")), self)
        switch.setAccessibleName(self.tr("Tool: {0}").format(text.format(name)))
        help = (
            self.tr("A server of tools.")
            if listed
            else self.tr("The list of servers does not have it, or not as it can be used: switch it off, or add it.")
        )
        switch.setToolTip(f"{name}\n{help}" if short != name else help)
        return switch

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
