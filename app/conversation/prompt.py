"""Builds the back-end's chat messages from the transcript and from the documents that the user added.

The beginning stays the same from request to request, so that a server's prompt cache hits: the system prompt has
nothing that changes, the history only grows at its end, and it is cut rarely, and then by half. Sizes of documents are
bytes in UTF-8: letters that take more bytes usually take more of a model's tokens, too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.conversation.languages import ENGLISH, language
from app.conversation.record.transcript import Turn

MOST_DOCUMENTS = 5
DOCUMENT_BYTES = 4_800
"""What a model is given of all documents together, if nothing is known about how much it reads."""
LONG_DOCUMENT_BYTES = 24_000
"""The same for a model that reads long prompts quickly: some 4,000 words. No more is kept of any document."""
LONGEST_NAME = 120
"""In characters."""

_SEPARATOR = re.compile(r"[/\\]")
_MARK = re.compile(r"<(/?)document\b", re.I)


@dataclass(frozen=True, slots=True)
class Document:
    """A document supplied to the model. `name`: that of its file, without the folder. `cut`: how many words of the file
    are not in `text`.
    """

    name: str = field(repr=False)
    text: str = field(repr=False)
    cut: int = 0

    @property
    def words(self) -> int:
        """How many words the whole file has."""
        return len(self.text.split()) + self.cut


def plain_name(name: str) -> str:
    """Returns a file's name without its folder and on one line, no longer than `LONGEST_NAME`."""
    own = _SEPARATOR.split(name)[-1]
    return " ".join("".join(char if char.isprintable() else " " for char in own).split())[:LONGEST_NAME]


def beginning(text: str, most_bytes: int) -> str:
    """Returns as much of the beginning of `text` as fits, without half a word where possible."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= most_bytes:
        return text
    start = whole[:most_bytes].decode("utf-8", "ignore")
    shorter = "".join(start.rsplit(None, 1)[:1])
    return shorter if len(shorter) * 4 > len(start) * 3 else start


def given_parts(documents: Sequence[Document], most_bytes: int) -> tuple[str, ...]:
    """Returns the part of each document that a model is given: short ones are complete, the others share the rest."""
    sizes = [len(document.text.encode("utf-8", "replace")) for document in documents]
    shares, room = [0] * len(sizes), most_bytes
    for done, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[place] = min(sizes[place], room // (len(sizes) - done))
        room -= shares[place]
    return tuple(beginning(document.text, share) for document, share in zip(documents, shares, strict=True))


def given_words(documents: Sequence[Document], most_bytes: int) -> tuple[int, ...]:
    """Returns how many words of each document a model is given."""
    return tuple(len(part.split()) for part in given_parts(documents, most_bytes))


def material(documents: Sequence[Document], most_bytes: int, code: str) -> str:
    """Returns the documents as a part of a system prompt in the language `code`; empty if there are none."""
    if not documents:
        return ""
    parts = [language(code).material]
    for document, text in zip(documents, given_parts(documents, most_bytes), strict=True):
        inside = _MARK.sub(r"< \1document", text)  # the document must not end before its end
        more = " […]" if document.cut or len(text) < len(document.text) else ""
        parts.append(f"<document name='{document.name.replace(chr(39), chr(0x2019))}'>\n{inside}{more}\n</document>")
    return "\n\n".join(parts)


Length = Literal["short", "medium", "long"]
"""Of answers: one or two sentences, a few, or as many as needed."""

_ENGLISH = language(ENGLISH)
PERSONA = f"{_ENGLISH.persona} {_ENGLISH.spoken} {_ENGLISH.lengths['medium']}"
"""The default system prompt."""

HISTORY_WORDS = 600
"""When earlier turns have more words than this, the oldest are removed until half of it is left: all at once, because a
server reads the whole prompt again after each change of its beginning."""
LONG_HISTORY_WORDS = 2_000
"""The same for a model that reads long prompts quickly: some fifteen minutes of talk."""
TOPIC_WORDS = 80
"""The first question is kept if it is no longer than this: it often says what the conversation is about and who speaks.
"""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat request."""

    role: Literal["system", "user", "assistant"]
    content: str


def system_prompt(own: str, persona: str = "", length: Length = "medium", code: str = ENGLISH) -> str:
    """Returns the system prompt for a back-end whose default prompt is `own`, with the user's persona and the length of
    answers, in the language `code`.

    A back-end with a default of its own is a small model: its prompt is as short as possible.
    """
    one, persona = language(code), " ".join(persona.split())
    if persona and code != ENGLISH:
        persona = f"{persona} {one.answer_in}"
    if own == PERSONA:
        return f"{persona or one.persona} {one.spoken} {one.lengths[length]}"
    own = own if code == ENGLISH else one.small_persona
    parts = [persona, own] if persona else [own]
    if length != "medium":
        parts.append(one.lengths[length])
    return " ".join(parts)


def build_prompt(
    turns: list[Turn], turn: int, words: str, *, persona: str = PERSONA, history_words: int = HISTORY_WORDS
) -> tuple[ChatMessage, ...]:
    """Returns the messages that request an answer to `words`, the user's words so far in turn `turn`.

    The assistant's earlier turns appear as they were intended, without openings, bridges and broken sentences. What it
    has said in this turn is left out, since every answer is a complete one.
    """
    history: deque[tuple[int, ChatMessage]] = deque()
    topic: list[ChatMessage] = []
    topic_words = held = 0
    for past in turns:
        if past.number >= turn or past.backchannel or not (text := past.meant):
            continue
        count = len(text.split())
        history.append((count, ChatMessage(past.speaker, text)))
        held += count
        if held + topic_words > history_words:
            if not topic:
                first, size = next(((m, n) for n, m in history if m.role == "user"), (None, 0))
                if first is not None and len(history) > 1 and size <= min(TOPIC_WORDS, history_words // 4):
                    topic, topic_words = [first], size
            while len(history) > 1 and held + topic_words > history_words // 2:
                held -= history.popleft()[0]
            if topic and any(message is topic[0] for _, message in history):
                topic, topic_words = [], 0  # it is still in the history
    newest = [message for _, message in history]
    while newest and newest[0].role == "assistant" and not topic:
        newest.pop(0)
    merged: list[ChatMessage] = []
    for message in [*topic, *newest]:
        # Chat templates require alternating roles, but an answer that failed leaves two user turns in a row.
        if merged and merged[-1].role == message.role:
            merged[-1] = ChatMessage(message.role, f"{merged[-1].content} {message.content}")
        else:
            merged.append(message)
    if merged and merged[-1].role == "user":
        words = f"{merged.pop().content} {words}"
    return (ChatMessage("system", persona), *merged, ChatMessage("user", words))
