"""Tests the installation of a graphics card's packages while the app runs, and its failures at any moment. The packages
are tiny, the driver's library and torch stand in for the real ones: nothing here runs on a card."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from installation import replacement
from installation.problems import Problem
from installation.stamp import is_ready
from tests.support.driver import GTX_1080, RTX_4070, make_driver
from tests.support.raising import raising
from tests.unit.packaging.card_installation import Index, Installation, end

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a library for Linux stands in for the driver's")
APP = {"numpy_like", "model"}
CARD = {*APP, "torch", "nvidia_cuda_runtime_cu12", "safetensors", "sentencepiece"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_driver(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def installed(tmp_path: Path, library: Path) -> Iterator[Installation]:
    """The app set up without a card's packages."""
    index = Index()
    with tempfile.TemporaryDirectory(prefix="kame-") as runtime:
        try:
            made = Installation(tmp_path, index, library, Path(runtime))
            assert made.run("setup")[0] == 0 and made.modules() == APP
            yield made
        finally:
            index.close()


def names_beside(installed: Installation) -> set[str]:
    """Returns what there is beside the environment, without the log and the lock."""
    return {path.name for path in installed.places.venv.parent.iterdir()} - {"environment.log", "environment.lock"}


def sentences(reports: list) -> str:
    return " ".join(report["say"] for report in reports if "say" in report)


@pytest.mark.slow
def test_a_card_is_offered_with_its_size_and_none_is_not(installed: Installation) -> None:
    status = installed.status()
    assert status["state"] == "offered" and (status["build"], status["estimated"]) == ("cu128", False)
    assert (status["download"], status["room"]) == (1_000_000, 2_000_000)
    assert status["sentence"].startswith("An NVIDIA GeForce RTX 4070 with 12 GB is here. KAME can run on it")
    assert "torch for CUDA 12.8" in status["sentence"]
    installed.variables["NVML_FAKE_CARDS"] = GTX_1080
    assert installed.status()["state"] == "unfit" and "too old" in installed.status()["sentence"]
    installed.variables["NVML_FAKE_CARDS"] = ""
    assert installed.status()["state"] == "none"
    code, reports = installed.run("card", "install")
    assert code == 2 and "no NVIDIA card" in reports[-1]["problem"]["happened"]
    assert not installed.places.next.venv.exists() and installed.modules() == APP


def test_it_is_installed_beside_the_app_and_used_from_the_next_start(installed: Installation) -> None:
    before = installed.places.venv.stat().st_ino
    code, reports = installed.run("card", "install")
    assert code == 0 and reports[-1] == {"ready": True}, reports
    assert "Restart KAME Desktop" in sentences(reports) and "1 MB to download" in sentences(reports)
    assert [report["of"] for report in reports if "Fetching" in report.get("step", "")][-1] == 2_000_000
    assert installed.modules() == APP and installed.places.venv.stat().st_ino == before, "the app in use is as it was"
    assert names_beside(installed) == {"environment", "environment.next"}
    assert installed.status()["state"] == "waiting"
    assert installed.run("card", "install")[0] == 0

    asked = len(installed.index.asked)
    assert installed.run("setup")[0] == 0
    assert installed.modules() == CARD and names_beside(installed) == {"environment"}
    assert installed.status()["state"] == "installed" and is_ready(installed.places)
    assert installed.run("setup")[1] == [{"ready": True}] and len(installed.index.asked) == asked


@pytest.mark.slow
def test_it_waits_while_the_window_is_open_and_for_other_commands(installed: Installation) -> None:
    installed.run("card", "install")
    with installed.window():
        for words in (("setup",), ("start",)):
            assert installed.run(*words)[1][0] == {"ready": True}
    installed.run("start", "doctor")
    assert installed.modules() == APP and installed.places.next.venv.exists()
    installed.run("start")
    assert installed.modules() == CARD and names_beside(installed) == {"environment"}


@pytest.mark.slow
def test_a_card_that_fails_its_check_leaves_the_embedded_voice(installed: Installation) -> None:
    for torch, words in (("blind", "present driver"), ("broken", "does not start"), ("wrong", "wrongly")):
        installed.variables["FAKE_TORCH"] = torch
        code, reports = installed.run("card", "install")
        assert code == 2 and words in reports[-1]["problem"]["meaning"]
        # Another driver may work, so the downloads stay.
        kept = {"environment.cache"} if torch == "blind" else set()
        assert installed.modules() == APP and names_beside(installed) == {"environment", *kept}
    assert installed.index.asked.count("torch-2.9.1-py3-none-any.whl") == 2
    asked = len(installed.index.asked)
    assert installed.run("setup")[1] == [{"ready": True}] and len(installed.index.asked) == asked, "not by itself"


@pytest.mark.slow
def test_it_can_be_interrupted_at_any_moment_and_continues(installed: Installation) -> None:
    index = installed.index
    index.held = "torch"
    del index.asked[:]
    for how, code in (("cancel", 130), ("ask", 130), ("kill", -9)):
        index.reached.clear()
        child = installed.start("card", "install")
        assert index.reached.wait(60)
        assert is_ready(installed.places), "the app starts meanwhile, and waits for nothing"
        assert end(child, how) == code
        assert installed.modules() == APP and is_ready(installed.places)
        if how != "kill":
            assert names_beside(installed) == {"environment", "environment.cache"}
    assert installed.run("setup")[1] == [{"ready": True}]

    # The package tool of the killed launcher still waits for its download, and the next launcher for that tool.
    index.release.set()
    assert installed.run("card", "install")[0] == 0
    others = [name for name in index.asked if not name.startswith("torch")]
    assert len(others) == len(set(others)) == 3, "what has come is kept"
    assert installed.run("setup")[0] == 0 and installed.modules() == CARD


