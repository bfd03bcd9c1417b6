"""The Tool servers dialog, in which the user adds, edits, tests and removes MCP servers.

A form shows a server's name and its program or address. Changes are kept until the user saves them or closes the
dialog, even after errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QListWidget,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from app.gui.design.plain import PlainLabel, named
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import StatusLine, add_items, column, grid, label_of, row, text_field
from app.gui.widgets.panel import Panel, Quiet
from app.services.tool_server_service import Effect, ServerEntry, ServerList, ToolServerService

ARGUMENTS_SEEN = 4


def split_arguments(text: str) -> tuple[str, ...]:
    """Splits text into arguments, one per line, without quoting or escaping. Blank lines are ignored."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


class ConsentFields(QWidget):
    """What a server's tools may do, as the user says: all of them, and single ones. Emits `edited` on a change."""

    edited = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.effect = self._list(self.tr("What its tools may do"))
        self.tool = named(QComboBox(self), self.tr("Tool"))
        self.own = self._list(self.tr("What this tool may do"), self.tr("as said above"))
        self.always = named(QCheckBox(self.tr("a&lways allowed"), self), self.tr("This tool is always allowed"))
        self._effects: dict[str, Effect] = {}
        self._always: set[str] = set()
        self._of_tool = QWidget(self)
        row(self.tool, self.own, self.always, None, within=self._of_tool)
        hint = self.tr("You are asked before a tool sends or changes something.")
        column(self.effect, Quiet(hint, self), self._of_tool, within=self)
        self.tool.currentIndexChanged.connect(lambda _: self._show_tool())
        self.effect.activated.connect(self.edited)
        self.own.activated.connect(self._changed)
        self.always.clicked.connect(self._changed)

    def show_rules(self, server: ServerEntry) -> None:
        """Fills in the fields."""
        self._effects, self._always = dict(server.effects), set(server.always)
        self.effect.setCurrentIndex(self.effect.findData(server.effect))
        self.tool.clear()
        self.show_tools(())

    def show_tools(self, names: Sequence[str]) -> None:
        """Offers these tools, and those for which there is a rule."""
        shown = [self.tool.itemText(place) for place in range(self.tool.count())]
        wanted = dict.fromkeys((*shown, *names, *self._effects, *sorted(self._always)))
        self.tool.addItems([name for name in wanted if name not in shown])
        self._of_tool.setVisible(bool(wanted))
        self._show_tool()

    def read(self, server: ServerEntry) -> ServerEntry:
        """Returns a copy of `server` with the contents of the fields."""
        effects = tuple(sorted(self._effects.items()))
        if effects == tuple(sorted(server.effects)):
            effects = server.effects
        always = server.always if self._always == set(server.always) else tuple(sorted(self._always))
        return replace(server, effect=self.effect.currentData(), effects=effects, always=always)

    def _show_tool(self) -> None:
        name = self.tool.currentText()
        self.own.setCurrentIndex(max(0, self.own.findData(self._effects.get(name))))
        self.always.setChecked(name in self._always)
        self.always.setEnabled(bool(name))

    def _changed(self, *_: object) -> None:
        name, effect = self.tool.currentText(), self.own.currentData()
        self._effects.pop(name, None)
        if effect is not None:
            self._effects[name] = effect
        self._always.discard(name)
        if self.always.isChecked():
            self._always.add(name)
        self.edited.emit()

    def _list(self, name: str, first: str = "") -> QComboBox:
        box = named(QComboBox(self), name)
        if first:
            box.addItem(first, None)
        words: dict[Effect, str] = {
            "reads": self.tr("only read on this machine"),
            "sends": self.tr("may send what they get elsewhere"),
            "changes": self.tr("may change something"),
        }
        for effect, said in words.items():
            box.addItem(said, effect)
        return box


