"""What torch finds of a card is asked in a child process, whose end or silence is an answer, too."""

import pytest
import torch

from app.frontend.kame.card_look import CardLook, look_with_torch
from app.frontend.kame.engine import look, measure
from tests.support.tables import cases

pytestmark = pytest.mark.slow


def test_a_child_process_asks_torch() -> None:
    found = look_with_torch()
    if torch.cuda.is_available():
        assert 0 < found.free <= found.total and found.bandwidth > 0
    else:
        assert (found.total, bool(found.trouble), found.trouble[-1:] != ".") == (0, True, True)


@cases("module, seconds", ("app.frontend.kame.engine.look", 0.05), ("this", 30.0), ("no_such_module", 30.0))
def test_a_child_that_gives_no_answer_is_one_that_cannot_use_the_card(module: str, seconds: float) -> None:
    assert look_with_torch(module, seconds) == CardLook(trouble="torch could not be loaded, or gave no answer")


def test_a_full_card_is_seen_but_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(device: torch.device) -> float:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 256.00 MiB.")

    monkeypatch.setattr(torch.cuda, "init", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (100, 1000))
    monkeypatch.setattr(measure, "copy_bandwidth", fails)
    assert CardLook(**look.look()) == CardLook(100, 1000, unmeasured="CUDA out of memory")
    monkeypatch.setattr(measure, "copy_bandwidth", lambda device: 9.0)
    assert CardLook(**look.look()) == CardLook(100, 1000, 9.0)
