"""Builds the card of a revision: its model, request, response time, text, tool calls and cost.

Streaming Markdown is made readable by hiding its markers without changing the position of any character.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from PySide6.QtCore import QObject

from app.conversation.markdown import has_markdown
from app.conversation.record.revisions import Revision, ToolUse
from app.gui.cards.card import Card, Run
from app.gui.design.model_look import model_name, model_words
from app.gui.widgets.formats import dollars, wait
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_ARGUMENTS

NOTHING = "\u2060"
"""Word joiner, a zero-width character that prevents line breaks."""

_HIDDEN = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,}|\#{1,6}[ \t]+)"  # fences and headings
    r"|\*\*|~~|`+|(?<!\w)[*_](?=\w)|(?<=[\w.,!?)])[*_](?!\w)"  # emphasis and code
    r"|!?\[(?=[^\]\n]*\]\()|(?<=\w)\]\([^)\s]*\)",  # links, except their text
    re.M,
)
_BULLET = re.compile(r"^([ \t]*)[-*+](?=[ \t]+\S)", re.M)
_QUOTE = re.compile(r"^([ \t]*)>", re.M)
_DASHES = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t|:-]*$", re.M)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.M)


@lru_cache(maxsize=128)
def readable(text: str) -> str:
    """Returns `text` with its Markdown markers hidden and its length unchanged. The text may be incomplete."""
    if not has_markdown(text):
        return text
    text = _DASHES.sub(lambda found: re.sub(r"[:-]", "─", found[0]).replace("|", "┼"), text)
    text = _ROW.sub(lambda found: found[0].replace("|", "│"), text)
    text = _BULLET.sub(r"\1•", text)
    text = _QUOTE.sub(r"\1│", text)
    return _HIDDEN.sub(lambda found: NOTHING * len(found[0]), text)


LONGEST_TOOL_TEXT = 90


class OracleCards(QObject):
    """Creates the cards of revisions, with their text in the user's language."""

    details = False
    """Whether cards show details: the request, the response time and the cost."""

    def card(self, revision: Revision, waited: int = 0, *, column: bool = False) -> Card:
        """Returns the card for a revision. Revisions of the comparison model are never struck through, since they
        aren't discarded guesses.

        - `waited`: number of seconds the request has been waiting for its first words
        - `column`: whether the card is in its model's own column
        """
        bright = not (_gone(revision) or revision.secondary) or revision.speaking
        head: list[Run] = [(str(revision.number), "name" if bright else "dim"), ("   ", "gap")]
        for mark in self._marks(revision, column):
            head += [mark, ("   ", "gap")]
        backend, *facts = self._facts(revision)
        if column:  # the back-end is in its heading
            backend = model_name(revision.backend, revision.model)
        head.append((backend, "who" if bright else "dim"))
        if self.details:
            head.append(("\n" + " · ".join(facts), "fact"))
        body: list[Run] = []
        if self.details and revision.thought:
            body.append((self.tr("Thought: {0}").format(_short(revision.thought)) + "\n", "hint"))
        for use in revision.tools:
            body.append((self._tool(use) + "\n", "bad" if use.ok is False else "tool"))
        caret = sum(len(text) for text, _ in body) + _heard(revision) if revision.speaking and revision.text else -1
        if revision.text.strip():
            body += _text(revision, column)
        elif revision.status == "waiting" or not (revision.tools and revision.status == "streaming"):
            body.append(self._silence(revision, waited))
        counts = self._counts(revision)
        if counts and self.details:
            body.append(("\n" + counts, "count"))
        calm = "calm" if column else "beside"
        style = "live" if revision.speaking else calm if revision.secondary else "plain"
        return Card(tuple(head), tuple(body), style, self._asked(revision), caret, self._tip(revision))

    def _asked(self, revision: Revision) -> str:
        return revision.asked if self.details else ""

    def thought(self, revision: Revision, waited: int = 0) -> Card:
        """Returns the large card for the current revision. See `card` for `waited`."""
        state = self._state(revision)
        head: list[Run] = [state, ("   ", "gap")] if state else []
        head.append((model_name(revision.backend, revision.model), "dim"))
        if self.details:
            head.append(("\n" + " · ".join(self._facts(revision)[1:]), "fact"))
        if revision.text.strip():
            body, caret = _text(revision, True), _heard(revision) if revision.speaking else -1
        else:
            at_work = [use for use in revision.tools if use.at_work]
            body = [(self._tool(at_work[-1]), "tool") if at_work else self._silence(revision, waited)]
            caret = -1
        counts = self._counts(revision)
        if counts and self.details:
            body.append(("\n" + counts, "count"))
        return Card(tuple(head), tuple(body), "quiet", self._asked(revision), caret, self._tip(revision))

    def _silence(self, revision: Revision, waited: int) -> Run:
        if revision.status != "waiting":
            return (self.tr("(no words)"), "hint")
        who = model_name(revision.backend, revision.model) or self.tr("the model")
        return (self.tr("Waiting for {0} … {1} s").format(who, waited) if waited else "…", "hint")

    def _tip(self, revision: Revision) -> str:
        lines = [self.tr("Asked on: “{0}”").format(" ".join(revision.asked.split()))] if revision.asked.strip() else []
        if revision.speaking:
            text, heard = revision.text, revision.heard
            said, sent = len(text[:heard].split()), len(text[heard : revision.sent].split())
            form = self.tr("{0} words heard, {1} sent to the voice, {2} still waiting")
            lines.append(form.format(said, sent, revision.words - said - sent))
        return "\n".join(lines)

    def _marks(self, revision: Revision, column: bool) -> list[Run]:
        marks: list[Run] = []
        if revision.secondary and not column:
            marks.append((self.tr("comparison"), "chip_dim"))
        if revision.handed_over_at is not None:
            marks.append((self.tr("took over"), "chip_mark"))
        state = self._state(revision)
        if revision.speaking and revision.status == "superseded" and revision.by:
            marks.append((self.tr("replaced by {0}").format(revision.by), "chip_dim"))
        return [*marks, state] if state else marks

    def _state(self, revision: Revision) -> Run | None:
        if revision.speaking:
            return (self.tr("speaking"), "chip")
        match revision.status:
            case "superseded" if revision.secondary:
                return (self.tr("earlier"), "chip_dim")
            case "superseded" if revision.by:
                return (self.tr("replaced by {0}").format(revision.by), "chip_dim")
            case "superseded":
                return (self.tr("replaced"), "chip_dim")
            case "failed":
                return (self.tr("failed"), "chip_bad")
            case "stopped":
                return (self.tr("stopped"), "chip_dim")
            case "waiting":
                return (self.tr("asked"), "chip_dim")
        if revision.interrupted:
            return (self.tr("interrupted"), "chip_dim")
        return (self.tr("spoken"), "chip_dim") if revision.spoken else None

    def _facts(self, revision: Revision) -> list[str]:
        facts = [model_words(revision.backend, revision.model)]
        if revision.final:
            facts.append(self.tr("complete turn"))
        else:
            one = revision.asked_words == 1
            facts.append(self.tr("on 1 word") if one else self.tr("on {0} words").format(revision.asked_words))
        first = revision.first_word_seconds
        if revision.counted is not None and revision.counted.first_ms is not None:
            first = revision.counted.first_ms / 1000
        if first is not None:
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
        if use.consent:
            forms = {
                "asked": self.tr("{0} · waits for your consent"),
                "allowed": self.tr("{0} · allowed"),
                "denied": self.tr("{0} · not allowed"),
                "refused": self.tr("{0} · not done without your consent"),
            }
            return forms[use.consent].format(words)
        if use.ok is None:
            return f"{words} …"
        result = _short(use.text) if use.ok else self.tr("failed: {0}").format(_short(use.text.replace(use.name, name)))
        return f"{words} → {result} ({wait(use.seconds)})"

    def _tool_name(self, name: str) -> str:
        """Returns a tool's display name: `SERVER__TOOL` becomes "TOOL (SERVER)"."""
        server, _, tool = name.partition("__")
        return self.tr("{0} ({1})").format(tool, server) if server and tool else name


