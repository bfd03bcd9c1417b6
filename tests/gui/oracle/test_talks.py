"""Whole simulated talks as the oracle shows them, and its cards, which show no markers."""

import pytest
from pytestqt.qtbot import QtBot

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.speaking.revisions import KnownRevision, Revisions, Verdict
from app.conversation.turns.floor import TakeFloor
from app.gui.oracle.card import NOTHING, readable
from app.gui.oracle.pane import OraclePane
from app.gui.oracle.revisions import MOST_SHOWN
from app.gui.state.past_talk import past_talk
from app.gui.state.session_model import SessionModel
from app.history.base import KeptTalk
from tests.gui.helpers import running_model
from tests.support.scripted import ScriptedTurn
from tests.support.talks import simulate

QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]


def played(qtbot: QtBot, events: list[e.Event]) -> tuple[OraclePane, list[tuple[str, str]]]:
    """The pane after the conversation; and after each word that was heard, of which card what stood before the
    caret.
    """
    model, carets = running_model(), []
    pane = OraclePane(model, clock=lambda: 0.0)
    qtbot.addWidget(pane)
    pane.resize(460, 500)
    pane.header.earlier.setChecked(True)
    pane.show()
    for event in events:
        model.put(event)
        if isinstance(event, e.AssistantSaid):
            model.flush()
            marked = [card for card in pane.view.cards if card.caret >= 0]
            assert len(marked) == 1, "one is heard at a time"
            (card,) = marked
            carets.append((card.head[0][0], "".join(text for text, _ in card.body)[: card.caret]))
    model.flush()
    return pane, carets


def body(pane: OraclePane, number: int) -> list[tuple[str, str]]:
    card = next(card for card in pane.view.cards if card.head[0][0] == str(number))
    return [run for run in card.body if run[1] != "count"]


def early_and_late(early: str, late: str):
    def reply(request: ChatRequest) -> ScriptedAnswer:
        whole = request.messages[-1].content.endswith("?")
        return answer(late, first=1.0) if whole else answer(early, first=0.05)

    return reply


@pytest.mark.parametrize(
    "text",
    [
        "The capital of France is Paris, on the Seine.",
        "**Well:** it costs $5 (about 20%), i.e. 3 × 4 = 12 km² at 20 °C. See [a table](https://x.org), that's all.",
        "Here:\n\n```sh\nls -l | wc\n```\n\nIt counts *all* files. And more words follow here.",
        "1. First, boil water.\n2. Then add 1/4 spoon of salt & stir.\n3. Wait – that's it.",
    ],
)
def test_an_answer_is_followed_to_its_end_and_never_back(qtbot: QtBot, text: str) -> None:
    pane, carets = played(qtbot, simulate(QUESTION, lambda _: answer(text)).events)
    last = carets[-1][0]
    reached = [len(before) for number, before in carets if number == last]
    assert reached == sorted(reached) and len(set(reached)) >= 4
    assert body(pane, int(last)) == [(readable(text).replace("\n", "\u2028"), "text")]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A voice that begins with whatever answer is there, so that it has to go over to another one."""

    def gate(self: Revisions, revision: KnownRevision, ended: TakeFloor, mode: str, *, in_use: int = 0) -> Verdict:
        return Verdict(revision.turn == ended.turn, "in use", revision.number)

    monkeypatch.setattr(Revisions, "gate", gate)


@pytest.mark.usefixtures("hasty")
def test_a_continued_answer_goes_on_in_the_middle(qtbot: QtBot) -> None:
    reply = early_and_late(
        "The capital of France is Paris. It is a city that I know well.",
        "The capital of France is Paris. It lies on the river Seine.",
    )
    pane, carets = played(qtbot, simulate(QUESTION, reply).events)
    new = carets[-1][0]
    first = next(before for number, before in carets if number == new)
    assert first.startswith("The capital of France is")
    (old,) = {number for number, _ in carets} - {new}
    assert body(pane, int(old)) == [
        ("The capital of France is Paris. ", "said"),
        ("It is a city that I know well.", "struck"),
    ]


@pytest.mark.usefixtures("hasty")
def test_a_corrected_answer_begins_at_its_beginning_and_the_older_ones_last_word_comes_late(qtbot: QtBot) -> None:
    reply = early_and_late(
        "Nobody could possibly tell you that. Ask something else.",
        "Paris, on the river Seine, is where its government sits.",
    )
    pane, carets = played(qtbot, simulate(QUESTION, reply).events)
    numbers = [int(number) for number, _ in carets]
    assert numbers == sorted(numbers), "the voice never goes back to an older answer"
    assert (str(numbers[-1]), "Paris,") in carets
    assert body(pane, numbers[0]) == [
        ("Nobody could possibly tell you that. ", "said"),
        ("Ask something else.", "struck"),
    ]
    assert [kind for _, kind in body(pane, numbers[-1])] == ["text"]


def test_what_an_interruption_cut_off_is_told_from_what_was_heard(qtbot: QtBot) -> None:
    turns = [*QUESTION, ScriptedTurn(6.0, 8.0, "Stop, what about Rome then?")]
    long = "This is a very long answer that would go on and on for a good many seconds, and then for some more."
    talk = simulate(turns, lambda _: answer(long))
    pane, carets = played(qtbot, talk.events)
    cut = next(int(card.head[0][0]) for card in pane.view.cards if ("interrupted", "chip_dim") in card.head)
    assert (str(cut), "This is a very long answer") in carets
    (heard, first), (rest, second) = body(pane, cut)
    assert (first, second, heard + rest) == ("text", "still", long)
    assert heard == next(turn for turn in talk.transcript.turns if turn.interrupted).text


def test_of_a_long_talk_of_the_past_the_newest_revisions_are_shown(qtbot) -> None:
    pane = OraclePane(SessionModel())
    qtbot.addWidget(pane)
    pane.header.earlier.setChecked(True)
    events: list[e.Event] = [e.SessionStarted(0, "cascade", "w", "Ollama", "gemma", "thinking")]
    for number in range(1, 501):
        events.append(e.OracleRequested(number, number, number, "Ollama", "gemma", "what", True))
        events.append(e.OracleDelta(number + 0.5, number, f"answer {number}"))
    pane._model.add_past([past_talk(KeptTalk(0.0, tuple(events)))])
    assert [revision.number for revision in pane.revisions] == list(range(500, 500 - MOST_SHOWN, -1))
    assert len(pane.view.cards) == MOST_SHOWN and "answer 500" in pane.view.content.text(MOST_SHOWN - 1)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("It is **so**, *really*.", "It is so, really."),
        ("Use `ls -l`:\n```sh\nls\n```", "Use ls -l:\nsh\nls\n"),
        ("# A head\n- one\n- two", "A head\n• one\n• two"),
        ("See [the docs](http://a.b/c_d).", "See the docs."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "│ a │ b │\n┼───┼───┼\n│ 1 │ 2 │"),
        ("> quoted ~~not~~", "│ quoted not"),
        ("Plain: 3 * 4, snake_case, a-b and $5.", "Plain: 3 * 4, snake_case, a-b and $5."),
    ],
)
def test_markers_disappear_and_letters_keep_their_places(text: str, seen: str) -> None:
    for end in range(len(text) + 1):
        assert len(readable(text[:end])) == end, "also while it grows"
    assert readable(text).replace(NOTHING, "") == seen
