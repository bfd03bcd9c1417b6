"""From transcript to chat messages: roles, whole words, turns in the order of their sound.

The beginning stays the same from request to request, so that a server's prompt cache hits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation.transcript import Turn

PERSONA = (
    "You are a friendly voice assistant. Your answer is read aloud, so reply in one to three short "
    "spoken sentences. Answer first, then explain. Write plain words: no lists, no headings, no symbols."
)
"""The default system prompt."""

HISTORY_WORDS = 600
"""When earlier turns hold more words than this, the oldest leave, down to half of it in one go.

In one go, because each change of the beginning makes a server read the whole prompt anew.
"""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat request."""

    role: Literal["system", "user", "assistant"]
    content: str


def build_prompt(
    turns: list[Turn], turn: int, words: str, *, persona: str = PERSONA, history_words: int = HISTORY_WORDS
) -> tuple[ChatMessage, ...]:
    """The messages that ask for an answer to `words`, the user's words so far in turn `turn`.

    What the assistant has been heard to say in this very turn is not among them, since the oracle is
    always the whole answer.
    """
    history: list[ChatMessage] = []
    for past in turns:
        if past.number >= turn or past.backchannel or not past.text:
            continue
        history.append(ChatMessage(past.speaker, past.text))
        if _words(history) > history_words:
            while _words(history) > history_words // 2:
                history.pop(0)
    while history and history[0].role == "assistant":
        history.pop(0)
    merged: list[ChatMessage] = []
    for message in history:
        # Two turns of one side in a row (an answer that failed): chat templates want roles to alternate.
        if merged and merged[-1].role == message.role:
            merged[-1] = ChatMessage(message.role, f"{merged[-1].content} {message.content}")
        else:
            merged.append(message)
    if merged and merged[-1].role == "user":
        words = f"{merged.pop().content} {words}"
    return (ChatMessage("system", persona), *merged, ChatMessage("user", words))


def _words(messages: list[ChatMessage]) -> int:
    return sum(len(message.content.split()) for message in messages)
