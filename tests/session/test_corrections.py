"""The voice corrects itself in mid-answer, and the transcript knows what it took back."""

from __future__ import annotations

from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.session.control import BackendChoice
from tests.support.scripted import ScriptedTurn
from tests.support.talks import at, making, simulate

QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of Australia?")]
FIRST = "Australia is a large country. The capital is Sydney. It lies by the sea, where most people live today."
SECOND = "Australia is a large country. The capital is Canberra. It lies inland."


def test_the_words_that_another_model_disagrees_with_are_withdrawn() -> None:
    other = making(lambda _: ScriptedBackend(lambda request: answer(SECOND), name="Other"))
    during = at(6.5, lambda session: session.change(backend=BackendChoice("other")))
    talk = simulate(QUESTION, lambda request: answer(FIRST), make_backend=other, during=during, answer_mode="after")
    [corrected] = talk.of(e.AssistantCorrected)
    assert corrected.how == "corrected"
    turn = talk.transcript.turns[1]
    kept, withdrawn, replaced = turn.passages
    assert kept.text.strip() == "Australia is a large country."
    assert withdrawn.withdrawn and withdrawn.text.startswith("The capital is Sydney.")
    assert replaced.replaces and "the capital is Canberra. It lies inland." in replaced.text
    assert kept.text + withdrawn.text + replaced.text == turn.text