class ServerForm(QWidget):
    """A form for editing a server. Emits `edited` when the user changes a field."""

    edited = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._showing = False
        self.name = text_field(self, self.tr("Name"), self.tr("a word, such as weather"))
        self.program = QRadioButton(self.tr("a &program on this machine"), self)
        self.program.setAccessibleName(self.tr("Kind: a program on this machine"))
        self.address = named(QRadioButton(self.tr("an addr&ess"), self), self.tr("Kind: an address"))
        self._kinds = QButtonGroup(self)
        self._kinds.addButton(self.program)
        self._kinds.addButton(self.address)
        self.command = text_field(self, self.tr("Command"), self.tr("the program alone, such as npx"))
        self.arguments = named(QPlainTextEdit(self), self.tr("Arguments"))
        self.arguments.setPlaceholderText(self.tr("one on each line, without quotes"))
        self.arguments.setTabChangesFocus(True)
        self.arguments.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.arguments.setFixedHeight(self.fontMetrics().height() * ARGUMENTS_SEEN + 14)
        self.url = text_field(self, self.tr("Address"), self.tr("such as https://example.org/mcp"))
        self.consent = ConsentFields(self)
        self.note = Quiet(parent=self, selectable=True, name=self.tr("Notes about this server"))
        self._lay_out()
        for line in (self.name, self.command, self.url):
            line.textEdited.connect(self._emit_edited)
        self.arguments.textChanged.connect(self._emit_edited)
        self._kinds.buttonToggled.connect(self._emit_edited)
        self.consent.edited.connect(self._emit_edited)

    def show_server(self, server: ServerEntry) -> None:
        """Fills in the fields, without emitting `edited`."""
        self._showing = True
        self.name.setText(server.name)
        (self.address if server.kind == "address" else self.program).setChecked(True)
        self.command.setText(server.command)
        self.arguments.setPlainText("\n".join(server.args))
        self.url.setText(server.url)
        self.consent.show_rules(server)
        self._showing = False

    def show_note(self, note: str, *, fixed_arguments: bool) -> None:
        """Shows a note, and only the fields that apply to the selected kind of server.

        `fixed_arguments`: whether to make the arguments read-only.
        """
        self.note.say(note)
        self.arguments.setReadOnly(fixed_arguments)
        program = self.program.isChecked()
        for widget in (*self._program_labels, self.command, self.arguments):
            widget.setVisible(program)
        self._url_label.setVisible(not program)
        self.url.setVisible(not program)

    def read(self, server: ServerEntry) -> ServerEntry:
        """Returns a copy of `server` with the contents of the fields."""
        fixed = self.arguments.isReadOnly()
        return replace(
            self.consent.read(server),
            name=self.name.text().strip(),
            kind="program" if self.program.isChecked() else "address",
            command=self.command.text().strip().strip('"'),
            args=server.args if fixed else split_arguments(self.arguments.toPlainText()),
            url=self.url.text().strip(),
        )

    def _emit_edited(self, *_: object) -> None:
        if not self._showing:
            self.edited.emit()

    def _lay_out(self) -> None:
        layout = grid(12, 8, stretch=1, within=self)
        layout.setColumnMinimumWidth(0, self.fontMetrics().horizontalAdvance(self.tr("Arguments")) + 2)
        layout.addWidget(PlainLabel(self.tr("It is"), self), 1, 0)
        layout.addLayout(row(self.program, self.address, None, spacing=18), 1, 1)
        self._label(layout, 0, self.tr("&Name"), self.name)
        self._program_labels = (
            self._label(layout, 2, self.tr("&Command"), self.command),
            self._label(layout, 3, self.tr("Ar&guments"), self.arguments),
        )
        self._url_label = self._label(layout, 4, self.tr("A&ddress"), self.url)
        layout.addWidget(PlainLabel(self.tr("Its tools"), self), 5, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.consent, 5, 1)
        layout.addWidget(self.note, 6, 0, 1, 2)

    def _label(self, grid: QGridLayout, line: int, text: str, field: QWidget) -> PlainLabel:
        label = label_of(field, text, self)
        top = Qt.AlignmentFlag.AlignTop if isinstance(field, QPlainTextEdit) else Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(label, line, 0, top)
        grid.addWidget(field, line, 1)
        return label


