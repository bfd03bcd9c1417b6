"""Creates the cards of turns, of notes about back-end changes, and of an answer before it is spoken."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.conversation.record.heard_part import HeardPart
from app.conversation.record.record import Entry, Note
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.cards.card import LINE_BREAK, Card, Run
from app.gui.cards.links import INNER
from app.gui.design.model_look import model_name, model_style, model_words
from app.gui.oracle.card import readable
from app.gui.widgets.formats import decimal

THOUGHTS = f"{INNER}thoughts"
"""The URL of the link to the thoughts behind a response. All responses share it, because the view caches one text
format per URL.
"""
EARLIER, LATER = f"{INNER}earlier", f"{INNER}later"
"""The URLs of the links to the other versions of an edited question."""
WORDS_SHOWN = 4
"""How many of the user's last words are shown with a thought."""
LONGEST_GHOST = 160
"""Maximum number of characters of an unspoken answer that are shown."""
LEAST_AHEAD = 0.1
"""Seconds that are worth telling."""
WORTH_TELLING = 2
"""How many changes of mind are."""


def is_shown(entry: Entry) -> bool:
    """Returns whether an entry has a card: a turn of the user's has one once it has words."""
    return isinstance(entry, Note) or entry.speaker == "assistant" or bool(entry.text)


class TranscriptCards(QObject):
    """Creates the cards for turns and notes, with their text in the user's language."""

    def card(
        self, entry: Entry, rest: str = "", revision: Revision | None = None, versions: tuple[int, int] = (1, 1)
    ) -> Card:
        """Returns the card for a turn or a note.

        - `rest`: what is still to be spoken of an answer that is being spoken, according to `revision`.
        - `versions`: which version of the user's turn it is, and how many there are.
        """
        if isinstance(entry, Note):
            return divider(self._note(entry))
        return self._user(entry, *versions) if entry.speaker == "user" else self._assistant(entry, rest, revision)

    def ghost(self, revision: Revision) -> Card:
        """Returns the card of an answer before it is spoken, in its model's colour; dimmed once it is superseded."""
        style = model_style(revision.backend, revision.model)
        kind = "still" if revision.status == "superseded" else f"ghost|{style}"
        name = model_name(revision.backend, revision.model)
        head: tuple[Run, ...] = ((self.tr("KAME"), "name"), (f"   {name}", f"dim|{style}"))
        return Card(head, ((shortened_answer(revision.text), kind),), "assistant")

    def film(self, revision: Revision, number: int, of: int) -> Card:
        """Returns the card that stands for an answer while the thoughts before it are shown one after the other."""
        style = model_style(revision.backend, revision.model)
        asked = self.tr("after “… {0}”").format(" ".join(revision.asked.split()[-WORDS_SHOWN:]))
        head: tuple[Run, ...] = ((self.tr("KAME"), "name"), (f"   {number}/{of}   {asked}", "dim"))
        return Card(head, ((shortened_answer(revision.text), f"ghost|{style}"),), "assistant")

    def _note(self, note: Note) -> str:
        forms = {
            "chosen": self.tr("Now answering: {0}"),
            "handed": self.tr("Switched to {0}"),
            "fallback": self.tr("{0} takes over"),
            "again": self.tr("{0} takes over again"),
            "left_out": self.tr("Earlier turns are too many to be shown here. Export the conversation to read them."),
        }
        return forms[note.reason].format(model_words(note.backend, note.model))

    def _assistant(self, turn: Turn, rest: str, revision: Revision | None) -> Card:
        written = turn.written if turn.marked else ""
        pieces = () if written else turn.pieces
        several = len(turn.backends) > 1  # each model's words are in its colour
        body: list[Run] = []
        part: HeardPart | None = None
        for passage, source in pieces:
            revision_of = source.revision if source is not None else None
            kind = "struck" if passage.withdrawn else "text"
            if several and revision_of is not None and not passage.withdrawn:
                style = model_style(revision_of.backend, revision_of.model)
                kind = f"text|{style}"
                if source is not None and source is not part and source.took is not None:
                    words = self.tr("{0} took over after {1} s")
                    words = words.format(model_name("", revision_of.model), decimal(source.took, 1))
                    body.append((f"{LINE_BREAK if body else ''}▸ {words}{LINE_BREAK}", f"dim|{style}"))
                part = source
            body.append((passage.text.lstrip() if body and body[-1][0].endswith(LINE_BREAK) else passage.text, kind))
        if rest and revision is not None and not written:
            body.append((f" {rest}" if body else rest, f"ghost|{model_style(revision.backend, revision.model)}"))
        if not written and not body:
            body = [("" if turn.interrupted or not turn.open else "…", "text")]
        if turn.interrupted:
            body.append((self.tr("   interrupted"), "bad"))
        if not turn.open and (words := self._insight(turn)):
            body.append((f"{'' if written else LINE_BREAK}{words}", f"dim@{THOUGHTS}"))
        return Card(tuple(self._who(turn)), tuple(body), "assistant", written=written)

    def _who(self, turn: Turn) -> list[Run]:
        """Returns the head of an answer: the models whose words it has, each in its colour."""
        known = [part.revision for part in turn.parts if part.revision is not None]
        ids = {one.model or one.backend: (one.backend, one.model) for one in known}
        head: list[Run] = [(self.tr("KAME"), "name")]
        for place, name in enumerate(turn.backends):
            head.append((" → " if place else "   ", "dim"))
            style = f"dim|{model_style(*ids[name])}" if name in ids else "dim"
            head.append((model_name("", name), style))
        return head

    def _insight(self, turn: Turn) -> str:
        """Returns what is worth knowing about how an answer came about."""
        parts = []
        if turn.ahead >= LEAST_AHEAD:
            parts.append(self.tr("knew it {0} s before you finished").format(decimal(turn.ahead, 1)))
        if turn.changes >= WORTH_TELLING:
            parts.append(self.tr("changed its mind {0} times").format(turn.changes))
        if not parts and turn.revisions > 1:
            parts.append(self.tr("show its thoughts"))
        return " · ".join(parts)

    def _user(self, turn: Turn, number: int, of: int) -> Card:
        if turn.backchannel:
            return Card(((self.tr("You, in passing"), "dim"),), ((turn.text, "hint"),), "user")
        head: list[Run] = [(self.tr("You"), "dim")]
        if turn.typed:
            head.append((self.tr("   typed"), "dim"))
        if of > 1:
            before = [(self.tr("◂ before"), f"dim@{EARLIER}"), ("   ", "dim")] if number > 1 else []
            after = [("   ", "dim"), (self.tr("after ▸"), f"dim@{LATER}")] if number < of else []
            head += [("   ", "dim"), *before, (f"{number}/{of}", "dim"), *after]
        space = " " if turn.stable and turn.unstable else ""
        runs: list[Run] = [(turn.stable + space, "text"), (turn.unstable, "unstable")]
        return Card(tuple(head), tuple(run for run in runs if run[0]), "user")


def shortened_answer(text: str) -> str:
    """Returns the beginning of an answer on one line, without Markdown's markers."""
    flat = " ".join(readable(text).replace("\u2060", "").split())
    if len(flat) <= LONGEST_GHOST:
        return flat
    return flat[:LONGEST_GHOST].rsplit(None, 1)[0] + " …"


def divider(text: str) -> Card:
    """Returns the card for a divider line with centred text."""
    return Card(((text, "dim"),), (), "divider")
