"""The timeline as the user sees it: what is painted, explained, in which colours, and saved as an image."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.design.model_colours import DARK, LIGHT
from app.gui.design.tokens import tokens_for
from app.gui.timeline.view_range import USUAL_SECONDS
from app.gui.timeline_data.live_clock import LAG_SECONDS
from tests.gui.helpers import dark_theme
from tests.gui.pictures.timeline import CLAUDE, GPT, QWEN, long_talk, talk
from tests.gui.timeline.helpers import Shown, colours, hover, lane, say, spot

# -- what is seen


def test_each_backend_has_its_colour_and_a_swap_is_seen(full: Shown) -> None:
    pane, view, _ = full
    before, after = (view.picture.colours.backend(backend) for backend in (QWEN, GPT))
    assert before != after
    image = view.grab().toImage()
    painter = view.picture.painter(view.frame)
    strip = painter.canvas.lanes.strips["backend"]

    def has(colour: QColor, earliest: float, latest: float) -> bool:
        left, right = spot(view, earliest, strip.top), spot(view, latest, strip.bottom)
        return any(
            image.pixelColor(x, y).name() == colour.name()
            for x in range(left.x(), right.x())
            for y in range(left.y(), right.y())
        )

    assert has(after, 10.4, 12.9) and not has(after, 2.0, 9.4)
    faded = painter.bars.colour(pane.log.request(2))
    assert has(faded, 4.9, 7.5) and faded != before
    swap = pane.log.swaps.last
    assert image.pixelColor(spot(view, swap.start + 0.05, lane(view, "you") - 6)).name() == after.name()


def test_sound_is_loud_where_somebody_spoke(full: Shown) -> None:
    _, view, _ = full
    image = view.grab().toImage()

    def loud(name: str, second: float) -> bool:
        colour = (view.picture.colours.user if name == "you" else view.picture.colours.assistant).name()
        point = spot(view, second, lane(view, name))
        column = [image.pixelColor(point.x(), point.y() + y).name() for y in range(-8, 9)]
        return column.count(colour) >= 5

    assert [loud("you", second) for second in (3.0, 10.0, 19.0)] == [True, False, True]
    assert [loud("kame", second) for second in (3.0, 10.0, 22.0)] == [False, True, True]


def test_a_changed_past_is_painted_again(full: Shown) -> None:
    pane, view, clock = full
    before = view.grab().toImage()
    pane.apply(e.OracleSuperseded(clock.now, 7, 8))
    pane.settle()
    after = view.grab().toImage()
    y = lane(view, "backend")
    far = spot(view, 11.0, y)
    request = pane.log.request(7)
    top, tall = view.picture.painter(view.frame).bars.row(request)
    at = spot(view, 21.5, top + tall / 4)
    assert before.pixelColor(at) != after.pixelColor(at)
    assert before.pixelColor(far) == after.pixelColor(far)


def test_stretches_painted_one_by_one_are_the_same_as_painted_in_one_go(empty: Shown) -> None:
    pane, view, _ = empty
    batch = []
    for event in talk():
        batch.append(event)
        if len(batch) == 5:
            say(empty, *batch)
            batch = []
    say(empty, *batch)
    grown = view.grab().toImage()
    view.picture.forget()
    fresh = view.grab().toImage()
    different = sum(grown.pixel(x, y) != fresh.pixel(x, y) for x in range(grown.width()) for y in range(grown.height()))
    assert different <= 0.001 * grown.width() * grown.height()
    assert len(pane.log.requests) == 7


def test_the_comparison_gets_a_lane_when_it_is_asked(full: Shown) -> None:
    _, view, clock = full
    assert "secondary" not in view.picture.painter(view.frame).canvas.lanes.strips
    at = clock.now
    say(full, e.OracleRequested(at, 90, 2, *CLAUDE, "who", True, True))
    assert hover(view, at, lane(view, "secondary") - 6).startswith("Comparison: Revision 90, claude-sonnet")


@pytest.mark.parametrize("height", [80, 120, 180, 300])
def test_lanes_share_any_height_without_touching(full: Shown, height: int) -> None:
    pane, view, _ = full
    pane.resize(1000, height + pane.height() - view.height())
    QApplication.processEvents()
    lanes = view.picture.painter(view.frame).canvas.lanes
    assert view.box.height() == pytest.approx(height, abs=2)
    bottom = 0.0
    for name in lanes.order:
        strip = lanes.strips[name]
        assert strip.top >= bottom and strip.height >= 3
        bottom = lanes.said.bottom if name == "kame" else strip.bottom
    assert bottom <= lanes.axis.top + 2


# -- explaining


def test_hovering_explains_each_kind_of_thing(full: Shown) -> None:
    pane, view, _ = full
    painter = view.picture.painter(view.frame)

    def bar(revision: int, second: float) -> str:
        top, tall = painter.bars.row(pane.log.request(revision))
        return hover(view, second, top + tall / 2)

    assert hover(view, 3.0, lane(view, "you")) == (
        "You said from 0:02.1 to 0:06.3: “What is the highest mountain in Europe, and how high is it?”"
    )
    assert bar(2, 6.0) == (
        "Revision 2, qwen2.5-0.5b (embedded): asked on 7 words at 0:04.4, first words after 480 ms, 17 words, "
        "superseded by 3 at 0:08.1"
    )
    assert bar(4, 11.0) == (
        "Revision 4, gpt-4.1 (OpenAI): asked on the complete turn at 0:09.7, first words after 600 ms, 16 words, "
        "complete after 3.2 s"
    )
    assert "given up for a newer one" in bar(5, 18.9)
    assert hover(view, 9.6, lane(view, "kame")) == "0:09.6: from here on gpt-4.1 (OpenAI) answers"
    assert hover(view, 5.0, lane(view, "oracle")) == "0:05.0: 1 word of revision 2 reached the voice after 12 ms"
    trouble = lane(view, "trouble")
    assert hover(view, 14.2, trouble) == "0:14.2: a gap in the sound, the loudspeaker ran dry"
    assert hover(view, 15.04, trouble) == "0:15.0: a frame was late by 51 ms"
    assert hover(view, 24.7, trouble) == "0:24.7: 2 frames were dropped, to catch up with the microphone"
    answer = hover(view, 17.0, lane(view, "kame"))
    assert answer.endswith("; corrected by revision 4 at 0:12.9; you interrupted it")
    words = painter.canvas.lanes.strips["words"]
    assert hover(view, 3.9, words.bottom - 2) == (
        "Understood by 0:03.9: “What is the highest mountain in”; “you” may still change"
    )
    assert hover(view, 6.6, words.top + 2).startswith("Settled at 0:06.6: “What is")
    assert hover(view, 25.4, lane(view, "you")) == "You, in passing, at 0:25.3: “Mhm.”"
    assert hover(view, 16.0, lane(view, "you")).startswith("0:16.0: you at −")
    assert pane.readout.text() == view.readout == pane.readout.toolTip()
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert pane.readout.text() == ""


def test_what_is_under_the_mouse_changes_while_it_moves_on(full: Shown) -> None:
    _, view, _ = full
    assert "dropped" in hover(view, 24.7, lane(view, "trouble"))
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(1, 25)))
    view.settle()
    assert view.readout.startswith(("0:26.6", "0:26.7"))


# -- colours


def test_it_follows_the_systems_colours(full: Shown) -> None:
    view = full[1]
    light = view.picture.colours
    with dark_theme():
        dark = view.picture.colours
        assert dark.ground.name() == tokens_for("dark").surface != light.ground.name()
        seen = colours(view)
        assert {dark.ground.name(), dark.user.name(), dark.assistant.name()} <= seen
        assert light.ground.name() not in seen
    for look in (light, dark):
        models = [QColor(name) for name in (DARK if look.dark else LIGHT)]
        assert all(contrast(colour, look.ground) >= 3 for colour in (*models, look.user, look.assistant, look.bad))
        assert all(contrast(colour, look.ground) >= 4.5 for colour in (look.text, look.dim))
        assert all(contrast(look.on(colour), colour) >= 4.5 for colour in models)
        assert contrast(look.warn, look.ground) >= 3


def contrast(one: QColor, other: QColor) -> float:
    def light(colour: QColor) -> float:
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in colour.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    bright, dim = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


# -- the picture


def test_it_is_saved_as_a_readable_image(full: Shown, tmp_path) -> None:
    pane, view, _ = full
    pane.save(tmp_path / "timeline.png")
    image = QImage(str(tmp_path / "timeline.png"))
    assert (image.width(), image.height()) == (2 * view.width(), 2 * view.height())
    seen = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    assert {
        view.picture.colours.user.name(),
        view.picture.colours.assistant.name(),
        view.picture.colours.backend(GPT).name(),
    } <= seen
    pane.save(tmp_path / "timeline.svg")
    root = ElementTree.parse(tmp_path / "timeline.svg").getroot()
    assert root.get("viewBox") == f"0 0 {view.width()} {view.height()}"
    texts = " ".join("".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "KAME" in texts and "gpt-4.1" in texts and "Model" in texts
    with pytest.raises(OSError):
        pane.save(tmp_path / "missing" / "timeline.png")
    with pytest.raises(OSError):
        pane.save(tmp_path / "missing" / "timeline.svg")


def test_the_export_button_asks_where_to_without_blocking(full: Shown, tmp_path, qtbot) -> None:
    pane, _, _ = full
    QTest.mouseClick(pane.export_button, Qt.MouseButton.LeftButton)
    dialog = pane.dialog
    assert dialog is not None and dialog.isVisible()
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile(str(tmp_path / "mine.png"))
    dialog.accept()
    assert not QImage(str(tmp_path / "mine.png")).isNull()
    assert pane.dialog is None
    with qtbot.waitSignal(pane.failed) as failed:
        pane._export_to(str(tmp_path / "missing" / "mine.png"))
    assert failed.args[0].startswith("The image could not be saved (")


# -- how long it takes


def test_of_a_dense_talk_only_what_is_new_is_painted(empty: Shown) -> None:
    pane, view, clock = empty
    view.timer.stop()
    waiting = sorted(long_talk(0.25), key=lambda event: event.at)
    pictures = int(15 / 0.016)
    for picture in range(pictures):
        clock.now = picture * 0.016
        while waiting and waiting[0].at <= clock.now:
            pane.apply(waiting.pop(0))
        view.advance()
        view.repaint()
    assert view.edge.at == pytest.approx(15.0 - LAG_SECONDS, abs=0.1)
    assert view.picture.tiles.painted < pictures


def test_half_an_hour_costs_no_more_to_look_at_than_a_minute(empty: Shown) -> None:
    pane, view, clock = empty
    for event in long_talk(31):
        pane.apply(event)
    clock.now = 31 * 60
    pane.edge.update(31 * 60.0)
    view.follow()
    log = pane.log
    assert log.now == pytest.approx(31 * 60, abs=0.2)
    window = [len(track.between(log.now - 30, log.now)) for track in log.tracks]
    assert max(window) < 200 and len(log.partials) > 500
    view.to_start()
    assert view.range.right == pytest.approx(log.oldest + USUAL_SECONDS)
    view.repaint()
