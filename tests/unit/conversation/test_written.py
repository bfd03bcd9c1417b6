"""What a turn shows as it was written: as far as it was heard, and only what the model wrote."""

from app.conversation import events as e
from app.conversation.spoken_form import spoken
from app.conversation.transcript import Transcript, Turn

CODE = "```sh\nls -l\n```"
ANSWER = f"It is **so**, see `a b`:\n\n1. [The docs](http://a.b) say it.\n2. So does *he*:\n\n{CODE}\n\nThat costs $5."


def asked(answer: str, revision: int = 1, *, complete: bool = True) -> Transcript:
    transcript = Transcript()
    give(transcript, answer, revision, complete=complete)
    transcript.apply(e.AssistantStarted(2.0, 1, revision))
    return transcript


def give(transcript: Transcript, answer: str, revision: int, *, complete: bool = True) -> None:
    transcript.apply(e.OracleRequested(1.0, revision, 1, "B", "m", "How?", True))
    transcript.apply(e.OracleDelta(1.5, revision, answer))
    if complete:
        transcript.apply(e.OracleEnded(1.6, revision, "complete", 9))


def say(transcript: Transcript, words: str, revision: int = 1) -> Turn:
    for word in words.split():
        transcript.apply(e.AssistantSaid(3.0, 1, word, revision))
    return transcript.turns[-1]


def test_what_was_heard_grows_word_by_word_and_is_always_well_formed() -> None:
    transcript, before = asked(ANSWER), ""
    for word in spoken(ANSWER).split():
        now = say(transcript, word).written
        assert len(now) >= len(before) - 4, "only a closing marker moves on"
        assert now.count("**") % 2 == now.count("`") % 2 == 0 and "](" not in now.replace("](http://a.b)", "")
        assert now.startswith("It") and (CODE in now or "ls -l" not in now)
        before = now
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == ANSWER


def test_what_was_cut_short_ends_where_it_was_heard() -> None:
    transcript = asked(ANSWER)
    say(transcript, "It is so, see a b: The docs")
    transcript.apply(e.AssistantEnded(9.0, 1, True))
    assert transcript.turns[-1].written == "It is **so**, see `a b`:\n\n1. [The docs](http://a.b)"


def test_a_plain_answer_has_no_other_form_than_its_words() -> None:
    transcript = asked("It costs $5.\n\nThat is all.")
    assert say(transcript, "It costs 5 dollars. That is all.").written == ""


def test_an_opening_stays_and_is_no_markdown() -> None:
    transcript = asked("It is **so**.")
    transcript.apply(e.AssistantOpened(2.0, 1))
    say(transcript, "Well, 2*3*4.", revision=0)
    turn = say(transcript, "It is so.")
    assert turn.written == "Well, 2\\*3\\*4. It is **so**."
    assert turn.meant == "It is so."


def test_a_front_end_with_words_of_its_own_shows_these() -> None:
    transcript = asked("The **capital** of France is Paris.")
    turn = say(transcript, "Well you know they call that great city by the river Paris I think")
    assert turn.written == turn.text


def test_a_newer_revision_continues_where_the_older_one_was() -> None:
    transcript = asked("It is *one* of the oldest cities.")
    say(transcript, "It is one of")
    give(transcript, "It is **one** of the _largest_ cities:\n\n- Rome", 2)
    transcript.apply(e.AssistantCorrected(4.0, 1, 2, "continued"))
    say(transcript, "the largest cities: Rome", 2)
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == "It is *one* of the _largest_ cities:\n\n- Rome"


def test_a_correction_is_shown_with_its_bridge() -> None:
    transcript = asked("It is *noon*. More.")
    say(transcript, "It is noon.")
    give(transcript, "Look: it is **one** o'clock.\n\n- Really", 2)
    transcript.apply(e.AssistantCorrected(4.0, 1, 2, "corrected"))
    say(transcript, "Or rather, it is one o'clock. Really", 2)
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == "It is *noon*. Or rather, it is **one** o'clock.\n\n- Really"


def test_announced_code_grows_with_its_stream() -> None:
    transcript = asked("So: ```sh\nls", complete=False)
    say(transcript, "So: The code is on the screen.")
    assert transcript.turns[-1].written == "So:\n\n```sh\nls\n```\n"
    assert transcript.apply(e.OracleDelta(4.0, 1, " -l\necho")) is transcript.turns[-1]
    assert transcript.turns[-1].written == "So:\n\n```sh\nls -l\necho\n```\n"
