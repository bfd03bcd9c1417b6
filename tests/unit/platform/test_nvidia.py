"""Tests what is found about NVIDIA cards, with a stand-in for the driver's library."""

import os
import sys
from pathlib import Path

import pytest

from app.platform import nvidia
from tests.support.child import run_python
from tests.support.driver import GTX_1080, GTX_1650, RTX_4070, make_driver
from tests.support.tables import cases

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a library and scripts for Linux stand in")
ROOT = Path(nvidia.__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_driver(tmp_path_factory.mktemp("driver")))


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the machine's own NVIDIA driver and cards."""
    monkeypatch.setenv("PATH", str(tmp_path))


def ask(library: str, **more: object) -> nvidia.Driver | None:
    return nvidia.look(20, libraries=(library,), devices="/nowhere", **more)  # type: ignore[arg-type]


def test_the_library_tells_all_cards_and_the_largest_is_taken(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_FAKE_CARDS", f"{GTX_1650}\n{RTX_4070}")
    monkeypatch.setenv("NVML_FAKE_CUDA", "12080")
    driver = ask(library)
    assert (driver.version, driver.cuda, len(driver.cards)) == ("580.95.05", (12, 8), 2)
    assert nvidia.best_card(driver) == nvidia.Card("NVIDIA GeForce RTX 4070", 12878610432, 12305039360, (8, 9), "GPU-1")
    assert nvidia.obstacle(driver) == ""


def test_a_large_card_that_is_too_old_hides_no_smaller_one(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_FAKE_CARDS", f"Tesla P40;25769803776;25000000000;6;1\n{RTX_4070}\n{GTX_1650}")
    driver = ask(library)
    assert driver is not None and nvidia.obstacle(driver) == ""
    best = nvidia.best_card(driver)
    assert best is not None and (best.name, best.uuid) == ("NVIDIA GeForce RTX 4070", "GPU-1")


@cases(
    "variables, words",
    ({"NVML_FAKE_CARDS": GTX_1080}, "The card NVIDIA GeForce GTX 1080 is too old"),
    ({"NVML_FAKE_CARDS": GTX_1650}, "has 4 GB of memory: KAME needs 8 GB"),
    (
        {"NVML_FAKE_CARDS": RTX_4070, "NVML_FAKE_CUDA": "11040", "NVML_FAKE_DRIVER": "470.239"},
        "The NVIDIA driver 470.239 is too old",
    ),
    ({"NVML_FAKE_CODE": "9"}, "is installed but does not run"),
    ({"NVML_FAKE_CODE": "18"}, "works again after a restart"),
    ({"NVML_FAKE_CODE": "15"}, "does not answer"),
)
def test_unusable_cards_are_told(
    variables: dict[str, str], words: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    driver = ask(library)
    assert driver is not None and words in nvidia.obstacle(driver)
    assert nvidia.obstacle(driver).endswith(".")


def test_a_driver_that_is_stuck_is_left_to_itself(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_FAKE_SLEEP", "3600")
    assert nvidia.look(0.5, libraries=(library,)) == nvidia.Driver(trouble=nvidia.NO_ANSWER)


def test_a_driver_without_a_card_is_no_card(library: str) -> None:
    assert ask(library) is None


def test_a_card_without_a_driver_is_told(tmp_path: Path) -> None:
    assert nvidia.look(20, libraries=(), devices=str(tmp_path)) is None
    for name, kind in (("0000:00:1f.0", "0x040300"), ("0000:01:00.0", "0x030000")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "vendor").write_text("0x10de\n")
        (folder / "class").write_text(f"{kind}\n")
        found = nvidia.look(20, libraries=(), devices=str(tmp_path))
        assert found == (nvidia.Driver(trouble=nvidia.NO_DRIVER) if kind == "0x030000" else None)


def test_it_tells_what_cards_are_doing_and_for_whom(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVML_FAKE_CARDS", f"{GTX_1650}\n{RTX_4070}")
    monkeypatch.setenv("NVML_FAKE_USE", f"0;300;1800;1\n97;1200;2500;{0x20 | 0x04}")
    programs = (
        "1;100;11200000000;60;C;/usr/lib/kame/bin/python3",
        "1;101;6000000000;35;C;/usr/local/bin/ollama",
        "1;102;-1;0;G;C:\\Games\\Räuber.exe",
        "0;103;90000000;0;G;/usr/lib/xorg/Xorg",
        "1;104;7;0;C;-",
        "1;101;5000000000;35;G;/usr/local/bin/ollama",
    )
    monkeypatch.setenv("NVML_FAKE_PROGRAMS", "\n".join(programs))
    small, large = nvidia.look_at_use(20, (library,))
    assert small[:7] == ("NVIDIA GeForce GTX 1650", 4294967296, 94967296, 0, 300, 1800, ())
    assert small.programs == (nvidia.Program(103, "Xorg", 90000000, 0),)
    assert large[:7] == ("NVIDIA GeForce RTX 4070", 12878610432, 573571072, 97, 1200, 2500, ("heat", "power"))
    assert large.programs == (
        nvidia.Program(100, "python3", 11200000000, 60),
        nvidia.Program(101, "ollama", 6000000000, 35),
        nvidia.Program(104, "", 7, 0),
        nvidia.Program(102, "Räuber.exe", 0, 0),
    )


def test_a_driver_that_does_not_tell_how_its_cards_are_used_leaves_that_open(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVML_FAKE_CARDS", RTX_4070)
    assert nvidia.look_at_use(20, (library,)) == (nvidia.CardUse("NVIDIA GeForce RTX 4070", 12878610432, 573571072),)
    assert nvidia.look_at_use(20, ("/nowhere/library.so",)) == ()
    monkeypatch.setenv("NVML_FAKE_CODE", "15")
    assert nvidia.look_at_use(20, (library,)) == ()
    monkeypatch.setenv("NVML_FAKE_SLEEP", "3600")
    assert nvidia.look_at_use(0.5, (library,)) == ()


def test_it_is_an_old_pythons_own_program() -> None:
    """The set-up runs this file by its path, before anything is installed."""
    code = "import sys; before = set(sys.modules); import nvidia; print(sorted(set(sys.modules) - before))"
    done = run_python(
        "-S",
        "-c",
        code,
        cwd=ROOT / "app" / "platform",
        env={**os.environ, "PYTHONPATH": str(ROOT / "app" / "platform")},
    )
    loaded = set(eval(done.stdout))
    assert not {name for name in loaded if name.split(".")[0] not in (*sys.stdlib_module_names, "nvidia")}
