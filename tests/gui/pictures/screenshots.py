"""Takes the pictures of the README and the guide: `python -m tests.gui.pictures.screenshots [--only NAME] [--out
FOLDER]`.

They show real widgets with scripted conversations, on a virtual screen where there is one; the same command gives the
same pictures. `python -m tests.live.screenshot` takes the one of a real conversation.
"""

import argparse
import asyncio
import os
import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QCursor, QImage, QImageWriter
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.gui.window.daemon_executor import DaemonExecutor
from tests.gui.pictures.scenes import SCENES, Scene
from tests.support.screen import virtual_screen

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "resources" / "screenshots"
PAGES = (ROOT / "README.md", ROOT / "resources" / "guide" / "guide.md")
SCREEN = "2600x1500"
COLOURS = 256
AROUND = 6
"""Pixels around a widget that is part of the window."""


def named_pictures() -> set[str]:
    """Return the file names of the pictures that the pages show."""
    return {name for page in PAGES for name in re.findall(r"screenshots/([\w-]+\.png)", page.read_text("utf-8"))}


def main(arguments: list[str]) -> int:
    """Take the pictures that the pages show; into another folder, those of all scenes; or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[scene.name for scene in SCENES], metavar="NAME")
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--light", action="store_true", help="all in light colours")
    parser.add_argument("--dark", action="store_true", help="all in dark colours")
    parser.add_argument("--percent", type=int, default=100, help="the size of text")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    dark = True if options.dark else False if options.light else None
    there = sys.platform == "linux" and all(map(shutil.which, ("Xvfb", "xdotool")))
    with virtual_screen(SCREEN) if there else nullcontext() as screen:
        os.environ["QT_QPA_PLATFORM"] = "xcb" if screen is not None else "offscreen"
        if screen is not None:
            os.environ["DISPLAY"] = screen.display
        app = QApplication.instance() or QApplication([])
        app.setQuitOnLastWindowClosed(False)
        QCursor.setPos(app.primaryScreen().geometry().bottomRight())  # away from the window
        loop = QEventLoop(app)
        loop.set_default_executor(DaemonExecutor())
        asyncio.set_event_loop(loop)
        shown = named_pictures() if options.out == FOLDER else {f"{scene.name}.png" for scene in SCENES}
        for scene in SCENES:
            if scene.name in options.only if options.only else f"{scene.name}.png" in shown:
                picture = loop.run_until_complete(take_picture(scene, dark, options.percent))
                path = options.out / f"{scene.name}.png"
                size = write(picture, path)
                print(f"{path.name}: {picture.width()} × {picture.height()}, {size / 1000:.0f} kB", flush=True)
        asyncio.set_event_loop(None)
        loop.close()
        del app
        QApplication.instance().shutdown()  # before the virtual screen ends
    return 0


async def take_picture(scene: Scene, dark: bool | None = None, percent: int = 100) -> QImage:
    """Takes the picture of a scene; a part of the window is shown with a margin."""
    async with scene.opened(dark=dark, percent=percent) as widget:
        window = widget.window()
        if widget is window:
            return window.grab().toImage()
        part = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-AROUND, -AROUND, AROUND, AROUND)
        return window.grab(part & window.rect()).toImage()


def write(picture: QImage, path: Path) -> int:
    """Writes a picture as a PNG with 256 colours, enough for text and lines; returns its size in bytes."""
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    width, height = picture.width(), picture.height()
    pixels = np.frombuffer(picture.constBits(), np.uint32).reshape(height, -1)[:, :width] & 0xFFFFFF
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    channels = _channels(colours)
    table, nearest = _palette(channels, np.sqrt(counts))
    indexes = np.ascontiguousarray(nearest[places.reshape(height, width)])
    small = QImage(indexes.data, width, height, width, QImage.Format.Format_Indexed8)
    small.setColorTable([0xFF000000 | int(colour) for colour in colours[table]])
    writer = QImageWriter(str(path), b"png")
    writer.setCompression(100)
    assert writer.write(small), writer.errorString()
    return path.stat().st_size


def _palette(channels: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Chooses colours one after the other, each the worst represented so far; returns them, and the index for each."""
    chosen, nearest = [int(weights.argmax())], np.zeros(len(channels), np.uint8)
    away = np.abs(channels - channels[chosen[0]]).sum(axis=1)
    while len(chosen) < COLOURS and away.any():
        worst = int((weights * away * away).argmax())
        near = np.abs(channels - channels[worst]).sum(axis=1)
        nearest[near < away] = len(chosen)
        away = np.minimum(away, near)
        chosen.append(worst)
    return np.array(chosen), nearest


def _channels(colours: np.ndarray) -> np.ndarray:
    return np.stack([(colours >> shift) & 0xFF for shift in (16, 8, 0)], axis=1).astype(np.int64)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
