"""An edited question replaces its turn: the old version stays within reach in the view, and leaves the context."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.state.past_talk import past_talk
from app.gui.transcript.entries import EARLIER, LATER
from app.gui.window.main_window import MainWindow
from app.history.base import KeptTalk
from tests.gui.fakes import FakeFactory, FakeSession
from tests.gui.helpers import press, say, shown, spoken, typed, until
from tests.gui.transcript.test_typing import choose, menu_at, offered


def three(window: MainWindow) -> None:
    for turn, (asked, said) in enumerate((("Who?", "I."), ("When?", "Now."), ("Where?", "Here.")), 1):
        say(window, *spoken(turn, asked, said, at=turn * 10.0))


def cards(window: MainWindow) -> str:
    """The words of all cards, and how many versions there are."""
    lines = []
    for place in range(len(window.transcript.view.cards)):
        head, *body = window.transcript.view.content.text(place).split("\n")
        version = next((word for word in head.split() if "/" in word), "")
        lines.append(" ".join([*body, *([f"({version})"] if version else [])]))
    return " | ".join(lines)


def told(session: FakeSession) -> list[tuple[tuple[int, int], list[str]]]:
    return [call[1:] for call in session.calls if call[0] == "choose_branch"]


def edit(window: MainWindow, card: int, words: str) -> None:
    choose(menu_at(window, card), "Edit and ask")
    window.transcript.composer.field.selectAll()
    typed(window, words)


async def test_editing_replaces_the_turn_and_what_followed(window: MainWindow, factory: FakeFactory) -> None:
    three(window)
    edit(window, 2, "Why?")
    assert told(factory.session) == [((0, 1), ["Who?", "I."])] and factory.session.calls[-1] == ("write", "Why?")
    assert cards(window) == "Who? | I."
    say(window, *spoken(4, "Why?", "Because.", at=50.0))
    assert cards(window) == "Who? | I. | Why? (2/2) | Because."
    assert [message.content for message in window.model.messages] == ["Who?", "I.", "Why?", "Because."]


async def test_the_older_version_comes_back_with_what_followed_and_is_continued(window, factory) -> None:
    three(window)
    edit(window, 2, "Why?")
    say(window, *spoken(4, "Why?", "Because.", at=50.0))
    view = window.transcript.view
    for address, shows in (
        (EARLIER, "Who? | I. | When? (1/2) | Now. | Where? | Here."),
        (LATER, "Who? | I. | Why? (2/2) | Because."),
        (EARLIER, "Who? | I. | When? (1/2) | Now. | Where? | Here."),
    ):
        view.show_card(2)
        view.followed.emit(address)
        assert cards(window) == shows
    assert view.card_at_cursor() == 2, "where the versions are"
    assert told(factory.session)[-1] == ((0, 3), ["Who?", "I.", "When?", "Now.", "Where?", "Here."])
    menu_at(window, 2)
    assert not offered(window, "The version before") and offered(window, "The version after")
    say(window, *spoken(5, "And then?", "Nothing.", at=70.0))
    assert cards(window).endswith("Where? | Here. | And then? | Nothing.")


async def test_the_first_question_is_replaced_too(window: MainWindow, factory: FakeFactory) -> None:
    three(window)
    edit(window, 0, "What?")
    assert told(factory.session) == [((0, 0), [])] and cards(window) == ""
    say(window, *spoken(4, "What?", "That.", at=50.0))
    assert cards(window) == "What? (2/2) | That."


async def test_asking_the_last_question_again_is_another_version_and_an_older_one_a_new_turn(window, factory) -> None:
    three(window)
    choose(menu_at(window, 5), "Ask this again")
    assert told(factory.session) == [((0, 2), ["Who?", "I.", "When?", "Now."])]
    say(window, *spoken(4, "Where?", "There.", at=50.0))
    assert cards(window).endswith("Now. | Where? (2/2) | There.")
    choose(menu_at(window, 0), "Ask this again")
    assert len(told(factory.session)) == 1 and factory.session.calls[-1] == ("write", "Who?")


async def test_escape_keeps_the_question_and_what_was_typed_before(window: MainWindow, factory: FakeFactory) -> None:
    three(window)
    composer = window.transcript.composer
    composer.field.setText("half typed")
    choose(menu_at(window, 2), "Edit and ask")
    assert composer.field.text() == "When?" and shown(composer.editing)
    QTest.keyClick(composer.field, Qt.Key.Key_Escape)
    assert composer.field.text() == "half typed" and not composer.editing.isVisible() and not told(factory.session)
    choose(menu_at(window, 2), "Edit and ask")
    press(composer, "Keep the question as it is")
    assert composer.field.text() == "half typed"
    edit(window, 2, "Why?")
    assert composer.field.text() == "half typed", "it is not lost either when the edited question is sent"


async def test_while_stopped_an_edited_question_starts_a_session_that_replaces_it(window, factory) -> None:
    three(window)
    window.starter.stop()
    await until(lambda: window.model.talk.phase == "stopped")
    edit(window, 2, "Why?")
    await until(lambda: len(factory.choices) == 2 and ("write", "Why?") in factory.session.calls)
    assert told(factory.session) == [((1, 1), ["Who?", "I."])], "before it is asked"
    assert [call[0] for call in factory.session.calls[-2:]] == ["choose_branch", "write"]
    assert cards(window).startswith("Who? | I.") and "Where?" not in cards(window)


async def test_a_version_chosen_while_stopped_is_continued_by_the_next_session(window, factory) -> None:
    three(window)
    edit(window, 2, "Why?")
    say(window, *spoken(4, "Why?", "Because.", at=50.0))
    window.starter.stop()
    await until(lambda: window.model.talk.phase == "stopped")
    window.transcript.view.show_card(2)
    window.transcript.view.followed.emit(EARLIER)
    assert cards(window).endswith("When? (1/2) | Now. | Where? | Here.")
    window.starter.go_on()
    await until(lambda: len(factory.choices) == 2 and window.model.talk.phase == "running")
    choice = factory.choices[-1]
    assert choice.branch == (1, 3) and [message.content for message in choice.earlier][-2:] == ["Where?", "Here."]
    assert not told(factory.session), "the session notes it by itself"


async def test_a_kept_conversation_shows_the_branch_that_it_was_left_in(window: MainWindow) -> None:
    first = [*spoken(1, "Who?", "I."), *spoken(2, "When?", "Now.", at=10.0), *spoken(3, "Where?", "Here.", at=20.0)]
    second = [e.BranchChosen(0.0, 1, 1), *spoken(1, "Why?", "Because.")]
    third = [*spoken(1, "So?", "Yes."), e.BranchChosen(9.0, 2, 3)]
    window.model.clear()
    window.model.add_past([past_talk(KeptTalk(at, tuple(events))) for at, events in ((5.0, first), (9e4, second))])
    window.transcript.cards.show_rest()
    assert cards(window) == " | Who? | I. |  | Why? (2/2) | Because."
    window.transcript.view.show_card(4)
    window.transcript.view.followed.emit(EARLIER)
    assert cards(window) == " | Who? | I. | When? (1/2) | Now. | Where? | Here."
    window.model.clear()
    talks = ((5.0, first), (9e4, second), (2e5, third))
    window.model.add_past([past_talk(KeptTalk(at, tuple(events))) for at, events in talks])
    window.transcript.cards.show_rest()
    assert cards(window).endswith("When? (1/2) | Now. | Where? | Here."), "the one that was shown last"
    assert window.model.messages[-1].content == "Here."
