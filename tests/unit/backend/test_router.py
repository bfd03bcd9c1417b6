"""The router: which back-end answers which kind of question, and who answers when it fails."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.backend.base import Backend, BackendError
from app.backend.router import RESTS_SECONDS, RouterBackend
from app.backend.scripted import ScriptedAnswer, ScriptedBackend


@dataclass(frozen=True)
class Decision:
    kind: str
    share: float = 0.9
    reason: str = "so the script says"


class Broken(ScriptedBackend):
    async def open(self) -> None:
        raise BackendError("It is not there. Start it.", "network")


def backend(model: str, kind: type[ScriptedBackend] = ScriptedBackend) -> ScriptedBackend:
    return kind(lambda request: ScriptedAnswer(()), name=model.upper(), model=model)


def router(table: dict[str, Backend], kinds: list[str], now: list[float]) -> RouterBackend:
    return RouterBackend(table, lambda turn, words: Decision(kinds[turn]), lambda: now[0])


async def test_each_kind_goes_to_its_backend_and_what_is_missing_to_everyday() -> None:
    everyday, stem = backend("small"), backend("large")
    chooser = router({"everyday": everyday, "stem": stem}, ["stem", "everyday", "creative"], [0.0])
    await chooser.open()
    assert chooser.model == "small, large"
    chosen = [chooser.choose(turn, "words") for turn in range(3)]
    assert [c.backend for c in chosen] == [stem, everyday, everyday]
    assert "no model for it" in chosen[2].reason and chosen[2].kind == "creative"
    await chooser.close()
    assert everyday.closed and stem.closed


async def test_one_that_failed_rests_and_then_is_asked_again() -> None:
    now = [10.0]
    everyday, stem = backend("small"), backend("large")
    chooser = router({"everyday": everyday, "stem": stem}, ["stem"] * 3, now)
    assert chooser.choose(0, "w").backend is stem
    assert chooser.failed(stem), "somebody else can answer"
    assert chooser.choose(1, "w").backend is everyday
    assert not chooser.failed(everyday), "nobody is left"
    now[0] += RESTS_SECONDS + 1
    assert chooser.choose(2, "w").backend is stem


async def test_a_backend_that_can_not_be_opened_is_told_and_passed_over() -> None:
    everyday, stem = backend("small"), backend("large", Broken)
    chooser = router({"everyday": everyday, "stem": stem}, ["stem"], [0.0])
    await chooser.open()
    assert [str(error) for _, error in chooser.lost] == ["It is not there. Start it."]
    assert chooser.choose(0, "w").backend is everyday
    with pytest.raises(BackendError, match="It is not there"):
        await router({"stem": backend("large", Broken)}, ["stem"], [0.0]).open()
    with pytest.raises(BackendError, match="table is empty"):
        router({}, [], [0.0])


async def test_one_that_could_not_be_opened_is_never_asked_even_if_all_others_have_failed() -> None:
    now = [10.0]
    everyday, stem, humanities = backend("small"), backend("large", Broken), backend("wide")
    chooser = router({"stem": stem, "humanities": humanities, "everyday": everyday}, ["stem"] * 9, now)
    await chooser.open()
    assert "costs too much" not in chooser.choose(0, "w", lambda b: b is everyday).reason
    chooser.failed(everyday)
    now[0] += 1
    assert not chooser.failed(humanities)
    assert chooser.choose(1, "w").backend is everyday, "it has rested longest"
    assert chooser.choose(2, "w", lambda b: b is humanities).backend is humanities
    assert chooser.choose(3, "w", lambda b: b is stem).backend is not stem
    assert "its model failed" in chooser.choose(4, "w").reason
    dear = router({"stem": backend("large"), "everyday": everyday}, ["stem"], now)
    assert "its model costs too much by now" in dear.choose(0, "w", lambda b: b is everyday).reason
