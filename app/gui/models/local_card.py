"""The card of a model that runs on this machine: what it is, whether it fits, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QLocale, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.gui.design.fonts import embolden, set_size
from app.gui.design.icons import IconButton, paint_icon
from app.gui.design.look import Dressed, draw_rounded
from app.gui.design.plain import PlainLabel, named, set_tip
from app.gui.design.sentences import in_window_language
from app.gui.design.theme import tokens
from app.gui.widgets.form import add_items, progress_bar, push_button, row, set_share
from app.gui.widgets.lists import PickList
from app.gui.widgets.panel import Boxed, ElidedLabel, Quiet
from app.gui.widgets.translation import said
from app.services.model_service import ModelView
from app.settings.declarations import declaration

Act = Literal["get", "stop", "use", "auto", "play", "check", "remove"]
"""What the user can do with a model."""
Tone = Literal["accent", "good", "bad", "plain"]
TONE_ICONS: dict[Tone, str] = {"accent": "star", "good": "check", "bad": "triangle-alert", "plain": ""}
SIDE_PX, ICON_PX, VOICE_LETTERS = 8, 12, 14


@dataclass(frozen=True, slots=True)
class CardState:
    """What a card shows.

    - `fits`: whether this machine can run the model; None if that is not known. `reason`: more about that.
    - `used`: the voice or model of this kind in the settings, if it is this one. `in_use`: whether the model is used.
    - `able`: whether the model can be used in conversations as they are set up now, by the key of each voice.
    - `fetching`: whether it is being downloaded. `free`: whether a download can begin. `working`: whether another
      action runs.
    """

    view: ModelView
    fits: bool | None = True
    reason: str = ""
    recommended: bool = False
    used: str = ""
    in_use: bool = False
    able: frozenset[str] = frozenset()
    fetching: bool = False
    free: bool = True
    working: bool = False
    playing: bool = False


class Badge(Dressed, PlainLabel):
    """A word on a rounded background, with an icon according to its tone. Hidden while it has none."""

    dressed_by = (QEvent.Type.FontChange, QEvent.Type.PaletteChange)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self.tone: Tone = "plain"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.hide()
        self._dress()

    def show_word(self, word: str, tone: Tone, tip: str = "") -> None:
        """Shows a word, with a tooltip; hides the badge if it is empty."""
        self.tone = tone
        self.say(word)
        set_tip(self, in_window_language(tip), wrap=True)
        self._dress()
        self.update()

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(size.width() + 2, size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        ink = {"accent": t.accent_text, "good": t.good, "bad": t.bad, "plain": t.text}[self.tone]
        fill = t.accent_soft if self.tone == "accent" else t.sunken
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            edge = QColor(t.line) if t.scheme == "contrast" else None
            draw_rounded(painter, self.rect(), self.height() / 2, inset=0.5, fill=QColor(fill), edge=edge)
            if name := TONE_ICONS[self.tone]:
                box = self.rect().adjusted(SIDE_PX, 0, 0, 0).toRectF()
                box.setTop(box.center().y() - ICON_PX / 2)
                box.setSize(QSize(ICON_PX, ICON_PX).toSizeF())
                paint_icon(painter, name, QColor(ink), box)
        super().paintEvent(event)

    def _dress(self) -> None:
        left = SIDE_PX + (ICON_PX + 4 if TONE_ICONS[self.tone] else 0)
        self.setContentsMargins(left, 2, SIDE_PX, 2)
        set_size(self, "caption")


class LocalCard(Boxed):
    """The card of one model. The main button downloads it, stops that, or uses it; the rest is in a menu.

    `plays`: whether samples of voices can be played.
    """

    wanted = Signal(str, str, str)
    """Emits what the user wants to do (an `Act`), the model's key, and the key of the chosen voice or of the model."""

    def __init__(self, view: ModelView, parent: QWidget, *, plays: bool) -> None:
        super().__init__(parent)
        self.state = CardState(view)
        self._act: Act = "get"
        label = view.label
        self.name = ElidedLabel(label, self)
        embolden(self.name)
        set_tip(self.name, label)
        self.recommended, self.use, self.fits, self.pace = (Badge(self) for _ in range(4))
        self.facts = Quiet(parent=self, name=self.tr("About {0}").format(label))
        self.note = Quiet(parent=self, name=self.tr("Note on {0}").format(label))
        self.bar = progress_bar(self.tr("Download of {0}").format(label), self, slim=True)
        self.progress = Quiet(parent=self, name=self.tr("State of the download"))
        self.voices = named(PickList(self), self.tr("Voice of {0}").format(label))
        self.voices.setSizeAdjustPolicy(PickList.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.voices.setMinimumContentsLength(VOICE_LETTERS)
        self.play_button = push_button(
            self.tr("Play"), self.tr("Play a sample of {0}").format(label), self, lambda: self._want("play")
        )
        self._plays = plays and view.kind == "tts"
        self.button = push_button("", "", self, lambda: self._want(self._act))
        self.more = IconButton("ellipsis", self.tr("More about {0}").format(label), self, self._open_menu)
        policy = self.more.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.more.setSizePolicy(policy)
        self.menu = QMenu(self)
        self.auto = self._action(self.tr("&Let the app choose"), "auto")
        self.check = self._action(self.tr("&Check the files"), "check")
        self.remove = self._action(self.tr("&Remove from this machine"), "remove")
        head = row(self.name, self.recommended, self.use, None, self.button, self.more)
        facts, voices = row(self.fits, self.pace, (self.facts, 1)), row(self.voices, self.play_button, None)
        add_items(self.column, head, facts, self.note, voices, self.progress, self.bar)
        self.voices.activated.connect(lambda _: self.show_state(self.state))

    @property
    def voice(self) -> str:
        """The key of the voice that is chosen on the card, or that of the model if it has no choice of voices."""
        return self.voices.currentData() or self.state.view.key

    @property
    def voice_name(self) -> str:
        """The name of the chosen voice or of the model."""
        view, voice = self.state.view, self.voice
        return next((one.label for one in view.voices if one.key == voice), view.label)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls, in the order in which Tab reaches them."""
        return self.button, self.more, self.voices, self.play_button

    def take_focus(self) -> None:
        """Gives the focus to the main button or, if it can't take it, to the next control."""
        usable = [one for one in self.controls if not one.isHidden() and one.isEnabled()]
        for control in usable[:1]:
            control.setFocus(Qt.FocusReason.TabFocusReason)

    def show_state(self, state: CardState) -> None:
        """Shows the model in this state."""
        chosen = state.used if state.used != self.state.used else self.voice
        self.state, view = state, state.view
        self._show_voices(chosen)
        self.recommended.show_word(self.tr("Recommended") if state.recommended else "", "accent")
        words = {"installed": self.tr("Came with the app"), "here": self.tr("On this machine")}
        words["incomplete"] = self.tr("Partly here")
        self.use.show_word(self.tr("In use") if state.in_use else words.get(view.state, ""), "plain")
        self._show_fit()
        self.facts.setText(" · ".join(self._facts()))
        note = said(view.note)
        note = f"{note[:1].upper()}{note[1:]}." if note else ""
        self.note.say(" ".join(filter(None, (note, state.reason))))
        self.bar.setVisible(state.fetching)
        self.progress.setVisible(state.fetching)
        self._show_actions()
        parts = (view.label, self.recommended, self.use, self.fits, self.pace, self.facts)
        about = ", ".join(filter(None, (one if isinstance(one, str) else one.text() for one in parts)))
        self.setAccessibleName(about)
        self.button.setAccessibleDescription(about)

    def show_progress(self, words: str, share: float) -> None:
        """Shows how far the download is."""
        set_share(self.bar, share)
        self.progress.setText(in_window_language(words))

    def mark(self, chosen: bool) -> None:
        """Draws the card in the accent colour if it is the `chosen` one."""
        self.live = chosen
        self.update()

    def _show_fit(self) -> None:
        state, view = self.state, self.state.view
        if state.fits is None:
            self.fits.show_word(self.tr("Needs a graphics card"), "plain", self.tr("“Check this machine” tells more."))
        elif not state.fits:
            self.fits.show_word(self.tr("Does not fit"), "bad", state.reason)
        elif view.pace in ("instant", "quick") or view.kind == "frontend":
            self.fits.show_word(self.tr("Fits this machine"), "good")
        else:
            tip = self.tr("How fast it is here is not known to be enough.")
            self.fits.show_word(self.tr("Fits in memory"), "good", tip)
        paces = {"instant": self.tr("Instant"), "quick": self.tr("Quick"), "slow": self.tr("Slow"), "": ""}
        basis = self.tr("Estimated from another model: {0}") if view.estimated else self.tr("Measured here: {0}")
        self.pace.show_word(paces[view.pace], "plain", basis.format(view.speed))

    def _facts(self) -> Sequence[str]:
        view = self.state.view
        size = self.tr("{0} GB").format(f"{view.bytes / 1e9:.1f}")
        if view.bytes < 1e8:
            size = self.tr("{0} MB").format(round(view.bytes / 1e6))
        names = declaration("language").words
        languages = self.tr("many languages")
        if "*" not in view.languages:
            languages = ", ".join(said(names[code]) if code in names else _language(code) for code in view.languages)
        right = self.tr("{0} of 120 facts right").format(view.right) if view.right else ""
        return [fact for fact in (size, languages, right, view.licence) if fact]

    def _show_voices(self, chosen: str) -> None:
        view, names = self.state.view, declaration("language").words
        self.voices.setVisible(bool(view.voices))
        if self.voices.count() != len(view.voices):
            with QSignalBlocker(self.voices):
                self.voices.clear()
                for voice in view.voices:
                    language = said(names.get(voice.language, "")) or _language(voice.language)
                    self.voices.addItem(f"{voice.label} ({language})", voice.key)
            chosen = self.state.used or next((voice.key for voice in view.voices if voice.key in self.state.able), "")
        self.voices.setCurrentIndex(max(0, self.voices.findData(chosen)) if view.voices else -1)

    def _show_actions(self) -> None:
        state, view = self.state, self.state.view
        label = view.label
        texts: dict[Act, tuple[str, str]] = {
            "get": (self.tr("Download"), self.tr("Download {0}").format(label)),
            "stop": (self.tr("Cancel"), self.tr("Cancel the download of {0}").format(label)),
            "use": (self.tr("Use"), self.tr("Use {0}").format(label)),
        }
        self._act = "stop" if state.fetching else "use" if view.usable else "get"
        text, name = texts[self._act]
        self.button.setProperty("primary", state.recommended and self._act != "stop")
        self.button.style().polish(self.button)
        self.button.setText(text)
        self.button.setAccessibleName(name)
        enabled = {"get": state.free, "stop": True, "use": self.voice in state.able}
        self.button.setEnabled(enabled[self._act])
        already = state.in_use and self.voice in (view.key, state.used)
        self.button.setVisible(self._act != "use" or (bool(state.able) and not already))
        self.play_button.setVisible(self._plays and view.usable)
        self.play_button.setEnabled(not state.playing)
        self.auto.setVisible(bool(state.used))
        self.check.setEnabled(view.usable and not state.working)
        here = view.state in ("here", "incomplete")
        self.remove.setEnabled(here and not state.working and not state.fetching)
        self.more.setVisible(view.state != "absent")

    def _action(self, text: str, act: Act) -> QAction:
        action = self.menu.addAction(text)
        action.triggered.connect(lambda: self._want(act))
        return action

    def _want(self, act: Act) -> None:
        self.wanted.emit(act, self.state.view.key, self.voice)

    def _open_menu(self) -> None:
        self.menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))


def _language(code: str) -> str:
    return QLocale.languageToString(QLocale(code).language())
