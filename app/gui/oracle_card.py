"""A revision as a card: who thought it, on what, how fast, with which tools and for how much."""

from __future__ import annotations

import json

from PySide6.QtCore import QObject

from app.gui.amounts import dollars, wait
from app.gui.card import Card, Run
from app.gui.oracle_log import Revision, ToolUse

LONGEST_TOOL_TEXT = 90


class OracleCards(QObject):
    """Makes the cards, in the user's language."""

    def card(self, revision: Revision, waited: int = 0) -> Card:
        """The card of a revision whose first words have been `waited` for, in seconds. One at the side is never
        struck through: it is no guess that was given up.
        """
        gone = revision.status in ("superseded", "failed") and not revision.aside
        bright = not (gone or revision.aside) or revision.speaking
        head = [(f"{revision.number}   ", "name" if bright else "dim")]
        head += [(f"{words}   ", kind) for words, kind in self._marks(revision)]
        head.append((" · ".join(self._facts(revision)), "dim"))
        body: list[Run] = []
        for use in revision.tools:
            body.append((self._tool(use) + "\n", "bad" if use.ok is False else "tool"))
        text = revision.text.strip()
        if text:
            body.append((text, "struck" if gone else "beside" if revision.aside else "text"))
        elif revision.status == "waiting" and waited:
            who = revision.model or revision.backend or self.tr("the brain")
            body.append((self.tr("Waiting for {0} … {1} s").format(who, waited), "aside"))
        elif revision.status == "waiting":
            body.append(("…", "aside"))
        elif not (revision.tools and revision.status == "streaming"):
            body.append((self.tr("(no words)"), "aside"))
        counts = self._counts(revision)
        if counts:
            body.append(("\n" + counts, "count"))
        style = "live" if revision.speaking else "beside" if revision.aside else "plain"
        return Card(tuple(head), tuple(body), style)

    def _marks(self, revision: Revision) -> list[Run]:
        marks: list[Run] = []
        if revision.aside:
            marks.append((self.tr("at the side"), "dim"))
        if revision.handed_from:
            marks.append((self.tr("handed over from {0}").format(revision.handed_from), "mark"))
        state = self._state(revision)
        return [*marks, state] if state else marks

    def _state(self, revision: Revision) -> Run | None:
        if revision.speaking:
            return (self.tr("speaking"), "mark")
        if revision.handed_to:
            return (self.tr("handed over as {0}").format(revision.handed_to), "mark")
        match revision.status:
            case "superseded" if revision.aside:
                return (self.tr("older"), "dim")
            case "superseded" if revision.by:
                return (self.tr("superseded by {0}").format(revision.by), "dim")
            case "superseded":
                return (self.tr("superseded"), "dim")
            case "failed":
                return (self.tr("failed"), "bad")
            case "stopped":
                return (self.tr("stopped"), "dim")
            case "waiting":
                return (self.tr("asked"), "dim")
        return (self.tr("spoken"), "dim") if revision.spoken else None

    def _facts(self, revision: Revision) -> list[str]:
        facts = [revision.model or revision.backend]
        if revision.model and revision.backend:
            facts[0] += f" ({revision.backend})"
        if revision.kind:
            facts.append(self.tr("for {0}").format(self.kind_words(revision.kind)))
        if revision.final:
            facts.append(self.tr("complete turn"))
        else:
            one = revision.asked_words == 1
            facts.append(self.tr("on 1 word") if one else self.tr("on {0} words").format(revision.asked_words))
        first = revision.first_word_seconds
        if revision.counted is not None and revision.counted.first_ms is not None:
            first = revision.counted.first_ms / 1000
        if first is not None and not revision.handed_from:
            facts.append(self.tr("first words after {0}").format(wait(first)))
            one = revision.words == 1
            facts.append(self.tr("1 word") if one else self.tr("{0} words").format(revision.words))
        return facts

    def _counts(self, revision: Revision) -> str:
        counted = revision.counted
        if counted is None:
            return ""
        form = self.tr("{0} tokens in, {1} out") if counted.counted else self.tr("about {0} tokens in, {1} out")
        words = form.format(f"{counted.tokens_in:,}", f"{counted.tokens_out:,}")
        if counted.tokens_cached:
            words += self.tr(" ({0} from the cache)").format(f"{counted.tokens_cached:,}")
        if counted.cost is None:
            return words + self.tr(" · no price known")
        return words + (f" · {dollars(counted.cost)}" if counted.cost else "")

    def _tool(self, use: ToolUse) -> str:
        name = self._tool_name(use.name)
        words = self.tr("{0} with {1}").format(name, _short(_arguments(use.arguments)))
        if not _arguments(use.arguments):
            words = name
        if use.ok is None:
            return f"{words} …"
        result = _short(use.text) if use.ok else self.tr("failed: {0}").format(_short(use.text.replace(use.name, name)))
        return f"{words} → {result} ({wait(use.seconds)})"

    def _tool_name(self, name: str) -> str:
        """A tool for people: one of a server's, which the brain knows as `SERVER__TOOL`, with its server behind it."""
        server, _, tool = name.partition("__")
        return self.tr("{0} ({1})").format(tool, server) if server and tool else name

    def kind_words(self, kind: str) -> str:
        """A kind of question, in words."""
        words = {
            "everyday": self.tr("everyday talk"), "reasoning": self.tr("reasoning"),
            "stem": self.tr("science and maths"), "humanities": self.tr("humanities"),
            "creative": self.tr("creative"),
        }  # fmt: skip
        return words.get(kind, kind)


def _arguments(text: str) -> str:
    """A tool's arguments for people: the bare values, if that is what they are."""
    try:
        values = json.loads(text or "{}")
    except ValueError:
        return text
    if not isinstance(values, dict):
        return str(values)
    return ", ".join(value if isinstance(value, str) else json.dumps(value) for value in values.values())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_TOOL_TEXT else flat[: LONGEST_TOOL_TEXT - 1].rstrip() + "…"
