"""The first run's page for the front-end: cards to choose from, those that don't fit with the reason.

Knows what fits only by the records that it is shown; downloads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QWidget

from app.gui.first_run.parts import ChoiceCard, Page
from app.gui.widgets.pick_list import PickList
from app.services.machine_service import FrontEndFit, MachineView

ALWAYS = "cascade"
"""The front-end that runs anywhere, and has nothing to download."""


class VoiceCard(ChoiceCard):
    """One front-end. `fits`: what is known of it, a row for each precision; `precision` the one that is picked."""

    picked = Signal()

    def __init__(self, key: str, title: str, words: str, parent: QWidget) -> None:
        super().__init__(title, words, parent)
        self.key = key
        self._fits: tuple[FrontEndFit, ...] = ()
        self._failed = False
        self.precision = PickList(self)
        self.precision.setAccessibleName(self.tr("Precision of {0}").format(title))
        self._label = QLabel(self.tr("Precision"), self)
        self._label.setBuddy(self.precision)
        row = QHBoxLayout()
        row.addWidget(self._label)
        row.addWidget(self.precision)
        row.addStretch(1)
        self.body.addLayout(row)
        self.precision.activated.connect(self._pick)
        self.button.toggled.connect(lambda _: self._show())
        self._show()

    @property
    def fit(self) -> FrontEndFit | None:
        """What is known of it in the precision that is picked."""
        wanted = self.precision.currentData() or ""
        return next((fit for fit in self._fits if fit.precision == wanted), None)

    def show_failed(self) -> None:
        """It will not be known whether it fits, unless the user looks again."""
        self._failed = True
        self._show()

    def show_fits(self, fits: Sequence[FrontEndFit], precision: str = "") -> None:
        """Offers these, with `precision` picked if it fits, else the best one that does."""
        self._fits, self._failed = tuple(fits), False
        possible = [fit.precision for fit in fits if fit.fits]
        chosen = precision if precision in possible else next(iter(possible), "")
        notes = {
            "bf16": self.tr("bf16 (best)"),
            "int8": self.tr("int8 (half the memory)"),
            "int4": self.tr("int4 (least memory)"),
        }
        with QSignalBlocker(self.precision):
            self.precision.clear()
            for place, fit in enumerate(fit for fit in fits if fit.precision):
                self.precision.addItem(notes.get(fit.precision, fit.precision), fit.precision)
                model = self.precision.model()
                if not fit.fits and isinstance(model, QStandardItemModel):
                    model.item(place).setEnabled(False)
                    model.item(place).setToolTip(fit.sentence)
            self.precision.setCurrentIndex(max(0, self.precision.findData(chosen)))
        self._show()

    def _pick(self) -> None:
        self._show()
        self.picked.emit()

    def _show(self) -> None:
        possible = any(fit.fits for fit in self._fits) or self.key == ALWAYS
        fit = self.fit or next(iter(self._fits), None)
        words = ""
        if self.key != ALWAYS:
            words = fit.sentence if fit is not None else self.tr("Still looking at this machine …")
            if fit is None and self._failed:
                words = self.tr("This machine could not be looked at. Go back and look again.")
        several = possible and self.button.isChecked() and self.precision.count() > 1
        self._label.setVisible(several)
        self.precision.setVisible(several)
        self.explain(words, possible)


class VoicePage(Page):
    """`changed` when the user chooses another front-end or precision."""

    changed = Signal()

    def __init__(self, frontends: Sequence[tuple[str, str]], parent: QWidget) -> None:
        self.title = self.tr("The voice")
        self.words = self.tr("What hears you and speaks. You can change it at any time above the talk.")
        super().__init__(parent)
        known = {
            ALWAYS: (
                self.tr("Embedded voice"),
                self.tr("Reads the brain's answer aloud, on any machine. It is here already."),
            ),
            "kame": (
                self.tr("KAME"),
                self.tr("Speaks at once, while the brain still thinks, and takes up its thoughts as they come."),
            ),
            "moshi": (self.tr("Moshi"), self.tr("Talks by itself, without a brain: quick, and knows little.")),
        }
        self._group = QButtonGroup(self)
        self.cards: dict[str, VoiceCard] = {}
        self.touched = self._kept = False
        self._precision = ""
        for key, label in frontends:
            title, words = known.get(key, (label, ""))
            card = self.cards[key] = VoiceCard(key, title, words, self)
            self._group.addButton(card.button)
            self.column.addWidget(card)
            card.button.clicked.connect(self._touch)
            card.button.clicked.connect(partial(self._choose_card, card))
            card.picked.connect(self._touch)
        self.column.addStretch(1)
        self._choose(ALWAYS)

    @property
    def key(self) -> str:
        """The front-end that is chosen."""
        return next((key for key, card in self.cards.items() if card.button.isChecked()), ALWAYS)

    @property
    def precision(self) -> str:
        """Its precision; empty where it has none."""
        fit = self.cards[self.key].fit
        return fit.precision if fit is not None else ""

    @property
    def name(self) -> str:
        """What is chosen, for people."""
        title = self.cards[self.key].button.text()
        return self.tr("{0} in {1}").format(title, self.precision) if self.precision else title

    def begin(self, key: str, precision: str, *, keep: bool = False) -> None:
        """Has what is in force chosen, to be kept if `keep`; forgets what the user did here before."""
        self.touched, self._kept, self._precision = False, keep, precision
        for card in self.cards.values():
            card.show_fits(())
            card.recommend(False)
        self._choose(key)

    def show_no_machine(self) -> None:
        """The machine could not be looked at."""
        for card in self.cards.values():
            card.show_failed()

    def show_machine(self, view: MachineView) -> None:
        """Shows what fits; chooses what fits best, unless something else was chosen or is to be kept."""
        chosen, precision = self.key, self.precision or self._precision
        if not self.touched and not self._kept:
            chosen, precision = view.frontend, view.precision
        for key, card in self.cards.items():
            card.show_fits(view.fits_of(key), precision if key == chosen else "")
            card.recommend(key == view.frontend)
        card = self.cards.get(chosen)
        if card is None or not (card.button.isEnabled() or self._kept):
            chosen = ALWAYS
        self._choose(chosen)
        self.changed.emit()

    def _choose(self, key: str) -> None:
        (self.cards.get(key) or next(iter(self.cards.values()))).button.setChecked(True)

    def arrive(self) -> QWidget | None:
        """See `Page.arrive`."""
        button = self.cards[self.key].button
        return button if button.isEnabled() else None

    def _choose_card(self, card: VoiceCard) -> None:
        self.chosen.emit(card)

    def _touch(self) -> None:
        self.touched = True
        self.changed.emit()
