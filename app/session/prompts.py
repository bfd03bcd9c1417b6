"""Builds the chat requests of a session from what was said so far."""

from __future__ import annotations

from app.backend.base import Backend, ChatRequest
from app.conversation.languages import ENGLISH, language
from app.conversation.prompt import (
    LONG_DOCUMENT_BYTES,
    ChatMessage,
    Document,
    Length,
    build_prompt,
    given_words,
    material,
    system_prompt,
)
from app.conversation.transcript import Transcript, Turn
from app.conversation.words import fold
from app.session.control import Style

TOKENS_FACTOR: dict[Length, float] = {"short": 0.6, "medium": 1.0, "long": 4.0}
"""The share of a back-end's usual token limit that an answer of this length may take."""
BLOCK_FACTOR = 6.0
"""The same where code or a table is asked for: some fifty lines. The prompt keeps the words around it few."""


class Prompts:
    """Turns of the session's transcript, preceded by `earlier` ones of the conversation, as chat requests.

    `language` is the user's, as a two-letter code; empty while it is being detected.
    """

    def __init__(
        self,
        transcript: Transcript,
        earlier: tuple[ChatMessage, ...],
        style: Style,
        language: str,
        documents: tuple[Document, ...] = (),
    ) -> None:
        self.style = style
        self.documents = documents
        self.language = language
        self._transcript = transcript
        # A session counts its turns from 1. Earlier ones are part of every prompt and are never asked about again.
        self._earlier = [Turn(m.role, 0, 0.0, m.content) for m in earlier if m.role != "system"]
        self._answered = 0

    def request(self, backend: Backend, turn: int, words: str, *, may_act: bool) -> ChatRequest:
        """Return the request for an answer to `words` of `turn`. `may_act`: tools may change something."""
        traits, style, code = backend.traits, self.style, self.language or ENGLISH
        persona = system_prompt(traits.persona, style.persona, style.length, code)
        documents = material(self.documents, traits.document_bytes, code)
        shares_room = bool(documents) and traits.document_bytes < LONG_DOCUMENT_BYTES
        messages = build_prompt(
            [*self._earlier, *self._transcript.turns],
            turn,
            words,
            persona=f"{persona}\n\n{documents}" if documents else persona,
            history_words=traits.history_words // 2 if shares_room else traits.history_words,
        )
        temperature = traits.temperature if style.temperature is None else style.temperature
        asks_for_block = language(code).written & set(fold(words))
        factor = max(TOKENS_FACTOR[style.length], BLOCK_FACTOR if asks_for_block else 0.0)
        return ChatRequest(messages, round(traits.max_tokens * factor), temperature, final=may_act)

    def given(self, backend: Backend) -> tuple[int, ...]:
        """Return how many words of each document a back-end gets."""
        return given_words(self.documents, backend.traits.document_bytes)

    def answered(self, turn: int) -> None:
        """Note that the answer to `turn` was heard to its end."""
        self._answered = max(self._answered, turn)

    def reopened(self, turn: int) -> None:
        """Note that `turn` goes on, or is answered again."""
        self._answered = min(self._answered, turn - 1)

    @property
    def unanswered(self) -> int | None:
        """The user's turn that is being asked or answered right now; None when no answer is due."""
        user_turns = (turn for turn in reversed(self._transcript.turns) if turn.speaker == "user")
        asked = next((turn for turn in user_turns if turn.text and not turn.backchannel), None)
        return None if asked is None or asked.number <= self._answered else asked.number
