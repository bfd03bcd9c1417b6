"""The model names a conversation once, in the background, and never in the user's way."""

import pytest

from app.backend.base import BackendError, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.session.title_writer import title_in
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, simulate

FRANCE = ScriptedTurn(1.0, 3.0, "What is the capital of France?")
SPAIN = ScriptedTurn(12.0, 13.5, "And what about Spain?")


class Namer:
    """Answers questions, and requests for a title with `title`, `seconds` later."""

    def __init__(self, title: str = "**Capitals of Europe**", seconds: float = 0.1) -> None:
        self.titled: list[ChatRequest] = []
        self.title, self.seconds = title, seconds

    def __call__(self, request: ChatRequest) -> ScriptedAnswer:
        if "title" not in request.messages[-1].content:
            return answer("It is the biggest city of that country.")
        self.titled.append(request)
        return ScriptedAnswer((self.title,), self.seconds, 0.0)


def run(namer: Namer, *turns: ScriptedTurn, **more: object) -> Talk:
    return simulate(list(turns), namer, answer_mode="after", seconds=22.0, titled=True, **more)


def test_it_is_asked_for_once_after_an_answer_with_the_conversation_before_it() -> None:
    talk = run(namer := Namer(), FRANCE, SPAIN)
    [titled] = talk.of(e.ConversationTitled)
    assert titled.title == "Capitals of Europe" and talk.of(e.AssistantEnded)[0].at <= titled.at < SPAIN.start
    [request] = namer.titled
    assert [message.content for message in request.messages[1:-1]] == [FRANCE.words, talk.said(1)]
    asked = talk.backend.requests[0]
    assert request.messages[0] == asked.messages[0], "a server's prompt cache serves it"
    assert not talk.of(e.Failure) and not talk.tasks_left and len(talk.of(e.OracleRequested)) == 2
    assert len(talk.of(e.OracleCounted)) == 3, "it is part of the cost"


@pytest.mark.parametrize("turns", [(ScriptedTurn(1.0, 2.0, "Hello there!"),), ()])
def test_with_nothing_to_name_there_is_no_request(turns: tuple[ScriptedTurn, ...]) -> None:
    run(namer := Namer(), *turns)
    assert not namer.titled


def test_it_ends_when_the_user_speaks_and_is_tried_once_more() -> None:
    talk = run(namer := Namer(seconds=60.0), FRANCE, SPAIN, ScriptedTurn(18.0, 19.0, "And what about Italy?"))
    assert len(namer.titled) == 2 and not talk.of(e.ConversationTitled)
    assert "Spain" in talk.of(e.TranscriptFinal)[1].text and talk.said(2) and not talk.tasks_left
    started = [end.at for end in talk.of(e.AssistantStarted)]
    assert started[1] - SPAIN.end < 1.0, "the answer isn't late for it"


def test_a_failure_is_nothing_to_bother_the_user_with() -> None:
    def refuse(request: ChatRequest) -> ScriptedAnswer:
        if "title" in request.messages[-1].content:
            raise BackendError("No.", "request")
        return answer("It is Paris.")

    talk = simulate([FRANCE], refuse, answer_mode="after", seconds=12.0, titled=True)
    assert not talk.of(e.Failure, e.ConversationTitled) and talk.said(1) == "It is Paris."


def test_a_small_model_is_not_asked() -> None:
    backend = ScriptedBackend(namer := Namer())
    backend.traits = backend.traits.__class__(persona="Answer in one sentence.")
    run(namer, FRANCE, backend=backend)
    assert not namer.titled


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Capitals of Europe", "Capitals of Europe"),
        ('"Capitals of Europe."\n\nI hope that helps!', "Capitals of Europe"),
        ("Title: **Capitals of Europe**", "Capitals of Europe"),
        ("„Hauptstädte Europas“", "Hauptstädte Europas"),
        ("# Paris", "Paris"),
        ("I am sorry, but I can't give this conversation a title, since it is too short.", ""),
        ("  \n ", ""),
    ],
)
def test_a_title_is_found_in_what_models_write(answer: str, title: str) -> None:
    assert title_in(answer) == title
