"""The words that were said last: events in, words out."""

from __future__ import annotations

from app.conversation import events as e
from app.gui.mini.window import MOST_LETTERS, LastWords


def test_the_user_then_the_answer_as_it_is_spoken_then_the_user_again() -> None:
    words = LastWords()
    words.apply(e.UserStarted(1.0, 1))
    assert words.text == ""
    words.apply(e.TranscriptPartial(1.2, 1, "Why do", "leaf", 1.1))
    assert (words.speaker, words.text) == ("user", "Why do leaf")
    words.apply(e.TranscriptFinal(2.0, 1, "Why do leaves turn red?", 1.9))
    words.apply(e.AssistantSaid(3.0, 1, "Because the green", 1))
    words.apply(e.AssistantSaid(3.2, 1, "goes", 1))
    words.apply(e.AssistantSaid(3.3, 1, ",", 1, glued=True))
    assert (words.speaker, words.text) == ("assistant", "Because the green goes,")
    words.apply(e.TranscriptFinal(4.0, 2, "And then?", 3.9))
    assert (words.speaker, words.text) == ("user", "And then?")
    words.apply(e.AssistantSaid(5.0, 2, "They fall.", 2))
    assert words.text == "They fall."


def test_what_is_said_in_passing_gives_way_to_the_answer_and_silence_says_nothing() -> None:
    words = LastWords()
    words.apply(e.AssistantSaid(3.0, 1, "First of all", 1))
    words.apply(e.TranscriptPartial(3.2, 2, "mhm", "", 3.1))
    words.apply(e.UserBackchannel(3.4, 2, "mhm"))
    assert (words.speaker, words.text) == ("assistant", "First of all")
    words.apply(e.TranscriptFinal(6.0, 3, "  ", 5.9))
    assert words.text == "First of all"
    words.begin()
    words.apply(e.AssistantSaid(1.0, 1, "Hello.", 1))
    assert words.text == "Hello."


def test_only_the_end_of_a_long_answer_is_kept() -> None:
    words = LastWords()
    for number in range(300):
        words.apply(e.AssistantSaid(number, 1, f"word{number}", 1))
    assert len(words.text) <= MOST_LETTERS and words.text.endswith("word298 word299")
