"""Why a model on a graphics card is too slow is said as far as it is known, with what helps."""

import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.frontend import KameFrontEnd
from app.frontend.kame.messages import Ready
from app.frontend.slow_card import CardModel, RunsOnCard, explain
from app.platform.nvidia import CardUse, Program
from tests.support.tables import cases

WHAT = "the app's voice broke off 5 times"
HEAD = f"KAME can't keep up: {WHAT} in the last 10 s."
OWN = Program(7, "python3", 11_200_000_000, 60)
XORG, DWM = Program(2, "Xorg", 900_000_000, 12), Program(3, "dwm.exe", 0, 30)
OLLAMA, SERVER = Program(8, "ollama", 5_000_000_000, 0), Program(8, "llama-server.exe", 0, 35)
GAME, BROWSER, IDLE = Program(9, "game.exe", 0, 40), Program(10, "firefox", 700_000_000, 3), Program(11, "code", 9**8)
MODEL = CardModel("KAME", "int8", 240.0, predicted=0.03, latest=0.075, pid=7)
CARD = CardUse("a card", 16_000_000_000, 12_000_000_000, 90, 2400, 2500, (), (OWN, XORG, DWM))
FULL = CARD._replace(used=15_900_000_000)
PAGED = "The graphics card's memory is full, and the driver has moved part of it to the machine's own"
ELSEWHERE = "Choose a back-end on another machine or in the cloud, or int4 or a shorter memory, in the settings."
CLOSE = "Close other programs that use the graphics card, or choose int4 or a shorter memory in the settings."


def using(*programs: Program, card: CardUse = CARD) -> CardUse:
    return card._replace(programs=(*card.programs, *programs))


@cases(
    "model, cards, server, cause, advice",
    (MODEL, [CARD], "", "", CLOSE),
    (MODEL, [], "", "", CLOSE),
    (MODEL, [using(OLLAMA)], "Ollama", "Ollama runs on the same graphics card, and its answers take", ELSEWHERE),
    (MODEL, [using(SERVER)], "Ollama", "Ollama runs on the same graphics card", ELSEWHERE),
    # It runs on the processor: nothing of it is on the card.
    (MODEL, [CARD], "Ollama", "", CLOSE),
    (MODEL, [], "Ollama", "Ollama may run on the same graphics card, and its answers would take", ELSEWHERE),
    # The server of somebody else, who isn't asked for answers here.
    (MODEL, [using(OLLAMA)], "", "ollama uses the graphics card, too, with 5.0 GB of its memory.", "Close ollama, or"),
    (MODEL, [using(BROWSER, GAME)], "", "game uses the graphics card, too.", "Close game, or choose int4 or a shorter"),
    (
        MODEL,
        [using(BROWSER, IDLE)],
        "",
        "firefox uses the graphics card, too, with 0.7 GB of its memory.",
        "Close fire",
    ),
    (MODEL, [using(Program(9, "", 0, 50))], "", "Another program uses the graphics card, too.", CLOSE),
    (MODEL, [using(Program(9, "a\x1b[31mb\u202e" * 20, 0, 50))], "", f"{'ab' * 20} uses the", f"Close {'ab' * 20}, or"),
    (
        MODEL,
        [using(Program(9, "python3.12", 5 * 10**9, 50))],
        "",
        "python3.12 (PID 9) uses the graphics card, too, with 5.0 GB of its memory.",
        "Close python3.12 (PID 9), or choose int4",
    ),
    (
        MODEL,
        [using(Program(os.getpid(), "python3", 2 * 10**9, 20))],
        "",
        "The app's speech recognition runs on the same graphics card and takes time from KAME.",
        "Choose a smaller recogniser, or int4 or a shorter memory, in the settings.",
    ),
    # The model's own process isn't among them, so that it could be any of them.
    (MODEL, [CARD._replace(programs=(GAME, OWN._replace(pid=70)))], "", "", CLOSE),
    (replace(MODEL, latest=0.3), [using(BROWSER, card=FULL)], "", PAGED, "Close firefox, or choose int4 or a shorter"),
    (replace(MODEL, latest=0.3), [FULL], "", PAGED, CLOSE),
    (replace(MODEL, latest=0.3), [using(OLLAMA, card=FULL)], "Ollama", PAGED, ELSEWHERE),
    (replace(MODEL, latest=0.3), [CARD], "", "", CLOSE),
    (MODEL, [FULL], "", "", CLOSE),
    (
        MODEL,
        [CARD._replace(clock=1100, slowed=("power", "heat"))],
        "",
        "The graphics card is too hot and has slowed down to 1100 of 2500 MHz.",
        "Let it cool down and look whether its fans work, or choose int4 or a shorter memory in the settings.",
    ),
    (
        MODEL,
        [CARD._replace(clock=600)],
        "",
        "The graphics card runs at only 600 of 2500 MHz.",
        "Connect the machine to its power supply, and choose the highest performance in the driver's settings; or "
        "choose int4 or a shorter memory in the app's.",
    ),
    # At its highest power, as under any load.
    (MODEL, [CARD._replace(slowed=("power",))], "", "", CLOSE),
    (replace(MODEL, latest=0.03), [CARD._replace(clock=600, slowed=("heat",))], "", "", CLOSE),
    (MODEL, [using(GAME, card=CARD._replace(clock=600))], "", "game uses the graphics card, too.", "Close game"),
    (
        replace(MODEL, predicted=0.07),
        [CARD],
        "",
        "This graphics card is too slow for KAME as it is set now.",
        "Choose int4 or a shorter memory in the settings.",
    ),
    # The one with the model, not the larger one.
    (MODEL, [CardUse("large", 24 * 10**9, 10**9, 5, 10, 2500, ("heat",), (GAME,)), CARD], "", "", CLOSE),
)
def test_the_cause_is_named_as_far_as_it_is_known(
    model: CardModel, cards: list[CardUse], server: str, cause: str, advice: str
) -> None:
    sentence = explain(WHAT, 10.0, model, cards, server)
    if cause:
        assert sentence.startswith(f"{HEAD} {cause}")
        assert f". {advice}" in sentence
    else:
        assert sentence == f"{HEAD} {advice}"


