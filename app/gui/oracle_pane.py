"""The back-end's thoughts: one card a revision, the newest on top, the superseded ones struck through."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation.events import Event
from app.gui.card import Card, Run
from app.gui.card_view import CardView
from app.gui.oracle_log import OracleLog, Revision


class OraclePane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`, each revision once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CardView(newest_first=True, parent=self)
        self.view.setAccessibleName(self.tr("Oracle revisions"))
        self.view.empty_text = self.tr("What the brain thinks, while you still talk, appears here.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.log = OracleLog()
        self._shown: list[Revision] = []
        self._changed: dict[int, Revision] = {}

    def begin(self) -> None:
        """A new talk begins, and its revisions count from 1 again."""
        self.end()

    def end(self) -> None:
        """The talk is over: nothing is under way any more."""
        self._note(self.log.begin())
        self.settle()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        self._note(self.log.apply(event))

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        if not self._changed:
            return
        stay, height = self.view.at_newest(), self.view.document().size().height()
        known = {id(revision) for revision in self._shown}
        new = [revision for revision in self.log.revisions if id(revision) not in known]
        for revision in reversed(new):
            self._shown.insert(0, revision)
            self.view.insert_card(0, self._card(revision))
            self._changed.pop(id(revision), None)
        while len(self._shown) > len(self.log.revisions):
            self._shown.pop()
            self.view.remove_card(len(self._shown))
        places = {id(revision): place for place, revision in enumerate(self._shown)}
        for key, revision in self._changed.items():
            if key in places:
                self.view.set_card(places[key], self._card(revision))
        self._changed.clear()
        self.view.keep_view(stay, height)

    def _note(self, revisions: list[Revision]) -> None:
        for revision in revisions:
            self._changed[id(revision)] = revision

    def _card(self, revision: Revision) -> Card:
        gone = revision.status in ("superseded", "failed")
        head = [(f"{revision.number}   ", "dim" if gone and not revision.speaking else "name")]
        mark = self._mark(revision)
        if mark:
            head.append(mark)
        facts = [revision.model or revision.backend]
        if revision.model and revision.backend:
            facts[0] += f" ({revision.backend})"
        facts.append(self._basis(revision))
        if revision.first_word_seconds is not None:
            facts.append(self.tr("first word after {0} s").format(f"{revision.first_word_seconds:.2f}"))
            one = revision.words == 1
            facts.append(self.tr("1 word") if one else self.tr("{0} words").format(revision.words))
        head.append((" · ".join(facts), "dim"))
        text = revision.text.strip()
        body: tuple[Run, ...] = ((text, "struck" if gone else "text"),)
        if not text:
            body = (("…" if revision.status == "waiting" else self.tr("(no words)"), "aside"),)
        return Card(tuple(head), body, "live" if revision.speaking else "plain")

    def _basis(self, revision: Revision) -> str:
        if revision.final:
            return self.tr("complete turn")
        if revision.asked_words == 1:
            return self.tr("on 1 word")
        return self.tr("on {0} words").format(revision.asked_words)

    def _mark(self, revision: Revision) -> Run | None:
        if revision.speaking:
            return (self.tr("speaking") + "   ", "mark")
        match revision.status:
            case "superseded":
                if revision.by:
                    return (self.tr("superseded by {0}").format(revision.by) + "   ", "dim")
                return (self.tr("superseded") + "   ", "dim")
            case "failed":
                return (self.tr("failed") + "   ", "bad")
            case "stopped":
                return (self.tr("stopped") + "   ", "dim")
            case "waiting":
                return (self.tr("asked") + "   ", "dim")
        return (self.tr("spoken") + "   ", "dim") if revision.spoken else None