def _gone(revision: Revision) -> bool:
    """Returns whether the unspoken remainder of the revision was discarded."""
    return revision.status in ("superseded", "failed") and not revision.secondary


def _heard(revision: Revision) -> int:
    """Returns the number of characters that have been spoken, not counting leading whitespace."""
    blank = len(revision.text) - len(revision.text.lstrip())
    return min(max(0, revision.heard - blank), len(revision.text.strip()))


def _text(revision: Revision, column: bool) -> list[Run]:
    """Returns the text in up to three parts: already spoken, sent to the front-end, and not yet sent. The spoken part
    is never struck through.
    """
    text = readable(revision.text.strip().replace("\r\n", " \n"))  # same length, so that the caret position is right
    if revision.secondary:
        return [(text, "text" if column and revision.status != "superseded" else "beside")]
    heard = _heard(revision)
    if _gone(revision):
        heard += len(text[heard:]) - len(text[heard:].lstrip()) if heard else 0  # don't strike through the gap
        sent, kinds = heard, ("heard" if revision.speaking else "said", "", "struck")
    elif revision.spoken and heard and not revision.speaking:
        sent, kinds = heard, ("text", "", "still")  # the rest won't be spoken
    else:
        sent = max(heard, revision.sent - len(revision.text) + len(revision.text.lstrip()))
        kinds = ("heard" if revision.speaking else "text", "text", "still")
    parts = zip((text[:heard], text[heard:sent], text[sent:]), kinds, strict=True)
    return [(part, kind) for part, kind in parts if part]


def _arguments(text: str) -> str:
    """Formats the arguments of a tool call: the values of a JSON object, or the unchanged text if it isn't one."""
    try:
        values = read_json(text or "{}", TOOL_ARGUMENTS)
    except ValueError:
        return text
    return ", ".join(value if isinstance(value, str) else json.dumps(value) for value in values.values())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_TOOL_TEXT else flat[: LONGEST_TOOL_TEXT - 1].rstrip() + "…"