@cases(
    "precision, seconds, offer",
    ("bf16", 240.0, "choose int8 or a shorter memory in"),
    ("int4", 240.0, "choose a shorter memory in"),
    ("int8", 60.0, "choose int4 in"),
    ("int4", 60.0, "choose the built-in voice in"),
)
def test_what_takes_less_of_the_card_is_offered(precision: str, seconds: float, offer: str) -> None:
    model = replace(MODEL, precision=precision, context_seconds=seconds)
    assert offer in explain(WHAT, 10.0, model, [CARD])


@cases("device, latest", ("cuda", [0.5] * 40 + [0.05] * 20 + [0.2] * 5), ("cuda", []), ("cpu", [0.1]))
def test_the_front_end_knows_its_model_by_the_latest_frames(device: str, latest: list[float]) -> None:
    engine = EngineProcess()
    ready = Ready(device, "int8", 1500, 0.03, (1,), 1, 1, padding=3, start=1, vocabulary=9, silent=(3,))
    engine._begin(ready)
    engine._process = cast(Any, SimpleNamespace(pid=7))
    engine.took.extend(latest)
    frontend = KameFrontEnd(cast(Any, None))
    assert isinstance(frontend, RunsOnCard) and frontend.on_card() is None, "nothing is loaded"
    frontend._stream = cast(Any, SimpleNamespace(engine=engine))
    model = CardModel("KAME", "int8", 120.0, predicted=0.03, latest=0.05 if latest else 0.0, pid=7)
    assert frontend.on_card() == (model if device == "cuda" else None)
    frontend._stream = cast(Any, SimpleNamespace(engine=object()))
    assert frontend.on_card() is None, "an engine of another kind"
