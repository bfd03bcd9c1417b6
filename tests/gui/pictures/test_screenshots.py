"""The pages' pictures: no scene cuts anything off, each picture is reproducible, and a page shows it."""

from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.gui.cards.document import COLUMN_PX
from app.gui.design.look import Look
from tests.gui.helpers import spread, until
from tests.gui.pictures.scenes import SCENES, scene
from tests.gui.pictures.screenshots import FOLDER, named_pictures, take_picture, write
from tests.gui.window.test_accessibility import cut_off

LIVE = "window.png"
"""The picture of a real conversation, which another command takes."""
MOST_BYTES = 250_000


async def _whole(widget: QWidget) -> None:
    await until(lambda: not cut_off(widget.window()))


@pytest.mark.parametrize(
    "name, theme", spread([scene.name for scene in SCENES if not scene.dark], ["light", "dark"], at_first=12)
)
async def test_no_scene_cuts_anything_off(name: str, theme: str) -> None:
    dark = theme == "dark"
    async with scene(name).opened(dark=dark) as widget:
        assert Look.of(widget.palette()).dark == dark
        window = widget.window()
        if window.parent() is None:
            assert (window.width(), window.height()) == scene(name).size
        await _whole(widget)


@pytest.mark.slow
@pytest.mark.parametrize("percent, name", spread([200, 150], ["talk", "side-by-side", "trouble", "small"]))
async def test_large_text_cuts_nothing_off(name: str, percent: int) -> None:
    async with scene(name).opened(percent=percent) as widget:
        await _whole(widget)


async def test_lines_stay_short_on_a_large_screen() -> None:
    async with scene("large").opened() as window:
        view = window.transcript.view
        boxes = [view.box_of(place) for place in range(len(view.cards))]
        assert len(boxes) == 4 and boxes[0].top() > 0
        assert all(box.width() <= COLUMN_PX for box in boxes)


@pytest.mark.parametrize("percent, rows", [(100, 2), (125, 2), (150, 2)])
async def test_the_welcome_shows_whole_rows_of_questions(percent: int, rows: int) -> None:
    async with scene("empty").opened(percent=percent, size=(900, 600)) as window:
        welcome = window.transcript.welcome
        for height, least in ((600, rows), (540, 1), (900, 2)):
            window.resize(900, height)
            await until(lambda height=height: window.height() == height)
            await until(lambda: welcome.verticalScrollBar().maximum() == 0)
            seen = [button for button in welcome.questions if button.isVisible()]
            assert all(button.visibleRegion().boundingRect() == button.rect() for button in seen)
            assert len({button.y() for button in seen}) >= least
        assert seen == welcome.questions


@pytest.mark.slow
async def test_panes_are_hidden_when_window_or_text_leave_no_room() -> None:
    cases = (("small", 100, False), ("talk", 100, True), ("talk", 200, False), ("large", 200, True))
    for name, percent, there in cases:
        async with scene(name).opened(percent=percent) as window:
            assert window.conversations.isVisible() == there, (name, percent)


@pytest.mark.slow
async def test_a_picture_is_the_same_each_time_and_keeps_its_colours(tmp_path: Path) -> None:
    one, two = await take_picture(scene("talk")), await take_picture(scene("talk"))
    assert one == two
    assert write(one, tmp_path / "one.png") < MOST_BYTES
    read = QImage(str(tmp_path / "one.png"))
    assert (read.width(), read.height()) == (one.width(), one.height())
    places = [(x, y) for x in range(0, one.width(), 7) for y in range(0, one.height(), 7)]
    far = max(
        abs(a - b)
        for x, y in places
        for a, b in zip(read.pixelColor(x, y).getRgb(), one.pixelColor(x, y).getRgb(), strict=True)
    )
    assert far <= 16


def test_the_pages_show_each_picture_that_is_there() -> None:
    there = {path.name for path in FOLDER.iterdir()}
    assert named_pictures() == there
    assert there <= {f"{scene.name}.png" for scene in SCENES} | {LIVE}
    assert all(path.stat().st_size < MOST_BYTES for path in FOLDER.iterdir())
