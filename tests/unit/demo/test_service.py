"""The demo's figures, what it finds on this machine, and what one side of it hears, thinks and says."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from app.conversation import events as e
from app.demo.base import DemoFigure, DemoResult, chosen_backends
from app.demo.service import DemoService
from app.demo.side import SideState
from app.services.backend_service import FoundServer, Offer
from app.session.control import BackendChoice, UserError
from tests.support.demo_talk import DEAR, FIRST, SECOND

USUAL = "qwen2.5-coder-0.5b"
GIVEN = (DemoFigure("A?", 1.0, 0.5), DemoFigure("B?", 1.2, 0.2), DemoFigure("C?", 2.0, 0.4))


def test_a_question_that_one_side_has_not_answered_counts_for_neither() -> None:
    result = DemoResult((GIVEN[0], DemoFigure("D?", None, 0.1), DemoFigure("Mine?", 0.1, None, own=True)))
    assert result.counted == (GIVEN[0],)
    assert DemoResult().median("tandem") is None


def test_the_report_holds_what_was_measured_and_said() -> None:
    figure = DemoFigure("A b?", 1.25, None, said=("Yes.", "It is on fire."))
    found = json.loads(json.dumps(DemoResult((figure, GIVEN[1]), "First").document()))
    assert found["ok"] and found["backend"] == "First" and found["median_seconds"] == {"cascade": 1.2, "tandem": 0.2}
    assert found["questions"][0] == {
        "question": "A b?",
        "cascade": 1.25,
        "tandem": None,
        "own": False,
        "said": ["Yes.", "It is on fire."],
    }
    assert not DemoResult((figure,)).document()["ok"], "nothing can be compared"


def test_a_backend_that_costs_money_takes_part_only_by_name() -> None:
    backends = (FIRST, SECOND, DEAR)
    assert chosen_backends(backends, ()) == (FIRST, SECOND)
    assert chosen_backends(backends, ("dear", "first")) == (DEAR, FIRST)
    with pytest.raises(UserError, match=r"“third”.*First, Second, OpenAI"):
        chosen_backends(backends, ("third",))


LAN = "http://192.168.1.7:8000/v1"
HERE = "http://127.0.0.1:8092/v1"
GONE = "http://127.0.0.1:9/v1"


class Places:
    """A back-end service with a key for OpenAI, and servers of this machine with these models."""

    def __init__(self, **models: tuple[str, ...]) -> None:
        self._models = models

    async def key_place(self, choice: BackendChoice) -> str:
        return "keyring" if choice.provider == "openai" else "none"

    async def servers_here(self) -> list[FoundServer]:
        return [FoundServer("LM Studio", BackendChoice("compatible", "", "http://127.0.0.1:1234/v1"), ("lm",))]

    async def offer(self, choice: BackendChoice, *, seconds: float) -> Offer:
        assert seconds <= 5 and choice.base_url != LAN, "only this machine is asked"
        if choice.base_url == GONE or choice.provider not in self._models:
            raise UserError("It doesn't run.")
        return Offer(("lm",) if "1234" in choice.base_url else self._models[choice.provider], True)


def service(places: Places | None = None, **more) -> DemoService:
    return DemoService(None, None, places or Places(), (), **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _models_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.demo.service.is_here", lambda key: key in ("smollm2-135m", "qwen2.5-coder-0.5b"))
    monkeypatch.setattr("app.demo.service.language_model_here", lambda: "qwen2.5-coder-0.5b")


async def test_it_finds_backends_and_marks_those_that_cost_money() -> None:
    models = Places(ollama=("gemma3:4b", "nomic-embed-text", "qwen3:4b", "llama3.2", "big:cloud"), compatible=())
    found = (await service(models).offer()).backends
    here = [backend.label for backend in found if not backend.costs]
    assert here[:2] == ["Qwen 2.5 Coder 0.5B", "SmolLM2 135M"], "the usual one first"
    assert here[2:] == ["Ollama: gemma3:4b", "Ollama: qwen3:4b", "127.0.0.1:1234: lm"]
    assert [backend.choice.provider for backend in found if backend.costs] == ["openai"]
    found = (await service().offer()).backends
    assert [backend.label for backend in found if not backend.costs] == ["Qwen 2.5 Coder 0.5B", "SmolLM2 135M"]


async def test_the_users_own_come_first_if_they_can_answer() -> None:
    secret, cloud = BackendChoice("compatible", "secret-large", HERE), BackendChoice("openai", "gpt-4.1")
    keyless, dead = BackendChoice("anthropic", "claude"), BackendChoice("compatible", "secret-large", GONE)
    absent, far = BackendChoice("embedded", "absent"), BackendChoice("compatible", "far", LAN)
    places = Places(compatible=("secret-small", "secret-large"))
    known = (secret, cloud, keyless, dead, absent, far, BackendChoice(), BackendChoice("compatible", "", HERE))
    backends = (await service(places).offer(known)).backends
    small = BackendChoice("compatible", "secret-small", HERE)
    assert [one.choice for one in backends][:5] == [secret, cloud, far, BackendChoice("embedded", USUAL), small]
    assert not any(one.costs for one in backends[:5]), "who uses it has agreed to its price"
    assert keyless not in (found := [one.choice for one in backends]) and dead not in found and absent not in found
    assert len(found) == len(set(found))


async def test_the_tandem_is_kame_where_its_weights_are_here_and_fit_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await service().offer()).frontend == "cascade", "there are no weights"
    monkeypatch.setattr("app.demo.service.read_layout", lambda folder, quickly: None)
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 40_000_000_000)
    assert (await service().offer()).frontend == "kame"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 2_000_000_000)
    assert (await service().offer()).frontend == "cascade"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: None)
    assert (await service().offer()).frontend == "cascade"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 7_100_000_000)
    assert (await service().offer()).frontend == "kame", "with a shorter memory"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 2_000_000_000)
    monkeypatch.setattr("app.demo.service.MODELS", SimpleNamespace(holds=lambda kind: kind == "engine"))
    assert (await service().offer()).frontend == "kame", "its own model fills the card"


def test_the_questions_are_real_ones() -> None:
    questions = service().questions
    assert len(questions) == 3
    assert [pair.figure().question for pair in service().shipped] == [question.text for question in questions]
    for question in questions:
        assert question.samples.dtype == np.float32 and len(question.samples) / 24_000 >= question.seconds > 6.0
        assert question.text.endswith("?")


def test_where_nothing_is_to_be_heard_there_is_no_sound() -> None:
    assert service(aloud=False).sound("Speaker") is None
    assert service().sound("Speaker") is not None


def following(*events: e.Event, start: float = 1.0, seconds: float = 2.0) -> SideState:
    """A state that follows a question whose sound is known."""
    state = SideState()
    state.ask(start, seconds)
    for event in events:
        state.apply(event)
    return state


def level(at: float) -> e.LevelMeasured:
    return e.LevelMeasured(at, -90.0, -90.0)


def test_who_speaks_before_the_question_is_over_is_heard_at_once() -> None:
    assert following(e.UserStarted(1.0, 1), e.AssistantStarted(2.8, 1, 1)).heard == 0.0


def test_words_into_a_pause_of_the_question_do_not_stop_the_stopwatch() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.UserEnded(1.9, 1, 1.8, "words"),
        e.AssistantStarted(2.0, 1, 1),
        e.UserResumed(2.1, 1),
        level(3.5),
    )
    assert state.heard is None and state.clock(3.5) == pytest.approx(0.5)
    state.apply(e.AssistantStarted(3.6, 1, 2))
    assert state.heard == pytest.approx(0.6)


def test_a_turn_that_was_ended_too_soon_is_asked_about_as_a_whole() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.AssistantStarted(1.8, 1, 1),
        e.AssistantSaid(1.9, 1, "No", 1),
        e.UserStarted(2.0, 2),
        e.AssistantStarted(3.3, 2, 2),
        e.AssistantSaid(3.4, 2, "Yes", 2),
    )
    assert state.heard == pytest.approx(0.3) and state.said_by("assistant") == "Yes"


def test_an_answer_is_over_when_the_voice_has_been_silent_for_a_while() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.AssistantStarted(3.2, 1, 1),
        e.AssistantSaid(3.5, 1, "Yes.", 1),
        e.AssistantEnded(3.8, 1, False),
        level(4.0),
    )
    assert not state.over and state.silent_for == pytest.approx(0.2)
    state.apply(level(4.9))
    assert state.over
    state.apply(e.AssistantResumed(5.0, 1))
    assert not state.over and state.silent_for == 0


def test_a_visitors_question_is_followed_by_the_events_alone() -> None:
    state = SideState()
    state.apply(level(10.0))
    state.ask(10.0)
    state.apply(e.UserStarted(11.0, 4))
    state.apply(e.TranscriptPartial(12.0, 4, "What is", "it", 11.9))
    assert state.said_by("user") == "What is it" and state.start == 11.0 and state.end is None
    state.apply(e.UserPaused(12.6, 4, 12.5))
    assert state.clock(12.7) == pytest.approx(0.2)
    state.apply(e.UserResumed(12.8, 4))
    assert state.clock(12.9) is None, "they go on"
    state.apply(e.UserEnded(14.2, 4, 14.0, "button"))
    state.apply(e.TranscriptFinal(14.3, 4, "What is it now?", 14.0))
    state.apply(e.AssistantStarted(14.5, 4, 1))
    assert state.heard == pytest.approx(0.5) and state.said_by("user") == "What is it now?"
    state.apply(e.UserStarted(20.0, 5))
    assert state.heard is None and state.said_by("user") == "" and state.start == 20.0