WIDTH_PX = 560
SERVERS_SEEN = 5

READ = "read the tool servers"
SAVE = "save the tool servers"
TEST = "test a tool server"


class ServersDialog(Panel):
    """The Tool servers dialog.

    Emits `listed` after reading or saving the list, with a tuple of the usable servers' names and a dict of renamed and
    removed ones, as expected by `with_servers_moved`.
    """

    listed = Signal(object, object)

    def __init__(self, service: ToolServerService, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Tool servers"))
        self.setMinimumWidth(WIDTH_PX)
        self._service = service
        self._background = background
        self._saved: dict[str, ServerEntry] = {}
        self._drafts: list[ServerEntry] = []
        self._filling = False
        self._whole = False  # whether the list was read successfully
        self.servers = named(QListWidget(self), self.tr("Servers"))
        self.servers.setFixedHeight(self.fontMetrics().height() * SERVERS_SEEN + 18)
        self.servers.setTabKeyNavigation(False)
        self.add_button = self.button(self.tr("&Add"), self.tr("Add a server"), does=self._add)
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the server"), does=self._remove)
        self.trouble = StatusLine(self.tr("What is wrong with the list"), self)
        self.form = ServerForm(self)
        self.test_button = self.button(self.tr("&Test"), self.tr("Test the server"), does=self._test)
        self.test_button.setToolTip(
            self.tr("Starts or requests it, and ends it again. The first time, that may take a minute.")
        )
        self.stop_button = self.button(self.tr("S&top"), self.tr("Stop testing"), does=self._stop)
        self.answer = StatusLine(self.tr("Result of the test, or what can't be saved"), self)
        self.save_button = self.button(self.tr("&Save"), does=self._save)
        self.close_button = self.button(self.tr("Cancel"), does=self.close)
        self._lay_out()
        self._connect()
        self._show_form()

    def open_refreshed(self) -> None:
        """Opens the dialog and loads the list in the background. If it is already open, only brings it to the front."""
        if not self.isVisible():
            self._show_list(ServerList(), whole=False)
            self._background.run(self, READ, self._service.servers, self._on_read, self._on_unread)
        self.appear()
        self.servers.setFocus()

    # -- the list

    def _on_read(self, found: ServerList) -> None:
        self._show_list(found, whole=not found.trouble)
        if self._whole:
            self.listed.emit(found.usable, {})

    def _on_unread(self, sentence: str) -> None:
        self._on_read(ServerList(trouble=sentence))

    def _show_list(self, found: ServerList, *, whole: bool) -> None:
        self._saved = {server.kept: server for server in found.entries}
        self._drafts = list(found.entries)
        self._whole = whole
        again = self.tr("Then open this dialog again.")
        self.trouble.say(f"{found.trouble} {again}" if found.trouble else "")
        self._filling = True
        self.servers.clear()
        self.servers.addItems([self._title(draft) for draft in self._drafts])
        self._filling = False
        self.servers.setCurrentRow(0 if self._drafts else -1)
        self._turn_to()

    def _add(self) -> None:
        self._drafts.append(ServerEntry(""))
        self.servers.addItem(self._title(self._drafts[-1]))
        self.servers.setCurrentRow(len(self._drafts) - 1)
        self.form.name.setFocus()

    def _remove(self) -> None:
        place = self.servers.currentRow()
        if place >= 0:
            del self._drafts[place]
            self._filling = True
            self.servers.takeItem(place)
            self._filling = False
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
        place = self.servers.currentRow()
        return self._drafts[place] if 0 <= place < len(self._drafts) else None

    def _turn_to(self) -> None:
        """Shows the selected server in the form."""
        if self._filling:
            return
        self._stop_test()
        self._say("")
        if (draft := self._draft) is not None:
            self.form.show_server(draft)
        self._show_form()

    def _show_form(self) -> None:
        draft = self._draft
        self.add_button.setEnabled(self._whole)
        self.save_button.setEnabled(self._whole and not self._background.busy(SAVE))
        self.remove_button.setEnabled(self._whole and draft is not None)
        for part in (self.form, self.heading_of_form):
            part.setVisible(draft is not None)
        if draft is not None:
            self.form.show_note(self._note(draft), fixed_arguments=self._fixed(draft))
        testing = self._background.busy(TEST)
        self.test_button.setVisible(draft is not None and not testing)
        self.stop_button.setVisible(draft is not None and testing)
        self.fit()

    def _fixed(self, draft: ServerEntry) -> bool:
        """Returns whether the arguments are read-only because they can't be represented as one per line."""
        saved = self._saved.get(draft.kept)
        return saved is not None and draft.args == saved.args and split_arguments("\n".join(saved.args)) != saved.args

    def _note(self, draft: ServerEntry) -> str:
        notes = [draft.trouble] if draft.trouble else []
        if draft.off:
            notes.append(self.tr("It is switched off in the list's file (“disabled”), and stays so."))
        if draft.variables:
            words = self.tr("Its variables in the list's file stay as they are: {0}.")
            notes.append(words.format(", ".join(draft.variables)))
        if self._fixed(draft):
            notes.append(self.tr("Its arguments hold empty lines or line breaks: change them in the list's file."))
        return " ".join(notes)

    def _edited(self) -> None:
        if (draft := self._draft) is None:
            return
        place = self.servers.currentRow()
        self._drafts[place] = self.form.read(draft)
        self.servers.item(place).setText(self._title(self._drafts[place]))
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
        self._background.run(self, TEST, lambda: self._service.test(draft), self._works, self._tested)
        self._say(self.tr("Testing “{0}” …").format(draft.name))
        self._show_form()
        self.stop_button.setFocus()

    def _works(self, found: tuple[str, tuple[str, ...]]) -> None:
        sentence, tools = found
        self.form.consent.show_tools(tools)
        self._tested(sentence)

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
        self._background.cancel(TEST)

    # -- saving

    def _save(self) -> None:
        if not self._whole or self._background.busy(SAVE):
            return
        changed = [draft for draft in self._drafts if draft != self._saved.get(draft.kept)]
        others = [draft.name for draft in self._drafts if draft not in changed]
        if wrong := self._service.wrong(changed, others):
            place, sentence = wrong
            self.servers.setCurrentRow(next(row for row, one in enumerate(self._drafts) if one is changed[place]))
            self._say(sentence)
            return
        kept = {draft.kept for draft in self._drafts}
        removed = [name for name in self._saved if name not in kept]
        moved = {name: "" for name in removed}
        moved |= {draft.kept: draft.name for draft in changed if draft.kept}
        if not changed and not removed:
            self.close()
            return
        self._background.run(
            self,
            SAVE,
            lambda: self._service.keep(changed, removed),
            lambda found: self._on_saved(found, moved),
            self._tested,
        )
        self._show_form()

    def _on_saved(self, found: ServerList, moved: dict[str, str]) -> None:
        self.listed.emit(found.usable, moved)
        self.close()

    def _say(self, sentence: str) -> None:
        self.answer.say(sentence)
        self.fit()

    # -- building

    def _lay_out(self) -> None:
        lead = self.tr("Programs and addresses that offer tools (MCP). They run only in a conversation that uses them.")
        self.column.addWidget(Quiet(lead, self))
        buttons = column(self.add_button, self.remove_button, None)
        add_items(self.column, row(self.servers, buttons, stretch=0), self.trouble)
        self.heading_of_form = self.heading(self.tr("The server"))
        add_items(self.column, self.form, row(self.test_button, self.stop_button, None), self.answer, None)
        self.foot(self.save_button, self.close_button)

    def _connect(self) -> None:
        self.servers.currentRowChanged.connect(lambda _: self._turn_to())
        self.form.edited.connect(self._edited)
        self.left.connect(self._stop_test)
