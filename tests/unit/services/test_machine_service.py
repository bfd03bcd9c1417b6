"""Tests what the first run says about machines, by the findings of the probes."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from app.diagnostics.machine import NO_PACKAGES, Card, Machine, OllamaModel, Sound, System
from app.models.fit import PRECISIONS, Plan, Precision, needed_bytes, shape_of
from app.platform import single_instance
from app.platform.hardware import memory_bytes
from app.platform.supervision import CARD
from app.services import card_bench, machine_service
from app.services.card_bench import QUICK, Outcome, StepResult, chosen_steps
from app.services.card_page import PERCENTILES
from app.services.machine_service import MachineService, MachineView, Report, trial_findings
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from tests.support.tables import cases

ROOT = Path(__file__).resolve().parents[3]
KAME_README = ROOT / "app" / "frontend" / "kame" / "README.md"
GB = 1 << 30
BIG = Card("NVIDIA GeForce RTX 4090", 24 * GB, 23 * GB)
MIDDLING = Card("NVIDIA GeForce RTX 4070", 12 * GB, int(11.6 * GB))
SMALL = Card("NVIDIA GeForce GTX 1650", 4 * GB, 4 * GB)
DEVICES = Sound(("Desk microphone",), ("Headphones",))
NOBODY = "http://127.0.0.1:9"
"""No Ollama is there."""


def look(
    card: Card | None = None,
    *,
    settings: Settings | None = None,
    sound: Sound = DEVICES,
    disk: int | None = 200 * 10**9,
    ollama: tuple[OllamaModel, ...] | None = None,
    keys: tuple[str, ...] | None = (),
) -> MachineView:
    machine = Machine(System("", "", "", 8, 16 * GB), card, disk, sound, ollama, keys)

    async def probe(report: Report) -> Machine:
        return machine

    service = MachineService(settings or Settings(), probe=probe)
    return asyncio.run(service.look(lambda words, share: None))


def said(view: MachineView, topic: str) -> tuple[str, str]:
    return next((finding.state, finding.sentence) for finding in view.findings if finding.topic == topic)


def test_this_very_machine_is_looked_at_in_order() -> None:
    told: list[tuple[str, float]] = []
    machine = MachineService(Settings(ollama_url=NOBODY))
    view = asyncio.run(machine.look(lambda words, share: told.append((words, share))))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    assert all(words.endswith("…") for words, _ in told)
    topics = ["card", "processor", "disk", "microphone", "loudspeaker", "ollama", "keys"]
    assert [finding.topic for finding in view.findings] == topics
    assert all(finding.sentence.endswith(".") for finding in view.findings)
    assert f"{round(memory_bytes() / GB)} GB of memory" in said(view, "processor")[1]
    assert [(fit.frontend, fit.precision) for fit in view.fits] == [
        ("cascade", ""),
        *((name, precision) for name in ("kame", "moshi") for precision in ("bf16", "int8", "int4")),
    ]


def test_without_a_card_the_embedded_voice_is_recommended() -> None:
    view = look()
    assert (view.frontend, view.precision, view.backend) == ("cascade", "", BackendChoice())
    assert view.advice == (
        "This machine has no NVIDIA card: KAME speaks with the built-in voice, on the processor. "
        "Its model is the built-in one."
    )
    assert said(view, "card") == ("fair", "No NVIDIA card. The built-in voice needs none.")
    assert [fit.fits for fit in view.fits] == [True] + [False] * 6
    assert view.fits_of("kame")[0].sentence == "KAME needs an NVIDIA graphics card with 8 GB or more."


def test_each_card_gets_the_best_that_fits_it() -> None:
    view = look(BIG)
    assert (view.frontend, view.precision) == ("kame", "bf16")
    assert view.advice.startswith("24 GB card: KAME in bf16, once its weights (16 GB) are here.")
    assert view.fits_of("kame")[0].download_bytes == 16_200_000_000 and view.fits_of("cascade")[0].download_bytes == 0
    assert said(view, "card") == ("good", "NVIDIA GeForce RTX 4090, 24 GB, of which 23 GB are free.")
    view = look(MIDDLING)
    assert (view.frontend, view.precision) == ("kame", "int8")
    bf16, int8, _ = view.fits_of("kame")
    assert (bf16.fits, int8.fits) == (False, True)
    assert bf16.sentence == "In bf16 it takes 19 GB of the card, and the desktop leaves 11 GB."
    assert int8.sentence.startswith("Takes 11 GB of the card, and remembers ")
    view = look(SMALL)
    assert (view.frontend, view.precision) == ("cascade", "")
    assert view.advice.startswith("The card has too little memory free: KAME speaks with the built-in voice")


CARDS = {8: 8188, 10: 10240, 11: 11264, 12: 12282, 16: 16376, 24: 24564}
"""What the driver says that cards of so many GB have, in MiB."""
DRIVER = 350_000_000


@cases(
    "size, precision, seconds, tight",
    (8, "int4", 120, True),
    (10, "int4", 240, False),
    (11, "int8", 60, True),
    (12, "int8", 240, True),
    (16, "int8", 240, False),
    (24, "bf16", 240, False),
)
def test_a_card_is_promised_what_it_holds_with_a_desktop(
    size: int, precision: Precision, seconds: int, tight: bool
) -> None:
    """A desktop that hardly uses the card now may take 1 GB later, when 16 GB have been downloaded."""
    plan = Plan(precision, round(seconds / 0.08), needed_bytes(shape_of(None), precision, round(seconds / 0.08)))
    for desktop in (0, 500_000_000, 1_000_000_000):
        total = CARDS[size] << 20
        view = look(Card(f"a card of {size} GB", total, total - DRIVER - desktop))
        best = next(fit for fit in view.fits_of("kame") if fit.fits)
        assert (best.precision, view.precision) == (precision, precision)
        memory = "one minute" if seconds == 60 else f"{seconds // 60} minutes"
        assert best.sentence.startswith(f"Takes {plan.bytes / 1e9:.0f} GB of the card, and remembers {memory} of")
        assert ("Close games and other programs" in best.sentence) == tight
        assert plan.bytes <= total - DRIVER - desktop
    [row] = [line for line in KAME_README.read_text("utf-8").splitlines() if line.startswith(f"| {size} GB |")]
    assert row == f"| {size} GB | `{precision}` | {seconds} s | {plan.bytes / 1e9:.1f} GB |"


def test_a_desktop_that_takes_more_leaves_less_and_the_readmes_agree_with_the_code() -> None:
    total = CARDS[8] << 20
    busy = look(Card("a card of 8 GB", total, total - DRIVER - 1_500_000_000))
    assert "remembers one minute" in busy.fits_of("kame")[2].sentence
    assert look(Card("a card of 8 GB", total, total - DRIVER - 1_800_000_000)).frontend == "cascade"
    sizes = [f"{needed_bytes(shape_of(None), precision) / 1e9:.1f}" for precision in PRECISIONS]
    for precision, size in zip(PRECISIONS, sizes, strict=True):
        assert f"| `{precision}` | {size} GB |" in KAME_README.read_text("utf-8")
    assert f"in {sizes[0]}, {sizes[1]} or {sizes[2]} GB" in (ROOT / "README.md").read_text("utf-8")


def test_memory_that_the_talk_itself_holds_counts_as_free() -> None:
    full = Card(BIG.name, BIG.total, 2 * GB)
    assert look(full).frontend == "cascade"
    assert look(full, settings=Settings(frontend="kame")).precision == "bf16"


def test_weights_of_the_users_own_have_nothing_to_download(tmp_path: Path) -> None:
    view = look(BIG, settings=Settings(weights_folder=str(tmp_path)))
    assert view.fits_of("kame")[0].download_bytes == 0
    assert view.advice.startswith("24 GB card: KAME in bf16. ")


def test_a_card_whose_packages_are_missing_is_told() -> None:
    view = look(Card("NVIDIA L4", 22 * GB, 21 * GB, NO_PACKAGES, lacks_packages=True))
    state, sentence = said(view, "card")
    assert state == "fair" and sentence.startswith("NVIDIA L4, 22 GB. It can run KAME, but what that needs is not")
    assert view.frontend == "cascade" and not view.fits_of("kame")[0].fits
    assert view.advice.startswith("KAME speaks with the built-in voice")


def test_devices_disk_and_keys_are_told() -> None:
    view = look(BIG, keys=("openai", "google"), disk=9 * 10**9)
    assert said(view, "microphone") == ("good", "Desk microphone.")
    assert said(view, "loudspeaker") == ("good", "Headphones.")
    assert said(view, "disk") == ("fair", "9 GB are free; KAME's weights take 16 GB.")
    assert said(view, "keys")[1] == "There is a key for OpenAI and Google."
    view = look(sound=Sound(("Desk microphone", "Webcam")), disk=9 * 10**9, keys=None)
    assert said(view, "microphone") == ("good", "Desk microphone, and 1 more.")
    assert said(view, "loudspeaker")[0] == "missing"
    assert said(view, "disk") == ("good", "9 GB are free."), "nothing big is to be downloaded here"
    assert said(view, "keys") == ("fair", "The system's keyring does not answer. It may be locked.")
    view = look(disk=10**9, sound=Sound(trouble="No sound here."))
    assert said(view, "disk")[0] == "missing"
    assert said(view, "microphone") == said(view, "loudspeaker") == ("missing", "No sound here.")


def test_ollamas_models_are_offered_and_one_that_fits_recommended() -> None:
    elsewhere, huge = OllamaModel("gpt-oss:120b-cloud", 0), OllamaModel("llama3.3:70b", 43 * 10**9)
    url = "http://127.0.0.1:1234"
    view = look(settings=Settings(ollama_url=url), ollama=(elsewhere, huge, OllamaModel("gemma3:4b", 3_300_000_000)))
    assert view.backend == BackendChoice("ollama", "gemma3:4b", url)
    assert said(view, "ollama") == ("good", "Ollama runs, with gpt-oss:120b-cloud, and 2 more.")
    assert view.advice.endswith("Its model is gemma3:4b, by Ollama.")
    view = look(ollama=())
    assert view.backend == BackendChoice()
    assert said(view, "ollama") == ("fair", "Ollama runs, and has no model yet.")


BENCH = "“kame-desktop bench card” writes a page that says more."


def result(step: str, outcome: Outcome = "passed", **facts: Any) -> StepResult:
    return StepResult(step, outcome, "KAME needs 18.5 GB." if outcome == "left out" else "", 1.0, facts)


def frames(ms: float) -> StepResult:
    return result("full-auto", precision="int8", **{"every 80 ms, full cache": dict.fromkeys(PERCENTILES, ms)})


@cases(
    "results, told",
    (
        [result("kernels"), result("checks"), result("session-int8"), frames(30.6)],
        [
            ("good", "KAME's kernels work on this card."),
            ("good", "KAME's fast paths give the same results on this card as the plain ones."),
            ("good", "KAME's process works on this card as a conversation uses it."),
            ("good", "A frame takes 31 ms of 80 (int8): KAME keeps up."),
        ],
    ),
    (
        [result("kernels", "failed"), result("session-int8", "left out"), frames(70)],
        [
            (
                "fair",
                "Some of KAME's kernels don't work on this card with this driver, so KAME is slower, or takes more "
                f"memory. Install the newest driver. {BENCH}",
            ),
            ("fair", "A frame takes 70 ms of 80 (int8): KAME just keeps up. Let no other program use the card."),
        ],
    ),
    (
        [frames(99)],
        [
            (
                "fair",
                "A frame takes 99 ms of 80 (int8): KAME can't keep up. Choose a smaller precision, or the built-in "
                "voice.",
            )
        ],
    ),
    ([result("full-auto", "left out")], [("fair", "KAME needs 18.5 GB.")]),
    ([result("full-auto", "failed")], [("fair", f"The whole model could not be run on this card. {BENCH}")]),
    (
        [result("card", "failed"), frames(20)],
        [("fair", f"KAME could not be tried on this card. {BENCH}")],
    ),
)
def test_what_the_trial_of_a_card_has_found_is_told(
    results: list[StepResult], told: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "command", lambda: "kame-desktop")
    found = trial_findings(results if results[0].step == "card" else [result("card"), *results])
    assert [(one.state, one.sentence) for one in found] == told and {one.topic for one in found} == {"trial"}


def test_a_card_that_is_ready_can_be_tried() -> None:
    assert look(BIG).can_try
    assert not look().can_try and not look(Card("NVIDIA L4", 22 * GB, 21 * GB, NO_PACKAGES, True)).can_try


def test_the_trial_runs_the_quick_steps_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_bench, "MODULE", "tests.support.card_steps")
    monkeypatch.setattr(machine_service, "QUICK", tuple(step for step in QUICK if step.name in ("card", "kernels")))
    told: list[tuple[str, float]] = []
    found = asyncio.run(MachineService(Settings()).try_card(lambda words, share: told.append((words, share))))
    assert [one.sentence for one in found] == ["KAME's kernels work on this card."]
    assert told == [(f"Trying KAME on the graphics card, step {at} of 2 …", (at - 1) / 2) for at in (1, 2)]


def test_the_trial_waits_for_no_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_bench, "MODULE", "tests.support.card_steps")
    monkeypatch.setattr(machine_service, "QUICK", chosen_steps(["card"]))
    with CARD.hold("KAME"), pytest.raises(UserError, match="End the conversation, then try again"):
        asyncio.run(MachineService(Settings()).try_card(lambda words, share: None))


def test_a_trial_that_is_cancelled_ends_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_bench, "MODULE", "tests.support.card_steps")
    monkeypatch.setattr(machine_service, "QUICK", chosen_steps(["waits"]))

    async def cancelled() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(MachineService(Settings()).try_card(lambda words, share: begun.set()))
        await asyncio.wait_for(begun.wait(), 20)
        task.cancel()
        await asyncio.wait([task], timeout=20)
        assert task.cancelled()

    started = time.monotonic()
    asyncio.run(cancelled())  # waits for its threads, and so for the step, which would last 40 s
    assert time.monotonic() - started < 25
