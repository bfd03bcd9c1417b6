"""What the demo finds on this machine."""

from __future__ import annotations

import numpy as np
import pytest

from app.demo.service import QUESTIONS, DemoService
from app.services.backend_service import Offer
from app.session.errors import UserError


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
