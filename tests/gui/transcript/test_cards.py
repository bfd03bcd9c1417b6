"""What a card shows of a turn."""

from __future__ import annotations

from app.conversation import events as e
from app.conversation.record.transcript import Transcript
from app.gui.cards.card import Card
from app.gui.transcript.entries import TranscriptCards


def answered(*events: e.Event) -> Card:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    turn = transcript.last("assistant")
    assert turn is not None
    return TranscriptCards().card(turn)


def requested(number: int, text: str) -> tuple[e.Event, ...]:
    return (
        e.OracleRequested(1.0 + number / 10, number, 1, "B", "tiny", "Which one?", True),
        e.OracleDelta(1.1 + number / 10, number, text),
    )


def said(number: int, text: str) -> list[e.Event]:
    return [e.AssistantSaid(3.0, 1, word, number) for word in text.split()]


def test_what_the_voice_took_back_is_struck() -> None:
    card = answered(
        *requested(1, "It is Lyon."),
        *requested(2, "It is Paris."),
        *said(1, "It is Lyon."),
        e.AssistantCorrected(3.0, 1, 2, "corrected"),
        *said(2, "Or rather, it is Paris."),
    )
    assert card.body == (("It is Lyon.", "struck"), (" Or rather, it is Paris.", "text"))


def test_an_answer_without_words_waits_or_was_interrupted() -> None:
    assert answered(e.AssistantStarted(1.0, 1, 1)).body == (("…", "text"),)
    cut = answered(e.AssistantStarted(1.0, 1, 1), e.AssistantEnded(1.2, 1, True))
    assert cut.body == (("", "text"), ("   interrupted", "bad"))
