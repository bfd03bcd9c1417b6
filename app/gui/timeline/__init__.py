"""The tandem timeline: what both sides, the back-ends and the front-end did, second by second.

- `pane.py`: the pane: heading, legend, buttons, and the plot.
- `view.py`: the plot with its mouse, keyboard and readout.
- `plot.py`: the plot without them: follows the conversation on a timer, and paints.
- `view_range.py`: which seconds are in view.
- `picture.py`: paints what is in view: names, lanes, live edge, cursor.
- `tiles.py`: caches the painted lanes.
- `painter.py`: paints a stretch of all lanes with `bars.py` (requests), `sound.py` (levels), `words.py` (words,
  placed by `word_layout.py`) and `marks.py` (moments).
- `canvas.py`, `style.py`: what these painters share: scale, lanes, colours, letters.
- `find.py`, `descriptions.py`: the thing under the mouse or the cursor, and what it says.
- `export.py`: writes an image.

The pane passes events to `TimelineLog` (`app.gui.timeline_data`). On each tick of its timer, or after a batch of
events, the view moves its range to the live edge and repaints; the picture drops the tiles that have changed and
paints them again from the log.
"""
