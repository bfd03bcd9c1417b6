"""The card that asks for the user's consent to tool calls."""

import json

import pytest

from app.conversation import events as e
from tests.gui.helpers import press, say, window_and_factory

MAIL = {"to": "anna@example.org", "text": "Line one.\nto: bob@example.org\n" + "More of it. " * 400 + "The very end."}
ASKED = e.ConsentAsked(1.0, 2, 1, ("mail__send_message",), (json.dumps(MAIL),), ("changes",))


async def test_all_that_a_tool_would_get_is_on_the_card() -> None:
    async with window_and_factory() as (window, _):
        say(window, ASKED)
        card = window.transcript.consent
        assert (
            card.isVisible()
            and "send_message (mail)" in card.heading.text()
            and "change something" in card.effect.text()
        )
        lines = card.arguments.toPlainText().splitlines()
        assert lines[0] == "to: anna@example.org" and lines[-1].endswith("The very end.")
        assert sum(line.startswith("to:") for line in lines) == 1, "a line of a value looks like no other value"
        assert card.arguments.isReadOnly()


@pytest.mark.parametrize(
    ("button", "always", "call"),
    [
        ("Allow the call", False, ("allow", False)),
        ("Allow the call", True, ("allow", True)),
        ("Don't allow the call", False, ("deny",)),
    ],
)
async def test_its_buttons_answer(button: str, always: bool, call: tuple[object, ...]) -> None:
    async with window_and_factory() as (window, factory):
        say(window, ASKED)
        card = window.transcript.consent
        if always:
            card.always.click()
        press(window, button)
        assert factory.session.calls[-1] == call
        say(window, e.ConsentAnswered(3.0, 1, call[0] == "allow", "button"))
        assert not card.isVisible()
        say(window, ASKED)
        assert card.isVisible() and not card.always.isChecked(), "each question for itself"


async def test_it_goes_with_the_session() -> None:
    async with window_and_factory() as (window, _):
        say(window, ASKED)
        say(window, e.SessionEnded(4.0, 50))
        assert not window.transcript.consent.isVisible()


async def test_a_call_that_is_no_json_is_shown_as_it_is() -> None:
    async with window_and_factory() as (window, _):
        say(window, ASKED)
        say(window, e.ConsentAsked(5.0, 3, 2, ("a", "b"), ("no json\x1b[1m", "[1]"), ("sends", "changes")))
        text = window.transcript.consent.arguments.toPlainText()
        assert "no json" in text and "[1]" in text and "\x1b" not in text
        assert "somebody else" in window.transcript.consent.effect.text()