@pytest.mark.slow
def test_without_room_nothing_is_fetched(installed: Installation) -> None:
    installed.write_sizes(torch=10**18)
    asked = len(installed.index.asked)
    code, reports = installed.run("card", "install")
    assert code == 2 and "not enough room" in reports[-1]["problem"]["happened"]
    assert len(installed.index.asked) == asked and names_beside(installed) == {"environment"}


@pytest.mark.slow
def test_a_full_disk_and_a_lost_network_are_explained(installed: Installation) -> None:
    uv = installed.places.uv
    uv.unlink()
    for printed, meaning in (("No space left on device (os error 28)", "full"), ("dns error", "did not go through")):
        uv.write_text(f"#!/bin/sh\necho '{printed}'\nexit 2\n")
        uv.chmod(0o755)
        code, reports = installed.run("card", "install")
        assert code == 2 and meaning in reports[-1]["problem"]["meaning"]
        assert installed.modules() == APP and is_ready(installed.places)
        assert not installed.places.new.venv.exists() and not installed.places.next.venv.exists()


@pytest.mark.slow
def test_an_upgrade_keeps_the_choice_and_falls_back_if_the_card_fails(installed: Installation) -> None:
    installed.run("card", "install")
    # The choice also holds while the environment still waits.
    installed.card["sentencepiece"] = installed.index.add("sentencepiece", "0.3.0")
    installed.write_locks()
    assert installed.run("setup")[0] == 0
    assert installed.modules() == CARD
    assert (installed.places.site_packages / "sentencepiece-0.3.0.dist-info").exists()  # type: ignore[operator]
    assert installed.index.asked.count("torch-2.9.1-py3-none-any.whl") == 1

    installed.card["sentencepiece"] = installed.index.add("sentencepiece", "0.4.0")
    installed.write_locks()
    index = installed.variables.pop("UV_DEFAULT_INDEX")
    code, reports = installed.run("setup", UV_DEFAULT_INDEX="http://127.0.0.1:9/simple", UV_HTTP_RETRIES="0")
    assert code == 2 and reports[-1]["problem"]["meaning"] == "The download did not go through.", reports
    assert "kame-desktop card remove" in reports[-1]["problem"]["remedy"]
    assert installed.modules() == CARD, "what doesn't come today comes tomorrow"
    installed.variables.update(UV_DEFAULT_INDEX=index, FAKE_TORCH="blind")
    code, reports = installed.run("setup")
    assert code == 0 and "continues with the built-in voice" in sentences(reports)
    assert installed.modules() == APP and names_beside(installed) == {"environment"}
    assert installed.run("setup")[1] == [{"ready": True}], "it isn't tried again by itself"
    status = installed.status()
    assert status["state"] == "offered" and status["sentence"].startswith("The graphics card could not be used.")


@pytest.mark.slow
def test_of_several_cards_the_one_that_fits_is_used(installed: Installation) -> None:
    seen = installed.places.root / "seen"
    code = f"import os, pathlib\npathlib.Path({str(seen)!r}).write_text(os.environ.get('CUDA_VISIBLE_DEVICES', ''))"
    (installed.places.root / "app" / "__main__.py").write_text(code)
    installed.variables["NVML_FAKE_CARDS"] = f"Tesla P40;25769803776;25000000000;6;1\n{RTX_4070}"
    assert installed.run("card", "install")[0] == installed.run("start")[0] == 0
    assert seen.read_text() == "GPU-1"

    installed.variables["NVML_FAKE_CARDS"] = RTX_4070  # which is GPU-0 now
    status = installed.status()
    assert status["state"] == "offered" and status["sentence"].startswith("What is installed for a graphics card is")
    assert installed.run("card", "install")[0] == installed.run("start")[0] == 0
    assert seen.read_text() == "" and installed.status()["state"] == "installed"


@pytest.mark.slow
def test_it_can_be_removed(installed: Installation) -> None:
    assert "Nothing is installed" in sentences(installed.run("card", "remove")[1])
    installed.run("card", "install")
    assert installed.run("card", "remove")[0] == 0 and not installed.places.next.venv.exists()
    installed.run("card", "install")
    installed.run("setup")
    assert installed.modules() == CARD
    assert installed.run("card", "remove")[0] == 0 and installed.modules() == CARD
    assert installed.run("setup")[0] == 0 and installed.modules() == APP


@pytest.mark.slow
def test_a_replacement_waits_and_is_finished_later(installed: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    installed.run("card", "install")
    places = installed.places
    with monkeypatch.context() as windows:
        windows.setattr(replacement, "move", raising(Problem("It is in use.", "", "")))
        replacement.adopt_next(places)
    assert installed.modules() == APP and places.next.venv.exists()
    os.replace(places.venv, places.old)  # as after the first of the two renames
    assert installed.run("setup")[0] == 0
    assert installed.modules() == CARD and names_beside(installed) == {"environment"}
    places.next.venv.mkdir()  # an incomplete one is ignored
    assert installed.run("setup")[0] == 0
    assert installed.modules() == CARD and names_beside(installed) == {"environment"}


@pytest.mark.slow
def test_a_restart_waits_for_the_app_and_starts_what_the_menu_starts(installed: Installation) -> None:
    program = installed.places.root / "packaging" / "installation" / "progress_window.py"
    begun = installed.places.root / "begun"
    program.write_text(f"import pathlib\npathlib.Path({str(begun)!r}).mkdir()\n")
    child = installed.start("restart")
    assert child.poll() is None and not begun.exists()
    assert end(child, "cancel") == 0
    waiting = threading.Event()
    for _ in range(600):
        if begun.exists():
            return
        waiting.wait(0.05)
    raise AssertionError("it was not started")
