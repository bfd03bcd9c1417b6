"""The user's servers of tools: which there are, what each of them is, and whether it answers.

Talks to the desk alone. What is typed stays until it is saved or the dialog is closed, whatever fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Panel, Quiet
from app.services.tool_server_service import ServerEntry, ServerList, ToolServerService

WIDTH_PX = 560
SERVERS_SEEN = 5
ARGUMENTS_SEEN = 4

READ = "read the servers of tools"
KEEP = "keep the servers of tools"
TEST = "test a server of tools"


def split_arguments(text: str) -> tuple[str, ...]:
    """One argument a line, as it stands: no quotes, no backslashes that mean something; empty lines don't count."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


class ServersDialog(Panel):
    """`listed` tells the names that talks can use, as a tuple, and what was `moved`: see `with_servers_moved`."""

    listed = Signal(object, object)

    def __init__(self, service: ToolServerService, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Servers of tools (MCP)"))
        self.setMinimumWidth(WIDTH_PX)
        self._service = service
        self._errands = background
        self._read: dict[str, ServerEntry] = {}
        self._drafts: list[ServerEntry] = []
        self._showing = False
        self._whole = False  # the list could be read
        self.servers = QListWidget(self)
        self.servers.setAccessibleName(self.tr("Servers"))
        self.servers.setFixedHeight(self.fontMetrics().height() * SERVERS_SEEN + 18)
        self.servers.setTabKeyNavigation(False)
        self.add_button = self.button(self.tr("&Add"), self.tr("Add a server"))
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the server"))
        self.trouble = Quiet(parent=self, selectable=True)
        self.trouble.setAccessibleName(self.tr("What is wrong with the list"))
        self.form = QWidget(self)
        self.name = self._line(self.tr("Name"), self.tr("a word, such as weather"))
        self.program = QRadioButton(self.tr("a &program on this machine"), self.form)
        self.program.setAccessibleName(self.tr("Kind: a program on this machine"))
        self.address = QRadioButton(self.tr("an addr&ess"), self.form)
        self.address.setAccessibleName(self.tr("Kind: an address"))
        self._kinds = QButtonGroup(self)
        self._kinds.addButton(self.program)
        self._kinds.addButton(self.address)
        self.command = self._line(self.tr("Command"), self.tr("the program alone, such as npx"))
        self.arguments = QPlainTextEdit(self.form)
        self.arguments.setAccessibleName(self.tr("Arguments"))
        self.arguments.setPlaceholderText(self.tr("one on each line, without quotes"))
        self.arguments.setTabChangesFocus(True)
        self.arguments.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.arguments.setFixedHeight(self.fontMetrics().height() * ARGUMENTS_SEEN + 14)
        self.url = self._line(self.tr("Address"), self.tr("such as https://example.org/mcp"))
        self.note = Quiet(parent=self.form, selectable=True)
        self.note.setAccessibleName(self.tr("What else there is to this server"))
        self.test_button = self.button(self.tr("&Test"), self.tr("Test the server"))
        self.test_button.setToolTip(
            self.tr("Starts or asks it, and ends it again. The first time, that may take a minute.")
        )
        self.stop_button = self.button(self.tr("S&top"), self.tr("Stop testing"))
        self.answer = Quiet(parent=self, selectable=True)
        self.answer.setAccessibleName(self.tr("What the test found, or what can't be saved"))
        self.save_button = self.button(self.tr("&Save"))
        self.close_button = self.button(self.tr("Cancel"))
        self._lay_out()
        self._connect()
        self._show_form()

    def open_afresh(self) -> None:
        """Appears with the list as it is now, unless it is being changed already."""
        if not self.isVisible():
            self._show_list(ServerList(), whole=False)
            self._errands.run(READ, self._service.servers, self._take, self._fail)
        self.appear()
        self.servers.setFocus()

    # -- the list

    def _take(self, found: ServerList) -> None:
        self._show_list(found, whole=not found.trouble)
        if self._whole:
            self.listed.emit(found.usable, {})

    def _show_list(self, found: ServerList, *, whole: bool) -> None:
        self._read = {server.kept: server for server in found.entries}
        self._drafts = list(found.entries)
        self._whole = whole
        again = self.tr("Then open this dialog again.")
        self.trouble.setText(f"{found.trouble} {again}" if found.trouble else "")
        self.trouble.setVisible(bool(found.trouble))
        self._showing = True
        self.servers.clear()
        self.servers.addItems([self._title(draft) for draft in self._drafts])
        self._showing = False
        self.servers.setCurrentRow(0 if self._drafts else -1)
        self._turn_to()

    def _fail(self, sentence: str) -> None:
        self._take(ServerList(trouble=sentence))

    def _add(self) -> None:
        self._drafts.append(ServerEntry(""))
        self.servers.addItem(self._title(self._drafts[-1]))
        self.servers.setCurrentRow(len(self._drafts) - 1)
        self.name.setFocus()

    def _remove(self) -> None:
        row = self.servers.currentRow()
        if row >= 0:
            del self._drafts[row]
            self._showing = True
            self.servers.takeItem(row)
            self._showing = False
            self._turn_to()
            self.servers.setFocus()

    def _title(self, draft: ServerEntry) -> str:
        name = draft.name or self.tr("(no name yet)")
        if draft.off:
            return self.tr("{0} · switched off").format(name)
        return self.tr("{0} · not used").format(name) if draft.trouble else name

    # -- the form

    @property
    def _draft(self) -> ServerEntry | None:
        row = self.servers.currentRow()
        return self._drafts[row] if 0 <= row < len(self._drafts) else None

    def _turn_to(self) -> None:
        """Another server is shown: what is said below is about that one."""
        if self._showing:
            return
        self._stop_test()
        self._say("")
        self._show_draft()

    def _show_draft(self) -> None:
        draft = self._draft
        if draft is not None:
            self._showing = True
            self.name.setText(draft.name)
            (self.address if draft.kind == "address" else self.program).setChecked(True)
            self.command.setText(draft.command)
            self.arguments.setPlainText("\n".join(draft.args))
            self.url.setText(draft.url)
            self.note.setText(self._note(draft))
            self._showing = False
        self._show_form()

    def _show_form(self) -> None:
        draft = self._draft
        self.add_button.setEnabled(self._whole)
        self.save_button.setEnabled(self._whole and not self._errands.busy(KEEP))
        self.remove_button.setEnabled(self._whole and draft is not None)
        for part in (self.form, self.heading_of_form):
            part.setVisible(draft is not None)
        program = self.program.isChecked()
        for label, field in ((self._command_label, self.command), (self._arguments_label, self.arguments)):
            label.setVisible(program)
            field.setVisible(program)
        self._url_label.setVisible(not program)
        self.url.setVisible(not program)
        self.arguments.setReadOnly(draft is not None and self._held(draft))
        self.note.setVisible(bool(self.note.text()))
        testing = self._errands.busy(TEST)
        self.test_button.setVisible(draft is not None and not testing)
        self.stop_button.setVisible(draft is not None and testing)
        self.fit()

    def _held(self, draft: ServerEntry) -> bool:
        """Whether its arguments can't be told by lines, so that they are only shown."""
        kept = self._read.get(draft.kept)
        return kept is not None and draft.args == kept.args and split_arguments("\n".join(kept.args)) != kept.args

    def _note(self, draft: ServerEntry) -> str:
        notes = [draft.trouble] if draft.trouble else []
        if draft.off:
            notes.append(self.tr("It is switched off in the file of the list (“disabled”), and stays so."))
        if draft.variables:
            words = self.tr("Its variables in the file of the list stay as they are: {0}.")
            notes.append(words.format(", ".join(draft.variables)))
        if self._held(draft):
            notes.append(self.tr("Its arguments hold empty lines or line breaks: change them in the file of the list."))
        return " ".join(notes)

    def _edited(self) -> None:
        draft = self._draft
        if self._showing or draft is None:
            return
        held = self._held(draft)
        row = self.servers.currentRow()
        self._drafts[row] = replace(
            draft,
            name=self.name.text().strip(),
            kind="program" if self.program.isChecked() else "address",
            command=self.command.text().strip().strip('"'),
            args=draft.args if held else split_arguments(self.arguments.toPlainText()),
            url=self.url.text().strip(),
        )
        self.servers.item(row).setText(self._title(self._drafts[row]))
        self._stop_test()
        self._say("")
        self._show_form()

    # -- the test

    def _test(self) -> None:
        draft = self._draft
        if draft is None:
            return
        if wrong := self._service.wrong([draft]):
            self._say(wrong[1])
            return
        self._errands.run(TEST, lambda: self._service.test(draft), self._tested, self._tested)
        self._say(self.tr("Asking “{0}” what it offers …").format(draft.name))
        self._show_form()
        self.stop_button.setFocus()

    def _tested(self, sentence: str) -> None:
        focused = self.stop_button.hasFocus()
        self._say(sentence)
        self._show_form()
        if focused:
            self.test_button.setFocus()

    def _stop(self) -> None:
        self._stop_test()
        self._tested(self.tr("Stopped."))

    def _stop_test(self) -> None:
        self._errands.cancel(TEST)

    # -- saving

    def _save(self) -> None:
        if not self._whole or self._errands.busy(KEEP):
            return
        changed = [draft for draft in self._drafts if draft != self._read.get(draft.kept)]
        others = [draft.name for draft in self._drafts if draft not in changed]
        if wrong := self._service.wrong(changed, others):
            place, sentence = wrong
            self.servers.setCurrentRow(next(row for row, one in enumerate(self._drafts) if one is changed[place]))
            self._say(sentence)
            return
        kept = {draft.kept for draft in self._drafts}
        removed = [name for name in self._read if name not in kept]
        moved = {name: "" for name in removed}
        moved |= {draft.kept: draft.name for draft in changed if draft.kept}
        if not changed and not removed:
            self.close()
            return
        self._errands.run(
            KEEP, lambda: self._service.keep(changed, removed), lambda found: self._saved(found, moved), self._refused
        )
        self._show_form()

    def _saved(self, found: ServerList, moved: dict[str, str]) -> None:
        self.listed.emit(found.usable, moved)
        self.close()

    def _refused(self, sentence: str) -> None:
        self._say(sentence)
        self._show_form()

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)
        self.answer.setVisible(bool(sentence))
        self.fit()

    # -- inner parts

    def _line(self, name: str, hint: str) -> QLineEdit:
        line = QLineEdit(self.form)
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        return line

    def _lay_out(self) -> None:
        lead = self.tr(
            "Each brings tools of its own. It is started or asked only when a conversation uses it, or for the test."
        )
        self.column.addWidget(Quiet(lead, self))
        buttons = QVBoxLayout()
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.remove_button)
        buttons.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self.servers, 1)
        row.addLayout(buttons)
        self.column.addLayout(row)
        self.column.addWidget(self.trouble)
        self.heading_of_form = self.heading(self.tr("The server"))
        grid = QGridLayout(self.form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, self.fontMetrics().horizontalAdvance(self.tr("Arguments")) + 2)
        self._label(grid, 0, self.tr("&Name"), self.name)
        kinds = QHBoxLayout()
        kinds.setSpacing(18)
        kinds.addWidget(self.program)
        kinds.addWidget(self.address)
        kinds.addStretch(1)
        grid.addWidget(QLabel(self.tr("It is"), self.form), 1, 0)
        grid.addLayout(kinds, 1, 1)
        self._command_label = self._label(grid, 2, self.tr("&Command"), self.command)
        self._arguments_label = self._label(grid, 3, self.tr("Ar&guments"), self.arguments)
        self._url_label = self._label(grid, 4, self.tr("A&ddress"), self.url)
        grid.addWidget(self.note, 5, 0, 1, 2)
        self.column.addWidget(self.form)
        row = QHBoxLayout()
        row.addWidget(self.test_button)
        row.addWidget(self.stop_button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addWidget(self.answer)
        self.column.addStretch(1)
        self.foot(self.save_button, self.close_button)

    def _label(self, grid: QGridLayout, row: int, text: str, field: QWidget) -> QLabel:
        label = QLabel(text, self.form)
        label.setBuddy(field)
        top = Qt.AlignmentFlag.AlignTop if isinstance(field, QPlainTextEdit) else Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(label, row, 0, top)
        grid.addWidget(field, row, 1)
        return label

    def _connect(self) -> None:
        self.servers.currentRowChanged.connect(lambda _: self._turn_to())
        self.add_button.clicked.connect(self._add)
        self.remove_button.clicked.connect(self._remove)
        fields: tuple[Any, ...] = (self.name.textEdited, self.command.textEdited, self.url.textEdited)
        for changed in (*fields, self.arguments.textChanged, self._kinds.buttonToggled):
            changed.connect(lambda *_: self._edited())
        self.test_button.clicked.connect(self._test)
        self.stop_button.clicked.connect(self._stop)
        self.save_button.clicked.connect(self._save)
        self.close_button.clicked.connect(self.close)
        self.left.connect(self._stop_test)
