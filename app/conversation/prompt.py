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
"""Older turns beyond this many words are left out: a small model's context is 2,048 tokens."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat request."""

    role: Literal["system", "user", "assistant"]
    content: str


def build_prompt(turns: list[Turn], turn: int, words: str, *, persona: str = PERSONA) -> tuple[ChatMessage, ...]:
    """The messages that ask for an answer to `words`, the user's words so far in turn `turn`.

    Earlier turns are kept from the newest backwards up to `HISTORY_WORDS`; what the assistant has been
    heard to say in this very turn is not among them, since the oracle is always the whole answer.
    """
    history: list[ChatMessage] = []
    budget = HISTORY_WORDS
    for past in reversed(turns):
        if past.number >= turn or past.backchannel or not past.text:
            continue
        budget -= len(past.text.split())
        if budget < 0 and past.speaker == "user":
            break
        text = f"{past.text} …" if past.interrupted else past.text
        history.append(ChatMessage(past.speaker, text))
    history.reverse()
    while history and history[0].role == "assistant":
        history.pop(0)
    merged: list[ChatMessage] = []
    for message in history:
        # Two turns of one side in a row (an answer that failed): chat templates want them joined.
        if merged and merged[-1].role == message.role:
            merged[-1] = ChatMessage(message.role, f"{merged[-1].content} {message.content}")
        else:
            merged.append(message)
    if merged and merged[-1].role == "user":
        merged.append(ChatMessage("assistant", "…"))
    return (ChatMessage("system", persona), *merged, ChatMessage("user", words))
