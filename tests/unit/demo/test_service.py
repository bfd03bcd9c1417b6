"""The demo's figures, and what it finds on this machine."""

import json

import numpy as np
import pytest

from app.demo.base import DemoFigure, DemoResult, chosen_backends
from app.demo.service import DemoService
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
