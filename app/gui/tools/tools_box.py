"""Selects the tools that the model may use and the folders that it may read. All tools are off by default."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QListWidget,
    QWidget,
)

from app.gui.design.plain import named, set_tip, verbatim
from app.gui.state.choice import SERVER_PREFIX, with_servers_moved
from app.gui.widgets.file_dialogs import ask_folder
from app.gui.widgets.form import column, push_button, row
from app.gui.widgets.panel import NARROWEST_PX, Quiet
from app.session.control import ToolChoice

FOLDERS_SEEN = 3
LONGEST_NAME = 24
GAP_PX = 18
WIDTH_PX = NARROWEST_PX - 32 + GAP_PX
"""Width available to a row of switches in the narrowest dialog, including the gap after the last one."""


class ToolsBox(QWidget):
    """Edits a `ToolChoice`. Tools without a switch are left unchanged.

    A server that is enabled but not in the list also gets a switch, so that the user can turn it off.
    """

    reshaped = Signal()
    servers_wanted = Signal()
    """Emitted when the user asks for the Tool servers dialog."""

    def __init__(self, mcp_servers: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unknown: tuple[str, ...] = ()
        self._servers = tuple(mcp_servers)
        known = [
            ("calculator", self.tr("C&alculator"), self.tr("Works sums out.")),
            ("clock", self.tr("Cloc&k"), self.tr("Tells the time and the date.")),
            ("files", self.tr("F&iles"), self.tr("Reads files in the folders that you allow; it changes none.")),
        ]
        self.switches: dict[str, QCheckBox] = {}
        for key, text, help in known:
            switch = self.switches[key] = QCheckBox(text, self)
            switch.setAccessibleName(self.tr("Tool: {0}").format(text.replace("&", "")))
            set_tip(switch, help)
        self._server_part = column(spacing=6)
        self._server_rows: list[QWidget] = []
        self.servers_button = push_button(self.tr("Tool ser&vers…"), self.tr("Tool servers"), self, self.servers_wanted)
        self.servers_button.setToolTip(self.tr("Add, test and remove servers that offer tools (MCP)."))
        self._folder_part = self._make_folders()
        switches = row(*self.switches.values(), None, spacing=GAP_PX)
        parts = (switches, self._server_part, row(self.servers_button, None), self._folder_part)
        column(*parts, within=self, spacing=6)
        self.switches["files"].toggled.connect(self._files_switched)
        self.folders.itemSelectionChanged.connect(self._show_removable)
        self.show_choice(ToolChoice())

    @property
    def choice(self) -> ToolChoice:
        names = [name for name, switch in self.switches.items() if switch.isChecked()]
        folders = [self.folders.item(place).text() for place in range(self.folders.count())]
        return ToolChoice((*names, *self._unknown), tuple(folders))

    def show_choice(self, choice: ToolChoice) -> None:
        self._lay_out_servers(
            [name.removeprefix(SERVER_PREFIX) for name in choice.names if name.startswith(SERVER_PREFIX)]
        )
        self._unknown = tuple(name for name in choice.names if name not in self.switches)
        for name, switch in self.switches.items():
            switch.setChecked(name in choice.names)
        self.folders.clear()
        self.folders.addItems(list(choice.folders))
        self._files_switched(self.switches["files"].isChecked())
        self._show_removable()

    def show_servers(self, names: Sequence[str], moved: Mapping[str, str] | None = None) -> None:
        """Shows switches for these servers. Enabled ones stay enabled. `moved` maps old to new names, "" if removed."""
        choice = with_servers_moved(self.choice, moved or {})
        self._servers = tuple(names)
        self.show_choice(choice)
        self.reshaped.emit()

    def _lay_out_servers(self, chosen: Sequence[str]) -> None:
        """Creates a switch for each server, with up to three per row, or fewer if names are long."""
        names = [*self._servers, *(name for name in dict.fromkeys(chosen) if name not in self._servers)]
        for key in [key for key in self.switches if key.startswith(SERVER_PREFIX)]:
            del self.switches[key]
        for line in self._server_rows:
            self._server_part.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._server_rows.clear()
        left = 0
        for name in names:
            switch = self._server_switch(name)
            self.switches[f"{SERVER_PREFIX}{name}"] = switch
            needed = switch.sizeHint().width() + GAP_PX
            layout = self._server_rows[-1].layout() if self._server_rows else None
            if layout is None or layout.count() == 3 or needed > left:
                line = QWidget(self)
                layout = row(within=line, spacing=GAP_PX)
                layout.setAlignment(Qt.AlignmentFlag.AlignLeft)
                self._server_part.addWidget(line)
                self._server_rows.append(line)
                left = WIDTH_PX
            layout.addWidget(switch)
            left -= needed
        order = [*self.switches.values(), self.servers_button]
        for one, other in itertools.pairwise(order):
            QWidget.setTabOrder(one, other)

    def _server_switch(self, name: str) -> QCheckBox:
        listed = name in self._servers
        text = self.tr("{0} (MCP)") if listed else self.tr("{0} (MCP, not listed)")
        short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        switch = named(QCheckBox(text.format(verbatim(short)), self), self.tr("Tool: {0}").format(text.format(name)))
        help = (
            self.tr("A tool server.")
            if listed
            else self.tr("It is not in the list of tool servers, or can't be used: switch it off, or add it.")
        )
        set_tip(switch, f"{name}\n{help}" if short != name else help)
        return switch

    def add_folder(self, path: str) -> None:
        if path and path not in self.choice.folders:
            self.folders.addItem(path)

    def _make_folders(self) -> QWidget:
        self.folders = named(QListWidget(self), self.tr("Folders that may be read"))
        self.folders.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.folders.setFixedHeight(self.fontMetrics().height() * FOLDERS_SEEN + 14)
        self.folders.setTabKeyNavigation(False)
        self.add_button = push_button(self.tr("Add fol&der…"), self.tr("Add a folder"), self, self._ask_folder)
        self.remove_button = push_button(self.tr("&Remove"), self.tr("Remove the folder"), self, self._remove)
        across = row(self.folders, column(self.add_button, self.remove_button, None), stretch=0)
        part = QWidget(self)
        column(Quiet(self.tr("It may read what is in these folders:"), self), across, within=part)
        return part

    def _files_switched(self, on: bool) -> None:
        self._folder_part.setVisible(on)
        self.reshaped.emit()

    def _ask_folder(self) -> None:
        ask_folder(self, self.tr("A folder that may be read"), "", self.add_folder)

    def _remove(self) -> None:
        for item in self.folders.selectedItems():
            self.folders.takeItem(self.folders.row(item))
        self._show_removable()

    def _show_removable(self) -> None:
        self.remove_button.setEnabled(bool(self.folders.selectedItems()))
