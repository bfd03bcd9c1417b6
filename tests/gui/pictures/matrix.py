"""Takes every scene in every theme, window size and text size, and lists what is cut off or lies outside.

`python -m tests.gui.pictures.matrix [--out FOLDER] [--only NAME] [--theme NAME] [--size 900x600] [--percent 150]`.
Without `--out` no picture is written; the list is printed in any case. Exit code 1 if anything is cut off.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from app.gui.design.theme import apply_theme
from app.gui.window.daemon_executor import DaemonExecutor
from tests.gui.pictures.scenes import SCENES, Scene
from tests.gui.pictures.screenshots import write
from tests.gui.window.test_accessibility import cut_off

THEMES = ("light", "dark", "contrast")
SIZES = ((900, 600), (1366, 768), (1920, 1080), (2560, 1440))
PERCENTS = (100, 150, 200)
LEFT_OUT = ("talk-dark", "small", "large")
"""Scenes that are others in another theme or size."""


async def take(
    scene: Scene, theme: str, size: tuple[int, int], percent: int, folder: Path | None
) -> tuple[str, list[str], QWidget]:
    """Takes one picture; returns its name, what is cut off in it, and the widget."""
    name = f"{scene.name}-{theme}-{size[0]}x{size[1]}-{percent}"
    async with scene.opened(dark=theme != "light", percent=percent, size=size) as widget:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, theme, percent)
        await asyncio.sleep(0.08)
        window = widget.window()
        short = cut_off(window)
        if window.width() > size[0] or window.height() > size[1]:
            short.append(f"larger than the screen: {window.width()} × {window.height()}")
        if folder is not None:
            write(window.grab().toImage(), folder / f"{name}.png")
    return name, short, widget


def main(arguments: list[str]) -> int:
    """Takes them all, or those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--theme", action="append", choices=THEMES)
    parser.add_argument("--size", action="append")
    parser.add_argument("--percent", action="append", type=int)
    options = parser.parse_args(arguments)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    wanted = [scene for scene in SCENES if (scene.name in options.only if options.only else scene.name not in LEFT_OUT)]
    sizes = [(int(w), int(h)) for w, h in (text.split("x") for text in options.size)] if options.size else SIZES
    if len(sizes) > 1:  # each has a process of its own, since a screen can't change
        rest = _without(arguments, "--size")
        command = [sys.executable, "-m", "tests.gui.pictures.matrix", *rest]
        return max(subprocess.run([*command, "--size", f"{w}x{h}"], check=False).returncode for w, h in sizes)
    with tempfile.TemporaryDirectory() as folder:
        return _take_all(options, wanted, sizes[0], _screen(Path(folder), sizes[0]))


def _screen(folder: Path, size: tuple[int, int]) -> str:
    """Describes a screen of this size for Qt's offscreen platform."""
    screen = {"name": "screen", "x": 0, "y": 0, "width": size[0], "height": size[1], "logicalDpi": 96, "dpr": 1}
    path = folder / "screens.json"
    path.write_text(
        json.dumps({"synchronousWindowSystemEvents": True, "windowFrameMargins": False, "screens": [screen]})
    )
    return f"offscreen:configfile={path}"


def _without(arguments: list[str], option: str) -> list[str]:
    """The arguments without an option and its value."""
    return [word for place, word in enumerate(arguments) if option not in (word, arguments[place - 1] if place else "")]


def _take_all(options: argparse.Namespace, wanted: list[Scene], size: tuple[int, int], platform: str) -> int:
    os.environ["QT_QPA_PLATFORM"] = platform
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    faults = count = 0
    for scene, theme, percent in itertools.product(wanted, options.theme or THEMES, options.percent or PERCENTS):
        name, short, _ = loop.run_until_complete(take(scene, theme, size, percent, options.out))
        count += 1
        if short:
            faults += 1
            print(f"{name}: {', '.join(dict.fromkeys(short))}", flush=True)
    print(f"{size[0]}x{size[1]}: {count} pictures, {faults} with something cut off")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
