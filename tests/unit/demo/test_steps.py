"""The demo's figures, and what it finds on this machine."""

import json

import numpy as np
import pytest

from app.demo.base import DemoFigure, DemoResult, chosen_backends
from app.demo.service import QUESTIONS, DemoService, document, lines
from app.services.backend_service import Offer
from app.session.control import UserError
from tests.support.demo_talk import DEAR, FIRST, SECOND

GIVEN = (DemoFigure("A?", 1.0, 0.5), DemoFigure("B?", 1.2, 0.2), DemoFigure("C?", 2.0, 0.4))


def test_a_question_that_one_side_has_not_answered_counts_for_neither() -> None:
    result = DemoResult((GIVEN[0], DemoFigure("D?", None, 0.1), DemoFigure("Mine?", 0.1, None, own=True)))
    assert result.counted == (GIVEN[0],)
    assert DemoResult().median("tandem") is None


def test_the_report_holds_what_was_measured_and_said() -> None:
    figure = DemoFigure("A\n b?", 1.23456, None, said=("Yes.", ""), trouble=("", "It is on fire."))
    found = json.loads(json.dumps(document(DemoResult((figure, GIVEN[1]), True, "First"))))
    assert found["ok"] and found["backend"] == "First" and found["median_seconds"] == {"cascade": 1.2, "tandem": 0.2}
    assert found["questions"][0] == {
        "question": "A b?",
        "own": False,
        "cascade": {"seconds": 1.235, "said": "Yes.", "trouble": ""},
        "tandem": {"seconds": None, "said": "", "trouble": "It is on fire."},
    }
    assert not document(DemoResult(GIVEN))["ok"], "it was stopped"
    assert not document(DemoResult((figure,), True))["ok"], "nothing can be compared"
    told = lines(DemoResult((figure, GIVEN[1]), True))
    assert "cascade 1.23 s (Yes.); tandem no answer (It is on fire.)" in told[0]
    assert told[-1].endswith("median: cascade 1.20 s, tandem 0.20 s.")


def test_a_backend_that_costs_money_takes_part_only_by_name() -> None:
    backends = (FIRST, SECOND, DEAR)
    assert chosen_backends(backends, ()) == (FIRST, SECOND)
    assert chosen_backends(backends, ("dear", "first")) == (DEAR, FIRST)
    with pytest.raises(UserError, match=r"“third”.*First, Second, OpenAI"):
        chosen_backends(backends, ("third",))


class Keys:
    """A back-end service with a key for OpenAI and an Ollama with these models."""

    def __init__(self, offer: Offer | UserError) -> None:
        self._offer = offer

    async def key_place(self, choice) -> str:
        return "keyring" if choice.provider == "openai" else "none"

    async def offer(self, choice, *, seconds: float) -> Offer:
        assert choice.provider == "ollama" and seconds <= 5
        if isinstance(self._offer, UserError):
            raise self._offer
        return self._offer


def service(offer: Offer | UserError, **more) -> DemoService:
    return DemoService(None, None, Keys(offer), (), **more)  # type: ignore[arg-type]


async def test_it_finds_backends_and_marks_those_that_cost_money(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.demo.service.is_here", lambda key: key in ("smollm2-135m", "qwen2.5-coder-0.5b"))
    monkeypatch.setattr("app.demo.service.language_model_here", lambda: "qwen2.5-coder-0.5b")
    models = Offer(("gemma3:4b", "nomic-embed-text", "qwen3:4b", "llama3.2", "big:cloud"), True)
    found = (await service(models).offer()).backends
    here = [backend.label for backend in found if not backend.costs]
    assert here == ["Qwen 2.5 Coder 0.5B", "SmolLM2 135M", "Ollama: gemma3:4b", "Ollama: qwen3:4b"], (
        "the usual one first"
    )
    assert [backend.choice.provider for backend in found if backend.costs] == ["openai"]
    found = (await service(UserError("It doesn't run.")).offer()).backends
    assert [backend.label for backend in found if not backend.costs] == ["Qwen 2.5 Coder 0.5B", "SmolLM2 135M"]


async def test_the_tandem_is_kame_where_its_weights_are_here_and_fit_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await service(Offer((), False)).offer()).frontend == "cascade", "there are no weights"
    monkeypatch.setattr("app.demo.service.read_layout", lambda folder, quickly: None)
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 40_000_000_000)
    assert (await service(Offer((), False)).offer()).frontend == "kame"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: 2_000_000_000)
    assert (await service(Offer((), False)).offer()).frontend == "cascade"
    monkeypatch.setattr("app.demo.service.free_card_bytes", lambda: None)
    assert (await service(Offer((), False)).offer()).frontend == "cascade"


def test_the_questions_are_real_ones() -> None:
    questions = service(Offer((), False)).questions
    assert len(questions) == len(QUESTIONS) == 3
    for question in questions:
        assert question.samples.dtype == np.float32 and len(question.samples) / 24_000 >= question.seconds > 1.5
        assert question.text.endswith("?")


def test_where_nothing_is_to_be_heard_there_is_no_sound() -> None:
    assert service(Offer((), False), aloud=False).sound("Speaker") is None
    assert service(Offer((), False)).sound("Speaker") is not None
