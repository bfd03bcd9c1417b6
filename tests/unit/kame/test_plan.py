"""How a model runs is decided by the card's memory when it is loaded: `auto` leaves the desktop its share."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from app.frontend.kame.engine import plan as module
from app.frontend.kame.engine.plan import EnginePlan, make_plan
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.stream_engine import EngineError
from tests.support.tables import cases

pytestmark = pytest.mark.slow
FILES = cast(Any, SimpleNamespace(lm_config=None))
GB = 10**9


def planned(monkeypatch: pytest.MonkeyPatch, free: float, total: float, **request: Any) -> EnginePlan:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (round(free * GB), round(total * GB)))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda share: None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    monkeypatch.setattr(module, "prove", dict)
    return make_plan(LoadRequest("", "KAME", **request), FILES)


@cases(
    "total, desktop, precision, context",
    (8.25, 0.1, "int4", 1500),  # a card of 8 GB
    (8.25, 1.0, "int4", 1500),
    (8.25, 1.5, "int4", 750),
    (7.5, 0.3, "int4", 1500),  # all that is free, where the share leaves too little
    (11.5, 0.1, "int8", 1500),  # 11 GB
    (12.6, 1.0, "int8", 3000),  # 12 GB
    (25.4, 0.1, "bf16", 3000),
)
def test_auto_leaves_the_desktop_its_share(
    total: float, desktop: float, precision: str, context: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(monkeypatch, total - desktop, total)
    assert (plan.device, plan.precision, plan.context) == ("cuda", precision, context)


@cases(
    "free, precision, context",
    (8.1, "int4", 1500),
    (7.0, "int4", 1500),  # less of it is left than the desktop may take
    (6.6, "int4", 750),
    (25.0, "int8", 3000),
)
def test_a_precision_that_the_user_asks_for_gets_the_memory_that_fits(
    free: float, precision: str, context: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(monkeypatch, free, max(free, 8.25), precision=precision)
    assert (plan.precision, plan.context) == (precision, context)


def test_what_the_user_asks_for_in_full_may_take_all_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planned(monkeypatch, 8.0, 8.25, precision="int4", context=3000).context == 3000
    with pytest.raises(EngineError, match=r"This fits: int4, 120 s of context, 7\.0 GB"):
        planned(monkeypatch, 7.5, 8.25, precision="int4", context=3000)
    with pytest.raises(EngineError, match="This fits: int4"):
        planned(monkeypatch, 8.0, 8.25, precision="int8")
    with pytest.raises(EngineError, match="no smaller form fits either"):
        planned(monkeypatch, 6.5, 8.25)
