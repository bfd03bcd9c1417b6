"""Finds things on the timeline: the one under a point, and the next one in time."""

from __future__ import annotations

from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Lane, Thing
from app.gui.timeline_data.track import Track
from app.gui.timeline_drawing.painter import TimelinePainter

NEAR_PX = 5.0
LABEL_PX = 60.0
LONGEST_TAIL_SECONDS = 90.0


def thing_at(painter: TimelinePainter, second: float, y: float) -> Thing | None:
    """What is painted at a second and a height; None for nothing."""
    log, lanes = painter.canvas.log, painter.canvas.lanes
    near = NEAR_PX / painter.canvas.scale
    swap = _nearest(log.swaps, second, near)
    lane = lanes.lane_at(y)
    if swap is not None and abs(swap.start - second) < near / 2:
        return swap
    match lane:
        case "you":
            return _covering(log.turns, second, near) or swap
        case "words":
            return _nearest(log.partials, second, near / 2) or painter.words.thing_at(log.turns, second)
        case "backend" | "secondary":
            return _request(painter, second, y, lane, near)
        case "oracle":
            strip = lanes.strips["oracle"]
            first, other = (log.fed, log.taken) if y < strip.top + strip.height * 0.55 else (log.taken, log.fed)
            return _nearest(first, second, near) or _nearest(other, second, near)
        case "kame":
            below = y >= lanes.said.top
            found = painter.words.thing_at(log.answers, second) if below else _covering(log.answers, second, near)
            return found or _covering(log.answers, second, near)
        case "trouble":
            return _nearest(log.troubles, second, near)
    return None


def step(log: TimelineLog, thing: Thing | None, forward: bool, ticks: bool) -> Thing | None:
    """The thing before or after another one in time; None at the ends. From None, the newest. `ticks`: also each
    transcript, and each word that reached the front-end.
    """
    tracks = log.tracks if ticks else log.tracks[:5]
    if thing is None:
        newest = [track.last for track in tracks if track.last is not None]
        return max(newest, key=lambda other: other.start, default=None)
    mine = next((place for place, track in enumerate(log.tracks) if track.place(thing) >= 0), -1)
    around: list[tuple[float, int, Thing]] = []
    for place, track in enumerate(tracks):
        if place == mine:
            other = track.at(track.place(thing) + (1 if forward else -1))
        else:
            other = _beside(track, thing, forward, place > mine)
        if other is not None:
            around.append((other.start, place, other))
    if not around:
        return None
    pick = min if forward else max
    return pick(around, key=lambda entry: entry[:2])[2]


def _beside(track: Track, thing: Thing, forward: bool, later: bool) -> Thing | None:
    """The next one on another track; `later`: of things at the same time, those on that track come after."""
    same = [other for other in track.between(thing.start, thing.start) if other.start == thing.start]
    if forward and later and same:
        return same[0]
    if not forward and not later and same:
        return same[-1]
    return track.after(thing.start) if forward else track.before(thing.start)


def _nearest(track: Track, second: float, near: float) -> Thing | None:
    found = track.between(second - near, second + near)
    return min(found, key=lambda thing: abs(thing.start - second), default=None)


def _covering(track: Track, second: float, near: float) -> Thing | None:
    """The one that lasts at a second, or nearly; of several, the one that started last."""
    found = track.between(second, second) or track.between(second - near, second + near)
    return found[-1] if found else None


def _request(painter: TimelinePainter, second: float, y: float, lane: Lane, near: float) -> Thing | None:
    """The bar under the point, or the one whose label may be there."""
    bars = painter.bars
    label = LABEL_PX / painter.canvas.scale
    best: tuple[float, Thing] | None = None
    for request in painter.canvas.log.requests.between(second - LONGEST_TAIL_SECONDS, second + near):
        top, tall = bars.row(request)
        if request.secondary != (lane == "secondary") or not top - 2 <= y <= top + tall + 2:
            continue
        ahead, behind = request.start - second, second - bars.until(request)
        away = max(0.0, ahead, behind)
        if away <= (near if ahead > 0 else label) and (best is None or away <= best[0]):
            best = (away, request)
    return best[1] if best is not None else None
