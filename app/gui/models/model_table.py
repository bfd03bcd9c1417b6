"""The table of models by kind, in which one model, or one of its voices, is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app.services.model_service import ModelKind, ModelView, VoiceView

KEY = Qt.ItemDataRole.UserRole
VOICE = Qt.ItemDataRole.UserRole + 1
USABLE_KINDS: tuple[ModelKind, ...] = ("llm", "stt", "tts")
"""Kinds of which the user chooses one here; front-ends are chosen above the conversation."""


class ModelTable(QTreeWidget):
    """A row for each model under the title of its kind, and below it a row for each of its voices."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.views: dict[str, ModelView] = {}
        self.setAccessibleName(self.tr("Models"))
        self.setHeaderLabels(
            [
                self.tr("Model"),
                self.tr("Languages"),
                self.tr("Size"),
                self.tr("State"),
                self.tr("Speed here"),
                self.tr("Facts"),
                self.tr("Licence"),
            ]
        )
        self.setRootIsDecorated(False)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def show_models(self, views: Sequence[ModelView], used: Mapping[str, str]) -> None:
        """Fills the table; the chosen row stays chosen. `used`: the models in the settings, by kind."""
        chosen, voice = self.chosen, self.chosen_voice
        self.views = {view.key: view for view in views}
        titles: dict[ModelKind, str] = {
            "llm": self.tr("Language models"),
            "stt": self.tr("Speech recognition"),
            "tts": self.tr("Voices"),
            "endpointing": self.tr("End of turn"),
            "frontend": self.tr("Front-ends for a graphics card"),
        }
        self.clear()
        for kind, title in titles.items():
            group = QTreeWidgetItem([title])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = group.font(0)
            font.setWeight(QFont.Weight.DemiBold)
            group.setFont(0, font)
            self.addTopLevelItem(group)
            for view in views:
                if view.kind == kind:
                    self._add(group, view, used.get(kind, ""))
            group.setFirstColumnSpanned(True)
            group.setExpanded(True)
        if chosen is not None:
            self._choose(chosen.key, voice)

    @property
    def chosen(self) -> ModelView | None:
        """The chosen model, or that of the chosen voice."""
        item = self.currentItem()
        return self.views.get(item.data(0, KEY)) if item is not None else None

    @property
    def chosen_voice(self) -> str:
        """The key of the chosen voice; empty if a model's own row is chosen."""
        item = self.currentItem()
        return str(item.data(0, VOICE) or "") if item is not None else ""

    @property
    def chosen_name(self) -> str:
        """What the chosen row is called."""
        item = self.currentItem()
        return item.text(0) if item is not None else ""

    def _choose(self, key: str, voice: str) -> None:
        for item in self._model_items():
            if item.data(0, KEY) == key and str(item.data(0, VOICE) or "") in ("", voice):
                self.setCurrentItem(item)

    def _model_items(self) -> Iterator[QTreeWidgetItem]:
        """The rows of models, each followed by those of its voices."""
        for group in _children(self.invisibleRootItem()):
            for model in _children(group):
                yield model
                yield from _children(model)

    def _add(self, group: QTreeWidgetItem, view: ModelView, used: str) -> None:
        model = used.partition("/")[0] if view.kind == "tts" else used
        is_default = not used and view.default and view.kind in USABLE_KINDS
        states = {
            "here": self.tr("here"),
            "installed": self.tr("here, with the app"),
            "incomplete": self.tr("partly here"),
            "absent": "",
        }
        in_use = view.usable and (view.key == model or is_default)
        state = self.tr("in use") if in_use else states[view.state]
        languages = self.tr("many") if "*" in view.languages else " ".join(view.languages)
        facts = self.tr("{0} of 120").format(view.right) if view.right else ""
        size = self.tr("{0} GB").format(f"{view.bytes / 1e9:.2f}")
        item = QTreeWidgetItem(group, [view.label, languages, size, state, view.speed, facts, view.licence])
        item.setData(0, KEY, view.key)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for voice in view.voices:
            self._add_voice(item, voice, view.key, in_use=view.usable and voice.key == used)

    def _add_voice(self, model: QTreeWidgetItem, voice: VoiceView, key: str, *, in_use: bool) -> None:
        item = QTreeWidgetItem(model, [voice.label, voice.language, "", self.tr("in use") if in_use else ""])
        item.setData(0, KEY, key)
        item.setData(0, VOICE, voice.key)


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for place in range(item.childCount()):
        if (child := item.child(place)) is not None:
            yield child
