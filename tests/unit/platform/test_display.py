"""Tests that a start without a usable screen ends with a sentence, where Qt would abort the process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.platform.display import window_obstacle
from tests.support.child import run_python
from tests.support.parts import need
from tests.support.tables import cases

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM")


def start(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return run_python("-m", "app", *arguments, env={**env, **variables}, timeout=120)


def test_without_a_screen_it_offers_what_works_without_one() -> None:
    ended = start()
    (sentence,) = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert sentence.startswith("There is no screen")
    for command in ("run talk”", "run talk --input", "run serve”"):
        assert command in sentence


def test_the_demo_without_a_screen_says_so_in_its_document() -> None:
    ended = start("demo", "--json")
    assert (ended.returncode, ended.stderr) == (2, "")
    assert "There is no screen" in json.loads(ended.stdout)["error"]


@cases(
    "variables, named",
    ({"DISPLAY": ":9999"}, "“:9999”, which the variable DISPLAY names"),
    ({"WAYLAND_DISPLAY": "wayland-99"}, "“wayland-99”, which the variable WAYLAND_DISPLAY names"),
    ({"QT_QPA_PLATFORM": "paper"}, "QT_QPA_PLATFORM asks for “paper”"),
)
def test_a_screen_that_can_not_be_opened_is_named(variables: dict[str, str], named: str) -> None:
    sentence = window_obstacle(variables)
    assert sentence.startswith("No window can open: ") and named in sentence


def test_one_screen_of_several_is_enough() -> None:
    assert window_obstacle({"QT_QPA_PLATFORM": "xcb;offscreen", "DISPLAY": ":9999"}) == ""


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    """A platform plugin that is linked to a library, which is then taken away."""
    need("g++")
    platforms = tmp_path / "plugins" / "platforms"
    platforms.mkdir(parents=True)
    (tmp_path / "code.cpp").write_text('extern "C" int cursor() { return 1; }\n')
    (tmp_path / "plugin.cpp").write_text('extern "C" int cursor(); int loaded = cursor();\n')
    library = tmp_path / "libkame-cursor.so.0"
    build = ["g++", "-shared", "-fPIC"]
    subprocess.run([*build, f"-Wl,-soname,{library.name}", "-o", library, tmp_path / "code.cpp"], check=True)
    subprocess.run([*build, "-o", platforms / "libqxcb.so", tmp_path / "plugin.cpp", library], check=True)
    library.unlink()
    sentence = window_obstacle({"DISPLAY": ":9999"}, tmp_path)
    assert window_obstacle({}, tmp_path).startswith("There is no screen")
    assert "the system's library libkame-cursor.so.0 is missing" in sentence and "run serve" in sentence
