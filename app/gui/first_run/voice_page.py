"""The first run's page “The voice”: a card for each front-end; those that don't fit say why."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import set_tip
from app.gui.first_run.cards.choice_card import ChoiceCard
from app.gui.first_run.page import ChoicePage
from app.gui.widgets.form import label_of, row
from app.gui.widgets.pick_list import PickList
from app.services.machine_service import FrontEndFit, MachineView

ALWAYS = "cascade"
"""The front-end that runs on any machine, and has nothing to download."""


class VoiceCard(ChoiceCard):
    """One front-end, with its precision where it has several. `picked` when the user picks another precision."""

    picked = Signal()

    def __init__(self, key: str, title: str, words: str, parent: QWidget) -> None:
        super().__init__(title, words, parent)
        self.key = key
        self._fits: tuple[FrontEndFit, ...] = ()
        self._failed = False
        self.precision = PickList(self)
        self.precision.setAccessibleName(self.tr("Precision of {0}").format(title))
        self._label = label_of(self.precision, self.tr("Precision"), self)
        self.body.addLayout(row(self._label, self.precision, None))
        self.precision.activated.connect(self._pick)
        self.button.toggled.connect(lambda _: self._show())
        self._show()

    @property
    def fit(self) -> FrontEndFit | None:
        """Whether it fits in the picked precision; None before that is known."""
        precision = self.precision.currentData() or ""
        return next((fit for fit in self._fits if fit.precision == precision), None)

    def show_failed(self) -> None:
        """The machine could not be checked."""
        self._failed = True
        self._show()

    def show_fits(self, fits: Sequence[FrontEndFit], precision: str = "") -> None:
        """Offers these precisions, with `precision` picked if it fits, else the best one that does."""
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
                    set_tip(model.item(place), fit.sentence)
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
            words = fit.sentence if fit is not None else self.tr("Still checking this machine …")
            if fit is None and self._failed:
                words = self.tr("This machine could not be checked. Go back and check again.")
        several = possible and self.button.isChecked() and self.precision.count() > 1
        self._label.setVisible(several)
        self.precision.setVisible(several)
        self.explain(words, possible)


class VoicePage(ChoicePage):
    """`changed` when the user chooses another front-end or precision."""

    changed = Signal()

    def __init__(self, frontends: Sequence[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(
            self.tr("The voice"),
            self.tr("What listens and speaks. You can change it at any time above the conversation."),
            parent,
        )
        known = {
            ALWAYS: (
                self.tr("Embedded voice"),
                self.tr("Reads the model's answer aloud, on any machine. It is here already."),
            ),
            "kame": (
                self.tr("KAME"),
                self.tr("Speaks at once, and takes up the model's answer while it is still being worked out."),
            ),
            "moshi": (self.tr("Moshi"), self.tr("Talks by itself, without a language model: quick, but knows little.")),
            "nano": (
                self.tr("Nano KAME"),
                self.tr("An experiment: KAME's design, small enough for a processor. It garbles most answers."),
            ),
        }
        self.cards: dict[str, VoiceCard] = {}
        self._precision = ""
        for key, _ in frontends:
            if key not in known:
                continue  # a voice server is chosen in the settings, where its address is
            title, words = known[key]
            card = self.cards[key] = VoiceCard(key, title, words, self)
            self.add_card(card)
            card.picked.connect(self.touch)
        self.column.addStretch(1)
        self._choose(ALWAYS)

    @property
    def key(self) -> str:
        return next((key for key, card in self.cards.items() if card.button.isChecked()), ALWAYS)

    @property
    def precision(self) -> str:
        """Its precision; empty where it has none."""
        fit = self.cards[self.key].fit
        return fit.precision if fit is not None else ""

    @property
    def name(self) -> str:
        """The front-end's name for people."""
        title = self.cards[self.key].button.text()
        return self.tr("{0} in {1}").format(title, self.precision) if self.precision else title

    def begin(self, key: str, precision: str, *, keep: bool = False) -> None:
        """Chooses the front-end in force, to be kept if `keep`; forgets what the user did here before."""
        self.touched, self.keeps, self._precision = False, keep, precision
        for card in self.cards.values():
            card.show_fits(())
            card.recommend(False)
        self._choose(key)

    def show_no_machine(self) -> None:
        for card in self.cards.values():
            card.show_failed()

    def show_machine(self, view: MachineView) -> None:
        """Shows what fits; chooses what fits best, unless the user has chosen or the present choice is kept."""
        chosen, precision = self.key, self.precision or self._precision
        if not self.touched and not self.keeps:
            chosen, precision = view.frontend, view.precision
        for key, card in self.cards.items():
            card.show_fits(view.fits_of(key), precision if key == chosen else "")
            card.recommend(key == view.frontend)
        if chosen not in self.cards or not (self.cards[chosen].button.isEnabled() or self.keeps):
            chosen = ALWAYS
        self._choose(chosen)
        self.changed.emit()

    def _choose(self, key: str) -> None:
        (self.cards.get(key) or next(iter(self.cards.values()))).button.setChecked(True)

    def arrive(self) -> QWidget | None:
        button = self.cards[self.key].button
        return button if button.isEnabled() else None

    def touch(self) -> None:
        """Also emits `changed`."""
        super().touch()
        self.changed.emit()
