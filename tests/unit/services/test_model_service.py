"""What the model service says of models: how fast they are here, whether they fit, and which one is recommended."""

import pytest

from app.models.selection import Speed
from app.services import model_service
from app.services.model_service import ModelService, ModelView

SMALL, MIDDLE, LARGE = "smollm2-135m", "qwen2.5-coder-1.5b", "qwen2.5-7b"


@pytest.fixture
def service() -> ModelService:
    return ModelService(lambda: "", lambda address: "")


def measured(monkeypatch: pytest.MonkeyPatch, speeds: dict[str, Speed], memory: int = 32 * 10**9) -> None:
    monkeypatch.setattr(model_service, "load_speeds", lambda: speeds)
    monkeypatch.setattr(model_service, "memory_bytes", lambda: memory)


def views(service: ModelService) -> dict[str, ModelView]:
    return {view.key: view for view in service.models()}


def test_speeds_are_words_with_what_they_are_based_on(service: ModelService, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = {SMALL: Speed(0.1, 60.0), "whisper-base": Speed(0.2, 25.0), "kokoro": Speed(1.0, 1.2)}
    measured(monkeypatch, speeds)
    found = views(service)
    assert (found[SMALL].pace, found[SMALL].speed, found[SMALL].estimated) == ("instant", "0.10 s, 60.0 words/s", False)
    assert (found[LARGE].pace, found[LARGE].estimated) == ("slow", True)
    assert found[LARGE].fits.startswith("This machine is probably too slow for it")
    assert (found["whisper-base"].pace, found["kokoro"].pace) == ("quick", "slow")
    assert (found["whisper-small"].pace, found["whisper-small"].speed) == ("", ""), "only language models are estimated"
    measured(monkeypatch, {MIDDLE: Speed(0.4, 9.0)})
    assert views(service)[MIDDLE].pace == "quick"


def test_what_is_too_large_for_the_memory_does_not_fit(service: ModelService, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, {}, memory=2 * 10**9)
    found = views(service)
    assert found[LARGE].fits == "It takes 5.6 GB of memory, and this machine has 2."
    assert found["whisper-large-v3-turbo"].fits and not found["whisper-base"].fits and not found[SMALL].fits


def test_the_best_model_that_is_fast_is_recommended(service: ModelService, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, {})
    assert service.recommended("en") == "", "nothing is known yet"
    measured(monkeypatch, {SMALL: Speed(0.5, 12.0)})
    assert service.recommended("en") == SMALL and service.recommended("de") == ""
    measured(monkeypatch, {SMALL: Speed(0.1, 60.0), MIDDLE: Speed(0.5, 4.2)})
    assert service.recommended("auto") == MIDDLE, "it answers more of the questions"
