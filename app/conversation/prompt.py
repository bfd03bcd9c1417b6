"""Builds the back-end's chat messages from the transcript.

The beginning stays the same from request to request, so that a server's prompt cache hits: the system prompt has
nothing that changes, the history only grows at its end, and it is cut rarely, and then by half.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from app.conversation.languages import ENGLISH, language
from app.conversation.transcript import Turn

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
    has said in this turn is left out, since the oracle is always the whole answer.
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
