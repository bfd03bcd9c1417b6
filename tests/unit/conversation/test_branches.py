"""The branches of a conversation: which turns count after a question was edited, and what can be gone back to."""

from app.conversation import events as e
from app.conversation.record.branches import BEGINNING, Branches, Place
from app.conversation.record.transcript import Transcript, Turn


def talk(number: int, *script: str | e.BranchChosen) -> Transcript:
    """A session in which these questions are asked and answered; empty: a sound without words."""
    transcript, turn, at = Transcript(), 0, 0.0
    for one in script:
        at += 1.0
        if isinstance(one, e.BranchChosen):
            transcript.apply(one)
            continue
        turn += 1
        said = e.UserBackchannel(at, turn, one) if one == "Mhm." else e.TranscriptFinal(at, turn, one, at)
        transcript.apply(e.UserStarted(at, turn))
        transcript.apply(said)
        if one and one != "Mhm.":
            transcript.apply(e.AssistantStarted(at + 0.5, turn, turn))
            transcript.apply(e.AssistantSaid(at + 0.6, turn, f"To {one}", turn))
    for each in transcript.turns:
        each.talk = number
    return transcript


def after(turn: int, back: int = 0) -> e.BranchChosen:
    return e.BranchChosen(0.0, back, turn)


def shown(turns: list[Turn], head: Place | None = None) -> str:
    branches = Branches(turns, head)
    return " ".join(turn.text for turn in turns if turn.speaker == "user" and branches.shows(turn))


def of(turns: list[Turn], words: str) -> Turn:
    return next(turn for turn in turns if turn.text == words)


def test_an_edited_question_replaces_the_old_one_and_what_followed() -> None:
    turns = talk(1, "A", "B", "C", after(1), "B2", "D").turns
    branches = Branches(turns)
    assert shown(turns) == "A B2 D" and branches.branched
    assert [turn.text for turn in turns if not branches.shows(turn)] == ["B", "To B", "C", "To C"]
    assert branches.versions(of(turns, "B2")) == branches.versions(of(turns, "B")) == [(1, 2), (1, 4)]
    assert branches.versions(of(turns, "A")) == [(1, 1)] and branches.before(of(turns, "B2")) == (1, 1)


def test_the_way_back_leads_to_the_end_of_the_older_branch_which_then_continues() -> None:
    turns = talk(1, "A", "B", "C", after(1), "B2").turns
    old = Branches(turns).newest(Place(1, 2))
    assert old == (1, 3) and shown(turns, old) == "A B C"
    assert shown(talk(1, "A", "B", "C", after(1), "B2", after(3), "D").turns) == "A B C D"


def test_the_first_question_and_one_of_an_earlier_session_can_be_replaced() -> None:
    assert shown(talk(1, "A", "B", after(0), "A2").turns) == "A2"
    first = talk(1, "A", "B", "C").turns
    assert shown(first + talk(2, after(1, back=1), "B2").turns) == "A B2"
    assert shown(first + talk(2, "D", after(0), "A2", "B3").turns) == "A2 B3"


def test_sounds_without_words_and_backchannels_are_part_of_no_branch() -> None:
    turns = talk(1, "A", "Mhm.", "B", after(1), "", "B2", "C").turns
    assert shown(turns).split() == ["A", "Mhm.", "B2", "C"]
    assert Branches(turns).versions(of(turns, "B2")) == [(1, 3), (1, 5)]


def test_places_that_are_missing_change_nothing() -> None:
    assert shown(talk(1, "A", after(9), "B", after(1, back=7), "C").turns) == "A B C"
    assert shown(talk(3, "A").turns, Place(1, 1)) == "A" and Branches([], BEGINNING).head == BEGINNING
    stranger = Turn("user", 4, 1.0, "Hello", talk=9)
    branches = Branches(talk(1, "A").turns)
    assert branches.before(stranger) is None and not branches.versions(stranger) and branches.shows(stranger)
