"""Makes the cards of the transcript: a turn of either side, or a line between turns."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.conversation.transcript import Turn
from app.gui.cards.card import Card, Run
from app.gui.cards.links import INNER
from app.gui.transcript.entries import Entry, Note

THOUGHTS = f"{INNER}thoughts"
"""The address of the link to the thoughts behind an answer: the same in each, as the view keeps a format for each."""


class TranscriptCards(QObject):
    """Makes cards in the user's language."""

    def card(self, entry: Entry) -> Card:
        """Makes the card of a turn or a note."""
        if isinstance(entry, Note):
            return divider(self._note(entry))
        return self._user(entry) if entry.speaker == "user" else self._assistant(entry)

    def _note(self, note: Note) -> str:
        forms = {
            "chosen": self.tr("Now answering: {0}"),
            "handed": self.tr("Switched to {0}"),
            "fallback": self.tr("{0} takes over"),
            "again": self.tr("{0} takes over again"),
            "left_out": self.tr("Earlier turns are too many to be shown here. Export the conversation to read them."),
        }
        return forms[note.reason].format(note.backend)

    def _assistant(self, turn: Turn) -> Card:
        head: list[Run] = [(self.tr("KAME"), "name")]
        if turn.backends:
            head.append((f"   {' → '.join(turn.backends)}", "dim"))
        if turn.revisions > 1:
            times = turn.revisions - 1
            words = self.tr("revised once") if times == 1 else self.tr("revised {0}×").format(times)
            head += [("   ", "dim"), (words, f"dim@{THOUGHTS}")]
        written = turn.written
        body: list[Run] = []
        if not written:
            body += [(passage.text, "struck" if passage.withdrawn else "text") for passage in turn.passages]
        if not written and not body:
            body = [("" if turn.interrupted or not turn.open else "…", "text")]
        if turn.interrupted:
            body.append((self.tr("   interrupted"), "bad"))
        return Card(tuple(head), tuple(body), "assistant", written=written)

    def _user(self, turn: Turn) -> Card:
        if turn.backchannel:
            return Card(((self.tr("You, in passing"), "dim"),), ((turn.text, "hint"),), "user")
        head: list[Run] = [(self.tr("You"), "dim")]
        if not turn.text:
            words = "…" if turn.open else self.tr("(nothing understood)")
            return Card(tuple(head), ((words, "hint"),), "user")
        if turn.typed:
            head.append((self.tr("   typed"), "dim"))
        space = " " if turn.stable and turn.unstable else ""
        runs: list[Run] = [(turn.stable + space, "text"), (turn.unstable, "unstable")]
        return Card(tuple(head), tuple(run for run in runs if run[0]), "user")


def divider(text: str) -> Card:
    """Makes a line across the view with a text in the middle."""
    return Card(((text, "dim"),), (), "divider")
